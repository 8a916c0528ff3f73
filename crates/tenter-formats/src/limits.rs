//! Limits that no file may exceed.

use tenter_language::units::Budget;

use crate::error::{ImportError, Place};

/// Longest message of any format, in bytes.
pub(crate) const MESSAGE_MAX: u64 = 1 << 50;
/// Most ranks in a file.
pub(crate) const RANKS_MAX: u64 = 1 << 20;
/// Most ranks that a single file may declare for all of them. More need `ranks` in the scenario or
/// a file for each.
pub(crate) const DECLARED_MAX: u32 = 1 << 16;
/// A single file may always declare this number of operations when one rank's are repeated for all
/// …
const REPEATED_MAX: u64 = 10_000_000;
/// … and this number more for each stored byte.
const REPEATED_PER_BYTE: u64 = 16;
/// Most ranks in all communicators together, since a few words in a file describe a large one.
pub(crate) const MEMBERS_MAX: usize = 1 << 24;

/// Memory that a reader keeps for each byte in a text, as long as no number in the text demands
/// more.
const KEPT_PER_BYTE: u64 = 16;

/// Asks the budget for the memory and time to read a text with `bytes` bytes.
///
/// # Errors
/// More than the budget has.
pub(crate) fn text(bytes: usize, budget: &Budget) -> Result<(), ImportError> {
    let bytes = bytes as u64;
    let allowed = budget.may_take(bytes.saturating_mul(KEPT_PER_BYTE));
    let allowed = allowed.and_then(|()| budget.work(bytes));
    allowed.map_err(|over| ImportError::of(Place::Byte(0), over))
}

/// Refuses a file that has one rank's operations and repeats them for `ranks` ranks by a number in
/// it: otherwise a few bytes would stand for any number of operations. Callers skip the check if
/// the scenario gives the rank count, because the user then asked for it.
///
/// # Errors
/// More operations than a file with `stored` bytes may declare.
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
