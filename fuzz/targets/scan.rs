//! The PEM scanner on any bytes: blocks lie in order, each is the same block when it is scanned alone, and nothing that
//! begins a block is lost.
#![no_main]
use castore::pem::scan::scan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut end = 0;
    for block in scan(bytes) {
        let (span, body, label) = (block.span(), block.body(), block.label_span());
        assert!(span.start >= end && span.end <= bytes.len() && !span.is_empty(), "{span:?}");
        assert!(body.start >= span.start && body.end <= span.end, "{body:?} in {span:?}");
        assert!(label.start >= span.start && label.end <= span.end, "{label:?} in {span:?}");
        assert!(block.preamble().end <= span.start && block.line() > 0);
        let alone: Vec<_> = scan(&bytes[span.clone()]).collect();
        assert!(alone.len() == 1 && alone[0].label() == block.label(), "{span:?}");
        assert_eq!(alone[0].body().len(), body.len(), "{span:?}");
        end = span.end;
    }
});
