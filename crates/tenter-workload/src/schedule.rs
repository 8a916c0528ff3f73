//! The interface that collective algorithms implement: transfers, and the arrivals that release
//! them.

use std::any::Any;

use tenter_language::units::{Rate, Time};

use crate::flow_workload::FlowSchedule;
use crate::{Destination, QueuePairScope, Transfer};

/// Rings that run side by side, each with the same payload per transfer.
///
/// In each step every rank sends one transfer to the rank `stride` further on. It waits for the
/// arrival from its own predecessor before it sends the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rings {
    /// Distance from a rank to its successor in the ring, modulo the rank count.
    pub stride: u32,
    /// Steps that each ring takes; a rank sends one transfer per step.
    pub steps: u32,
    /// Payload in each transfer, in bytes.
    pub bytes: u64,
}

/// A collective algorithm over `ranks()` ranks: a graph of transfers with dense ids
/// `0..transfer_count()`.
///
/// Implementations compute the graph instead of storing it. The graph is acyclic. Each transfer
/// waits only for arrivals at its own source, so a rank never needs to know what happens elsewhere.
/// [`dependencies`] and [`released_by`] agree: each transfer is released by exactly as many
/// arrivals as it waits for.
///
/// Passing an id or a rank that is out of range is a caller's mistake; the answer is then
/// meaningless, or the call panics.
///
/// [`dependencies`]: Schedule::dependencies
/// [`released_by`]: Schedule::released_by
pub trait Schedule: Send + Sync {
    /// Returns the count of participating ranks, at least 2.
    fn ranks(&self) -> u32;

    /// Returns the transfer count, capped at [`u32::MAX`] if there are [more](Schedule::transfers).
    fn transfer_count(&self) -> u32;

    /// Returns the exact number of transfers, even if it exceeds the 32-bit ids. Such a schedule
    /// cannot be simulated transfer by transfer; it runs at flow level as the [`Schedule::rings`]
    /// that it reports.
    fn transfers(&self) -> u64 {
        u64::from(self.transfer_count())
    }

    /// Returns the rings if the whole schedule consists of equal rings, so that it can be run as a
    /// unit.
    fn rings(&self) -> Option<Rings> {
        None
    }

    /// Returns the transfer with this id.
    fn transfer(&self, id: u32) -> Transfer;

    /// Appends the ids that `rank` may send when the collective starts, in posting order.
    fn initial(&self, rank: u32, out: &mut Vec<u32>);

    /// Appends the ids that lose one dependency when `id` arrives. The receiver of `id` sends all
    /// of them.
    fn released_by(&self, id: u32, out: &mut Vec<u32>);

    /// Returns the count of arrivals that the transfer waits for; 0 for initial transfers.
    fn dependencies(&self, id: u32) -> u32;

    /// Returns the time from the collective's start to the first sends, on top of the hosts'
    /// delays. NCCL's base latency is such a time.
    fn start_up(&self) -> Time {
        Time::ZERO
    }

    /// Returns the time from release to arrival that the modelled library adds up for this
    /// transfer, its bytes not counted. If the links on the path are faster than that, the transfer
    /// waits before it is posted.
    fn latency(&self, _id: u32) -> Time {
        Time::ZERO
    }

    /// Returns the rate at which the modelled library's kernel puts this transfer into a scale-up
    /// domain, if that is less than the domain's rate may be. Transfers over the fabric do not
    /// depend on it.
    fn pace(&self, _id: u32) -> Option<Rate> {
        None
    }

    /// Returns the transfer that the same source posts a fixed time after this one, and that time.
    /// Such a transfer waits for no arrival. Streams use this; collectives return `None`.
    fn followed_by(&self, _id: u32) -> Option<(u32, Time)> {
        None
    }

    /// Returns the flow workload behind this schedule, if it is one. Flows wait for no data: a
    /// closed loop starts a flow when the one before it is acknowledged, an open loop at random
    /// times.
    fn flow_workload(&self) -> Option<&FlowSchedule> {
        None
    }

    /// Returns `self` if this is an operation graph, whose ranks post in an order that the run
    /// decides. Callers get it back through [`GraphSchedule::of`](crate::graph::GraphSchedule::of).
    fn operations(&self) -> Option<&dyn Any> {
        None
    }

    /// Appends every destination that `rank` ever sends to, each once, in ascending order.
    ///
    /// A larger size of the same collective has at least the destinations of a smaller one, so
    /// tables built for the largest size serve all sizes.
    ///
    /// The default walks all transfers, which is quadratic if it is called for every rank.
    /// Algorithms that know their neighbours override it; all members of [`crate::collective`] do.
    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let start = out.len();
        for id in 0..self.transfer_count() {
            let transfer = self.transfer(id);
            if transfer.src == rank {
                out.push(transfer.way(scope));
            }
        }
        let mut found = out.split_off(start);
        found.sort_unstable();
        found.dedup();
        out.append(&mut found);
    }

    /// Returns the id of the `nth` transfer (from 0) from `src` to a destination; ids ascend.
    ///
    /// A queue pair delivers in order, so the receiver identifies an arrival by counting. Transfers
    /// to one destination must therefore become ready in ascending id order.
    ///
    /// The default walks all transfers; all members of [`crate::collective`] override it.
    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let on_the_way = |id: &u32| {
            let transfer = self.transfer(*id);
            transfer.src == src && transfer.way(scope) == to
        };
        (0..self.transfer_count())
            .filter(on_the_way)
            .nth(nth as usize)
    }
}
