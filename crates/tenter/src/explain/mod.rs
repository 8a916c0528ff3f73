//! Meaning of a plan and cost of running it, without running it.
//!
//! ```text
//!   Plan ─▶ fabric   tiers, links per switch pair, oversubscription
//!        ─▶ paths    unloaded latency per path and message, BDP
//!        ─▶ buffers  pools, thresholds, headroom
//!        ─▶ circuits  initial circuits of optical switches, and their changes
//!        ─▶ scheduled  memory, credits and speed-up of a scheduled fabric
//!        ─▶ host_memory  PCIe, and NICs that it slows down
//!        ─▶ ideal    the closed form of every collective and size
//!        ─▶ cost     packet-hops, memory, wall time
//!        ─▶ bill     the parts to buy, and their power
//!        ─▶ fidelity  known errors of flow level for plans like this
//!        ─▶ idle     settings that have no effect
//! ```
//!
//! Everything is arithmetic on the plan: no packet moves. Latencies, ideal times and headroom are
//! those of the model, to the picosecond. The cost is an estimate, which tests compare with real
//! runs.
//!
//! **Architecture invariant.** Nothing here reads a file, a clock or the environment: the same plan
//! gives the same explanation on any machine.

mod bill;
mod buffers;
mod circuits;
mod congestion;
mod cost;
mod credit;
mod entropy;
mod error;
mod explanation;
mod fabric;
mod fabric_memory;
mod fidelity;
mod flow_workload;
mod host_memory;
mod ideal;
mod idle;
mod memory;
mod paths;
mod power;
mod queues;
mod scheduled;
mod traffic;
mod unequal;
mod unloaded;

pub use bill::{Bill, CableLine, SwitchLine, bill};
pub use buffers::{
    ClassFacts, EcnAtRate, EcnFacts, LosslessFacts, PoolFacts, SwitchFacts, Threshold,
    TierSwitchFacts,
};
pub use circuits::{CircuitChangeFacts, CircuitFacts, OpticalPortFacts};
pub use congestion::RecoveryFacts;
pub use cost::{Cost, cost_of, cost_on, packet_hops};
pub use credit::CreditFacts;
pub use entropy::EntropyFacts;
pub use error::ExplainError;
pub use explanation::{Explanation, explain, explain_on};
pub use fabric::{FabricFacts, PairFacts, TierFacts};
pub use fidelity::{
    ErrorOf, FIDELITY_COLUMNS, FidelityClass, FidelityRow, KnownError, LevelErrors, fidelity_csv,
    fidelity_rows, known_error,
};
pub use host_memory::{DirectionFacts, DmaFacts, PcieFacts};
pub use ideal::{IdealTime, JobFacts};
pub use idle::{IdleSetting, idle_settings, idle_settings_on};
pub use memory::{MemoryParts, memory_bytes};
pub use paths::{MessageTime, PathClass};
pub use power::PowerFacts;
pub use scheduled::ScheduledFacts;
pub use unloaded::UnloadedTimes;
