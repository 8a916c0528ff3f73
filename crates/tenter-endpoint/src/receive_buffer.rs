//! A NIC's receive side, if it may be slower than the wire: a FIFO that drains into host memory and
//! pauses the leaf.

use std::ops::RangeInclusive;

use tenter_engine::Ring;
use tenter_fabric::net::Packet;
use tenter_language::config::{Reader, component};
use tenter_language::units::{Bytes, Instant, Rate, SerialisationTime, Time};

use crate::pcie::Dma;

component! {
    /// The receive side of a NIC: a FIFO that drains into host memory, and pauses the leaf.
    pub struct ReceiveBufferSpec as "`endpoint.nic.receive_buffer`" {
        /// Frame bytes leave the buffer at this rate, into host memory; with `pcie` payload leaves
        /// it by DMA, and NICs whose PCIe keeps up with the wire have no buffer.
        drain_rate: Option<Rate> = absent "by `pcie`", in RATES;
        /// Frame bytes it holds, a whole frame at least; what does not fit is dropped.
        capacity: Bytes = "2MiB", in Bytes::new(1)..=BYTES_MAX, from "assumed: no vendor publishes the buffers of its NICs";
        /// The NIC pauses the leaf above this many bytes; `none` never pauses it.
        xoff: Option<Bytes> = by half_full | capacity | "half the capacity", in Bytes::new(0)..=BYTES_MAX;
        /// The NIC lets the leaf resume at this many bytes or fewer.
        xon: Bytes = by half_of_xoff | xoff | "half of `xoff`", in Bytes::new(0)..=BYTES_MAX;
        /// Pause time that an XOFF asks for, in units of 512 bit times.
        quanta: u16 = "65535", in 1..=u16::MAX, from "the largest that IEEE 802.1Qbb has";
        check thresholds_are_in_order;
    }
}

const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);
/// Upper bound for capacity and thresholds.
const BYTES_MAX: Bytes = Bytes::new(1 << 40);

#[expect(
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    reason = "defaults are made from references, as their keys have them"
)]
fn half_full(capacity: &Bytes) -> Option<Bytes> {
    Some(Bytes::new(capacity.count() / 2))
}

#[expect(clippy::ref_option, reason = "defaults are made from references")]
fn half_of_xoff(xoff: &Option<Bytes>) -> Bytes {
    xoff.map_or(Bytes::new(0), |xoff| Bytes::new(xoff.count() / 2))
}

fn thresholds_are_in_order(own: &ReceiveBufferSpec, reader: &mut dyn Reader) -> bool {
    let Some(xoff) = own.xoff else {
        let says_something = reader.was_given("xon") && own.xon != Bytes::new(0);
        if says_something {
            let what = "means nothing where the leaf is never paused";
            reader.refuse("xon", what, "leave it out, or give `xoff`");
        }
        reader.leave_out("xon");
        return !says_something;
    };
    for (key, least, most) in [("xoff", xoff, own.capacity), ("xon", own.xon, xoff)] {
        if least > most {
            let what = format!("is `{least}`, outside its range");
            reader.refuse(key, &what, &format!("choose from `0B` to `{most}`"));
            return false;
        }
    }
    true
}

impl ReceiveBufferSpec {
    /// Share of a pause after which the NIC repeats it, in percent, so that the leaf never resumes
    /// by itself.
    pub const REFRESH_PERCENT: u8 = 50;
}

/// Counters for a NIC's receive buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveBufferCounters {
    /// Frames dropped because they found no room.
    pub dropped_frames: u64,
    /// Frame bytes in the dropped frames.
    pub dropped_bytes: u64,
    /// Highest fill so far, in frame bytes.
    pub high_water_bytes: u64,
}

/// Rate at which frames leave the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Drain {
    /// All frame bytes, at a fixed rate.
    Frames(SerialisationTime),
    /// Payload alone, by DMA over PCIe.
    Dma(Dma),
}

impl Drain {
    fn of(&self, packet: &Packet, carried: u32) -> (Time, u32) {
        match self {
            Drain::Frames(time) => time.of(u32::from(packet.frame_bytes), carried),
            Drain::Dma(dma) => dma.of(packet, carried),
        }
    }
}

