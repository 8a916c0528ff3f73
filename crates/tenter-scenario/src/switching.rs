//! The `fabric.switching` section: where frames wait, at the outputs of every switch, by credit of
//! the port they go to at the leaf they came to, or by credit of the next switch.

pub(crate) mod credit;
pub(crate) mod input_queued;

use tenter_endpoint::NicSpec;
use tenter_net::input_queued::InputQueuedSpec;
use tenter_net::scheduled::{CellSpec, IndicationSpec, ScheduledSpec, SprayKind};
use tenter_net::{ClassSpec, CreditSpec, PfcTrigger, Switches};
use tenter_topology::{Topology, TopologySpec};
use tenter_units::Time;

use tenter_config::Presence::Default;
use tenter_config::{KeyTable, key};
use tenter_notation::decode::{Field, Read, Section};
use tenter_notation::diagnostics::{Location, Problems, quote};
use tenter_notation::tree::{Entry, Node, Value};

const SWITCHING: KeyTable = KeyTable {
    title: "`fabric.switching`",
    keys: &[key(
        "kind",
        "`output-queued`, `input-queued`, `scheduled` or `credit-based`",
        Default("output-queued"),
        "Where frames wait: at the outputs of every switch; at its inputs, in front of a crossbar; at the leaf they came to until the port they go to grants them credit; or at every switch until the next one has room for them; the further keys depend on it",
    )],
};

const SCHEDULED: KeyTable = KeyTable {
    title: "`fabric.switching` with `kind: scheduled`",
    keys: &[
        key(
            "credit",
            "size",
            Default("4096B"),
            "What one credit is worth, in bytes on the wire of the destination port; 256 to 16,000 bytes",
        )
        .from("the size of a DRAM buffer of Jericho 3 (FBOSS, Jericho3Asic.h) and the resolution of its credit balance (OpenBCM SDK); the SDK takes 256 to 8,192 bytes"),
        key(
            "over_speed",
            "percent, 0 to 100",
            Default("2"),
            "By how much credits are granted faster than the port sends",
        )
        .from("assumed: enough to cover what is lost to rounding"),
        key(
            "egress_buffer",
            "size",
            Default("512KiB"),
            "A port grants no credit while this many frame bytes wait at it",
        )
        .from("assumed: what a port of 400G sends in two round trips of 5 us, rounded up"),
        key(
            "cell",
            "mapping or `none`",
            Default("none"),
            "What a packet is cut into between leaves; with `none` it travels whole",
        ),
        key(
            "spray",
            "`round-robin` or `random`",
            Default("round-robin"),
            "How cells, or packets, are spread over the links that lead to their leaf",
        ),
        key(
            "reassembly_timeout",
            "time, 1us or more",
            Default("100us"),
            "A packet is given up when it is not whole after this time; only where links fail or lose frames",
        )
        .from("assumed: longer than anything waits in the fabric"),
        key(
            "control",
            "size",
            Default("0B"),
            "What a request and a credit take together of the links between switches, in wire bytes for each credit; packets carry it in proportion, and it is a quarter of `credit` at most",
        )
        .from("not published: 0 leaves it out"),
        key(
            "indication",
            "mapping or `none`",
            Default("none"),
            "Whether cells that meet a long queue in the fabric slow the credits of their port down",
        ),
    ],
};

const INDICATION: KeyTable = KeyTable {
    title: "`fabric.switching.indication`",
    keys: &[
        key(
            "threshold",
            "size",
            Default("32KiB"),
            "A cell is marked that makes a queue of the fabric longer than this",
        )
        .from("assumed; Broadcom's SDK has three thresholds, without values"),
        key(
            "hold",
            "time, 100ns or more",
            Default("10us"),
            "A port takes at most one step in this time, of eight of its credit rate, and gives one back after this time without a mark",
        )
        .from("assumed: several times the way through the fabric; eight levels are those of Broadcom's SDK"),
    ],
};

