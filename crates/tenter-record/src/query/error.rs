//! Why a trial gave no answer.

use std::fmt;

use tenter_units::{Budget, OverBudget};

/// Why a trial gave no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryError<E> {
    /// Its tables cannot be read.
    Source(E),
    /// The answer would take more than it may.
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

/// Takes memory; what is in memory already is asked without a budget.
pub(super) fn take(budget: Option<&Budget>, bytes: usize) -> Result<(), OverBudget> {
    budget.map_or(Ok(()), |budget| budget.take(bytes as u64))
}
