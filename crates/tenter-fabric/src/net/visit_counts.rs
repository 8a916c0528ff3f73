//! Counters for the ways that a switch's visits take.

use std::ops::AddAssign;

/// Counters for each way that visits may take. All ways give the same result; the counts tell
/// whether tests have tried each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitCounts {
    /// Visits that served port after port.
    pub by_port: u64,
    /// Visits arrival by arrival, because not all arrivals were certain to find room.
    pub in_order: u64,
    /// Visits event by event, because a sender was paused, the load balancer reads queues, packets
    /// change as they arrive, or senders are signalled to.
    pub in_time_order: u64,
    /// Visits port after port that kept a journal.
    pub journals: u64,
    /// Journals that were replayed slot by slot, because a pool might have passed its high-water
    /// mark.
    pub journals_in_order: u64,
    /// Slots with several entries that were sorted by time before the replay.
    pub slots_in_order: u64,
    /// Slots with several entries that were replayed unsorted, port after port.
    pub slots_by_port: u64,
    /// Frames in journals that a pause frame resumed at the very instant at which it took effect.
    pub late_releases: u64,
}

impl AddAssign for VisitCounts {
    fn add_assign(&mut self, more: VisitCounts) {
        self.by_port += more.by_port;
        self.in_order += more.in_order;
        self.in_time_order += more.in_time_order;
        self.journals += more.journals;
        self.journals_in_order += more.journals_in_order;
        self.slots_in_order += more.slots_in_order;
        self.slots_by_port += more.slots_by_port;
        self.late_releases += more.late_releases;
    }
}
