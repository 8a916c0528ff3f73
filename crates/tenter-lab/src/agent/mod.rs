//! The agent of a host: it waits for a coordinator, and is a host of the trials that it is given.
//!
//! ```text
//!   server: listens, greets ──orders──▶ worker: clock, host of the simulation
//!      ▲                                   │  ▲
//!      └───────── reports ─────────────────┘  └──▶ codec ──▶ sockets: UDP
//! ```

mod codec;
mod interface;
mod numbers;
mod privileges;
mod receivers;
mod server;
mod sockets;
mod start;
mod worker;

pub use privileges::{PrivilegeError, drop_privileges};
pub use start::{AgentOptions, start};
