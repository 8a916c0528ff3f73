//! Binding the ranks of jobs to hosts, and what only shows once their number is known.

use std::collections::{BTreeMap, BTreeSet};

use tenter_endpoint::{MessageCut, NicSpec};
use tenter_engine::Stream;
use tenter_units::Bytes;
use tenter_workload::Job;
use tenter_workload::collective::CollectiveKind;
use tenter_workload::placement::{Placement, stretches};

use super::{JobDraft, Ranks, WorkloadDraft, flows, start};
use crate::collectives::Entry;
use crate::hosts::{HostNames, HostRef};
use crate::queue_pair_packets::{Crowd, PACKETS_END, crowd};
use tenter_notation::decode::split_remedy;
use tenter_notation::diagnostics::{Location, quote};
use tenter_notation::tree::{Node, Value};

/// Ranks of all jobs together.
const RANKS_MAX: u64 = 1 << 22;
/// Entries of a list of hosts that are reported before the rest is passed over.
const MISTAKES_MAX: u32 = 20;

impl JobDraft {
    /// Binds the ranks to the hosts of a fabric, of which jobs before this one have `taken` so many
    /// NPUs each, and asks the collectives whether they can run on that many.
    fn bind(
        mut self,
        names: &HostNames<'_>,
        (taken, seed): (&[u32], u64),
        nic: Option<&NicSpec>,
    ) -> Option<Job> {
        if !self.flows.is_empty() {
            flows::bind(&self.flows, names, nic?.message_bytes, &mut self.job)?;
            return Some(self.job);
        }
        if let Some(workload) = self.workload.take_if(|workload| workload.names_hosts()) {
            workload.bind(names, nic?, &mut self.job)?;
            return Some(self.job);
        }
        let cut = nic.map(NicSpec::cut);
        let hosts = match &self.ranks {
            Ranks::Hosts(list) => listed_hosts(list, names)?,
            Ranks::All | Ranks::Count(_) => self.placed_hosts(names, taken, seed)?,
        };
        self.job.hosts = hosts;
        if let Some(workload) = self.workload.take() {
            workload.bind(names, nic?, &mut self.job)?;
            return Some(self.job);
        }
        if let Some(pattern) = self.pattern.take() {
            self.entries = pattern.bind(names, &mut self.job)?;
        }
        self.check_kinds(self.job.ranks(), names);
        if let Some(cut) = cut {
            self.check_packets(self.job.ranks(), cut, names);
        }
        Some(self.job)
    }

    /// Sizes are checked already; what remains depends on the algorithm, the number of ranks, and
    /// at most on the largest size.
    fn check_kinds(&self, ranks: u32, names: &HostNames<'_>) {
        let mut checked: Vec<(CollectiveKind, u64)> = Vec::new();
        for entry in &self.entries {
            // The seed of a permutation changes nothing here, nor does the size of anything that is
            // not cut into chunks of a length.
            let kind = match &entry.kind {
                CollectiveKind::Permutation { .. } => entry.kind.member().default.clone(),
                other => other.clone(),
            };
            let size_bytes = kind.chunk_bytes().map_or(1, |_| entry.largest_bytes);
            if checked.contains(&(kind.clone(), size_bytes)) {
                continue;
            }
            if let Err(error) = kind.schedule(ranks, size_bytes) {
                let text = error.to_string();
                let (message, help) = split_remedy(&text);
                names.problem(entry.at, message.to_owned(), help);
            }
            checked.push((kind, size_bytes));
        }
    }

    /// Packets are told apart by sequence numbers, so there must not be too many on a queue pair.
    fn check_packets(&self, ranks: u32, cut: MessageCut, names: &HostNames<'_>) {
        for Entry {
            kind,
            largest_bytes,
            at,
        } in &self.entries
        {
            // What cannot run at all has been reported.
            let found = crowd((kind, *largest_bytes), ranks, &self.job, cut);
            let Ok(Some(Crowd { src, dst, packets })) = found else {
                continue;
            };
            let message = format!(
                "{} of {} puts {packets} packets on one queue pair of rank {src} to rank {dst}, and its sequence numbers suffice for {}",
                kind.member(),
                Bytes::new(*largest_bytes),
                PACKETS_END - 1,
            );
            let help =
                "give a larger `message_size` or `mtu`, more `queue_pairs`, or a smaller size";
            names.problem(*at, message, Some(help.to_owned()));
        }
    }

