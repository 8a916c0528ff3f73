//! Output queues beyond their limit, and the senders that are paused for them (`egress` trigger).
//!
//! A queue is listed from the frame that found it too long until it is short enough again. The
//! queue's senders resume then, except those that another queue, or bytes in headroom, keep paused.
//! The list is empty while no sender is paused.

mod steady;

use super::frame::Place;

/// An output queue beyond its limit, and the senders that are paused for it.
#[derive(Clone, Debug)]
struct FullQueue {
    output: u16,
    queue: usize,
    /// Bytes in the queue; exact, as departures are carried out in the order of time while it is
    /// listed.
    bytes: u64,
    /// Input ports whose senders are paused for it, one bit each.
    senders: Vec<u64>,
}

impl FullQueue {
    fn has(&self, port: u16) -> bool {
        let word = self.senders.get(usize::from(port) / 64);
        word.is_some_and(|word| word & (1 << (port % 64)) != 0)
    }

    fn senders(&self) -> impl Iterator<Item = u16> {
        let words = (0..).zip(&self.senders);
        words.flat_map(|(index, &word)| {
            let ports = (0..64).filter(move |bit| word & (1 << bit) != 0);
            ports.map(move |bit: u16| index * 64 + bit)
        })
    }
}

/// Output queues for which a sender is paused, sorted by (output port, class).
#[derive(Clone, Debug, Default)]
pub(super) struct FullQueues(Vec<FullQueue>);

impl FullQueues {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find(&self, output: u16, queue: usize) -> Result<usize, usize> {
        let key = |full: &FullQueue| (full.output, full.queue);
        self.0.binary_search_by_key(&(output, queue), key)
    }

    /// Updates a queue's bytes; does nothing if no sender is paused for it.
    pub(super) fn note(&mut self, place: Place, bytes: u64) {
        if let Ok(index) = self.find(place.output, place.queue) {
            self.0[index].bytes = bytes;
        }
    }

    /// Notes that a frame's sender is paused for the queue that the frame joins, which holds
    /// `bytes` with it.
    pub(super) fn hold(&mut self, place: Place, bytes: u64) {
        let index = self.find(place.output, place.queue).unwrap_or_else(|new| {
            let full = FullQueue {
                output: place.output,
                queue: place.queue,
                bytes,
                senders: Vec::new(),
            };
            self.0.insert(new, full);
            new
        });
        let full = &mut self.0[index];
        full.bytes = bytes;
        let word = usize::from(place.input) / 64;
        if full.senders.len() <= word {
            full.senders.resize(word + 1, 0);
        }
        full.senders[word] |= 1 << (place.input % 64);
    }

    /// Returns true if the sender of a class at `port` is paused for any queue.
    pub(super) fn holds(&self, port: u16, queue: usize) -> bool {
        self.of(port, queue).next().is_some()
    }

    /// Returns the output ports for whose queues the sender of a class at `port` is paused, with
    /// the bytes in each queue.
    pub(super) fn of(&self, port: u16, queue: usize) -> impl Iterator<Item = (u16, u64)> {
        let all = self.0.iter();
        let own = all.filter(move |full| full.queue == queue && full.has(port));
        own.map(|full| (full.output, full.bytes))
    }

    /// Removes the queues that are short enough by `is_short` (class, bytes), and calls `resume`
    /// with (port, class) of their senders, possibly more than once for one sender.
    pub(super) fn release(
        &mut self,
        is_short: impl Fn(usize, u64) -> bool,
        mut resume: impl FnMut(u16, usize),
    ) {
        self.0.retain(|full| {
            let is_short = is_short(full.queue, full.bytes);
            if is_short {
                full.senders().for_each(|port| resume(port, full.queue));
            }
            !is_short
        });
    }

    /// Forgets that the sender at `port` is paused, and with it queues without any other sender.
    pub(super) fn forget(&mut self, port: u16) {
        for full in &mut self.0 {
            if let Some(word) = full.senders.get_mut(usize::from(port) / 64) {
                *word &= !(1 << (port % 64));
            }
        }
        self.0
            .retain(|full| full.senders.iter().any(|&word| word != 0));
    }
}

#[cfg(test)]
mod tests {
    use super::FullQueues;
    use crate::net::buffer::Place;

    #[test]
    fn a_sender_may_be_paused_for_several_queues() {
        let place = |input, output| Place {
            input,
            output,
            queue: 0,
        };
        let mut full = FullQueues::default();
        full.hold(place(70, 5), 900);
        full.hold(place(70, 2), 800);
        full.hold(place(3, 5), 1_000);
        assert_eq!(full.of(70, 0).collect::<Vec<_>>(), [(2, 800), (5, 1_000)]);
        assert!(full.holds(3, 0) && !full.holds(3, 1) && !full.holds(4, 0));
        full.note(place(9, 5), 400);
        full.note(place(9, 6), 400);
        let mut gone = Vec::new();
        full.release(|_, bytes| bytes <= 400, |port, _| gone.push(port));
        assert_eq!(gone, [3, 70]);
        assert!(full.holds(70, 0) && !full.holds(3, 0));
        full.forget(70);
        assert!(full.is_empty());
    }
}
