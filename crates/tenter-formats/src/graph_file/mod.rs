//! Graphs of operations in a file of Tenter's own: what importers make of the formats of others,
//! and what a trial keeps.
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
//! Numbers are varints of seven bits a byte, the low ones first. The head is a byte: the kind of
//! the operation, and what of the rest is there.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::read;
pub use write::{write, write_to};

/// What a file begins with; the last byte is the version of the format. Version 1 has no measured
/// times.
const MAGIC: [u8; 8] = *b"\x93TENTER\x02";
const VERSION_WITHOUT_TIMES: u8 = 1;

/// The bits of a head.
mod head {
    /// The kind of the operation.
    pub(super) const KIND: u8 = 0b111;
    /// The stream is another one than that of the operation before.
    pub(super) const STREAM: u8 = 1 << 3;
    /// Other operations wait for it.
    pub(super) const FOLLOWERS: u8 = 1 << 4;
    /// A receive names the sender.
    pub(super) const PEER: u8 = 1 << 5;
    /// A receive names the tag.
    pub(super) const TAG: u8 = 1 << 6;

    /// A kind: the rank computes.
    pub(super) const COMPUTE: u8 = 0;
    /// A kind: it sends.
    pub(super) const SEND: u8 = 1;
    /// A kind: it receives.
    pub(super) const RECEIVE: u8 = 2;
    /// A kind: it takes part in a collective.
    pub(super) const COLLECTIVE: u8 = 3;
    /// A kind: it waits.
    pub(super) const WAIT: u8 = 4;
}

/// The place of a follower as the distance from what it follows, in the lowest bit whether it waits
/// for the start alone, in the next whether the distance is negative.
fn follower(place: u32, follower: u32, on_start: bool) -> u64 {
    let (distance, back) = (follower.abs_diff(place), follower < place);
    u64::from(distance) << 2 | u64::from(back) << 1 | u64::from(on_start)
}

/// The inverse of [`follower`]; `None` where the place is none.
fn follower_of(place: u32, written: u64) -> Option<(u32, bool)> {
    let distance = u32::try_from(written >> 2).ok()?;
    let follower = if written & 2 == 0 {
        place.checked_add(distance)?
    } else {
        place.checked_sub(distance)?
    };
    Some((follower, written & 1 == 1))
}
