//! Flows that share links: their max–min fair rates, kept up to date exactly as flows start and
//! end, and when each of them has sent all its bytes.
//!
//! ```text
//!   begin, withdraw, set_capacity ──settle(now)──▶ rates ──▶ next_end ──ending(at)──▶ flows
//! ```
//!
//! Rates are *max–min fair*: no flow can get more without taking from one that has no more. They
//! are so if and only if each flow has a *bottleneck*: a link that is full and on which no flow has
//! more, or a limit of its own (Bertsekas and Gallager, "Data Networks", section 6.5). There is
//! only one such solution, so it does not matter how it is found: [`Fluid::settle`] goes through
//! what the changes since the last call touch, from the lowest rates up (`repair`).
//! [`Fluid::check`] looks at all flows.
//!
//! Nothing here knows packets, hosts or jobs. Numbers are integers: a rate is a multiple of 2⁻¹³
//! bits per second, rounded down, so that rates of lines are exact and equal flows end at the same
//! instant. Ends are rounded up to a picosecond, and so are off by a picosecond at most for each
//! end of another flow that they followed from.

mod among;
mod amounts;
mod certificate;
mod flow;
mod fluid;
mod held;
mod holders;
mod links;
mod members;
mod population;
mod queues;
mod repair;
mod shares;
mod soonest;

pub use among::Presence;
pub use amounts::{Amount, FlowRate, Weight};
pub use flow::{FlowId, FlowSpec};
pub use fluid::Fluid;
pub use links::{LinkId, RouteId};
pub use queues::{Queues, Waiting};
