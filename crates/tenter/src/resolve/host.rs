//! `endpoint.host`: delays that a host adds to sends, and the scale-up domain of its NPUs.

use std::ops::RangeInclusive;

use tenter_fabric::topology::HostId;
use tenter_language::config::{Reader, component};
use tenter_language::units::Time;
use tenter_sim::plan::HostDelays;
use tenter_workload::ScaleUp;

component! {
    /// Delays of the host, and how its NPUs share data.
    pub struct Host as "`endpoint.host`" {
        /// From the arrival that releases a send (or the start of the collective) to the send.
        step_delay: Time = "0ns", in DELAYS;
        /// From the start of a collective to its first sends.
        start_up: Time = "0ns", in DELAYS;
        /// NPUs of a host that exchange data among themselves, past their NICs; `none`: all data
        /// pass the NICs.
        scale_up: Option<ScaleUp> = "none";
        /// NPUs that share a NIC: as many ranks of a job run behind each port of the fabric and
        /// exchange data in their `scale_up` domain, whose `npus_per_host` it divides.
        npus_per_nic: u32 = "1", in 1..=64;
        check nics_are_of_one_host;
    }
}

/// Upper limit for a host's delays: a second.
const DELAYS: RangeInclusive<Time> = Time::ZERO..=Time::from_us(1_000_000);

fn nics_are_of_one_host(host: &Host, reader: &mut dyn Reader) -> bool {
    let npus = host.npus_per_nic;
    let (what, help) = match host.scale_up.map(|domain| domain.npus_per_host) {
        _ if npus == 1 => return true,
        Some(of_host) if of_host.is_multiple_of(npus) => return true,
        Some(of_host) => (
            format!(
                "is {npus}, which does not divide the {of_host} NPUs of a host: a NIC belongs to one host"
            ),
            "give an `npus_per_host` in `scale_up` that is a multiple of it".to_owned(),
        ),
        None => (
            format!("is {npus}, and nothing connects the NPUs of a NIC"),
            format!(
                "give `endpoint.host.scale_up`, for example `{{npus_per_host: {npus}}}`: what they send each other passes no NIC"
            ),
        ),
    };
    reader.refuse("npus_per_nic", &what, &help);
    false
}

impl Host {
    /// Returns the delays that hosts add to sends.
    pub(crate) fn delays(&self) -> HostDelays {
        HostDelays {
            step: self.step_delay,
            start_up: self.start_up,
        }
    }

    /// Returns true if two NICs' NPUs share a scale-up domain.
    pub(crate) fn joins(&self, a: HostId, b: HostId) -> bool {
        self.scale_up
            .is_some_and(|domain| domain.joins_nics(self.npus_per_nic, a, b))
    }
}
