//! A switch's classes: how each is scheduled, limited, paused and marked.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use tenter_fabric::net::{
    ClassSpec, EcnSpec, Headroom, Level, Levels, Limit, LosslessSpec, MarkAt, PfcTrigger,
    PoolScope, Scheduling, TrimSpec,
};
use tenter_language::config::{
    Component, Percent, Reader, WordOr, Written, choice, component, default_of, parsed, word_or,
};
use tenter_language::notation::diagnostics::{Location, Problems, quote};
use tenter_language::units::{Bytes, Rate, suggestion};

component! {
    /// Treatment of a traffic class in switches.
    pub struct Class as "`fabric.switch.classes[]`", derive(Clone, Debug, PartialEq) {
        either "levels", "alpha";
        either "levels", "limit";
        either "alpha", "limit";
        either "scheduling", "weight";
        /// The class (priority, traffic class). A packet's class is its DSCP shifted right by 3,
        /// which is the class selector; a class that is not listed shares the queue of the next
        /// lower one that is, or of the lowest.
        number as "class": u8, in 0..=7;
        /// Pausing of senders (PFC) before frames would be dropped; with `false` the class is
        /// lossy.
        lossless: WordOr<bool, Lossless> = "false";
        /// Before all weighted classes; among strict ones the higher class first.
        scheduling: Option<Strict> = absent "`strict`, unless `weight` is given";
        /// A share of what strict classes leave, by deficit round robin: each round adds this many
        /// times the largest frame.
        weight: Option<u32> = absent "unset", in 1..=1000;
        /// The pool of the shared buffer that its frames take space from.
        pool: Option<String> = absent "the first pool", in 64;
        /// Dynamic threshold: a queue or priority group may hold alpha times the free bytes of its
        /// pool.
        alpha: Option<Alpha> = absent "`1` with a buffer, unless `limit` or `levels` is given", from "SONiC's default, dynamic_th 0";
        /// Static threshold: a queue or priority group may hold this much of its pool.
        limit: Option<Bytes> = absent "`queue_capacity` without a buffer", in SIZES;
        /// The line rate that `limit` is meant for: at ports of other rates, also of degraded
        /// links, a queue may hold in proportion. For lossy classes without a shared buffer.
        limit_scale_from: Option<Rate> = "none", in RATES;
        /// The least that a queue may hold with `limit_scale_from`, however slow its line.
        limit_floor: Option<Bytes> = absent "with `limit_scale_from`, no least", in SIZES;
        /// Threshold in levels, 1 to 4 of them: the fuller the pool, the less of it a queue or
        /// priority group may hold.
        levels: Option<Vec<Level>> = absent "unset";
        /// Bytes that each queue or priority group has to itself, outside the pool: each output
        /// queue of a lossy class, each input port of a lossless one.
        reserved: Bytes = "0B", in SIZES;
        /// Marking of congestion by the length of the output queue; thresholds of a name with a
        /// rate are in proportion at ports of other rates.
        ecn: WordOr<Marking, EcnSpec> = "none";
        /// The class that its packets take where they enter another region, such as a group of a
        /// dragonfly, or cross a dateline of a torus; a class that is listed, of a higher number.
        /// With as many classes as the page of the topology names pauses cannot wait for each other
        /// in a cycle.
        next_region: Option<u8> = absent "the class itself", in 1..=7;
        /// Trimming of data that find no room: they go on without their payload rather than being
        /// dropped. For NICs with `transport: ultra-ethernet`.
        trim: Option<TrimSpec> = "none";
        check levels_are_told_apart;
    }
}

component! {
    /// How senders are paused before frames would be dropped.
    pub struct Lossless as "`fabric.switch.classes[].lossless`, written as a mapping" {
        /// The senders that `trigger: pool` pauses: those at all ports, or hosts only; other
        /// switches are then paused when their frames need headroom.
        scope: PoolScope = "all";
        /// The bytes that are compared with the threshold: those that came in through one port,
        /// whose sender is then paused; those in an output queue, whose senders are then paused; or
        /// those in the whole pool: every sender is then paused.
        trigger: Trigger = "ingress";
        /// Senders resume (XON) when the bytes that `trigger` compares are this far below the
        /// threshold, or there are none.
        xon_offset: Bytes = "0B", in SIZES;
        /// Bytes kept at each port for frames that arrive after XOFF: by the delays of the model,
        /// which never drops, by SONiC's formula, or as given.
        headroom: Kept = "model", in SIZES;
        /// Pause time that an XOFF asks for, in units of 512 bit times.
        quanta: u16 = "65535", in 1..=65_535, from "the largest that IEEE 802.1Qbb has, and what switches send";
        /// The share of its pause time after which an XOFF is repeated while it lasts.
        refresh: Percent = "50", in 1..=99, from "half is early enough for the repetition to arrive; devices differ";
        check only_a_pool_has_a_scope;
    }
}

