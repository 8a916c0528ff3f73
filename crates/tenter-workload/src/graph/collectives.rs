//! A graph's collectives: rank groups, and the collectives that each group runs in order.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::GraphError;
use crate::collective::{CollectiveKind, InDomain, NPUS_KEY};
use crate::site::{Instead, Misfit, Site};
use crate::{Destination, QueuePairScope, Schedule, Transfer};

/// Ranks that run collectives together. A rank's number in the group is its index in `ranks`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    ranks: Vec<u32>,
    /// Rank and its number in the group, ascending by rank.
    numbers: Vec<(u32, u32)>,
}

impl Group {
    fn new(ranks: Vec<u32>) -> Group {
        let mut numbers: Vec<(u32, u32)> = ranks.iter().copied().zip(0..).collect();
        numbers.sort_unstable();
        Group { ranks, numbers }
    }

    fn number(&self, rank: u32) -> Option<u32> {
        let place = self.numbers.binary_search_by_key(&rank, |&(rank, _)| rank);
        place.ok().map(|place| self.numbers[place].1)
    }
}

/// One collective that a group runs.
#[derive(Clone, Debug, PartialEq)]
struct Collective {
    group: u32,
    /// Position among the group's collectives, from 0.
    nth: u32,
    kind: u32,
    bytes: u64,
}

/// A kind is looked for among this many of the latest kinds. Traces alternate among a few, and a
/// longer search would be quadratic if each collective had its own kind.
const KINDS_KEPT: usize = 64;

/// A graph's groups and their collectives. Each group runs its own in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collectives {
    groups: Vec<Group>,
    /// Algorithms with their parameters. Millions of collectives may share a few.
    kinds: Vec<CollectiveKind>,
    list: Vec<Collective>,
    /// Collective numbers by group and position.
    of_group: BTreeMap<(u32, u32), u32>,
}

impl Collectives {
    /// Adds a group with `ranks` in the order that numbers them, and returns the group's number.
    ///
    /// # Errors
    /// A rank that is listed twice.
    pub fn add_group(&mut self, ranks: Vec<u32>) -> Result<u32, GraphError> {
        let group = Group::new(ranks);
        let twice = group.numbers.windows(2).find(|two| two[0].0 == two[1].0);
        if let Some(two) = twice {
            return Err(GraphError::TwiceInGroup { rank: two[0].0 });
        }
        self.groups.push(group);
        Ok(self.groups.len() as u32 - 1)
    }

    /// Returns the group count; groups are numbered from 0.
    pub fn groups(&self) -> u32 {
        self.groups.len() as u32
    }

    /// Returns a group's ranks, in the order that numbers them.
    pub fn ranks_of(&self, group: u32) -> &[u32] {
        &self.groups[group as usize].ranks
    }

    /// Adds the `nth` collective, from 0, that `rank` runs in `group`, and returns the collective's
    /// number. The group's first rank defines the collective; further ranks must run the same one.
    ///
    /// # Errors
    /// A kind or size that differs from what other ranks in the group run, and a rank outside the
    /// group.
    pub fn add(
        &mut self,
        group: u32,
        nth: u32,
        rank: u32,
        kind: &CollectiveKind,
        bytes: u64,
    ) -> Result<u32, GraphError> {
        if self.groups[group as usize].number(rank).is_none() {
            return Err(GraphError::NotInGroup { rank, group });
        }
        // The next number is taken only if no rank of the group has been here before.
        let next = self.list.len() as u32;
        let number = *self.of_group.entry((group, nth)).or_insert(next);
        if number == next {
            let kind = self.place_of(kind);
            self.list.push(Collective {
                group,
                nth,
                kind,
                bytes,
            });
            return Ok(number);
        }
        // The first rank has defined the collective: this one must agree with it.
        let (_, first, of_first) = self.get(number);
        if (first, of_first) == (kind, bytes) {
            return Ok(number);
        }
        Err(GraphError::CollectivesDiffer {
            rank,
            group,
            nth,
            own: format!("{} of {bytes} bytes", kind.member()),
            other: format!("{} of {of_first} bytes", first.member()),
        })
    }

    /// Returns the index for `kind`, which is added unless it is among the latest `KINDS_KEPT`.
    fn place_of(&mut self, kind: &CollectiveKind) -> u32 {
        let last = self.kinds.iter().enumerate().rev().take(KINDS_KEPT);
        let known = last.into_iter().find(|(_, known)| *known == kind);
        let place = known.map_or(self.kinds.len(), |(place, _)| place);
        if place == self.kinds.len() {
            self.kinds.push(kind.clone());
        }
        place as u32
    }

