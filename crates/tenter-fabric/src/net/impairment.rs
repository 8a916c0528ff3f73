//! Impairment: the effect of a bad cable, or of a tester in its place, on one link's frames.

use std::collections::VecDeque;

use crate::topology::HostId;
use tenter_engine::{Output, Stream};
use tenter_language::units::{Instant, Time};

use crate::net::packet::Packet;

/// A probability in units of 2⁻⁶⁴; the largest value stands for 1.
pub type Probability = u64;

/// Impairment of a link in one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImpairmentSpec {
    /// Probability that a frame is lost, whatever its kind and size.
    pub frame_loss: Probability,
    /// Probability that a bit is received wrong; a frame with such a bit is lost.
    pub bit_errors: Probability,
    /// A tester's rules, in order; the first one that matches a frame applies.
    pub rules: Vec<TesterRule>,
}

/// A tester's rule: the frames in its scope, those that match, and the action on these.
#[derive(Clone, Debug, PartialEq)]
pub struct TesterRule {
    /// Frame kinds in scope, one bit for each `PacketKind`; pause frames never are.
    pub kinds: u32,
    /// Flow hashes in scope, ascending; `None` for all.
    pub hashes: Option<Vec<u32>>,
    /// Destination host for frames in scope; `None` for any.
    pub destination: Option<HostId>,
    /// Rule by which frames in scope match.
    pub strikes: Strikes,
    /// Action on the frames that match.
    pub action: TesterAction,
}

/// Rule by which frames in scope match: every n-th, by sequence number, or by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strikes {
    /// Every `period`-th frame after the first `skip`, `most` times at most.
    Every {
        /// Frames let through at the beginning.
        skip: u64,
        /// Frames from one match to the next.
        period: u64,
        /// Matches after which the rule ends.
        most: u64,
    },
    /// Frames with a sequence number in a range, each time that they are sent, `most` times at
    /// most.
    Sequences {
        /// First sequence number in the range.
        first: u32,
        /// Last sequence number in the range.
        last: u32,
        /// Matches after which the rule ends.
        most: u64,
    },
    /// Each frame with this probability.
    Chance(Probability),
}

/// Action that a rule takes on a matching frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesterAction {
    /// The frame is lost on the wire.
    Drop,
    /// The frame is held back until this many further frames have passed, whatever their kinds.
    Hold(u16),
}

/// Outcome for one frame on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The frame arrives in its turn.
    Passes,
    /// The frame is lost on the wire.
    Lost,
    /// The frame arrives behind this many others.
    Held(u16),
}

/// A frame that is held back.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: Packet,
    output: Output,
    /// Frames that have yet to pass before this one goes on.
    behind: u16,
}

/// A link's impairment, with its counts and held frames.
#[derive(Clone, Debug)]
pub(crate) struct Impairment {
    spec: ImpairmentSpec,
    stream: Stream,
    /// For each rule, the frames in its scope so far, and those that matched.
    counts: Vec<(u64, u64)>,
    held: VecDeque<Held>,
    /// Probability that a frame has a wrong bit, by frame size, for the sizes seen so far.
    by_size: Vec<(u16, Probability)>,
}

impl Impairment {
    /// Makes an impairment that draws from `stream`.
    pub(crate) fn new(spec: ImpairmentSpec, stream: Stream) -> Impairment {
        Impairment {
            counts: vec![(0, 0); spec.rules.len()],
            spec,
            stream,
            held: VecDeque::new(),
            by_size: Vec::new(),
        }
    }

    /// Decides the outcome for a frame. Calls must follow the order in which frames are sent.
    pub(crate) fn fate(&mut self, packet: &Packet) -> Fate {
        let frame_loss = self.spec.frame_loss;
        let wrong = self.wrong(packet.frame_bytes);
        // Both draws are made for each frame, so that a loss by one does not shift later draws.
        if self.strikes(frame_loss) | self.strikes(wrong) {
            return Fate::Lost;
        }
        // A tester works on IP packets.
        if packet.kind.is_mac_control() {
            return Fate::Passes;
        }
        for index in 0..self.spec.rules.len() {
            let rule = &self.spec.rules[index];
            if !rule.is_for(packet) {
                continue;
            }
            let (strikes, action) = (rule.strikes, rule.action);
            if self.rule_strikes(index, strikes, packet) {
                return match action {
                    TesterAction::Drop => Fate::Lost,
                    TesterAction::Hold(behind) => Fate::Held(behind),
                };
            }
        }
        Fate::Passes
    }

