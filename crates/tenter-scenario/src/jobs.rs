//! The `jobs` section: who takes part and what they run.

mod bind;
mod flows;
mod pattern;
mod start;
mod workload;
mod workload_pattern;

use tenter_units::Time;
use tenter_workload::placement::Placement;
use tenter_workload::{Job, QueuePairScope};

use crate::collectives::{self, Collectives, Entry};
use crate::hosts::HostRef;
use flows::FlowDraft;
use pattern::PatternDraft;
use start::Awaited;
use tenter_config::Presence::{Default, Depends};
use tenter_config::{KeyTable, key};
use tenter_notation::decode::{Field, Read, Section};
use tenter_notation::diagnostics::Location;
use tenter_notation::tree::{Node, Value};
use tenter_plan::{SIMULATED_MAX, WINDOW_MAX};
use workload::{Instead, WorkloadDraft};

pub(crate) use bind::bind;

const JOB: KeyTable = KeyTable {
    title: "`jobs[]`",
    keys: &[
        key("name", "text", Depends("`job0`, `job1`, …"), "Its name in every table; no two jobs share one"),
        key(
            "copies",
            "count",
            Default("1"),
            "How many equal jobs this stands for; with more than one their names end with `-1`, `-2`, …, and where `ranks` lists no hosts each has hosts of its own, as with `free_hosts`",
        ),
        key(
            "ranks",
            "`all`, a count, or a list of hosts",
            Default("all"),
            "Where the ranks run: rank r on host r, or on the r-th host of a list of names, numbers and stretches (`[host3, 7, 16-23]`). With `npus_per_nic` NPUs behind each host, that number of ranks follow each other there, and a list may name a host that often",
        ),
        key(
            "placement",
            "`packed`, `random`, `random-groups`, `random-leaves` or `round-robin`",
            Default("packed"),
            "Which hosts `all` and a count take, and in which order: the first ones, any at random, groups of hosts or whole leaves at random, or one below each leaf in turn",
        ),
        key(
            "group_size",
            "count",
            Depends("`8` with `random-groups`"),
            "Hosts of a group, or NPUs where several share a NIC, counted from the first; ranks fill one group after the other",
        )
        .from("usual servers"),
        key(
            "free_hosts",
            "`true` or `false`",
            Default("false"),
            "Whether `all` and a count mean hosts (or NPUs, where several share a NIC) that no job listed before this one uses; otherwise jobs may share hosts, and then share their ports",
        ),
        key(
            "collectives",
            "list",
            Depends("this, `flows`, `workload` or `pattern`"),
            "What it runs, one after the other with a barrier in between",
        ),
        key(
            "flows",
            "list",
            Depends("this or `collectives`"),
            "Streams of a background job between hosts that never end, as a traffic generator sends them; its ranks are these hosts",
        ),
        key(
            "workload",
            "mapping",
            Depends("this or `collectives`"),
            "Flows with sizes by a distribution, a number at a time between two hosts, or at random times; its ranks are the hosts named there, unless it follows a pattern",
        ),
        key(
            "pattern",
            "mapping",
            Depends("this or `collectives`"),
            "Steps of a parallel application: computing, then messages between neighbours and sums over ranks",
        ),
        key(
            "background",
            "`true` or `false`",
            Default("false"),
            "Whether the job is load for the others: it is not judged, repeats its list for as long as any other job runs, and is cut off then",
        ),
        key("iterations", "count", Default("1"), "How often the whole list is run and judged"),
        key("warm_up", "count, may be 0", Default("0"), "How often it is run before that without being judged"),
        key(
            "start",
            "time or mapping",
            Default("0ns"),
            "When it starts, with what it computes before its first collective: a time, or `{after: JOB, delay: 10us}`, a time after the end of another job",
        ),
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
            "class",
            "`nic`, or 0 to 7",
            Default("nic"),
            "The class of its data packets; `nic` is that of the sender's `dscp`. Acknowledgements have the class of the NIC that sends them",
        ),
        key(
            "queue_pair_scope",
            "`rank-pair` or `chunk`",
            Default("rank-pair"),
            "Whether the QPs of a rank pair carry all its transfers (of one ring or tree, where an algorithm has two), or each data chunk has its own on each hop",
        ),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 7] = [
    &JOB,
    &start::START,
    &flows::FLOW,
    &workload::WORKLOAD,
    &workload::PAIR,
    &workload::POINT,
    &pattern::PATTERN,
];

/// More jobs than a scheduler has on one fabric.
pub(crate) const JOBS_MAX: usize = 10_000;
/// No window of the engine is longer than the shortest gap; a shorter one than this would cost
/// speed and describes no machine.
pub(crate) const GAP_MIN: Time = WINDOW_MAX;
/// A thousand seconds are far beyond what anyone simulates packet by packet.
const LATEST: Time = Time::from_us(1_000_000_000);

/// The NPUs of usual servers.
const GROUP_SIZE: u32 = 8;

