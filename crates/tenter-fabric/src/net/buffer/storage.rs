//! Memory of a switch: what every kind does when a frame leaves, and how it controls senders.

use tenter_language::units::Instant;

use super::frame::{PendingControl, QueuedFrame};

/// Memory that frames in output queues are charged to.
pub(crate) trait Storage {
    /// Returns true if a frame that leaves `queue` must be [released](Storage::release).
    fn is_booked(&self, queue: usize) -> bool;

    /// Releases a frame that leaves its output queue at `now`.
    fn release(&mut self, frame: QueuedFrame, now: Instant);

    /// As [`Storage::release`], for callers off the hot path.
    fn release_seldom(&mut self, frame: QueuedFrame, now: Instant);
}

/// Memory whose state reaches senders by control frames: pauses, or link credit.
pub(crate) trait Buffer: Storage {
    /// Returns true if a departure may make a control frame pending, so that all departures must be
    /// carried out in time order.
    fn is_armed(&self) -> bool;

    /// Returns true if control frames wait to be sent.
    fn has_pending(&self) -> bool;

    /// Takes the first pending control frame, if any.
    fn take_pending(&mut self) -> Option<PendingControl>;

    /// Returns when the next pause is repeated; [`Instant::NEVER`] if there is none.
    fn next_refresh(&self) -> Instant;

    /// Repeats the pauses that are due at `now`, in the order of ports.
    fn refresh(&mut self, now: Instant);

    /// Handles a failure on a port's link at `now`: the other end forgets pauses and credit.
    fn link_down(&mut self, port: u16, now: Instant);

    /// Handles the return of a port's link at `now`: the other end knows no pause and has no
    /// credit.
    fn link_up(&mut self, port: u16, now: Instant);

    /// Returns true if the sender of a class at `port` is paused by this switch.
    fn has_paused(&self, port: u16, queue: usize) -> bool;

    /// Returns how many XOFF frames went to the sender at `port`, all classes together.
    fn xoffs(&self, port: u16) -> u64;
}

/// Memory without limit, in which nothing is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unlimited;

impl Storage for Unlimited {
    #[inline]
    fn is_booked(&self, _: usize) -> bool {
        false
    }

    #[inline]
    fn release(&mut self, _: QueuedFrame, _: Instant) {}

    #[inline]
    fn release_seldom(&mut self, _: QueuedFrame, _: Instant) {}
}
