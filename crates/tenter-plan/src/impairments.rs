//! What is done to frames on their way.

use tenter_net::impairment::{Probability, Strikes, TesterAction};
use tenter_topology::{CableEnd, HostId};

/// What is done to the frames of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkImpairment {
    /// The port that sends.
    pub sender: CableEnd,
    /// The probability of losing a frame.
    pub frame_loss: Probability,
    /// The probability that a bit is received wrong.
    pub bit_errors: Probability,
    /// What a tester does, rule after rule.
    pub rules: Vec<RulePlan>,
}

/// What a tester does to some frames.
#[derive(Clone, Debug, PartialEq)]
pub struct RulePlan {
    /// Kinds of frames it is for, one bit for each [`tenter_net::PacketKind`].
    pub kinds: u32,
    /// The host they come from; `None` for any.
    pub from: Option<HostId>,
    /// The host they go to; `None` for any.
    pub to: Option<HostId>,
    /// Which of them it strikes.
    pub strikes: Strikes,
    /// What it does to them.
    pub action: TesterAction,
}
