//! Traffic classes: the eight priorities of IEEE 802.1Q.

use std::ops::RangeInclusive;

use tenter_language::config::{Reader, Share, choice, component};
use tenter_language::units::{Bytes, Rate};

use crate::net::memory::UNLIMITED_POOL;

/// Number of traffic classes; an output port has a queue for each at most.
pub const CLASSES: usize = 8;

/// Scheduling of a class at an output port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// Goes before all weighted classes; among strict ones the highest class goes first.
    Strict,
    /// Shares the rate that strict classes leave, by deficit round robin.
    Weighted {
        /// Bytes added to the class's deficit in each round; at least the largest frame.
        quantum_bytes: u32,
    },
}

/// A switch's treatment of one class: its scheduling, buffer space, flow control and marks.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassSpec {
    /// The traffic class (a DSCP shifted right by 3), 0 to 7.
    pub class: u8,
    /// Order in which output ports serve the class.
    pub scheduling: Scheduling,
    /// Pool from which its frames take shared space: an index into
    /// [`SwitchSpec::pool_bytes`](crate::net::SwitchSpec::pool_bytes).
    pub pool: u8,
    /// Reserved bytes, outside the pool, for each output queue or, in a lossless class, each
    /// priority group.
    pub reserved_bytes: u64,
    /// Limit on the shared bytes in a queue or priority group: beyond it a lossy class drops, a
    /// lossless one pauses the sender.
    pub limit: Limit,
    /// PFC settings that make the class lossless; `None` drops frames beyond the limit.
    pub lossless: Option<LosslessSpec>,
    /// ECN marking; `None` marks nothing.
    pub ecn: Option<EcnSpec>,
    /// Class that its packets take in the next region; `None` if they keep theirs.
    pub next_region: Option<u8>,
    /// Trimming, for data that finds no room; `None` drops it.
    pub trim: Option<TrimSpec>,
}

impl ClassSpec {
    /// Makes a strict lossy class whose queues may each hold all of pool 0.
    pub fn without_end(class: u8) -> ClassSpec {
        ClassSpec {
            class,
            scheduling: Scheduling::Strict,
            pool: 0,
            reserved_bytes: 0,
            limit: Limit::Static(UNLIMITED_POOL),
            lossless: None,
            ecn: None,
            next_region: None,
            trim: None,
        }
    }
}

/// Limit on the shared bytes that a queue or priority group takes from its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A fixed number of bytes, whatever the pool's fill.
    Static(u64),
    /// Alpha times the free bytes of the pool (Choudhury and Hahne, "Dynamic queue length
    /// thresholds for shared-memory packet switches").
    Dynamic {
        /// Numerator of the fraction alpha.
        numerator: u32,
        /// Denominator of the fraction alpha, not zero.
        denominator: u32,
    },
    /// A number of bytes for each level that the pool's fill reaches.
    Levels(Levels),
    /// A number of bytes in proportion to the line rate, for queues with memory to themselves.
    AtRate {
        /// Limit at ports of `rate`, in bytes.
        bytes: u64,
        /// Line rate that `bytes` is meant for.
        rate: Rate,
        /// Lowest limit at any port, in bytes.
        least: u64,
    },
}

impl Limit {
    /// Returns the bytes at which a pool with `pool_bytes` reaches the limit if all its frames
    /// count as one queue.
    pub fn of_all(&self, pool_bytes: u64) -> u64 {
        match self {
            Limit::Static(bytes) | Limit::AtRate { bytes, .. } => *bytes,
            Limit::Dynamic {
                numerator,
                denominator,
            } => {
                // Solves fill = alpha · (pool − fill).
                let (n, d) = (u128::from(*numerator), u128::from(*denominator));
                (u128::from(pool_bytes) * n / (n + d)) as u64
            }
            Limit::Levels(levels) => levels.of_all(pool_bytes),
        }
    }

    /// Returns the bytes that a queue with memory to itself may hold at a port with this line rate;
    /// `None` if the limit goes by a pool's fill.
    pub fn at_port(&self, port: Rate) -> Option<u64> {
        match *self {
            Limit::Static(bytes) => Some(bytes),
            Limit::AtRate { bytes, rate, least } => {
                let bits = u128::from(port.bits_per_second());
                let part = u128::from(bytes) * bits / u128::from(rate.bits_per_second());
                Some(u64::try_from(part).unwrap_or(u64::MAX).max(least))
            }
            Limit::Dynamic { .. } | Limit::Levels(_) => None,
        }
    }
}

