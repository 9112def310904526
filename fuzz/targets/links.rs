//! Names in a CApath, beside the form that by_dir.c of OpenSSL makes: `%08lx.%s%d`.
#![no_main]
use castore::openssl::hash_link::LinkName;
use libfuzzer_sys::fuzz_target;

/// Whether OpenSSL would ask for this name.
fn asked_for(name: &[u8]) -> bool {
    let Some((hash, rest)) = name.split_at_checked(8) else { return false };
    let Some(rest) = rest.strip_prefix(b".") else { return false };
    let number = rest.strip_prefix(b"r").unwrap_or(rest);
    let digits = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    let value = std::str::from_utf8(number).ok().and_then(|text| text.parse::<i32>().ok());
    hash.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && digits
        && (number == b"0" || number[0] != b'0')
        && value.is_some()
}

fuzz_target!(|bytes: &[u8]| {
    match LinkName::parse(bytes) {
        Some(LinkName::Proper(link)) => {
            assert!(asked_for(bytes));
            assert_eq!(link.to_string().as_bytes(), bytes);
        }
        _ => assert!(!asked_for(bytes)),
    }
});
