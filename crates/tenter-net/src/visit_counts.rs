//! How often visits of a switch went which way.

use std::ops::AddAssign;

/// How often visits of a switch went which way: all of them give the same result, and this says
/// whether tests have tried each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitCounts {
    /// Port after port.
    pub by_port: u64,
    /// Arrival after arrival, as it was not certain that all would find room.
    pub in_order: u64,
    /// Arrival after arrival, because a sender was paused, the load balancer reads queues, or
    /// senders are signalled to.
    pub in_time_order: u64,
    /// Visits port after port that kept a journal.
    pub journals: u64,
    /// Of them, those whose journal was carried out slot of time after slot of time.
    pub journals_in_order: u64,
    /// Slots with several entries that were carried out in the order of time, …
    pub slots_in_order: u64,
    /// … and port after port.
    pub slots_by_port: u64,
    /// Frames in journals that a pause frame resumed at the instant at which it arrived.
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
