//! The `fabric.switch` section: switches' forwarding, buffer and classes, and tiers that differ.

use std::ops::RangeInclusive;

use tenter_fabric::net::headroom::PauseResponse;
use tenter_fabric::net::{BufferSharing, Forwarding, UNLIMITED_POOL, WatchdogSpec};
use tenter_language::config::{
    Component, KeyTable, Presence, Reader, Shape, Value, Written, choice, component, joined, key,
    word_or,
};
use tenter_language::units::{Bytes, Time};

use crate::resolve::classes::{self, CAPACITY_MAX, Class};
use crate::resolve::profiles::ProfileName;

component! {
    /// The switches of all tiers that have no model of their own.
    pub struct SwitchKeys as "`fabric.switch`", derive(Clone, Debug, PartialEq) {
        /// The device whose constants fill in omitted keys, here and in `classes`; the folder
        /// `profiles/` has the origin of each.
        profile: ProfileName = filled "`none`; with `flow_control` `generic-32mb`, or `jericho3-ramon3` if the fabric is scheduled";
        /// The watchdog that frees queues of lossless classes that stay paused.
        pfc_watchdog: Option<WatchdogSpec> = "none";
        /// Time after the arrival of a pause frame in which a port of a switch may still start
        /// frames of the class, and a NIC unless `endpoint.nic.pause_response` says otherwise;
        /// `standard` depends on the rate, `0s` stops it at once.
        pause_response: PauseResponse = "standard", in TIMES, from "IEEE 802.3, Annex 31B, as SONiC's headroom calculation tabulates it";
        /// Forwarding of a frame: it may leave before all of it has come in (`cut-through`), or is
        /// stored first; a frame from a slower input is always stored first.
        forwarding: Forwarding = "cut-through", from "usual in low-latency Ethernet switches";
        /// From the input to the output of an idle switch, without the frame time of
        /// store-and-forward; half of it before the output queue, half after.
        pipeline_latency: Time = "600ns", in TIMES, from "published figures of comparable switch chips are 300 to 800 ns a hop; AI Fabric Test Methodology (Keysight) measures 795 ns through one ToR and about 2.1 us through three switches with frames of 4,158 bytes";
        /// The buffer that all ports share; without one each queue has `queue_capacity` of its own.
        buffer: Option<Buffer> = "none";
        /// Frame bytes one output queue holds before it drops the tail; `none` never drops.
        queue_capacity: Option<Capacity> = absent "`64MiB` without `buffer`", in CAPACITIES, from "what one queue of a 51.2 Tb/s switch chip can take of its 165-MB shared buffer with alpha = 1, rounded down";
        /// The treatment of each traffic class.
        classes: Option<Vec<Class>> = absent "one for everything; with `flow_control` that of the data";
        check parts_go_together;
    }
}

component! {
    /// The switches of a tier.
    pub struct Tier as "`fabric.switch.tiers[]`", derive(Clone, Debug, PartialEq) {
        /// The tier: 0 for leaves, 1 for the switches above them, and so on.
        number as "tier": u8, in 0..=254;
        /// Profile of the tier's device; its constants come before those of `fabric.switch`.
        profile: ProfileName = filled "as in `fabric.switch`";
        /// Forwarding of a frame, before or after all of it has come in.
        forwarding: Forwarding = filled "as in `fabric.switch`";
        /// From the input to the output of an idle switch.
        pipeline_latency: Time = filled "as in `fabric.switch`", in TIMES;
        /// The buffer that all ports share; one that is given takes nothing from `fabric.switch`.
        buffer: Option<Buffer> = filled "as in `fabric.switch`";
        /// Frame bytes one output queue holds before it drops the tail.
        queue_capacity: Option<Capacity> = absent "as in `fabric.switch`", in CAPACITIES;
        /// The treatment of each traffic class; the same classes as in `fabric.switch`.
        classes: Option<Vec<Class>> = absent "as in `fabric.switch`";
        check parts_of_tier_go_together;
    }
}

