//! The collectives of a graph: groups of ranks, and what each runs one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::GraphError;
use crate::collective::{CollectiveKind, NPUS_KEY};
use crate::site::{Instead, Misfit, Site};
use crate::{Destination, QueuePairScope, Schedule, Transfer};

/// Ranks that run collectives together; a rank's number in the group is its place in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    ranks: Vec<u32>,
    /// Each rank with its number in the group, by rank.
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

/// A collective of a group.
#[derive(Clone, Debug, PartialEq)]
struct Collective {
    group: u32,
    /// Which of those of the group, from 0.
    nth: u32,
    /// Its place among the kinds.
    kind: u32,
    bytes: u64,
}

/// A kind is looked for among so many of those that came last.
const KINDS_KEPT: usize = 64;

/// The groups of a graph and their collectives, each in the order in which the group runs them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collectives {
    groups: Vec<Group>,
    /// What carries collectives out: millions of them may share a few.
    kinds: Vec<CollectiveKind>,
    list: Vec<Collective>,
    /// The number of a group's n-th collective.
    of_group: BTreeMap<(u32, u32), u32>,
}

impl Collectives {
    /// Adds a group of ranks, in the order of their numbers in it.
    ///
    /// # Errors
    /// A rank that is in it twice.
    pub fn add_group(&mut self, ranks: Vec<u32>) -> Result<u32, GraphError> {
        let group = Group::new(ranks);
        let twice = group.numbers.windows(2).find(|two| two[0].0 == two[1].0);
        if let Some(two) = twice {
            return Err(GraphError::TwiceInGroup { rank: two[0].0 });
        }
        self.groups.push(group);
        Ok(self.groups.len() as u32 - 1)
    }

    /// How many groups there are.
    pub fn groups(&self) -> u32 {
        self.groups.len() as u32
    }

    /// The ranks of a group.
    pub fn ranks_of(&self, group: u32) -> &[u32] {
        &self.groups[group as usize].ranks
    }

    /// The `nth` collective that a rank runs in a group, from 0; gives its number.
    ///
    /// # Errors
    /// Another collective, or another size, than other ranks of the group run there, and a rank
    /// that is not in the group.
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

    /// The place of a kind, which is added where it was not among the last ones.
    fn place_of(&mut self, kind: &CollectiveKind) -> u32 {
        let last = self.kinds.iter().enumerate().rev().take(KINDS_KEPT);
        let known = last.into_iter().find(|(_, known)| *known == kind);
        let place = known.map_or(self.kinds.len(), |(place, _)| place);
        if place == self.kinds.len() {
            self.kinds.push(kind.clone());
        }
        place as u32
    }

    /// The same collectives with what they ask of the hosts of their groups, whose sites `site_of`
    /// knows by ranks and the collective; with how many run by their usual algorithm, and why.
    /// `None` where none goes by hosts.
    ///
    /// # Errors
    /// A collective that does not suit its site.
    pub(super) fn at(&self, site_of: &SiteOf<'_>) -> Result<Option<Fitted>, Misfit> {
        if !self.kinds.iter().any(|kind| kind.has_key(NPUS_KEY)) {
            return Ok(None);
        }
        let mut fitted = Collectives {
            kinds: Vec::new(),
            ..self.clone()
        };
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

    /// How many collectives there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The collective of that number: its group, kind and size in bytes.
    pub fn get(&self, number: u32) -> (u32, &CollectiveKind, u64) {
        let of = &self.list[number as usize];
        (of.group, &self.kinds[of.kind as usize], of.bytes)
    }

    /// Which of the collectives of its group the one of that number is, from 0.
    pub fn nth_of(&self, number: u32) -> u32 {
        self.list[number as usize].nth
    }
}

/// The site of the ranks of a group, for a collective.
pub type SiteOf<'s> = dyn Fn(&[u32], &CollectiveKind) -> Site + 's;

/// Collectives at their sites.
pub(super) struct Fitted {
    pub(super) collectives: Collectives,
    /// How many are carried out by which usual algorithm, and why.
    pub(super) instead: BTreeMap<(String, Instead), u64>,
}

/// How a rank of a collective sends to another one: the transfers of a way, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InnerWay {
    to: Destination,
    /// How many transfers go that way in each collective of the line.
    count: u32,
}

