//! What is wrong with an algorithm step by step.

use std::fmt;

/// A step of a thread block, or the block as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The rank that runs it.
    pub rank: u32,
    /// The number of the thread block among those of its rank.
    pub block: u32,
    /// The number of the step in the block, from 0.
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

/// Why a program is none, or does not do what its collective promises.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}; {remedy}", in_front(*.at))]
pub struct ProgramError {
    /// Where, where one place is to blame.
    pub at: Option<At>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

fn in_front(at: Option<At>) -> String {
    at.map_or_else(String::new, |at| format!("{at}: "))
}

impl ProgramError {
    /// Of a place.
    pub(super) fn new(at: Option<At>, what: impl Into<String>, remedy: &str) -> ProgramError {
        ProgramError {
            at,
            what: what.into(),
            remedy: remedy.to_owned(),
        }
    }
}
