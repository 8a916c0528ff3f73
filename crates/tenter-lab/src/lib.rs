//! The lab runs scenarios on real hosts, and makes fabrics of network namespaces for them.
//!
//! ```text
//!   lab file, scenario ──▶ coordinator ══control══▶ agents ──RoCEv2 over UDP──▶ agents
//!                              └── records ──▶ trial folder, as of a simulated trial
//! ```
//!
//! An agent runs the simulation's host (NIC, loss recovery, congestion control) by its own clock,
//! and sends each packet that leaves it as `RoCEv2`. The coordinator starts the collectives, and
//! enters what agents measure into the same flow table that a simulation fills.
//!
//! **Architecture invariant.** Nothing is sent to an address that the lab file does not name, and
//! nothing is done for a peer that does not have the lab's secret.

#![cfg(target_os = "linux")]

mod agent;
mod control;
mod coordinator;
mod data_path_kind;
mod error;
mod fabric;
mod lab_file;
mod switches;
mod twin;
pub mod wire;

pub use agent::{AgentOptions, PrivilegeError, drop_privileges, start};
pub use control::{ChannelError, Secret, SecretError};
pub use coordinator::{LabRun, LabTrial, Observed, load, run};
pub use data_path_kind::DataPathKind;
pub use error::LabError;
pub use fabric::{LabState, Wiring, control_namespace, down, missing_tools, namespace, up};
pub use lab_file::{AgentKeys, LabFile, LabKeys, NamespaceFabric};
pub use switches::{
    Collector, GnmiKeys, InterfaceSnapshot, Snapshot, SnmpKeys, SonicKeys, SwitchKeys, SwitchShown,
    add_counters, read_switches,
};
pub use tenter_sim::real_time::Counter;
pub use twin::{
    Calibration, Constants, FlowSpread, LinkRow, PathRow, SizeRow, TOLERANCE_PERCENT, Twin,
    calibrate, kernel_paths, twin, twin_text,
};