    /// Fits the collectives to their groups' hosts. `site_of` says, from the ranks and the kind,
    /// how a group lies on its hosts. Collectives that cannot run there fall back to their usual
    /// algorithm, which is counted with the reason. Returns `None` if no collective depends on
    /// hosts.
    ///
    /// # Errors
    /// A collective that does not suit its site and has no fallback.
    pub(super) fn at(&self, site_of: &SiteOf<'_>) -> Result<Option<Fitted>, Misfit> {
        let depends = |kind: &CollectiveKind| kind.has_key(NPUS_KEY) || InDomain::covers(kind);
        if !self.kinds.iter().any(depends) {
            return Ok(None);
        }
        // Kinds are collected anew: one kind may fit the hosts of two groups differently.
        let mut fitted = Collectives {
            kinds: Vec::new(),
            ..self.clone()
        };
        // Collectives with equal kind and group fit alike, and a graph may have millions of them.
        let mut known: BTreeMap<(u32, u32), (u32, Option<Instead>)> = BTreeMap::new();
        let mut instead: BTreeMap<(String, Instead), u64> = BTreeMap::new();
        for (number, of) in self.list.iter().enumerate() {
            let kind = &self.kinds[of.kind as usize];
            let key = (of.kind, of.group);
            let (place, why) = if let Some(found) = known.get(&key) {
                *found
            } else {
                let ranks = self.ranks_of(of.group);
                let sited = site_of(ranks, kind).fit(kind, ranks.len() as u32)?;
                let found = (fitted.place_of(&sited.kind), sited.instead);
                known.insert(key, found);
                found
            };
            fitted.list[number].kind = place;
            if let Some(why) = why {
                let usual = fitted.kinds[place as usize].member().to_string();
                *instead.entry((usual, why)).or_default() += 1;
            }
        }
        Ok(Some(Fitted {
            collectives: fitted,
            instead,
        }))
    }

    /// Counts the collectives of all groups.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns true if there is no collective.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns collective `number`: its group, its kind, and its size in bytes.
    pub fn get(&self, number: u32) -> (u32, &CollectiveKind, u64) {
        let of = &self.list[number as usize];
        (of.group, &self.kinds[of.kind as usize], of.bytes)
    }

    /// Returns the position of collective `number` in its group, from 0.
    pub fn nth_of(&self, number: u32) -> u32 {
        self.list[number as usize].nth
    }
}

/// Function that returns the site for a group's ranks and a collective.
pub(crate) type SiteOf<'s> = dyn Fn(&[u32], &CollectiveKind) -> Site + 's;

/// Collectives fitted to their groups' hosts.
pub(super) struct Fitted {
    pub(super) collectives: Collectives,
    /// Count of collectives that fell back, by usual algorithm and reason.
    pub(super) instead: BTreeMap<(String, Instead), u64>,
}

/// A rank's queue pair to another rank within a collective: its transfers arrive in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InnerWay {
    to: Destination,
    /// Transfers on it in each collective that belongs to the line.
    count: u32,
}

/// Collectives in one group that share queue pairs. All of them have the same transfer count on
/// each queue pair, so the n-th transfer there is found by division.
#[derive(Debug)]
struct Line {
    group: u32,
    kind: CollectiveKind,
    /// Size in bytes, if transfer counts on queue pairs depend on it; `None` if they do not.
    bytes: Option<u64>,
    /// The line's first lane; a schedule's own lanes and channels count from it.
    lane: u32,
    /// Collective numbers, in the order in which the group runs them.
    numbers: Vec<u32>,
    /// Queue pairs by the rank's number in the group, ascending for each rank.
    ways: Vec<Vec<InnerWay>>,
}

/// One rank's transfer counts in a collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) receives: u32,
    pub(super) sends: u32,
}

/// A collective with its schedule and its transfers' numbers.
struct Running {
    schedule: Arc<dyn Schedule>,
    shares: Arc<[Share]>,
    line: usize,
    /// Number of its first transfer in the graph.
    base: u32,
}

