//! Reader for AICB tables, which have a line for each collective, in sections for the ranks in a
//! pipeline stage.
//!
//! Source: `log_analyzer/log.py`, `workload_generator/` and `workload_applyer.py` in aliyun/aicb.

mod ranks;
mod table;
#[cfg(test)]
mod tests;

pub use ranks::read;