    /// The hosts that the placement of the job chooses: it places ranks on NPUs, which are numbered
    /// host after host. Ranks take the NPUs of a host in their order.
    fn placed_hosts(&self, names: &HostNames<'_>, taken: &[u32], seed: u64) -> Option<Vec<u32>> {
        let npus = names.npus();
        let all = u64::from(names.count()) * u64::from(npus);
        let all = u32::try_from(all)
            .ok()
            .filter(|&all| npus == 1 || u64::from(all) <= RANKS_MAX);
        let Some(all) = all else {
            let message = format!("the fabric has more than {RANKS_MAX} NPUs to place ranks on");
            let help = "give a smaller `endpoint.host.npus_per_nic`, or list the hosts".to_owned();
            names.problem(self.ranks_at, message, Some(help));
            return None;
        };
        let only_free = self.spread.free_hosts;
        let is_free = |&npu: &u32| !only_free || npu % npus >= taken[(npu / npus) as usize];
        let free: Vec<u32> = (0..all).filter(is_free).collect();
        let ranks = match self.ranks {
            Ranks::Count(ranks) => ranks,
            // One that is left is no job.
            _ if only_free => (free.len() as u32).max(2),
            _ => free.len() as u32,
        };
        if ranks > free.len() as u32 {
            self.report_too_few(ranks, free.len(), names);
            return None;
        }
        let mut stream = Stream::new(seed, &self.job.name, "placement");
        let placed = self.spread.placement.place(
            ranks,
            &free,
            |npu| names.leaf(npu / npus),
            |bound| stream.below(bound),
        );
        Some(placed.into_iter().map(|npu| npu / npus).collect())
    }

    /// There are more ranks than places that are left to them.
    fn report_too_few(&self, ranks: u32, left: usize, names: &HostNames<'_>) {
        let (hosts, npus) = (names.count(), names.npus());
        let (one, many) = if npus > 1 {
            ("an NPU", "NPUs")
        } else {
            ("a host", "hosts")
        };
        let (message, help) = if self.spread.free_hosts {
            let all = u64::from(hosts) * u64::from(npus);
            let message = format!(
                "{ranks} ranks need {one} each, and the jobs before leave {left} of {all} free"
            );
            let help = "use fewer ranks, enlarge the fabric, or share hosts (`free_hosts: false`)";
            (message, help.to_owned())
        } else {
            let of_hosts = if npus > 1 {
                format!(" of {hosts} hosts")
            } else {
                String::new()
            };
            let message = format!(
                "{ranks} ranks are bound to {left} {many}{of_hosts}: the ranks from {left} on are unreachable"
            );
            (
                message,
                format!("use at most {left} ranks, or enlarge the fabric"),
            )
        };
        names.problem(self.ranks_at, message, Some(help));
    }

    /// Whether the hosts are those that a reader of the scenario expects without looking further.
    fn is_plain(&self) -> bool {
        let workload = self.workload.as_ref();
        let listed = matches!(self.ranks, Ranks::Hosts(_))
            || !self.flows.is_empty()
            || workload.is_some_and(WorkloadDraft::names_hosts);
        listed || (self.spread.placement == Placement::Packed && !self.spread.free_hosts)
    }
}

