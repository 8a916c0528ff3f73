//! The `workload` of a job: flows with sizes by a distribution.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_endpoint::{MessageCut, NicSpec};
use tenter_engine::Draws;
use tenter_net::WIRE_OVERHEAD_BYTES;
use tenter_units::Time;
use tenter_workload::collective::CollectiveKind;
use tenter_workload::flow_workload::{
    Arrivals, Between, DISTRIBUTIONS, FlowWay, FlowWorkload, GapLaw, NamedDistribution, Point,
    Receivers, SizeDistribution, Weights,
};
use tenter_workload::{CollectiveRun, Compute, Job};

use super::flows::{FROM, Hosts, TO, expand, hosts};
use super::workload_pattern::{self, Demand, PARALLEL, Senders};
use crate::hosts::HostNames;
use tenter_config::Presence::{Default, Depends, Required};
use tenter_config::{Chance, KeyTable, key};
use tenter_notation::decode::{Field, Read, Section, split_remedy};
use tenter_notation::diagnostics::Location;
use tenter_notation::tree::Node;
use tenter_plan::SIMULATED_MAX;

pub(super) const WORKLOAD: KeyTable = KeyTable {
    title: "`jobs[].workload`",
    keys: &[
        key(
            "sizes",
            "size, or one of `facebook-hadoop-homa`, `facebook-hadoop-hpcc`, `websearch-hpcc`, `alistorage-2019`, `facebook-cachefollower-homa`, `facebook-webserver-homa`, `google-all-rpc-homa`, `google-search-rpc-homa` or `googlerpc-2008`",
            Depends("this or `points`"),
            "The distribution that flow sizes are drawn from, by its name, or the size of every flow",
        ),
        key(
            "points",
            "list or text",
            Depends("this or `sizes`"),
            "A distribution of your own by points of its cumulative distribution, both numbers ascending; or a file of them, a size in bytes and a probability on each line",
        ),
        key(
            "between",
            "`steps` or `lines`",
            Depends("`steps` with `points`"),
            "Whether flows have only the sizes of the points, or all sizes between them, along a line",
        ),
        key(
            "pairs",
            "list",
            Depends("this or `pattern`"),
            "The pairs of sender and receiver",
        ),
        key(
            "pattern",
            "mapping",
            Depends("this or `pairs`"),
            "In an open loop, how often each pair sends: the `jobs[].pattern` of an application, in proportion to the bytes of its first step, without what it says of steps (`steps`, `compute`, `compute_spread`, `regrid`); the ranks are those of the job",
        ),
        key(
            "senders",
            "`by-bytes` or `alike`",
            Depends("`by-bytes` with `pattern`"),
            "How much each rank of the pattern sends: in proportion to its bytes, or all that have any the same",
        ),
        key(
            "parallel",
            "count",
            Depends("`8` with `pattern`"),
            "QPs from each rank to each that the pattern has it send to; flows take them in turn",
        ),
        key(
            "arrivals",
            "`closed-loop`, `poisson` or `log-normal`",
            Default("closed-loop"),
            "When flows start: each when the one before it is acknowledged, or in an open loop after times of this distribution, each sender by itself to any of its receivers, or as often to each as the pattern has it",
        ),
        key(
            "load",
            "0 to 1",
            Depends("required in an open loop"),
            "Share of the senders' rate that the payload of all flows takes in RoCEv2 frames, with headers, preamble and gap, but without what a congestion control adds to them; with a pattern that of the NIC of the rank that sends or receives most, and others have as much less as the pattern has it; with `senders: alike` that of each sender, and receivers may have more than their NICs take",
        ),
        key(
            "sigma",
            "decimal",
            Depends("`1` with `log-normal`"),
            "Standard deviation of the logarithm of the times, from 0.01 to 4",
        ),
        key(
            "fan_in",
            "count, or `none`",
            Default("none"),
            "In an open loop, flows that start at the same time, each from another sender, to one of the receivers",
        ),
        key(
            "flows",
            "count, or `none`",
            Default("none"),
            "How many flows there are in all; each of the parallel ones of each pair starts its share of them",
        ),
        key(
            "duration",
            "time or `none`",
            Default("none"),
            "From the start of the job to when no flow starts any more; those under way are completed",
        ),
    ],
};

pub(super) const PAIR: KeyTable = KeyTable {
    title: "`jobs[].workload.pairs[]`",
    keys: &[
        FROM,
        TO,
        key(
            "parallel",
            "count",
            Depends("`1`, or `8` in an open loop"),
            "QPs from each to each: in a closed loop each has one flow under way at a time, in an open one flows take them in turn",
        ),
    ],
};

