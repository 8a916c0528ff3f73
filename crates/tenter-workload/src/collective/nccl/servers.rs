//! Rank placement on servers (NCCL's nodes), and each ring's path through them.

/// Servers of a communicator: rank h·g + i is NPU i on node h, with g NPUs per node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Servers {
    pub(super) nodes: u32,
    pub(super) npus: u32,
    /// NICs per node, at most as many as NPUs and a divisor of them.
    pub(super) nics: u32,
}

impl Servers {
    pub(super) fn ranks(self) -> u32 {
        self.nodes * self.npus
    }

    /// Returns true if two ranks are on the same node.
    pub(super) fn are_joined(self, a: u32, b: u32) -> bool {
        a / self.npus == b / self.npus
    }

    /// Returns the NPU next to the channel's NIC.
    pub(super) fn head(self, channel: u32) -> u32 {
        channel % self.nics * (self.npus / self.nics)
    }

    /// Returns the NPUs by which a ring enters and leaves an even node. They are next to different
    /// NICs, so that each NIC serves one ring that sends and one that receives.
    fn ends(self, channel: u32) -> (u32, u32) {
        let first = self.head(channel);
        let last = if self.nics > 1 {
            self.head(channel + 1)
        } else {
            (first + 1) % self.npus
        };
        (first, last)
    }

    /// Returns an NPU's place, from 0, in the ring's path through its node.
    ///
    /// Odd nodes are passed in the opposite direction, so rings go from node to node between NICs
    /// with the same number. With an odd node count this fails between the last node and the first,
    /// where the ring changes rails.
    fn place(self, channel: u32, node: u32, npu: u32) -> u32 {
        // On one node, or with one NPU per node, no NIC has to be reached: NPUs come in ascending
        // order.
        if self.nodes == 1 || self.npus == 1 {
            return npu;
        }
        let (first, last) = self.ends(channel);
        // From the entry the path goes down through the NPU numbers, leaving out the exit, which
        // comes last.
        let ahead = |npu: u32| (first + self.npus - npu) % self.npus;
        let place = match ahead(npu) {
            _ if npu == last => self.npus - 1,
            own if own < ahead(last) => own,
            own => own - 1,
        };
        if node.is_multiple_of(2) {
            place
        } else {
            self.npus - 1 - place
        }
    }

    fn npu_at(self, channel: u32, node: u32, place: u32) -> u32 {
        if self.nodes == 1 || self.npus == 1 {
            return place;
        }
        let place = if node.is_multiple_of(2) {
            place
        } else {
            self.npus - 1 - place
        };
        let (first, last) = self.ends(channel);
        if place == self.npus - 1 {
            return last;
        }
        let ahead = (first + self.npus - last) % self.npus;
        let back = if place < ahead { place } else { place + 1 };
        (first + self.npus - back) % self.npus
    }

    /// Returns a rank's position in the channel's ring.
    pub(super) fn position_of(self, channel: u32, rank: u32) -> u32 {
        let (node, npu) = (rank / self.npus, rank % self.npus);
        node * self.npus + self.place(channel, node, npu)
    }

    /// Returns the rank at a position in the channel's ring; the inverse of [`Self::position_of`].
    pub(super) fn rank_at(self, channel: u32, position: u32) -> u32 {
        let (node, place) = (position / self.npus, position % self.npus);
        node * self.npus + self.npu_at(channel, node, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rings_alternate_so_that_they_stay_on_their_rails() {
        let servers = Servers {
            nodes: 4,
            npus: 4,
            nics: 4,
        };
        let ring: Vec<u32> = (0..16).map(|at| servers.rank_at(0, at)).collect();
        // In by NPU 0 and out by NPU 1, then in by NPU 1 and out by NPU 0.
        assert_eq!(ring, [0, 3, 2, 1, 5, 6, 7, 4, 8, 11, 10, 9, 13, 14, 15, 12]);
        for channel in 0..4 {
            for position in 0..16 {
                let rank = servers.rank_at(channel, position);
                let next = servers.rank_at(channel, (position + 1) % 16);
                let same_rail = rank % 4 == next % 4;
                assert_eq!(same_rail, !servers.are_joined(rank, next));
            }
        }
    }

    proptest! {
        #[test]
        fn positions_and_ranks_agree(
            nodes in 1_u32..6,
            nics in 1_u32..6,
            of_each in 1_u32..4,
            channel in 0_u32..12,
        ) {
            let servers = Servers { nodes, npus: nics * of_each, nics };
            for rank in 0..servers.ranks() {
                let position = servers.position_of(channel, rank);
                prop_assert!(position < servers.ranks());
                prop_assert_eq!(servers.rank_at(channel, position), rank);
            }
        }
    }
}
