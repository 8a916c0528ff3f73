//! The classes of a switch: how each is scheduled, limited, paused and marked.

use tenter_net::{
    EcnSpec, Headroom, Level, Levels, Limit, LosslessSpec, MarkAt, PfcTrigger, PoolScope,
};
use tenter_units::{Bytes, Rate};

use crate::profiles::Profile;
use tenter_config::Presence::{Default, Depends, Required};
use tenter_config::{KeyTable, Share, key};
use tenter_notation::decode::{Field, Read, Section, suggestion};
use tenter_notation::diagnostics::Location;
use tenter_notation::tree::{Node, Value};

const CLASS: KeyTable = KeyTable {
    title: "`fabric.switch.classes[]`",
    keys: &[
        key(
            "class",
            "0 to 7",
            Required,
            "The class (priority, traffic class). A packet's class is its DSCP shifted right by 3, which is the class selector; a class that is not listed shares the queue of the next lower one that is, or of the lowest",
        ),
        key(
            "lossless",
            "`true`, `false` or mapping",
            Default("false"),
            "Whether senders are paused (PFC) before frames would be dropped",
        ),
        key(
            "scheduling",
            "`strict`",
            Depends("`strict`, unless `weight` is given"),
            "Before all weighted classes; among strict ones the higher class first",
        ),
        key(
            "weight",
            "1 to 1000",
            Depends("unset"),
            "A share of what strict classes leave, by deficit round robin: each round adds this many times the largest frame",
        ),
        key(
            "pool",
            "text",
            Depends("the first pool"),
            "The pool of the shared buffer that its frames take space from",
        ),
        key(
            "alpha",
            "`1/8`, `1`, `2`, …",
            Depends("`1` with a buffer, unless `limit` or `levels` is given"),
            "Dynamic threshold: an account may hold alpha times what is free in its pool",
        )
        .from("SONiC's default, dynamic_th 0"),
        key(
            "limit",
            "size",
            Depends("`queue_capacity` without a buffer"),
            "Static threshold: an account may hold this much of its pool",
        ),
        key(
            "levels",
            "list, 1 to 4",
            Depends("unset"),
            "Threshold in levels: the fuller the pool, the less an account may hold of it",
        ),
        key(
            "reserved",
            "size",
            Default("0B"),
            "Bytes that each account has to itself, outside the pool. A lossy class has an account for each output queue, a lossless one for each input port",
        ),
        key(
            "ecn",
            "`none`, mapping, or one of `hpcc-25g`, `hpcc-50g`, `hpcc-100g`, `hpcc-400g`, `astra-200g`, `astra-400g`, `sonic`",
            Default("none"),
            "Marking of congestion by the length of the output queue; thresholds of a name with a rate are in proportion at ports of other rates",
        ),
    ],
};

const LOSSLESS: KeyTable = KeyTable {
    title: "`fabric.switch.classes[].lossless`, written as a mapping",
    keys: &[
        key(
            "trigger",
            "`ingress`, `egress` or `pool`",
            Default("ingress"),
            "What is compared with the threshold: the bytes that came in through one port, whose sender is then paused; those in an output queue, whose senders are then paused; or those in the whole pool, and then every sender is paused",
        ),
        key(
            "scope",
            "`all` or `hosts`",
            Default("all"),
            "Whom `trigger: pool` pauses: the senders at all ports, or hosts only; other switches are then paused when their frames need headroom",
        ),
        key(
            "xon_offset",
            "size",
            Default("0B"),
            "Senders may go on when the account is this far below its threshold, or empty",
        ),
        key(
            "headroom",
            "`model`, `sonic` or size",
            Default("model"),
            "Bytes kept at each port for what still arrives after XOFF: by the delays of the model, which never drops, by SONiC's formula, or as given",
        ),
        key(
            "quanta",
            "1 to 65535",
            Default("65535"),
            "Pause time that an XOFF asks for, in units of 512 bit times",
        )
        .from("the largest that IEEE 802.1Qbb has, and what switches send"),
        key(
            "refresh",
            "percent, 1 to 99",
            Default("50"),
            "The share of its pause time after which an XOFF is repeated while it lasts",
        )
        .from("half is early enough for the repetition to arrive; devices differ"),
    ],
};

