//! The effect of a bad cable, or of a tester in its place, on the frames of one link.

use std::collections::VecDeque;

use tenter_engine::{Output, Stream};
use tenter_topology::HostId;
use tenter_units::{Instant, Time};

use crate::packet::Packet;

/// A probability in units of 2⁻⁶⁴; the largest value stands for 1.
pub type Probability = u64;

/// The impairment of the frames of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImpairmentSpec {
    /// The probability of losing a frame of any kind and size.
    pub frame_loss: Probability,
    /// The probability that a bit is received wrong: a frame with such a bit is lost.
    pub bit_errors: Probability,
    /// The rules of a tester in their order; the first that matches a frame applies.
    pub rules: Vec<TesterRule>,
}

/// A rule of a tester for some frames.
#[derive(Clone, Debug, PartialEq)]
pub struct TesterRule {
    /// Kinds of frames of the rule, one bit for each `PacketKind`; pause frames never are.
    pub kinds: u32,
    /// Hashes of the flows of the rule, ascending; `None` for all.
    pub hashes: Option<Vec<u32>>,
    /// The host the frames go to; `None` for any.
    pub destination: Option<HostId>,
    /// Which of these match.
    pub strikes: Strikes,
    /// The effect on them.
    pub action: TesterAction,
}

/// Which frames of a rule match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strikes {
    /// Every n-th frame, after those skipped, at most `most` times.
    Every {
        /// Frames let through at the beginning.
        skip: u64,
        /// The n of every n-th frame.
        period: u64,
        /// The most matches.
        most: u64,
    },
    /// Frames with a sequence number in a range, each time they are sent, at most `most` times.
    Sequences {
        /// The first number.
        first: u32,
        /// The last number.
        last: u32,
        /// The most matches.
        most: u64,
    },
    /// Each with this probability.
    Chance(Probability),
}

/// The effect of a rule on a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesterAction {
    /// It is lost.
    Drop,
    /// It is held back until this number of further frames of any kind has passed.
    Hold(u16),
}

/// The outcome for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives.
    Passes,
    /// It is lost.
    Lost,
    /// It arrives behind this number of others.
    Held(u16),
}

/// A frame that is held back.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: Packet,
    output: Output,
    /// Frames that must pass before it goes on.
    behind: u16,
}

/// The impairment of a link with its state.
#[derive(Clone, Debug)]
pub(crate) struct Impairment {
    spec: ImpairmentSpec,
    stream: Stream,
    /// For each rule the frames in its scope and those that matched.
    counts: Vec<(u64, u64)>,
    held: VecDeque<Held>,
    /// The probability that a frame of a size has a wrong bit, for the sizes seen so far.
    by_size: Vec<(u16, Probability)>,
}

impl Impairment {
    /// An impairment that draws from a stream of its own.
    pub(crate) fn new(spec: ImpairmentSpec, stream: Stream) -> Impairment {
        Impairment {
            counts: vec![(0, 0); spec.rules.len()],
            spec,
            stream,
            held: VecDeque::new(),
            by_size: Vec::new(),
        }
    }

    /// The outcome for a frame. Callers ask in the order in which frames are sent.
    pub(crate) fn fate(&mut self, packet: &Packet) -> Fate {
        let frame_loss = self.spec.frame_loss;
        let wrong = self.wrong(packet.frame_bytes);
        if self.strikes(frame_loss) | self.strikes(wrong) {
            return Fate::Lost;
        }
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
            Strikes::Chance(probability) => {
                return self.strikes(probability);
            }
        };
        *struck += u64::from(hit);
        hit
    }

    /// The probability that a frame has a wrong bit, preamble and gap left out.
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

    /// Holds a frame back.
    pub(crate) fn hold(&mut self, packet: Packet, output: Output, behind: u16) {
        self.held.push_back(Held {
            packet,
            output,
            behind,
        });
    }

    /// A frame arrives at `at`; those that were held back for it follow a picosecond apart.
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

    /// Forgets the frames that are held back; returns how many they are and their frame bytes.
    pub(crate) fn lose_held(&mut self) -> (u64, u64) {
        let lost = self.held();
        self.held.clear();
        lost
    }

    /// Frames and frame bytes that are held back.
    pub(crate) fn held(&self) -> (u64, u64) {
        let bytes = self
            .held
            .iter()
            .map(|held| u64::from(held.packet.frame_bytes));
        (self.held.len() as u64, bytes.sum())
    }
}

/// A frame is held back for at most this number of others, so at most this number follows one at a
/// time, in fewer picoseconds than the smallest frame takes on a wire of 1 Tbit/s (672).
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

/// The probability that at least one of `count` independent events occurs, each with the same
/// probability: 1 − (1 − p)ⁿ, by squaring, in whole numbers so that it is the same on every
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
    use tenter_engine::{LocalNode, Output, Stream};
    use tenter_topology::HostId;
    use tenter_units::Instant;

    use super::{Fate, Impairment, ImpairmentSpec, Strikes, TesterAction, TesterRule, any_of};
    use crate::packet::{Packet, PacketKind};

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
