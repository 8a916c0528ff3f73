//! Steps: a collective that the user gives transfer by transfer.
//!
//! Origin: the graph of sends in execution traces (`MLCommons` Chakra), for one collective. A rank
//! sends a step when all steps that it waits for have arrived at the rank.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use tenter_language::config::{Reader, Shape, Value, Written, component};
use tenter_language::units::{Bytes, Time};

use super::algorithm::Collective;
use super::limits::{BYTES, RANKS};
use super::member::{CollectiveMember, Factor};
use crate::closed_form::IdealSwitch;
use crate::of_rank::of_rank;
use crate::{Destination, QueuePairScope, Schedule, Transfer, WorkloadError, split};

component! {
    /// A transfer from one rank to another.
    pub struct StepSpec as "`jobs[].collectives[].steps[]`", derive(Clone, Debug, PartialEq, Eq) {
        /// Index of the rank that sends.
        rank: u32, in 0..=u32::MAX - 1;
        /// The rank that receives, another one.
        peer: u32, in 0..=u32::MAX - 1;
        /// Payload that `rank` sends to `peer`.
        bytes: Bytes, in BYTES;
        /// The steps that must have arrived at `rank` before it sends, by their places in the list,
        /// counted from 0.
        after: Vec<u32> = "[]", in RANKS;
    }
}

component! {
    /// Transfers that are given one by one.
    pub struct Steps as "`jobs[].collectives[]` with `collective: steps` and `algorithm: listed`",
        derive(Clone, Debug, PartialEq) {
        /// A file with a step on each line below `rank,peer,bytes,after`, where `after` has numbers
        /// with spaces between; its path counts from the folder of the scenario.
        file: Option<String> = absent "this or `steps`", in PATH_MAX;
        /// The transfers; each starts when those that it waits for have arrived. They have bytes of
        /// their own, so the collective has no `size`.
        steps: Option<StepList> = absent "this or `file`";
        check has_steps;
    }
}

/// Longest accepted path in bytes.
const PATH_MAX: usize = 4_096;
/// Most steps in a list, more than is practical packet by packet.
const STEPS_MAX: usize = 1 << 18;
/// Most queue pairs that a rank pair may have.
const QUEUE_PAIRS_MAX: u16 = 4_096;
/// Steps that [`follows`] examines before it gives up. The search is a heuristic for sharing
/// channels, so giving up costs a queue pair but never correctness.
const LOOKED_AT_MAX: usize = 64;
/// Earlier channels that a step is compared with before it gets a new one.
const CHANNELS_TRIED: usize = 8;

/// Refuses a mapping without steps; the steps from a `file` have been put into `steps` by now.
fn has_steps(own: &Steps, reader: &mut dyn Reader) -> bool {
    let has = own.steps.is_some();
    if !has {
        let remedy = "add `file: steps.csv`, or `steps: [{rank: 0, peer: 1, bytes: 1MiB}]`";
        reader.refuse_all("lacks `file` or `steps`", remedy);
    }
    has
}

/// By default two ranks send each other 1 MiB.
impl Default for Steps {
    fn default() -> Steps {
        let step = |rank, peer| StepSpec {
            rank,
            peer,
            bytes: Bytes::new(1 << 20),
            after: Vec::new(),
        };
        let both = StepList::new(vec![step(0, 1), step(1, 0)]);
        Steps {
            file: None,
            steps: both.ok(),
        }
    }
}

impl Collective for Steps {
    const MEMBER: CollectiveMember = CollectiveMember {
        collective: "steps",
        algorithm: "listed",
        summary: "ranks send what a list says, each step after others that have arrived",
        model_page: "docs/models/collective-steps.md",
        ranks_max: u32::MAX,
        // The size is what the busiest rank sends or receives, and crosses its port once.
        busbw: Factor::One,
    };

