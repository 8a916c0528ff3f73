//! Errors in step-by-step algorithms, with the step to blame.

use std::fmt;

/// A step in a thread block, or the block as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Rank that runs the block.
    pub rank: u32,
    /// The thread block's number within its rank.
    pub block: u32,
    /// Number of the step within its block, from 0; `None` for the whole block.
    pub step: Option<u32>,
}

impl fmt::Display for At {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "rank {}, thread block {}", self.rank, self.block)?;
        match self.step {
            Some(step) => write!(formatter, ", step {step}"),
            None => Ok(()),
        }
    }
}

/// Reason why an algorithm is refused: it cannot run, or does not do what its collective promises.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}; {remedy}", in_front(*.at))]
pub struct ProgramError {
    /// Step or block to blame, if there is one.
    pub at: Option<At>,
    /// Description of the mistake, which follows the place.
    pub what: String,
    /// Advice that follows the description.
    pub remedy: String,
}

fn in_front(at: Option<At>) -> String {
    at.map_or_else(String::new, |at| format!("{at}: "))
}

impl ProgramError {
    /// Makes an error at a place.
    pub(super) fn new(at: Option<At>, what: impl Into<String>, remedy: &str) -> ProgramError {
        ProgramError {
            at,
            what: what.into(),
            remedy: remedy.to_owned(),
        }
    }
}
