//! HPCC: each window keeps the bytes in flight on its path's busiest link slightly below what that
//! link carries in a round trip.
//!
//! Source: Li et al., "HPCC: High Precision Congestion Control" (2019), algorithm 1.

use std::ops::RangeInclusive;

use tenter_fabric::net::{Hop, WIRE_OVERHEAD_BYTES};
use tenter_language::config::{Share, component};
use tenter_language::units::{Bytes, Instant, Rate, Time};

use super::{Answers, Control, Feedback, Link, RATES, SECOND, TICK_MIN, Window, part_of};

/// Upper bound of the key `hops`: packets never have telemetry room for more switches.
pub const HOPS_MAX: u8 = 15;
/// Frame bytes of the telemetry header without hops. With five hops the header has 42 bytes.
const HEADER_BYTES: u32 = 2;
/// Frame bytes that each hop adds to the telemetry header.
const HOP_BYTES: u32 = 8;
/// Fixed-point unit: utilisations are counted in 2⁻²⁰.
const ONE: u64 = 1 << 20;
/// Fixed-point unit: windows are counted in 2⁻¹⁰ byte.
const BYTE: u64 = 1 << 10;

/// Range of the window's growth per round trip.
const INCREASES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 20);
/// Lower bound of the target utilisation, in millionths.
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

/// State of one queue pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    /// Window W, in units of 1/[`BYTE`] byte.
    window: u64,
    /// Reference window `W_c`, in the same unit. It changes once per round trip.
    reference: u64,
    /// Largest window: the bytes that the line carries in a base round trip, in the same unit.
    most: u64,
    /// Additive increases in a row, counted per round trip.
    stage: u32,
    /// Smoothed utilisation U of the busiest link, in units of 1/[`ONE`].
    utilisation: u64,
    /// PSN of the next new packet when the reference was last set. The first acknowledgement beyond
    /// it ends the round trip.
    updated: u32,
    /// Wire bytes of the longest packet sent so far, by which the window is turned into packets.
    wire_bytes: u64,
    /// Telemetry of the previous acknowledgement, with which the next one is compared.
    hops: Vec<Hop>,
}

impl Hpcc {
    /// Returns the frame bytes that telemetry takes in each data packet and its answer.
    pub(crate) fn header_bytes(&self) -> u32 {
        HEADER_BYTES + HOP_BYTES * u32::from(self.hops)
    }

    /// Returns T, or the paper's 13 us (section 5.1) if no fabric has supplied one.
    fn round_trip(&self) -> Time {
        self.base_round_trip.unwrap_or(Time::from_us(13))
    }

    /// Returns the bytes that a line with `line` bits per second carries in T, in units of
    /// 1/[`BYTE`] byte.
    fn most(&self, line: u64) -> u64 {
        part_of(line * BYTE, self.round_trip().ps(), 8 * SECOND.ps()).max(BYTE)
    }

    /// Returns a link's utilisation between two telemetry readings, in units of 1/[`ONE`]: the
    /// bytes queued over the link's bandwidth-delay product, plus the bytes sent over those that it
    /// could have sent.
    fn busy(&self, before: &Hop, now: &Hop) -> u64 {
        // The shorter of both queues filters out bursts that are gone again (algorithm 1).
        let bits = now.queue_bytes.min(before.queue_bytes) * 8;
        let waits = u128::from(bits) * u128::from(ONE) * u128::from(SECOND.ps())
            / (u128::from(now.rate.max(1)) * u128::from(self.round_trip().ps().max(1)));
        let bits = now.sent_bytes.wrapping_sub(before.sent_bytes) * 8;
        let sent = u128::from(bits) * u128::from(ONE) * u128::from(SECOND.ps())
            / (u128::from(now.rate.max(1)) * u128::from((now.at - before.at).ps().max(1)));
        // Readings a picosecond apart could give any value. The cap lies far above any useful one
        // and keeps sums of readings within 64 bits.
        u64::try_from(waits + sent)
            .unwrap_or(u64::MAX)
            .min(ONE << 20)
    }

    /// Returns U after an acknowledgement: the busiest link's utilisation, averaged over T.
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

    /// Computes the window from the reference window. With `updates` a round trip is over, and the
    /// reference follows the window.
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

/// Returns true if both acknowledgements crossed the same links, so that counters can be
/// subtracted.
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

    fn uses_round_trip(&self) -> bool {
        self.base_round_trip.is_none()
    }

    fn on_link(self, link: &Link) -> Hpcc {
        let own = Hpcc {
            base_round_trip: self.base_round_trip.or(Some(link.round_trip)),
            ..self
        };
        let Some(from) = self.scale_from else {
            return own;
        };
        let bytes = self.additive_increase.count();
        let bytes = part_of(bytes, link.line, from.bits_per_second()).max(1);
        Hpcc {
            additive_increase: Bytes::new(bytes.min(u64::from(u32::MAX))),
            scale_from: None,
            ..own
        }
    }

    fn start(&self, link: &Link, _: Instant) -> Flow {
        let most = self.most(link.line);
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

    /// Returns W / T, or the line rate while the window is at its maximum.
    fn rate(&self, flow: &mut Flow, _: Instant) -> u64 {
        if flow.window >= flow.most {
            return u64::MAX;
        }
        let round_trip = self.round_trip().ps().max(1);
        part_of(flow.window, 8 * SECOND.ps() / BYTE, round_trip).max(1)
    }

    /// A packet may leave while fewer bytes than W are unacknowledged, so the count is rounded up.
    fn window(&self, flow: &Flow, _: &Link) -> Window {
        let packet = (flow.wire_bytes * BYTE).max(1);
        Window::Packets(u32::try_from(flow.window.div_ceil(packet)).unwrap_or(u32::MAX))
    }

    fn sent(&self, flow: &mut Flow, frame_bytes: u64) {
        let wire_bytes = frame_bytes + u64::from(WIRE_OVERHEAD_BYTES);
        flow.wire_bytes = flow.wire_bytes.max(wire_bytes);
    }

    fn acknowledged(&self, flow: &mut Flow, _: &Link, feedback: &Feedback<'_>) {
        let hops = feedback.hops;
        if hops.is_empty() {
            return;
        }
        // PSNs wrap, so compare by the sign of the difference.
        let advances = feedback.sequence.wrapping_sub(flow.updated).cast_signed() > 0;
        if !continues(&flow.hops, hops) {
            // A different path has different counters. Store its readings; the next acknowledgement
            // over it gives the first measurement.
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
            // Two answers have overtaken each other. The older one says nothing new and its time
            // difference would be negative.
            return;
        }
        flow.utilisation = self.measure(flow, hops);
        self.compute(flow, advances);
        if advances {
            flow.updated = feedback.next_sequence;
        }
        flow.hops.copy_from_slice(hops);
    }
}

#[cfg(test)]
mod tests;
