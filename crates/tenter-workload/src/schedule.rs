//! What a collective algorithm answers: its transfers, and which arrivals release which of them.

use std::any::Any;

use tenter_units::Time;

use crate::flow_workload::FlowSchedule;
use crate::{Destination, QueuePairScope, Transfer};

/// Rings side by side: in each step each rank sends one transfer to the rank `stride` further on,
/// all of the same bytes, and waits for its arrival there before the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rings {
    /// From a rank to the next of its ring, around the end.
    pub stride: u32,
    /// Steps.
    pub steps: u32,
    /// Payload of each transfer.
    pub bytes: u64,
}

/// A collective algorithm over `ranks()` ranks as a graph of transfers with dense ids
/// `0..transfer_count()`.
///
/// The graph is answered by arithmetic and not stored. It is acyclic, each transfer waits for
/// arrivals at its own source only (a rank needs no news from elsewhere to go on), and the numbers
/// of [`dependencies`] and of [`released_by`] agree: every transfer is named by exactly as many
/// arrivals as it waits for.
///
/// Ids and ranks out of range are a caller's mistake: the answer is then meaningless, or a panic.
///
/// [`dependencies`]: Schedule::dependencies
/// [`released_by`]: Schedule::released_by
pub trait Schedule: Send + Sync {
    /// How many ranks take part; at least 2.
    fn ranks(&self) -> u32;

    /// How many transfers there are; the greatest id where there are [more](Schedule::transfers).
    fn transfer_count(&self) -> u32;

    /// How many transfers there are, also where ids cannot number them all: then it can be run only
    /// as what [`Schedule::rings`] says.
    fn transfers(&self) -> u64 {
        u64::from(self.transfer_count())
    }

    /// The rings that it consists of, where it is nothing else.
    fn rings(&self) -> Option<Rings> {
        None
    }

    /// The transfer of that id.
    fn transfer(&self, id: u32) -> Transfer;

    /// Appends the ids `rank` may send at once, in posting order.
    fn initial(&self, rank: u32, out: &mut Vec<u32>);

    /// Appends the ids that lose one dependency when `id` has arrived; the source of each is the
    /// destination of `id`.
    fn released_by(&self, id: u32, out: &mut Vec<u32>);

    /// How many arrivals the transfer waits for; 0 for the initial ones.
    fn dependencies(&self, id: u32) -> u32;

    /// From the start of the collective to the first sends, on top of what the hosts add.
    fn start_up(&self) -> Time {
        Time::ZERO
    }

    /// What a transfer takes from its release to its arrival, its bytes aside, where the library
    /// that carries it out says so: a transfer over links that are faster waits before it is
    /// posted.
    fn latency(&self, _id: u32) -> Time {
        Time::ZERO
    }

    /// The transfer that its source posts a stated time after this one, whatever arrives, and that
    /// time; it waits for nothing else. Collectives have none.
    fn followed_by(&self, _id: u32) -> Option<(u32, Time)> {
        None
    }

    /// The flows it consists of, where it is no collective but a workload of flows, each of which
    /// starts when one before it is acknowledged.
    fn flow_workload(&self) -> Option<&FlowSchedule> {
        None
    }

    /// Itself, where it is a graph of operations, whose ranks post in an order that the run
    /// decides: [`GraphSchedule::of`](crate::graph::GraphSchedule::of) tells.
    fn operations(&self) -> Option<&dyn Any> {
        None
    }

    /// Appends every destination `rank` ever sends to, each once and in ascending order.
    ///
    /// A larger size of the same collective has at least the destinations of a smaller one.
    ///
    /// This default walks all transfers, which is quadratic when asked for every rank. An algorithm
    /// that knows its neighbours says so directly, as all members of [`crate::collective`] do.
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

    /// The id of the `nth` transfer (from 0) on the way from `src` to a destination, in ascending
    /// order of ids.
    ///
    /// Queue pairs keep their order, so this is how a receiver knows what has just arrived:
    /// transfers of one way must become ready in ascending order of their ids.
    ///
    /// This default walks all transfers; an algorithm that knows the answer says so directly, as
    /// all members of [`crate::collective`] do.
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
