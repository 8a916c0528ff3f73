//! Reader for logs from NCCL and RCCL: each process's calls and communicators.
//!
//! ```text
//!   lines ─ Log: processes, communicators, calls ─ read: ranks, groups ─▶ RankTrace of each rank
//! ```
//!
//! Source: `src/enqueue.cc` (`ncclEnqueueCheck`), `src/init.cc` and `src/nccl.h.in` in NVIDIA/nccl,
//! and the line format in ROCm/rccl, which ends with `task` and `globalrank`.

mod lines;
mod read;
#[cfg(test)]
mod tests;

pub use read::read;
