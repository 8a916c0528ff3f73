//! Flows that share links: their max–min fair rates, and the instants at which they end.
//!
//! Rates are updated as flows begin and end: exactly, or within a tolerance of their links.
//!
//! ```text
//!   begin, withdraw, set_capacity ──settle(now)──▶ rates ──▶ next_end ──ending(at)──▶ flows
//! ```
//!
//! Rates are *max–min fair* if no flow can get more without taking from one that has no more. That
//! is so if and only if each flow has a *bottleneck*: a full link on which no flow has more, or the
//! flow's own limit (Bertsekas and Gallager, "Data Networks", section 6.5). There is only one such
//! solution, so the method does not matter: [`Fluid::settle`] visits only what the changes since
//! the last call affect, from the lowest rates up (`repair`). [`Fluid::check`] proves the rates of
//! all flows.
//!
//! This room knows no packets, hosts or jobs. Numbers are integers: a rate is a multiple of 2⁻¹³
//! bits per second, rounded down, so line rates are exact and equal flows end at the same instant.
//! Ends are rounded up to a picosecond. An end is therefore late by at most one picosecond for
//! each earlier end that it follows from.

mod among;
mod amounts;
mod certificate;
mod flow;
mod held;
mod holders;
mod links;
mod members;
mod opened;
mod population;
mod queues;
mod repair;
mod shares;
mod solver;
mod soonest;

pub use among::Presence;
pub use amounts::{Amount, FlowRate, Weight};
pub use flow::{FlowId, FlowSpec};
pub use links::LinkId;
pub(crate) use links::RouteId;
pub use queues::{Queues, Waiting};
pub use solver::Fluid;
