//! The sequence numbers of all queue pairs, and how far they advance in a period.

use tenter_net::FlowEnd;
use tenter_topology::HostId;

/// A number for each queue pair of each host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    send: Vec<u32>,
    receive: Vec<u32>,
    /// Where those of each host begin.
    first: Vec<[usize; 2]>,
}

impl Numbers {
    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.send.clear();
        self.receive.clear();
        self.first.clear();
    }

    /// Adds those of the next host.
    pub(super) fn add_host(
        &mut self,
        send: impl Iterator<Item = u32>,
        receive: impl Iterator<Item = u32>,
    ) {
        self.first.push([self.send.len(), self.receive.len()]);
        self.send.extend(send);
        self.receive.extend(receive);
    }

    /// How far these are beyond earlier ones, modulo 2³².
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

    /// The number of a queue pair at one of its ends.
    #[inline]
    pub(super) fn of(&self, end: FlowEnd) -> u32 {
        let first = |host: HostId, side: usize| self.first.get(host.index()).map(|of| of[side]);
        let number = match end {
            FlowEnd::Send(host, slot) => {
                let first = first(host, 0);
                first.and_then(|first| self.send.get(first + slot.index()))
            }
            FlowEnd::Receive(host, slot) => {
                let first = first(host, 1);
                first.and_then(|first| self.receive.get(first + slot.index()))
            }
        };
        number.copied().unwrap_or(0)
    }
}