    fn strikes(&mut self, probability: Probability) -> bool {
        // `below` stays under `u64::MAX`, so the largest probability always hits.
        probability > 0 && self.stream.below(u64::MAX) < probability
    }

    fn rule_strikes(&mut self, index: usize, strikes: Strikes, packet: &Packet) -> bool {
        let (seen, struck) = &mut self.counts[index];
        *seen += 1;
        let hit = match strikes {
            Strikes::Every { skip, period, most } => {
                *struck < most && *seen > skip && (*seen - skip).is_multiple_of(period)
            }
            Strikes::Sequences { first, last, most } => {
                *struck < most && (first..=last).contains(&packet.sequence)
            }
            // Chance has no last match, so none is counted.
            Strikes::Chance(probability) => {
                return self.strikes(probability);
            }
        };
        *struck += u64::from(hit);
        hit
    }

    /// Returns the probability that a frame has a wrong bit, preamble and gap left out.
    fn wrong(&mut self, frame_bytes: u16) -> Probability {
        if self.spec.bit_errors == 0 {
            return 0;
        }
        let known = self.by_size.iter().find(|(size, _)| *size == frame_bytes);
        if let Some((_, probability)) = known {
            return *probability;
        }
        let bits = 8 * u32::from(frame_bytes);
        let probability = any_of(self.spec.bit_errors, bits);
        self.by_size.push((frame_bytes, probability));
        probability
    }

    /// Holds a frame back until `behind` further frames have passed.
    pub(crate) fn hold(&mut self, packet: Packet, output: Output, behind: u16) {
        self.held.push_back(Held {
            packet,
            output,
            behind,
        });
    }

    /// Sends the held frames that waited for a frame which arrives at `at`: they follow it, a
    /// picosecond apart.
    pub(crate) fn follow(&mut self, at: Instant, mut send: impl FnMut(Output, Instant, &Packet)) {
        let mut follower = at;
        for held in &mut self.held {
            held.behind -= 1;
            if held.behind == 0 {
                follower += Time::LEAST;
                send(held.output, follower, &held.packet);
            }
        }
        self.held.retain(|held| held.behind > 0);
    }

    /// Discards the held frames; returns their number and their frame bytes.
    pub(crate) fn lose_held(&mut self) -> (u64, u64) {
        let lost = self.held();
        self.held.clear();
        lost
    }

    /// Returns how many frames are held, and their frame bytes.
    pub(crate) fn held(&self) -> (u64, u64) {
        let bytes = self
            .held
            .iter()
            .map(|held| u64::from(held.packet.frame_bytes));
        (self.held.len() as u64, bytes.sum())
    }
}

/// Most frames that a frame may be held behind, so that as many at most follow one at a time. A
/// picosecond apart, they take less time than the smallest frame does at 1 Tbit/s (672 ps).
pub const HOLD_MAX: u16 = 511;

impl TesterRule {
    fn is_for(&self, packet: &Packet) -> bool {
        self.kinds & (1 << packet.kind as u8) != 0
            && self
                .destination
                .is_none_or(|host| host == packet.destination)
            && self
                .hashes
                .as_ref()
                .is_none_or(|of| of.binary_search(&packet.hash).is_ok())
    }
}