pub(super) const POINT: KeyTable = KeyTable {
    title: "`jobs[].workload.points[]`",
    keys: &[
        key("size", "size", Required, "A size of flows"),
        key(
            "cumulative",
            "0 to 1",
            Required,
            "How many flows are no larger, of all",
        ),
    ],
};

/// More flows at a time than any tester has.
pub(super) const SLOTS_MAX: u64 = 1 << 20;
/// The numbers of flows have 32 bits, and so has the one that would come next.
const FLOWS_MAX: u64 = u32::MAX as u64 - SLOTS_MAX;
/// A terabyte, a thousand times more than any distribution has.
const SIZE_MAX: u64 = 1 << 40;
/// Keys of a job that its flows say instead, or that they have no use for.
const WHAT: [&str; 9] = [
    "gap",
    "iterations",
    "warm_up",
    "queue_pairs",
    "queue_pair_scope",
    "background",
    "collectives",
    "flows",
    "pattern",
];
/// And those that its pairs say.
const WHO: [&str; 4] = ["ranks", "placement", "group_size", "free_hosts"];

/// What a workload says in place of the keys of its job.
#[derive(Clone, Copy)]
pub(super) enum Instead {
    /// What is sent, by whom and to whom.
    WhoAndWhat,
    /// What is sent: the ranks of a pattern are those of the job.
    What,
}

impl Instead {
    /// What a workload says, once it is read.
    pub(super) fn of(workload: &mut Node) -> Instead {
        match workload.entry_mut("pattern") {
            Some(_) => Instead::What,
            None => Instead::WhoAndWhat,
        }
    }

    fn keys(self) -> impl Iterator<Item = &'static str> {
        let who: &[&str] = match self {
            Instead::WhoAndWhat => &WHO,
            Instead::What => &[],
        };
        who.iter().chain(&WHAT).copied()
    }

    /// Refuses these keys.
    pub(super) fn refuse(self, section: &mut Section<'_>) {
        for name in self.keys() {
            if section.has(name)
                && let Some(field) = section.take(name)
            {
                let help =
                    "leave it out: a workload of flows says by itself who sends what to whom";
                field.problem("has no effect beside `workload`", help.to_owned());
            }
        }
    }

    /// Leaves them out of the effective configuration.
    pub(super) fn leave_out(self, section: &mut Section<'_>) {
        self.keys().for_each(|name| section.drop_key(name));
    }
}

/// A workload, its hosts still as they were written.
pub(super) struct WorkloadDraft {
    sizes: SizeDistribution,
    ways: WaysDraft,
    flows: Option<u32>,
    duration: Option<Time>,
    open: Option<OpenDraft>,
    seed: u64,
}

/// What an open loop has beside.
#[derive(Clone, Copy)]
struct OpenDraft {
    gaps: GapLaw,
    /// Out of 2⁶⁴.
    load: u64,
    fan_in: Option<u32>,
}

/// Who sends to whom.
enum WaysDraft {
    /// Hosts to hosts.
    Pairs(Vec<PairDraft>),
    /// Ranks to ranks.
    Pattern(Demand),
}

struct PairDraft {
    from: Hosts,
    to: Hosts,
    parallel: u32,
    at: Option<Location>,
}

/// Reads the mapping.
pub(super) fn read(field: Field<'_>, of_job: (u64, &str)) -> (Option<WorkloadDraft>, Node) {
    let mut section = field.section(&WORKLOAD);
    let sizes = read_sizes(&mut section);
    let open = read_arrivals(&mut section);
    let ways = read_ways(&mut section, of_job, open);
    let flows = section
        .take("flows")
        .and_then(|field| field.or_none(|field| field.integer(1..=FLOWS_MAX)));
    let times = Time::from_ps(1)..=SIMULATED_MAX;
    let duration = section
        .take("duration")
        .and_then(|field| field.or_none(|field| field.quantity("a time", &times)));
    if (flows, duration) == (Some(None), Some(None)) {
        let help = "add `duration: 1ms`, or how many `flows` there are";
        section.problem("never ends", help.to_owned());
        return (None, section.finish());
    }
    let draft = || {
        Some(WorkloadDraft {
            sizes: sizes?,
            ways: ways?,
            flows: flows?,
            duration: duration?,
            open: open?,
            seed: of_job.0,
        })
    };
    (draft(), section.finish())
}

