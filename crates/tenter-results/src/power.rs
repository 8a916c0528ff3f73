//! Power that a trial's fabric drew.

use tenter_language::units::Time;

use crate::column::rows;

rows! {
    /// Power that the fabric of a trial drew, by the power profile of its scenario.
    pub struct PowerRow in "power" {
        /// Name of the power profile in the scenario.
        profile: String => "profile", "";
        /// Static power of all parts that exist, which is the sum of the four that follow.
        static_power: f64 => "static_w", "W";
        /// Of it, that of electrical switches without their ports.
        switches: f64 => "switches_w", "W";
        /// Of it, that of their ports with cables.
        switch_ports: f64 => "switch_ports_w", "W";
        /// Of it, that of the ends of cables, in NICs too.
        cable_ends: f64 => "cable_ends_w", "W";
        /// Of it, that of optical circuit switches.
        optical_switches: f64 => "optical_switches_w", "W";
        /// From the start of the first job to the end of the trial, which is what means are over.
        duration: Time => "duration_ns", "ns";
        /// Bits that passed switches: those of all frames, with preamble and inter-frame gap, once
        /// for each switch.
        switched_bits: u64 => "switched_bits", "bits";
        /// Bits that passed cables: those of all frames, with preamble and inter-frame gap, once
        /// for each cable.
        cabled_bits: u64 => "cabled_bits", "bits";
        /// Energy that moving these bits took: of the switched bits at switches, of the cabled bits
        /// at cables.
        dynamic_energy: f64 => "dynamic_j", "J";
        /// Mean of that over the duration; missing where that is none.
        dynamic_power: Option<f64> => "dynamic_w", "W";
        /// Payload that jobs under test have received, as in their collectives.
        rx_payload_bytes: u64 => "rx_payload_bytes", "bytes";
        /// That payload over the duration; missing where that is none.
        throughput_gbps: Option<f64> => "throughput_gbps", "Gbit/s (10⁹)";
        /// Static power over throughput; missing, like the two that follow, where nothing was
        /// received.
        static_per_gbps: Option<f64> => "static_w_per_gbps", "W per Gbit/s";
        /// Dynamic power over throughput.
        dynamic_per_gbps: Option<f64> => "dynamic_w_per_gbps", "W per Gbit/s";
        /// Static and dynamic energy of the whole duration for each bit of that payload.
        picojoules_per_bit: Option<f64> => "pj_per_bit", "pJ/bit";
    }
}

impl PowerRow {
    /// Computes means over the duration (W, Gbit/s) and over the received payload (W per Gbit/s,
    /// pJ/bit), and replaces earlier ones. Leaves out all without a duration, and the latter
    /// without payload.
    pub fn add_means(&mut self) {
        (self.dynamic_power, self.throughput_gbps) = (None, None);
        (self.static_per_gbps, self.dynamic_per_gbps) = (None, None);
        self.picojoules_per_bit = None;
        if self.duration.is_zero() {
            return;
        }
        let dynamic = self.dynamic_energy / self.duration.as_s();
        let throughput = 8.0 * self.rx_payload_bytes as f64 / self.duration.as_ns();
        self.dynamic_power = Some(dynamic);
        self.throughput_gbps = Some(throughput);
        if throughput > 0.0 {
            self.static_per_gbps = Some(self.static_power / throughput);
            self.dynamic_per_gbps = Some(dynamic / throughput);
            // 1 W per Gbit/s is 1 nJ per bit.
            self.picojoules_per_bit = Some(1e3 * (self.static_power + dynamic) / throughput);
        }
    }
}
