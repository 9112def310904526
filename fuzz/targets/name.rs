//! The hash of a name of any bytes, beside `X509_NAME_hash_ex`.
#![no_main]
use castore::der::element_length;
use castore::openssl::name_hash::{subject_hash, subject_hash_old};
use castore_fuzz::crypto;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // One element, as a certificate gives it.
    let Ok(length) = element_length(bytes) else { return };
    let name = &bytes[..length];
    // What OpenSSL makes of a list that ends within an indefinite one depends on the bytes behind it: that is asked of
    // whole certificates.
    if name.contains(&0x80) {
        return;
    }
    let _ = subject_hash_old(name);
    assert_eq!(subject_hash(name), crypto().name(name).map(|(hash, _)| hash));
});
