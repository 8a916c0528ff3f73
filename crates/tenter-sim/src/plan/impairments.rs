//! Impairments: losses, bit errors and testers that act on frames under way.

use tenter_fabric::net::impairment::{Probability, Strikes, TesterAction};
use tenter_fabric::topology::{CableEnd, HostId};

/// An impairment of one link direction.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkImpairment {
    /// The port that sends into this direction.
    pub sender: CableEnd,
    /// The probability that a frame is lost, for any reason but bit errors.
    pub frame_loss: Probability,
    /// The probability that a bit is received wrong, which loses its frame.
    pub bit_errors: Probability,
    /// The tester's rules; the first that matches a frame acts on it.
    pub rules: Vec<RulePlan>,
}

/// A tester's rule for some frames.
#[derive(Clone, Debug, PartialEq)]
pub struct RulePlan {
    /// Packet kinds that the rule covers, one bit for each [`tenter_fabric::net::PacketKind`].
    pub kinds: u32,
    /// The host that the frames come from; `None` for any.
    pub from: Option<HostId>,
    /// The host that the frames go to; `None` for any.
    pub to: Option<HostId>,
    /// Selects some frames among those that match.
    pub strikes: Strikes,
    /// The action on a selected frame.
    pub action: TesterAction,
}
