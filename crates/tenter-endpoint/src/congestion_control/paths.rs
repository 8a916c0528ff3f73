//! The paths of packets under way, for congestion controls that are told of them.

use std::collections::VecDeque;

/// At most this many packets of a queue pair are remembered: of older ones no path is told.
const PACKETS_MAX: usize = 4096;

/// The packets of a queue pair that have not been answered, in the order in which they were sent.
///
/// An answer names its packet by when that was sent, in units of
/// [`SENT_UNIT_PS`](tenter_net::SENT_UNIT_PS): no two packets of a queue pair leave at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths(VecDeque<(u32, u32)>);

impl Paths {
    /// A packet with this hash has left.
    pub(super) fn sent(&mut self, sent: u32, hash: u32) {
        if self.0.len() == PACKETS_MAX {
            self.0.pop_front();
        }
        self.0.push_back((sent, hash));
    }

    /// The hash of the packet that left then, which is answered now. Packets overtake each other,
    /// so those before it stay.
    pub(super) fn answered(&mut self, sent: u32) -> Option<u32> {
        let place = self.0.iter().position(|&(at, _)| at == sent)?;
        self.0.remove(place).map(|(_, hash)| hash)
    }

    /// Everything unacknowledged is sent again: what is under way is answered no more.
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
