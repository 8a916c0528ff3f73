//! Storage for all ranks' operations and messages.

use std::collections::BTreeMap;

use tenter_engine::{prefetch_at, values_per_line};

use super::operation::{Operation, Stored, StoredKind};
use super::rank_graph::between;
use super::sizes::Sizes;
use super::ways::Ways;

/// All ranks' operations in one list, and their messages in another. A rank's part is found with
/// one access to `starts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operations {
    list: Vec<Stored>,
    /// Index of each rank's first operation, and at the end the length of `list`.
    starts: Vec<u32>,
    /// Messages by transfer number; a rank's messages follow one another.
    messages: Vec<Message>,
    /// Receives, by ascending index in `list`, with the size word that each expects. After `shrink`
    /// only those remain whose message is unknown or has another size.
    expected: Vec<(u32, u32)>,
    sizes: Sizes,
    /// Destinations to which each rank sends, with message counts.
    pub(super) ways: Ways,
}

/// A message from one rank to another. It holds what the run needs while the message is under way,
/// so that the send's operation need not be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Payload as a word of [`Sizes`].
    size: u32,
    pub(super) src: u32,
    pub(super) dst: u32,
    /// Place of its send among the sender's operations.
    pub(super) place: u32,
    /// Place of the receive that takes it, if known before the run; otherwise [`Operation::ANY`].
    receive: u32,
}

const _: () = assert!(size_of::<Message>() == 20);

impl Message {
    /// Returns the place of the receive that takes it, if known before the run.
    pub(super) fn known_receive(&self) -> Option<u32> {
        Operation::unless_any(self.receive)
    }
}

impl Default for Operations {
    fn default() -> Operations {
        Operations {
            list: Vec::new(),
            starts: vec![0],
            messages: Vec::new(),
            expected: Vec::new(),
            sizes: Sizes::default(),
            ways: Ways::default(),
        }
    }
}

impl Operations {
    /// Appends the next rank's operations, each with its stream index, and numbers its messages.
    /// The caller has checked that all operations can be numbered.
    pub(super) fn push(&mut self, of_rank: impl Iterator<Item = (Operation, u16)>) {
        let rank = self.ranks();
        let begin = self.list.len();
        // Sorted, since `Ways` keeps each rank's destinations ascending.
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for (place, (operation, stream)) in (0..).zip(of_rank) {
            let stored = match operation {
                Operation::Compute { time } => Stored::timed(StoredKind::Compute, time, stream),
                Operation::Wait { time } => Stored::timed(StoredKind::Wait, time, stream),
                Operation::Collective { which } => {
                    Stored::new(StoredKind::Collective, [which, 0], stream)
                }
                Operation::Send { peer, bytes, tag } if peer == rank => {
                    let size = self.sizes.word(bytes);
                    Stored::new(StoredKind::SendToSelf, [size, tag], stream)
                }
                Operation::Send { peer, bytes, tag } => {
                    *counts.entry(peer).or_default() += 1;
                    let message = self.messages.len() as u32;
                    self.messages.push(Message {
                        size: self.sizes.word(bytes),
                        src: rank,
                        dst: peer,
                        place,
                        receive: Operation::ANY,
                    });
                    Stored::new(StoredKind::Send, [message, tag], stream)
                }
                Operation::Receive { peer, bytes, tag } => {
                    let size = self.sizes.word(bytes);
                    // The message is unknown so far. Once matching has found it, `shrink` drops
                    // equal sizes.
                    self.expected.push((begin as u32 + place, size));
                    let asked = [peer, tag].map(Operation::or_any);
                    Stored::new(StoredKind::OpenReceive, asked, stream)
                }
            };
            self.list.push(stored);
        }
        self.starts.push(self.list.len() as u32);
        self.ways.push(&counts);
    }

    /// Assigns `message` to a receive at rank `to` before the run, in both directions.
    pub(super) fn assign(&mut self, to: u32, receive: u32, message: u32) {
        self.messages[message as usize].receive = receive;
        self.of_mut(to)[receive as usize].assign(message);
    }

    /// Drops expected sizes that equal the assigned message's size, and returns memory reserved for
    /// further ranks.
    pub(super) fn shrink(&mut self) {
        let (list, messages, sizes) = (&self.list, &self.messages, &self.sizes);
        self.expected.retain(|&(receive, size)| {
            let message = list[receive as usize].taken();
            let sent = message.map(|message| sizes.bytes(messages[message as usize].size));
            sent != Some(sizes.bytes(size))
        });
        self.list.shrink_to_fit();
        self.messages.shrink_to_fit();
        self.expected.shrink_to_fit();
        self.sizes.shrink();
    }

