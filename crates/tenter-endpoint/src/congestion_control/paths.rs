//! Paths of packets in flight, for congestion controls that learn from them.

use std::collections::VecDeque;

/// Remembered packets per queue pair. If more are in flight, the oldest are forgotten and their
/// answers say nothing about a path.
const PACKETS_MAX: usize = 4096;

/// Unanswered packets of one queue pair as (send time, hash), in the order sent.
///
/// An answer names its packet by the send time, in units of
/// [`SENT_UNIT_PS`](tenter_net::SENT_UNIT_PS). The time is unique within a queue pair as long as a
/// frame takes longer than a unit on the wire, which holds up to 6 Tb/s.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths(VecDeque<(u32, u32)>);

impl Paths {
    /// Remembers a packet that left at `sent` with this hash.
    pub(super) fn sent(&mut self, sent: u32, hash: u32) {
        if self.0.len() == PACKETS_MAX {
            self.0.pop_front();
        }
        self.0.push_back((sent, hash));
    }

    /// Removes the packet that left at `sent` and returns its hash, or `None` if it is unknown.
    /// Earlier packets stay: packets overtake each other, so their answers may still come.
    pub(super) fn answered(&mut self, sent: u32) -> Option<u32> {
        let place = self.0.iter().position(|&(at, _)| at == sent)?;
        self.0.remove(place).map(|(_, hash)| hash)
    }

    /// Forgets all packets after a timeout: everything unacknowledged is sent again.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{PACKETS_MAX, Paths};

    #[test]
    fn an_answer_tells_the_path_of_its_packet_once() {
        let mut paths = Paths::default();
        for (sent, hash) in [(10, 1), (20, 2), (30, 3)] {
            paths.sent(sent, hash);
        }
        assert_eq!(
            [20, 20, 10, 15].map(|sent| paths.answered(sent)),
            [Some(2), None, Some(1), None]
        );
        paths.forget();
        assert_eq!(paths.answered(30), None);
    }

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut paths = Paths::default();
        (0..=PACKETS_MAX as u32).for_each(|sent| paths.sent(sent, sent));
        assert_eq!((paths.answered(0), paths.answered(1)), (None, Some(1)));
    }
}