component! {
    /// A buffer that all ports of a switch share.
    pub struct Buffer as "`fabric.switch.buffer`", derive(Clone, Debug, PartialEq) {
        /// The whole buffer of a switch: reserved space, all headroom and all pools.
        size: Bytes, in CAPACITIES;
        /// The shared parts. Without any there is one, `shared`: all that is neither reserved nor
        /// headroom in the switch that needs most of both.
        pools: Vec<Pool> = "[]";
        /// Headroom that all ports share: a port has no more than its own, and all together no more
        /// than this; with `none` each port has all of its own.
        headroom_pool: Option<Bytes> = "none", in CAPACITIES;
        /// Number of equal partitions of pools and shared headroom; neighbouring ports take space
        /// from the same one.
        partitions: u16 = "1", in 1..=64;
        check pools_are_told_apart;
    }
}

component! {
    /// A part of a buffer that is shared.
    pub struct Pool as "`fabric.switch.buffer.pools[]`", derive(Clone, Debug, PartialEq) {
        /// A name no other pool has.
        name: String, in 64;
        /// Size of the pool, as a part of the buffer.
        size: Bytes, in CAPACITIES;
    }
}

/// Most bytes that an output queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Holds everything: the queue never drops.
    Unlimited,
    /// Drops the tail above this many frame bytes.
    Bytes(Bytes),
}

word_or!(Capacity { "none" => Unlimited, Bytes(Bytes) });

/// Meaning of `fabric.flow_control` for the data class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControl {
    /// Lossy, without marks.
    None,
    /// Lossless.
    Pfc,
    /// Marked.
    Ecn,
    /// Lossless and marked.
    PfcAndEcn,
    /// Marked and trimmed: packets without room lose their payload. For Ultra Ethernet.
    Trim,
}

choice!(FlowControl { "none" => None, "pfc" => Pfc, "ecn" => Ecn, "pfc+ecn" => PfcAndEcn, "trim" => Trim });

/// Upper limit of a switch's delays: a second.
const TIMES: RangeInclusive<Time> = Time::ZERO..=Time::from_us(1_000_000);
const CAPACITIES: RangeInclusive<Bytes> = Bytes::new(1)..=CAPACITY_MAX;
/// Name of the pool of a buffer without named pools.
pub(crate) const SHARED: &str = "shared";

fn parts_go_together(own: &SwitchKeys, reader: &mut dyn Reader) -> bool {
    let capacity = own.queue_capacity.as_ref();
    check_parts(
        own.buffer.as_ref(),
        capacity,
        own.classes.as_deref(),
        reader,
    )
}

fn parts_of_tier_go_together(own: &Tier, reader: &mut dyn Reader) -> bool {
    let capacity = own.queue_capacity.as_ref();
    check_parts(
        own.buffer.as_ref(),
        capacity,
        own.classes.as_deref(),
        reader,
    )
}

impl Tier {
    /// Returns the complete keys of this tier's switches.
    pub(crate) fn beside(&self, usual: &SwitchKeys) -> SwitchKeys {
        SwitchKeys {
            profile: self.profile,
            forwarding: self.forwarding,
            pipeline_latency: self.pipeline_latency,
            buffer: self.buffer.clone(),
            queue_capacity: self.queue_capacity,
            classes: self.classes.clone(),
            ..usual.clone()
        }
    }
}

fn check_parts(
    buffer: Option<&Buffer>,
    capacity: Option<&Capacity>,
    listed: Option<&[Class]>,
    reader: &mut dyn Reader,
) -> bool {
    let two = buffer.is_some() && capacity.is_some();
    if two {
        let help = "leave it out and give classes a `limit`, or set `buffer: none`";
        reader.refuse(
            "queue_capacity",
            "has no meaning with a shared buffer",
            help,
        );
    }
    let pools = buffer.map(Buffer::names);
    // Both checks run, so that problems of both show at once.
    let go = listed.is_none_or(|listed| classes::check(listed, pools.as_deref(), reader));
    go && !two
}

