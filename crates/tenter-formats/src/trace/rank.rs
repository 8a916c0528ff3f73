//! One rank's trace, and its execution order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use tenter_language::units::Time;
use tenter_workload::graph::{CollectiveName, Measured};
use tenter_workload::spec::Dependencies;

/// The content of a trace operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// An operation without duration, for which others may wait.
    Nothing,
    /// Computing, or anything else that takes its recorded time.
    Compute(Time),
    /// Idle time, such as a gap in a recording.
    Wait(Time),
    /// A message that the rank sends to `peer`.
    Send { peer: u32, bytes: u64, tag: u32 },
    /// A message that the rank receives from `peer`.
    Receive { peer: u32, bytes: u64, tag: u32 },
    /// A collective; `bytes` is a rank's own part.
    Collective {
        name: CollectiveName,
        bytes: u64,
        group: u32,
    },
}

/// An operation of a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceNode {
    /// Number in the file, by which others refer to it.
    pub(crate) id: u64,
    pub(crate) what: What,
    pub(crate) stream: u32,
    /// CUDA stream in the recording, if the trace has it.
    pub(crate) recorded: Option<u32>,
    /// Time of execution in the recording.
    pub(crate) measured: Option<Measured>,
    /// Ranges in the rank's lists of dependencies, by data and by control.
    data: (u32, u32),
    control: (u32, u32),
}

/// Operations on one rank. An operation's dependencies are added before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankTrace {
    pub(crate) nodes: Vec<TraceNode>,
    data: Vec<u64>,
    control: Vec<u64>,
    /// Beginning of the next operation's dependencies in both lists.
    next: (u32, u32),
    measured: Option<Measured>,
}

/// Dependencies between operations, by place.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// The waiting operation, and the one that it waits for.
    pub(crate) list: Vec<(u32, u32)>,
    /// Dependencies on numbers that the trace does not have.
    pub(crate) missing: u64,
    /// Operations that were left out because an earlier one has their number.
    pub(crate) repeated: u64,
}

/// Numbers of operations that wait for each other in a circle.
#[derive(Debug)]
pub(crate) struct Circle(pub(crate) Vec<u64>);

impl RankTrace {
    /// Adds a data dependency to the next operation.
    pub(crate) fn waits_for(&mut self, id: u64) {
        self.data.push(id);
    }

    /// Adds a control dependency to the next operation: `id` called it.
    pub(crate) fn called_by(&mut self, id: u64) {
        self.control.push(id);
    }

    /// Sets the recorded time of the next operation: its start in ps, if known, and its duration.
    pub(crate) fn was_measured(&mut self, start: Option<u64>, took: Time) {
        let start = start.map(Time::from_ps);
        self.measured = Some(Measured { start, took });
    }

    /// Converts starts from `unit` ps since any origin to ps since the first start. Readers store
    /// raw starts, because times since 1970 exceed 64 bits in ps. Returns the number of starts that
    /// are too late for that, which are dropped.
    pub(crate) fn count_starts_from_first(&mut self, unit: u64) -> u64 {
        let starts = self.nodes.iter().filter_map(|node| node.measured?.start);
        // Raw starts are stored in the type for ps, whatever their unit.
        let first = starts.min().unwrap_or_default();
        let mut too_late = 0;
        let measured = self.nodes.iter_mut();
        for measured in measured.filter_map(|node| node.measured.as_mut()) {
            let since = measured.start.map(|start| start.ps() - first.ps());
            let in_ps = since.and_then(|since| since.checked_mul(unit));
            too_late += u64::from(since.is_some() && in_ps.is_none());
            measured.start = in_ps.map(Time::from_ps);
        }
        too_late
    }

    /// Adds an operation with the dependencies and the time that were set for it.
    pub(crate) fn add(&mut self, id: u64, what: What, stream: u32, recorded: Option<u32>) {
        let ends = (self.data.len() as u32, self.control.len() as u32);
        self.nodes.push(TraceNode {
            id,
            what,
            stream,
            recorded,
            measured: self.measured.take(),
            data: (self.next.0, ends.0),
            control: (self.next.1, ends.1),
        });
        self.next = ends;
    }

    /// Sorts the operations into an order in which ranks issue them, and returns the dependencies.
    ///
    /// Operations keep the order of their numbers if none waits for a higher one. Otherwise each
    /// comes behind its dependencies, by data and control if these have no circle. Among operations
    /// that are free, the one with the earlier recorded start comes first, then the one with the
    /// lower number.
    ///
    /// # Errors
    /// Operations that wait for each other in a circle.
    pub(crate) fn put_in_order(&mut self, dependencies: Dependencies) -> Result<Waits, Circle> {
        let before = self.nodes.len();
        self.nodes.sort_by_key(|node| node.id);
        // The sort is stable, so the operation that stays is the first one in the file.
        self.nodes.dedup_by_key(|node| node.id);
        let has_control = dependencies == Dependencies::DataAndControl;
        let mut waits = self.waits(has_control);
        waits.repeated = (before - self.nodes.len()) as u64;
        if waits.list.iter().any(|&(place, other)| other >= place) {
            let order = if has_control {
                self.order(&waits.list)?
            // Callers come before callees even if only data counts, as far as the two do not
            // contradict.
            } else {
                let of_both = self.order(&self.waits(true).list);
                of_both.or_else(|_| self.order(&waits.list))?
            };
            self.permute(&order, &mut waits.list);
        }
        if dependencies == Dependencies::StreamOrder {
            let mut last: BTreeMap<u32, u32> = BTreeMap::new();
            for (place, node) in (0..).zip(&self.nodes) {
                if let Some(recorded) = node.recorded {
                    let before = last.insert(recorded, place);
                    waits.list.extend(before.map(|before| (place, before)));
                }
            }
        }
        Ok(waits)
    }

