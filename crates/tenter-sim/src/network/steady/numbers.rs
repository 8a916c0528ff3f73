//! The sequence numbers of all queue pairs, and their advance in a period.

use tenter_fabric::net::FlowEnd;

/// A number for each queue pair at each host, at both of its ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    send: Vec<u32>,
    receive: Vec<u32>,
    /// For each host the index of its first number in `send` and in `receive`.
    first: Vec<[usize; 2]>,
}

impl Numbers {
    /// Removes all numbers, and all hosts.
    pub(super) fn clear(&mut self) {
        self.send.clear();
        self.receive.clear();
        self.first.clear();
    }

    /// Adds the numbers of the next host.
    pub(super) fn add_host(
        &mut self,
        send: impl Iterator<Item = u32>,
        receive: impl Iterator<Item = u32>,
    ) {
        self.first.push([self.send.len(), self.receive.len()]);
        self.send.extend(send);
        self.receive.extend(receive);
    }

    /// Returns the advance since earlier numbers, modulo 2³².
    pub(super) fn since(&self, before: &Numbers) -> Numbers {
        let since = |now: &[u32], before: &[u32]| {
            let pairs = now.iter().zip(before);
            pairs
                .map(|(now, before)| now.wrapping_sub(*before))
                .collect()
        };
        Numbers {
            send: since(&self.send, &before.send),
            receive: since(&self.receive, &before.receive),
            first: self.first.clone(),
        }
    }

    /// Returns how many receiving queue pairs there are.
    pub(super) fn receiving(&self) -> usize {
        self.receive.len()
    }

    /// Returns a queue pair's index among all on the same side.
    #[inline]
    pub(super) fn place(&self, end: FlowEnd) -> Option<usize> {
        let (host, side, slot, all) = match end {
            FlowEnd::Send(host, slot) => (host, 0, slot.index(), &self.send),
            FlowEnd::Receive(host, slot) => (host, 1, slot.index(), &self.receive),
        };
        let place = self.first.get(host.index())?[side] + slot;
        (place < all.len()).then_some(place)
    }

    /// Returns the number of a queue pair at one of its ends; 0 for an unknown one.
    #[inline]
    pub(super) fn of(&self, end: FlowEnd) -> u32 {
        let all = match end {
            FlowEnd::Send(..) => &self.send,
            FlowEnd::Receive(..) => &self.receive,
        };
        self.place(end).map_or(0, |place| all[place])
    }
}
