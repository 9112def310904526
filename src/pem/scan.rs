//! Bytes to PEM blocks: span, line, label, preamble and every defect of the boundaries.
//!
//! The scanner never stops at a defect and never skips a block in silence. It is no line matcher: a block behind
//! text, a BOM or another block's END boundary is seen, because an administrator's eye sees it too; which library
//! overlooks it is another question.
//!
//! One pass, linear in the input whatever it holds.

use std::ops::Range;

use memchr::memmem;

use super::label::Label;

/// Five dashes, the frame of an encapsulation boundary (RFC 7468 section 3).
const DASHES: &[u8] = b"-----";
/// Labels longer than this are not looked for: a boundary is a line of text.
const LONGEST_LABEL: usize = 256;

/// One PEM block as it stands in a file.
///
/// The span covers both boundaries, and `bytes[span]` scans to the same block again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    span: Range<usize>,
    line: usize,
    label: Label,
    label_span: Range<usize>,
    preamble: Range<usize>,
    body: Range<usize>,
    defects: Vec<Defect>,
    noise: Noise,
}

impl Block {
    /// From the first dash of BEGIN to the last dash of END (or as far as the block goes, where END is missing).
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }
    /// The line of the BEGIN boundary (of END, where BEGIN is missing), counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }
    /// What the BEGIN boundary says.
    #[must_use]
    pub fn label(&self) -> Label {
        self.label
    }
    /// Where the label's text stands.
    #[must_use]
    pub fn label_span(&self) -> Range<usize> {
        self.label_span.clone()
    }
    /// The bytes between the block before (or the start of the file) and this one.
    #[must_use]
    pub fn preamble(&self) -> Range<usize> {
        self.preamble.clone()
    }
    /// The bytes between the boundaries.
    #[must_use]
    pub fn body(&self) -> Range<usize> {
        self.body.clone()
    }
    /// What is wrong with the boundaries.
    #[must_use]
    pub fn defects(&self) -> &[Defect] {
        &self.defects
    }
    /// What is odd about the boundaries, and harmless to this scanner.
    #[must_use]
    pub fn noise(&self) -> Noise {
        self.noise
    }
}

/// Something wrong with a block, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defect {
    /// What is wrong.
    pub kind: DefectKind,
    /// Byte offset in the file.
    pub offset: usize,
    /// Line in the file, counted from 1.
    pub line: usize,
}

/// The kinds of [`Defect`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DefectKind {
    /// No END boundary before the next BEGIN or the end of the file.
    MissingEnd,
    /// An END boundary without a BEGIN, behind what looks like base64.
    MissingBegin,
    /// An END boundary that ends nothing.
    StrayEnd,
    /// END names another label than BEGIN.
    LabelMismatch,
    /// END and the next BEGIN stand on one line (`cat` of a file without a final newline).
    GluedBoundary,
    /// A BEGIN boundary quoted in a line of text; no block.
    QuotedBoundary,
    /// A blank line between base64 lines or before END.
    BlankLine,
    /// RFC 1421 headers (`Name: value`) inside the block.
    Header,
    /// Carriage returns alone as line ends.
    BareCarriageReturn,
    /// A byte that is not base64.
    BadBase64(u8),
    /// Wrong padding, or a number of characters that no bytes encode to.
    BadPadding,
    /// Newlines written as a backslash and the letter n (from JSON or an environment variable).
    EscapedNewline,
    /// No content.
    Empty,
}

impl DefectKind {
    /// Whether the "block" is a boundary in a text, and holds nothing that could be lost.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::QuotedBoundary | Self::StrayEnd)
    }

    /// Whether the certificate in such a block can only be had by a guess.
    ///
    /// The others are noise that some libraries stumble over: the bytes of the certificate are beyond doubt.
    #[must_use]
    pub fn needs_guess(self) -> bool {
        !matches!(self, Self::GluedBoundary | Self::BlankLine | Self::Header | Self::BareCarriageReturn)
    }
}

/// Oddities of framing that lose nothing here; other readers may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Noise(u16);

