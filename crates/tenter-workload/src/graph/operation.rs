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

/// An operation as it is stored: 32 bytes, half a cache line, so that most operations cost one
/// cache miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub(super) struct Stored {
    /// Bytes, or picoseconds of computing and waiting.
    amount: u64,
    peer: u32,
    tag: u32,
    /// The edge of what waits for the operation, or where the list of those edges is.
    pub(super) follower: u32,
    /// The transfer of a send to another rank, or the one that a receive takes whatever happens;
    /// [`Operation::ANY`] where there is none.
    pub(super) transfer: u32,
    /// Its stream, by its place among those of the rank.
    pub(super) stream: u16,
    pub(super) kind: OperationKind,
    pub(super) follows: Follows,
}

impl Stored {
    pub(super) fn new(operation: Operation, stream: u16) -> Stored {
        let (kind, amount, peer, tag) = match operation {
            Operation::Compute { time } => (OperationKind::Compute, time.ps(), 0, 0),
            Operation::Wait { time } => (OperationKind::Wait, time.ps(), 0, 0),
            Operation::Send { peer, bytes, tag } => (OperationKind::Send, bytes, peer, tag),
            Operation::Receive { peer, bytes, tag } => {
                let [peer, tag] = [peer, tag].map(Operation::or_any);
                (OperationKind::Receive, bytes, peer, tag)
            }
            Operation::Collective { which } => (OperationKind::Collective, 0, which, 0),
        };
        Stored {
            amount,
            peer,
            tag,
            transfer: Operation::ANY,
            stream,
            kind,
            follows: Follows::Nothing,
            follower: 0,
        }
    }

    /// The receiver of a send.
    pub(super) fn peer(&self) -> u32 {
        self.peer
    }

    /// The tag of a send.
    pub(super) fn tag(&self) -> u32 {
        self.tag
    }

    /// The transfer of a send to another rank, or the one that a receive takes whatever happens.
    pub(super) fn known_transfer(&self) -> Option<u32> {
        Operation::unless_any(self.transfer)
    }

    /// Whether others wait for its start.
    pub(super) fn starts_others(&self) -> bool {
        match self.follows {
            Follows::Nothing | Follows::Several => false,
            Follows::One => Edge::stored(self.follower).on_start(),
            Follows::SeveralSomeOnStart => true,
        }
    }

    pub(super) fn operation(&self) -> Operation {
        let (bytes, peer, tag) = (self.amount, self.peer, self.tag);
        match self.kind {
            OperationKind::Compute => Operation::Compute {
                time: Time::from_ps(self.amount),
            },
            OperationKind::Wait => Operation::Wait {
                time: Time::from_ps(self.amount),
            },
            OperationKind::Send => Operation::Send { peer, bytes, tag },
            OperationKind::Receive => Operation::Receive {
                peer: Operation::unless_any(peer),
                bytes,
                tag: Operation::unless_any(tag),
            },
            OperationKind::Collective => Operation::Collective { which: peer },
        }
    }
}