/// The only scheduling without a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strict {
    /// Sends before all weighted classes.
    Strict,
}

choice!(Strict { "strict" => Strict });

/// Quantity that is compared with a class's threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Bytes that came in through one port.
    Ingress,
    /// Bytes in an output queue.
    Egress,
    /// Bytes in the whole pool.
    Pool,
}

choice!(Trigger { "ingress" => Ingress, "egress" => Egress, "pool" => Pool });

/// Source of a class's headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Computed from the model's delays.
    Model,
    /// Computed by the formula of `SONiC`.
    Sonic,
    /// A given number of bytes.
    Bytes(Bytes),
}

word_or!(Kept { "model" => Model, "sonic" => Sonic, Bytes(Bytes) });

/// ECN thresholds by a name, from publications and devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// Frames are not marked at all.
    None,
    /// HPCC's simulator at 25 Gb/s.
    Hpcc25g,
    /// HPCC's simulator at 50 Gb/s.
    Hpcc50g,
    /// HPCC's simulator at 100 Gb/s.
    Hpcc100g,
    /// HPCC's thresholds scaled to 400 Gb/s.
    Hpcc400g,
    /// ASTRA-sim at 200 Gb/s.
    Astra200g,
    /// ASTRA-sim at 400 Gb/s.
    Astra400g,
    /// Lossless profile of `SONiC`, at any rate.
    Sonic,
}

choice!(Marking {
    "none" => None,
    "hpcc-25g" => Hpcc25g,
    "hpcc-50g" => Hpcc50g,
    "hpcc-100g" => Hpcc100g,
    "hpcc-400g" => Hpcc400g,
    "astra-200g" => Astra200g,
    "astra-400g" => Astra400g,
    "sonic" => Sonic,
});

impl Marking {
    /// Returns Kmin and Kmax in bytes and Pmax in parts per million. Thresholds from publications
    /// carry their line rate; a device has the same at any rate.
    fn spec(self) -> Option<EcnSpec> {
        let at = |gbps, min_bytes, max_bytes| EcnSpec {
            min_bytes,
            max_bytes,
            max_probability_ppm: 200_000,
            scale_from: Some(Rate::from_gbps(gbps)),
            mark_at: MarkAt::Enqueue,
            at_hosts: true,
        };
        Some(match self {
            Marking::None => return None,
            // High Precision Congestion Control (HPCC), simulator, config.txt: 25G, 50G, 100G.
            Marking::Hpcc25g => at(25, 100_000, 400_000),
            Marking::Hpcc50g => at(50, 200_000, 800_000),
            Marking::Hpcc100g => at(100, 400_000, 1_600_000),
            // HPCC's thresholds, scaled to the rate.
            Marking::Hpcc400g => at(400, 1_600_000, 6_400_000),
            // ASTRA-sim, network configuration of its ns-3 backend: 200G, 400G.
            Marking::Astra200g => at(200, 600_000, 2_400_000),
            Marking::Astra400g => at(400, 800_000, 3_200_000),
            // SONiC, qos_config.j2: AZURE_LOSSLESS.
            Marking::Sonic => EcnSpec {
                max_probability_ppm: 50_000,
                scale_from: None,
                // The rate 0 is overwritten above: these thresholds are the same at any rate.
                ..at(0, 1 << 20, 2 << 20)
            },
        })
    }
}

/// A dynamic threshold's factor: a fraction of the pool's free bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alpha {
    numerator: u32,
    denominator: u32,
}

impl FromStr for Alpha {
    type Err = ();

    fn from_str(word: &str) -> Result<Alpha, ()> {
        let part = |text: &str| {
            // `parse` alone would accept `+8`.
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = digits.then(|| text.parse::<u32>().ok()).flatten();
            number
                .filter(|number| (1..=65_536).contains(number))
                .ok_or(())
        };
        let (numerator, denominator) = word.split_once('/').unwrap_or((word, "1"));
        Ok(Alpha {
            numerator: part(numerator)?,
            denominator: part(denominator)?,
        })
    }
}

impl fmt::Display for Alpha {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(out, "{}", self.numerator),
            denominator => write!(out, "{}/{denominator}", self.numerator),
        }
    }
}

parsed!(Alpha {
    "`1/8`, `1`, `2`, …",
    "cannot be",
    "write a fraction of whole numbers from 1 to 65536, for example `1/8` or `2`"
});

/// Upper limit for any buffer and queue: 1 TiB.
pub(crate) const CAPACITY_MAX: Bytes = Bytes::new(1 << 40);
const SIZES: RangeInclusive<Bytes> = Bytes::new(0)..=CAPACITY_MAX;
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);