const LEVEL: KeyTable = KeyTable {
    title: "`fabric.switch.classes[].levels[]`",
    keys: &[
        key(
            "above",
            "size",
            Required,
            "From a fill of the pool of more than this on; more than in the level before",
        ),
        key(
            "limit",
            "size",
            Required,
            "An account may hold this much; no more than in the level before. `0B` stops every account",
        ),
    ],
};

const ECN: KeyTable = KeyTable {
    title: "`fabric.switch.classes[].ecn`, written as a mapping",
    keys: &[
        key(
            "kmin",
            "size",
            Required,
            "Up to this queue length nothing is marked",
        ),
        key(
            "kmax",
            "size",
            Required,
            "Beyond this queue length everything is marked",
        ),
        key(
            "pmax",
            "0 to 1, up to six decimals",
            Required,
            "Probability of a mark at `kmax`; from `kmin` on it rises to it linearly",
        ),
        key(
            "scale_from",
            "rate or `none`",
            Default("none"),
            "The line rate that `kmin` and `kmax` are meant for: at ports of other rates they are in proportion",
        ),
        key(
            "mark",
            "`enqueue` or `dequeue`",
            Default("enqueue"),
            "Whether a frame is marked when it is put into its queue, by what this holds with it, or when it leaves, by what it leaves behind",
        ),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 4] = [&CLASS, &LEVEL, &LOSSLESS, &ECN];

/// Thresholds that publications and devices use: kmin, kmax in bytes, pmax in parts per million,
/// and the line rate that a publication gives them for. A device has its own at any rate.
const ECN_PRESETS: [(&str, EcnSpec); 7] = [
    // High Precision Congestion Control (HPCC), simulator, config.txt: 25G, 50G, 100G.
    ("hpcc-25g", at(25, ecn(100_000, 400_000, 200_000))),
    ("hpcc-50g", at(50, ecn(200_000, 800_000, 200_000))),
    ("hpcc-100g", at(100, ecn(400_000, 1_600_000, 200_000))),
    // The same, in proportion to the rate.
    ("hpcc-400g", at(400, ecn(1_600_000, 6_400_000, 200_000))),
    // ASTRA-sim, network configuration of its ns-3 backend: 200G, 400G.
    ("astra-200g", at(200, ecn(600_000, 2_400_000, 200_000))),
    ("astra-400g", at(400, ecn(800_000, 3_200_000, 200_000))),
    // SONiC, qos_config.j2: AZURE_LOSSLESS.
    ("sonic", ecn(1 << 20, 2 << 20, 50_000)),
];

const fn at(gbps: u64, ecn: EcnSpec) -> EcnSpec {
    EcnSpec {
        scale_from: Some(Rate::from_gbps(gbps)),
        ..ecn
    }
}

const fn ecn(min_bytes: u64, max_bytes: u64, max_probability_ppm: u32) -> EcnSpec {
    EcnSpec {
        min_bytes,
        max_bytes,
        max_probability_ppm,
        scale_from: None,
        mark_at: MarkAt::Enqueue,
    }
}

/// No buffer and no queue is larger.
pub(crate) const CAPACITY_MAX: u64 = 1 << 40;

/// How a class gets its turn, before the largest frame is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Turn {
    Strict,
    /// So many largest frames a round.
    Weight(u32),
}

/// A class, read; where its parts stand, for what shows only later.
#[derive(Clone, Debug)]
pub(crate) struct ClassDraft {
    pub(crate) class: u8,
    pub(crate) at: Option<Location>,
    pub(crate) path: String,
    pub(crate) turn: Turn,
    pub(crate) pool: u8,
    pub(crate) reserved: u64,
    pub(crate) limit: Limit,
    pub(crate) limit_at: Option<Location>,
    pub(crate) lossless: Option<LosslessSpec>,
    pub(crate) ecn: Option<EcnSpec>,
}

/// What a class depends on beside its own keys.
pub(crate) struct Around<'a> {
    pub(crate) profile: &'a Profile,
    /// Names of the pools; `None` without a shared buffer.
    pub(crate) pools: Option<&'a [String]>,
    /// What a queue holds where there is no shared buffer.
    pub(crate) queue_capacity: u64,
}

