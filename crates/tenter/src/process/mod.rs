//! Trials in processes of their own: whatever ends such a process costs one trial.
//!
//! ```text
//!   pool, or the queue of a workspace        process of trials
//!     TrialProcess ── orders, stop ────────▶ carry_out_orders
//!        observer  ◀─ progress, answers ───    confined: memory, files, system calls
//! ```
//!
//! Both sides write lines of JSON. The process ends when its input ends, so that it never outlives
//! the program that has started it.

mod child;
#[cfg(target_os = "linux")]
mod confine;
#[cfg(not(target_os = "linux"))]
#[path = "confine_nothing.rs"]
mod confine;
mod host;
mod message;
#[cfg(debug_assertions)]
mod planted;

pub use child::carry_out_orders;
pub use confine::confinement_gaps;
pub use host::{TrialProcess, TrialProgram};