const CELL: KeyTable = KeyTable {
    title: "`fabric.switching.cell`",
    keys: &[
        key(
            "payload",
            "size",
            Default("256B"),
            "The most bytes of a packet in one cell, 64 to 9,000; the last cell is as long as it must be",
        )
        .from(CELL_ORIGIN),
        key(
            "overhead",
            "size",
            Default("16B"),
            "What a cell takes on the wire beside them; 256 bytes at most",
        )
        .from(CELL_ORIGIN),
        key(
            "bundle",
            "1 to 64",
            Default("1"),
            "Cells of a packet that travel together: the same bytes, fewer events, a coarser spray",
        ),
    ],
};

const CELL_ORIGIN: &str = "the largest cell of the format VSC256 has 272 bytes (OpenBCM SDK), read as 256 of data and 16 of header";

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 6] = [
    &SWITCHING,
    &input_queued::INPUT_QUEUED,
    &SCHEDULED,
    &CELL,
    &INDICATION,
    &credit::CREDIT,
];

/// The most bytes of a bundle: what a frame of the simulation holds.
const BUNDLE_MAX: u32 = 15_000;
/// More leaves would have more control links than a leaf has inputs.
const LEAVES_MAX: usize = 4_096;
const SECOND: Time = Time::from_us(1_000_000);

/// Where frames wait.
#[derive(Clone, Debug)]
pub(crate) enum Switching {
    OutputQueued,
    InputQueued(InputQueuedSpec),
    Scheduled(ScheduledSpec),
    CreditBased(CreditSpec),
}

/// The section, read.
pub(crate) struct SwitchingDraft {
    pub(crate) spec: Switching,
    /// Where it was spoken of.
    at: Option<Location>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    OutputQueued,
    InputQueued,
    Scheduled,
    CreditBased,
}

/// Reads `switching` out of `fabric`; what is left out is as `defaults` have it.
pub(crate) fn read(fabric: &mut Section<'_>, defaults: &[Entry]) -> Option<SwitchingDraft> {
    let mut own = fabric.section("switching", &SWITCHING)?;
    let at = own.at();
    let kinds = [
        ("output-queued", Kind::OutputQueued),
        ("input-queued", Kind::InputQueued),
        ("scheduled", Kind::Scheduled),
        ("credit-based", Kind::CreditBased),
    ];
    let kind = own.choice("kind", &kinds);
    let spec = match kind {
        None => {
            own.skip(&input_queued::INPUT_QUEUED);
            own.skip(&SCHEDULED);
            own.skip(&credit::CREDIT);
            None
        }
        Some(Kind::OutputQueued) => Some(Switching::OutputQueued),
        Some(Kind::InputQueued) => {
            extend(&mut own, &input_queued::INPUT_QUEUED, defaults);
            input_queued::read(&mut own).map(Switching::InputQueued)
        }
        Some(Kind::Scheduled) => {
            extend(&mut own, &SCHEDULED, defaults);
            read_scheduled(&mut own).map(Switching::Scheduled)
        }
        Some(Kind::CreditBased) => {
            extend(&mut own, &credit::CREDIT, defaults);
            credit::read(&mut own).map(Switching::CreditBased)
        }
    };
    fabric.put("switching", own.finish());
    if kind == Some(Kind::OutputQueued) {
        // The usual: it need not be said.
        fabric.drop_key("switching");
    }
    Some(SwitchingDraft { spec: spec?, at })
}

/// Lets a section have the keys of a table, with what a profile says of them.
fn extend(section: &mut Section<'_>, table: &'static KeyTable, defaults: &[Entry]) {
    let own = defaults
        .iter()
        .filter(|entry| table.get(&entry.key).is_some());
    section.fill(&own.cloned().collect::<Vec<_>>());
    section.extend(table);
}

