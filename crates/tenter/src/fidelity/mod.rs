//! How exact flow level is: trials at both levels, and a corpus of them.

mod compare;
mod corpus;

pub use compare::{BothLevels, compare_levels};
pub use corpus::corpus_scenario;
