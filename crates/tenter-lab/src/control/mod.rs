//! The channel between a coordinator and an agent: authenticated frames over TCP, the messages in
//! them, and the estimate of an agent's clock.

mod channel;
mod clock;
mod messages;
mod secret;

pub use channel::{ChannelError, Reader, Writer, accept, connect};
pub use clock::{ClockEstimate, Exchange, LocalClock};
pub use messages::{AgentReport, FromAgent, Opening, Order, ScenarioFile};
pub(crate) use secret::random_number;
pub use secret::{Secret, SecretError};