    fn schedule(&self, ranks: u32, _: u64) -> Result<Box<dyn Schedule>, WorkloadError> {
        let table = self.table();
        if table.ranks > ranks {
            let rank = table.ranks - 1;
            return Err(WorkloadError::StepOfNoRank { rank, ranks });
        }
        Ok(Box::new(Listed { ranks, table }))
    }

    /// Takes the longest chain of hops, each c(x) + L, or the busiest port's time for its transfers
    /// plus L.
    fn ideal(&self, switch: &IdealSwitch<'_>) -> Time {
        let table = self.table();
        let mut ports: BTreeMap<(u32, bool), Time> = BTreeMap::new();
        let mut ends: Vec<Time> = Vec::with_capacity(table.transfers.len());
        for of in &table.transfers {
            for end in [(of.src, true), (of.dst, false)] {
                let port = ports.entry(end).or_default();
                *port = port.saturating_add((switch.port_time)(of.bytes));
            }
            let start = of.after.iter().map(|&other| ends[other as usize]).max();
            ends.push(
                start
                    .unwrap_or_default()
                    .saturating_add(switch.hop(of.bytes)),
            );
        }
        let chain = ends.into_iter().max().unwrap_or_default();
        let port = ports.into_values().max().unwrap_or_default();
        chain.max(port.saturating_add(switch.latency))
    }

    fn own_size(&self) -> Option<u64> {
        Some(self.table().busiest_bytes())
    }

    fn more_of_a_way(&self) -> u64 {
        self.table().transfers.len() as u64
    }
}

impl Steps {
    fn table(&self) -> Arc<Table> {
        self.steps
            .as_ref()
            .map(|list| Arc::clone(&list.table))
            .unwrap_or_default()
    }
}

/// A validated list of steps and its graph, both shared because collectives are cloned.
#[derive(Clone, Debug, PartialEq)]
pub struct StepList {
    steps: Arc<Vec<StepSpec>>,
    table: Arc<Table>,
}

/// Reason why a list of steps is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// The list is empty.
    #[error("there is no step; list at least one, for example `{{rank: 0, peer: 1, bytes: 1MiB}}`")]
    Empty,
    /// The list has more than 262,144 steps.
    #[error("there are more than {STEPS_MAX} steps; give fewer and larger ones")]
    TooMany,
    /// A rank sends to itself.
    #[error("rank {rank} sends to itself; name another `peer`")]
    ToItself {
        /// Place in the list, from 0.
        step: usize,
        /// Rank that is both sender and receiver.
        rank: u32,
    },
    /// A step waits for a step that does not exist.
    #[error("there is no step {after}; steps are 0 to {last}")]
    Unknown {
        /// Step that waits, by its place.
        step: usize,
        /// Step that it names in `after`.
        after: u32,
        /// Last step in the list.
        last: usize,
    },
    /// A step waits for one that arrives at another rank, where it cannot be seen.
    #[error(
        "step {after} arrives at rank {arrives_at}, and rank {rank} knows nothing of it; wait for a \
         step whose `peer` is {rank}"
    )]
    Elsewhere {
        /// Step that waits, by its place.
        step: usize,
        /// Step that it waits for.
        after: u32,
        /// Rank at which that step arrives.
        arrives_at: u32,
        /// Rank that waits for it.
        rank: u32,
    },
    /// Steps wait for each other in a circle.
    #[error(
        "step {step} waits for itself, by way of the steps that it waits for; let one of them start without"
    )]
    Circle {
        /// One step in the circle, or behind it.
        step: usize,
    },
}

impl StepError {
    /// Returns the path to the faulty key, below the list's own `key`.
    fn path(&self, key: &str) -> String {
        match self {
            StepError::Empty | StepError::TooMany => key.to_owned(),
            StepError::ToItself { step, .. } => format!("{key}[{step}].peer"),
            StepError::Unknown { step, .. }
            | StepError::Elsewhere { step, .. }
            | StepError::Circle { step } => format!("{key}[{step}].after"),
        }
    }
}