/// Returns the probability that at least one among `count` independent events occurs, each with the
/// same `probability`: 1 − (1 − p)ⁿ, by squaring in integers, so that it is the same on every
/// machine.
pub fn any_of(probability: Probability, count: u32) -> Probability {
    const ONE: u128 = 1 << 64;
    let mut factor = ONE - u128::from(probability);
    let mut none = ONE;
    let mut left = count;
    // A product of two factors below 2⁶⁴ fits; 1 itself is skipped.
    let product = |a: u128, b: u128| {
        if a == ONE {
            b
        } else if b == ONE {
            a
        } else {
            (a * b) >> 64
        }
    };
    while left > 0 {
        if left & 1 == 1 {
            none = product(none, factor);
        }
        factor = product(factor, factor);
        left >>= 1;
    }
    u64::try_from(ONE - none).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use crate::topology::HostId;
    use tenter_engine::{LocalNode, Output, Stream};
    use tenter_language::units::Instant;

    use super::{Fate, Impairment, ImpairmentSpec, Strikes, TesterAction, TesterRule, any_of};
    use crate::net::packet::{Packet, PacketKind};

    fn packet(sequence: u32, kind: PacketKind) -> Packet {
        Packet {
            at: Instant::START,
            queue_pair: 0,
            sequence,
            destination: HostId::new(3),
            hash: 7,
            sent: 0,
            frame_bytes: 4_158,
            kind,
            flags: 0,
        }
    }

    fn rule(strikes: Strikes, action: TesterAction) -> ImpairmentSpec {
        ImpairmentSpec {
            rules: vec![TesterRule {
                kinds: 1 << PacketKind::Middle as u8,
                hashes: Some(vec![7]),
                destination: Some(HostId::new(3)),
                strikes,
                action,
            }],
            ..ImpairmentSpec::default()
        }
    }

    fn work(spec: ImpairmentSpec) -> Impairment {
        Impairment::new(spec, Stream::new(1, "link", "impairments"))
    }

    #[test]
    fn a_frame_is_lost_with_any_of_its_bits() {
        // 1 - (1 - 1/2)^3 = 7/8.
        assert_eq!(any_of(1 << 63, 3), 7 << 61);
        assert_eq!(any_of(0, 1_000), 0);
        assert_eq!(any_of(1 << 40, 0), 0);
        // 33,264 bits at 1e-9 each: n·p − n²p²/2 = 3.3264e-5 − 5.53e-10 = 3.32634e-5.
        let exact = any_of(18_446_744_074, 33_264) as f64 / 2_f64.powi(64);
        assert!((exact - 3.326_344_7e-5).abs() < 1e-11, "{exact}");
    }

    #[test]
    fn every_nth_frame_is_struck_so_often() {
        let strikes = Strikes::Every {
            skip: 2,
            period: 3,
            most: 2,
        };
        let mut work = work(rule(strikes, TesterAction::Drop));
        let lost: Vec<u32> = (1..=14)
            .filter(|&n| work.fate(&packet(n, PacketKind::Middle)) == Fate::Lost)
            .collect();
        assert_eq!(lost, [5, 8]);
    }

    #[test]
    fn a_rule_is_for_its_kinds_its_flow_and_its_sequences() {
        let strikes = Strikes::Sequences {
            first: 4,
            last: 5,
            most: u64::MAX,
        };
        let mut work = work(rule(strikes, TesterAction::Drop));
        let other_flow = Packet {
            hash: 8,
            ..packet(4, PacketKind::Middle)
        };
        let other_host = Packet {
            destination: HostId::new(2),
            ..packet(4, PacketKind::Middle)
        };
        let spared = [packet(4, PacketKind::Ack), other_flow, other_host];
        assert!(spared.iter().all(|p| work.fate(p) == Fate::Passes));
        let fates = [3, 4, 5, 6].map(|n| work.fate(&packet(n, PacketKind::Middle)));
        assert_eq!(fates, [Fate::Passes, Fate::Lost, Fate::Lost, Fate::Passes]);
    }

    #[test]
    fn a_frame_that_is_held_follows_the_frames_it_waits_for() {
        let output = Output {
            part: 0,
            input: 0,
            node: LocalNode::default(),
        };
        let mut work = work(ImpairmentSpec::default());
        work.hold(packet(1, PacketKind::Middle), output, 2);
        assert_eq!(work.held(), (1, 4_158));
        let mut sent = Vec::new();
        work.follow(Instant::from_ps(100), |_, at, packet| {
            sent.push((at, packet.sequence));
        });
        assert_eq!(sent, []);
        work.follow(Instant::from_ps(200), |_, at, packet| {
            sent.push((at, packet.sequence));
        });
        assert_eq!(sent, [(Instant::from_ps(201), 1)]);
        assert_eq!(work.held(), (0, 0));
    }

    #[test]
    fn chance_strikes_as_often_as_it_says() {
        let spec = ImpairmentSpec {
            frame_loss: u64::MAX / 10,
            ..ImpairmentSpec::default()
        };
        let mut work = work(spec);
        let lost = (0..10_000)
            .filter(|&n| work.fate(&packet(n, PacketKind::Pause)) == Fate::Lost)
            .count();
        // A binomial with a deviation of 30.
        assert!((880..1_120).contains(&lost), "{lost}");
    }
}
