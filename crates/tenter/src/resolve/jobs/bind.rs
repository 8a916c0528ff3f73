//! Binds jobs' ranks to hosts, and checks what depends on the rank count.

use std::collections::{BTreeMap, BTreeSet};

use tenter_endpoint::{MessageCut, NicSpec};
use tenter_engine::Stream;
use tenter_fabric::topology::HostId;
use tenter_language::units::{ById, Bytes};
use tenter_sim::plan::{Fidelity, SIMULATED_MAX, Seeds};
use tenter_workload::collective::CollectiveKind;
use tenter_workload::placement::stretches;
use tenter_workload::spec::{
    CollectiveSpec, HostRef, JobClass, JobSpec, Ranks, Start, WorkloadKind, WorkloadSpec,
};
use tenter_workload::{AtHost, Instead, Job, Misfit, Operations, Schedule, Site, Sited};
use tenter_workload::{Traffic, WorkloadError};

use super::draft::{Entry, Workload, starts_too_late};
use super::{flows, operations, pattern, start};
use crate::resolve::graphs::Graphs;
use crate::resolve::hosts::HostNames;
use crate::resolve::queue_pair_packets::{Crowd, PACKETS_END, crowd};
use tenter_language::notation::decode::split_remedy;
use tenter_language::notation::diagnostics::{Location, quote};
use tenter_language::notation::tree::{Node, Value};

/// Rank limit over all jobs together.
const RANKS_MAX: u64 = 1 << 22;
/// Wrong entries in a host list that are reported; later ones are skipped.
const MISTAKES_MAX: u32 = 20;

/// A job as written, at its path, with everything that it is bound to.
struct Binding<'a> {
    spec: &'a JobSpec,
    path: String,
    names: &'a HostNames<'a>,
    seeds: Seeds,
    nic: Option<&'a NicSpec>,
    fidelity: Fidelity,
    graphs: &'a Graphs<'a>,
    index: usize,
}

/// Returns the job's flow workload, if it has one.
fn flows_of(spec: &JobSpec) -> Option<&WorkloadSpec> {
    spec.workload.as_ref().and_then(WorkloadKind::flows)
}

/// Makes a job from its written form, without hosts, and with listed collectives only.
fn job_of(spec: &JobSpec) -> Job {
    let collectives = spec.collectives.iter().flatten();
    Job {
        name: spec.name.clone().unwrap_or_default(),
        hosts: ById::default(),
        // `background` beside a workload of flows is refused elsewhere, and must not count here.
        background: spec.background && flows_of(spec).is_none(),
        sequence: collectives.flat_map(CollectiveSpec::runs).collect(),
        iterations: spec.iterations,
        warm_up: spec.warm_up,
        start: match &spec.start {
            Start::At(time) => *time,
            Start::After(after) => after.delay,
        },
        after: None,
        gap: spec.gap,
        queue_pairs: spec.queue_pairs,
        class: match spec.class {
            JobClass::Nic => None,
            JobClass::Class(class) => Some(class),
        },
        queue_pair_scope: spec.queue_pair_scope,
    }
}

