//! Steering's decisions about optical circuits.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// A look at what jobs send, and what followed for the circuits.
    pub struct SteeringRow in "steering" {
        /// Instant of the look.
        time: Time => "time_ns", "ns";
        /// Why: `jobs`, when jobs have started or ended, or `counters`.
        trigger: String => "trigger", "";
        /// Jobs whose traffic counts; with counters, those that run.
        jobs: u32 => "jobs", "";
        /// Time that the busiest link takes with the circuits that there are, as an estimate: in
        /// times of the busiest NIC, and 1 where no link takes longer.
        busiest_before: f64 => "busiest_before", "";
        /// Time that the busiest link would take with the best circuits, in the same unit.
        busiest_after: f64 => "busiest_after", "";
        /// The times of all links between switches with the circuits that there are, added up, in
        /// times of the busiest NIC: what is sent, by how far it goes.
        links_before: f64 => "links_before", "";
        /// The times of all links between switches with the best circuits, added up, in the same
        /// unit.
        links_after: f64 => "links_after", "";
        /// True if circuits change; else the best are not better by the threshold.
        changed: bool => "changed", "";
        /// Optical switches with circuits that change.
        optical_switches: u32 => "optical_switches", "";
        /// Circuits between two leaves from then on.
        direct_circuits: u32 => "direct_circuits", "";
    }
}
