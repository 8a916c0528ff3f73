//! Jumps over whole periods of a steady state.
//!
//! While all transfers are long under way, the network returns to the same state again and again,
//! except for the time and for counters that influence nothing. Two states that agree in everything
//! that matters are followed by the same events. So all further periods are known, and need not be
//! simulated.
//!
//! `period` guesses the length of a period, `state` records and compares states with the passes in
//! `visitors`, `latency` computes the one thing that differs between periods, and `search` combines
//! them. `steps` does the same for whole steps of collectives, where `shifts` describes how
//! transfers follow each other.

mod latency;
mod log;
mod numbers;
mod period;
mod refusal;
mod search;
mod settling;
mod shifts;
mod state;
mod steps;
mod visitors;

pub(crate) use log::SteadyLog;
pub(crate) use refusal::refusal;
pub(crate) use search::{HOPS_PER_RUN, Search, Slices};
pub(crate) use steps::RECORDS_PER_JUMP;

use tenter_language::units::Time;

/// Totals of what was jumped over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jumped {
    /// Jump count, over periods and over steps.
    pub jumps: u64,
    /// Periods in all jumps together.
    pub periods: u64,
    /// Simulated time in all jumps together.
    pub time: Time,
    /// Packets of any kind in these periods, counted once per link.
    pub packet_hops: u64,
}

impl Jumped {
    /// Adds a jump over `periods` periods that carried `packet_hops` packet-hops in all.
    fn add(&mut self, period: Time, periods: u64, packet_hops: u64) {
        self.jumps += 1;
        self.periods += periods;
        self.time += period * periods;
        self.packet_hops += packet_hops;
    }
}
