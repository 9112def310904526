//! The DER walk, and OpenSSL's verdict on a certificate, on any bytes.
#![no_main]
use castore::certificate::CertificateDer;
use castore::openssl::name_hash::subject_hash;
use castore::readers::openssl;
use castore_fuzz::crypto;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let walked = CertificateDer::read(bytes);
    let verdict = openssl::certificate(bytes, crypto().version());
    match crypto().certificate(bytes) {
        Some((hash, _)) => {
            assert!(verdict.is_ok(), "OpenSSL takes it, castore says {verdict:?}");
            let reading = walked.expect("what OpenSSL takes is a certificate");
            assert_eq!(subject_hash(reading.der.fields().subject), Some(hash));
        }
        None => assert!(verdict.is_err(), "OpenSSL refuses it"),
    }
});
