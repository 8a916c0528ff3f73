//! Resolution of recorded descriptions into calls.

use tenter_workload::graph::CollectiveName;

use super::members::{Members, ProcessGroups};
use super::names::Called;
use super::recorded::{Call, Message};
use super::sizes::{Elements, are_uneven, own_bytes, splits};
use crate::error::Wrong;
use crate::trace::Traces;

/// The rank at a message's other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A rank, by its number in the job.
    Rank(u64),
    /// A rank, by its place in the group.
    Place(u64),
}

const REPEATED_SPLITS: &str = "all-to-alls have uneven split sizes, and are taken as even: a single trace does not tell the split sizes of other ranks";

/// A call's description in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Described {
    pub(crate) called: Called,
    /// Element counts; `None` if the type is unknown.
    pub(crate) elements: Option<Elements>,
    pub(crate) members: Members,
    /// Split sizes for each rank as lists, if they differ.
    pub(crate) sent_splits: String,
    pub(crate) received_splits: String,
    pub(crate) peer: Option<Peer>,
    /// A collective's root, by its place in the group.
    pub(crate) root: Option<u64>,
    /// Number among the group's calls.
    pub(crate) sequence: Option<u64>,
    /// False if the recording cannot name the group: old versions with annotations alone.
    pub(crate) names_group: bool,
}

impl Described {
    /// Returns the lists' total length in bytes.
    pub(crate) fn length(&self) -> usize {
        let lists = [&self.members.list, &self.sent_splits, &self.received_splits];
        lists.iter().map(|list| list.len()).sum()
    }
}

fn too_long() -> Wrong {
    Wrong::new(
        "its size is above 2^50 bytes",
        "give calls of at most 2^50 bytes",
    )
}

/// Context in which descriptions are resolved: the traces, and the groups that are known.
pub(crate) struct Resolving<'t, 'r> {
    pub(crate) traces: &'t mut Traces<'r>,
    pub(crate) given: &'t ProcessGroups,
    pub(crate) groups: ProcessGroups,
    pub(crate) rank: u32,
    /// Recorded rank count, if it is known. A group that large has all ranks.
    pub(crate) world: Option<u32>,
}

impl Resolving<'_, '_> {
    /// Resolves a collective, or messages that are under way together.
    ///
    /// # Errors
    /// A rank outside the job, a group whose ranks nothing tells, and sizes beyond any message.
    pub(crate) fn call(&mut self, described: &[&Described]) -> Result<Call, Wrong> {
        let Some(first) = described.first() else {
            return Ok(Call::Measured);
        };
        let Called::Collective(name) = first.called else {
            let mut messages = Vec::with_capacity(described.len());
            for of in described {
                messages.extend(self.message(of)?);
            }
            // Without any usable message the call still takes its time.
            let has_none = messages.is_empty();
            return Ok(if has_none {
                Call::Measured
            } else {
                Call::Messages(messages)
            });
        };
        if !first.names_group {
            self.traces.count(
                "collectives are known from annotations alone, which name no group, and are taken as of all ranks",
                1,
            );
        }
        let Some(elements) = first.elements else {
            self.traces.count(
                "collectives have elements of an unknown type, and take the time that was recorded",
                1,
            );
            return Ok(Call::Measured);
        };
        let all = self.traces.ranks();
        let group = self.group(first)?;
        let size = self.traces.groups.size_of(group, all);
        if name == CollectiveName::AllToAll
            && let Some(call) = self.exchange(first, group)?
        {
            return Ok(call);
        }
        let bytes = own_bytes(name, elements, size).ok_or_else(too_long)?;
        let is_barrier = name == CollectiveName::Barrier;
        if bytes == 0 && !is_barrier {
            self.traces
                .count("collectives of 0 bytes take the time that was recorded", 1);
            return Ok(Call::Measured);
        }
        let group = self.traces.rooted(name, group, first.root)?;
        Ok(Call::Collective { name, bytes, group })
    }

