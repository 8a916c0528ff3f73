//! The `flows` of a background job: streams between hosts.

use std::collections::BTreeMap;

use tenter_units::Rate;
use tenter_workload::collective::{CollectiveKind, Flow};
use tenter_workload::{CollectiveRun, Compute, Job};

use crate::hosts::{HostNames, HostRef};
use tenter_config::Presence::{Default, Required};
use tenter_config::{Key, KeyTable, key};
use tenter_notation::decode::{Field, Section};
use tenter_notation::diagnostics::Location;
use tenter_notation::tree::{Node, Value};

/// Who sends, of a flow or of pairs of a workload.
pub(super) const FROM: Key = key(
    "from",
    "number, name, or a list of hosts",
    Required,
    "The host that sends; of several, each",
);

/// Who receives.
pub(super) const TO: Key = key(
    "to",
    "number, name, or a list of hosts",
    Required,
    "The host that receives; of several, each from each, but none from itself",
);

pub(super) const FLOW: KeyTable = KeyTable {
    title: "`jobs[].flows[]`",
    keys: &[
        FROM,
        TO,
        key(
            "rate",
            "rate or `none`",
            Default("none"),
            "Payload that is offered per time, in messages at equal distances; `none` is as fast as the NIC can, the rate of its link",
        ),
    ],
};

/// More streams than a traffic generator has.
const FLOWS_MAX: usize = 65_536;

pub(super) type Hosts = Vec<(HostRef, Option<Location>)>;

/// One entry of the list, its hosts still as they were written.
pub(super) struct FlowDraft {
    from: Hosts,
    to: Hosts,
    rate: Option<Rate>,
    at: Option<Location>,
}

/// The ranks of streams are the hosts they name.
pub(super) fn refuse_ranks(section: &mut Section<'_>) {
    for name in ["ranks", "placement", "group_size", "free_hosts", "gap"] {
        if section.has(name)
            && let Some(field) = section.take(name)
        {
            let help = "leave it out: `flows` name their hosts, and never end".to_owned();
            field.problem("has no effect on `flows`", help);
        }
    }
}

/// Leaves out of the effective configuration what streams do not have.
pub(super) fn leave_out(section: &mut Section<'_>) {
    for name in ["ranks", "placement", "group_size", "free_hosts", "gap"] {
        section.drop_key(name);
    }
}

/// Reads the list.
pub(super) fn read(
    section: &mut Section<'_>,
    field: &Field<'_>,
    background: bool,
) -> Option<Vec<FlowDraft>> {
    if field.count() == Some(0) {
        let help = "list at least one, for example `{from: 0, to: 1}`".to_owned();
        field.problem("is empty: this job has nothing to send", help);
        return None;
    }
    let (flows, node) = field.each(|_, item| read_flow(item));
    section.put("flows", node);
    if !background {
        let help = "make the job `background: true`, beside one under test".to_owned();
        field.problem("never end, so they cannot be judged", help);
        return None;
    }
    flows
}

fn read_flow(item: Field<'_>) -> (Option<FlowDraft>, Node) {
    let at = item.at;
    let mut section = item.section(&FLOW);
    let from = section.take("from").and_then(|field| hosts(&field));
    let to = section.take("to").and_then(|field| hosts(&field));
    let rates = Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);
    let rate = section
        .take("rate")
        .and_then(|field| field.or_none(|field| field.quantity("a rate", &rates)));
    let draft = || {
        Some(FlowDraft {
            from: from?,
            to: to?,
            rate: rate?,
            at,
        })
    };
    (draft(), section.finish())
}

/// A host, or a list of hosts.
pub(super) fn hosts(field: &Field<'_>) -> Option<Hosts> {
    let Value::List(_) = field.node.value else {
        return Some(vec![(HostRef::read(field)?, field.at)]);
    };
    let items = field.items()?;
    let read = |item: &Field<'_>| Some((HostRef::read(item)?, item.at));
    items.iter().map(read).collect()
}

/// Binds the streams to hosts: the job gets these as its ranks, in the order in which they are
/// named, and one endless run in messages of `message_bytes`.
pub(super) fn bind(
    drafts: &[FlowDraft],
    names: &HostNames<'_>,
    message_bytes: u64,
    job: &mut Job,
) -> Option<()> {
    let mut ranks: BTreeMap<u32, u32> = BTreeMap::new();
    let mut flows = Vec::new();
    for draft in drafts {
        let from = expand(&draft.from, names)?;
        let to = expand(&draft.to, names)?;
        let before = flows.len();
        for (&src, &dst) in from
            .iter()
            .flat_map(|src| to.iter().map(move |dst| (src, dst)))
        {
            if src == dst {
                continue;
            }
            let [src_rank, dst_rank] = [src, dst].map(|host| {
                *ranks.entry(host).or_insert_with(|| {
                    job.hosts.push(host);
                    job.hosts.len() as u32 - 1
                })
            });
            flows.push(Flow {
                src: src_rank,
                dst: dst_rank,
                rate: draft.rate.unwrap_or_else(|| names.rate(src)),
            });
            if flows.len() > FLOWS_MAX {
                let message = format!("the job has more than {FLOWS_MAX} flows");
                names.problem(draft.at, message, Some("name fewer hosts".to_owned()));
                return None;
            }
        }
        if flows.len() == before {
            let message =
                "a flow goes from a host to itself, and no frame would be sent".to_owned();
            names.problem(draft.at, message, Some("name another host".to_owned()));
            return None;
        }
    }
    job.sequence.push(CollectiveRun {
        kind: CollectiveKind::Flows { flows },
        size_bytes: message_bytes,
        drawn_from_bytes: None,
        compute: Compute::default(),
    });
    Some(())
}

/// Their numbers, in the order in which they are written.
pub(super) fn expand(hosts: &Hosts, names: &HostNames<'_>) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    for (host, at) in hosts {
        names.expand(host, *at, &mut found, "")?;
    }
    Some(found)
}