/// Reads a list of classes, ascending; and the list with everything filled in.
pub(crate) fn read(field: &Field<'_>, around: &Around<'_>) -> (Read<Vec<ClassDraft>>, Node) {
    if field.count() == Some(0) {
        let help = "list at least one class, or leave it out";
        field.problem("is empty", help.to_owned());
    }
    let mut seen = [false; tenter_net::CLASSES];
    let (drafts, node) = field.each(|_, item| {
        let at = item.at;
        let path = item.path.clone();
        let copy = item.clone();
        let (draft, node) = read_class(item, around);
        let draft = draft.map(|draft| ClassDraft { at, path, ..draft });
        let class = draft.as_ref().map(|draft| usize::from(draft.class));
        if let Some(class) = class {
            if seen[class] {
                let help = "keep one of them".to_owned();
                copy.problem(&format!("lists class {class} again"), help);
                return (None, node);
            }
            seen[class] = true;
        }
        (draft, node)
    });
    let drafts = drafts.filter(|drafts| !drafts.is_empty()).map(sorted);
    (drafts, node)
}

fn sorted(mut drafts: Vec<ClassDraft>) -> Vec<ClassDraft> {
    drafts.sort_unstable_by_key(|draft| draft.class);
    drafts
}

fn read_class(item: Field<'_>, around: &Around<'_>) -> (Option<ClassDraft>, Node) {
    let mut section = item.section(&CLASS);
    fill(&mut section, around);
    let class = section.integer("class", 0..=7);
    let lossless = read_lossless(&mut section);
    let turn = read_turn(&mut section);
    let pool = read_pool(&mut section, around.pools);
    let limit = read_limit(&mut section, around);
    let sizes = 0..=CAPACITY_MAX;
    let reserved = section.take("reserved").and_then(|field| {
        let reserved = field.size(&sizes)?;
        if around.pools.is_none() && reserved > 0 {
            let help = "leave it out, or give `fabric.switch.buffer`";
            field.problem(
                "reserves part of a buffer that is not shared",
                help.to_owned(),
            );
            return None;
        }
        Some(reserved)
    });
    let ecn = section
        .take("ecn")
        .and_then(|field| read_ecn(field, &mut section));
    let node = section.finish();
    let draft = || {
        let (limit, limit_at) = limit?;
        Some(ClassDraft {
            class: class?,
            at: None,
            path: String::new(),
            turn: turn?,
            pool: pool?,
            reserved: reserved?,
            limit,
            limit_at,
            lossless: lossless?,
            ecn: ecn?,
        })
    };
    (draft(), node)
}

/// What the profile says of a class of this kind, where the scenario says nothing.
fn fill(section: &mut Section<'_>, around: &Around<'_>) {
    let lossless = section
        .peek("lossless")
        .is_some_and(|node| match &node.value {
            Value::Scalar { text, .. } => text == "true",
            _ => true,
        });
    let template = if lossless {
        &around.profile.lossless
    } else {
        &around.profile.lossy
    };
    let thresholds = ["alpha", "limit", "levels"];
    let limited = thresholds.iter().any(|key| section.has(key));
    let unshared = ["alpha", "limit", "pool", "reserved"];
    let entries = template.iter().filter(|entry| match entry.key.as_str() {
        "alpha" | "limit" if limited => false,
        key => around.pools.is_some() || !unshared.contains(&key),
    });
    let entries: Vec<_> = entries.cloned().collect();
    // `true` stands for the mapping of the profile, or for an empty one.
    let written_out = lossless && matches!(section.peek("lossless"), Some(node) if !node.is_map());
    if written_out {
        section.replace("lossless", Value::Map(Vec::new()));
    }
    section.fill(&entries);
}