component! {
    /// A level of a pool, and how much an account may hold above it.
    pub struct Level as "`fabric.switch.classes[].levels[]`", derive(Clone, Copy, Debug, Default, PartialEq, Eq) {
        /// The level holds above this fill of the pool; more than in the level before.
        pool_bytes as "above": u64 as Bytes, in SIZES;
        /// A queue or priority group may hold this much; no more than in the level before. `0B`
        /// stops all of them.
        account_bytes as "limit": u64 as Bytes, in SIZES;
    }
}

/// Accepted sizes for buffers, queues and thresholds, up to 1 TiB.
const SIZES: RangeInclusive<Bytes> = Bytes::new(0)..=Bytes::new(1 << 40);
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);

/// A pool's levels: ascending fills, with limits that do not rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    // An array, so that limits stay `Copy`.
    levels: [Level; Levels::MOST],
    count: u8,
}

impl Levels {
    /// Most levels that a class may list.
    pub const MOST: usize = 4;

    /// Makes levels from a list; `None` if it is empty or longer than [`Levels::MOST`], its fills
    /// do not rise, or its limits do.
    pub fn new(list: &[Level]) -> Option<Levels> {
        let rises = |pair: &[Level]| {
            pair[0].pool_bytes < pair[1].pool_bytes
                && pair[0].account_bytes >= pair[1].account_bytes
        };
        if list.is_empty() || list.len() > Levels::MOST || !list.windows(2).all(rises) {
            return None;
        }
        let mut levels = [Level::default(); Levels::MOST];
        levels[..list.len()].copy_from_slice(list);
        let count = list.len() as u8;
        Some(Levels { levels, count })
    }

    /// Returns the levels, ascending by fill.
    pub fn list(&self) -> &[Level] {
        &self.levels[..usize::from(self.count)]
    }

    /// Returns the limit on a queue or priority group, in bytes, at this pool fill; `u64::MAX` up
    /// to the first level.
    #[inline]
    pub fn limit(&self, pool_used: u64) -> u64 {
        let passed = self
            .list()
            .iter()
            .take_while(|level| pool_used > level.pool_bytes);
        passed.last().map_or(u64::MAX, |level| level.account_bytes)
    }

    /// Returns the most bytes that a queue or priority group may hold alone, when the pool's fill
    /// is its own.
    pub fn of_all(&self, pool_bytes: u64) -> u64 {
        let mut most = pool_bytes;
        // A level does not apply up to its fill; beyond, its limit holds.
        for level in self.list().iter().rev() {
            most = most.min(level.account_bytes.max(level.pool_bytes));
        }
        most
    }
}

/// Priority flow control of a class (IEEE 802.1Qbb).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LosslessSpec {
    /// Quantity that is compared with the limit.
    pub trigger: PfcTrigger,
    /// Bytes below the limit at which a paused sender may resume; it may also if the queue or
    /// priority group is empty.
    pub xon_offset_bytes: u64,
    /// Bytes for frames that arrive after XOFF, for each port, outside the pool.
    pub headroom: Headroom,
    /// Pause time that an XOFF asks for, in quanta (512 bit times each).
    pub quanta: u16,
    /// Part of the pause time after which XOFF is repeated, in percent, below 100.
    pub refresh_percent: u8,
}

/// Quantity that triggers an XOFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PfcTrigger {
    /// Bytes that arrived through one port in the class and are still stored; the sender at that
    /// port is paused.
    Ingress,
    /// Bytes in an output queue; the senders of the frames beyond the limit are paused.
    Egress,
    /// Bytes in the whole pool; every sender within the scope is paused.
    Pool(PoolScope),
}

/// Senders that a full pool pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolScope {
    /// The senders at all ports, switches among them.
    All,
    /// Hosts; a switch is paused only when its frames need headroom.
    Hosts,
}

choice!(PoolScope { "all" => All, "hosts" => Hosts });

