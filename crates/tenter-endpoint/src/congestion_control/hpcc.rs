//! HPCC: windows that keep what is in flight on the busiest link a little below what it carries.
//!
//! Source: Li et al., "HPCC: High Precision Congestion Control" (2019), algorithm 1.

use tenter_net::{Hop, WIRE_OVERHEAD_BYTES};
use tenter_units::{Rate, Time};

use super::{Control, Feedback, part_of};

/// The target utilisation is given in these parts of one.
pub const PARTS: u32 = 1_000_000;
/// Frame bytes of the telemetry header without any hop, and of each hop: 42 for five of them.
const HEADER_BYTES: u32 = 2;
const HOP_BYTES: u32 = 8;
/// Utilisations are counted in these parts of one.
const ONE: u64 = 1 << 20;
/// Windows are counted in these parts of a byte.
const BYTE: u64 = 1 << 10;
const SECOND: u64 = 1_000_000_000_000;

/// The parameters of the window computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hpcc {
    /// T: the round-trip time of an idle network, a little more rather than less.
    pub base_round_trip: Time,
    /// Eta, the utilisation aimed at, in [`PARTS`] of one.
    pub target: u32,
    /// After so many additive increases in a row the window follows the utilisation again.
    pub max_stage: u32,
    /// `W_AI`: additive increase, in wire bytes.
    pub additive_bytes: u32,
    /// The line rate `additive_bytes` is meant for: on other lines it is in proportion. `None`: it
    /// is the same on all.
    pub scale_from: Option<Rate>,
    /// Hops for which packets have room.
    pub hops: u8,
}

impl Default for Hpcc {
    /// The paper's: eta 0.95, five stages, 80 bytes on lines of 100G, a round trip of 13 us in its
    /// simulations, and
    /// 42 bytes of telemetry for five hops.
    fn default() -> Hpcc {
        Hpcc {
            base_round_trip: Time::from_us(13),
            target: 950_000,
            max_stage: 5,
            additive_bytes: 80,
            scale_from: Some(Rate::from_gbps(100)),
            hops: 5,
        }
    }
}

/// A queue pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    /// W and its reference `W_c`, in parts of a [`BYTE`].
    window: u64,
    reference: u64,
    /// What the line carries in a base round trip.
    most: u64,
    stage: u32,
    /// U, in parts of [`ONE`].
    utilisation: u64,
    /// The next packet to be sent when the reference was last set.
    updated: u32,
    /// Wire bytes of the longest packet so far.
    wire_bytes: u64,
    /// What the acknowledgement before said.
    hops: Vec<Hop>,
}

impl Hpcc {
    /// Frame bytes that telemetry takes in data packets and their answers.
    pub fn header_bytes(&self) -> u32 {
        HEADER_BYTES + HOP_BYTES * u32::from(self.hops)
    }

    /// What a line carries in a base round trip, in parts of a [`BYTE`].
    fn most(&self, line: u64) -> u64 {
        part_of(line * BYTE, self.base_round_trip.ps(), 8 * SECOND).max(BYTE)
    }

    /// How busy a link was between two hops, in parts of [`ONE`]: what waited, over what it carries
    /// in a base round trip, and what it sent, over what it could have.
    fn busy(&self, before: &Hop, now: &Hop) -> u64 {
        let bits = now.queue_bytes.min(before.queue_bytes) * 8;
        let waits = u128::from(bits) * u128::from(ONE) * u128::from(SECOND)
            / (u128::from(now.rate.max(1)) * u128::from(self.base_round_trip.ps().max(1)));
        let bits = now.sent_bytes.wrapping_sub(before.sent_bytes) * 8;
        let sent = u128::from(bits) * u128::from(ONE) * u128::from(SECOND)
            / (u128::from(now.rate.max(1)) * u128::from((now.at - before.at).max(1)));
        u64::try_from(waits + sent)
            .unwrap_or(u64::MAX)
            .min(ONE << 20)
    }

