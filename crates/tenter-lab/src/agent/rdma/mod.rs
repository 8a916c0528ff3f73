//! The data path through RDMA hardware: messages that the simulation's NIC sends become RDMA
//! writes.
//!
//! ```text
//!   host of the simulation ──messages──▶ path ──writes with immediate──▶ device
//!             ▲                            │
//!             └─packets, acknowledgements──┴◀──completions── device
//! ```
//!
//! The model decides when a message begins and what follows from its arrival; the device alone
//! handles transport, losses and congestion. Everything here but [`open`] works with any [`Verbs`];
//! the tests have a device that reorders, fails and runs out of receives.

#[cfg(feature = "rdma")]
mod device;
#[cfg(test)]
mod fake;
#[cfg(any(test, feature = "rdma"))]
mod offer;
mod open;
mod path;
mod place;
#[cfg(test)]
mod tests;
mod verbs;

pub(super) use open::open;
pub(super) use path::{RdmaBuild, RdmaPath};
pub(super) use verbs::Attributes;
