//! Errors that refuse a pattern.

use super::CommunicationMatrix;

/// Reason why a pattern cannot be run as requested.
///
/// Each message names the pattern, the offending value and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// There are fewer than two ranks.
    #[error("{pattern}: {ranks} rank(s) have nobody to send to; bind at least 2 ranks")]
    TooFewRanks {
        /// The pattern's name in scenarios.
        pattern: &'static str,
        /// Ranks that were to take part.
        ranks: u32,
    },
    /// A phase, or the whole step, has more pairs than a table holds.
    #[error(
        "{pattern}: {ranks} ranks make more than {} pairs of one phase, which is what a table \
         holds; use fewer ranks, or fewer partners of each",
        CommunicationMatrix::ENTRIES_MAX
    )]
    TooManyPairs {
        /// The pattern's name in scenarios.
        pattern: &'static str,
        /// Ranks that were to take part.
        ranks: u32,
    },
    /// The grid's sides do not multiply to the rank count.
    #[error(
        "{pattern}: a grid of {grid} is not for {ranks} ranks; give sides whose product is that, \
         such as {even}"
    )]
    GridNotFull {
        /// The pattern's name in scenarios.
        pattern: &'static str,
        /// Ranks that were to take part.
        ranks: u32,
        /// Sides that the scenario requests.
        grid: String,
        /// Sides that would fit the ranks.
        even: String,
    },
    /// A count does not divide the ranks.
    #[error(
        "{pattern}: `{key}` is {given}, which does not divide {ranks} ranks; give a divisor of \
         that number"
    )]
    NotDivided {
        /// The pattern's name in scenarios.
        pattern: &'static str,
        /// Ranks that were to take part.
        ranks: u32,
        /// Key that holds the count.
        key: &'static str,
        /// Value that the scenario gives.
        given: u32,
    },
    /// The matrix has more ranks than the job.
    #[error(
        "matrix: it has {rows} rows, and the job {ranks} ranks; give the job at least as many ranks"
    )]
    LargerMatrix {
        /// Ranks that the job has.
        ranks: u32,
        /// Ranks that the matrix has.
        rows: u32,
    },
    /// The matrix has no entries.
    #[error("matrix: it sends nothing; give at least one pair of different ranks its bytes")]
    EmptyMatrix,
    /// All ranks are in the same rack.
    #[error(
        "database-pod: {ranks} ranks fill a single `rack` of {rack}, and racks send to each other; \
         give more ranks or smaller racks"
    )]
    OneRack {
        /// Ranks that were to take part.
        ranks: u32,
        /// Ranks that fit into a rack.
        rack: u32,
    },
}