fn read_lossless(section: &mut Section<'_>) -> Read<Option<LosslessSpec>> {
    let field = section.take("lossless")?;
    if field.word().is_some() {
        return field.choice(&[("false", None), ("true", None)]);
    }
    let mut own = field.section(&LOSSLESS);
    let trigger = read_trigger(&mut own);
    let sizes = 0..=CAPACITY_MAX;
    let xon_offset_bytes = own.take("xon_offset").and_then(|field| field.size(&sizes));
    let headroom = own.take("headroom").and_then(|field| match field.word() {
        Some("model") => Some(Headroom::Model),
        Some("sonic") => Some(Headroom::Sonic),
        _ => field.size(&sizes).map(Headroom::Bytes),
    });
    let quanta = own.integer("quanta", 1..=65_535);
    let refresh_percent = own.integer("refresh", 1..=99);
    section.put("lossless", own.finish());
    Some(Some(LosslessSpec {
        trigger: trigger?,
        xon_offset_bytes: xon_offset_bytes?,
        headroom: headroom?,
        quanta: quanta?,
        refresh_percent: refresh_percent?,
    }))
}

fn read_trigger(own: &mut Section<'_>) -> Option<PfcTrigger> {
    let scopes = [("all", PoolScope::All), ("hosts", PoolScope::Hosts)];
    let scope_field = own.take("scope");
    let scope = scope_field.as_ref().and_then(|field| field.choice(&scopes));
    let triggers = [
        ("ingress", PfcTrigger::Ingress),
        ("egress", PfcTrigger::Egress),
        ("pool", PfcTrigger::Pool(scope.unwrap_or(PoolScope::All))),
    ];
    let trigger = own.choice("trigger", &triggers);
    let goes_by_pool = matches!(trigger, None | Some(PfcTrigger::Pool(_)));
    if let Some(field) = scope_field.filter(|_| scope == Some(PoolScope::Hosts) && !goes_by_pool) {
        let help = "leave it out, or give `trigger: pool`";
        field.problem("says whom a pool pauses, and none does", help.to_owned());
        return None;
    }
    scope?;
    trigger
}

fn read_turn(section: &mut Section<'_>) -> Option<Turn> {
    let weighted = section.has("weight");
    let Some(field) = section.take_either("scheduling", "weight") else {
        section.put("scheduling", Node::plain("strict"));
        return Some(Turn::Strict);
    };
    if weighted && field.path.ends_with("weight") {
        return field.integer(1..=1000).map(Turn::Weight);
    }
    field.choice(&[("strict", Turn::Strict)])
}

fn read_pool(section: &mut Section<'_>, pools: Option<&[String]>) -> Option<u8> {
    let field = section.take("pool");
    match (field, pools) {
        (None, None) => Some(0),
        (None, Some(pools)) => {
            section.put("pool", Node::plain(pools[0].clone()));
            Some(0)
        }
        (Some(field), None) => {
            let help = "leave it out, or give `fabric.switch.buffer`";
            field.problem(
                "names a pool of a buffer that is not shared",
                help.to_owned(),
            );
            None
        }
        (Some(field), Some(pools)) => {
            let name = field.text(64)?;
            let found = pools.iter().position(|pool| *pool == name);
            if found.is_none() {
                let what = format!("is no pool: {}", field.node.describe());
                field.problem(&what, suggestion(&name, pools.iter().map(String::as_str)));
            }
            found.map(|index| index as u8)
        }
    }
}

fn read_limit(section: &mut Section<'_>, around: &Around<'_>) -> Option<(Limit, Option<Location>)> {
    for other in ["alpha", "limit"] {
        if section.has("levels") && section.has(other) {
            section.keep_either("levels", other);
        }
    }
    if section.has("levels") {
        return read_levels(section, around);
    }
    let fixed = section.has("limit");
    let Some(field) = section.take_either("alpha", "limit") else {
        if around.pools.is_none() {
            return Some((Limit::Static(around.queue_capacity), None));
        }
        section.put("alpha", Node::plain("1"));
        let (numerator, denominator) = (1, 1);
        let limit = Limit::Dynamic {
            numerator,
            denominator,
        };
        return Some((limit, section.at()));
    };
    if fixed && field.path.ends_with("limit") {
        let limit = field.size(&(0..=CAPACITY_MAX))?;
        return Some((Limit::Static(limit), field.at));
    }
    if around.pools.is_none() {
        let help = "give `limit` instead, or `fabric.switch.buffer`";
        field.problem("is a share of a buffer that is not shared", help.to_owned());
        return None;
    }
    read_alpha(&field).map(|limit| (limit, field.at))
}

