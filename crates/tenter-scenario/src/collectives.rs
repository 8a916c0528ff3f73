//! The `collectives` of a job: which, by which algorithm, of which sizes.

use std::ops::RangeInclusive;

use tenter_units::{Bytes, Rate, Time};
use tenter_workload::collective::{CollectiveKind, Distances, Groups, ScaleUp};
use tenter_workload::sizes::SizeList;
use tenter_workload::{CollectiveRun, Compute};

use tenter_config::Presence::{Default, Depends, Required};
use tenter_config::{KeyTable, Reader, Value as _, key};
use tenter_notation::decode::{Field, Section, split_remedy};
use tenter_notation::diagnostics::Location;
use tenter_notation::tree::{Node, Value};

/// Rates of a scale-up domain.
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);

const COLLECTIVE: KeyTable = KeyTable {
    title: "`jobs[].collectives[]`",
    keys: &[
        key(
            "collective",
            "`all-to-all`, `all-reduce`, `all-gather`, `reduce-scatter`, `broadcast`, `reduce`, `gather`, `scatter`, `send-recv`, `hypercube`, `permutation` or `incast`",
            Required,
            "Which collective",
        ),
        key(
            "algorithm",
            "a word",
            Depends("the usual one"),
            "By which algorithm: all-to-all `parallel`, `pairwise` or `pxn`; all-reduce `ring`, `bidirectional-ring`, `halving-doubling`, `double-binary-tree` or `hierarchical`; all-gather `ring` or `recursive-doubling`; reduce-scatter `ring` or `recursive-halving`; send-recv `ring`; hypercube `recursive-doubling`; broadcast `parallel`, `ring` or `tree`; reduce `tree`; gather, scatter and incast `parallel`; permutation `random`. The usual one is the first",
        ),
        key(
            "size",
            "size",
            Depends("this or `sizes`"),
            "One size, as nccl-tests counts it",
        ),
        key(
            "sizes",
            "list of sizes, or a range",
            Depends("this or `size`"),
            "Several sizes, run in this order",
        ),
        key(
            "groups",
            "",
            Default("none"),
            "Groups of ranks that each run the collective by itself, all at the same time (tensor, data or pipeline parallel ranks); `none`: all ranks run it together",
        )
        .typed(|| Option::<Groups>::shape(())),
        key(
            "compute",
            "time",
            Default("0ns"),
            "What all ranks compute before each of these collectives, on top of `gap`",
        ),
        key(
            "compute_spread",
            "time",
            Default("0ns"),
            "Computing takes up to this much less or more, drawn for each time; no more than `compute`",
        ),
    ],
};

const RANGE: KeyTable = KeyTable {
    title: "`jobs[].collectives[].sizes`, written as a range",
    keys: &[
        key("start", "size", Required, "The first size"),
        key(
            "multiplier",
            "whole number, 2 or more",
            Default("2"),
            "From one size to the next",
        ),
        key(
            "end",
            "size",
            Required,
            "No size is larger than this; the last one when the multiplication hits it",
        ),
    ],
};

const DRAWN: KeyTable = KeyTable {
    title: "`jobs[].collectives[].sizes` of a background job, to be drawn each time",
    keys: &[
        key("least", "size", Required, "No size is smaller than this"),
        key("most", "size", Required, "No size is larger than this"),
        key("count", "count", Default("1"), "How many are drawn"),
    ],
};

const PERMUTATION: KeyTable = KeyTable {
    title: "`jobs[].collectives[]` with `collective: permutation`",
    keys: &[key(
        "seed",
        "whole number",
        Depends("the `seed` of the scenario"),
        "Which permutation without fixed points",
    )],
};

const ROOTED: KeyTable = KeyTable {
    title: "`jobs[].collectives[]` with `collective: broadcast`, `reduce`, `gather`, `scatter` or `incast`",
    keys: &[key(
        "root",
        "rank",
        Default("0"),
        "The rank that all others receive from (broadcast, scatter) or send to (reduce, gather, incast)",
    )],
};

