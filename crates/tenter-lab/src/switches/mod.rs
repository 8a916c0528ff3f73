//! Counters of switches that are machines, read before and after a trial.
//!
//! ```text
//!   lab file ──▶ collect: SNMP, or commands ──texts──▶ sonic, gnmi ──▶ Snapshot
//!   files of a user ────────────────────────texts──▶        │
//!               two snapshots ──▶ ports of the topology ──▶ tables of the trial
//! ```
//!
//! A counter that a switch does not have is absent everywhere, and missing in the tables.

mod collect;
mod command;
mod difference;
mod fault;
mod files;
mod gnmi;
mod into_trial;
mod keys;
mod snapshot;
mod snmp;
mod sonic;
mod text;

pub(crate) use collect::read_settled;
pub use collect::{SwitchShown, read_switches};
pub(crate) use difference::{Measured, measured};
pub use into_trial::add_counters;
pub use keys::{Collector, GnmiKeys, SnmpKeys, SonicKeys, SwitchKeys};
pub use snapshot::{InterfaceSnapshot, Snapshot};
