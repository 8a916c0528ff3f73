//! A trial's plan: plain numbers, with every name, unit and default resolved, and arithmetic on
//! them.
//!
//! A [`Plan`] holds the fabric, the models for switches and NICs, the jobs, and the events during
//! the trial. [`unloaded`] computes the time that messages take on paths without other traffic, and
//! [`ideal`] the time that collectives take if they wait for no other traffic, headers and delays
//! included.
//!
//! Nothing here reads text, and nothing simulates: the library resolves scenarios to plans and
//! explains them, and the rest of this crate runs them.

mod bounds;
mod circuits;
mod delays;
mod devices;
mod faults;
mod fidelity;
pub mod ideal;
mod impairments;
mod links;
mod lookahead;
mod open_queues;
mod power;
mod seeds;
mod steady_state;
mod trial;
pub mod unloaded;

pub use bounds::{CENTRAL_BELOW, SIMULATED_MAX, WINDOW_MAX};
pub use circuits::{
    CircuitChange, CircuitPlan, OnChange, SteeringController, SteeringDemand, SteeringPlan,
};
pub(crate) use delays::LeafKinds;
pub use delays::{Delays, Link};
pub use devices::{Device, Devices};
pub use faults::{Fault, FaultEvent, FaultPlan};
pub use fidelity::{AskedFidelity, Fidelity, PacketBudget};
pub use impairments::{LinkImpairment, RulePlan};
pub use links::{IncomingLink, Links};
pub use lookahead::{Lookahead, Others};
pub use power::{PowerConstants, PowerProfile, PoweredParts, StaticPower};
pub use seeds::Seeds;
pub use steady_state::SteadyState;
pub use trial::{CapturePlan, HostDelays, Plan, QueueChanges};
