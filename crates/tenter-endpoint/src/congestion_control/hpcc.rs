//! HPCC: windows that keep what is in flight on the busiest link a little below what it carries.
//!
//! Source: Li et al., "HPCC: High Precision Congestion Control" (2019), algorithm 1.

use std::ops::RangeInclusive;

use tenter_config::{Share, component};
use tenter_net::{Hop, WIRE_OVERHEAD_BYTES};
use tenter_units::{Bytes, Instant, Rate, Time};

use super::{Answers, Control, Feedback, RATES, SECOND, TICK_MIN, part_of};

/// Packets have room for no more switches.
pub const HOPS_MAX: u8 = 15;
/// Frame bytes of the telemetry header without any hop, and of each hop: 42 for five of them.
const HEADER_BYTES: u32 = 2;
const HOP_BYTES: u32 = 8;
/// Utilisations are counted in these parts of one.
const ONE: u64 = 1 << 20;
/// Windows are counted in these parts of a byte.
const BYTE: u64 = 1 << 10;

/// What a window may grow by in a round trip.
const INCREASES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 20);
/// The least utilisation to aim at, in millionths.
const TARGET_MIN: u32 = 10_000;

component! {
    /// The parameters of the window computation.
    pub struct Hpcc {
        /// T, the round-trip time of an idle network: the longest there is, or a little more.
        base_round_trip: Option<Time> = absent "that of the fabric, for a full packet and its acknowledgement", in TICK_MIN..=SECOND;
        /// Eta, the utilisation of the busiest link that windows aim at; at least 0.01.
        target: Share = "0.95", unless too_little, from "HPCC (2019), section 5.1";
        /// After this many additive increases in a row a window follows the utilisation again.
        max_stage: u32 = "5", in 0..=1000, from "HPCC (2019), section 5.1";
        /// `W_AI`: growth of a window in a round trip, in wire bytes.
        additive_increase: Bytes = "80B", in INCREASES,
            from "HPCC (2019), section 5.1, at 100 Gb/s";
        /// The line rate that `additive_increase` is meant for: on other lines it is in proportion.
        scale_from: Option<Rate> = "100Gbps", in RATES,
            from "HPCC (2019), section 3.3: W_AI is a share of what the line carries in a round trip";
        /// Switches for which packets have room; each takes 8 bytes of every data packet and its
        /// answer, and 2 more are taken for all. Switches beyond write nothing.
        hops: u8 = "5", in 1..=HOPS_MAX, from "HPCC (2019), section 4.1";
    }
}

fn too_little(target: Share) -> Option<(String, String)> {
    (target.ppm() < TARGET_MIN).then(|| {
        let remedy = "give a utilisation of at least 0.01";
        ("is too little to send at".to_owned(), remedy.to_owned())
    })
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

    /// T; the paper's (section 5.1) where no fabric is known.
    fn round_trip(&self) -> Time {
        self.base_round_trip.unwrap_or(Time::from_us(13))
    }

    /// What a line carries in a base round trip, in parts of a [`BYTE`].
    fn most(&self, line: u64) -> u64 {
        part_of(line * BYTE, self.round_trip().ps(), 8 * SECOND.ps()).max(BYTE)
    }

    /// How busy a link was between two hops, in parts of [`ONE`]: what waited, over what it carries
    /// in a base round trip, and what it sent, over what it could have.
    fn busy(&self, before: &Hop, now: &Hop) -> u64 {
        let bits = now.queue_bytes.min(before.queue_bytes) * 8;
        let waits = u128::from(bits) * u128::from(ONE) * u128::from(SECOND.ps())
            / (u128::from(now.rate.max(1)) * u128::from(self.round_trip().ps().max(1)));
        let bits = now.sent_bytes.wrapping_sub(before.sent_bytes) * 8;
        let sent = u128::from(bits) * u128::from(ONE) * u128::from(SECOND.ps())
            / (u128::from(now.rate.max(1)) * u128::from((now.at - before.at).ps().max(1)));
        u64::try_from(waits + sent)
            .unwrap_or(u64::MAX)
            .min(ONE << 20)
    }

    /// U after an acknowledgement: the busiest link, in an average over a base round trip.
    fn measure(&self, flow: &Flow, hops: &[Hop]) -> u64 {
        let round_trip = self.round_trip().ps().max(1);
        let mut most = 0;
        let mut since = round_trip;
        for (before, now) in flow.hops.iter().zip(hops) {
            let busy = self.busy(before, now);
            if busy > most {
                most = busy;
                since = (now.at - before.at).ps().min(round_trip);
            }
        }
        part_of(flow.utilisation, round_trip - since, round_trip) + part_of(most, since, round_trip)
    }

    /// The window that follows from the reference.
    fn compute(&self, flow: &mut Flow, updates: bool) {
        let target = part_of(ONE, u64::from(self.target.ppm()), u64::from(Share::PARTS));
        let more = self.additive_increase.count() * BYTE;
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

    fn answers(&self) -> Answers {
        Answers::ToEachPacket
    }

    fn telemetry_hops(&self) -> Option<u8> {
        Some(self.hops)
    }

    fn telemetry_bytes(&self) -> u32 {
        self.header_bytes()
    }

    fn on_line(self, line: u64) -> Hpcc {
        let Some(from) = self.scale_from else {
            return self;
        };
        let bytes = self.additive_increase.count();
        let bytes = part_of(bytes, line, from.bits_per_second()).max(1);
        Hpcc {
            additive_increase: Bytes::new(bytes.min(u64::from(u32::MAX))),
            scale_from: None,
            ..self
        }
    }

    fn start(&self, line: u64, _: Instant) -> Flow {
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
    fn rate(&self, flow: &mut Flow, _: Instant) -> u64 {
        if flow.window >= flow.most {
            return u64::MAX;
        }
        let round_trip = self.round_trip().ps().max(1);
        part_of(flow.window, 8 * SECOND.ps() / BYTE, round_trip).max(1)
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

    fn notified(&self, _: &mut Flow, _: bool, _: Instant) {}

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