    /// Returns the place of operation `id`, while operations are sorted by number.
    fn place(&self, id: u64) -> Option<u32> {
        let first = self.nodes.first()?.id;
        // Numbers often have no gaps, so the place can be computed.
        let guess = id.checked_sub(first)? as usize;
        if self.nodes.get(guess).is_some_and(|node| node.id == id) {
            return Some(guess as u32);
        }
        let found = self.nodes.binary_search_by_key(&id, |node| node.id);
        found.ok().map(|place| place as u32)
    }

    /// Resolves the dependencies by data, and by control if `has_control` is set.
    fn waits(&self, has_control: bool) -> Waits {
        let mut waits = Waits {
            list: Vec::with_capacity(self.data.len()),
            ..Waits::default()
        };
        for (place, node) in (0..).zip(&self.nodes) {
            let of_data = between(&self.data, node.data);
            let of_control = if has_control {
                between(&self.control, node.control)
            } else {
                &[]
            };
            for &id in of_data.iter().chain(of_control) {
                match self.place(id) {
                    Some(other) => waits.list.push((place, other)),
                    None => waits.missing += 1,
                }
            }
        }
        waits
    }

    /// Returns places in an order in which each comes behind its dependencies.
    fn order(&self, waits: &[(u32, u32)]) -> Result<Vec<u32>, Circle> {
        let count = self.nodes.len();
        // Followers are grouped by the operation that they wait for in one flat list: `ends` has
        // the end of each group.
        let mut open = vec![0_u32; count];
        let mut ends = vec![0_u32; count + 1];
        for &(place, other) in waits {
            open[place as usize] += 1;
            ends[other as usize + 1] += 1;
        }
        for place in 0..count {
            ends[place + 1] += ends[place];
        }
        let mut followers = vec![0_u32; waits.len()];
        let mut next = ends.clone();
        for &(place, other) in waits {
            let slot = &mut next[other as usize];
            followers[*slot as usize] = place;
            *slot += 1;
        }
        // Operations without a recorded start come before those with one.
        let key = |place: u32| {
            let start = self.nodes[place as usize].measured.and_then(|of| of.start);
            Reverse((start, place))
        };
        let free = (0..count as u32).filter(|&place| open[place as usize] == 0);
        // A heap, so that the order depends on starts and numbers alone.
        let mut free: BinaryHeap<_> = free.map(key).collect();
        let mut order = Vec::with_capacity(count);
        while let Some(Reverse((_, place))) = free.pop() {
            order.push(place);
            let [from, to] = [place, place + 1].map(|of| ends[of as usize] as usize);
            for &follower in &followers[from..to] {
                open[follower as usize] -= 1;
                if open[follower as usize] == 0 {
                    free.push(key(follower));
                }
            }
        }
        if order.len() == count {
            return Ok(order);
        }
        Err(self.circle(waits, &open))
    }

    /// Finds a circle among the operations that never become free.
    fn circle(&self, waits: &[(u32, u32)], open: &[u32]) -> Circle {
        // Each stuck operation waits for another stuck one, so a path along these returns to
        // itself.
        let is_stuck = |place: u32| open[place as usize] > 0;
        let mut waits_for: Vec<Option<u32>> = vec![None; open.len()];
        for &(place, other) in waits.iter().filter(|of| is_stuck(of.1)) {
            waits_for[place as usize].get_or_insert(other);
        }
        let mut visited: BTreeMap<u32, usize> = BTreeMap::new();
        let mut path: Vec<u32> = Vec::new();
        let mut at = (0..open.len() as u32).find(|&place| is_stuck(place));
        while let Some(place) = at {
            if let Some(&begin) = visited.get(&place) {
                path.drain(..begin);
                break;
            }
            visited.insert(place, path.len());
            path.push(place);
            at = waits_for[place as usize];
        }
        Circle(
            path.iter()
                .map(|&place| self.nodes[place as usize].id)
                .collect(),
        )
    }

    /// Sorts operations by `order`, a list of former places, and adapts the dependencies.
    fn permute(&mut self, order: &[u32], waits: &mut [(u32, u32)]) {
        let mut place_of = vec![0_u32; order.len()];
        for (place, &before) in (0..).zip(order) {
            place_of[before as usize] = place;
        }
        for (place, other) in waits {
            *place = place_of[*place as usize];
            *other = place_of[*other as usize];
        }
        self.nodes = order
            .iter()
            .map(|&before| self.nodes[before as usize])
            .collect();
    }
}

/// Returns a range of a list.
fn between(list: &[u64], ends: (u32, u32)) -> &[u64] {
    let (from, to) = ends;
    &list[from as usize..to as usize]
}
