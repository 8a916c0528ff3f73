//! Helpers for texts that people read.

/// Returns true if `character` changes the direction of the surrounding text or ends a line:
/// direction marks, embeddings, overrides and isolates (Unicode, annex 9), line and paragraph
/// separators.
pub fn turns_text(character: char) -> bool {
    matches!(
        character,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Rounds `count` to four digits, for text only.
pub(crate) fn four_digits(count: u64) -> u64 {
    let digits = count.checked_ilog10().unwrap_or(0);
    let last = 10_u64.pow(digits.saturating_sub(3));
    // Half of `last`, rounded up: with `last` = 1 the rest 0 must not count as half.
    let up = u64::from(count % last >= last.div_ceil(2));
    // Near 2⁶⁴ the rounded number may not fit; the largest that does stands for it.
    (count / last + up).saturating_mul(last)
}

#[cfg(test)]
mod tests {
    use super::turns_text;

    #[test]
    fn marks_turn_text_and_letters_do_not() {
        let marks = "\u{061c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}";
        assert!(marks.chars().all(turns_text));
        assert!(!"aא\u{200d}\u{2065}\u{206a}\n".chars().any(turns_text));
    }
}
