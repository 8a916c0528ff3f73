//! The channel between the coordinator and an agent: authenticated frames over TCP, the messages
//! they carry, and the estimate of the agent's clock.

mod channel;
mod clock;
mod messages;
mod secret;

pub use channel::ChannelError;
pub(crate) use channel::{Reader, Writer, accept, connect};
pub(crate) use clock::{ClockEstimate, Exchange, LocalClock};
pub(crate) use messages::{AgentReport, FromAgent, Offer, Opening, Order, ScenarioFile};
pub(crate) use secret::random_number;
pub use secret::{Secret, SecretError};