impl Noise {
    /// Nothing odd.
    pub const NONE: Self = Self(0);
    /// A UTF-8 byte order mark directly before BEGIN.
    pub const BYTE_ORDER_MARK: Self = Self(1);
    /// Carriage return and line feed as line ends.
    pub const CRLF: Self = Self(1 << 1);
    /// Lines that are not 64 columns wide.
    pub const WIDTH: Self = Self(1 << 2);
    /// Blanks at the end of lines.
    pub const TRAILING_BLANKS: Self = Self(1 << 3);
    /// Blanks at the start of lines.
    pub const INDENTATION: Self = Self(1 << 4);
    /// Text before BEGIN on its line.
    pub const TEXT_BEFORE_BEGIN: Self = Self(1 << 5);
    /// Text after BEGIN on its line.
    pub const TEXT_AFTER_BEGIN: Self = Self(1 << 6);
    /// Text or blanks before END on its line.
    pub const TEXT_BEFORE_END: Self = Self(1 << 7);
    /// Text after END on its line.
    pub const TEXT_AFTER_END: Self = Self(1 << 8);
    /// A NUL byte between the block before and this one.
    pub const NUL_IN_PREAMBLE: Self = Self(1 << 9);
    /// No newline behind the last block of the file.
    pub const NO_FINAL_NEWLINE: Self = Self(1 << 10);
    /// A blank line directly behind BEGIN.
    pub const BLANK_AFTER_BEGIN: Self = Self(1 << 11);
    /// The BEGIN of another block stands behind END on its line.
    pub const GLUED_END: Self = Self(1 << 14);
    /// Bits that are not zero behind the last byte of the base64 (RFC 4648 section 3.5).
    pub const SPARE_BITS: Self = Self(1 << 12);

    /// Both together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// This one less the other.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// Whether all of `other` is there.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether nothing is odd.
    #[must_use]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// Iterates over the blocks of a file.
#[derive(Debug)]
pub struct Scanner<'a> {
    bytes: &'a [u8],
    dashes: memmem::Finder<'static>,
    /// Where the search for the next boundary goes on.
    position: usize,
    /// Where the block before ended.
    previous_end: usize,
    /// Line numbers are counted up to here.
    counted: usize,
    line: usize,
}

/// A boundary line: `-----BEGIN label-----` or `-----END label-----`.
#[derive(Debug, Clone)]
struct Boundary {
    begins: bool,
    /// From the first of its dashes to the last.
    span: Range<usize>,
    label: Range<usize>,
}

/// All blocks of `bytes`, in order.
#[must_use]
pub fn scan(bytes: &[u8]) -> Scanner<'_> {
    Scanner { bytes, dashes: memmem::Finder::new(DASHES), position: 0, previous_end: 0, counted: 0, line: 1 }
}

impl Scanner<'_> {
    /// Where the last block ended: what is behind it is the tail.
    #[must_use]
    pub fn end(&self) -> usize {
        self.previous_end
    }

    fn next_boundary(&self, from: usize) -> Option<Boundary> {
        let mut from = from;
        loop {
            let first = from + self.dashes.find(self.bytes.get(from..)?)?;
            // Only the last five of a run of dashes can open a boundary: looking at each would be quadratic.
            let run = self.bytes[first..].iter().take_while(|&&byte| byte == b'-').count();
            let word = first + run;
            let rest = &self.bytes[word..];
            let (begins, label) = if rest.starts_with(b"BEGIN ") {
                (true, word + 6)
            } else if rest.starts_with(b"END ") {
                (false, word + 4)
            } else {
                from = word;
                continue;
            };
            let limit = self.bytes.len().min(label + LONGEST_LABEL + DASHES.len());
            let text = &self.bytes[label..limit];
            let text = &text[..memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len())];
            match self.dashes.find(text) {
                Some(length) => {
                    return Some(Boundary {
                        begins,
                        span: word - DASHES.len()..label + length + DASHES.len(),
                        label: label..label + length,
                    });
                }
                None => from = word,
            }
        }
    }

    /// The line of an offset; offsets must not go backwards.
    fn line_of(&mut self, offset: usize) -> usize {
        debug_assert!(offset >= self.counted);
        self.line += memchr::memchr_iter(b'\n', &self.bytes[self.counted..offset]).count();
        self.counted = offset;
        self.line
    }

    /// The bytes of a line before an offset, back to `floor` at most.
    fn line_before(&self, offset: usize, floor: usize) -> &[u8] {
        let before = &self.bytes[floor..offset];
        let start = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |at| at + 1);
        &before[start..]
    }

    /// The bytes of a line behind an offset, up to `ceiling` at most.
    fn line_after(&self, offset: usize, ceiling: usize) -> &[u8] {
        let after = &self.bytes[offset..ceiling];
        &after[..memchr::memchr2(b'\n', b'\r', after).unwrap_or(after.len())]
    }

    fn orphan_end(&mut self, end: Boundary) -> Block {
        let line = self.line_of(end.span.start);
        let preamble = self.previous_end..end.span.start;
        let text = self.bytes[preamble.clone()].trim_ascii_end();
        let last = &text[memchr::memrchr(b'\n', text).map_or(0, |at| at + 1)..];
        let base64 = |&byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        // A boundary behind a word of text is text.
        let kind = if last.len() >= 4 && last.trim_ascii().iter().all(base64) {
            DefectKind::MissingBegin
        } else {
            DefectKind::StrayEnd
        };
        self.position = end.span.end;
        self.previous_end = end.span.end;
        Block {
            line,
            label: Label::from_bytes(&self.bytes[end.label.clone()]),
            label_span: end.label,
            preamble,
            body: end.span.start..end.span.start,
            defects: vec![Defect { kind, offset: end.span.start, line }],
            noise: Noise::NONE,
            span: end.span,
        }
    }
}

