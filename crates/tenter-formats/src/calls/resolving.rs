//! Calls as what a recording says of them, and what comes of it.

use tenter_workload::graph::CollectiveName;

use super::members::{Members, ProcessGroups};
use super::names::Called;
use super::recorded::{Call, Message};
use super::sizes::{Elements, are_uneven, own_bytes, splits};
use crate::error::Wrong;
use crate::trace::Traces;

/// Who sends a message, or gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A rank by its number among all.
    Rank(u64),
    /// A rank by its place in the group.
    Place(u64),
}

const REPEATED_SPLITS: &str = "all-to-alls have uneven split sizes, and are taken as even: a single trace does not tell the split sizes of other ranks";

/// What a recording says of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Described {
    pub(crate) called: Called,
    /// `None` of a type that is not known.
    pub(crate) elements: Option<Elements>,
    pub(crate) members: Members,
    /// Lists of the split sizes of each rank, where they differ.
    pub(crate) sent_splits: String,
    pub(crate) received_splits: String,
    pub(crate) peer: Option<Peer>,
    /// The place in the group of the root of a collective that has one.
    pub(crate) root: Option<u64>,
    /// Its number among those of its group.
    pub(crate) sequence: Option<u64>,
    /// Whether the recording could say which group it is of.
    pub(crate) names_group: bool,
}

impl Described {
    /// How many characters its lists have.
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

/// What calls are looked up in, and noted.
pub(crate) struct Resolving<'t, 'r> {
    pub(crate) traces: &'t mut Traces<'r>,
    pub(crate) given: &'t ProcessGroups,
    pub(crate) groups: ProcessGroups,
    pub(crate) rank: u32,
    /// The ranks that were recorded, where that is known: a group of so many is of all.
    pub(crate) world: Option<u32>,
}

impl Resolving<'_, '_> {
    /// The call that was described, or the messages that are on their way together.
    ///
    /// # Errors
    /// A rank that there is not, a group of which nothing tells the ranks, and more bytes than any
    /// message has.
    pub(crate) fn call(&mut self, described: &[&Described]) -> Result<Call, Wrong> {
        let Some(first) = described.first() else {
            return Ok(Call::Measured);
        };
        let Called::Collective(name) = first.called else {
            let mut messages = Vec::with_capacity(described.len());
            for of in described {
                messages.extend(self.message(of)?);
            }
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
        if size.is_some() && size == self.world && self.traces.is_repeated() {
            let groups = &mut self.traces.groups;
            return groups.of_ranks(&of.members.name, (0..all).collect());
        }
        let known = &mut self.traces.groups;
        self.groups.number(&of.members, self.given, known, all)
    }

    /// An all-to-all in which ranks have split sizes of their own.
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
        let Some((sent, received)) = sent.zip(received) else {
            return Ok(None);
        };
        let mut messages = Vec::new();
        for (peer, (sent, received)) in ranks.into_iter().zip(sent.into_iter().zip(received)) {
            for (sends, bytes) in [(true, sent), (false, received)] {
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

    /// A message; `None` where its size or its peer is not recorded.
    fn message(&mut self, of: &Described) -> Result<Option<Message>, Wrong> {
        let sends = of.called == Called::Send;
        let elements = of.elements.unwrap_or_default();
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
        // The name of a group is the same at all ranks, even where one knows its ranks and another
        // does not.
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
