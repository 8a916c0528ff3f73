//! Accuracy of flow level: trials at both levels, and a corpus of scenarios for them.

mod compare;
mod corpus;

pub use compare::{BothLevels, compare_levels};
pub use corpus::corpus_scenario;
