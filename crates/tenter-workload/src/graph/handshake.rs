//! Rendezvous: large messages are asked for before they are sent.
//!
//! The sender posts a request; once a receive takes the message, the receiver posts a clearance,
//! and its arrival lets the sender post the message. Requests and clearances are transfers of their
//! own.
//!
//! Source: the rendezvous protocol of MPI implementations, as `LogGOPSim` has it for messages above
//! S.

use std::collections::BTreeMap;

use super::error::GraphError;
use super::storage::Graph;
use super::ways::Ways;
use crate::of_rank::of_rank;

/// What a transfer of a graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A message.
    Message(u32),
    /// The request to send a message.
    Request(u32),
    /// The clearance to send a message.
    Clearance(u32),
    /// A part of a collective.
    Part,
}

/// The handshakes of a graph.
#[derive(Debug)]
pub(super) struct Handshakes {
    /// The number of the first request; each is followed by its clearance.
    first: u32,
    /// The messages that have one, ascending.
    messages: Vec<u32>,
    /// Receivers and the messages that they clear, ascending.
    cleared: Vec<(u32, u32)>,
    /// The ways of messages and handshakes.
    ways: Ways,
}

impl Handshakes {
    /// Bytes of a request and of a clearance: with headers, a frame of usual control messages.
    pub(super) const BYTES: u64 = 64;
    /// Distinguishes the lane of a clearance from those of the rank's own messages.
    pub(super) const CLEARANCE_LANE: u32 = 1 << 31;

    /// The handshakes of messages above a size; `None` where no message is that large.
    ///
    /// # Errors
    /// More transfers than can be numbered.
    pub(super) fn new(graph: &Graph, above_bytes: u64) -> Result<Option<Handshakes>, GraphError> {
        let sends = (0..).zip(graph.sends());
        let large = sends.filter(|(_, (_, _, bytes))| *bytes > above_bytes);
        let large: Vec<(u32, (u32, u32, u64))> = large.collect();
        let last = u64::from(graph.messages()) + 2 * large.len() as u64;
        if large.is_empty() {
            return Ok(None);
        }
        if u32::try_from(last).is_err() {
            return Err(GraphError::TooManyTransfers);
        }
        let mut counts = vec![BTreeMap::new(); graph.ranks() as usize];
        for rank in 0..graph.ranks() {
            counts[rank as usize].extend(graph.ways().counts(rank));
        }
        let mut cleared = Vec::with_capacity(large.len());
        for &(message, (src, dst, _)) in &large {
            *counts[src as usize].entry(dst).or_default() += 1;
            *counts[dst as usize].entry(src).or_default() += 1;
            cleared.push((dst, message));
        }
        cleared.sort_unstable();
        let mut ways = Ways::default();
        for counts in &counts {
            ways.push(counts);
        }
        Ok(Some(Handshakes {
            first: graph.messages(),
            messages: large.into_iter().map(|(message, _)| message).collect(),
            cleared,
            ways,
        }))
    }

    /// One more than the last clearance.
    pub(super) fn end(&self) -> u32 {
        self.first + 2 * self.messages.len() as u32
    }

    /// The ways of messages and handshakes.
    pub(super) fn ways(&self) -> &Ways {
        &self.ways
    }

    /// The request and the clearance of a message; `None` where it is sent without.
    pub(super) fn of(&self, message: u32) -> Option<(u32, u32)> {
        let place = self.messages.binary_search(&message).ok()? as u32;
        let request = self.first + 2 * place;
        Some((request, request + 1))
    }

    /// What a transfer behind the messages is.
    pub(super) fn what(&self, transfer: u32) -> What {
        let number = transfer - self.first;
        match self.messages.get(number as usize / 2) {
            Some(&message) if number.is_multiple_of(2) => What::Request(message),
            Some(&message) => What::Clearance(message),
            None => What::Part,
        }
    }

    /// The messages that a rank clears.
    pub(super) fn cleared_by(&self, rank: u32) -> impl Iterator<Item = u32> + '_ {
        let own = of_rank(&self.cleared, rank, |&(by, _)| by).iter();
        own.map(|&(_, message)| message)
    }
}
