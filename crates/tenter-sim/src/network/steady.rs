//! Jumps over whole periods of a steady state.
//!
//! While all transfers are long under way, the network comes back to the same state again and
//! again, but for the time and for counts that decide nothing. Two states a period apart that are
//! the same in all that decides what happens are followed by the same; so what happens in any
//! number of further periods is known, and is not carried out.
//!
//! `period` guesses how long a period may be, `state` notes and compares states with the passes of
//! `visitors`, `latency` finds the one thing that differs from period to period, and `search` puts
//! it together. `steps` does the same for whole steps of collectives, where `shifts` tells how
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

use tenter_units::Time;

/// What has been jumped over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jumped {
    /// Jumps.
    pub jumps: u64,
    /// Periods in all of them.
    pub periods: u64,
    /// The time that these took.
    pub time: Time,
    /// Packets of any kind that they carried, counted once per link.
    pub packet_hops: u64,
}

impl Jumped {
    /// Adds a jump over so many periods, in which so many packet-hops were.
    fn add(&mut self, period: Time, periods: u64, packet_hops: u64) {
        self.jumps += 1;
        self.periods += periods;
        self.time += period * periods;
        self.packet_hops += packet_hops;
    }
}