/// A job, read; its hosts are still as they were written.
pub(crate) struct JobDraft {
    job: Job,
    name_at: Option<Location>,
    ranks: Ranks,
    ranks_at: Option<Location>,
    spread: Spread,
    entries: Vec<Entry>,
    flows: Vec<FlowDraft>,
    workload: Option<WorkloadDraft>,
    pattern: Option<PatternDraft>,
    after: Option<Awaited>,
}

/// Which hosts a job takes where it does not list them.
#[derive(Clone, Copy)]
struct Spread {
    placement: Placement,
    free_hosts: bool,
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
    let (name, name_at) = read_own_name(&mut section, index);
    let of_job = (seed, name.as_deref().unwrap_or_default());
    let (instead, workload) = read_workload(&mut section, of_job);
    let has_workload = instead.is_some();
    let endless = section.has("flows");
    if endless {
        flows::refuse_ranks(&mut section);
    }
    let ranks_field = section.take("ranks");
    let ranks_at = ranks_field.as_ref().and_then(|field| field.at);
    let ranks = ranks_field.and_then(|field| read_ranks(&field));
    let spread = read_spread(&mut section, ranks.as_ref());
    let background = section.boolean("background");
    let is_load = background == Some(true);
    let (has_pattern, pattern) = read_pattern(&mut section, of_job, is_load);
    let (collectives, flows) = if has_workload || has_pattern {
        (Some(Collectives::default()), Some(Vec::new()))
    } else {
        read_work(&mut section, seed, is_load)
    };
    let (iterations, warm_up) = read_rounds(&mut section, is_load);
    let start = start::read(&mut section);
    let gap_field = section.take("gap");
    let gap = gap_field.as_ref();
    let gap = gap.and_then(|field| read_delay(field, "a barrier"));
    let (queue_pairs, class, queue_pair_scope) = read_queue_pairs(&mut section);
    if endless {
        flows::leave_out(&mut section);
    }
    leave_out(&mut section, instead, has_pattern);
    let node = section.finish();
    let read = || {
        let Collectives { entries, sequence } = collectives?;
        let start = start?;
        let job = Job {
            name: name?,
            hosts: Vec::new(),
            background: background?,
            sequence,
            iterations: iterations?,
            warm_up: warm_up?,
            start: start.time,
            after: None,
            gap: gap?,
            queue_pairs: queue_pairs?,
            class: class?,
            queue_pair_scope: queue_pair_scope?,
        };
        Some(JobDraft {
            job,
            name_at,
            ranks: ranks?,
            ranks_at,
            spread: spread?,
            entries,
            flows: flows?,
            workload: workload?,
            pattern: pattern?,
            after: start.after,
        })
    };
    let draft = read();
    if let (Some(draft), Some(field)) = (&draft, &gap_field) {
        check_last_start(&draft.job, field);
    }
    (draft, node)
}

/// Leaves out of the effective configuration what the job does not have.
fn leave_out(section: &mut Section<'_>, instead: Option<Instead>, has_pattern: bool) {
    if let Some(instead) = instead {
        instead.leave_out(section);
    } else {
        section.drop_key("workload");
    }
    if has_pattern {
        pattern::leave_out(section);
    } else {
        section.drop_key("pattern");
    }
}

/// How many QPs there are, their class, and what they are shared by.
fn read_queue_pairs(
    section: &mut Section<'_>,
) -> (Option<u16>, Read<Option<u8>>, Option<QueuePairScope>) {
    let queue_pairs = section.integer("queue_pairs", 1..=4096);
    let class = section.take("class").and_then(|field| match field.word() {
        Some("nic") => Some(None),
        _ => field.integer(0..=7).map(Some),
    });
    let scopes = [
        ("rank-pair", QueuePairScope::RankPair),
        ("chunk", QueuePairScope::Chunk),
    ];
    let queue_pair_scope = section.choice("queue_pair_scope", &scopes);
    (queue_pairs, class, queue_pair_scope)
}