impl StepList {
    /// Validates steps, which are numbered by their places in the list, and builds their graph.
    ///
    /// # Errors
    /// No steps or too many; a rank that sends to itself; a step that waits for a missing one or
    /// for one that arrives at another rank; steps that wait for each other.
    pub fn new(steps: Vec<StepSpec>) -> Result<StepList, StepError> {
        let order = order(&steps)?;
        let table = Arc::new(Table::new(&steps, &order));
        let steps = Arc::new(steps);
        Ok(StepList { steps, table })
    }
}

impl Value for StepList {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Vec::<StepSpec>::shape(())
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<StepList> {
        match StepList::new(Vec::read(reader, key, ())?) {
            Ok(list) => Some(list),
            Err(error) => {
                let text = error.to_string();
                let (what, remedy) = text.rsplit_once("; ").unwrap_or((&text, ""));
                let what = format!("cannot be: {what}");
                reader.refuse(&error.path(key), &what, remedy);
                None
            }
        }
    }

    fn written(&self) -> Written {
        self.steps.written()
    }
}

/// Returns the steps in an order in which each follows all steps that it waits for. Among steps
/// that are ready, the first in the list comes first.
fn order(steps: &[StepSpec]) -> Result<Vec<u32>, StepError> {
    if steps.is_empty() {
        return Err(StepError::Empty);
    }
    if steps.len() > STEPS_MAX {
        return Err(StepError::TooMany);
    }
    let mut waiting = vec![0_u32; steps.len()];
    let mut released: Vec<Vec<u32>> = vec![Vec::new(); steps.len()];
    for (step, of) in steps.iter().enumerate() {
        let rank = of.rank;
        if rank == of.peer {
            return Err(StepError::ToItself { step, rank });
        }
        for &after in &of.after {
            let Some(other) = steps.get(after as usize) else {
                let last = steps.len() - 1;
                return Err(StepError::Unknown { step, after, last });
            };
            if other.peer != rank {
                let arrives_at = other.peer;
                return Err(StepError::Elsewhere {
                    step,
                    after,
                    arrives_at,
                    rank,
                });
            }
            waiting[step] += 1;
            released[after as usize].push(step as u32);
        }
    }
    let ready = (0..).zip(&waiting).filter(|(_, waiting)| **waiting == 0);
    // A heap, because among ready steps the first in the list comes first, however they became
    // ready.
    let mut ready: BinaryHeap<Reverse<u32>> = ready.map(|(step, _)| Reverse(step)).collect();
    let mut order = Vec::with_capacity(steps.len());
    while let Some(Reverse(step)) = ready.pop() {
        order.push(step);
        for &next in &released[step as usize] {
            waiting[next as usize] -= 1;
            if waiting[next as usize] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    match waiting.iter().position(|&waiting| waiting > 0) {
        Some(step) => Err(StepError::Circle { step }),
        None => Ok(order),
    }
}

/// A step as a transfer, with its dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sent {
    src: u32,
    dst: u32,
    bytes: u64,
    /// The step's place in the list.
    place: u32,
    channel: u32,
    /// Length of the longest chain before this step.
    depth: u32,
    /// Transfers that it waits for, in ascending order, each once.
    after: Vec<u32>,
    /// Transfers that wait for it, in ascending order.
    released: Vec<u32>,
}

/// Graph of the steps. Transfer ids number them in an order in which each follows those that it
/// waits for; a transfer's chunk is its place in the list.
#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    /// One more than the highest rank in the list.
    ranks: u32,
    transfers: Vec<Sent>,
    /// (Source, id) of each transfer that waits for nothing, in ascending order.
    initial: Vec<(u32, u32)>,
    /// ((Source, destination, channel), id), in ascending order.
    by_way: Vec<((u32, u32, u32), u32)>,
    /// Each step's transfer id, by the step's place in the list.
    of_place: Vec<u32>,
}

