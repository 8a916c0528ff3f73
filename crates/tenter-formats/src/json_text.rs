//! Files that are JSON as a whole.

use serde_json::Value;
use tenter_units::Budget;

use crate::error::{ImportError, Place};

/// A file has so many values,
const VALUES: usize = 1 << 22;
/// and so many more for each byte that it has as it is stored: compressed traces have up to about
/// four for each.
const VALUES_PER_BYTE: usize = 8;

/// What a value takes as a part of a tree, in bytes, its share of a mapping included.
const BYTES_OF_VALUE: u64 = 64;

/// The JSON of a text, from a file that has so many bytes as it is stored: fewer than the text
/// where it is compressed.
///
/// # Errors
/// A text that is no JSON, with its line or byte, and one with more values than files of that
/// length have, with the byte where they begin. Lines and bytes are those of the text.
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

/// What to do with a trace of the profiler where another one is expected; none of any other JSON.
pub(crate) fn remedy_for_profiles(parsed: &Value) -> Option<&'static str> {
    let is_profile = parsed.get("traceEvents").is_some();
    is_profile.then_some("import it as `kineto`: it has the `traceEvents` of PyTorch's profiler")
}

/// Where JSON is damaged: its line, or its byte in the first line, which may be all of it.
pub(crate) fn place(error: &serde_json::Error) -> Place {
    match error.line() {
        0 | 1 => Place::Byte(error.column().saturating_sub(1)),
        line => Place::Line(line),
    }
}

/// The bytes in front of values: each has a comma, a colon or a bracket there, and texts may have
/// some, too.
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