/// The name of the job of that index, and where to point when it is not the only one.
fn read_own_name(section: &mut Section<'_>, index: usize) -> (Option<String>, Option<Location>) {
    // Copies are jobs by now; what is left is no count.
    let _: Option<u64> = section.integer("copies", 1..=JOBS_MAX as u64);
    section.drop_key("copies");
    let field = section.take("name");
    let at = field.as_ref().and_then(|field| field.at).or(section.at());
    let name = match field {
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
    (name, at)
}

/// What a workload of flows says in place of the job, where it has one, and that.
fn read_workload(
    section: &mut Section<'_>,
    of_job: (u64, &str),
) -> (Option<Instead>, Read<Option<WorkloadDraft>>) {
    if !section.has("workload") {
        return (None, Some(None));
    }
    let Some(field) = section.take("workload") else {
        return (Some(Instead::WhoAndWhat), None);
    };
    let (draft, mut node) = workload::read(field, of_job);
    let instead = Instead::of(&mut node);
    instead.refuse(section);
    section.put("workload", node);
    (Some(instead), draft.map(Some))
}

/// Whether the job is an application, and that.
fn read_pattern(
    section: &mut Section<'_>,
    of_job: (u64, &str),
    background: bool,
) -> (bool, Read<Option<PatternDraft>>) {
    if !section.has("pattern") {
        return (false, Some(None));
    }
    pattern::refuse_keys(section);
    let Some(field) = section.take("pattern") else {
        return (true, None);
    };
    let (draft, node) = pattern::read(field, of_job, background);
    section.put("pattern", node);
    (true, draft.map(Some))
}

/// What the job runs: collectives, or streams.
fn read_work(
    section: &mut Section<'_>,
    seed: u64,
    background: bool,
) -> (Option<Collectives>, Option<Vec<FlowDraft>>) {
    match section.take_either("collectives", "flows") {
        Some(field) if field.path.ends_with("flows") => (
            Some(Collectives::default()),
            flows::read(section, &field, background),
        ),
        Some(field) => {
            let read = collectives::read(section, &field, seed, background);
            (read, Some(Vec::new()))
        }
        None => {
            let help = "add `collectives: [{collective: all-to-all, size: 16MiB}]`, for example";
            section.problem(
                "lacks `collectives`, `flows`, `workload` or `pattern`",
                help.to_owned(),
            );
            (None, None)
        }
    }
}

/// How often the list is run, and how often before that; nothing is to be said of a load.
fn read_rounds(section: &mut Section<'_>, background: bool) -> (Option<u32>, Option<u32>) {
    if !background {
        let iterations = section.integer("iterations", 1..=1_000_000);
        return (iterations, section.integer("warm_up", 0..=1_000_000));
    }
    for name in ["iterations", "warm_up"] {
        if section.has(name)
            && let Some(field) = section.take(name)
        {
            let help = "leave it out: the list is repeated for as long as other jobs run";
            field.problem("has no effect in the background", help.to_owned());
        }
        section.drop_key(name);
    }
    (Some(1), Some(0))
}

/// How many collectives a job has whose last one could not start in time even if none took any.
fn starts_too_late(job: &Job) -> Option<u64> {
    let turns = job.turns()?;
    let gaps = u128::from(turns.saturating_sub(1)) * u128::from(job.gap.ps());
    let compute = job.sequence.iter().map(|run| run.compute);
    let compute = compute.map(|compute| u128::from(compute.mean.ps() + compute.spread.ps()));
    let rounds = u128::from(job.warm_up) + u128::from(job.iterations);
    let computing = compute.sum::<u128>() * rounds;
    let last = u128::from(job.start.ps()) + gaps + computing;
    (last > u128::from(SIMULATED_MAX.ps())).then_some(turns)
}

/// Refuses a job whose last collective could not start in time even if none took any.
fn check_last_start(job: &Job, gap: &Field<'_>) {
    if let Some(turns) = starts_too_late(job) {
        let what = format!(
            "is {}, which puts the last of {turns} collectives beyond {SIMULATED_MAX}, the longest simulation",
            gap.node.describe()
        );
        let help = "give a shorter `gap` or `compute`, fewer `iterations` or fewer sizes";
        gap.problem(&what, help.to_owned());
    }
}

/// How long after what the whole network has to be told of something starts.
fn read_delay(field: &Field<'_>, cause: &str) -> Option<Time> {
    let delay = field.quantity("a time", &(Time::ZERO..=LATEST))?;
    if delay < GAP_MIN {
        let what = format!(
            "is {}: {cause} takes effect no sooner than the longest window of the engine",
            field.node.describe()
        );
        field.problem(&what, format!("give at least `{GAP_MIN}`"));
        return None;
    }
    Some(delay)
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

/// Which hosts a job takes where it does not list them; a list leaves nothing to choose.
fn read_spread(section: &mut Section<'_>, ranks: Option<&Ranks>) -> Option<Spread> {
    if matches!(ranks, Some(Ranks::Hosts(_))) {
        for name in ["placement", "group_size", "free_hosts"] {
            if section.has(name)
                && let Some(field) = section.take(name)
            {
                let help = "leave it out, or give `ranks` as a count";
                field.problem("chooses hosts, and `ranks` lists them", help.to_owned());
            }
            section.drop_key(name);
        }
        return Some(Spread {
            placement: Placement::Packed,
            free_hosts: false,
        });
    }
    let choices = [
        ("packed", Placement::Packed),
        ("random", Placement::Random),
        ("random-groups", Placement::RandomGroups(GROUP_SIZE)),
        ("random-leaves", Placement::RandomLeaves),
        ("round-robin", Placement::RoundRobin),
    ];
    let mut placement = section.choice("placement", &choices);
    if let Some(field) = section.take("group_size") {
        let size = field.integer(1..=u64::from(u32::MAX));
        match &mut placement {
            Some(Placement::RandomGroups(own)) => *own = size?,
            Some(_) => {
                let help = "leave it out, or give `placement: random-groups`";
                field.problem("has no effect without groups", help.to_owned());
            }
            None => {}
        }
    }
    Some(Spread {
        placement: placement?,
        free_hosts: section.boolean("free_hosts")?,
    })
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
