//! One rank's operations: as a builder receives them, and packed into 16 bytes for storage.

use tenter_language::units::Time;

use super::edge::Edge;

/// One step in a rank's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The rank computes. [`Timing::compute_ppm`] scales the time.
    Compute {
        /// Computing time before `compute_ppm` scales it.
        time: Time,
    },
    /// The rank idles on this stream, for example until a request arrives. [`Timing::compute_ppm`]
    /// does not scale the time.
    Wait {
        /// Time for which the stream idles.
        time: Time,
    },
    /// The rank sends a message; a send to the rank itself is delivered at once.
    Send {
        /// Rank that gets the message.
        peer: u32,
        /// Payload in bytes, without headers.
        bytes: u64,
        /// Compared with receives' tags; must be below [`Operation::ANY`].
        tag: u32,
    },
    /// The rank takes a message that has arrived, or waits for one.
    Receive {
        /// Sending rank; `None` accepts a message from any rank.
        peer: Option<u32>,
        /// Expected payload in bytes. Matching ignores it: the run uses the size that was sent.
        bytes: u64,
        /// Tag that the message must have; `None` accepts any.
        tag: Option<u32>,
    },
    /// The rank takes part in a collective with the other ranks in its group.
    Collective {
        /// Number that [`Collectives::add`](super::Collectives::add) returned for it.
        which: u32,
    },
}

impl Operation {
    /// Stored value for "any rank" and "any tag".
    pub const ANY: u32 = u32::MAX;

    /// Decodes a stored rank or tag: `None` stands for any.
    pub fn unless_any(stored: u32) -> Option<u32> {
        (stored != Operation::ANY).then_some(stored)
    }

    /// Encodes a rank or tag for storage, `None` as [`Operation::ANY`].
    pub(super) fn or_any(given: Option<u32>) -> u32 {
        given.unwrap_or(Operation::ANY)
    }
}

/// Kind of an operation without its parameters, for counts and tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum OperationKind {
    /// An [`Operation::Compute`] on any stream.
    Compute,
    /// [`Operation::Send`], to another rank or to the rank itself.
    Send,
    /// An [`Operation::Receive`], open or with a known message.
    Receive,
    /// An [`Operation::Collective`] on any stream.
    Collective,
    /// An [`Operation::Wait`] on any stream.
    Wait,
}

/// Costs of operations on their stream, and the protocol by which messages are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Time for which a send occupies its stream, and a receive once it has its message (o in
    /// `LogGOPS`).
    pub overhead: Time,
    /// Largest payload, in bytes, whose send is done as soon as it is posted (S in `LogGOPS`). A
    /// larger message's send is done when the receiver's NIC has acknowledged it.
    pub eager_bytes: u64,
    /// True if messages larger than `eager_bytes` wait for a handshake with their receive.
    pub rendezvous: bool,
    /// Factor on computing times, in millionths: 1,000,000 leaves the graph's times as they are.
    pub compute_ppm: u64,
}

impl Default for Timing {
    fn default() -> Timing {
        Timing {
            overhead: Time::ZERO,
            eager_bytes: u64::MAX,
            rendezvous: false,
            compute_ppm: 1_000_000,
        }
    }
}

impl Timing {
    /// Scales a computing time from the graph by `compute_ppm`; saturates at the longest time.
    pub(crate) fn computing(&self, time: Time) -> Time {
        // The product of two 64-bit numbers needs 128 bits.
        let ps = u128::from(time.ps()) * u128::from(self.compute_ppm) / 1_000_000;
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// Number of followers, as far as the storage layout depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Follows {
    Nothing,
    One,
    Several,
    /// Several, at least one waiting only for the start.
    SeveralSomeOnStart,
}

/// A stored operation's kind. It says how `Stored::first` and `Stored::second` are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum StoredKind {
    Compute,
    Wait,
    Collective,
    /// A send to another rank; its message is an entry in the message list.
    Send,
    /// A send to the rank itself, which makes no transfer.
    SendToSelf,
    /// A receive whose message is known before the run.
    Receive,
    /// A receive whose message only the run decides, by source and tag.
    OpenReceive,
}