fn read_levels(
    section: &mut Section<'_>,
    around: &Around<'_>,
) -> Option<(Limit, Option<Location>)> {
    let field = section.take("levels")?;
    if around.pools.is_none() {
        let help = "give `limit` instead, or `fabric.switch.buffer`";
        field.problem(
            "goes by the fill of a buffer that is not shared",
            help.to_owned(),
        );
        return None;
    }
    let (list, node) = field.each(|_, item| {
        let mut own = item.section(&LEVEL);
        let sizes = 0..=CAPACITY_MAX;
        let above = own.take("above").and_then(|field| field.size(&sizes));
        let limit = own.take("limit").and_then(|field| field.size(&sizes));
        let level = above.zip(limit).map(|(pool_bytes, account_bytes)| Level {
            pool_bytes,
            account_bytes,
        });
        (level, own.finish())
    });
    section.put("levels", node);
    let levels = Levels::new(&list?);
    if levels.is_none() {
        let help = format!(
            "list 1 to {} levels, with `above` rising and `limit` not rising from each to the next",
            Levels::MOST
        );
        field.problem("has levels that cannot be told apart", help);
    }
    levels.map(|levels| (Limit::Levels(levels), field.at))
}

fn read_alpha(field: &Field<'_>) -> Option<Limit> {
    let part = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.then(|| text.parse::<u32>().ok()).flatten();
        number.filter(|number| (1..=65_536).contains(number))
    };
    let word = field.word().unwrap_or_default();
    let (numerator, denominator) = word.split_once('/').unwrap_or((word, "1"));
    let read = part(numerator).zip(part(denominator));
    let Some((numerator, denominator)) = read else {
        let what = format!("cannot be {}", field.node.describe());
        let help = "write a fraction of whole numbers from 1 to 65536, for example `1/8` or `2`";
        field.problem(&what, help.to_owned());
        return None;
    };
    Some(Limit::Dynamic {
        numerator,
        denominator,
    })
}

fn read_ecn(field: Field<'_>, section: &mut Section<'_>) -> Read<Option<EcnSpec>> {
    if field.word().is_some() {
        let none = [("none", None)].into_iter();
        let presets = ECN_PRESETS.map(|(name, spec)| (name, Some(spec)));
        let choices: Vec<_> = none.chain(presets).collect();
        let chosen = field.choice(&choices)?;
        if let Some(spec) = chosen {
            section.put("ecn", written(spec));
        }
        return Some(chosen);
    }
    let mut own = field.section(&ECN);
    let sizes = 0..=CAPACITY_MAX;
    let min_bytes = own.take("kmin").and_then(|field| field.size(&sizes));
    let max_field = own.take("kmax");
    let max_bytes = max_field.as_ref().and_then(|field| field.size(&sizes));
    let ppm = own
        .take("pmax")
        .and_then(|field| field.share())
        .map(Share::ppm);
    let rates = Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);
    let scale_from = own
        .take("scale_from")
        .and_then(|field| field.or_none(|field| field.quantity("a rate", &rates)));
    let times = [("enqueue", MarkAt::Enqueue), ("dequeue", MarkAt::Dequeue)];
    let mark_at = own.choice("mark", &times);
    section.put("ecn", own.finish());
    let spec = EcnSpec {
        scale_from: scale_from?,
        mark_at: mark_at?,
        ..ecn(min_bytes?, max_bytes?, ppm?)
    };
    if spec.min_bytes > spec.max_bytes {
        let help = "give `kmax` at least as much as `kmin`";
        max_field?.problem("is less than `kmin`", help.to_owned());
        return None;
    }
    Some(Some(spec))
}

/// A preset, written out.
fn written(spec: EcnSpec) -> Node {
    let size = |bytes| Node::plain(Bytes::new(bytes).to_string());
    let scale_from = spec
        .scale_from
        .map_or("none".to_owned(), |rate| rate.to_string());
    Node::mapping([
        ("kmin", size(spec.min_bytes)),
        ("kmax", size(spec.max_bytes)),
        (
            "pmax",
            Node::plain(Share::from_ppm(spec.max_probability_ppm).to_string()),
        ),
        ("scale_from", Node::plain(scale_from)),
        ("mark", Node::plain("enqueue")),
    ])
}