impl Binding<'_> {
    /// Binds the ranks to hosts, of which earlier jobs have `taken` a number of NPUs each, and
    /// checks that the collectives can run on that rank count.
    fn bind(&self, mut job: Job, taken: &ById<HostId, u32>) -> Option<Job> {
        let (spec, names) = (self.spec, self.names);
        let path = format!("{}.workload", self.path);
        let workload = flows_of(spec).map(|spec| Workload {
            spec,
            path: &path,
            seed: self.seeds.arrivals,
        });
        // Pairs of a workload, like streams, name their hosts: the job has no ranks to place.
        if let Some(workload) = workload.filter(|of| of.spec.pattern.is_none()) {
            workload.bind(names, self.nic?, &mut job)?;
            return Some(job);
        }
        if let Some(specs) = &spec.flows {
            let message_bytes = self.nic?.message_bytes;
            flows::bind(specs, names, &self.path, message_bytes, &mut job)?;
            return Some(job);
        }
        // The graph comes before the hosts, because `ranks: all` means as many as the graph has.
        let operations = match &spec.workload {
            Some(WorkloadKind::Training(training)) => {
                let ranks = self.ranks_of_model(training.dp.is_some()).ok()?;
                Some(self.graphs.step(self.index, training, ranks)?)
            }
            Some(WorkloadKind::Inference(inference)) => {
                let says = inference.dp.is_some() || inference.pools.is_some();
                let ranks = self.ranks_of_model(says).ok()?;
                let (seed, reach) = (self.seeds.arrivals, names.reach());
                let graphs = self.graphs;
                Some(graphs.inference(self.index, inference, ranks, seed, reach)?)
            }
            Some(kind) if kind.file().is_some() => Some(self.graphs.operations(self.index, kind)?),
            _ => None,
        };
        let ranks_of = operations.as_ref().map(|of| of.graph.ranks());
        let hosts = match &spec.ranks {
            Ranks::Hosts(list) => listed_hosts(list, &format!("{}.ranks", self.path), names)?,
            Ranks::All | Ranks::Count(_) => self.placed_hosts(&job.name, taken, ranks_of)?,
        };
        let operations = match operations {
            Some(operations) => Some(self.operations_at(operations, &hosts)?),
            None => None,
        };
        job.hosts = hosts.into();
        if let Some(workload) = workload {
            workload.bind(names, self.nic?, &mut job)?;
            return Some(job);
        }
        let entries = if let Some(operations) = operations {
            operations::bind(operations, names, &path, &mut job)?
        } else if let Some(spec) = &spec.pattern {
            let path = format!("{}.pattern", self.path);
            pattern::bind(spec, names, &path, self.seeds.arrivals, &mut job)?
        } else {
            self.check_last_start(&job)?;
            let specs = self.collectives_at(job.hosts.as_slice())?;
            job.sequence = specs.iter().flat_map(CollectiveSpec::runs).collect();
            self.entries(&specs)
        };
        self.check_kinds(&entries, job.ranks());
        if let Some(cut) = self.nic.map(NicSpec::cut) {
            self.check_packets(&entries, &job, cut);
        }
        Some(job)
    }

    /// Returns the rank count for a training or inference; `None` inside if the workload itself
    /// states it (`says`). The error has been noted.
    fn ranks_of_model(&self, says: bool) -> Result<Option<u32>, ()> {
        let names = self.names;
        Ok(match &self.spec.ranks {
            Ranks::Hosts(list) => {
                let path = format!("{}.ranks", self.path);
                Some(listed_hosts(list, &path, names).ok_or(())?.len() as u32)
            }
            Ranks::Count(ranks) => Some(*ranks),
            Ranks::All if says => None,
            Ranks::All => Some(names.count().saturating_mul(names.npus())),
        })
    }

    /// Fits the graph's collectives to the job's hosts; warns of algorithms that were replaced.
    fn operations_at(&self, operations: Operations, hosts: &[HostId]) -> Option<Operations> {
        if operations.graph.ranks() as usize != hosts.len() {
            // The binding of the graph reports this.
            return Some(operations);
        }
        let path = format!("{}.workload", self.path);
        let site =
            |ranks: &[u32], kind: &CollectiveKind| self.names.site_of_group(hosts, ranks, kind);
        match operations.graph.at(&site) {
            Ok((graph, instead)) => {
                let help = "NCCL's choice and PXN need ranks that fill hosts in order; give \
                            `endpoint.host.scale_up`, place the job by hosts, or name the \
                            algorithm in `algorithms`";
                for sentence in instead {
                    self.graphs
                        .warn(&path, format!("`{path}`: {sentence}"), help);
                }
                Some(Operations {
                    graph,
                    ..operations
                })
            }
            Err(misfit) => {
                let text = misfit.to_string();
                let (message, help) = split_remedy(&text);
                let at = self.names.place(&format!("{path}.algorithms"));
                self.names.problem(at, message.to_owned(), help);
                None
            }
        }
    }

    /// Fits the job's collectives to its hosts.
    fn collectives_at(&self, hosts: &[HostId]) -> Option<Vec<CollectiveSpec>> {
        let specs = self.spec.collectives.iter().flatten().enumerate();
        let fitted: Vec<Option<CollectiveSpec>> = specs
            .map(|(index, spec)| self.collective_at(index, spec, hosts))
            .collect();
        fitted.into_iter().collect()
    }

    fn collective_at(
        &self,
        index: usize,
        spec: &CollectiveSpec,
        hosts: &[HostId],
    ) -> Option<CollectiveSpec> {
        let path = format!("{}.collectives[{index}]", self.path);
        let (site, ranks) = self.site(spec, hosts);
        match site.fit(&spec.kind, ranks) {
            // The check of the algorithm then asks for the host size that is missing here.
            Ok(Sited {
                instead: Some(Instead::Unknown),
                ..
            }) => Some(spec.clone()),
            Ok(Sited { kind, instead }) => {
                if let Some(why) = instead {
                    let message = format!("`{path}` runs as {}: {why}", kind.member());
                    let help = "place the ranks by hosts, or name the algorithm";
                    self.graphs.warn(&path, message, help);
                }
                Some(CollectiveSpec {
                    kind,
                    ..spec.clone()
                })
            }
            Err(misfit) => {
                let key = match &misfit {
                    Misfit::Differs { key, .. } => key,
                    Misfit::Uneven { .. } => "algorithm",
                };
                let text = misfit.to_string();
                let (message, help) = split_remedy(&text);
                let at = self.names.place(&format!("{path}.{key}"));
                self.names.problem(at, message.to_owned(), help);
                None
            }
        }
    }

    /// Returns the site that a collective's groups share, and each group's rank count.
    fn site(&self, spec: &CollectiveSpec, hosts: &[HostId]) -> (Site, u32) {
        let whole = self.names.site(hosts);
        let ranks = hosts.len() as u32;
        // Groups that do not divide the ranks are refused elsewhere.
        let groups = spec.groups.filter(|of| of.count("", ranks).is_ok());
        let Some(groups) = groups else {
            return (whole, ranks);
        };
        let sites = (0..ranks / groups.size).map(|group| {
            let of_group = groups.ranks_of(group).map(|rank| hosts[rank as usize]);
            self.names.site(&of_group.collect::<Vec<_>>())
        });
        let each: Vec<Option<AtHost>> = sites.map(|site| site.at_each).collect();
        let alike = each.iter().all(|of| *of == each[0]);
        let site = Site {
            // Groups that lie differently on their hosts have no common layout.
            at_each: each[0].filter(|_| alike),
            ..whole
        };
        (site, groups.size)
    }

    /// Lists the job's collectives with their largest size.
    fn entries(&self, specs: &[CollectiveSpec]) -> Vec<Entry> {
        let collectives = specs.iter().enumerate();
        let entry = |(index, of): (usize, &CollectiveSpec)| Entry {
            traffic: of.traffic(),
            largest_bytes: of.sizes().into_iter().max().unwrap_or(0),
            path: format!("{}.collectives[{index}]", self.path),
        };
        collectives.map(entry).collect()
    }

    /// Refuses a job whose last collective would start after the longest simulation, even if none
    /// took any time.
    fn check_last_start(&self, job: &Job) -> Option<()> {
        let Some(turns) = starts_too_late(job) else {
            return Some(());
        };
        let what = format!(
            "is `{}`, which puts the last of {turns} collectives beyond {SIMULATED_MAX}, the longest simulation",
            job.gap
        );
        let help = "give a shorter `gap` or `compute`, fewer `iterations` or fewer sizes";
        self.names
            .push_at(&format!("{}.gap", self.path), &what, help);
        None
    }

    /// Checks that each algorithm runs on `ranks` ranks. Sizes were checked before; at most the
    /// largest one matters here.
    fn check_kinds(&self, entries: &[Entry], ranks: u32) {
        let mut checked: Vec<(&Traffic, u64)> = Vec::new();
        for entry in entries {
            // Only algorithms that cut data into chunks of a given length depend on the size.
            let chunk_bytes = entry
                .traffic
                .collective()
                .and_then(CollectiveKind::chunk_bytes);
            let size_bytes = chunk_bytes.map_or(1, |_| entry.largest_bytes);
            let kind = (&entry.traffic, size_bytes);
            // A list of sizes repeats one algorithm many times.
            if checked.contains(&kind) {
                continue;
            }
            let schedule = entry.traffic.schedule(ranks, size_bytes);
            let schedule = schedule.and_then(|schedule| self.check_ids(&entry.traffic, &*schedule));
            if let Err(error) = schedule {
                let text = error.to_string();
                let (message, help) = split_remedy(&text);
                let at = self.names.place(&entry.path);
                self.names.problem(at, message.to_owned(), help);
            }
            checked.push(kind);
        }
    }

    /// Refuses more transfers than 32-bit ids can name; flow level simulates none of them singly.
    fn check_ids(&self, traffic: &Traffic, schedule: &dyn Schedule) -> Result<(), WorkloadError> {
        let transfers = schedule.transfers();
        if self.fidelity == Fidelity::Flow || u32::try_from(transfers).is_ok() {
            return Ok(());
        }
        Err(WorkloadError::TooManyAtOnce {
            collective: traffic.member().to_string(),
            ranks: schedule.ranks(),
            transfers,
        })
    }

    /// Refuses more packets on a queue pair than its sequence numbers tell apart.
    fn check_packets(&self, entries: &[Entry], job: &Job, cut: MessageCut) {
        for Entry {
            traffic,
            largest_bytes,
            path,
        } in entries
        {
            // `check_kinds` has reported traffic that cannot run at all.
            let found = crowd(traffic, *largest_bytes, job.ranks(), job, cut);
            let Ok(Some(Crowd { src, dst, packets })) = found else {
                continue;
            };
            let message = format!(
                "{} of {} puts {packets} packets on one queue pair of rank {src} to rank {dst}, and its sequence numbers suffice for {}",
                traffic.member(),
                Bytes::new(*largest_bytes),
                PACKETS_END - 1,
            );
            let help =
                "give a larger `message_size` or `mtu`, more `queue_pairs`, or a smaller size";
            self.names.note(path, message, help);
        }
    }

    /// Returns the place of the job's `ranks`.
    fn ranks_at(&self) -> Option<Location> {
        self.names.place(&format!("{}.ranks", self.path))
    }

    /// Returns each rank's host by the job's placement. `wanted` is a graph's rank count, for jobs
    /// whose `ranks` give no number. The placement chooses NPUs, which are numbered host after
    /// host; ranks take a host's NPUs in order.
    fn placed_hosts(
        &self,
        job: &str,
        taken: &ById<HostId, u32>,
        wanted: Option<u32>,
    ) -> Option<Vec<HostId>> {
        let names = self.names;
        let npus = names.npus();
        let all = u64::from(names.count()) * u64::from(npus);
        let all = u32::try_from(all)
            .ok()
            // With one NPU per host the list of NPUs is no longer than the fabric's list of hosts.
            .filter(|&all| npus == 1 || u64::from(all) <= RANKS_MAX);
        let Some(all) = all else {
            let message = format!("the fabric has more than {RANKS_MAX} NPUs to place ranks on");
            let help = "give a smaller `endpoint.host.npus_per_nic`, or list the hosts".to_owned();
            names.problem(self.ranks_at(), message, Some(help));
            return None;
        };
        let only_free = self.spec.free_hosts;
        let host = |npu: u32| HostId::new(npu / npus);
        // Jobs take a host's NPUs in order, so the first `taken` of them are in use.
        let is_free = |&npu: &u32| !only_free || npu % npus >= taken[host(npu)];
        let free: Vec<u32> = (0..all).filter(is_free).collect();
        let ranks = match (&self.spec.ranks, &wanted) {
            (Ranks::Count(ranks), _) | (_, Some(ranks)) => *ranks,
            // A job has at least two ranks; with fewer places the report below says what is free.
            _ if only_free => (free.len() as u32).max(2),
            _ => free.len() as u32,
        };
        if ranks > free.len() as u32 {
            self.report_too_few(ranks, free.len());
            return None;
        }
        // The stream has the job's name: another job in the list does not move this one.
        let mut stream = Stream::new(self.seeds.placement, job, "placement");
        let placed = self.spec.placement().place(
            ranks,
            &free,
            |npu| names.leaf(host(npu)).number(),
            |bound| stream.below(bound),
        );
        Some(placed.into_iter().map(host).collect())
    }

    /// Reports more ranks than there are places for them.
    fn report_too_few(&self, ranks: u32, left: usize) {
        let names = self.names;
        let (hosts, npus) = (names.count(), names.npus());
        let (one, many) = if npus > 1 {
            ("an NPU", "NPUs")
        } else {
            ("a host", "hosts")
        };
        let (message, help) = if self.spec.free_hosts {
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
        names.problem(self.ranks_at(), message, Some(help));
    }
}