    fn group(&mut self, of: &Described) -> Result<u32, Wrong> {
        let all = self.traces.ranks();
        let size = of.members.size.and_then(|size| u32::try_from(size).ok());
        // With one recording for all ranks, the group of the whole recording becomes that of the
        // job, whatever the two sizes are.
        if size.is_some() && size == self.world && self.traces.is_repeated() {
            let groups = &mut self.traces.groups;
            return groups.of_ranks(&of.members.name, (0..all).collect());
        }
        let known = &mut self.traces.groups;
        self.groups.number(&of.members, self.given, known, all)
    }

    /// Resolves an all-to-all with split sizes into messages; `None` if the splits are even or
    /// unknown.
    fn exchange(&mut self, of: &Described, group: u32) -> Result<Option<Call>, Wrong> {
        if self.traces.is_repeated() {
            let is_uneven = are_uneven(&of.sent_splits) || are_uneven(&of.received_splits);
            self.traces.count(REPEATED_SPLITS, u64::from(is_uneven));
            return Ok(None);
        }
        let ranks = self.traces.groups.ranks_of(group, self.traces.ranks())?;
        let size = ranks.len() as u32;
        let elements = of.elements.unwrap_or_default();
        let shares = |list: &str, bytes: Option<u64>| splits(list, bytes?, size);
        let sent = shares(&of.sent_splits, elements.sent_bytes());
        let received = shares(&of.received_splits, elements.received_bytes());
        // Recorders cut long lists off, and then the sizes are taken as even.
        let Some((sent, received)) = sent.zip(received) else {
            return Ok(None);
        };
        let mut messages = Vec::new();
        for (peer, (sent, received)) in ranks.into_iter().zip(sent.into_iter().zip(received)) {
            for (sends, bytes) in [(true, sent), (false, received)] {
                // A rank's part for itself stays in its memory.
                if peer != self.rank && bytes > 0 {
                    messages.push(Message {
                        sends,
                        peer,
                        bytes,
                        group,
                    });
                }
            }
        }
        Ok(Some(Call::Messages(messages)))
    }

    /// Resolves a message; `None` if its size or its peer was not recorded.
    fn message(&mut self, of: &Described) -> Result<Option<Message>, Wrong> {
        let sends = of.called == Called::Send;
        let elements = of.elements.unwrap_or_default();
        // Versions differ in whether a receive counts its elements as sent or as received.
        let bytes = if sends && elements.sent > 0 {
            elements.sent_bytes()
        } else {
            elements
                .received_bytes()
                .zip(elements.sent_bytes())
                .map(|(received, sent)| received.max(sent))
        };
        let bytes = bytes.ok_or_else(too_long)?;
        let Some(peer) = of.peer.filter(|_| of.elements.is_some()) else {
            self.traces.count(
                "messages name no peer or no type, and are left out; a call of none but these takes the time that was recorded",
                1,
            );
            return Ok(None);
        };
        let ranks = self.traces.ranks();
        let (named, number) = match peer {
            Peer::Rank(number) => (u32::try_from(number).ok(), number),
            Peer::Place(number) => {
                let group = self.group(of)?;
                let of_group = self.traces.groups.ranks_of(group, ranks)?;
                let place = usize::try_from(number).ok();
                (place.and_then(|place| of_group.get(place)).copied(), number)
            }
        };
        let peer = named.filter(|&peer| peer < ranks);
        let peer = peer.ok_or_else(|| {
            let what = format!(
                "it names rank {number}, which is none of the {ranks} ranks or of its group"
            );
            Wrong::new(what, "give the files of all ranks")
        })?;
        if self.traces.is_repeated() {
            let what = "a message to or from one rank cannot be repeated for all ranks";
            return Err(Wrong::new(what, "give the files of all ranks"));
        }
        // The name of a group is the same at all ranks, even if only one of them knows the members.
        let name = self.groups.plain_name(&of.members.name);
        let group = self.traces.groups.number(name);
        Ok(Some(Message {
            sends,
            peer,
            bytes,
            group,
        }))
    }
}
