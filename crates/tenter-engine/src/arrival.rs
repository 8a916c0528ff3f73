//! The trait of items that travel between nodes.

use tenter_units::Instant;

/// An item that arrives at a node at an instant.
pub trait Arrival: Copy + Send + 'static {
    /// Returns the arrival time.
    fn at(&self) -> Instant;

    /// Sets the arrival time; the engine calls it when the item is sent.
    fn set_at(&mut self, at: Instant);
}