fn read_scheduled(section: &mut Section<'_>) -> Option<ScheduledSpec> {
    let credit = section
        .take("credit")
        .and_then(|field| field.size(&(256..=16_000)));
    let over_speed = section.integer::<u32>("over_speed", 0..=100);
    let egress_buffer = section
        .take("egress_buffer")
        .and_then(|field| field.size(&(1..=1 << 40)));
    let cell = section
        .take("cell")
        .and_then(|field| read_cell(field, section));
    let sprays = [
        ("round-robin", SprayKind::RoundRobin),
        ("random", SprayKind::Random),
    ];
    let spray = section.choice("spray", &sprays);
    let timeout = section.time("reassembly_timeout", Time::from_us(1)..=SECOND);
    let most = credit.unwrap_or(16_000) / 4;
    let control = section
        .take("control")
        .and_then(|field| field.size(&(0..=most)));
    let indication = section
        .take("indication")
        .and_then(|field| read_indication(field, section));
    Some(ScheduledSpec {
        credit_bytes: credit? as u32,
        over_speed_ppm: over_speed? * 10_000,
        egress_buffer_bytes: egress_buffer?,
        cell: cell?,
        spray: spray?,
        reassembly_timeout: timeout?,
        control_bytes: control? as u32,
        indication: indication?,
    })
}

fn read_indication(field: Field<'_>, section: &mut Section<'_>) -> Read<Option<IndicationSpec>> {
    if field.word() == Some("none") {
        return Some(None);
    }
    let mut own = field.section(&INDICATION);
    let threshold = own
        .take("threshold")
        .and_then(|field| field.size(&(1..=1 << 40)));
    let hold = own.time("hold", Time::from_ns(100)..=SECOND);
    section.put("indication", own.finish());
    Some(Some(IndicationSpec {
        threshold_bytes: threshold?,
        hold: hold?,
    }))
}

fn read_cell(field: Field<'_>, section: &mut Section<'_>) -> Read<Option<CellSpec>> {
    if field.word() == Some("none") {
        return Some(None);
    }
    let whole = field.clone();
    let mut own = field.section(&CELL);
    let payload = own
        .take("payload")
        .and_then(|field| field.size(&(64..=9_000)));
    let overhead = own
        .take("overhead")
        .and_then(|field| field.size(&(0..=256)));
    let bundle = own.integer::<u32>("bundle", 1..=64);
    section.put("cell", own.finish());
    let spec = CellSpec {
        payload_bytes: payload? as u32,
        overhead_bytes: overhead? as u32,
        bundle: bundle?,
    };
    let bytes = (spec.payload_bytes + spec.overhead_bytes) * spec.bundle;
    if bytes > BUNDLE_MAX {
        let what = format!("makes bundles of {bytes} bytes, which is more than a frame may have");
        let help = format!("let a bundle have at most {BUNDLE_MAX} bytes");
        whole.problem(&what, help);
        return None;
    }
    Some(Some(spec))
}

/// The word at a path of keys, if it was written.
pub(crate) fn word_at<'n>(node: Option<&'n Node>, key: &str) -> Option<&'n str> {
    let Value::Map(entries) = &node?.value else {
        return None;
    };
    let found = entries.iter().find(|entry| entry.key == key)?;
    match &found.node.value {
        Value::Scalar { text, .. } => Some(text),
        _ => None,
    }
}

/// What the section is checked with.
pub(crate) struct Around<'a> {
    pub(crate) topology_spec: &'a TopologySpec,
    pub(crate) topology: &'a Topology,
    pub(crate) switches: &'a Switches,
    pub(crate) nic: &'a NicSpec,
    pub(crate) has_watchdog: bool,
    pub(crate) has_storms: bool,
}

impl Switching {
    /// What is different in a scheduled fabric.
    pub(crate) fn scheduled(&self) -> Option<&ScheduledSpec> {
        match self {
            Switching::Scheduled(spec) => Some(spec),
            _ => None,
        }
    }

    /// The NICs as the fabric has them.
    pub(crate) fn adapted(&self, mut nic: NicSpec) -> NicSpec {
        if self.credit().is_some() {
            credit::widen_receive_buffer(&mut nic);
        }
        nic
    }

    /// What is different where frames wait at the inputs of switches.
    pub(crate) fn input_queued(&self) -> Option<InputQueuedSpec> {
        match self {
            Switching::InputQueued(spec) => Some(*spec),
            _ => None,
        }
    }

    /// What is different in a fabric that sends by credit.
    pub(crate) fn credit(&self) -> Option<CreditSpec> {
        match self {
            Switching::CreditBased(spec) => Some(*spec),
            _ => None,
        }
    }
}

