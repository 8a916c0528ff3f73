//! The operations of all ranks and their messages, as they are stored.

use std::collections::BTreeMap;

use tenter_engine::{prefetch_at, values_per_line};

use super::operation::{Operation, Stored, StoredKind};
use super::rank_graph::between;
use super::sizes::Sizes;
use super::ways::Ways;

/// The operations of all ranks in one list, so that a rank's part of the graph is found without
/// looking at more than where it begins, and their messages in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operations {
    list: Vec<Stored>,
    /// Where the operations of each rank begin, and at the end where the last ones end.
    starts: Vec<u32>,
    /// By transfer; those of a rank follow one another.
    messages: Vec<Message>,
    /// Receives in the order of the list, each with the size that it expects: those whose message
    /// is not certain, or of another size.
    expected: Vec<(u32, u32)>,
    sizes: Sizes,
    /// Where ranks send to, and how many messages.
    pub(super) ways: Ways,
}

/// The message of a send to another rank: all that is asked for of it while it is under way, so
/// that its operation need not be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Its payload, as [`Sizes`] has it.
    size: u32,
    pub(super) src: u32,
    pub(super) dst: u32,
    /// The place of the send among the operations of its rank.
    pub(super) place: u32,
    /// The receive that takes it whatever happens; [`Operation::ANY`] where there is none.
    receive: u32,
}

const _: () = assert!(size_of::<Message>() == 20);

impl Message {
    /// The receive that takes it whatever happens.
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
    /// Adds those of the rank that comes next, each with its stream, and numbers its messages;
    /// together they can be numbered.
    pub(super) fn push(&mut self, of_rank: impl Iterator<Item = (Operation, u16)>) {
        let rank = self.ranks();
        let begin = self.list.len();
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

    /// A receive takes a message whatever happens.
    pub(super) fn assign(&mut self, to: u32, receive: u32, message: u32) {
        self.messages[message as usize].receive = receive;
        self.of_mut(to)[receive as usize].assign(message);
    }

    /// Forgets what receives expect that is told by their messages, and gives back the memory that
    /// further ranks would have taken.
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

    /// How many ranks there are.
    pub(super) fn ranks(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Stored] {
        &self.list
    }

    /// The messages, by transfer.
    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The message of a send to another rank, or of a receive that takes a certain one.
    pub(super) fn message(&self, of: &Stored) -> &Message {
        &self.messages[of.message() as usize]
    }

    /// The payload of a message, in bytes.
    #[inline]
    pub(super) fn bytes_of(&self, message: &Message) -> u64 {
        self.sizes.bytes(message.size)
    }

    /// Those of a rank.
    pub(super) fn of(&self, rank: u32) -> &[Stored] {
        &self.list[between(&self.starts, rank)]
    }

    pub(super) fn of_mut(&mut self, rank: u32) -> &mut [Stored] {
        &mut self.list[between(&self.starts, rank)]
    }

    /// One of them, as it is stored.
    #[inline]
    pub(super) fn get(&self, rank: u32, place: u32) -> &Stored {
        &self.list[self.index(rank, place)]
    }

    /// Prefetches the operations of a rank that come soon behind one.
    #[inline]
    pub(super) fn prefetch_behind(&self, rank: u32, place: u32) {
        let ahead = values_per_line::<Stored>();
        prefetch_at(&self.list, self.index(rank, place) + ahead);
    }

    /// Prefetches the messages of a rank that come soon behind one.
    #[inline]
    pub(super) fn prefetch_messages_behind(&self, message: u32) {
        // Messages lie across the ends of lines.
        let ahead = values_per_line::<Message>() + 1;
        prefetch_at(&self.messages, message as usize + ahead);
    }

    fn index(&self, rank: u32, place: u32) -> usize {
        (self.starts[rank as usize] + place) as usize
    }

    /// One of them, as it was given.
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

    /// The bytes that a receive expects where its message does not tell.
    fn expected(&self, index: usize) -> Option<u64> {
        let place = self
            .expected
            .binary_search_by_key(&index, |&(receive, _)| receive as usize);
        let (_, size) = self.expected[place.ok()?];
        Some(self.sizes.bytes(size))
    }

    /// The ranks with their operations.
    pub(super) fn by_rank(&self) -> impl Iterator<Item = (u32, &[Stored])> {
        (0..self.ranks()).map(|rank| (rank, self.of(rank)))
    }

    /// The memory that they take, and that ranks take to carry them out, in bytes.
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
