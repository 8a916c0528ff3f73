//! Explicit congestion notification: which frames are marked.

use tenter_engine::mix64;

use crate::class::EcnSpec;
use crate::packet::Packet;

const PER_MILLION: u64 = 1_000_000;

impl EcnSpec {
    /// Whether a frame is marked that is put into a queue at `now` and makes it hold `queue_bytes`.
    ///
    /// The draw depends on the switch, the frame and the instant alone, not on any draw before it.
    pub(crate) fn marks(&self, packet: &Packet, queue_bytes: u64, seed: u32, now: u64) -> bool {
        if !packet.has(Packet::ECN_CAPABLE) || queue_bytes <= self.min_bytes {
            return false;
        }
        if queue_bytes > self.max_bytes {
            return true;
        }
        let identity = u64::from(packet.hash) << 32 | u64::from(packet.sequence);
        let draw = mix64(mix64(identity ^ u64::from(seed)) ^ now) >> 32;
        // draw / 2^32 < Pmax * (queue - Kmin) / (Kmax - Kmin), in whole numbers.
        let above = u128::from(queue_bytes - self.min_bytes);
        let span = u128::from(self.max_bytes - self.min_bytes);
        let probability = u128::from(self.max_probability_ppm) * above;
        u128::from(draw) * u128::from(PER_MILLION) * span < probability << 32
    }
}