impl Table {
    fn new(steps: &[StepSpec], order: &[u32]) -> Table {
        // Identifiers follow the order in which steps can run, places the order in which the user
        // lists them.
        let mut of_place = vec![0; steps.len()];
        for (&place, id) in order.iter().zip(0_u32..) {
            of_place[place as usize] = id;
        }
        let mut table = Table {
            of_place,
            ..Table::default()
        };
        let mut channels = Channels::default();
        for (&place, id) in order.iter().zip(0_u32..) {
            let step = &steps[place as usize];
            let after = step
                .after
                .iter()
                .map(|&other| table.of_place[other as usize]);
            let mut after: Vec<u32> = after.collect();
            after.sort_unstable();
            // A step may be listed twice as a reason to wait, and counts once.
            after.dedup();
            for &other in &after {
                table.transfers[other as usize].released.push(id);
            }
            let depths = after
                .iter()
                .map(|&other| table.transfers[other as usize].depth + 1);
            let depth = depths.max().unwrap_or(0);
            if after.is_empty() {
                table.initial.push((step.rank, id));
            }
            let (way, bytes) = ((step.rank, step.peer), step.bytes.count());
            let channel = channels.choose(&table.transfers, way, bytes, &after);
            table.by_way.push(((way.0, way.1, channel), id));
            table.ranks = table.ranks.max(step.rank + 1).max(step.peer + 1);
            table.transfers.push(Sent {
                src: step.rank,
                dst: step.peer,
                bytes,
                place,
                channel,
                depth,
                after,
                released: Vec::new(),
            });
        }
        table.initial.sort_unstable();
        table.by_way.sort_unstable();
        table
    }

    /// Returns the most bytes that any rank sends or receives, at least 1.
    fn busiest_bytes(&self) -> u64 {
        let mut ends: BTreeMap<(u32, bool), u64> = BTreeMap::new();
        for of in &self.transfers {
            *ends.entry((of.src, true)).or_default() += of.bytes;
            *ends.entry((of.dst, false)).or_default() += of.bytes;
        }
        ends.into_values().max().unwrap_or(0).max(1)
    }
}

/// Assigns channels. A queue pair keeps its order, so two transfers between the same ranks share a
/// channel only if one becomes ready after the other whatever the network does.
#[derive(Default)]
struct Channels {
    /// Last transfer in each channel, by (source, destination).
    last: BTreeMap<(u32, u32), Vec<u32>>,
}

impl Channels {
    /// Returns the channel for the next transfer, which goes `way` and waits for `after`.
    fn choose(&mut self, sent: &[Sent], way: (u32, u32), bytes: u64, after: &[u32]) -> u32 {
        let id = sent.len() as u32;
        let last = self.last.entry(way).or_default();
        let fits = |&last: &u32| {
            let alike = in_all_pairs(sent[last as usize].bytes) == in_all_pairs(bytes);
            alike && follows(sent, last, after)
        };
        // A step with too many concurrent channels before it gets a new one rather than a long
        // search.
        let channel = last.iter().take(CHANNELS_TRIED).position(fits);
        match channel {
            Some(channel) => last[channel] = id,
            None => last.push(id),
        }
        channel.unwrap_or(last.len() - 1) as u32
    }
}

/// Returns the number of queue pairs that carry a transfer if there are as many as permitted.
/// Transfers in one channel must agree on it: arrivals are counted per queue pair, and a small
/// transfer skips some.
fn in_all_pairs(bytes: u64) -> u16 {
    split::sharers(bytes, QUEUE_PAIRS_MAX)
}

