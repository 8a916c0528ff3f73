//! Tables of AICB: a line for each collective of a model, for the ranks of each stage of the
//! pipeline.
//!
//! Source: `log_analyzer/log.py`, `workload_generator/` and `workload_applyer.py` of aliyun/aicb.

mod ranks;
mod table;
#[cfg(test)]
mod tests;

pub use ranks::read;
