//! A switch's departures in time order, while that order matters.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tenter_language::units::Instant;

use crate::net::port::Port;

/// Each port's next departure. An entry may be stale: only the port itself is exact.
#[derive(Clone, Debug)]
pub(crate) struct Departures {
    heap: BinaryHeap<Reverse<(Instant, u16)>>,
    /// Time under which each port was last entered; [`Instant::NEVER`] once that entry is gone.
    entered: Vec<Instant>,
}

impl Departures {
    pub(crate) fn new(ports: usize) -> Departures {
        Departures {
            heap: BinaryHeap::new(),
            entered: vec![Instant::NEVER; ports],
        }
    }

    /// Removes all entries, as departures become lazy again.
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.entered.fill(Instant::NEVER);
    }

    /// Returns true if there are no entries, not even stale ones.
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Enters the next departure from a port that has changed.
    pub(crate) fn enter(&mut self, number: u16, port: &Port) {
        let entered = &mut self.entered[usize::from(number)];
        if let Some(at) = port.next_departure()
            // An entry at the same time is still in the heap.
            && *entered != at
        {
            *entered = at;
            self.heap.push(Reverse((at, number)));
        }
    }

    /// Returns the earliest departure and its port; among several at once, the lowest port's.
    pub(crate) fn next(&mut self, ports: &[Port]) -> Option<(Instant, u16)> {
        while let Some(&Reverse((at, number))) = self.heap.peek() {
            if ports[usize::from(number)].next_departure() == Some(at) {
                return Some((at, number));
            }
            // Stale: the port has sent, or was paused or resumed, since it was entered.
            self.pop();
        }
        None
    }

    /// Removes the departure that [`Departures::next`] returned.
    pub(crate) fn pop(&mut self) {
        if let Some(Reverse((at, number))) = self.heap.pop() {
            let entered = &mut self.entered[usize::from(number)];
            // A later entry of the port may be in the heap, which stays valid.
            if *entered == at {
                *entered = Instant::NEVER;
            }
        }
    }
}
