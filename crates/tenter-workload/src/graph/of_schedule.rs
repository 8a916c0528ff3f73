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
        let (ranks, count) = (schedule.ranks(), schedule.transfer_count());
        let mut of_rank = vec![RankBuilder::default(); ranks as usize];
        let mut send = vec![u32::MAX; count as usize];
        let add = |id: u32, of_rank: &mut [RankBuilder]| {
            let transfer = schedule.transfer(id);
            let operation = Operation::Send {
                peer: transfer.dst,
                bytes: transfer.bytes,
                tag: id,
            };
            of_rank[transfer.src as usize].add(operation, 0)
        };
        // What is posted at once stands in the order of posting.
        let mut initial = Vec::new();
        for rank in 0..ranks {
            schedule.initial(rank, &mut initial);
        }
        for id in initial.into_iter().chain(0..count) {
            if send[id as usize] == u32::MAX {
                send[id as usize] = add(id, &mut of_rank);
            }
        }
        let mut released = Vec::new();
        for id in 0..count {
            let transfer = schedule.transfer(id);
            let rank = &mut of_rank[transfer.dst as usize];
            let receive = Operation::Receive {
                peer: Some(transfer.src),
                bytes: transfer.bytes,
                tag: Some(id),
            };
            let receive = rank.add(receive, 0);
            released.clear();
            schedule.released_by(id, &mut released);
            for &next in &released {
                rank.after(send[next as usize], receive);
            }
        }
        let mut builder = GraphBuilder::default();
        for rank in of_rank {
            builder.add(rank)?;
        }
        builder.finish()
    }
}