/// The hosts of a list, each at most as often as it has NPUs.
fn listed_hosts(list: &[(HostRef, Option<Location>)], names: &HostNames<'_>) -> Option<Vec<u32>> {
    let mut hosts = Vec::new();
    let mut ranks_on: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut mistakes = 0;
    for (host, at) in list {
        if mistakes == MISTAKES_MAX {
            break;
        }
        let first_rank = hosts.len();
        mistakes += u32::from(
            names
                .expand(
                    host,
                    *at,
                    &mut hosts,
                    &format!("rank {first_rank} is unreachable: "),
                )
                .is_none(),
        );
        for rank in first_rank..hosts.len() {
            let earlier = ranks_on.entry(hosts[rank]).or_default();
            earlier.push(rank);
            if earlier.len() > names.npus() as usize {
                report_full(hosts[rank], earlier, *at, names);
                mistakes += 1;
                // One report per entry is enough, and a long list of the same stretch stays short.
                hosts.truncate(rank + 1);
                break;
            }
        }
    }
    (mistakes == 0).then_some(hosts)
}

/// A list has more ranks on a host than it has NPUs.
fn report_full(host: u32, ranks: &[usize], at: Option<Location>, names: &HostNames<'_>) {
    let name = quote(names.name(host));
    let (message, help) = match *ranks {
        [earlier, rank] => (
            format!("host {name} is bound twice, to ranks {earlier} and {rank}"),
            "give each rank of a job a host of its own, or hosts several NPUs (`endpoint.host.npus_per_nic`)",
        ),
        [.., rank] => (
            format!(
                "host {name} has {} NPUs and is bound to more ranks, the last of them {rank}",
                names.npus()
            ),
            "give each rank of a job an NPU of its own",
        ),
        [] => return,
    };
    names.problem(at, message, Some(help.to_owned()));
}

/// Binds all jobs; problems are noted for each of them. Hosts that were chosen are written into the
/// effective configuration.
pub(crate) fn bind(
    drafts: Option<Vec<JobDraft>>,
    names: &HostNames<'_>,
    (seed, nic): (u64, Option<&NicSpec>),
    effective: &mut Node,
) -> Option<Vec<Job>> {
    let mut drafts = drafts?;
    let first_at = drafts.first().and_then(|draft| draft.name_at);
    let mut seen = BTreeSet::new();
    for draft in &drafts {
        if !seen.insert(draft.job.name.as_str()) {
            let message = format!("two jobs are called {}", quote(&draft.job.name));
            names.problem(draft.name_at, message, Some("rename one of them".into()));
        }
    }
    start::bind(&mut drafts, names);
    let (mut jobs, mut ranks, mut complete) = (Vec::new(), 0, true);
    let mut taken = vec![0; names.count() as usize];
    for (index, draft) in drafts.into_iter().enumerate() {
        let at = draft.ranks_at.or(draft.name_at);
        let is_plain = draft.is_plain();
        let Some(job) = draft.bind(names, (&taken, seed), nic) else {
            complete = false;
            continue;
        };
        ranks += u64::from(job.ranks());
        if ranks > RANKS_MAX {
            let message = format!("the jobs have more than {RANKS_MAX} ranks together");
            names.problem(at, message, Some("use fewer jobs, or fewer ranks".into()));
            return None;
        }
        for &host in &job.hosts {
            taken[host as usize] += 1;
        }
        if !is_plain {
            write_hosts(effective, index, &job.hosts);
        }
        jobs.push(job);
    }
    if complete && jobs.iter().all(|job| job.background) {
        let help = "leave `background` out of those to be judged".to_owned();
        let message = "all jobs are background load, and none is under test".to_owned();
        names.problem(first_at, message, Some(help));
        return None;
    }
    complete.then_some(jobs)
}

/// Lists the hosts of a job in place of how they were chosen.
fn write_hosts(effective: &mut Node, index: usize, hosts: &[u32]) {
    let Some(job) = effective.item_mut("jobs", index) else {
        return;
    };
    for key in ["placement", "group_size", "free_hosts"] {
        job.remove(&[key]);
    }
    let words = stretches(hosts).into_iter().map(Node::plain);
    let list = Node::unplaced(Value::List(words.collect()));
    job.put(&["ranks"], list);
}
