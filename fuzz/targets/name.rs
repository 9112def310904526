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
    // OpenSSL wants a byte behind length octets, whatever they say (`asn1_get_length`): whether it takes a zero in the long
    // form depends on what follows. That is asked of whole certificates.
    if name.windows(2).any(|pair| pair[0] & 0x80 != 0 && pair[1] == 0) {
        return;
    }
    let _ = subject_hash_old(name);
    assert_eq!(subject_hash(name), crypto().name(name).map(|(hash, _)| hash));
});
