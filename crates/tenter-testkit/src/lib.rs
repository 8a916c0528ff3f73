//! Shared parts of Tenter's tests: an engine to compare with, random scenarios to compare on, and a
//! finder for the first event that differs.
//!
//! ```text
//!   seed ──random_scenario──▶ text, Plan ──┬──▶ ReferenceDriver ────────────▶ Trial ──┐
//!                                          └──▶ 1, 2, 3 threads, windows ──▶ Trial ──┴─ difference
//!                                                                                         │
//!                    replay SEED: first_divergence, the first event that differs ◀────────┘
//! ```
//!
//! The [`ReferenceDriver`] drives the same model functions as the windowed engine, in the most
//! obvious way: one heap, one event at a time, an event for each departure. Equal records therefore
//! prove order, lazy ports, windows and threads. They prove nothing about the models; closed forms
//! and published results do.
//!
//! **Architecture invariant.** No crate depends on this one except in its tests.

mod cases;
mod comparison;
mod divergence;
mod engine;
mod parallel;
mod processor_time;
mod random;
mod reference;

pub use cases::cases;
pub use comparison::{EqualTrials, compare, compare_plan, difference, replay_command};
pub use divergence::{Divergence, Probe, Side, first_divergence};
pub use engine::{Engine, Trial};
pub use parallel::of_each;
pub use processor_time::ProcessorTime;
pub use random::{
    RandomScenario, random_changes, random_planes, random_rings, random_scenario, random_transfers,
    random_ultra_ethernet,
};
pub use reference::ReferenceDriver;