/// FIFO for frames that have arrived and are not yet in host memory.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveBuffer {
    drain: Drain,
    /// Fraction of a picosecond left over from the last drain time.
    carried: u32,
    /// Waiting frames, whose `at` is the instant at which they will have drained.
    frames: Ring<Packet>,
    bytes: u64,
    /// Instant at which the last frame in the FIFO will have drained.
    drained_at: Instant,
    /// Instant at which the leaf's current pause began, or [`Instant::NEVER`] without one.
    paused_since: Instant,
    /// Total duration for which earlier pauses lasted.
    paused: Time,
    /// Instant at which the pause must be repeated, or [`Instant::NEVER`].
    refresh_at: Instant,
    /// Duration that each XOFF asks for.
    pause: Time,
    counters: ReceiveBufferCounters,
}

impl ReceiveBuffer {
    /// Creates an empty buffer. `quantum` is the time that 512 bits take on the link to the leaf.
    pub(crate) fn new(spec: &ReceiveBufferSpec, drain: Drain, quantum: Time) -> ReceiveBuffer {
        ReceiveBuffer {
            drain,
            carried: 0,
            frames: Ring::default(),
            bytes: 0,
            drained_at: Instant::START,
            paused_since: Instant::NEVER,
            paused: Time::ZERO,
            refresh_at: Instant::NEVER,
            pause: quantum * u64::from(spec.quanta),
            counters: ReceiveBufferCounters::default(),
        }
    }

    /// Stores a frame that arrives at `packet.at`, or drops it if it does not fit. Returns true if
    /// the leaf must be paused now.
    pub(crate) fn take(&mut self, spec: &ReceiveBufferSpec, mut packet: Packet) -> bool {
        let now = packet.at;
        let frame = u64::from(packet.frame_bytes);
        if self.bytes + frame > spec.capacity.count() {
            self.counters.dropped_frames += 1;
            self.counters.dropped_bytes += frame;
            return false;
        }
        // A fraction is carried only between frames that drain without a gap, so that long bursts
        // do not drift.
        let carried = if self.drained_at >= now {
            self.carried
        } else {
            0
        };
        let (duration, carried) = self.drain.of(&packet, carried);
        self.carried = carried;
        self.drained_at = self.drained_at.max(now) + duration;
        packet.at = self.drained_at;
        self.frames.push(packet);
        self.bytes += frame;
        self.counters.high_water_bytes = self.counters.high_water_bytes.max(self.bytes);
        let full = spec.xoff.is_some_and(|xoff| self.bytes > xoff.count());
        // While a pause lasts, the refresh timer repeats it; a further frame needs no XOFF of its
        // own.
        if !full || !self.paused_since.is_never() {
            return false;
        }
        self.paused_since = now;
        self.repeat(now);
        true
    }

    /// Notes that an XOFF goes out at `now`, and when it must be repeated.
    pub(crate) fn repeat(&mut self, now: Instant) {
        let interval = self.pause * u64::from(ReceiveBufferSpec::REFRESH_PERCENT) / 100;
        self.refresh_at = now + interval.max(Time::LEAST);
    }

    /// Returns the instant at which the first frame has drained, or [`Instant::NEVER`].
    pub(crate) fn next_drained(&self) -> Instant {
        self.frames
            .front()
            .map_or(Instant::NEVER, |packet| packet.at)
    }

    /// Returns the instant at which the pause must be repeated, or [`Instant::NEVER`] without one.
    pub(crate) fn refresh_at(&self) -> Instant {
        self.refresh_at
    }

    /// Takes out the first frame, which has drained at `now`, with a flag that is set if the leaf
    /// may resume.
    pub(crate) fn drain(
        &mut self,
        spec: &ReceiveBufferSpec,
        now: Instant,
    ) -> Option<(Packet, bool)> {
        let packet = self.frames.pop()?;
        self.bytes -= u64::from(packet.frame_bytes);
        let resumes = !self.paused_since.is_never() && self.bytes <= spec.xon.count();
        if resumes {
            self.paused += now - self.paused_since;
            self.paused_since = Instant::NEVER;
            self.refresh_at = Instant::NEVER;
        }
        Some((packet, resumes))
    }

    /// Returns true while the buffer pauses the leaf.
    pub(crate) fn is_pausing(&self) -> bool {
        !self.paused_since.is_never()
    }

    /// Returns the total time up to `now` for which the buffer has paused the leaf.
    pub(crate) fn paused(&self, now: Instant) -> Time {
        let lasting = if self.paused_since.is_never() {
            Time::ZERO
        } else {
            now.saturating_since(self.paused_since)
        };
        self.paused + lasting
    }

    pub(crate) fn counters(&self) -> ReceiveBufferCounters {
        self.counters
    }

    /// Returns the waiting frames and their bytes.
    pub(crate) fn waiting(&self) -> (u64, u64) {
        (self.frames.len() as u64, self.bytes)
    }
}
