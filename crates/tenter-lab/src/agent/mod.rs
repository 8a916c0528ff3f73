//! The agent: a process that waits for a coordinator and plays one host in the trials it is given.
//!
//! ```text
//!   server: listens, greets ──orders──▶ worker: clock, host of the simulation
//!      ▲                                   │  ▲
//!      └───────── reports ─────────────────┘  └──▶ data path ──▶ codec ──▶ sockets: UDP
//!                                                     └────────▶ rdma: writes, completions
//! ```

mod codec;
mod data_path;
mod interface;
mod numbers;
mod places;
mod privileges;
mod rdma;
mod receivers;
mod server;
mod sockets;
mod start;
mod udp_path;
mod worker;

pub use privileges::{PrivilegeError, drop_privileges};
pub use start::{AgentOptions, start};