/// Collectives of one group that share queue pairs: on each way all have the same number of
/// transfers.
#[derive(Debug)]
struct Line {
    group: u32,
    kind: CollectiveKind,
    /// The size, where the number of transfers on a way depends on it.
    bytes: Option<u64>,
    /// The first lane of its queue pairs.
    lane: u32,
    /// Its collectives in the order of the group.
    numbers: Vec<u32>,
    /// The ways of each rank of the group, ascending.
    ways: Vec<Vec<InnerWay>>,
}

/// What a rank has to do in a collective: transfers that arrive at it, and those that it sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) receives: u32,
    pub(super) sends: u32,
}

/// A collective with its transfers.
struct Running {
    schedule: Arc<dyn Schedule>,
    shares: Arc<[Share]>,
    line: usize,
    /// The number of its first transfer.
    base: u32,
}

/// The collectives of a graph with their transfers, whose numbers follow those of messages.
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
    /// Numbers the transfers of all collectives from `first` on; lanes begin at `lane`.
    ///
    /// # Errors
    /// Those of [`CollectiveKind::schedule`], and more transfers than can be numbered.
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

    /// One more than the last transfer.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// The collective of a transfer, and the transfer's number in it.
    pub(super) fn locate(&self, transfer: u32) -> (u32, u32) {
        let next = self.running.partition_point(|one| one.base <= transfer);
        let number = next as u32 - 1;
        (number, transfer - self.running[number as usize].base)
    }

    pub(super) fn schedule(&self, number: u32) -> (&dyn Schedule, u32) {
        let one = &self.running[number as usize];
        (&*one.schedule, one.base)
    }

    /// What a rank has to do in a collective.
    pub(super) fn share(&self, number: u32, rank: u32) -> Share {
        let number_in_group = self.number_in_group(number, rank);
        self.running[number as usize].shares[number_in_group as usize]
    }

    /// The number of a rank in the group of a collective that it takes part in.
    pub(super) fn number_in_group(&self, number: u32, rank: u32) -> u32 {
        let (group, _, _) = self.collectives.get(number);
        let found = self.collectives.groups[group as usize].number(rank);
        found.unwrap_or(0)
    }

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

    /// Appends the ways of a rank, in no order.
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

    /// The `nth` transfer of a way.
    pub(super) fn nth(&self, src: u32, to: Destination, nth: u32) -> Option<u32> {
        let next = self.lines.partition_point(|line| line.lane <= to.lane);
        let line = &self.lines[next.checked_sub(1)?];
        let group = &self.collectives.groups[line.group as usize];
        let (src, dst) = (group.number(src)?, group.number(to.dst)?);
        let lane = to.lane - line.lane;
        let inner = Destination { dst, lane };
        let ways = &line.ways[src as usize];
        let way = ways.binary_search_by_key(&inner, |way| way.to).ok()?;
        let count = ways[way].count;
        let one = *line.numbers.get((nth / count) as usize)?;
        let one = &self.running[one as usize];
        let local = one
            .schedule
            .nth(src, inner, QueuePairScope::RankPair, nth % count)?;
        Some(one.base + local)
    }
}

/// A schedule, and what each rank has to do in it.
struct Known {
    kind: CollectiveKind,
    schedule: Arc<dyn Schedule>,
    shares: Arc<[Share]>,
}

struct Builder<'c> {
    collectives: &'c Collectives,
    /// The next lane.
    lane: u32,
    /// Those of a number of ranks and of bytes.
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

    /// The line of a collective.
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

fn shares(schedule: &dyn Schedule) -> Arc<[Share]> {
    let mut shares = vec![Share::default(); schedule.ranks() as usize];
    for id in 0..schedule.transfer_count() {
        let transfer = schedule.transfer(id);
        shares[transfer.src as usize].sends += 1;
        shares[transfer.dst as usize].receives += 1;
    }
    shares.into()
}

/// The ways of a rank with the number of transfers on each: there are as many as have an answer.
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
