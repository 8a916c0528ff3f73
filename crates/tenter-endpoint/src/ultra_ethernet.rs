//! The transport of Ultra Ethernet, with packet delivery contexts instead of queue pairs.
//!
//! Packets are numbered per connection, take any path, are placed as they arrive, and are
//! acknowledged selectively. A packet that a switch has trimmed is reported at once and resent
//! before anything else. Source: the Ultra Ethernet Consortium's reference simulator (uet-htsim,
//! 2025); the text of the specification 1.0 was not at hand.
//!
//! ```text
//!   posting ──▶ round ──▶ departure ──▶ wire ──▶ arrival ──▶ receiver ──▶ delivered
//!                 ▲   window, credit                 │           │
//!                 └──── sender ◀── answers ◀─────────┘       pull pacer
//! ```

mod acknowledgement;
mod bits;
mod cut;
pub mod entropy;
mod network;
mod nic;
mod oversubscription;
mod pacer;
mod receiver;
mod recovery;
mod requests;
mod sender;
mod spec;

pub use acknowledgement::Acknowledgements;
pub use network::Network;
pub(crate) use nic::UltraEthernetNic;
pub use spec::{LossDetection, Transport, UltraEthernet};