const CHUNKED: KeyTable = KeyTable {
    title: "`jobs[].collectives[]` with `algorithm: double-binary-tree`, `tree`, or `ring` of a broadcast",
    keys: &[key(
        "chunk_size",
        "size",
        Default("512KiB"),
        "The buffer is passed on in chunks of this size",
    )
    .from("NCCL's default buffer of 4 MiB in 8 slots")],
};

const DISTANCES: KeyTable = KeyTable {
    title: "`jobs[].collectives[]` with `algorithm: halving-doubling`",
    keys: &[key(
        "distances",
        "`halving` or `doubling`",
        Default("halving"),
        "How far apart the ranks of an exchange are while the vector is halved, and the other way round on the way back. `halving`: ranks n/2 apart exchange halves, ranks n/4 apart quarters, and so on; `doubling`: neighbours exchange halves, ranks 2 apart quarters, and so on",
    )
    .from("AI Fabric Test Methodology (Keysight); `doubling` is the order of MPICH and Open MPI")],
};

const HOSTS: KeyTable = KeyTable {
    title: "`jobs[].collectives[]` with `algorithm: hierarchical` or `pxn`",
    keys: &[key(
        "npus_per_host",
        "count",
        Default("8"),
        "NPUs of each host; ranks that follow each other share a host",
    )
    .from("usual servers")],
};

