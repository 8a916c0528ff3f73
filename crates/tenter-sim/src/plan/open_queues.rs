//! Conditions under which nothing but NICs holds senders back.

use tenter_endpoint::loss_recovery::LossRecovery;

use crate::plan::trial::Plan;

impl Plan {
    /// Returns true if switches pause senders.
    pub fn is_lossless(&self) -> bool {
        self.switches.any_class(|class| class.lossless.is_some())
    }

    /// Returns true if jobs use several traffic classes.
    pub(crate) fn has_several_classes(&self) -> bool {
        let mut pairs = self.jobs.windows(2);
        pairs.any(|pair| pair[0].class != pair[1].class)
    }

    /// Returns true if nothing but NICs holds senders back. At flow level, messages then wait in
    /// queues; otherwise they share full links.
    pub fn queues_are_open(&self) -> bool {
        let changes = self.circuits.is_some() || !self.faults.events.is_empty();
        let by_switches = self.is_lossless()
            || self.scheduled.is_some()
            || self.credit.is_some()
            || self.input_queued.is_some()
            || self.signals.is_some();
        let nic = &self.nic;
        let by_nics = nic.reacting().is_some()
            || nic.ultra_ethernet().is_some()
            || nic.window_packets.is_some()
            || nic.outstanding_messages.is_some()
            || nic.receive_buffer.is_some()
            || !self.dma.is_empty();
        let is_free = !changes && !by_switches && !by_nics;
        // Queues of several classes are served by their scheduling.
        is_free && !self.has_several_classes() && self.fits_into_window()
    }

    /// Returns true if no queue pair has more to send than may be unacknowledged, judged by the
    /// sizes of collectives.
    fn fits_into_window(&self) -> bool {
        let LossRecovery::SelectiveRepeat(repeat) = &self.nic.loss_recovery else {
            return true;
        };
        let window = u64::from(repeat.window) * u64::from(self.nic.mtu_bytes);
        let mut runs = self.jobs.iter().flat_map(|job| &job.sequence);
        runs.all(|run| run.traffic.collective().is_some() && run.size_bytes <= window)
    }
}
