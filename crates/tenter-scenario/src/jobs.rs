//! The `jobs` section: who takes part and what they run.

use std::collections::{BTreeMap, BTreeSet};

use tenter_endpoint::MessageCut;
use tenter_units::{Bytes, Time};
use tenter_workload::collective::CollectiveKind;
use tenter_workload::{Job, QueuePairScope};

use crate::collectives::{self, Collectives, Entry};
use crate::decode::{Field, Section, split_remedy};
use crate::diagnostics::{Location, quote};
use crate::hosts::{HostNames, HostRef};
use crate::keys::Presence::{Default, Depends, Required};
use crate::keys::{KeyTable, key};
use crate::plan::{SIMULATED_MAX, WINDOW_MAX};
use crate::queue_pair_packets::{Crowd, PACKETS_END, crowd};
use crate::tree::{Node, Value};

const JOB: KeyTable = KeyTable {
    title: "`jobs[]`",
    keys: &[
        key("name", "text", Depends("`job0`, `job1`, …"), "Its name in every table; no two jobs share one"),
        key(
            "ranks",
            "`all`, a count, or a list of hosts",
            Default("all"),
            "Where the ranks run: rank r on host r, or on the r-th host of a list of names, numbers and stretches (`[host3, 7, 16-23]`)",
        ),
        key("collectives", "list", Required, "What it runs, one after the other with a barrier in between"),
        key("iterations", "count", Default("1"), "How often the whole list is run and judged"),
        key("warm_up", "count, may be 0", Default("0"), "How often it is run before that without being judged"),
        key("start", "time", Default("0ns"), "When its first collective starts"),
        key(
            "gap",
            "time, 2us or more",
            Default("10us"),
            "From the last arrival of one collective to the start of the next; a barrier is news from everywhere, and takes effect no sooner than the longest window of the engine",
        )
        .from("the order of a kernel launch with a host synchronisation"),
        key(
            "queue_pairs",
            "count",
            Default("1"),
            "QPs per rank pair (or per chunk and hop); a transfer is split evenly over them",
        ),
        key(
            "queue_pair_scope",
            "`rank-pair` or `chunk`",
            Default("rank-pair"),
            "Whether the QPs of a rank pair carry all its transfers (of one ring or tree, where an algorithm has two), or each data chunk has its own on each hop",
        ),
    ],
};

/// The table of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 1] = [&JOB];

/// More jobs than a scheduler has on one fabric.
const JOBS_MAX: usize = 10_000;
/// Ranks of all jobs together.
const RANKS_MAX: u64 = 1 << 22;
/// Entries of a list of hosts that are reported before the rest is passed over.
const MISTAKES_MAX: u32 = 20;
/// No window of the engine is longer than the shortest gap; a shorter one than this would cost
/// speed and describes no machine.
const GAP_MIN: Time = WINDOW_MAX;
/// A thousand seconds are far beyond what anyone simulates packet by packet.
const LATEST: Time = Time::from_us(1_000_000_000);

/// A job, read; its hosts are still as they were written.
pub(crate) struct JobDraft {
    job: Job,
    name_at: Option<Location>,
    ranks: Ranks,
    ranks_at: Option<Location>,
    entries: Vec<Entry>,
}

/// Hosts as written.
enum Ranks {
    All,
    Count(u32),
    Hosts(Vec<(HostRef, Option<Location>)>),
}

/// Reads `jobs` out of the scenario; `None` when any of them could not be read.
pub(crate) fn read(scenario: &mut Section<'_>, seed: u64) -> Option<Vec<JobDraft>> {
    let field = scenario.take("jobs")?;
    match field.count() {
        Some(0) => {
            field.problem(
                "is empty: there is nothing to run",
                "list at least one job".to_owned(),
            );
            return None;
        }
        Some(count) if count > JOBS_MAX => {
            let help = "spread them over several scenarios";
            field.problem(&format!("has more than {JOBS_MAX} jobs"), help.to_owned());
            return None;
        }
        _ => {}
    }
    let (drafts, node) = field.each(|index, item| read_job(index, item, seed));
    scenario.put("jobs", node);
    drafts
}

fn read_job(index: usize, item: Field<'_>, seed: u64) -> (Option<JobDraft>, Node) {
    let mut section = item.section(&JOB);
    let name_field = section.take("name");
    let name_at = name_field
        .as_ref()
        .and_then(|field| field.at)
        .or(section.at());
    let name = match name_field {
        Some(field) => read_name(&field),
        None => Some(format!("job{index}")),
    };
    if let Some(name) = &name {
        section.put(
            "name",
            Node::unplaced(Value::Scalar {
                text: name.clone(),
                quoted: false,
            }),
        );
    }
    let ranks_field = section.take("ranks");
    let ranks_at = ranks_field.as_ref().and_then(|field| field.at);
    let ranks = ranks_field.and_then(|field| read_ranks(&field));
    let collectives = collectives::read(&mut section, seed);
    let iterations = section.integer("iterations", 1..=1_000_000);
    let warm_up = section.integer("warm_up", 0..=1_000_000);
    let start = section.time("start", Time::ZERO..=LATEST);
    let gap_field = section.take("gap");
    let gap = gap_field.as_ref().and_then(read_gap);
    let queue_pairs = section.integer("queue_pairs", 1..=4096);
    let scopes = [
        ("rank-pair", QueuePairScope::RankPair),
        ("chunk", QueuePairScope::Chunk),
    ];
    let queue_pair_scope = section.choice("queue_pair_scope", &scopes);
    let node = section.finish();
    let read = || {
        let Collectives { entries, sequence } = collectives?;
        let job = Job {
            name: name?,
            hosts: Vec::new(),
            sequence,
            iterations: iterations?,
            warm_up: warm_up?,
            start: start?,
            gap: gap?,
            queue_pairs: queue_pairs?,
            queue_pair_scope: queue_pair_scope?,
        };
        Some(JobDraft {
            job,
            name_at,
            ranks: ranks?,
            ranks_at,
            entries,
        })
    };
    let draft = read();
    if let (Some(draft), Some(field)) = (&draft, &gap_field) {
        check_last_start(&draft.job, field);
    }
    (draft, node)
}

