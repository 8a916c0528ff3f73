//! Operations of a rank, as they are given and as they are stored.

use tenter_units::Time;

use super::edge::Edge;

/// What a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It computes for a time.
    Compute {
        /// How long.
        time: Time,
    },
    /// It does nothing for a time, which no factor of computing changes.
    Wait {
        /// How long.
        time: Time,
    },
    /// It sends a message.
    Send {
        /// The rank that gets it.
        peer: u32,
        /// Payload in bytes.
        bytes: u64,
        /// What a receive may ask for; below [`Operation::ANY`].
        tag: u32,
    },
    /// It takes a message that has arrived, or waits for one.
    Receive {
        /// The rank that has sent it; `None` for any.
        peer: Option<u32>,
        /// Payload in bytes, which tells nothing but how much was expected.
        bytes: u64,
        /// The tag of the message; `None` for any.
        tag: Option<u32>,
    },
    /// It takes part in a collective with the other ranks of a group.
    Collective {
        /// Which one, as [`Collectives::add`](super::Collectives::add) numbers them.
        which: u32,
    },
}

impl Operation {
    /// Stands for any rank and for any tag where operations are stored.
    pub const ANY: u32 = u32::MAX;

    /// A stored rank or tag; `None` for any.
    pub fn unless_any(stored: u32) -> Option<u32> {
        (stored != Operation::ANY).then_some(stored)
    }

    /// A rank or a tag as it is stored.
    pub(super) fn or_any(given: Option<u32>) -> u32 {
        given.unwrap_or(Operation::ANY)
    }
}

/// What kind of operation it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum OperationKind {
    /// The rank computes.
    Compute,
    /// It sends.
    Send,
    /// It receives.
    Receive,
    /// It takes part in a collective.
    Collective,
    /// It does nothing for a time.
    Wait,
}

/// What operations take on their stream beside what they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// What a send, and a receive that has its message, occupies its stream for.
    pub overhead: Time,
    /// The largest message whose send is done once it is posted; a larger one's is done once it is
    /// acknowledged.
    pub eager_bytes: u64,
    /// Whether larger messages are sent only once a receive takes them.
    pub rendezvous: bool,
    /// Computing takes this many millionths of the time that the graph has for it.
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
    /// How long computing takes for which the graph has a time.
    pub fn computing(&self, time: Time) -> Time {
        let ps = u128::from(time.ps()) * u128::from(self.compute_ppm) / 1_000_000;
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// How many operations wait for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Follows {
    Nothing,
    One,
    Several,
    /// Several, of which some wait for the start alone.
    SeveralSomeOnStart,
}

/// What an operation is, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum StoredKind {
    Compute,
    Wait,
    Collective,
    /// A send to another rank.
    Send,
    /// A send to the rank itself.
    SendToSelf,
    /// A receive that takes a certain message whatever happens.
    Receive,
    /// A receive of which only the run tells what it takes.
    OpenReceive,
}

/// An operation as it is stored: 16 bytes, so that a cache line has four of a rank.
///
/// The message of a send, and of a receive that takes a certain one, has the other rank and the
/// bytes ([`Message`](super::operations::Message)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(16))]
pub(super) struct Stored {
    /// The lower half of picoseconds, a collective, a message, a size as
    /// [`Sizes`](super::sizes::Sizes) stores it, or the rank that an open receive asks for.
    first: u32,
    /// The upper half of picoseconds, or a tag.
    second: u32,
    /// The edge of what waits for the operation, or where the list of those edges is.
    pub(super) follower: u32,
    /// Its stream, by its place among those of the rank.
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

    /// Of computing or waiting for a time.
    pub(super) fn timed(kind: StoredKind, time: Time, stream: u16) -> Stored {
        let ps = time.ps();
        Stored::new(kind, [ps as u32, (ps >> 32) as u32], stream)
    }

    /// How long it computes or waits.
    pub(super) fn time(&self) -> Time {
        debug_assert!(matches!(self.kind, StoredKind::Compute | StoredKind::Wait));
        Time::from_ps(u64::from(self.second) << 32 | u64::from(self.first))
    }

    /// Which collective it takes part in.
    pub(super) fn which(&self) -> u32 {
        debug_assert!(self.kind == StoredKind::Collective);
        self.first
    }

    /// The size of what a rank sends to itself, as it is stored.
    pub(super) fn size_to_self(&self) -> u32 {
        debug_assert!(self.kind == StoredKind::SendToSelf);
        self.first
    }

    /// The tag of a send or of a receive; [`Operation::ANY`] where any will do.
    pub(super) fn tag(&self) -> u32 {
        debug_assert!(!matches!(
            self.kind,
            StoredKind::Compute | StoredKind::Wait | StoredKind::Collective
        ));
        self.second
    }

    /// The rank that an open receive asks for; [`Operation::ANY`] where any will do.
    pub(super) fn asked_peer(&self) -> u32 {
        debug_assert!(self.kind == StoredKind::OpenReceive);
        self.first
    }

    /// The message of a send to another rank, or of a receive that takes a certain one.
    pub(super) fn message(&self) -> u32 {
        debug_assert!(matches!(self.kind, StoredKind::Send | StoredKind::Receive));
        self.first
    }

    /// The message of a send to another rank.
    pub(super) fn sent(&self) -> Option<u32> {
        (self.kind == StoredKind::Send).then(|| self.message())
    }

    /// The message that a receive takes whatever happens.
    pub(super) fn taken(&self) -> Option<u32> {
        (self.kind == StoredKind::Receive).then(|| self.message())
    }

    /// Tells an open receive which message it takes.
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

    /// Whether others wait for its start.
    pub(super) fn starts_others(&self) -> bool {
        match self.follows {
            Follows::Nothing | Follows::Several => false,
            Follows::One => Edge::stored(self.follower).on_start(),
            Follows::SeveralSomeOnStart => true,
        }
    }
}
