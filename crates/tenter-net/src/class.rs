//! Traffic classes: the eight priorities of IEEE 802.1Q.

use std::ops::RangeInclusive;

use tenter_config::{Reader, Share, choice, component};
use tenter_units::{Bytes, Rate};

use crate::memory::UNLIMITED_POOL;

/// How many classes there are.
pub const CLASSES: usize = 8;

/// How a class is scheduled at an output port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// Before all weighted classes; among strict ones the higher number first.
    Strict,
    /// A share of the rate that strict classes leave, by deficit round robin: this number of bytes
    /// is added to the class's deficit in each round.
    Weighted {
        /// Bytes a round; at least the largest frame.
        quantum_bytes: u32,
    },
}

/// The treatment of the frames of one class in a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassSpec {
    /// The class, 0 to 7.
    pub class: u8,
    /// How it is scheduled.
    pub scheduling: Scheduling,
    /// The pool from which its frames take shared space, an index into
    /// [`SwitchSpec::pool_bytes`](crate::SwitchSpec::pool_bytes).
    pub pool: u8,
    /// Bytes that each account of the class (an output queue; for a lossless class an ingress
    /// priority group) has to itself, outside the pool.
    pub reserved_bytes: u64,
    /// Most shared bytes of an account: a lossy class drops beyond it, a lossless one pauses the
    /// sender.
    pub limit: Limit,
    /// What makes the class lossless; `None`: frames beyond the limit are dropped.
    pub lossless: Option<LosslessSpec>,
    /// Marking of congestion, if any.
    pub ecn: Option<EcnSpec>,
    /// The class of its packets from the next region on; `None`: they keep theirs.
    pub next_region: Option<u8>,
    /// What becomes of data that find no room; `None`: they are dropped.
    pub trim: Option<TrimSpec>,
}

impl ClassSpec {
    /// A lossy class whose accounts may hold all of pool 0, before all others.
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

/// A limit of an account on the shared space of its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A number of bytes.
    Static(u64),
    /// The free bytes of the pool times numerator over denominator (Choudhury and Hahne, "Dynamic
    /// queue length thresholds for shared-memory packet switches").
    Dynamic {
        /// Numerator of alpha.
        numerator: u32,
        /// Denominator of alpha, not zero.
        denominator: u32,
    },
    /// A number of bytes for each level of the pool's fill.
    Levels(Levels),
    /// A number of bytes at ports of a rate, and in proportion at others: for queues that have
    /// memory of their own.
    AtRate {
        /// The bytes at ports of that rate.
        bytes: u64,
        /// The rate.
        rate: Rate,
        /// The least that it is at any port.
        least: u64,
    },
}

impl Limit {
    /// The most shared bytes of all frames in a pool of a size together, as one account.
    pub fn of_all(&self, pool_bytes: u64) -> u64 {
        match self {
            Limit::Static(bytes) | Limit::AtRate { bytes, .. } => *bytes,
            Limit::Dynamic {
                numerator,
                denominator,
            } => {
                // Where fill = alpha · (pool − fill).
                let (n, d) = (u128::from(*numerator), u128::from(*denominator));
                (u128::from(pool_bytes) * n / (n + d)) as u64
            }
            Limit::Levels(levels) => levels.of_all(pool_bytes),
        }
    }

    /// The bytes that a queue with memory of its own may hold at a port of a rate; `None` where it
    /// goes by the fill of a pool.
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

/// No buffer and no queue is larger.
const SIZES: RangeInclusive<Bytes> = Bytes::new(0)..=Bytes::new(1 << 40);
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);

/// The levels of a pool: ascending fills, and limits that do not rise with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    levels: [Level; Levels::MOST],
    count: u8,
}

impl Levels {
    /// How many there may be.
    pub const MOST: usize = 4;

    /// These levels; `None` for none or too many, and where the fills do not rise or the limits do.
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

    /// All of them, ascending.
    pub fn list(&self) -> &[Level] {
        &self.levels[..usize::from(self.count)]
    }

    /// The most bytes of an account at this fill of the pool; below the first level there is no
    /// limit.
    #[inline]
    pub fn limit(&self, pool_used: u64) -> u64 {
        let passed = self
            .list()
            .iter()
            .take_while(|level| pool_used > level.pool_bytes);
        passed.last().map_or(u64::MAX, |level| level.account_bytes)
    }

    /// The most that one account may hold alone: it is the pool's fill, too.
    pub fn of_all(&self, pool_bytes: u64) -> u64 {
        let mut most = pool_bytes;
        for level in self.list().iter().rev() {
            most = most.min(level.account_bytes.max(level.pool_bytes));
        }
        most
    }
}

/// Priority flow control of a class (IEEE 802.1Qbb).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LosslessSpec {
    /// The quantity compared with the limit.
    pub trigger: PfcTrigger,
    /// The sender may resume when the account is this far below its limit, or is empty.
    pub xon_offset_bytes: u64,
    /// Bytes reserved for frames still on their way after XOFF, for each port, outside the pool.
    pub headroom: Headroom,
    /// Pause time asked for, in quanta of 512 bit times.
    pub quanta: u16,
    /// An XOFF is repeated when this share of its quanta has passed, in percent: below 100.
    pub refresh_percent: u8,
}

/// The trigger of an XOFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PfcTrigger {
    /// The bytes that arrived through one port in the class and are still stored; that port's
    /// sender is paused.
    Ingress,
    /// The bytes of an output queue; its senders are paused.
    Egress,
    /// The bytes of the whole pool; every sender within the scope is paused.
    Pool(PoolScope),
}

/// The senders that a full pool pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolScope {
    /// Those of all ports.
    All,
    /// Hosts; other switches are paused when their frames need headroom.
    Hosts,
}

choice!(PoolScope { "all" => All, "hosts" => Hosts });

/// How headroom is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// From the delays of the model, link by link: nothing is ever lost, and with one frame less
    /// something could be. Where several classes
    /// [become one](crate::Switches::classes_that_become_one) on the way into another region, it
    /// covers the class whose pause frame is sent last; the others need less.
    Model,
    /// As `SONiC` computes it from rate and cable length.
    Sonic,
    /// The same bytes for every port.
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
        /// Whether a frame is marked when it enters its queue, by the length of the queue with it,
        /// or when it leaves, by the length that it leaves behind.
        mark_at as "mark": MarkAt = "enqueue";
        /// Whether frames are marked at ports to hosts, too.
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

/// When a switch decides whether a frame is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkAt {
    /// When it is put into its queue, by the length of the queue with it.
    #[default]
    Enqueue,
    /// When its first bit leaves, by the length of the queue behind it.
    Dequeue,
}

choice!(MarkAt { "enqueue" => Enqueue, "dequeue" => Dequeue });

impl EcnSpec {
    /// Kmin and Kmax in bytes of a queue at a port of this rate.
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

    /// Marks every frame that makes its queue longer than this.
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

/// The queue of each class: its place in the list of classes.
pub(crate) fn queue_of_class(specs: &[ClassSpec]) -> [u8; CLASSES] {
    std::array::from_fn(|class| {
        let upto = specs
            .iter()
            .take_while(|spec| usize::from(spec.class) <= class);
        upto.count().saturating_sub(1) as u8
    })
}