/// Returns a list's hosts; each may occur as often as it has NPUs.
fn listed_hosts(list: &[HostRef], path: &str, names: &HostNames<'_>) -> Option<Vec<HostId>> {
    let mut hosts = Vec::new();
    let mut ranks_on: BTreeMap<HostId, Vec<usize>> = BTreeMap::new();
    let mut mistakes = 0;
    for (index, host) in list.iter().enumerate() {
        let at = names.place(&format!("{path}[{index}]"));
        if mistakes == MISTAKES_MAX {
            break;
        }
        let first_rank = hosts.len();
        mistakes += u32::from(
            names
                .expand(
                    host,
                    at,
                    &mut hosts,
                    &format!("rank {first_rank} is unreachable: "),
                )
                .is_none(),
        );
        for rank in first_rank..hosts.len() {
            let earlier = ranks_on.entry(hosts[rank]).or_default();
            earlier.push(rank);
            if earlier.len() > names.npus() as usize {
                report_full(hosts[rank], earlier, at, names);
                mistakes += 1;
                // One report per entry suffices, and many long ranges of one host must not fill the
                // memory.
                hosts.truncate(rank + 1);
                break;
            }
        }
    }
    (mistakes == 0).then_some(hosts)
}

/// Reports a host that a list names more often than it has NPUs.
fn report_full(host: HostId, ranks: &[usize], at: Option<Location>, names: &HostNames<'_>) {
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

/// Binds all jobs, and notes the problems in each. Derived and chosen values go into the effective
/// configuration.
pub(crate) fn bind(
    specs: Option<Vec<JobSpec>>,
    names: &HostNames<'_>,
    seeds: Seeds,
    nic: Option<&NicSpec>,
    fidelity: Fidelity,
    graphs: &Graphs<'_>,
    effective: &mut Node,
) -> Option<Vec<Job>> {
    let specs = specs.filter(|specs| !specs.is_empty())?;
    let mut jobs: Vec<Job> = specs.iter().map(job_of).collect();
    refuse_equal_names(&jobs, names);
    start::bind(&specs, &mut jobs, names);
    let (mut bound, mut ranks, mut complete) = (Vec::new(), 0, true);
    // Free hosts depend on the jobs before, so jobs are bound in the order of the list.
    let mut taken: ById<HostId, u32> = vec![0; names.count() as usize].into();
    for (index, (spec, job)) in specs.iter().zip(jobs).enumerate() {
        let binding = Binding {
            spec,
            path: format!("jobs[{index}]"),
            names,
            seeds,
            nic,
            fidelity,
            graphs,
            index,
        };
        let Some(job) = binding.bind(job, &taken) else {
            complete = false;
            continue;
        };
        ranks += u64::from(job.ranks());
        if ranks > RANKS_MAX {
            let message = format!("the jobs have more than {RANKS_MAX} ranks together");
            let help = "use fewer jobs, or fewer ranks";
            names.note(&format!("{}.ranks", binding.path), message, help);
            return None;
        }
        // Hosts of jobs that list them count too, so that `free_hosts` of later jobs avoids them.
        for &host in &job.hosts {
            taken[host] += 1;
        }
        write_chosen(effective.item_mut("jobs", index), spec, &job);
        bound.push(job);
    }
    // Only among all jobs: one that could not be bound may be the measured one.
    if complete && bound.iter().all(|job| job.background) {
        let help = "leave `background` out of those to be judged";
        let message = "all jobs are background load, and none is under test";
        names.note("jobs[0].name", message, help);
        return None;
    }
    complete.then_some(bound)
}

fn refuse_equal_names(jobs: &[Job], names: &HostNames<'_>) {
    let mut seen = BTreeSet::new();
    for (index, job) in jobs.iter().enumerate() {
        if !seen.insert(job.name.as_str()) {
            let message = format!("two jobs are called {}", quote(&job.name));
            names.note(
                &format!("jobs[{index}].name"),
                message,
                "rename one of them",
            );
        }
    }
}

/// Writes choices into the effective configuration: hosts instead of a placement, a pattern's step
/// count, and the queue-pair count of pairs.
fn write_chosen(effective: Option<&mut Node>, spec: &JobSpec, job: &Job) {
    let Some(effective) = effective else {
        return;
    };
    if !spec.names_hosts() {
        // The list replaces these keys; beside a list they would be refused.
        for key in ["placement", "group_size", "free_hosts"] {
            effective.remove(&[key]);
        }
        let words = stretches(&job.hosts).into_iter().map(Node::plain);
        let list = Node::unplaced(Value::List(words.collect()));
        effective.put(&["ranks"], list);
    }
    if let Some(pattern) = spec
        .pattern
        .as_ref()
        .filter(|of| of.has_steps(job.background))
    {
        let steps = pattern.steps(job.background).to_string();
        effective.put(&["pattern", "steps"], Node::plain(steps));
    }
    let Some(workload) = flows_of(spec) else {
        return;
    };
    for (index, pair) in workload.pairs.iter().flatten().enumerate() {
        let node = effective.entry_mut("workload");
        let node = node.and_then(|workload| workload.item_mut("pairs", index));
        if let (Some(node), None) = (node, pair.parallel) {
            let parallel = workload.usual_parallel().to_string();
            node.put(&["parallel"], Node::plain(parallel));
        }
    }
}