fn pools_are_told_apart(own: &Buffer, reader: &mut dyn Reader) -> bool {
    // More pools than classes would leave some unused.
    let most = tenter_fabric::net::CLASSES;
    if own.pools.len() > most {
        let help = format!("divide it into at most {most}");
        reader.refuse("pools", "has more pools than there are classes", &help);
        return false;
    }
    let mut holds = true;
    for (index, pool) in own.pools.iter().enumerate() {
        if own.pools[..index]
            .iter()
            .any(|before| before.name == pool.name)
        {
            let what = format!("is `{}`, as another pool is", pool.name);
            let help = "give each pool a name of its own";
            reader.refuse(&format!("pools[{index}].name"), &what, help);
            holds = false;
        }
    }
    holds
}

impl Buffer {
    /// Returns the pool names, at least one.
    pub(crate) fn names(&self) -> Vec<String> {
        match self.pools.as_slice() {
            [] => vec![SHARED.to_owned()],
            pools => pools.iter().map(|pool| pool.name.clone()).collect(),
        }
    }

    /// Returns the pool sizes in bytes; `None` for a single pool with the remaining memory.
    pub(crate) fn pools(&self) -> Option<Vec<u64>> {
        let sizes = self.pools.iter().map(|pool| pool.size.count());
        (!self.pools.is_empty()).then(|| sizes.collect())
    }

    /// Returns how ports share headroom and partitions.
    pub(crate) fn sharing(&self) -> BufferSharing {
        BufferSharing {
            headroom_pool_bytes: self.headroom_pool.map(Bytes::count),
            partitions: self.partitions,
        }
    }
}

impl Capacity {
    /// Returns the capacity in bytes.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Capacity::Unlimited => UNLIMITED_POOL,
            Capacity::Bytes(bytes) => bytes.count(),
        }
    }
}

impl FlowControl {
    /// Returns true if the data class is lossless.
    pub(crate) fn pfc(self) -> bool {
        matches!(self, FlowControl::Pfc | FlowControl::PfcAndEcn)
    }

    /// Returns true if the data class is marked.
    pub(crate) fn ecn(self) -> bool {
        matches!(self, FlowControl::Ecn | FlowControl::PfcAndEcn)
    }
}

/// Models for all switches in a fabric.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Switches in all tiers without their own model.
    pub usual: SwitchKeys,
    /// Tiers that have their own model.
    pub tiers: Vec<Tier>,
}

const SWITCH: KeyTable = KeyTable {
    title: "`fabric.switch`",
    keys: &joined::<{ SwitchKeys::KEYS.len() + 1 }>(&[
        SwitchKeys::KEYS,
        &[key(
            "tiers",
            || Vec::<Tier>::shape(()),
            Presence::Default("[]"),
            "Tiers whose switches differ from the others, for example by deeper buffers",
        )],
    ]),
};

impl Value for Switch {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Mapping(&SWITCH)
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Switch> {
        let mut read = None;
        reader.mapping(key, &SWITCH, &mut |keys| {
            let Some(usual) = <SwitchKeys as Component>::read(keys) else {
                // Tiers take these keys over, and each would repeat the same problem.
                keys.any("tiers");
                return;
            };
            let tiers = Vec::<Tier>::read(keys, "tiers", ());
            let tiers = tiers.filter(|tiers| no_tier_twice(tiers, keys));
            read = tiers.map(|tiers| Switch { usual, tiers });
        });
        read
    }

    fn written(&self) -> Written {
        let mut keys = Component::written(&self.usual);
        keys.push(("tiers", self.tiers.written()));
        Written::mapping(keys)
    }
}

fn no_tier_twice(tiers: &[Tier], reader: &mut dyn Reader) -> bool {
    let mut holds = true;
    for (index, own) in tiers.iter().enumerate() {
        if tiers[..index]
            .iter()
            .any(|before| before.number == own.number)
        {
            let (what, help) = (
                "is a tier that was described before",
                "describe each tier once",
            );
            reader.refuse(&format!("tiers[{index}].tier"), what, help);
            holds = false;
        }
    }
    holds
}
