//! The word that requests must know where other machines can send some.

use std::fmt::Write as _;

/// A new one: 32 digits that nobody can guess.
pub(crate) fn token() -> Result<String, tenter::Error> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        tenter::Error::Asked(format!("the system has no random numbers: {error}"))
    })?;
    let mut text = String::with_capacity(32);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Whether two words are equal, in a time that does not tell where they differ.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len()
        && a.bytes()
            .zip(b.bytes())
            .fold(0_u8, |differs, (a, b)| differs | (a ^ b))
            == 0
}