/// Who sends to whom: pairs of hosts, or a pattern.
fn read_ways(
    section: &mut Section<'_>,
    of_job: (u64, &str),
    open: Read<Option<OpenDraft>>,
) -> Option<WaysDraft> {
    let Some(field) = section.take_either("pairs", "pattern") else {
        let help = "add `pairs: [{from: 0, to: 1}]`, for example";
        section.problem("lacks `pairs` or `pattern`", help.to_owned());
        return None;
    };
    if field.path.ends_with("pattern") {
        let is_open = open.map(|open| open.is_some());
        let demand = workload_pattern::read(section, field, of_job, is_open)?;
        if open.flatten().is_some_and(|open| open.fan_in.is_some()) {
            let help = "leave one of them out: an incast has each of its receivers as often";
            section.problem("has a `fan_in` and a `pattern`", help.to_owned());
            return None;
        }
        return Some(WaysDraft::Pattern(demand));
    }
    let of_pattern = [
        ("parallel", "write it into each pair"),
        ("senders", "leave it out: senders of pairs are all alike"),
    ];
    for (name, help) in of_pattern {
        if section.has(name)
            && let Some(field) = section.take(name)
        {
            field.problem("has no effect beside `pairs`", help.to_owned());
        }
        section.drop_key(name);
    }
    if field.count() == Some(0) {
        let help = "list at least one, for example `{from: 0, to: 1}`".to_owned();
        field.problem("is empty: nobody sends", help);
        return None;
    }
    let parallel = if matches!(open, Some(Some(_))) {
        PARALLEL
    } else {
        1
    };
    let (pairs, node) = field.each(|_, item| read_pair(item, parallel));
    section.put("pairs", node);
    pairs.map(WaysDraft::Pairs)
}

fn read_sizes(section: &mut Section<'_>) -> Option<SizeDistribution> {
    let Some(field) = section.take_either("sizes", "points") else {
        let help = "add `sizes: facebook-hadoop-homa`, for example";
        section.problem("lacks `sizes` or `points`", help.to_owned());
        return None;
    };
    if field.path.ends_with("points") {
        return read_points(section, &field);
    }
    if section.has("between")
        && let Some(field) = section.take("between")
    {
        let help = "leave it out: the distributions of the program say it themselves";
        field.problem("has no effect without `points`", help.to_owned());
    }
    section.drop_key("between");
    section.drop_key("points");
    if field
        .word()
        .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
    {
        return field.size(&(1..=SIZE_MAX)).map(SizeDistribution::fixed);
    }
    let names: Vec<(&str, &NamedDistribution)> = DISTRIBUTIONS
        .iter()
        .map(|distribution| (distribution.name, distribution))
        .collect();
    field.choice(&names)?.distribution().ok()
}

fn read_points(section: &mut Section<'_>, field: &Field<'_>) -> Option<SizeDistribution> {
    let choices = [("steps", Between::Steps), ("lines", Between::Lines)];
    let between = if section.has("between") {
        let field = section.take("between");
        field.and_then(|field| field.choice(&choices))
    } else {
        section.put("between", Node::plain("steps"));
        Some(Between::Steps)
    };
    section.drop_key("sizes");
    let (points, node) = field.each(|_, item| {
        let mut section = item.section(&POINT);
        let size = section
            .take("size")
            .and_then(|field| field.size(&(0..=SIZE_MAX)));
        let chance = section
            .take("cumulative")
            .and_then(|field| read_chance(&field));
        let point = || {
            Some(Point {
                size_bytes: size?,
                up_to: chance?,
            })
        };
        (point(), section.finish())
    });
    section.put("points", node);
    match SizeDistribution::new(points?, between?) {
        Ok(distribution) => Some(distribution),
        Err(error) => {
            let text = error.to_string();
            let (what, help) = split_remedy(&text);
            field.problem(&format!("make no distribution: {what}"), help);
            None
        }
    }
}

