//! Measurements on real fabrics, by size: logs of nccl-tests, results of perftest, tables in CSV.
//!
//! ```text
//!   rows, programs ─▶ nccl_tests, perftest, own_table ─▶ read
//! ```

mod nccl_tests;
mod own_table;
mod perftest;
mod programs;
mod read;
mod rows;
#[cfg(test)]
mod tests;

pub use programs::collective_of_program;
pub use rows::{Measured, MeasuredRow};
