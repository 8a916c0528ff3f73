//! The departures of a switch in the order of time, for while that order matters.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::port::Port;

/// When ports next send. An entry may be stale; the port itself is the truth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Departures {
    heap: BinaryHeap<Reverse<(u64, u16)>>,
}

impl Departures {
    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }

    /// Whether it holds nothing at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Enters the next departure of a port that has changed.
    pub(crate) fn enter(&mut self, number: u16, port: &Port) {
        if let Some(at) = port.next_departure() {
            self.heap.push(Reverse((at, number)));
        }
    }

    /// The earliest departure and its port; of several at once the one of the lowest port.
    pub(crate) fn next(&mut self, ports: &[Port]) -> Option<(u64, u16)> {
        while let Some(&Reverse((at, number))) = self.heap.peek() {
            if ports[usize::from(number)].next_departure() == Some(at) {
                return Some((at, number));
            }
            self.heap.pop();
        }
        None
    }

    /// Removes what [`Departures::next`] returned.
    pub(crate) fn pop(&mut self) {
        self.heap.pop();
    }
}