/// None in a closed loop.
fn read_arrivals(section: &mut Section<'_>) -> Read<Option<OpenDraft>> {
    let choices = [
        ("closed-loop", None),
        ("poisson", Some(false)),
        ("log-normal", Some(true)),
    ];
    let Some(chosen) = section.choice("arrivals", &choices) else {
        // Whether these have a meaning depends on it.
        for name in ["load", "sigma", "fan_in"] {
            if section.has(name) {
                let _ = section.take(name);
            }
        }
        return None;
    };
    let unused: &[&str] = match chosen {
        None => &["load", "sigma", "fan_in"],
        Some(false) => &["sigma"],
        Some(true) => &[],
    };
    for name in unused {
        if section.has(name)
            && let Some(field) = section.take(name)
        {
            let help = "leave it out, or give other `arrivals`".to_owned();
            field.problem("has no effect with these `arrivals`", help);
        }
        section.drop_key(name);
    }
    let Some(log_normal) = chosen else {
        return Some(None);
    };
    let Some(load) = section.take("load") else {
        let help = "add `load: 0.6`, for example".to_owned();
        section.problem("lacks `load`, which an open loop needs", help);
        return None;
    };
    let load = read_chance(&load).filter(|&share| {
        share > 0 || {
            load.problem("is nothing", "give a share above 0".to_owned());
            false
        }
    });
    let fan_in = section
        .take("fan_in")
        .and_then(|field| field.or_none(|field| field.integer(1..=SLOTS_MAX)));
    let gaps = if log_normal {
        read_sigma(section)?
    } else {
        GapLaw::Exponential
    };
    Some(Some(OpenDraft {
        gaps,
        load: load?,
        fan_in: fan_in?,
    }))
}

fn read_sigma(section: &mut Section<'_>) -> Option<GapLaw> {
    if !section.has("sigma") {
        section.put("sigma", Node::plain("1"));
        return Some(GapLaw::LogNormal { sigma: 1.0 });
    }
    let field = section.take("sigma")?;
    let sigma = field.word().and_then(|word| word.parse::<f64>().ok());
    let sigma = sigma.filter(|sigma| (0.01..=4.0).contains(sigma));
    if sigma.is_none() {
        let what = format!("cannot be {}", field.node.describe());
        field.problem(&what, "give a number from 0.01 to 4".to_owned());
    }
    Some(GapLaw::LogNormal { sigma: sigma? })
}

fn read_pair(item: Field<'_>, usual: u32) -> (Option<PairDraft>, Node) {
    let at = item.at;
    let mut section = item.section(&PAIR);
    let from = section.take("from").and_then(|field| hosts(&field));
    let to = section.take("to").and_then(|field| hosts(&field));
    let parallel = if section.has("parallel") {
        section.integer("parallel", 1..=SLOTS_MAX)
    } else {
        section.put("parallel", Node::plain(usual.to_string()));
        Some(usual)
    };
    let draft = || {
        Some(PairDraft {
            from: from?,
            to: to?,
            parallel: parallel?,
            at,
        })
    };
    (draft(), section.finish())
}

impl WorkloadDraft {
    /// Whether the ranks of the job are hosts that are named here.
    pub(super) fn names_hosts(&self) -> bool {
        matches!(self.ways, WaysDraft::Pairs(_))
    }

    /// The ways between ranks, which the job gets in the order in which their hosts are named.
    fn ways(pairs: &[PairDraft], names: &HostNames<'_>, job: &mut Job) -> Option<Vec<FlowWay>> {
        let mut ranks: BTreeMap<u32, u32> = BTreeMap::new();
        let mut ways: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut slots = 0;
        for pair in pairs {
            let from = expand(&pair.from, names)?;
            let to = expand(&pair.to, names)?;
            let mut sends = false;
            for (&src, &dst) in from
                .iter()
                .flat_map(|src| to.iter().map(move |dst| (src, dst)))
                .filter(|(src, dst)| src != dst)
            {
                sends = true;
                slots += u64::from(pair.parallel);
                if slots > SLOTS_MAX {
                    let message = format!("the job has more than {SLOTS_MAX} flows at a time");
                    let help = "name fewer hosts, or fewer `parallel` flows".to_owned();
                    names.problem(pair.at, message, Some(help));
                    return None;
                }
                let [src, dst] = [src, dst].map(|host| {
                    *ranks.entry(host).or_insert_with(|| {
                        job.hosts.push(host);
                        job.hosts.len() as u32 - 1
                    })
                });
                *ways.entry((src, dst)).or_default() += pair.parallel;
            }
            if !sends {
                let message = "the pair is a host and itself, and no frame would be sent";
                let help = "name another host".to_owned();
                names.problem(pair.at, message.to_owned(), Some(help));
                return None;
            }
        }
        let way = |((src, dst), parallel)| FlowWay { src, dst, parallel };
        Some(ways.into_iter().map(way).collect())
    }

