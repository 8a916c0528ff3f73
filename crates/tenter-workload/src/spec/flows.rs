//! Entries in a background job's `flows`: streams between hosts.

use tenter_language::config::component;
use tenter_language::units::Rate;

use super::hosts::HostList;
use super::limits::RATES;

component! {
    /// Streams between hosts that never end.
    pub struct FlowSpec as "`jobs[].flows[]`", derive(Clone, Debug, PartialEq, Eq) {
        /// The host that sends; of several, each.
        from: HostList;
        /// The host that receives; of several, each from each, but none from itself.
        to: HostList;
        /// Payload that is offered per time, in messages at equal distances; `none` is as fast as
        /// the NIC can, the rate of its link.
        rate: Option<Rate> = "none", in RATES;
    }
}
