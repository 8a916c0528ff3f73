//! XML files that are parsed into a tree, within limits.
//!
//! Structures that make the parser slow, or its tree large, are refused beforehand. The parser
//! compares an element's attributes in pairs, and hands name spaces down to all elements within.

use roxmltree::{Document, ParsingOptions};

use crate::error::{ImportError, Place};

/// Most attributes on an element, and deepest element nesting.
const ATTRIBUTES_MAX: usize = 64;
const DEPTH_MAX: usize = 64;
/// Most attributes in a file.
const ALL_ATTRIBUTES_MAX: usize = 6 << 20;

/// Parses a text with at most `nodes_limit` elements and texts.
///
/// # Errors
/// A text that is no XML, or has more than files in these formats have, with its line.
pub(crate) fn parsed(text: &str, nodes_limit: u32) -> Result<Document<'_>, ImportError> {
    if let Some((byte, what)) = excess(text.as_bytes()) {
        let before = text.as_bytes().iter().take(byte);
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        let remedy = "give the file as its tool writes it";
        return Err(ImportError::new(Place::Line(line), what, remedy));
    }
    let options = ParsingOptions {
        // A DTD defines entities, and entities within entities grow exponentially.
        allow_dtd: false,
        nodes_limit,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).map_err(|error| {
        let place = Place::Line(error.pos().row.max(1) as usize);
        let what = format!("this is no XML: {error}");
        ImportError::new(place, what, "give the whole file")
    })
}

/// Finds the first excess over a limit: its byte, and a sentence about it.
fn excess(text: &[u8]) -> Option<(usize, &'static str)> {
    let (mut at, mut depth, mut all) = (0, 0_usize, 0);
    while let Some(begin) = find(text, at, b"<") {
        let rest = text.get(begin..).unwrap_or_default();
        let passed = [
            (&b"<!--"[..], &b"-->"[..]),
            (b"<![CDATA[", b"]]>"),
            (b"<?", b"?>"),
        ];
        let passed = passed.iter().find(|(open, _)| rest.starts_with(open));
        if let Some((open, close)) = passed {
            at = find(text, begin + open.len(), close)? + close.len();
            continue;
        }
        if rest.starts_with(b"</") {
            // Tags need not match here: the parser checks that.
            depth = depth.saturating_sub(1);
            at = begin + 2;
            continue;
        }
        // An unfinished tag ends the search: the parser refuses the file for it.
        let (end, attributes, is_empty) = tag(text, begin)?;
        let inner = text.get(begin..end).unwrap_or_default();
        all += attributes;
        depth += usize::from(!is_empty);
        let what = if attributes > ATTRIBUTES_MAX {
            "an element has more than 64 attributes"
        } else if all > ALL_ATTRIBUTES_MAX {
            "all elements together have more than 6291456 attributes"
        } else if depth > DEPTH_MAX {
            "elements are nested more than 64 deep"
        } else if find(inner, 0, b"xmlns").is_some() {
            "an element declares a name space, which no element here has"
        } else {
            at = end;
            continue;
        };
        return Some((begin, what));
    }
    None
}

/// Scans a tag: returns its end, its attribute count, and true for an element without content.
fn tag(text: &[u8], begin: usize) -> Option<(usize, usize, bool)> {
    let (mut quote, mut attributes, mut last) = (None, 0, b'<');
    for (place, &byte) in text.iter().enumerate().skip(begin + 1) {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'=') => attributes += 1,
            (None, b'>') => return Some((place + 1, attributes, last == b'/')),
            _ => {}
        }
        last = byte;
    }
    None
}

/// Returns the first place at or behind `from` where `what` stands.
fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = text.get(from..)?;
    let found = rest.windows(what.len()).position(|window| window == what);
    found.map(|place| from + place)
}
