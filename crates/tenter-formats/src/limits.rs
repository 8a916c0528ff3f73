//! What no file may have more of.

use tenter_units::Budget;

use crate::error::{ImportError, Place};

/// No message is longer, in bytes.
pub(crate) const MESSAGE_MAX: u64 = 1 << 50;
/// No file has more ranks.
pub(crate) const RANKS_MAX: u64 = 1 << 20;
/// No file alone makes more ranks.
pub(crate) const DECLARED_MAX: u32 = 1 << 16;
/// A file says of itself that ranks do what it has of one, in so many operations of all of them,
const REPEATED_MAX: u64 = 10_000_000;
/// and in so many more for each byte that it has as it is stored.
const REPEATED_PER_BYTE: u64 = 16;
/// Communicators that files describe in a few words have no more ranks together.
pub(crate) const MEMBERS_MAX: usize = 1 << 24;

/// What is kept of a text takes so many bytes for each of its own, as far as no number in it says
/// more.
const KEPT_PER_BYTE: u64 = 16;

/// Asks for the memory and the time that reading a text of so many bytes takes.
///
/// # Errors
/// More than the budget has.
pub(crate) fn text(bytes: usize, budget: &Budget) -> Result<(), ImportError> {
    let bytes = bytes as u64;
    let allowed = budget.may_take(bytes.saturating_mul(KEPT_PER_BYTE));
    let allowed = allowed.and_then(|()| budget.work(bytes));
    allowed.map_err(|over| ImportError::of(Place::Byte(0), over))
}

/// Refuses operations that a file has for one rank and, by a number in it, for all: a few bytes
/// would stand for any number of them. Where the scenario gives the number, it is meant, and
/// nothing is refused.
///
/// # Errors
/// More operations than a file may declare.
pub(crate) fn repeated(
    operations: u64,
    stored: usize,
    ranks: u32,
    at: Place,
) -> Result<(), ImportError> {
    let most = (stored as u64).saturating_mul(REPEATED_PER_BYTE);
    let most = most.saturating_add(REPEATED_MAX);
    if operations <= most {
        return Ok(());
    }
    let what = format!(
        "the file names {ranks} ranks; repeated for each, its operations are {operations}, more than {most}"
    );
    let remedy = format!("set `ranks: {ranks}` if it is for so many, or a smaller number");
    Err(ImportError::new(at, what, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_pay_for_what_they_repeat() {
        let at = Place::Json;
        assert_eq!(repeated(10_000_000, 0, 4, at), Ok(()));
        assert_eq!(repeated(10_000_016, 1, 4, at), Ok(()));
        let error = repeated(10_000_017, 1, 4, at)
            .expect_err("one more")
            .to_string();
        let expected = "in the JSON: the file names 4 ranks; repeated for each, its operations are 10000017, more than 10000016; set `ranks: 4`";
        assert!(error.starts_with(expected), "{error}");
    }
}