/// Rule that sizes a port's headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// From the model's delays, link by link: nothing is ever lost, and with one frame less
    /// something could be. If several classes [become
    /// one](crate::net::Switches::classes_that_become_one) on the way into another region, it
    /// covers the class whose pause frame is sent last; the others need less.
    Model,
    /// `SONiC`'s formula, from line rate and cable length.
    Sonic,
    /// As many bytes for every port, whatever its link.
    Bytes(u64),
}

component! {
    /// Marking by the length of the output queue: the probability rises linearly from 0 at
    /// `min_bytes` to `max_probability` at `max_bytes`, and is 1 beyond.
    pub struct EcnSpec as "`fabric.switch.classes[].ecn`, written as a mapping", derive(Clone, Copy, Debug, PartialEq) {
        /// Up to this queue length nothing is marked.
        min_bytes as "kmin": u64 as Bytes, in SIZES;
        /// Beyond this queue length everything is marked.
        max_bytes as "kmax": u64 as Bytes, in SIZES;
        /// Probability of a mark at `kmax`; from `kmin` on it rises to it linearly.
        max_probability_ppm as "pmax": u32 as Share;
        /// The line rate that `kmin` and `kmax` are meant for: at ports of other rates they are in
        /// proportion.
        scale_from: Option<Rate> = "none", in RATES;
        /// Instant at which a frame is marked: when it enters its queue, by the length of the queue
        /// with it, or when it leaves, by the length that it leaves behind.
        mark_at as "mark": MarkAt = "enqueue";
        /// `true` marks frames at ports to hosts, too.
        at_hosts: bool = "true";
        check thresholds_do_not_fall;
    }
}

fn thresholds_do_not_fall(spec: &EcnSpec, reader: &mut dyn Reader) -> bool {
    let holds = spec.min_bytes <= spec.max_bytes;
    if !holds {
        let help = "give `kmax` at least as much as `kmin`";
        reader.refuse("kmax", "is less than `kmin`", help);
    }
    holds
}

component! {
    /// Trimming: a data packet that finds no room in its queue goes on without its payload. By the
    /// toss of a coin it is this packet, or the last one that waits, which it then replaces.
    pub struct TrimSpec as "`fabric.switch.classes[].trim`", derive(Clone, Copy, Debug, PartialEq, Eq) {
        /// The class of what is left, which a listed one has to be.
        to: u8, in 0..=7;
        /// Frame bytes of what is left.
        bytes as "size": u32 as Bytes = "64B", in Bytes::new(40)..=Bytes::new(512), from "the Ultra Ethernet Consortium's simulator";
    }
}

/// Event at which a switch decides whether a frame is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkAt {
    /// The frame joins its queue; the queue length with the frame decides.
    #[default]
    Enqueue,
    /// The frame's first bit leaves; the queue length behind it decides.
    Dequeue,
}

choice!(MarkAt { "enqueue" => Enqueue, "dequeue" => Dequeue });

impl EcnSpec {
    /// Returns Kmin and Kmax, in bytes, for queues at a port with this rate.
    pub fn thresholds_at(&self, rate: Rate) -> (u64, u64) {
        let Some(from) = self.scale_from else {
            return (self.min_bytes, self.max_bytes);
        };
        let scaled = |bytes: u64| {
            let bits = u128::from(bytes) * u128::from(rate.bits_per_second());
            (bits / u128::from(from.bits_per_second().max(1))) as u64
        };
        (scaled(self.min_bytes), scaled(self.max_bytes))
    }

    /// Makes a spec that marks every frame with which its queue holds more than `bytes`.
    pub fn above(bytes: u64) -> EcnSpec {
        EcnSpec {
            min_bytes: bytes,
            max_bytes: bytes,
            max_probability_ppm: 0,
            scale_from: None,
            mark_at: MarkAt::Enqueue,
            at_hosts: true,
        }
    }
}

/// Returns each class's queue, as an index into `specs`. A class that is not listed shares the next
/// lower listed class's queue, or the first.
pub(crate) fn queue_of_class(specs: &[ClassSpec]) -> [u8; CLASSES] {
    std::array::from_fn(|class| {
        // The list is ascending by class.
        let upto = specs
            .iter()
            .take_while(|spec| usize::from(spec.class) <= class);
        upto.count().saturating_sub(1) as u8
    })
}
