//! Flow lists with starts: tables, connection matrices from htsim, flow files from ns-3.
//!
//! ```text
//!   reader of a format ─ Flow of each line ─▶ FlowList ─▶ graph: sends behind a clock and behind
//!                                                         what others have sent and received
//! ```
//!
//! Each rank has a clock: a stream that waits for one start after the other. A flow is a send, and
//! is done when it is acknowledged. If a flow waits for another one's arrival, their common rank
//! has a receive for that.

mod htsim;
mod ns3;
mod parquet_table;
mod table;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;

use tenter_language::units::{Budget, Time};
use tenter_workload::graph::{Operation, RankBuilder};
use tenter_workload::spec::{FlowReading, Origin};

use crate::error::{ImportError, Place};
use crate::imported::Imported;
use crate::limits::{MESSAGE_MAX, RANKS_MAX};
use crate::taken_graph::TakenGraph;

pub use htsim::read as read_htsim;
pub use ns3::read as read_ns3;
pub use parquet_table::{is_parquet, read as read_parquet};
pub use table::read as read_table;
pub use write::{Flows, htsim as write_htsim, ns3 as write_ns3};

/// A flow that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct After {
    /// Place of the flow that is waited for.
    flow: usize,
    /// True if its arrival counts, false if its acknowledgement at the sender does.
    received: bool,
}

/// A flow from one rank to another.
#[derive(Clone, Debug)]
struct Flow {
    src: u32,
    dst: u32,
    bytes: u64,
    start: Time,
    after: Vec<After>,
    /// Place of the join that the flow waits for, in [`FlowList::joins`].
    join: Option<usize>,
    /// Place of the flow in its file.
    at: Place,
}

/// A rank's streams. Each carries out one operation at a time; a send occupies its stream only
/// until it is posted.
mod stream {
    pub(super) const SENDS: u32 = 0;
    pub(super) const CLOCK: u32 = 1;
    pub(super) const JOINS: u32 = 2;
}

/// Flows of a file, with notes for the user.
#[derive(Default)]
struct FlowList {
    flows: Vec<Flow>,
    /// Sets of flows that several others wait for. An operation without duration waits for a whole
    /// set, so the waits grow with flows and not with pairs.
    joins: Vec<Vec<After>>,
    /// Number of ranks that the file declares.
    ranks: Option<u32>,
    notes: Vec<String>,
}

/// Starts beyond this get a note: the job would be idle that long.
const LONG_IDLE: Time = Time::from_us(100_000);

/// Time for a byte at 1 Gb/s. No fabric that is simulated today has slower links.
const SLOWEST_BYTE: Time = Time::from_ns(8);
/// Latency of one packet, at the most: only paths between continents take longer.
const LATENCY: Time = Time::from_us(100);

impl FlowList {
    /// Checks a flow and adds it.
    fn push(&mut self, flow: Flow) -> Result<(), ImportError> {
        let wrong = |what: String, remedy: &str| Err(ImportError::new(flow.at, what, remedy));
        if flow.src == flow.dst {
            let what = format!("rank {} sends to itself", flow.src);
            return wrong(what, "name another destination");
        }
        if flow.bytes == 0 {
            return wrong("the flow has no bytes".to_owned(), "give it a size");
        }
        if flow.bytes > MESSAGE_MAX {
            let what = format!("a flow of {} bytes is too long", flow.bytes);
            return wrong(what, "give at most 2^50 bytes");
        }
        let highest = flow.src.max(flow.dst);
        let ranks = self.ranks.map_or(RANKS_MAX, u64::from);
        if u64::from(highest) >= ranks {
            let what = format!("there is no rank {highest}; ranks are 0 to {}", ranks - 1);
            return wrong(what, "name another one, or give more ranks");
        }
        self.flows.push(flow);
        Ok(())
    }

    /// Makes the graph of the flows.
    fn finish(
        mut self,
        reading: FlowReading,
        end: Place,
        budget: &Budget,
    ) -> Result<Imported, ImportError> {
        if self.flows.is_empty() {
            return Err(ImportError::new(
                end,
                "there are no flows in it",
                "list at least one",
            ));
        }
        let named = self.flows.iter().map(|flow| flow.src.max(flow.dst)).max();
        let named = named.map_or(0, |rank| rank + 1);
        // Guess: without a rank count, the highest rank in a flow is the last one.
        let ranks = reading.ranks.or(self.ranks).unwrap_or(named);
        if ranks < named {
            let what = format!("flows name rank {}, and there are {ranks} ranks", named - 1);
            return Err(ImportError::new(end, what, "give more `ranks`"));
        }
        self.shift(reading.origin);
        let mut builder = TakenGraph::new(ranks, end, budget)?;
        // Ranks without flows take memory, too, and a file may declare any number.
        let empty = u64::from(ranks) * size_of::<RankBuilder>() as u64;
        let allowed = budget.may_take(empty);
        allowed.map_err(|over| ImportError::of(end, over))?;
        for rank in self.ranks(ranks)? {
            builder.add(rank, end)?;
        }
        let graph = builder.finish(end)?;
        Ok(Imported {
            graph,
            notes: self.notes,
        })
    }

    /// Returns an upper estimate for the time of all flows: the bytes that the busiest rank sends,
    /// or receives, over the slowest plausible link, and a latency.
    fn longest(&self) -> Time {
        let mut busy: BTreeMap<(bool, u32), u64> = BTreeMap::new();
        for flow in &self.flows {
            for end in [(false, flow.src), (true, flow.dst)] {
                let bytes = busy.entry(end).or_default();
                *bytes = bytes.saturating_add(flow.bytes);
            }
        }
        let most = busy.into_values().max().unwrap_or(0);
        SLOWEST_BYTE.saturating_mul(most).saturating_add(LATENCY)
    }