const HIERARCHICAL: KeyTable = KeyTable {
    title: "`jobs[].collectives[]` with `algorithm: hierarchical`",
    keys: &[
        key(
            "scale_up_rate",
            "rate",
            Default("3600Gbps"),
            "What an NPU sends and receives within its host, each way",
        )
        .from("NVIDIA H100 data sheet: NVLink with 900 GB/s both ways together"),
        key(
            "scale_up_latency",
            "time",
            Default("1us"),
            "From the last byte sent within a host to its use at the receiver",
        )
        .from("assumed"),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 9] = [
    &COLLECTIVE,
    &RANGE,
    &DRAWN,
    &PERMUTATION,
    &ROOTED,
    &CHUNKED,
    &DISTANCES,
    &HOSTS,
    &HIERARCHICAL,
];

const DISTANCE_ORDERS: [(&str, Distances); 2] = [
    ("halving", Distances::Halving),
    ("doubling", Distances::Doubling),
];

/// No collective moves more per rank.
const SIZE_MAX: u64 = 1 << 40;
/// A thousand seconds, as for all times of a job.
const COMPUTE_MAX: Time = Time::from_us(1_000_000_000);
/// No job runs more collectives in one iteration.
const SEQUENCE_MAX: usize = 10_000;

/// One entry of the list.
pub(crate) struct Entry {
    pub(crate) kind: CollectiveKind,
    /// The largest of its sizes.
    pub(crate) largest_bytes: u64,
    pub(crate) at: Option<Location>,
}

/// The collectives of one job; none, where it runs something else.
#[derive(Default)]
pub(crate) struct Collectives {
    /// Each entry of the list.
    pub(crate) entries: Vec<Entry>,
    /// What they come to, one run per size.
    pub(crate) sequence: Vec<CollectiveRun>,
}

/// What one entry of the list says.
struct Read {
    kind: CollectiveKind,
    sizes: Sizes,
    compute: Compute,
    at: Option<Location>,
}

/// The sizes of one entry.
enum Sizes {
    /// As given.
    Fixed(Vec<u64>),
    /// So many, drawn each time.
    Drawn { least: u64, most: u64, count: usize },
}

impl Sizes {
    fn count(&self) -> usize {
        match self {
            Sizes::Fixed(sizes) => sizes.len(),
            Sizes::Drawn { count, .. } => *count,
        }
    }

    fn largest(&self) -> u64 {
        match self {
            Sizes::Fixed(sizes) => sizes.iter().copied().max().unwrap_or(0),
            Sizes::Drawn { most, .. } => *most,
        }
    }
}

impl Read {
    fn runs(&self) -> Vec<CollectiveRun> {
        let run = |size_bytes, drawn_from_bytes| CollectiveRun {
            kind: self.kind.clone(),
            size_bytes,
            drawn_from_bytes,
            compute: self.compute,
        };
        match &self.sizes {
            Sizes::Fixed(sizes) => sizes.iter().map(|&size| run(size, None)).collect(),
            Sizes::Drawn { least, most, count } => vec![run(*most, Some(*least)); *count],
        }
    }
}

/// Reads the `collectives` of a job that is background load or not; `seed` is that of the scenario.
pub(crate) fn read(
    section: &mut Section<'_>,
    field: &Field<'_>,
    seed: u64,
    background: bool,
) -> Option<Collectives> {
    if field.count() == Some(0) {
        let help = "list at least one, for example `{collective: all-to-all, size: 16MiB}`";
        field.problem("is empty: this job has nothing to run", help.to_owned());
        return None;
    }
    let each = |_, item: Field<'_>| read_collective(item, seed, background);
    let (read, node) = field.each(each);
    section.put("collectives", node);
    let read = read?;
    let count: usize = read.iter().map(|entry| entry.sizes.count()).sum();
    if count > SEQUENCE_MAX {
        let help = "give fewer sizes, or use `iterations`";
        field.problem(
            &format!("makes more than {SEQUENCE_MAX} collectives"),
            help.to_owned(),
        );
        return None;
    }
    let entries = read.iter().map(|entry| Entry {
        kind: entry.kind.clone(),
        largest_bytes: entry.sizes.largest(),
        at: entry.at,
    });
    Some(Collectives {
        entries: entries.collect(),
        sequence: read.iter().flat_map(Read::runs).collect(),
    })
}

fn read_collective(item: Field<'_>, seed: u64, background: bool) -> (Option<Read>, Node) {
    let at = item.at;
    let mut section = item.section(&COLLECTIVE);
    let kind = read_kind(&mut section, seed);
    let groups = section.value::<Option<Groups>>("groups");
    let kind = kind.zip(groups).map(|(kind, groups)| match groups {
        None => kind,
        Some(groups) => CollectiveKind::Grouped {
            groups,
            kind: Box::new(kind),
        },
    });
    let sizes = read_sizes(&mut section, background);
    let compute = read_compute(&mut section);
    let node = section.finish();
    let read = || {
        Some(Read {
            kind: kind?,
            sizes: sizes?,
            compute: compute?,
            at,
        })
    };
    (read(), node)
}

/// What is computed before a collective.
fn read_compute(section: &mut Section<'_>) -> Option<Compute> {
    let mean = section.time("compute", Time::ZERO..=COMPUTE_MAX);
    read_spread(section, mean)
}

/// What is computed, and how much that differs; `mean` where the first of them could be read.
pub(crate) fn read_spread(section: &mut Section<'_>, mean: Option<Time>) -> Option<Compute> {
    let field = section.take("compute_spread")?;
    let spread = field.quantity("a time", &(Time::ZERO..=COMPUTE_MAX))?;
    let mean = mean?;
    if spread > mean {
        let what = format!("is {}, and `compute` only {mean}", field.node.describe());
        field.problem(&what, "no time is less than nothing".to_owned());
        return None;
    }
    Some(Compute { mean, spread })
}

fn read_kind(section: &mut Section<'_>, seed: u64) -> Option<CollectiveKind> {
    let mut choices: Vec<(&str, &str)> = Vec::new();
    for member in CollectiveKind::MEMBERS {
        if choices.iter().all(|(name, _)| *name != member.collective) {
            choices.push((member.collective, member.collective));
        }
    }
    let collective = section.choice("collective", &choices);
    let algorithm_field = section.take("algorithm");
    let Some(collective) = collective else {
        skip_parameters(section);
        return None;
    };
    let algorithm = match algorithm_field {
        Some(field) => {
            let names: Vec<_> = CollectiveKind::algorithms_of(collective)
                .map(|a| (a, a))
                .collect();
            field.choice(&names)
        }
        None => CollectiveKind::algorithms_of(collective).next(),
    };
    let Some(algorithm) = algorithm else {
        skip_parameters(section);
        return None;
    };
    section.put("algorithm", Node::plain(algorithm));
    let mut kind = CollectiveKind::parse(collective, algorithm).ok()?;
    if let CollectiveKind::Permutation { seed: own } = &mut kind {
        section.extend(&PERMUTATION);
        let field = section.take("seed");
        *own = field.map_or(Some(seed), |field| field.integer(0..=u64::MAX))?;
        section.put("seed", Node::plain(own.to_string()));
    }
    if let Some(root) = kind.root_mut() {
        section.extend(&ROOTED);
        *root = section.integer("root", 0..=u64::from(u32::MAX))?;
    }
    if let Some(chunk_bytes) = kind.chunk_bytes_mut() {
        section.extend(&CHUNKED);
        *chunk_bytes = section.take("chunk_size")?.size(&(1..=SIZE_MAX))?;
    }
    if let Some(distances) = kind.distances_mut() {
        section.extend(&DISTANCES);
        *distances = section.choice("distances", &DISTANCE_ORDERS)?;
    }
    let hosts = kind.npus_per_host_mut().map(|npus_per_host| {
        section.extend(&HOSTS);
        *npus_per_host = section.integer("npus_per_host", 1..=u64::from(u32::MAX))?;
        Some(())
    });
    if let Some(scale_up) = kind.scale_up_mut() {
        section.extend(&HIERARCHICAL);
        let rate = Reader::rate(section, "scale_up_rate", RATES);
        let latency = section.time("scale_up_latency", Time::ZERO..=Time::from_us(1_000_000));
        *scale_up = ScaleUp {
            rate: rate?,
            latency: latency?,
            ..*scale_up
        };
    }
    // Only now, so that no key that belongs to it is called unknown.
    hosts.unwrap_or(Some(()))?;
    Some(kind)
}

/// Which parameters belong to a collective that is not known is not known either: all are taken, so
/// that none is called unknown.
fn skip_parameters(section: &mut Section<'_>) {
    section.skip(&PERMUTATION);
    section.skip(&ROOTED);
    section.skip(&CHUNKED);
    section.skip(&DISTANCES);
    section.skip(&HOSTS);
    section.skip(&HIERARCHICAL);
}

fn read_sizes(section: &mut Section<'_>, background: bool) -> Option<Sizes> {
    let Some(field) = section.take_either("size", "sizes") else {
        let help = "add for example `size: 16MiB`, or `sizes: {start: 16MiB, end: 256MiB}`";
        section.problem("lacks `size` or `sizes`", help.to_owned());
        return None;
    };
    let list = match &field.node.value {
        Value::Map(entries) if entries.iter().any(|entry| DRAWN.get(&entry.key).is_some()) => {
            return read_drawn(section, &field, background);
        }
        Value::Map(_) => {
            let (range, node) = read_range(field.clone());
            section.put(
                if field.path.ends_with("sizes") {
                    "sizes"
                } else {
                    "size"
                },
                node,
            );
            range?
        }
        Value::List(_) => {
            let items = field.items()?;
            let sizes: Vec<_> = items
                .iter()
                .map(|item| item.size(&(1..=SIZE_MAX)))
                .collect();
            SizeList::Explicit(sizes.into_iter().collect::<Option<Vec<u64>>>()?)
        }
        Value::Scalar { .. } => SizeList::Explicit(vec![field.size(&(1..=SIZE_MAX))?]),
    };
    let sizes = list.expand();
    if let Err(error) = &sizes {
        let text = error.to_string();
        let (message, help) = split_remedy(&text);
        field.problem(&format!("makes no sense: {message}"), help);
    }
    sizes.ok().map(Sizes::Fixed)
}

/// Sizes that are drawn each time: of a load it does not matter which they are, of a job under test
/// every table says what each took.
fn read_drawn(section: &mut Section<'_>, field: &Field<'_>, background: bool) -> Option<Sizes> {
    let mut range = field.clone().section(&DRAWN);
    let sizes = 1..=SIZE_MAX;
    let least = range.take("least").and_then(|field| field.size(&sizes));
    let most_field = range.take("most");
    let most = most_field.as_ref().and_then(|field| field.size(&sizes));
    let count = range.integer("count", 1..=SEQUENCE_MAX as u64);
    section.put("sizes", range.finish());
    if !background {
        let help = "give `size`, a list of sizes or a range, or make the job `background: true`";
        field.problem("draws sizes for a job under test", help.to_owned());
        return None;
    }
    let (least, most) = (least?, most?);
    if least > most {
        let help = "swap the two, or raise `most`".to_owned();
        most_field?.problem("is less than `least`", help);
        return None;
    }
    Some(Sizes::Drawn {
        least,
        most,
        count: count?,
    })
}

fn read_range(field: Field<'_>) -> (Option<SizeList>, Node) {
    let mut range = field.section(&RANGE);
    let start = range
        .take("start")
        .and_then(|field| field.size(&(1..=SIZE_MAX)));
    let multiplier = range.integer("multiplier", 2..=SIZE_MAX);
    let end_field = range.take("end");
    let end = end_field
        .as_ref()
        .and_then(|field| field.size(&(1..=SIZE_MAX)));
    if let (Some(start), Some(end), Some(field)) = (start, end, &end_field)
        && end < start
    {
        let start = Bytes::new(start);
        let what = format!(
            "is {}, before the start of `{start}`",
            field.node.describe()
        );
        field.problem(&what, "swap the two, or raise the end".to_owned());
        return (None, range.finish());
    }
    let node = range.finish();
    let read = || {
        Some(SizeList::Range {
            start: start?,
            multiplier: multiplier?,
            end: end?,
        })
    };
    (read(), node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_names_every_member() {
        for member in CollectiveKind::MEMBERS {
            let named = |key: &str, word: &str| {
                let key = COLLECTIVE.get(key).expect("a key of the table");
                let word = format!("`{word}`");
                key.form.text().contains(&word) || key.meaning.contains(&word)
            };
            assert!(named("collective", member.collective), "{member}");
            assert!(named("algorithm", member.algorithm), "{member}");
            let mut kind = member.default.clone();
            let titled = ROOTED.title.contains(&format!("{}`", member.collective));
            assert_eq!(kind.root_mut().is_some(), titled, "{member}");
            if let Some(chunk_bytes) = kind.chunk_bytes_mut() {
                assert!(CHUNKED.title.contains(&format!("{}`", member.algorithm)));
                assert_eq!(*chunk_bytes, 512 << 10, "the default the table states");
            }
            if let Some(distances) = kind.distances_mut() {
                assert!(DISTANCES.title.contains(&format!("{}`", member.algorithm)));
                let stated = DISTANCE_ORDERS.map(|(_, order)| order);
                assert_eq!(*distances, stated[0], "the default the table states");
            }
            if let Some(npus_per_host) = kind.npus_per_host_mut() {
                assert!(
                    HOSTS.title.contains(&format!("`{}`", member.algorithm))
                        || member.algorithm == "hierarchical"
                );
                assert_eq!(*npus_per_host, 8, "the default the table states");
            }
            if let Some(scale_up) = kind.scale_up_mut() {
                assert!(
                    HIERARCHICAL
                        .title
                        .contains(&format!("{}`", member.algorithm))
                );
                let rate = scale_up.rate.to_string().replace("3.6Tbps", "3600Gbps");
                let stated = [rate, scale_up.latency.to_string()];
                for (key, value) in HIERARCHICAL.keys.iter().zip(stated) {
                    assert!(
                        matches!(key.presence, Default(default) if default == value),
                        "{value}"
                    );
                }
            }
        }
    }
}
