//! Rendezvous: a large message waits at its sender until a receive is ready for it.
//!
//! The sender posts a request. Once a receive matches it, the receiver posts a clearance, whose
//! arrival lets the sender post the message. Requests and clearances are transfers with their own
//! numbers.
//!
//! Source: the rendezvous protocol in MPI implementations, which `LogGOPSim` models for messages
//! above S.

use std::collections::BTreeMap;

use super::error::GraphError;
use super::storage::Graph;
use super::ways::Ways;
use crate::of_rank::of_rank;

/// Meaning of a transfer number in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A message with this number.
    Message(u32),
    /// The request to send a message.
    Request(u32),
    /// The clearance to send a message.
    Clearance(u32),
    /// A transfer that belongs to a collective.
    Part,
}

/// A graph's handshakes, whose transfers are numbered after all messages.
#[derive(Debug)]
pub(super) struct Handshakes {
    /// Transfer number of the first request. Each clearance follows its request.
    first: u32,
    /// Messages that need a handshake, ascending.
    messages: Vec<u32>,
    /// Receiver and message of each clearance, ascending.
    cleared: Vec<(u32, u32)>,
    /// Rank pairs with messages and handshakes counted together, because they share queue pairs.
    ways: Ways,
}

impl Handshakes {
    /// Payload of a request or a clearance, in bytes. With headers it makes the frame of a usual
    /// control message.
    pub(super) const BYTES: u64 = 64;
    /// Bit that tells a clearance's lane from the lanes of messages that the same rank sends.
    pub(super) const CLEARANCE_LANE: u32 = 1 << 31;

    /// Numbers the handshakes for messages above `above_bytes`; `None` if no message is that large.
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
        // A request shares the rank pair of its message; a clearance takes the opposite one.
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

    /// Returns the number after the last clearance, where the collectives' transfers begin.
    pub(super) fn end(&self) -> u32 {
        self.first + 2 * self.messages.len() as u32
    }

    /// Returns the rank pairs with messages and handshakes counted together.
    pub(super) fn ways(&self) -> &Ways {
        &self.ways
    }

    /// Returns a message's request and clearance; `None` if it needs no handshake.
    pub(super) fn of(&self, message: u32) -> Option<(u32, u32)> {
        let place = self.messages.binary_search(&message).ok()? as u32;
        let request = self.first + 2 * place;
        Some((request, request + 1))
    }

    /// Returns what a transfer is whose number lies behind the messages.
    pub(super) fn what(&self, transfer: u32) -> What {
        let number = transfer - self.first;
        match self.messages.get(number as usize / 2) {
            Some(&message) if number.is_multiple_of(2) => What::Request(message),
            Some(&message) => What::Clearance(message),
            // Transfers of collectives are numbered behind the handshakes.
            None => What::Part,
        }
    }

    /// Iterates over the messages for which `rank` sends clearances.
    pub(super) fn cleared_by(&self, rank: u32) -> impl Iterator<Item = u32> + '_ {
        let own = of_rank(&self.cleared, rank, |&(by, _)| by).iter();
        own.map(|&(_, message)| message)
    }
}