    /// U after an acknowledgement: the busiest link, in an average over a base round trip.
    fn measure(&self, flow: &Flow, hops: &[Hop]) -> u64 {
        let round_trip = self.base_round_trip.ps().max(1);
        let mut most = 0;
        let mut since = round_trip;
        for (before, now) in flow.hops.iter().zip(hops) {
            let busy = self.busy(before, now);
            if busy > most {
                most = busy;
                since = (now.at - before.at).min(round_trip);
            }
        }
        part_of(flow.utilisation, round_trip - since, round_trip) + part_of(most, since, round_trip)
    }

    /// The window that follows from the reference.
    fn compute(&self, flow: &mut Flow, updates: bool) {
        let target = part_of(ONE, u64::from(self.target), u64::from(PARTS));
        let more = u64::from(self.additive_bytes) * BYTE;
        let follows = flow.utilisation >= target || flow.stage >= self.max_stage;
        let base = if follows {
            part_of(flow.reference, target, flow.utilisation.max(1)).min(flow.most)
        } else {
            flow.reference
        };
        flow.window = (base + more).clamp(BYTE, flow.most);
        if updates {
            flow.stage = if follows { 0 } else { flow.stage + 1 };
            flow.reference = flow.window;
        }
    }
}

/// Whether two acknowledgements tell of the same way, the second of later packets.
fn continues(before: &[Hop], now: &[Hop]) -> bool {
    let mut hops = before.iter().zip(now);
    before.len() == now.len() && hops.all(|(before, now)| before.link == now.link)
}

impl Control for Hpcc {
    type Flow = Flow;
    const FROM_START: bool = true;

    fn on_line(self, line: u64) -> Hpcc {
        let Some(from) = self.scale_from else {
            return self;
        };
        let bytes = u64::from(self.additive_bytes);
        let bytes = part_of(bytes, line, from.bits_per_second()).max(1);
        Hpcc {
            additive_bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            scale_from: None,
            ..self
        }
    }

    fn start(&self, line: u64, _: u64) -> Flow {
        let most = self.most(line);
        Flow {
            window: most,
            reference: most,
            most,
            stage: 0,
            utilisation: ONE,
            updated: 0,
            wire_bytes: 0,
            hops: Vec::new(),
        }
    }

    /// W over T.
    fn rate(&self, flow: &mut Flow, _: u64) -> u64 {
        if flow.window >= flow.most {
            return u64::MAX;
        }
        let round_trip = self.base_round_trip.ps().max(1);
        part_of(flow.window, 8 * SECOND / BYTE, round_trip).max(1)
    }

    /// A packet may be sent while less than the window is under way.
    fn window(&self, flow: &Flow, _: u64) -> u32 {
        let packet = (flow.wire_bytes * BYTE).max(1);
        u32::try_from(flow.window.div_ceil(packet)).unwrap_or(u32::MAX)
    }

    fn sent(&self, flow: &mut Flow, frame_bytes: u64) {
        let wire_bytes = frame_bytes + u64::from(WIRE_OVERHEAD_BYTES);
        flow.wire_bytes = flow.wire_bytes.max(wire_bytes);
    }

    fn notified(&self, _: &mut Flow, _: bool, _: u64) {}

    fn acknowledged(&self, flow: &mut Flow, feedback: &Feedback<'_>) {
        let hops = feedback.hops;
        if hops.is_empty() {
            return;
        }
        let advances = feedback.sequence.wrapping_sub(flow.updated).cast_signed() > 0;
        if !continues(&flow.hops, hops) {
            // Of a way that is new nothing is known but what comes from now on.
            flow.hops.clear();
            flow.hops.extend_from_slice(hops);
            return;
        }
        if flow
            .hops
            .iter()
            .zip(hops)
            .any(|(before, now)| now.at <= before.at)
        {
            // The answers of two packets have changed places.
            return;
        }
        flow.utilisation = self.measure(flow, hops);
        self.compute(flow, advances);
        if advances {
            flow.updated = feedback.next_sequence;
        }
        flow.hops.copy_from_slice(hops);
    }

    fn is_over(&self, _: &Flow) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
