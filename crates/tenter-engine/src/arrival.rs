//! The trait of items that travel between nodes.

use tenter_language::units::Instant;

/// An item that arrives at a node at an instant.
pub trait Arrival: Copy + Send + 'static {
    /// Returns when the item arrives, as [`Arrival::set_at`] has set it.
    fn at(&self) -> Instant;

    /// Sets the arrival time; the engine calls it when the item is sent.
    fn set_at(&mut self, at: Instant);
}
