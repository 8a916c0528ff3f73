//! Tokens straight from rank to rank: the low-latency kernels, and those of one scale-up domain.

use tenter_language::units::{Rate, Time};

use super::Direction;
use super::kernels::Kernel;
use crate::collective::all_to_all_parallel::Transfers;
use crate::{Destination, QueuePairScope, Schedule, Transfer};

/// The schedule: an all-to-all of the copies, whose blocks are those of the ranks with the experts.
pub(super) struct Direct {
    pub(super) all: Transfers,
    pub(super) direction: Direction,
    pub(super) kernel: Kernel,
}

impl Schedule for Direct {
    fn ranks(&self) -> u32 {
        self.all.ranks()
    }

    fn transfer_count(&self) -> u32 {
        self.all.transfer_count()
    }

    fn transfer(&self, id: u32) -> Transfer {
        let there = self.all.transfer(id);
        match self.direction {
            Direction::Dispatch => there,
            Direction::Combine => Transfer {
                // The results of the tokens that the other way has brought here.
                bytes: self.all.block(there.src),
                reduce: true,
                ..there
            },
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        self.all.initial(rank, out);
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        self.all.released_by(id, out);
    }

    fn dependencies(&self, id: u32) -> u32 {
        self.all.dependencies(id)
    }

    fn start_up(&self) -> Time {
        self.kernel.launch
    }

    fn pace(&self, _id: u32) -> Option<Rate> {
        self.kernel.pace
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        self.all.nth(src, to, scope, nth)
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        self.all.pairs(rank, scope, out);
    }
}