    pub(super) fn ranks(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// Returns the operations of all ranks in one slice.
    pub(super) fn all(&self) -> &[Stored] {
        &self.list
    }

    /// Returns all messages, by transfer number.
    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the message that a send to another rank, or a receive with a known message, refers
    /// to.
    pub(super) fn message(&self, of: &Stored) -> &Message {
        &self.messages[of.message() as usize]
    }

    /// Returns a message's payload in bytes.
    #[inline]
    pub(super) fn bytes_of(&self, message: &Message) -> u64 {
        self.sizes.bytes(message.size)
    }

    /// Returns the operations of one rank, by place.
    pub(super) fn of(&self, rank: u32) -> &[Stored] {
        &self.list[between(&self.starts, rank)]
    }

    pub(super) fn of_mut(&mut self, rank: u32) -> &mut [Stored] {
        &mut self.list[between(&self.starts, rank)]
    }

    /// Returns a rank's operation as it is stored.
    #[inline]
    pub(super) fn get(&self, rank: u32, place: u32) -> &Stored {
        &self.list[self.index(rank, place)]
    }

    /// Prefetches `rank`'s operations one cache line ahead of `place`.
    #[inline]
    pub(super) fn prefetch_behind(&self, rank: u32, place: u32) {
        let ahead = values_per_line::<Stored>();
        prefetch_at(&self.list, self.index(rank, place) + ahead);
    }

    /// Prefetches messages about one cache line ahead.
    #[inline]
    pub(super) fn prefetch_messages_behind(&self, message: u32) {
        // A message of 20 bytes may straddle two lines; one more entry reaches into the next line.
        let ahead = values_per_line::<Message>() + 1;
        prefetch_at(&self.messages, message as usize + ahead);
    }

    fn index(&self, rank: u32, place: u32) -> usize {
        (self.starts[rank as usize] + place) as usize
    }

    /// Returns an operation in the form in which a builder received it.
    pub(super) fn operation(&self, rank: u32, place: u32) -> Operation {
        let index = self.index(rank, place);
        let stored = &self.list[index];
        match stored.kind {
            StoredKind::Compute => Operation::Compute {
                time: stored.time(),
            },
            StoredKind::Wait => Operation::Wait {
                time: stored.time(),
            },
            StoredKind::Collective => Operation::Collective {
                which: stored.which(),
            },
            StoredKind::SendToSelf => Operation::Send {
                peer: rank,
                bytes: self.sizes.bytes(stored.size_to_self()),
                tag: stored.tag(),
            },
            StoredKind::Send => {
                let message = self.message(stored);
                Operation::Send {
                    peer: message.dst,
                    bytes: self.bytes_of(message),
                    tag: stored.tag(),
                }
            }
            StoredKind::Receive => {
                let message = self.message(stored);
                let bytes = || self.bytes_of(message);
                Operation::Receive {
                    peer: Some(message.src),
                    // A receive takes what was sent; one that asked for another size has it in
                    // `expected`.
                    bytes: self.expected(index).unwrap_or_else(bytes),
                    tag: Some(stored.tag()),
                }
            }
            StoredKind::OpenReceive => Operation::Receive {
                peer: Operation::unless_any(stored.asked_peer()),
                bytes: self.expected(index).unwrap_or(0),
                tag: Operation::unless_any(stored.tag()),
            },
        }
    }

    /// Looks up the bytes that the receive at `index` expects; `None` if its message says them.
    fn expected(&self, index: usize) -> Option<u64> {
        let place = self
            .expected
            .binary_search_by_key(&index, |&(receive, _)| receive as usize);
        let (_, size) = self.expected[place.ok()?];
        Some(self.sizes.bytes(size))
    }

    /// Iterates over ranks with their operations.
    pub(super) fn by_rank(&self) -> impl Iterator<Item = (u32, &[Stored])> {
        (0..self.ranks()).map(|rank| (rank, self.of(rank)))
    }

    /// Returns the bytes that the stored operations take, including what ranks add to run them: one
    /// progress word for each operation, and one word for each message in posting order.
    pub(super) fn memory_bytes(&self) -> u64 {
        let of = |stored: usize, progress: usize, count: usize| {
            ((stored + progress) as u64).saturating_mul(count as u64)
        };
        let word = size_of::<u32>();
        of(size_of::<Stored>(), word, self.list.len())
            + of(size_of::<Message>(), word, self.messages.len())
            + of(size_of::<(u32, u32)>(), 0, self.expected.len())
            + self.sizes.memory_bytes()
    }
}