/// Returns true if everything that transfer `first` waits for has arrived once all of `after`
/// (ascending) have: each is among `after`, or arrives before one of them. May return false where
/// the proof is too long.
fn follows(sent: &[Sent], first: u32, after: &[u32]) -> bool {
    let waited = &sent[first as usize].after;
    let mut missing: Vec<u32> = waited
        .iter()
        .copied()
        .filter(|of| after.binary_search(of).is_err())
        .take(LOOKED_AT_MAX + 1)
        .collect();
    let mut seen: Vec<u32> = after.iter().copied().take(LOOKED_AT_MAX).collect();
    if missing.len() > LOOKED_AT_MAX {
        return false;
    }
    let mut next = 0;
    while next < seen.len() && !missing.is_empty() {
        let of = &sent[seen[next] as usize];
        // Earlier transfers in the same channel arrive before this one, in the order of the queue
        // pair.
        let ahead = |other: u32| {
            let other_sent = &sent[other as usize];
            let way = |of: &Sent| (of.src, of.dst, of.channel);
            other < seen[next] && way(other_sent) == way(of)
        };
        missing.retain(|&other| !ahead(other));
        // So do the transfers that it waited for.
        let room = LOOKED_AT_MAX - seen.len().min(LOOKED_AT_MAX);
        let earlier: Vec<u32> = of.after.iter().copied().take(room).collect();
        missing.retain(|other| of.after.binary_search(other).is_err());
        seen.extend(earlier);
        next += 1;
    }
    missing.is_empty()
}

/// The steps as a schedule over `ranks` ranks, some of which may have no step.
struct Listed {
    ranks: u32,
    table: Arc<Table>,
}

impl Schedule for Listed {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn transfer_count(&self) -> u32 {
        self.table.transfers.len() as u32
    }

