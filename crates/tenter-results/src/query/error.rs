//! Errors while a query reads a trial.

use std::fmt;

use tenter_language::units::{Budget, OverBudget};

/// Reason why a trial gave no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryError<E> {
    /// The trial's tables cannot be read.
    Source(E),
    /// The answer would exceed the budget.
    Budget(OverBudget),
}

impl<E: fmt::Display> fmt::Display for QueryError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryError::Source(error) => error.fmt(f),
            QueryError::Budget(error) => write!(f, "the query is refused: {error}"),
        }
    }
}

impl<E: std::error::Error> std::error::Error for QueryError<E> {}

/// Takes `bytes` from the budget; without one, for results in memory, always succeeds.
pub(super) fn take(budget: Option<&Budget>, bytes: usize) -> Result<(), OverBudget> {
    budget.map_or(Ok(()), |budget| budget.take(bytes as u64))
}