/// A graph's collectives with their transfers, which are numbered behind messages and handshakes.
pub(super) struct CollectiveTransfers {
    collectives: Arc<Collectives>,
    running: Vec<Running>,
    lines: Vec<Line>,
    end: u32,
}

impl std::fmt::Debug for CollectiveTransfers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CollectiveTransfers")
            .field("lines", &self.lines)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl CollectiveTransfers {
    /// Numbers all collectives' transfers from `first` on, and their lanes from `lane` on.
    ///
    /// # Errors
    /// The errors of [`CollectiveKind::schedule`], and more transfers than can be numbered.
    pub(super) fn new(
        collectives: &Arc<Collectives>,
        first: u32,
        lane: u32,
    ) -> Result<CollectiveTransfers, GraphError> {
        let mut built = Builder {
            collectives,
            lane,
            known: BTreeMap::new(),
            lines: Vec::new(),
        };
        let (mut running, mut base) = (Vec::new(), first);
        for number in 0..collectives.len() as u32 {
            let one = built.add(number, base)?;
            let count = one.schedule.transfer_count();
            base = base
                .checked_add(count)
                .ok_or(GraphError::TooManyTransfers)?;
            running.push(one);
        }
        Ok(CollectiveTransfers {
            lines: built.lines,
            collectives: Arc::clone(collectives),
            running,
            end: base,
        })
    }

    /// Returns the number after the last transfer.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// Returns the collective to which a transfer belongs, and the transfer's number within it.
    pub(super) fn locate(&self, transfer: u32) -> (u32, u32) {
        // Bases ascend, so the last one up to `transfer` belongs to its collective.
        let next = self.running.partition_point(|one| one.base <= transfer);
        let number = next as u32 - 1;
        (number, transfer - self.running[number as usize].base)
    }

    /// Returns a collective's schedule and its first transfer's number.
    pub(super) fn schedule(&self, number: u32) -> (&dyn Schedule, u32) {
        let one = &self.running[number as usize];
        (&*one.schedule, one.base)
    }

    /// Counts the transfers that `rank` sends and receives in a collective.
    pub(super) fn share(&self, number: u32, rank: u32) -> Share {
        let number_in_group = self.number_in_group(number, rank);
        self.running[number as usize].shares[number_in_group as usize]
    }

    /// Returns the number of `rank` in the group that runs a collective; 0 if it takes no part.
    pub(super) fn number_in_group(&self, number: u32, rank: u32) -> u32 {
        let (group, _, _) = self.collectives.get(number);
        let found = self.collectives.groups[group as usize].number(rank);
        // Callers are members: [`Collectives::add`] refuses other ranks.
        found.unwrap_or(0)
    }

    /// Returns a transfer with the job's ranks in place of the group's.
    pub(super) fn transfer(&self, id: u32) -> Transfer {
        let (number, local) = self.locate(id);
        let one = &self.running[number as usize];
        let line = &self.lines[one.line];
        let inner = one.schedule.transfer(local);
        let ranks = self.collectives.ranks_of(line.group);
        Transfer {
            src: ranks[inner.src as usize],
            dst: ranks[inner.dst as usize],
            channel: line.lane + inner.channel,
            ..inner
        }
    }

    /// Appends a rank's destinations, unsorted.
    pub(super) fn pairs(&self, rank: u32, out: &mut Vec<Destination>) {
        for line in &self.lines {
            let group = &self.collectives.groups[line.group as usize];
            let Some(number) = group.number(rank) else {
                continue;
            };
            out.extend(line.ways[number as usize].iter().map(|way| Destination {
                dst: group.ranks[way.to.dst as usize],
                lane: line.lane + way.to.lane,
            }));
        }
    }

    /// Returns the `nth` transfer from `src` on a queue pair, across all collectives that share it.
    pub(super) fn nth(&self, src: u32, to: Destination, nth: u32) -> Option<u32> {
        // Lines are in the order of their first lanes.
        let next = self.lines.partition_point(|line| line.lane <= to.lane);
        let line = &self.lines[next.checked_sub(1)?];
        let group = &self.collectives.groups[line.group as usize];
        let (src, dst) = (group.number(src)?, group.number(to.dst)?);
        let lane = to.lane - line.lane;
        let inner = Destination { dst, lane };
        let ways = &line.ways[src as usize];
        let way = ways.binary_search_by_key(&inner, |way| way.to).ok()?;
        let count = ways[way].count;
        // Each collective of the line has `count` transfers on this pair.
        let one = *line.numbers.get((nth / count) as usize)?;
        let one = &self.running[one as usize];
        let local = one
            .schedule
            .nth(src, inner, QueuePairScope::RankPair, nth % count)?;
        Some(one.base + local)
    }
}

