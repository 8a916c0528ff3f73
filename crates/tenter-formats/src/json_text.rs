//! JSON files that are parsed into a tree, within limits.

use serde_json::Value;
use tenter_language::units::Budget;

use crate::error::{ImportError, Place};

/// A file may always have this number of values …
const VALUES: usize = 1 << 22;
/// … and this number more for each stored byte. Compressed traces have up to about four values for
/// each.
const VALUES_PER_BYTE: usize = 8;

/// Memory for a value in the parsed tree, in bytes, with its share of the mapping around it.
const BYTES_OF_VALUE: u64 = 64;

/// Parses `text`, the content from a file with `stored` bytes. `stored` is smaller than the text if
/// the file was compressed.
///
/// # Errors
/// Text that is no JSON, with its line or byte; more values than files that long have, with the
/// byte at which the excess begins; more memory or time than the budget has. Lines and bytes count
/// in the unpacked text.
pub(crate) fn parsed(
    text: &[u8],
    stored: usize,
    remedy: &str,
    budget: &Budget,
) -> Result<Value, ImportError> {
    let is_unpacked = stored > 0 && stored < text.len();
    let of_text = if is_unpacked {
        " of the unpacked text"
    } else {
        ""
    };
    let most = VALUES.saturating_add(stored.saturating_mul(VALUES_PER_BYTE));
    // Counting separators is much cheaper than parsing, and bounds the tree before it is built.
    let values = marks(text).count();
    if values > most
        && let Some(byte) = marks(text).nth(most)
    {
        let what = format!("{most} values are in front of this byte{of_text}, and more follow");
        let remedy = if is_unpacked {
            "unpack it first, or give a part of it"
        } else {
            "give a part of it"
        };
        return Err(ImportError::new(Place::Byte(byte), what, remedy));
    }
    let tree = (values as u64).saturating_mul(BYTES_OF_VALUE);
    let allowed = budget.may_take(tree.saturating_add(text.len() as u64));
    let allowed = allowed.and_then(|()| budget.work(values as u64));
    allowed.map_err(|over| ImportError::of(Place::Byte(0), over))?;
    serde_json::from_slice(text).map_err(|error| {
        let place = place(&error);
        let of_text = match place {
            Place::Byte(_) if is_unpacked => "; the byte is that of the unpacked text",
            _ => "",
        };
        let what = format!("this is no JSON ({error}{of_text})");
        ImportError::new(place, what, remedy)
    })
}

/// Returns a remedy for a profiler trace where another JSON is expected; `None` for any other JSON.
pub(crate) fn remedy_for_profiles(parsed: &Value) -> Option<&'static str> {
    let is_profile = parsed.get("traceEvents").is_some();
    is_profile.then_some("import it as `kineto`: it has the `traceEvents` of PyTorch's profiler")
}

/// Returns a syntax error's place: its line, or its byte if it is on the first line, which may be
/// the whole file.
pub(crate) fn place(error: &serde_json::Error) -> Place {
    // A JSON is often one line, whose number would say nothing.
    match error.line() {
        0 | 1 => Place::Byte(error.column().saturating_sub(1)),
        line => Place::Line(line),
    }
}

/// Finds the bytes in front of values: a comma, a colon or an opening bracket. Strings may contain
/// such bytes too, so the count is an upper bound.
fn marks(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let is_mark = |(_, byte): &(usize, &u8)| matches!(byte, b',' | b':' | b'[' | b'{');
    let marks = bytes.iter().enumerate().filter(is_mark);
    marks.map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_text_and_remedies_those_of_the_file() {
        let text = format!("[{}0]", "0,".repeat(VALUES + 8));
        let refused = |stored| {
            let error = parsed(text.as_bytes(), stored, "give JSON", &Budget::unlimited())
                .expect_err("too many values");
            error.to_string()
        };
        let packed = refused(1);
        let expected =
            "byte 8388624: 4194312 values are in front of this byte of the unpacked text";
        assert!(packed.starts_with(expected), "{packed}");
        assert!(packed.ends_with("; unpack it first, or give a part of it"));
        let plain = refused(0);
        assert!(plain.contains("of this byte, and") && plain.ends_with("; give a part of it"));
        assert!(
            parsed(
                text.as_bytes(),
                text.len(),
                "give JSON",
                &Budget::unlimited()
            )
            .is_ok()
        );
        let damaged =
            parsed(b"[1 2]", 3, "give JSON", &Budget::unlimited()).expect_err("it is damaged");
        assert!(damaged.what.contains("of the unpacked text"), "{damaged}");
    }
}
