//! Keys that `tenter import` takes in addition to a fabric's file.

use std::ops::RangeInclusive;

use tenter_language::config::component;
use tenter_language::units::{Rate, Time};

use crate::error::{ImportError, Place};

component! {
    /// Properties that a file of a fabric does not have.
    pub struct FabricReading as "`tenter import` of a fabric", derive(Clone, Debug, Default, PartialEq, Eq) {
        /// Names of the devices that are hosts, with `*` for any characters and `,` between them.
        hosts: Option<String> = absent "what the file says", in WORD_MAX;
        /// Names of the devices that are switches, likewise.
        switches: Option<String> = absent "what the file says", in WORD_MAX;
        /// Rate of the cables whose rate the file does not tell.
        rate: Option<Rate> = absent "refused", in RATES;
        /// Rate of the cables of hosts whose rate the file does not tell.
        host_rate: Option<Rate> = absent "`rate`", in RATES;
        /// Propagation delay of the cables whose delay the file does not tell.
        delay: Option<Time> = absent "the usual delay of a cable", in DELAYS;
        /// Number of servers in a fabric of rails.
        servers: Option<u32> = absent "no fabric", in 1..=65_536;
        /// A further file: ranks of an InfraGraph.
        annotations: Option<String> = absent "none", in WORD_MAX;
        /// A further file: the devices of NetBox with their roles.
        devices: Option<String> = absent "none", in WORD_MAX;
        /// A further file: the interfaces of NetBox with their types.
        interfaces: Option<String> = absent "none", in WORD_MAX;
    }
}

/// Longest word that a key takes, in characters.
const WORD_MAX: usize = 4_096;
/// Slowest and fastest rate for a link in a scenario.
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);
/// Shortest and longest delay for a link in a scenario.
const DELAYS: RangeInclusive<Time> = Time::ZERO..=Time::from_us(1_000_000);

/// Returns a cable's rate: `told` by the file, or else `instead`, which the user gave.
pub(crate) fn given(
    told: Option<Rate>,
    instead: Option<Rate>,
    cable: &str,
    at: Place,
) -> Result<Rate, ImportError> {
    told.or(instead).ok_or_else(|| {
        let what = format!("nothing tells the rate of {cable}");
        ImportError::new(at, what, "give one, for example `--set rate=400Gbps`")
    })
}
