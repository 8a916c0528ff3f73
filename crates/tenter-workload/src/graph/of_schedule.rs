//! Converts a schedule into a graph, so that it can be written in graph formats.

use super::builder::{GraphBuilder, RankBuilder};
use super::error::GraphError;
use super::operation::Operation;
use super::storage::Graph;
use crate::Schedule;

impl Graph {
    /// Converts a schedule into sends and receives. A send waits for the receives that release its
    /// transfer; a message's tag is the transfer's number.
    ///
    /// A run of the graph posts the same transfers as the schedule, at the same times and in the
    /// same order. Left out are releases that follow no arrival ([`Schedule::followed_by`], flows)
    /// and transfers within hosts.
    ///
    /// # Errors
    /// More operations than can be numbered.
    pub fn of_schedule(schedule: &dyn Schedule) -> Result<Graph, GraphError> {
        let mut parts = Parts {
            ranks: vec![RankBuilder::default(); schedule.ranks() as usize],
            send: vec![NONE; schedule.transfer_count() as usize],
        };
        // Initial sends come first, in the order of posting, and later ones roughly in the order of
        // time. Operations that run one after the other then share cache lines.
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
        // Sends that no arrival releases, such as those of flows.
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

/// A send that has not been added yet.
const NONE: u32 = u32::MAX;

/// A graph while a schedule's transfers are added to it.
struct Parts {
    ranks: Vec<RankBuilder>,
    /// Place of each transfer's send, or `NONE`.
    send: Vec<u32>,
}

impl Parts {
    /// Returns the place of a transfer's send, which is added if it is missing.
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

    /// Adds a transfer's receive, and returns its rank and place.
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
