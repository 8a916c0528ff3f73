//! `observe.queue_changes`: ports whose queues are recorded change by change.

use tenter_topology::Topology;
use tenter_units::Time;

use crate::switching::Switching;
use tenter_config::Presence::Default;
use tenter_config::{Key, key};
use tenter_notation::decode::{Field, Read, Section, suggestion};
use tenter_notation::diagnostics::quote;
use tenter_plan::{QueueChanges, SIMULATED_MAX};

/// How `observe` names the ports, and how many changes of each it records.
pub(crate) const KEYS: [Key; 4] = [
    key(
        "queue_changes",
        "a list of ports",
        Default("[]"),
        "Ports of switches, each as `NODE:PORT`, whose queues are recorded change by change, in `queue_changes.parquet`; the run is slower for it",
    ),
    key(
        "queue_changes_limit",
        "1 to 100000000",
        Default("1000000"),
        "Changes of each port that are recorded; a warning says what was left out",
    ),
    key(
        "queue_changes_from",
        "time",
        Default("0ns"),
        "Changes are recorded from then on",
    ),
    key(
        "queue_changes_to",
        "time, or `none`",
        Default("none"),
        "And until then",
    ),
];

/// The latest instant from which changes can be recorded.
const LATEST: Time = SIMULATED_MAX;

/// The ports, read; names are resolved when the fabric is known.
pub(crate) struct QueueChangesDraft<'p> {
    ports: Vec<Field<'p>>,
    limit: u64,
    from: Time,
    to: Option<Time>,
}

/// Reads both keys out of `observe`.
pub(crate) fn read<'p>(observe: &mut Section<'p>) -> Read<QueueChangesDraft<'p>> {
    let ports = observe.take(KEYS[0].name).and_then(|field| field.items());
    let limit = observe.integer(KEYS[1].name, 1..=100_000_000);
    let from = observe.time(KEYS[2].name, Time::ZERO..=LATEST);
    let (from, to) = (from?, observe.take(KEYS[3].name)?);
    let range = from + Time::from_ns(1)..=LATEST + Time::from_ns(1);
    Some(QueueChangesDraft {
        ports: ports?,
        limit: limit?,
        from,
        to: to.or_none(|field| field.quantity("a time", &range))?,
    })
}

impl QueueChangesDraft<'_> {
    /// The ports in their order, none twice; nothing if none is asked for.
    pub(crate) fn bind(
        &self,
        topology: &Topology,
        switching: &Switching,
    ) -> Read<Option<QueueChanges>> {
        if let (Some(first), Some(_)) = (self.ports.first(), switching.scheduled()) {
            let what =
                "has no place in a scheduled fabric, whose packets wait in virtual output queues";
            first.problem(
                what,
                "leave it out; `samples.parquet` has what waits".to_owned(),
            );
            return None;
        }
        let bound: Vec<_> = self.ports.iter().map(|of| port(of, topology)).collect();
        let mut ports = bound.into_iter().collect::<Option<Vec<(u32, u16)>>>()?;
        ports.sort_unstable();
        ports.dedup();
        Some((!ports.is_empty()).then_some(QueueChanges {
            ports,
            limit: self.limit,
            from: self.from,
            to: self.to,
        }))
    }
}

/// The port that a word names.
fn port(field: &Field<'_>, topology: &Topology) -> Read<(u32, u16)> {
    let word = field.word().unwrap_or_default();
    let Some((name, number)) = word.rsplit_once(':') else {
        let what = format!("must be a port, not {}", field.node.describe());
        field.problem(&what, "write `NODE:PORT`, for example `leaf0:8`".to_owned());
        return None;
    };
    let switches = &topology.nodes[topology.hosts..];
    let Some(index) = switches.iter().position(|node| node.name == name) else {
        let names = switches.iter().map(|node| node.name.as_str());
        let what = format!("names {}, which is no switch", quote(name));
        field.problem(&what, suggestion(name, names));
        return None;
    };
    let ports = switches[index].ports.len();
    match number.parse::<u16>() {
        Ok(number) if usize::from(number) < ports => {
            Some(((topology.hosts + index) as u32, number))
        }
        _ => {
            let what = format!("names no port of {}", quote(name));
            field.problem(&what, format!("its ports are 0 to {}", ports - 1));
            None
        }
    }
}