/// Refuses a job whose last collective could not start in time even if none took any.
fn check_last_start(job: &Job, gap: &Field<'_>) {
    let turns = (u64::from(job.warm_up) + u64::from(job.iterations)) * job.sequence.len() as u64;
    let gaps = u128::from(turns - 1) * u128::from(job.gap.ps());
    if u128::from(job.start.ps()) + gaps > u128::from(SIMULATED_MAX.ps()) {
        let what = format!(
            "is {}, which puts the last of {turns} collectives beyond {SIMULATED_MAX}, the longest simulation",
            gap.node.describe()
        );
        let help = "give a shorter `gap`, fewer `iterations` or fewer sizes";
        gap.problem(&what, help.to_owned());
    }
}

fn read_gap(field: &Field<'_>) -> Option<Time> {
    let gap = field.quantity("a time", &(Time::ZERO..=LATEST))?;
    if gap < GAP_MIN {
        let what = format!(
            "is {}: a barrier takes effect no sooner than the longest window of the engine",
            field.node.describe()
        );
        field.problem(&what, format!("give at least `{GAP_MIN}`"));
        return None;
    }
    Some(gap)
}

fn read_name(field: &Field<'_>) -> Option<String> {
    let name = field.text(64)?;
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        let help = "give it letters or digits, or leave `name` out";
        field.problem("must be a visible name", help.to_owned());
        return None;
    }
    Some(name)
}

fn read_ranks(field: &Field<'_>) -> Option<Ranks> {
    match &field.node.value {
        Value::List(_) => {
            let items = field.items()?;
            let hosts = items
                .iter()
                .map(|item| Some((HostRef::read(item)?, item.at)));
            hosts.collect::<Option<Vec<_>>>().map(Ranks::Hosts)
        }
        _ if field.word() == Some("all") => Some(Ranks::All),
        _ => field.integer(2..=u64::from(u32::MAX)).map(Ranks::Count),
    }
}
impl JobDraft {
    /// Binds the ranks to the hosts of a fabric and asks the collectives whether they can run on
    /// that many, with messages cut as `cut` says.
    fn bind(mut self, names: &HostNames<'_>, cut: Option<MessageCut>) -> Option<Job> {
        let hosts = match &self.ranks {
            Ranks::All => (0..names.count()).collect(),
            Ranks::Count(ranks) => self.first_hosts(*ranks, names)?,
            Ranks::Hosts(list) => listed_hosts(list, names)?,
        };
        self.check_kinds(hosts.len() as u32, names);
        if let Some(cut) = cut {
            self.check_packets(hosts.len() as u32, cut, names);
        }
        self.job.hosts = hosts;
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

    fn first_hosts(&self, ranks: u32, names: &HostNames<'_>) -> Option<Vec<u32>> {
        let hosts = names.count();
        if ranks > hosts {
            let message = format!(
                "{ranks} ranks are bound to {hosts} hosts: the ranks from {hosts} on are unreachable"
            );
            let help = format!("use at most {hosts} ranks, or enlarge the fabric");
            names.problem(self.ranks_at, message, Some(help));
            return None;
        }
        Some((0..ranks).collect())
    }
}

/// The hosts of a list, each once.
fn listed_hosts(list: &[(HostRef, Option<Location>)], names: &HostNames<'_>) -> Option<Vec<u32>> {
    let mut hosts = Vec::new();
    let mut rank_on: BTreeMap<u32, usize> = BTreeMap::new();
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
            if let Some(earlier) = rank_on.insert(hosts[rank], rank) {
                let name = quote(names.name(hosts[rank]));
                let message = format!("host {name} is bound twice, to ranks {earlier} and {rank}");
                let help = "give each rank of a job a host of its own".to_owned();
                names.problem(*at, message, Some(help));
                mistakes += 1;
                // One report per entry is enough, and a long list of the same stretch stays short.
                hosts.truncate(rank + 1);
                break;
            }
        }
    }
    (mistakes == 0).then_some(hosts)
}

/// Binds all jobs; problems are noted for each of them.
pub(crate) fn bind(
    drafts: Vec<JobDraft>,
    names: &HostNames<'_>,
    cut: Option<MessageCut>,
) -> Option<Vec<Job>> {
    let mut seen = BTreeSet::new();
    for draft in &drafts {
        if !seen.insert(draft.job.name.as_str()) {
            let message = format!("two jobs are called {}", quote(&draft.job.name));
            names.problem(draft.name_at, message, Some("rename one of them".into()));
        }
    }
    let (mut jobs, mut ranks, mut complete) = (Vec::new(), 0, true);
    for draft in drafts {
        let at = draft.ranks_at.or(draft.name_at);
        let Some(job) = draft.bind(names, cut) else {
            complete = false;
            continue;
        };
        ranks += u64::from(job.ranks());
        if ranks > RANKS_MAX {
            let message = format!("the jobs have more than {RANKS_MAX} ranks together");
            names.problem(at, message, Some("use fewer jobs, or fewer ranks".into()));
            return None;
        }
        jobs.push(job);
    }
    complete.then_some(jobs)
}
