//! Why a pattern cannot be run as it was asked for.

use super::CommunicationMatrix;

/// Why a pattern cannot be run as it was asked for.
///
/// Each message names the pattern, the value at fault and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Fewer than two ranks.
    #[error("{pattern}: {ranks} rank(s) have nobody to send to; bind at least 2 ranks")]
    TooFewRanks {
        /// The pattern.
        pattern: &'static str,
        /// How many ranks there are.
        ranks: u32,
    },
    /// More pairs than are stored.
    #[error(
        "{pattern}: {ranks} ranks make more than {} pairs of one phase, which is what a table \
         holds; use fewer ranks, or fewer partners of each",
        CommunicationMatrix::ENTRIES_MAX
    )]
    TooManyPairs {
        /// The pattern.
        pattern: &'static str,
        /// How many ranks there are.
        ranks: u32,
    },
    /// Sides of a grid that do not make the number of ranks.
    #[error(
        "{pattern}: a grid of {grid} is not for {ranks} ranks; give sides whose product is that, \
         such as {even}"
    )]
    GridNotFull {
        /// The pattern.
        pattern: &'static str,
        /// How many ranks there are.
        ranks: u32,
        /// The sides asked for.
        grid: String,
        /// Sides that would do.
        even: String,
    },
    /// A count that does not divide the ranks.
    #[error(
        "{pattern}: `{key}` is {given}, which does not divide {ranks} ranks; give a divisor of \
         that number"
    )]
    NotDivided {
        /// The pattern.
        pattern: &'static str,
        /// How many ranks there are.
        ranks: u32,
        /// The parameter.
        key: &'static str,
        /// Its value.
        given: u32,
    },
    /// A matrix of more ranks than the job has.
    #[error(
        "matrix: it has {rows} rows, and the job {ranks} ranks; give the job at least as many ranks"
    )]
    LargerMatrix {
        /// How many ranks the job has.
        ranks: u32,
        /// How many the matrix has.
        rows: u32,
    },
    /// A matrix without bytes.
    #[error("matrix: it sends nothing; give at least one pair of different ranks its bytes")]
    EmptyMatrix,
    /// All ranks in one rack.
    #[error(
        "database-pod: {ranks} ranks fill a single `rack` of {rack}, and racks send to each other; \
         give more ranks or smaller racks"
    )]
    OneRack {
        /// How many ranks there are.
        ranks: u32,
        /// Ranks of a rack.
        rack: u32,
    },
}
