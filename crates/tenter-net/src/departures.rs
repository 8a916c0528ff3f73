//! The departures of a switch in the order of time, for while that order matters.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tenter_units::Instant;

use crate::port::Port;

/// When ports next send. An entry may be stale; only the port itself is exact.
#[derive(Clone, Debug)]
pub(crate) struct Departures {
    heap: BinaryHeap<Reverse<(Instant, u16)>>,
    /// The time under which each port was last entered, if that entry is still there.
    entered: Vec<Instant>,
}

impl Departures {
    pub(crate) fn new(ports: usize) -> Departures {
        Departures {
            heap: BinaryHeap::new(),
            entered: vec![Instant::NEVER; ports],
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.entered.fill(Instant::NEVER);
    }

    /// Whether it holds nothing at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Enters the next departure of a port that has changed.
    pub(crate) fn enter(&mut self, number: u16, port: &Port) {
        let entered = &mut self.entered[usize::from(number)];
        if let Some(at) = port.next_departure()
            && *entered != at
        {
            *entered = at;
            self.heap.push(Reverse((at, number)));
        }
    }

    /// The earliest departure and its port; of several at once the one of the lowest port.
    pub(crate) fn next(&mut self, ports: &[Port]) -> Option<(Instant, u16)> {
        while let Some(&Reverse((at, number))) = self.heap.peek() {
            if ports[usize::from(number)].next_departure() == Some(at) {
                return Some((at, number));
            }
            self.pop();
        }
        None
    }

    /// Removes what [`Departures::next`] returned.
    pub(crate) fn pop(&mut self) {
        if let Some(Reverse((at, number))) = self.heap.pop() {
            let entered = &mut self.entered[usize::from(number)];
            if *entered == at {
                *entered = Instant::NEVER;
            }
        }
    }
}
