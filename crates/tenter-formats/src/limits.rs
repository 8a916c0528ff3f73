//! What no file may have more of.

use crate::error::{ImportError, Place};

/// No message is longer, in bytes.
pub(crate) const MESSAGE_MAX: u64 = 1 << 50;
/// No file has more ranks.
pub(crate) const RANKS_MAX: u64 = 1 << 20;
/// No file alone makes more ranks.
pub(crate) const DECLARED_MAX: u32 = 1 << 16;
/// No file says of itself that so many ranks do what it has of one, counted in operations.
const REPEATED_MAX: u64 = 1 << 21;
/// Communicators that files describe in a few words have no more ranks together.
pub(crate) const MEMBERS_MAX: usize = 1 << 24;

/// Refuses operations that a file has for one rank and, by a number in it, for all: a few bytes
/// would stand for any number of them. Where the scenario gives the number, it is meant.
///
/// # Errors
/// More operations than a file may declare.
pub(crate) fn repeated(
    operations: u64,
    is_given: bool,
    (ranks, at): (u32, Place),
) -> Result<(), ImportError> {
    if is_given || operations <= REPEATED_MAX {
        return Ok(());
    }
    let what = format!(
        "it says that it is for {ranks} ranks, which makes {operations} operations of what it lists"
    );
    let remedy = format!("set `ranks: {ranks}` if it is, or a smaller number");
    Err(ImportError::new(at, what, remedy))
}
