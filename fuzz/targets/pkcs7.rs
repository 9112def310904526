//! The certificates of a PKCS#7 message of any bytes: as many as OpenSSL finds, where it takes the message.
#![no_main]
use castore::certificate::pkcs7;
use castore_fuzz::crypto;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let found = pkcs7::certificates(bytes);
    if let Some(count) = crypto().pkcs7(bytes) {
        assert_eq!(found.map(|certificates| certificates.len()), Some(count));
    }
});