fn only_a_pool_has_a_scope(own: &Lossless, reader: &mut dyn Reader) -> bool {
    let holds = own.scope == PoolScope::All || own.trigger == Trigger::Pool;
    if !holds {
        let help = "leave it out, or give `trigger: pool`";
        reader.refuse("scope", "says whom a pool pauses, and none does", help);
    }
    holds
}

/// Checks that levels rise in fill and fall in limit; replaces a threshold name by its values.
fn levels_are_told_apart(own: &Class, reader: &mut dyn Reader) -> bool {
    // The configuration shows the constants behind a name such as `hpcc-400g`.
    if let (Some(spec), WordOr::Word(_)) = (own.marking(), &own.ecn) {
        reader.write("ecn", Written::mapping(spec.written()));
    }
    let holds = own
        .levels
        .as_ref()
        .is_none_or(|list| Levels::new(list).is_some());
    if !holds {
        let help = format!(
            "list 1 to {} levels, with `above` rising and `limit` not rising from each to the next",
            Levels::MOST
        );
        reader.refuse("levels", "has levels that cannot be told apart", &help);
    }
    holds
}

impl Class {
    /// Returns the ECN thresholds, by name or as given.
    pub(crate) fn marking(&self) -> Option<EcnSpec> {
        match &self.ecn {
            WordOr::Word(name) => name.spec(),
            WordOr::Mapping(spec) => Some(*spec),
        }
    }

    /// Returns the pause settings; `None` for a lossy class.
    pub(crate) fn pauses(&self) -> Option<LosslessSpec> {
        let own = match self.lossless {
            WordOr::Word(false) => return None,
            WordOr::Word(true) => default_of(),
            WordOr::Mapping(own) => own,
        };
        Some(LosslessSpec {
            trigger: match own.trigger {
                Trigger::Ingress => PfcTrigger::Ingress,
                Trigger::Egress => PfcTrigger::Egress,
                Trigger::Pool => PfcTrigger::Pool(own.scope),
            },
            xon_offset_bytes: own.xon_offset.count(),
            headroom: match own.headroom {
                Kept::Model => Headroom::Model,
                Kept::Sonic => Headroom::Sonic,
                Kept::Bytes(bytes) => Headroom::Bytes(bytes.count()),
            },
            quanta: own.quanta,
            refresh_percent: own.refresh.0 as u8,
        })
    }

    /// Returns the threshold for a queue or priority group; without a key for it, `queue_capacity`
    /// bytes.
    fn limit(&self, queue_capacity: u64) -> Limit {
        let levels = self.levels.as_ref().and_then(|list| Levels::new(list));
        let fixed = self.limit.map(|limit| match self.limit_scale_from {
            None => Limit::Static(limit.count()),
            Some(rate) => Limit::AtRate {
                bytes: limit.count(),
                rate,
                least: self.limit_floor.map_or(0, Bytes::count),
            },
        });
        let dynamic = self.alpha.map(|of| Limit::Dynamic {
            numerator: of.numerator,
            denominator: of.denominator,
        });
        let given = levels.map(Limit::Levels).or(fixed).or(dynamic);
        given.unwrap_or(Limit::Static(queue_capacity))
    }
}

/// Refuses classes that do not go together, or not with their buffer; `pools` has a shared buffer's
/// pool names.
pub(crate) fn check(classes: &[Class], pools: Option<&[String]>, reader: &mut dyn Reader) -> bool {
    if classes.is_empty() {
        reader.refuse(
            "classes",
            "is empty",
            "list at least one class, or leave it out",
        );
        return false;
    }
    let mut holds = true;
    for (index, class) in classes.iter().enumerate() {
        let number = class.number;
        if classes[..index]
            .iter()
            .any(|before| before.number == number)
        {
            let what = format!("lists class {number} again");
            reader.refuse(&format!("classes[{index}]"), &what, "keep one of them");
            holds = false;
        }
        // Only classes that rise along a path keep pauses from a cycle.
        if let Some(next) = class.next_region
            && (next <= number || classes.iter().all(|other| other.number != next))
        {
            let what = format!("is {next}, which is no listed class above {number}");
            let help = "list a class of a higher number for packets in the next region";
            reader.refuse(&format!("classes[{index}].next_region"), &what, help);
            holds = false;
        }
        for (key, what, help) in class.wrong(pools) {
            reader.refuse(&format!("classes[{index}].{key}"), &what, &help);
            holds = false;
        }
    }
    holds
}