    /// Moves the origin of starts, or notes a long idle time before the first one.
    fn shift(&mut self, origin: Origin) {
        let timed = self
            .flows
            .iter()
            .filter(|flow| flow.after.is_empty() && flow.join.is_none());
        let first = timed.map(|flow| flow.start).min().unwrap_or_default();
        match origin {
            Origin::FirstFlow => {
                for flow in &mut self.flows {
                    flow.start = flow.start.saturating_sub(first);
                }
                if !first.is_zero() {
                    self.notes
                        .push(format!("all flows start {first} earlier than in the file"));
                }
            }
            Origin::File if first > LONG_IDLE => self.notes.push(format!(
                "nothing is sent for the first {first}; `origin: first-flow` leaves them out"
            )),
            Origin::File => {}
        }
    }

    /// Makes the operations of each rank.
    fn ranks(&self, ranks: u32) -> Result<Vec<RankBuilder>, ImportError> {
        let mut built = vec![RankBuilder::default(); ranks as usize];
        let mut sends = vec![0_u32; self.flows.len()];
        for (number, flow) in (0..).zip(&self.flows) {
            let (peer, bytes) = (flow.dst, flow.bytes);
            // The tag is the flow's number, so a receive takes that flow and no other of its pair.
            let send = Operation::Send {
                peer,
                bytes,
                tag: number,
            };
            sends[number as usize] = built[flow.src as usize].add(send, stream::SENDS);
        }
        self.clocks(&sends, &mut built);
        let mut waits = Waits {
            flows: &self.flows,
            sends: &sends,
            receives: BTreeMap::new(),
            built: &mut built,
        };
        // The operation and rank of each join.
        let mut joins: Vec<Option<(u32, u32)>> = vec![None; self.joins.len()];
        for (flow, &send) in self.flows.iter().zip(&sends) {
            waits.add(flow, send, &flow.after)?;
            let Some(place) = flow.join else {
                continue;
            };
            let join = if let Some((join, rank)) = joins[place] {
                if rank != flow.src {
                    // Another rank cannot wait at this join: the check explains which end is
                    // elsewhere.
                    waits.check(flow, &self.joins[place])?;
                }
                join
            } else {
                let nothing = Operation::Compute { time: Time::ZERO };
                let join = waits.built[flow.src as usize].add(nothing, stream::JOINS);
                waits.add(flow, join, &self.joins[place])?;
                joins[place] = Some((join, flow.src));
                join
            };
            waits.built[flow.src as usize].after(send, join);
        }
        Ok(built)
    }

    /// Lets flows wait for their starts.
    fn clocks(&self, sends: &[u32], built: &mut [RankBuilder]) {
        let mut timed: Vec<(u32, Time, u32)> = Vec::new();
        for (flow, &send) in self.flows.iter().zip(sends) {
            if !flow.start.is_zero() {
                timed.push((flow.src, flow.start, send));
            }
        }
        // The order of waits follows from their content, not from that of the file.
        timed.sort_unstable();
        for of_rank in timed.chunk_by(|a, b| a.0 == b.0) {
            let rank = &mut built[of_rank[0].0 as usize];
            let mut before = Time::ZERO;
            for together in of_rank.chunk_by(|a, b| a.1 == b.1) {
                let start = together[0].1;
                let time = start.saturating_sub(before);
                let tick = rank.add(Operation::Wait { time }, stream::CLOCK);
                // Waits of one stream follow each other, so each has only the time since the one
                // before.
                before = start;
                for &(_, _, send) in together {
                    rank.after(send, tick);
                }
            }
        }
    }
}

/// State in which waits between flows are added.
struct Waits<'l> {
    flows: &'l [Flow],
    /// Operation that sends each flow, by the flow's place.
    sends: &'l [u32],
    /// Operation that receives a flow, by the flow's place; only awaited flows have one.
    receives: BTreeMap<usize, u32>,
    built: &'l mut [RankBuilder],
}

impl Waits<'_> {
    /// Lets an operation at `flow`'s source wait for the ends of others.
    fn add(&mut self, flow: &Flow, operation: u32, ends: &[After]) -> Result<(), ImportError> {
        self.check(flow, ends)?;
        let rank = &mut self.built[flow.src as usize];
        for after in ends {
            let other = &self.flows[after.flow];
            let waited = if after.received {
                let receive = Operation::Receive {
                    peer: Some(other.src),
                    bytes: other.bytes,
                    tag: Some(after.flow as u32),
                };
                let add = || rank.add(receive, stream::SENDS);
                // Several flows may wait for one arrival, which is received once.
                *self.receives.entry(after.flow).or_insert_with(add)
            } else {
                self.sends[after.flow]
            };
            rank.after(operation, waited);
        }
        Ok(())
    }

    /// Refuses ends that happen elsewhere: a rank learns of other ranks by messages alone.
    fn check(&self, flow: &Flow, ends: &[After]) -> Result<(), ImportError> {
        let there = ends.iter().map(|after| {
            let other = &self.flows[after.flow];
            if after.received { other.dst } else { other.src }
        });
        let Some(there) = there.into_iter().find(|&there| there != flow.src) else {
            return Ok(());
        };
        let what = format!(
            "the flow starts at rank {}, and what it waits for happens at rank {there}",
            flow.src
        );
        let remedy = "let it wait for something that its own rank sends or receives";
        Err(ImportError::new(flow.at, what, remedy))
    }
}
