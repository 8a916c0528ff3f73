//! A schedule as a graph of operations, so that it can be written in the formats of graphs.

use super::builder::{GraphBuilder, RankBuilder};
use super::error::GraphError;
use super::operation::Operation;
use super::storage::Graph;
use crate::Schedule;

impl Graph {
    /// The sends and receives of a schedule: a send waits for the receives that release it, and the
    /// tag of a message is the number of its transfer.
    ///
    /// Carried out, the graph posts what the schedule posts, at the same times and in the same
    /// order. Times of a schedule that follow no arrival (`followed_by`, flows) and what passes
    /// within hosts are not in it.
    ///
    /// # Errors
    /// More operations than can be numbered.
    pub fn of_schedule(schedule: &dyn Schedule) -> Result<Graph, GraphError> {
        let mut parts = Parts {
            ranks: vec![RankBuilder::default(); schedule.ranks() as usize],
            send: vec![NONE; schedule.transfer_count() as usize],
        };
        // What is posted at once stands in the order of posting, what comes later roughly in the
        // order of time, so that operations that follow one another share cache lines.
        let mut initial = Vec::new();
        for rank in 0..schedule.ranks() {
            schedule.initial(rank, &mut initial);
        }
        for id in initial {
            parts.send(schedule, id);
        }
        let mut released = Vec::new();
        for id in 0..schedule.transfer_count() {
            let (rank, receive) = parts.receive(schedule, id);
            released.clear();
            schedule.released_by(id, &mut released);
            for &next in &released {
                let send = parts.send(schedule, next);
                parts.ranks[rank as usize].after(send, receive);
            }
        }
        for id in 0..schedule.transfer_count() {
            parts.send(schedule, id);
        }
        let mut builder = GraphBuilder::default();
        for rank in parts.ranks {
            builder.add(rank)?;
        }
        builder.finish()
    }
}

/// Stands for a send that is not there yet.
const NONE: u32 = u32::MAX;

/// A graph, while the transfers of a schedule are added to it.
struct Parts {
    ranks: Vec<RankBuilder>,
    /// The place of the send of each transfer.
    send: Vec<u32>,
}

impl Parts {
    /// The place of the send of a transfer, which is added if it is not there.
    fn send(&mut self, schedule: &dyn Schedule, id: u32) -> u32 {
        let place = &mut self.send[id as usize];
        if *place == NONE {
            let transfer = schedule.transfer(id);
            let operation = Operation::Send {
                peer: transfer.dst,
                bytes: transfer.bytes,
                tag: id,
            };
            *place = self.ranks[transfer.src as usize].add(operation, 0);
        }
        *place
    }

    /// Adds the receive of a transfer; gives its rank and its place there.
    fn receive(&mut self, schedule: &dyn Schedule, id: u32) -> (u32, u32) {
        let transfer = schedule.transfer(id);
        let operation = Operation::Receive {
            peer: Some(transfer.src),
            bytes: transfer.bytes,
            tag: Some(id),
        };
        let receive = self.ranks[transfer.dst as usize].add(operation, 0);
        (transfer.dst, receive)
    }
}