impl Class {
    /// Returns the key, the fault and the remedy if the limit cannot scale with the line rate;
    /// `shared` tells whether there is a shared buffer.
    fn not_scaled(&self, shared: bool) -> Option<(&'static str, String, String)> {
        if self.limit_scale_from.is_none() {
            let what = "is the least of a limit that goes by the rate of the line, and `limit_scale_from` is missing";
            let help = "leave it out, or give `limit_scale_from`";
            return self
                .limit_floor
                .map(|_| ("limit_floor", what.to_owned(), help.to_owned()));
        }
        if let (Some(floor), Some(limit)) = (self.limit_floor, self.limit)
            && floor > limit
        {
            let what = format!("is {floor}, more than `limit`, which would have no effect");
            let help = format!("give at most {limit}");
            return Some(("limit_floor", what, help));
        }
        let (what, help) = if shared {
            (
                "is for queues with memory of their own, and `fabric.switch.buffer` is shared",
                "leave it out, or leave out `buffer`",
            )
        } else if self.pauses().is_some() {
            (
                "is for lossy classes",
                "leave it out, or leave out `lossless`",
            )
        } else if self.limit.is_none() {
            (
                "says for which rate `limit` is meant, and there is none",
                "give `limit`",
            )
        } else {
            return None;
        };
        Some(("limit_scale_from", what.to_owned(), help.to_owned()))
    }

    /// Returns each key that does not go with the buffer, with the fault and the remedy.
    fn wrong(&self, pools: Option<&[String]>) -> Vec<(&'static str, String, String)> {
        if let Some(wrong) = self.not_scaled(pools.is_some()) {
            return vec![wrong];
        }
        if let Some(pools) = pools {
            let name = self.pool.as_deref().unwrap_or_default();
            let what = format!("is no pool: {}", quote(name));
            let help = suggestion(name, pools.iter().map(String::as_str));
            let is_known = pools.iter().any(|pool| pool == name);
            return Vec::from_iter((!is_known).then_some(("pool", what, help)));
        }
        let by_limit = "give `limit` instead, or `fabric.switch.buffer`";
        let without = "leave it out, or give `fabric.switch.buffer`";
        let pool = (
            "pool",
            "names a pool of a buffer that is not shared",
            without,
        );
        let alpha = (
            "alpha",
            "is a share of a buffer that is not shared",
            by_limit,
        );
        let levels = (
            "levels",
            "goes by the fill of a buffer that is not shared",
            by_limit,
        );
        let reserved = (
            "reserved",
            "reserves part of a buffer that is not shared",
            without,
        );
        let wrong = [
            self.pool.as_ref().map(|_| pool),
            self.alpha.map(|_| alpha),
            self.levels.as_ref().map(|_| levels),
            (self.reserved > Bytes::new(0)).then_some(reserved),
        ];
        let wrong = wrong.into_iter().flatten();
        wrong
            .map(|(key, what, help)| (key, what.to_owned(), help.to_owned()))
            .collect()
    }
}

/// A class in one switch model, with its derived settings.
#[derive(Clone, Debug)]
pub(crate) struct ClassDraft {
    pub(crate) keys: Class,
    /// Path at which the class is listed.
    pub(crate) path: String,
    pub(crate) limit: Limit,
    pub(crate) lossless: Option<LosslessSpec>,
}

impl ClassDraft {
    /// Takes item `index` from the list at path `list`; `queue_capacity` limits queues without a
    /// shared buffer.
    pub(crate) fn new(index: usize, keys: Class, list: &str, queue_capacity: u64) -> ClassDraft {
        ClassDraft {
            path: format!("{list}[{index}]"),
            limit: keys.limit(queue_capacity),
            lossless: keys.pauses(),
            keys,
        }
    }

    /// Returns the switch's settings for the class, with frames up to `frame` bytes and these pool
    /// names.
    pub(crate) fn spec(&self, frame: u64, pools: &[String]) -> ClassSpec {
        let name = self.keys.pool.as_ref();
        let pool = pools.iter().position(|pool| Some(pool) == name);
        ClassSpec {
            class: self.keys.number,
            scheduling: match self.keys.weight {
                None => Scheduling::Strict,
                // Fits: at most 1,000 frames of 4,174 bytes.
                Some(weight) => Scheduling::Weighted {
                    quantum_bytes: weight * frame as u32,
                },
            },
            pool: pool.unwrap_or(0) as u8,
            reserved_bytes: self.keys.reserved.count(),
            limit: self.limit,
            lossless: self.lossless.clone(),
            ecn: self.keys.marking(),
            next_region: self.keys.next_region,
            trim: self.keys.trim,
        }
    }

    /// Returns the place where its threshold was written, or else the class.
    pub(crate) fn limit_at(&self, problems: &Problems) -> Option<Location> {
        let keys = ["alpha", "limit", "levels"];
        let mut keys = keys.map(|key| problems.written(&format!("{}.{key}", self.path)));
        let of_limit = keys.iter_mut().find_map(Option::take);
        of_limit.or_else(|| self.at(problems))
    }

    /// Returns the place where the class was written, if it was.
    pub(crate) fn at(&self, problems: &Problems) -> Option<Location> {
        problems.written(&self.path)
    }
}
