//! What OpenSSL loads of a file of any bytes, by castore's account and by OpenSSL.
#![no_main]
use castore::readers::openssl;
use castore_fuzz::crypto;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let reading = openssl::read(bytes, crypto().version());
    let told = if reading.refused.is_some() { None } else { Some(reading.loads.len()) };
    // castore also calls a file refused in which there is nothing to load, as every caller of OpenSSL does.
    assert_eq!(told.unwrap_or(0), crypto().file(bytes).unwrap_or(0));
});
