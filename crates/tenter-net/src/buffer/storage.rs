//! What any memory does for the frames of a switch: it lets them go, and may stop their senders.

use tenter_units::Instant;

use super::frame::{PendingControl, QueuedFrame};

/// Memory that frames leave.
pub(crate) trait Storage {
    /// Whether the departure of a frame from a queue must be [released](Storage::release).
    fn is_booked(&self, queue: usize) -> bool;

    /// Releases a frame that leaves its output queue at `now`.
    fn release(&mut self, frame: QueuedFrame, now: Instant);

    /// As [`Storage::release`], for where that is seldom.
    fn release_seldom(&mut self, frame: QueuedFrame, now: Instant);
}

/// Memory whose state reaches senders by control frames.
pub(crate) trait Buffer: Storage {
    /// Whether a departure may make a control frame pending, so that all departures must be carried
    /// out in the order of time.
    fn is_armed(&self) -> bool;

    /// Whether control frames are pending.
    fn has_pending(&self) -> bool;

    /// The first control frame that is pending.
    fn take_pending(&mut self) -> Option<PendingControl>;

    /// When the next control frame must be repeated; [`Instant::NEVER`] when none must.
    fn next_refresh(&self) -> Instant;

    /// Repeats the control frames that are due at `now`, in the order of ports.
    fn refresh(&mut self, now: Instant);

    /// The link of a port goes down at `now`: what its other end was told is forgotten there.
    fn link_down(&mut self, port: u16, now: Instant);

    /// The link of a port comes up at `now`: its other end knows nothing.
    fn link_up(&mut self, port: u16, now: Instant);

    /// Whether the sender of a class at a port is paused.
    fn has_paused(&self, port: u16, queue: usize) -> bool;

    /// XOFF frames of all classes to the sender at a port.
    fn xoffs(&self, port: u16) -> u64;
}

/// Memory without end, where nothing is counted.
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