impl SwitchingDraft {
    /// Refuses what the fabric cannot be or work with.
    pub(crate) fn check(&self, around: &Around<'_>, found: (&Problems, &Problems)) {
        match &self.spec {
            Switching::OutputQueued => {}
            Switching::InputQueued(_) => input_queued::check(self.at, around, found.0),
            Switching::Scheduled(_) => self.check_scheduled(around, found.0),
            Switching::CreditBased(spec) => credit::check(spec, self.at, around, found),
        }
    }

    fn check_scheduled(&self, around: &Around<'_>, problems: &Problems) {
        let refuse = |what: String, help: &str| {
            problems.push(self.at, what, Some(help.to_owned()));
        };
        if !matches!(around.topology_spec, TopologySpec::LeafSpine(_)) {
            let kind = around.topology_spec.word();
            refuse(
                format!(
                    "`fabric.switching` cannot be `scheduled` with `kind: {kind}`: credits and cells are modelled between the leaves of two tiers"
                ),
                "use `fabric.kind: leaf-spine`",
            );
            return;
        }
        self.check_leaves(around.topology, problems);
        if !around.switches.tiers.is_empty() {
            refuse(
                "`fabric.switch.tiers` has no place in a scheduled fabric: spines have one queue without end, and all leaves are alike".to_owned(),
                "leave it out",
            );
        }
        if around.switches.any_class(|class| class.ecn.is_some()) {
            refuse(
                "a scheduled fabric marks nothing: what is too much waits at its source, in queues that belong to one destination each".to_owned(),
                "leave out `ecn`; `fabric.flow_control: pfc` pauses NICs when the memory of their leaf runs out",
            );
        }
        let by_others = |class: &ClassSpec| {
            let lossless = class.lossless.as_ref();
            lossless.is_some_and(|lossless| lossless.trigger != PfcTrigger::Ingress)
        };
        if around.switches.any_class(by_others) {
            refuse(
                "`trigger: pool` would pause the links of a scheduled fabric too, where nobody may be stopped, and `trigger: egress` looks at output queues, where no packet waits for its link".to_owned(),
                "use `trigger: ingress`, which pauses the NICs that fill the memory of their leaf",
            );
        }
        if around.has_watchdog {
            refuse(
                "`fabric.switch.pfc_watchdog` looks at output queues, and in a scheduled fabric packets wait elsewhere".to_owned(),
                "leave it out: a port that is paused for long grants no credit, and stops nobody else",
            );
        }
        let control = around.nic.congestion_control.as_ref();
        if control.is_some_and(|control| control.telemetry_hops().is_some()) {
            refuse(
                "a scheduled fabric writes no in-band telemetry into packets, for they travel in cells".to_owned(),
                "choose another `endpoint.nic.congestion_control`, or none",
            );
        }
    }

    /// Every leaf must reach every other by one spine.
    fn check_leaves(&self, topology: &Topology, problems: &Problems) {
        let leaves = topology.leaves();
        if leaves.len() > LEAVES_MAX {
            let message = format!(
                "a scheduled fabric has at most {LEAVES_MAX} leaves, and this one has {}",
                leaves.len()
            );
            let help = "give each leaf more hosts".to_owned();
            problems.push(self.at, message, Some(help));
            return;
        }
        let spines = |leaf: u32| {
            let peers = topology.neighbours(leaf).map(|peer| peer.node);
            let mut spines: Vec<u32> = peers.filter(|&peer| !topology.is_host(peer)).collect();
            spines.dedup();
            spines
        };
        let of_leaves: Vec<Vec<u32>> = leaves.iter().map(|&leaf| spines(leaf)).collect();
        for (number, own) in of_leaves.iter().enumerate() {
            for (other, theirs) in of_leaves.iter().enumerate().take(number) {
                if own.iter().any(|spine| theirs.contains(spine)) {
                    continue;
                }
                let name = |of: usize| quote(&topology.nodes[leaves[of] as usize].name);
                let message = format!(
                    "{} and {} have no spine in common, and a scheduled fabric sends from leaf to leaf over one",
                    name(other),
                    name(number)
                );
                let help = "connect both of them to one spine, in `fabric.overrides`".to_owned();
                problems.push(self.at, message, Some(help));
                return;
            }
        }
    }
}
