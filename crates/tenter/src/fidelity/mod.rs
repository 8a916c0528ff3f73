//! Flow level's accuracy: trials at both levels, and a corpus with scenarios for them.

mod compare;
mod corpus;

pub use compare::{BothLevels, compare_levels};
pub use corpus::corpus_scenario;
