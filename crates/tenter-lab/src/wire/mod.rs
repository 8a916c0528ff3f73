//! `RoCEv2` packets as UDP payload.
//!
//! Source: `InfiniBand` Architecture Specification, volume 1, with its Annex A17 for `RoCEv2`.
//!
//! **Architecture invariant.** Pure functions on bytes: no socket and no clock.

mod headers;
mod icrc;
mod pattern;
#[cfg(test)]
mod tests;

pub use headers::{Body, HEADERS_MAX, Headers, Malformed, Position, Reth};
pub use icrc::{ICRC_BYTES, Icrcs, UdpFlow, icrc};
pub use pattern::{Pattern, STAMP_BYTES};

/// Frame bytes around a UDP payload: Ethernet header 14, IPv4 20, UDP 8, FCS 4.
pub const FRAME_OVERHEAD: usize = 46;

/// UDP port of `RoCEv2`, 4791.
pub const ROCE_PORT: u16 = tenter_endpoint::ROCE_UDP_PORT;