    /// Binds the workload to hosts: the job gets those that are named as its ranks, in that order,
    /// and has its own already where none are.
    pub(super) fn bind(self, names: &HostNames<'_>, nic: &NicSpec, job: &mut Job) -> Option<()> {
        let (ways, weights) = match &self.ways {
            WaysDraft::Pairs(pairs) => (Self::ways(pairs, names, job)?, None),
            WaysDraft::Pattern(demand) => {
                let (ways, weights) = demand.ways(names, job)?;
                (ways, Some(weights))
            }
        };
        let arrivals = match self.open {
            None => Arrivals::ClosedLoop,
            Some(open) => self.arrivals(open, (&ways, weights, &job.hosts), names, nic)?,
        };
        let workload = FlowWorkload {
            draws: Draws::new(self.seed, &job.name, "flow sizes"),
            arrival_draws: Draws::new(self.seed, &job.name, "flow arrivals"),
            sizes: self.sizes,
            ways,
            flows: self.flows,
            duration: self.duration,
            arrivals,
        };
        if let WaysDraft::Pattern(demand) = &self.ways {
            demand.check_numbers(names, &workload)?;
        }
        job.sequence.push(CollectiveRun {
            size_bytes: workload.sizes.largest(),
            kind: CollectiveKind::FlowWorkload {
                workload: Arc::new(workload),
            },
            drawn_from_bytes: None,
            compute: Compute::default(),
        });
        Some(())
    }

    /// When flows start, so that their payload takes, in frames without telemetry, the share of the
    /// senders' rate that is asked for.
    fn arrivals(
        &self,
        open: OpenDraft,
        (ways, weights, hosts): (&[FlowWay], Option<Weights>, &[u32]),
        names: &HostNames<'_>,
        nic: &NicSpec,
    ) -> Option<Arrivals> {
        // Without the telemetry of a congestion control: all of them then get the same flows.
        let cut = MessageCut::new(nic.message_bytes, nic.mtu_bytes);
        let wire_bytes = |bytes| {
            let packets = cut.packets(bytes);
            cut.request_frame_bytes(bytes, packets) + packets * u64::from(WIRE_OVERHEAD_BYTES)
        };
        let mean_bits = 8.0 * self.sizes.mean_of(wire_bytes);
        let load = open.load as f64 / 18_446_744_073_709_551_616.0;
        let gap = |flows: f64, bits_per_second: f64| {
            let seconds = flows * mean_bits / (load * bits_per_second);
            Time::from_ps((seconds * 1e12).max(1.0) as u64)
        };
        let rates = hosts
            .iter()
            .map(|&host| names.rate(host).bits_per_second() as f64);
        let rates: Vec<f64> = rates.collect();
        let gaps = open.gaps;
        if let Some(weights) = weights {
            let senders = match &self.ways {
                WaysDraft::Pattern(demand) => demand.senders,
                WaysDraft::Pairs(_) => Senders::ByBytes,
            };
            let demand = (ways, weights, senders);
            return Some(workload_pattern::arrivals(
                demand,
                (hosts, &rates),
                (gaps, load),
                mean_bits,
            ));
        }
        let Some(degree) = open.fan_in else {
            let means = rates.iter().map(|&rate| gap(1.0, rate));
            return Some(Arrivals::EachSender {
                gaps,
                means: means.collect(),
                receivers: Receivers::Alike,
            });
        };
        let mut senders: BTreeMap<u32, u32> = BTreeMap::new();
        let mut rate = BTreeMap::new();
        for way in ways {
            *senders.entry(way.dst).or_default() += 1;
            rate.insert(way.src, rates[way.src as usize]);
        }
        if let Some((&rank, fewest)) = senders.iter().find(|(_, senders)| **senders < degree) {
            let name = names.name(hosts[rank as usize]);
            let message =
                format!("a fan-in of {degree} needs as many senders, and {name} has {fewest}");
            let help = "give a smaller `fan_in`, or more senders".to_owned();
            let at = match &self.ways {
                WaysDraft::Pairs(pairs) => pairs.first().and_then(|pair| pair.at),
                WaysDraft::Pattern(_) => None,
            };
            names.problem(at, message, Some(help));
            return None;
        }
        let mean = gap(f64::from(degree), rate.values().sum());
        Some(Arrivals::Incasts { gaps, mean, degree })
    }
}

/// A probability, in parts of 2⁶⁴.
fn read_chance(field: &Field<'_>) -> Option<u64> {
    let value: Result<Chance, ()> = field.word().unwrap_or_default().parse();
    if value.is_err() {
        let help = "write a probability from 0 to 1, for example `0.001` or `1e-6`";
        let what = format!("cannot be {}", field.node.describe());
        field.problem(&what, help.to_owned());
    }
    value.ok().map(Chance::probability)
}
