//! Logs of NCCL and RCCL: the calls of each process, and the communicators that these name.
//!
//! ```text
//!   lines ─ Log: processes, communicators, calls ─ read: ranks, groups ─▶ RankTrace of each rank
//! ```
//!
//! Source: `src/enqueue.cc` (`ncclEnqueueCheck`), `src/init.cc` and `src/nccl.h.in` of NVIDIA/nccl,
//! and the line of ROCm/rccl, which ends with `task` and `globalrank`.

mod lines;
mod read;
#[cfg(test)]
mod tests;

pub use read::read;