impl Iterator for Scanner<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        let begin = self.next_boundary(self.position)?;
        if !begin.begins {
            return Some(self.orphan_end(begin));
        }
        let bytes = self.bytes;
        let preamble = self.previous_end..begin.span.start;
        let line = self.line_of(begin.span.start);
        let label = Label::from_bytes(&bytes[begin.label.clone()]);
        let mut noise = Noise::NONE;
        let mut defects = Vec::new();

        let before = self.line_before(begin.span.start, self.previous_end);
        let behind_end = self.previous_end > 0 && bytes[self.previous_end - 1] == b'-';
        if behind_end && before.len() == preamble.len() && blank(before) {
            // Nothing but blanks between two boundaries on one line.
            defects.push(Defect { kind: DefectKind::GluedBoundary, offset: begin.span.start, line });
        } else if before == b"\xEF\xBB\xBF" {
            noise = noise.with(Noise::BYTE_ORDER_MARK);
            // OpenSSL takes one off at the start of a file only.
            if begin.span.start != 3 {
                noise = noise.with(Noise::TEXT_BEFORE_BEGIN);
            }
        } else if !before.is_empty() {
            noise = noise.with(Noise::TEXT_BEFORE_BEGIN);
        }
        if memchr::memchr(0, &bytes[preamble.clone()]).is_some() {
            noise = noise.with(Noise::NUL_IN_PREAMBLE);
        }

        let next = self.next_boundary(begin.span.end);
        let ceiling = next.as_ref().map_or(bytes.len(), |boundary| boundary.span.start);
        let after_begin = self.line_after(begin.span.end, ceiling);
        let text_after_begin = !blank(after_begin);
        if text_after_begin {
            noise = noise.with(Noise::TEXT_AFTER_BEGIN);
        } else if !after_begin.is_empty() {
            noise = noise.with(Noise::TRAILING_BLANKS);
        }
        let (body, span) = match next {
            Some(end) if !end.begins => {
                let mut body = begin.span.end..end.span.start;
                let before_end = self.line_before(body.end, body.start);
                if !before_end.is_empty() {
                    noise = noise.with(Noise::TEXT_BEFORE_END);
                }
                // A sixth dash before END is no base64.
                while body.end > body.start && bytes[body.end - 1] == b'-' {
                    body.end -= 1;
                }
                if bytes[begin.label.clone()] != bytes[end.label.clone()] {
                    let line = self.line_of(end.span.start);
                    defects.push(Defect { kind: DefectKind::LabelMismatch, offset: end.span.start, line });
                }
                let rest = &bytes[end.span.end..];
                let blanks = rest.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
                match rest.get(blanks) {
                    None => noise = noise.with(Noise::NO_FINAL_NEWLINE),
                    Some(b'\n' | b'\r') if blanks > 0 => noise = noise.with(Noise::TRAILING_BLANKS),
                    Some(b'\n' | b'\r') => {}
                    Some(_) if rest[blanks..].starts_with(b"-----BEGIN ") => {
                        noise = noise.with(Noise::GLUED_END)
                    }
                    Some(_) => noise = noise.with(Noise::TEXT_AFTER_END),
                }
                (body, begin.span.start..end.span.end)
            }
            _ => {
                // BEGIN of another block, or the end of the file: the block ends where the next line of text does
                // not matter any more. What stands between is its body.
                let nothing = bytes[begin.span.end..ceiling].iter().all(u8::is_ascii_whitespace);
                let quoted = noise.has(Noise::TEXT_BEFORE_BEGIN) && (text_after_begin || nothing);
                let kind = if quoted { DefectKind::QuotedBoundary } else { DefectKind::MissingEnd };
                defects.push(Defect { kind, offset: begin.span.start, line });
                let end = if quoted { begin.span.end } else { ceiling };
                (begin.span.end..end, begin.span.start..end)
            }
        };
        self.position = span.end;
        self.previous_end = span.end;
        Some(Block { span, line, label, label_span: begin.label, preamble, body, defects, noise })
    }
}

