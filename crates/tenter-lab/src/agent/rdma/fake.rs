//! Test devices without hardware, joined by a fabric in memory: they reorder completions between
//! queue pairs, run out of receives, fail, and flush.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use tenter_engine::mix64;
use tenter_fabric::net::ReceiveSlot;
use tenter_sim::real_time::Slot;

use super::verbs::{Completion, Posted, Status, Verbs, Write};

/// Faults that the test wants from the fabric.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    /// Host, send slot, and the write's number at which that queue pair fails.
    pub(super) fails: Option<(u32, u32, u32)>,
    /// Most receives at a slot, however many are posted; 0 for no limit.
    pub(super) receives_max: u32,
    /// Retries for a write whose receiver has no receive posted.
    pub(super) not_ready_retries: u32,
    /// Writes that a queue pair has room for; 0 for no limit.
    pub(super) depth: usize,
}

type End = (u32, Slot);

/// A posted write that has not arrived.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    write: Write,
    tries: u32,
}

/// All hosts' devices, and the fabric between them.
#[derive(Debug, Default)]
pub(super) struct FakeFabric {
    faults: Faults,
    peers: BTreeMap<End, End>,
    receives: BTreeMap<End, u32>,
    queues: BTreeMap<End, VecDeque<InFlight>>,
    broken: BTreeMap<End, bool>,
    writes: BTreeMap<End, u32>,
    completions: BTreeMap<u32, Vec<Completion>>,
    chance: u64,
    /// Attempts that found no receive.
    pub(super) not_ready: u64,
    /// Posts that found no room.
    pub(super) full: u64,
}

impl FakeFabric {
    pub(super) fn new(faults: Faults) -> Rc<RefCell<FakeFabric>> {
        Rc::new(RefCell::new(FakeFabric {
            faults,
            chance: 1,
            ..FakeFabric::default()
        }))
    }

    fn complete(&mut self, host: u32, completion: Completion) {
        self.completions.entry(host).or_default().push(completion);
    }

    /// Carries one write from each queue pair; chance chooses which begins.
    pub(super) fn step(&mut self) {
        let ends: Vec<End> = self.queues.keys().copied().collect();
        if ends.is_empty() {
            return;
        }
        self.chance = mix64(self.chance);
        let first = self.chance as usize % ends.len();
        for end in ends.iter().cycle().skip(first).take(ends.len()) {
            self.carry(*end);
        }
    }

    fn carry(&mut self, end: End) {
        let Some(flight) = self.queues.get_mut(&end).and_then(VecDeque::pop_front) else {
            return;
        };
        let Slot::Send(slot) = end.1 else {
            return;
        };
        let id = flight.write.id;
        let sent = |status| Completion::Sent { slot, id, status };
        if self.broken.contains_key(&end) {
            self.complete(end.0, sent(Status::Flushed));
            return;
        }
        let count = self.writes.entry(end).or_default();
        *count += 1;
        if self.faults.fails == Some((end.0, slot.number(), *count)) {
            self.broken.insert(end, true);
            self.complete(end.0, sent(Status::RetryExceeded));
            return;
        }
        let peer = self.peers[&end];
        let receives = self.receives.entry(peer).or_default();
        if *receives == 0 {
            self.not_ready += 1;
            if flight.tries >= self.faults.not_ready_retries {
                self.broken.insert(end, true);
                self.complete(end.0, sent(Status::ReceiverNotReady));
                return;
            }
            let again = InFlight {
                tries: flight.tries + 1,
                ..flight
            };
            self.queues.entry(end).or_default().push_front(again);
            return;
        }
        *receives -= 1;
        let Slot::Receive(receiver) = peer.1 else {
            return;
        };
        self.complete(
            peer.0,
            Completion::Received {
                slot: receiver,
                immediate: flight.write.immediate,
                bytes: flight.write.bytes,
                status: Status::Success,
            },
        );
        self.complete(end.0, sent(Status::Success));
    }
}

/// The device that one host has.
#[derive(Debug)]
pub(super) struct FakeDevice {
    pub(super) host: u32,
    pub(super) fabric: Rc<RefCell<FakeFabric>>,
}

impl Verbs for FakeDevice {
    fn offer(&self, slot: Slot) -> Vec<u8> {
        let (kind, number) = match slot {
            Slot::Send(slot) => (0, slot.number()),
            Slot::Receive(slot) => (1, slot.number()),
        };
        [
            [self.host, kind].map(u32::to_be_bytes).concat(),
            number.to_be_bytes().to_vec(),
        ]
        .concat()
    }

    fn connect(&mut self, slot: Slot, offer: &[u8]) -> Result<(), String> {
        let words: Vec<u32> = offer
            .chunks_exact(4)
            .map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let [host, kind, number] = words[..] else {
            return Err("an offer has three words".to_owned());
        };
        let peer = match kind {
            0 => Slot::Send(tenter_fabric::net::SendSlot::new(number)),
            _ => Slot::Receive(ReceiveSlot::new(number)),
        };
        let mut fabric = self.fabric.borrow_mut();
        fabric.peers.insert((self.host, slot), (host, peer));
        Ok(())
    }

    fn post_receives(&mut self, slot: ReceiveSlot, count: u32) -> Result<(), String> {
        let mut fabric = self.fabric.borrow_mut();
        let most = match fabric.faults.receives_max {
            0 => u32::MAX,
            most => most,
        };
        let end = (self.host, Slot::Receive(slot));
        let receives = fabric.receives.entry(end).or_default();
        *receives = receives.saturating_add(count).min(most);
        Ok(())
    }

    fn post(&mut self, write: &Write) -> Result<Posted, String> {
        let mut fabric = self.fabric.borrow_mut();
        let depth = fabric.faults.depth;
        let end = (self.host, Slot::Send(write.slot));
        let queue = fabric.queues.entry(end).or_default();
        if depth > 0 && queue.len() >= depth {
            fabric.full += 1;
            return Ok(Posted::Full);
        }
        queue.push_back(InFlight {
            write: *write,
            tries: 0,
        });
        Ok(Posted::Taken)
    }

    /// Returns completions with queue pairs in random order; within one they keep their order.
    fn poll(&mut self, out: &mut Vec<Completion>) -> Result<(), String> {
        let mut fabric = self.fabric.borrow_mut();
        let own = fabric.completions.remove(&self.host).unwrap_or_default();
        let slot = |completion: &Completion| match completion {
            Completion::Sent { slot, .. } => Slot::Send(*slot),
            Completion::Received { slot, .. } => Slot::Receive(*slot),
        };
        fabric.chance = mix64(fabric.chance);
        let chance = fabric.chance;
        let mut own = own;
        own.sort_by_key(|of| match slot(of) {
            Slot::Send(slot) => mix64(chance ^ u64::from(slot.number()) << 1),
            Slot::Receive(slot) => mix64(chance ^ u64::from(slot.number()) << 1 ^ 1),
        });
        out.extend(own);
        Ok(())
    }
}
