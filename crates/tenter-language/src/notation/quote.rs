//! Users' words, made safe to print.

use crate::units::turns_text;

/// Replaces characters that a terminal would interpret: tabs become four blanks, others `·`.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => out.push_str("    "),
            other if other.is_control() || turns_text(other) => out.push('·'),
            other => out.push(other),
        }
    }
    out
}

/// Puts a user's word into backticks, without control characters, and cut if it is long.
pub fn quote(word: &str) -> String {
    const LONGEST: usize = 48;
    let mut shown = printable(&word.chars().take(LONGEST).collect::<String>());
    if word.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}