/// Whether there are only spaces and tabs.
fn blank(text: &[u8]) -> bool {
    text.iter().all(|&byte| byte == b' ' || byte == b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";

    fn kinds(text: &str) -> Vec<(usize, Vec<DefectKind>)> {
        scan(text.as_bytes())
            .map(|block| (block.line(), block.defects().iter().map(|defect| defect.kind).collect()))
            .collect()
    }

    #[test]
    fn clean_blocks_have_lines_spans_and_preambles() {
        let text = format!("# one\n{A}\n# two\n{A}\n");
        let blocks: Vec<_> = scan(text.as_bytes()).collect();
        assert_eq!(blocks.iter().map(Block::line).collect::<Vec<_>>(), [2, 6]);
        assert_eq!(&text[blocks[1].span()], A);
        assert_eq!(&text[blocks[1].preamble()], "\n# two\n");
        assert_eq!(&text[blocks[1].body()], "\nAAAA\n");
        assert!(blocks.iter().all(|block| block.noise().is_none() && block.defects().is_empty()));
    }

    #[test]
    fn a_span_scans_to_the_same_block() {
        for text in [format!("x{A}{A}y"), format!("{A}\n{A}"), format!("\u{feff}{A}\n")] {
            for block in scan(text.as_bytes()) {
                let again: Vec<_> = scan(&text.as_bytes()[block.span()]).collect();
                assert_eq!(again.len(), 1, "{text:?}");
                assert_eq!(again[0].span().len(), block.span().len());
                assert_eq!(again[0].label(), block.label());
            }
        }
    }

    #[test]
    fn boundary_defects() {
        use DefectKind::*;
        let no_end = "-----BEGIN CERTIFICATE-----\nAAAA\n";
        for (text, expected) in [
            (format!("{A}{A}\n"), vec![(1, vec![]), (3, vec![GluedBoundary])]),
            (format!("{A}  {A}\n"), vec![(1, vec![]), (3, vec![GluedBoundary])]),
            (format!("{no_end}{A}"), vec![(1, vec![MissingEnd]), (3, vec![])]),
            (format!("{A}\n{no_end}"), vec![(1, vec![]), (4, vec![MissingEnd])]),
            ("AAAA\n-----END CERTIFICATE-----\n".into(), vec![(2, vec![MissingBegin])]),
            (A.replace("END CERT", "END TRUSTED CERT"), vec![(1, vec![LabelMismatch])]),
            (A.replace("END CERTIFICATE-----", "END CERTIFICATE----"), vec![(1, vec![MissingEnd])]),
            (A.replace("-----END", "----END"), vec![(1, vec![MissingEnd])]),
            (A.replace("BEGIN", "begin"), vec![(3, vec![MissingBegin])]),
            (
                format!("see -----BEGIN CERTIFICATE----- below\n{A}"),
                vec![(1, vec![QuotedBoundary]), (2, vec![])],
            ),
            ("-".repeat(1000), vec![]),
            ("-----BEGIN \n-----END -----x\n".into(), vec![(2, vec![StrayEnd])]),
            (format!("# {A}\n-----END CERTIFICATE-----\n"), vec![(1, vec![]), (4, vec![StrayEnd])]),
            (format!("# -----BEGIN CERTIFICATE-----\n{A}"), vec![(1, vec![QuotedBoundary]), (2, vec![])]),
        ] {
            assert_eq!(kinds(&text), expected, "{text:?}");
        }
    }

    #[test]
    fn framing_noise_is_seen_and_counted() {
        for (text, noise) in [
            (format!("\u{feff}{A}\n"), Noise::BYTE_ORDER_MARK),
            (format!("-{A}\n"), Noise::TEXT_BEFORE_BEGIN),
            (format!("key: {A}\n"), Noise::TEXT_BEFORE_BEGIN),
            (A.to_owned(), Noise::NO_FINAL_NEWLINE),
            (format!("{A} end\n"), Noise::TEXT_AFTER_END),
            (format!("\0\n{A}\n"), Noise::NUL_IN_PREAMBLE),
            (format!("#\0\n{A}\n"), Noise::NUL_IN_PREAMBLE),
            (format!("{}{A}\n", "x".repeat(254)), Noise::TEXT_BEFORE_BEGIN),
            (format!("{}\n", A.replace("-----\nAAAA", "-----AAAA")), Noise::TEXT_AFTER_BEGIN),
            (format!("{}\n", A.replace("-----END", "------END")), Noise::TEXT_BEFORE_END),
        ] {
            let blocks: Vec<_> = scan(text.as_bytes()).collect();
            assert_eq!(blocks.len(), 1, "{text:?}");
            assert_eq!(blocks[0].noise(), noise, "{text:?}");
            assert!(blocks[0].defects().is_empty(), "{text:?}");
        }
    }

    #[test]
    fn every_end_of_every_prefix_is_walked_without_panic() {
        let text = format!("{A}{A}\r\n-----BEGIN X-----\n-----END Y-----z");
        for end in 0..text.len() {
            for start in 0..end {
                let _ = scan(&text.as_bytes()[start..end]).count();
            }
        }
    }
}
