//! Queue discipline: strict priority before deficit round robin.

use crate::net::class::{CLASSES, ClassSpec, Scheduling};
use crate::net::queue::ClassQueue;

/// Discipline at all ports in a switch, by queue number.
#[derive(Clone, Debug)]
pub(crate) struct Discipline {
    /// Queues served before all others, one bit each.
    strict: u8,
    /// Bytes added to each weighted queue's deficit at its turn.
    quantum_bytes: [u32; CLASSES],
}

impl Discipline {
    pub(crate) fn new(classes: &[ClassSpec]) -> Discipline {
        let mut discipline = Discipline {
            strict: 0,
            quantum_bytes: [0; CLASSES],
        };
        for (queue, class) in classes.iter().enumerate() {
            match class.scheduling {
                Scheduling::Strict => discipline.strict |= 1 << queue,
                Scheduling::Weighted { quantum_bytes } => {
                    discipline.quantum_bytes[queue] = quantum_bytes;
                }
            }
        }
        discipline
    }

    /// Chooses the queue whose first frame leaves next, among `eligible` ones (one bit each, at
    /// least one). `turn` is the weighted queue whose turn it is.
    ///
    /// A single eligible queue competes with none, and the round starts anew from it.
    #[inline]
    pub(crate) fn choose(&self, eligible: u8, turn: &mut u8, queues: &mut [ClassQueue]) -> usize {
        if eligible.is_power_of_two() {
            let queue = eligible.trailing_zeros() as usize;
            if self.strict & eligible == 0 {
                *turn = queue as u8;
                queues[queue].deficit = 0;
            }
            return queue;
        }
        self.choose_among(eligible, turn, queues)
    }

    /// As [`Discipline::choose`], for several eligible queues.
    #[inline(never)]
    fn choose_among(&self, eligible: u8, turn: &mut u8, queues: &mut [ClassQueue]) -> usize {
        let strict = eligible & self.strict;
        if strict != 0 {
            // Queues are in the order of classes: the highest strict one goes first.
            return strict.ilog2() as usize;
        }
        self.round_robin(eligible, turn, queues)
    }

    /// Chooses by deficit round robin (Shreedhar and Varghese, "Efficient fair queueing using
    /// deficit round robin").
    fn round_robin(&self, eligible: u8, turn: &mut u8, queues: &mut [ClassQueue]) -> usize {
        // A queue gets its quantum once a turn, and keeps the turn while its deficit covers its
        // first frame.
        loop {
            let queue = usize::from(*turn);
            let here = eligible & (1 << queue) != 0;
            if here && queues[queue].deficit >= queues[queue].first_bytes() {
                queues[queue].deficit -= queues[queue].first_bytes();
                return queue;
            }
            if !here {
                // An empty or paused queue saves nothing for later.
                queues[queue].deficit = 0;
            }
            // The next eligible queue in the round.
            let beyond = u32::from(eligible) & (!0 << (queue + 1));
            let candidates = if beyond == 0 {
                u32::from(eligible)
            } else {
                beyond
            };
            let next = candidates.trailing_zeros() as usize;
            *turn = next as u8;
            queues[next].deficit += self.quantum_bytes[next];
        }
    }
}
