//! Tenter's own file for operation graphs, from foreign formats and in trials.
//!
//! ```text
//!   file        := MAGIC ranks kinds groups collectives { rank }
//!   kinds       := count { text }              keys of a collective without its size, as YAML
//!   groups      := count { count { rank } }
//!   collectives := count { group nth kind bytes }
//!   rank        := count { operation } ( 0 | 1 { measured } )
//!   operation   := head [stream] fields [count { follower }]
//!   measured    := 0 | time + 1 ( 0 | start + 1 )    0 where it is not known
//! ```
//!
//! Numbers are varints: seven bits in a byte, low bits first. An operation's head is one byte with
//! its kind and flags for optional parts.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::read;
pub use write::{write, write_to};

/// First bytes of a file; the last one is the format's version. Version 1 has no measured times.
const MAGIC: [u8; 8] = *b"\x93TENTER\x02";
const VERSION_WITHOUT_TIMES: u8 = 1;

/// The bits of an operation's head.
mod head {
    /// Mask for an operation's kind.
    pub(super) const KIND: u8 = 0b111;
    /// The stream differs from that of the operation before, and follows.
    pub(super) const STREAM: u8 = 1 << 3;
    /// A list of operations that wait for this one follows.
    pub(super) const FOLLOWERS: u8 = 1 << 4;
    /// A receive that names its sender.
    pub(super) const PEER: u8 = 1 << 5;
    /// A receive that names its tag.
    pub(super) const TAG: u8 = 1 << 6;

    /// Kind for operations in which the rank computes.
    pub(super) const COMPUTE: u8 = 0;
    /// Kind for sends.
    pub(super) const SEND: u8 = 1;
    /// Kind for receives.
    pub(super) const RECEIVE: u8 = 2;
    /// Kind for collectives.
    pub(super) const COLLECTIVE: u8 = 3;
    /// Kind for operations that only let time pass.
    pub(super) const WAIT: u8 = 4;
}

/// Encodes the place of a follower relative to the operation that it waits for. Bit 0 is set if it
/// waits for the start alone, bit 1 if the follower comes earlier; the distance is above.
fn follower(place: u32, follower: u32, on_start: bool) -> u64 {
    let (distance, back) = (follower.abs_diff(place), follower < place);
    u64::from(distance) << 2 | u64::from(back) << 1 | u64::from(on_start)
}

/// Decodes a number that [`follower`] made; `None` if the place would be out of range.
fn follower_of(place: u32, written: u64) -> Option<(u32, bool)> {
    let distance = u32::try_from(written >> 2).ok()?;
    let follower = if written & 2 == 0 {
        place.checked_add(distance)?
    } else {
        place.checked_sub(distance)?
    };
    Some((follower, written & 1 == 1))
}
