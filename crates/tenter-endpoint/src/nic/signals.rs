//! Source flow control in the NIC: what goes to a receiver whose queue is too long stands still,
//! and nothing else.

use std::collections::{BTreeMap, VecDeque};

use tenter_net::{EventKind, Medium, Packet, PauseRecord, Signal};
use tenter_units::Rate;

use super::Nic;
use super::limited::Limits;
use crate::reactions::Reactions;
use crate::send::SendQueuePair;
use crate::spec::NicSpec;

/// Receivers that a NIC must not send to, by host and class.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(BTreeMap<(u32, u8), Hold>);

/// What is known of one of them.
#[derive(Clone, Debug, Default)]
struct Hold {
    until: u64,
    record: PauseRecord,
    /// The queue pairs that stand still for it, in the order of their turns: so the last ones come
    /// to theirs, however short the times between two signals are. The first has a timer.
    waiting: VecDeque<u32>,
}

fn key(queue_pair: &SendQueuePair) -> (u32, u8) {
    (queue_pair.destination(), queue_pair.class)
}

impl Held {
    /// Until when a queue pair stands still; in the past when it may send.
    pub(super) fn until(&self, queue_pair: &SendQueuePair) -> u64 {
        let hold = self.0.get(&key(queue_pair));
        hold.map_or(0, |hold| hold.until)
    }

    /// Lets a queue pair wait behind those that do; whether it is the first, and needs a timer.
    pub(super) fn wait(&mut self, slot: u32, queue_pair: &SendQueuePair) -> bool {
        let hold = self.0.entry(key(queue_pair)).or_default();
        hold.waiting.push_back(slot);
        hold.waiting.len() == 1
    }

    /// Whether a queue pair is the first of those that wait.
    pub(super) fn is_first(&self, slot: u32, queue_pair: &SendQueuePair) -> bool {
        let hold = self.0.get(&key(queue_pair));
        hold.is_some_and(|hold| hold.waiting.front() == Some(&slot))
    }

    /// Takes out all that wait for the same as a queue pair, in the order of their turns.
    pub(super) fn take(&mut self, queue_pair: &SendQueuePair) -> VecDeque<u32> {
        let hold = self.0.get_mut(&key(queue_pair));
        hold.map_or_else(VecDeque::new, |hold| std::mem::take(&mut hold.waiting))
    }
}

impl Nic {
    /// Goes by signals to senders, before anything has happened.
    pub fn obey_signals(&mut self, spec: &NicSpec, line: Rate) {
        let slots = self.send.len();
        let limits = self.limits.take();
        let mut limits = limits.unwrap_or_else(|| Limits::of(spec, line, slots));
        limits.held = Some(Box::default());
        self.limits = Some(limits);
    }

    /// How fast it was told of long queues.
    pub fn reactions(&self) -> &Reactions {
        &self.pauses.reactions
    }

    /// How long what goes to a host stood still up to `now`, in ps and over all classes.
    pub fn held(&self, receiver: u32, now: u64) -> u64 {
        let held = self.limits.as_ref().and_then(|own| own.held.as_ref());
        let of_classes = held
            .into_iter()
            .flat_map(|held| held.0.range((receiver, 0)..=(receiver, u8::MAX)));
        of_classes
            .map(|(_, hold)| hold.record.paused(now, hold.until))
            .sum()
    }

    /// Obeys a signal: the queue pairs to its receiver wait until the time has passed. A signal
    /// never shortens a pause, for another switch may have asked for it.
    #[inline(never)]
    pub(super) fn on_signal<M: Medium>(&mut self, packet: &Packet, medium: &mut M) {
        self.note(EventKind::Obeyed, packet, medium);
        let Some(signal) = Signal::of(packet) else {
            return;
        };
        self.pauses.reactions.note(&signal, packet.at);
        let until = packet.at + self.transmitter.pause_time(u32::from(signal.quanta));
        let Some(limits) = &mut self.limits else {
            return;
        };
        let Some(held) = &mut limits.held else {
            return;
        };
        let hold = held.0.entry((signal.receiver, signal.class)).or_default();
        let until = until.max(hold.until);
        hold.record.take(packet.at, hold.until, until);
        hold.until = until;
        for _ in 0..self.round.len() {
            let Some(slot) = self.round.pop() else {
                return;
            };
            let queue_pair = &mut self.send[slot as usize];
            if key(queue_pair) == (signal.receiver, signal.class) {
                limits.hold(slot, queue_pair, until);
            } else {
                self.round.push(slot);
            }
        }
    }
}