/// A stored operation: 16 bytes, so that a cache line holds four neighbours from one rank.
///
/// Sends to other ranks, and receives whose message is known, refer to a
/// [`Message`](super::operations::Message), which has the other rank and the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(16))]
pub(super) struct Stored {
    /// By kind: a time's lower half in ps, a collective or message number, a size word from
    /// [`Sizes`](super::sizes::Sizes), or the rank that an open receive names.
    first: u32,
    /// By kind: a time's upper half in ps, or a tag.
    second: u32,
    /// By `follows`: the only edge's word, or the edge list's index in `RankGraph::lists`.
    pub(super) follower: u32,
    /// Stream index within the rank.
    pub(super) stream: u16,
    pub(super) kind: StoredKind,
    pub(super) follows: Follows,
}

const _: () = assert!(size_of::<Stored>() == 16);

impl Stored {
    pub(super) fn new(kind: StoredKind, [first, second]: [u32; 2], stream: u16) -> Stored {
        Stored {
            first,
            second,
            follower: 0,
            stream,
            kind,
            follows: Follows::Nothing,
        }
    }

    /// Packs an operation that computes or waits for `time`, whose picoseconds take both words.
    pub(super) fn timed(kind: StoredKind, time: Time, stream: u16) -> Stored {
        let ps = time.ps();
        Stored::new(kind, [ps as u32, (ps >> 32) as u32], stream)
    }

    /// Returns the computing or waiting time.
    pub(super) fn time(&self) -> Time {
        debug_assert!(matches!(self.kind, StoredKind::Compute | StoredKind::Wait));
        Time::from_ps(u64::from(self.second) << 32 | u64::from(self.first))
    }

    /// Returns the number of the collective in which the operation takes part.
    pub(super) fn which(&self) -> u32 {
        debug_assert!(self.kind == StoredKind::Collective);
        self.first
    }

    /// Returns the size word for a message that the rank sends to itself.
    pub(super) fn size_to_self(&self) -> u32 {
        debug_assert!(self.kind == StoredKind::SendToSelf);
        self.first
    }

    /// Returns a send's or receive's tag; [`Operation::ANY`] if an open receive accepts any.
    pub(super) fn tag(&self) -> u32 {
        debug_assert!(!matches!(
            self.kind,
            StoredKind::Compute | StoredKind::Wait | StoredKind::Collective
        ));
        self.second
    }

    /// Returns the rank that an open receive names; [`Operation::ANY`] if it accepts any.
    pub(super) fn asked_peer(&self) -> u32 {
        debug_assert!(self.kind == StoredKind::OpenReceive);
        self.first
    }

    /// Returns the message number for a send to another rank, or for a receive whose message is
    /// known.
    pub(super) fn message(&self) -> u32 {
        debug_assert!(matches!(self.kind, StoredKind::Send | StoredKind::Receive));
        self.first
    }

    /// Returns the message number if this is a send to another rank.
    pub(super) fn sent(&self) -> Option<u32> {
        (self.kind == StoredKind::Send).then(|| self.message())
    }

    /// Returns the message number if this is a receive whose message is known before the run.
    pub(super) fn taken(&self) -> Option<u32> {
        (self.kind == StoredKind::Receive).then(|| self.message())
    }

    /// Turns an open receive into one that takes `message`, so that the run need not match it.
    pub(super) fn assign(&mut self, message: u32) {
        debug_assert!(self.kind == StoredKind::OpenReceive);
        self.kind = StoredKind::Receive;
        self.first = message;
    }

    pub(super) fn operation_kind(&self) -> OperationKind {
        match self.kind {
            StoredKind::Compute => OperationKind::Compute,
            StoredKind::Wait => OperationKind::Wait,
            StoredKind::Collective => OperationKind::Collective,
            StoredKind::Send | StoredKind::SendToSelf => OperationKind::Send,
            StoredKind::Receive | StoredKind::OpenReceive => OperationKind::Receive,
        }
    }

    /// Returns true if some operation waits only for this one's start.
    pub(super) fn starts_others(&self) -> bool {
        match self.follows {
            Follows::Nothing | Follows::Several => false,
            Follows::One => Edge::stored(self.follower).on_start(),
            Follows::SeveralSomeOnStart => true,
        }
    }
}
