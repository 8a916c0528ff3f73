//! A port's response time: the delay from a pause frame's arrival to its effect.

use tenter_language::config::word_or;
use tenter_language::units::{Rate, Time};

/// Time that ports take to respond to pause frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseResponse {
    /// Each port takes what the standard allows at its rate: [`response_time`].
    Standard,
    /// All ports take this time, whatever their rates.
    Fixed(Time),
}

word_or!(PauseResponse { "standard" => Standard, Fixed(Time) });

impl PauseResponse {
    /// Returns the response time at this line rate.
    pub fn time(self, rate: Rate) -> Time {
        match self {
            PauseResponse::Standard => response_time(rate),
            PauseResponse::Fixed(time) => time,
        }
    }
}

/// Bit times that one quantum of pause time lasts (IEEE 802.3, Annex 31B).
pub const QUANTUM_BITS: u64 = 512;

/// [`QUANTUM_BITS`] times the ps of a second: divided by the ps that a quantum lasts on a line, it
/// gives the line rate.
pub(crate) const QUANTUM_BIT_PS: u128 = QUANTUM_BITS as u128 * 1_000_000_000_000;

/// Line rate in Gb/s, and the quanta within which a port at that rate must respond (IEEE 802.3,
/// Annex 31B.3.7, as tabulated in `SONiC`'s dynamic headroom calculation).
pub(crate) const RESPONSE_QUANTA: [(u64, u64); 8] = [
    (10, 67),
    (25, 80),
    (40, 118),
    (50, 147),
    (100, 394),
    (200, 453),
    (400, 905),
    (800, 905),
];

/// Returns the quanta from a pause frame's arrival to its effect at this rate.
///
/// A rate between two rows takes the next higher one, which is longer. Above the last row the
/// quanta grow with the rate, so that the time stays that of 800G.
pub fn response_quanta(rate: Rate) -> u64 {
    let bits = rate.bits_per_second();
    let rows = RESPONSE_QUANTA.iter();
    let mut rows = rows.map(|&(gbps, quanta)| (Rate::from_gbps(gbps), quanta));
    let (last_gbps, last_quanta) = RESPONSE_QUANTA[RESPONSE_QUANTA.len() - 1];
    let beyond = || {
        let last = Rate::from_gbps(last_gbps).bits_per_second();
        (u128::from(last_quanta) * u128::from(bits)).div_ceil(u128::from(last)) as u64
    };
    let row = rows.find(|(row, _)| rate <= *row);
    row.map_or_else(beyond, |(_, quanta)| quanta)
}

/// Returns the time from a pause frame's arrival to its effect at this rate: [`response_quanta`],
/// rounded up to a picosecond.
pub fn response_time(rate: Rate) -> Time {
    rate.time_of_bits(u128::from(response_quanta(rate) * QUANTUM_BITS))
}
