//! An executor that runs a schedule as ranks and queue pairs do, on numbers instead of packets.

use std::collections::{BTreeMap, VecDeque};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::{QueuePairScope, Schedule, Transfer};

/// Memory that transfers read from and write to.
pub(crate) trait Memory {
    /// Returns the values that a transfer carries when it leaves its source.
    fn read(&self, transfer: &Transfer) -> Vec<u64>;
    /// Applies the values of a transfer when it arrives.
    fn write(&mut self, transfer: &Transfer, values: &[u64]);
}

/// Queue pairs of one way: transfers leave in the order of posting and arrive in the order of
/// leaving.
#[derive(Default)]
struct Way {
    posted: VecDeque<u32>,
    flying: VecDeque<(u32, Vec<u64>)>,
    posted_last: Option<u32>,
}

/// An event that can happen next.
enum Event {
    Start(u32),
    Leave((u32, u32, u32)),
    Arrive((u32, u32, u32)),
}

struct Execution<'a> {
    schedule: &'a dyn Schedule,
    scope: QueuePairScope,
    /// Arrivals that each transfer still waits for.
    waiting: Vec<u32>,
    started: Vec<bool>,
    /// Transfers that were released at ranks that have not started yet.
    held: Vec<Vec<u32>>,
    ways: BTreeMap<(u32, u32, u32), Way>,
    events: Vec<Event>,
    arrived: Vec<bool>,
}

/// Runs a schedule to its end and returns the payload bytes that it moved.
///
/// Ranks start at random moments. A released transfer leaves at a random later moment and arrives
/// at a random moment after that, in order on each way and in any order otherwise. Data are read
/// when a transfer leaves, not when it is released, so a chunk that may still change is caught.
///
/// Checks on the way: only initial transfers start without an arrival, releases stay at the
/// receiving rank, no transfer is released twice or too often, each way carries its transfers in
/// ascending order, and all transfers arrive.
pub(crate) fn execute(
    schedule: &dyn Schedule,
    memory: &mut impl Memory,
    scope: QueuePairScope,
    seed: u64,
) -> u64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (ranks, count) = (schedule.ranks(), schedule.transfer_count());
    let mut run = Execution {
        schedule,
        scope,
        waiting: (0..count).map(|id| schedule.dependencies(id)).collect(),
        started: vec![false; ranks as usize],
        held: vec![Vec::new(); ranks as usize],
        ways: BTreeMap::new(),
        events: (0..ranks).map(Event::Start).collect(),
        arrived: vec![false; count as usize],
    };
    run.check_initial();
    let mut bytes = 0;
    while !run.events.is_empty() {
        let choice = random.next_u64() as usize % run.events.len();
        match run.events.swap_remove(choice) {
            Event::Start(rank) => run.start(rank),
            Event::Leave(way) => run.leave(way, memory),
            Event::Arrive(way) => bytes += run.arrive(way, memory),
        }
    }
    assert!(
        run.arrived.iter().all(|&done| done),
        "transfers that nothing released"
    );
    bytes
}

impl Execution<'_> {
    /// Asserts that the initial transfers are exactly those that wait for nothing, each once and at
    /// its rank.
    fn check_initial(&self) {
        let mut all = Vec::new();
        for rank in 0..self.schedule.ranks() {
            let start = all.len();
            self.schedule.initial(rank, &mut all);
            let own = |&id: &u32| self.schedule.transfer(id).src == rank;
            assert!(all[start..].iter().all(own));
        }
        all.sort_unstable();
        let free = (0..).zip(&self.waiting).filter(|(_, waits)| **waits == 0);
        assert!(
            free.map(|(id, _)| id).eq(all),
            "initial transfers and those without dependencies differ"
        );
    }

    fn start(&mut self, rank: u32) {
        self.started[rank as usize] = true;
        let mut ids = Vec::new();
        self.schedule.initial(rank, &mut ids);
        // Transfers released before the start are posted at one instant, at which ids decide.
        let mut held = std::mem::take(&mut self.held[rank as usize]);
        held.sort_unstable();
        for id in ids.into_iter().chain(held) {
            self.post(id);
        }
    }

    fn post(&mut self, id: u32) {
        let transfer = self.schedule.transfer(id);
        assert_ne!(transfer.src, transfer.dst, "{id} goes nowhere");
        let key = (transfer.src, transfer.dst, transfer.way(self.scope).lane);
        let way = self.ways.entry(key).or_default();
        assert!(
            way.posted_last.is_none_or(|last| last < id),
            "{id} is posted after {:?} on the way {key:?}",
            way.posted_last
        );
        way.posted_last = Some(id);
        way.posted.push_back(id);
        self.events.push(Event::Leave(key));
    }

    fn leave(&mut self, key: (u32, u32, u32), memory: &impl Memory) {
        let way = self.ways.get_mut(&key).expect("it was posted on");
        let id = way.posted.pop_front().expect("one event per transfer");
        let values = memory.read(&self.schedule.transfer(id));
        way.flying.push_back((id, values));
        self.events.push(Event::Arrive(key));
    }

    fn arrive(&mut self, key: (u32, u32, u32), memory: &mut impl Memory) -> u64 {
        let way = self.ways.get_mut(&key).expect("it was posted on");
        let (id, values) = way.flying.pop_front().expect("one event per transfer");
        let transfer = self.schedule.transfer(id);
        memory.write(&transfer, &values);
        let again = std::mem::replace(&mut self.arrived[id as usize], true);
        assert!(!again, "{id} ran twice");
        let mut released = Vec::new();
        self.schedule.released_by(id, &mut released);
        for next in released {
            let src = self.schedule.transfer(next).src;
            assert_eq!(src, transfer.dst, "{id} released {next} elsewhere");
            let left = &mut self.waiting[next as usize];
            *left = left
                .checked_sub(1)
                .expect("a transfer is released as often as it waits");
            if *left > 0 {
                continue;
            }
            if self.started[src as usize] {
                self.post(next);
            } else {
                self.held[src as usize].push(next);
            }
        }
        transfer.bytes
    }
}