    fn transfer(&self, id: u32) -> Transfer {
        let of = &self.table.transfers[id as usize];
        Transfer {
            src: of.src,
            dst: of.dst,
            bytes: of.bytes,
            chunk: of.place,
            channel: of.channel,
            step: of.depth,
            reduce: false,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        let own = of_rank(&self.table.initial, rank, |(src, _)| *src);
        out.extend(own.iter().map(|(_, id)| id));
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        out.extend_from_slice(&self.table.transfers[id as usize].released);
    }

    fn dependencies(&self, id: u32) -> u32 {
        self.table.transfers[id as usize].after.len() as u32
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let own = of_rank(&self.table.by_way, rank, |((src, ..), _)| *src);
        let ways = own.iter().map(|(_, id)| self.transfer(*id).way(scope));
        let start = out.len();
        out.extend(ways);
        let mut found = out.split_off(start);
        found.sort_unstable();
        found.dedup();
        out.append(&mut found);
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let is_meant = |id: &u32| {
            let transfer = self.transfer(*id);
            transfer.src == src && transfer.way(scope) == to
        };
        match scope {
            QueuePairScope::Chunk => {
                let id = self.table.of_place.get(to.lane as usize).copied();
                id.filter(|id| nth == 0 && is_meant(id))
            }
            QueuePairScope::RankPair => {
                let by_way = &self.table.by_way;
                let way = (src, to.dst, to.lane);
                let first = by_way.partition_point(|(of, _)| *of < way);
                let id = by_way.get(first + nth as usize).map(|(_, id)| *id);
                id.filter(is_meant)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(rank: u32, peer: u32, bytes: u64, after: &[u32]) -> StepSpec {
        StepSpec {
            rank,
            peer,
            bytes: Bytes::new(bytes),
            after: after.to_vec(),
        }
    }

    fn list(steps: Vec<StepSpec>) -> Steps {
        Steps {
            file: None,
            steps: StepList::new(steps).ok(),
        }
    }

    /// An all-reduce round a ring, written down: step s of rank r after that of rank r − 1 before.
    fn ring(ranks: u32, bytes: u64) -> Steps {
        let step_of = |number: u32| {
            let (row, rank) = (number / ranks, number % ranks);
            let before = row
                .checked_sub(1)
                .map(|row| row * ranks + (rank + ranks - 1) % ranks);
            let after: Vec<u32> = before.into_iter().collect();
            step(rank, (rank + 1) % ranks, bytes, &after)
        };
        list((0..2 * (ranks - 1) * ranks).map(step_of).collect())
    }

    #[test]
    fn a_ring_that_is_written_down_is_the_ring() {
        use crate::collective::AllReduceRing;
        let written = ring(5, 100).schedule(5, 1).unwrap();
        let built_in = AllReduceRing.schedule(5, 500).unwrap();
        assert_eq!(written.transfer_count(), built_in.transfer_count());
        for id in 0..written.transfer_count() {
            let [one, other] = [&written, &built_in].map(|of| of.transfer(id));
            // One channel: a rank gets what it passes on in order.
            let ends = |of: Transfer| (of.src, of.dst, of.bytes, of.channel, of.step);
            assert_eq!(ends(one), ends(other));
            let released = [&written, &built_in].map(|of| {
                let mut ids = Vec::new();
                of.released_by(id, &mut ids);
                ids
            });
            assert_eq!(released[0], released[1]);
        }
        // 8 rows of 100 bytes from each rank.
        assert_eq!(ring(5, 100).own_size(), Some(800));
    }

    #[test]
    fn what_may_become_ready_in_any_order_has_queue_pairs_of_its_own() {
        // 2 sends to 3 what it gets from 0, and what it gets from 1, whichever comes first.
        let steps = list(vec![
            step(0, 2, 10, &[]),
            step(1, 2, 10, &[]),
            step(2, 3, 10, &[0]),
            step(2, 3, 10, &[1]),
            // Behind both of them.
            step(2, 3, 10, &[0, 1]),
        ]);
        let schedule = steps.schedule(4, 1).unwrap();
        let channels: Vec<u32> = (0..5).map(|id| schedule.transfer(id).channel).collect();
        assert_eq!(channels, [0, 0, 0, 1, 0]);
        let to = |lane| Destination { dst: 3, lane };
        let nth = |lane, nth| schedule.nth(2, to(lane), QueuePairScope::RankPair, nth);
        assert_eq!([nth(0, 0), nth(0, 1), nth(0, 2)], [Some(2), Some(4), None]);
        assert_eq!([nth(1, 0), nth(1, 1)], [Some(3), None]);
    }

    #[test]
    fn steps_may_stand_in_any_order() {
        // The last step of the list comes first.
        let steps = list(vec![step(1, 2, 7, &[1]), step(0, 1, 5, &[])]);
        let schedule = steps.schedule(3, 1).unwrap();
        let sent = [0, 1].map(|id| schedule.transfer(id));
        assert_eq!(
            sent.map(|of| (of.src, of.chunk, of.step)),
            [(0, 1, 0), (1, 0, 1)]
        );
    }

    #[test]
    fn lists_without_sense_are_refused() {
        let refused = |steps: Vec<StepSpec>| {
            let error = StepList::new(steps).expect_err("it makes no sense");
            (error.path("steps"), error.to_string())
        };
        let [circle, elsewhere, unknown, itself] = [
            vec![step(0, 1, 1, &[1]), step(1, 0, 1, &[0])],
            vec![step(0, 1, 1, &[]), step(2, 0, 1, &[0])],
            vec![step(0, 1, 1, &[3])],
            vec![step(4, 4, 1, &[])],
        ]
        .map(refused);
        assert_eq!(circle.0, "steps[0].after");
        assert!(circle.1.contains("waits for itself"), "{}", circle.1);
        assert_eq!(elsewhere.0, "steps[1].after");
        assert!(
            elsewhere.1.contains("arrives at rank 1, and rank 2"),
            "{}",
            elsewhere.1
        );
        assert!(unknown.1.contains("steps are 0 to 0"), "{}", unknown.1);
        assert_eq!(itself.0, "steps[0].peer");
        assert_eq!(refused(Vec::new()).0, "steps");
        let few = list(vec![step(0, 5, 1, &[])]).schedule(4, 1).err().unwrap();
        assert!(few.to_string().contains("rank 5"), "{few}");
    }
}