/// A schedule shared by collectives with equal kind, rank count and size.
struct Known {
    kind: CollectiveKind,
    schedule: Arc<dyn Schedule>,
    shares: Arc<[Share]>,
}

struct Builder<'c> {
    collectives: &'c Collectives,
    /// Lane at which the next line begins.
    lane: u32,
    /// Schedules by rank count and bytes; kinds have no order, so they cannot be keys.
    known: BTreeMap<(u32, u64), Vec<Known>>,
    lines: Vec<Line>,
}

impl Builder<'_> {
    fn add(&mut self, number: u32, base: u32) -> Result<Running, GraphError> {
        let (group, kind, bytes) = self.collectives.get(number);
        let ranks = self.collectives.ranks_of(group).len() as u32;
        let alike = self.known.entry((ranks, bytes)).or_default();
        let known = alike.iter().position(|of| of.kind == *kind);
        let place = known.unwrap_or(alike.len());
        if known.is_none() {
            let schedule: Arc<dyn Schedule> = Arc::from(kind.schedule(ranks, bytes)?);
            alike.push(Known {
                shares: shares(&*schedule),
                kind: kind.clone(),
                schedule,
            });
        }
        let (schedule, shares) = (&alike[place].schedule, &alike[place].shares);
        let (schedule, shares) = (Arc::clone(schedule), Arc::clone(shares));
        let line = self.line(group, kind, bytes, &*schedule);
        self.lines[line].numbers.push(number);
        Ok(Running {
            schedule,
            shares,
            line,
            base,
        })
    }

    /// Returns the index of a collective's line, which is added if it is new.
    fn line(
        &mut self,
        group: u32,
        kind: &CollectiveKind,
        bytes: u64,
        schedule: &dyn Schedule,
    ) -> usize {
        let bytes = kind.counts_depend_on_size().then_some(bytes);
        let is_it = |line: &Line| (line.group, line.bytes) == (group, bytes) && line.kind == *kind;
        if let Some(place) = self.lines.iter().position(is_it) {
            return place;
        }
        let ranks = 0..self.collectives.ranks_of(group).len() as u32;
        let ways: Vec<Vec<InnerWay>> = ranks.map(|rank| ways(schedule, rank)).collect();
        // The line reserves as many lanes as its schedule uses, so no other line shares its queue
        // pairs.
        let lanes = ways.iter().flatten().map(|way| way.to.lane + 1).max();
        let lane = self.lane;
        self.lane += lanes.unwrap_or(1);
        self.lines.push(Line {
            group,
            kind: kind.clone(),
            bytes,
            lane,
            numbers: Vec::new(),
            ways,
        });
        self.lines.len() - 1
    }
}

/// Counts the transfers that each rank sends and receives.
fn shares(schedule: &dyn Schedule) -> Arc<[Share]> {
    let mut shares = vec![Share::default(); schedule.ranks() as usize];
    for id in 0..schedule.transfer_count() {
        let transfer = schedule.transfer(id);
        shares[transfer.src as usize].sends += 1;
        shares[transfer.dst as usize].receives += 1;
    }
    shares.into()
}

/// Returns a rank's queue pairs, each with its transfer count. `nth` has an answer for exactly that
/// many, so doubling and bisection find the count.
fn ways(schedule: &dyn Schedule, rank: u32) -> Vec<InnerWay> {
    let mut destinations = Vec::new();
    schedule.pairs(rank, QueuePairScope::RankPair, &mut destinations);
    let count = |to: Destination| {
        let has = |nth: u32| {
            schedule
                .nth(rank, to, QueuePairScope::RankPair, nth)
                .is_some()
        };
        let mut most = 1;
        // The bound keeps the doubling from overflowing.
        while has(most) && most < u32::MAX / 2 {
            most *= 2;
        }
        let (mut least, mut most) = (most / 2, most);
        while most - least > 1 {
            let middle = least + (most - least) / 2;
            if has(middle) {
                least = middle;
            } else {
                most = middle;
            }
        }
        least + 1
    };
    let ways = destinations.into_iter().map(|to| InnerWay {
        to,
        count: count(to),
    });
    ways.collect()
}
