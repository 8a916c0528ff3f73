//! What travels between nodes.

use tenter_units::Instant;

/// Something that arrives at a node at an instant.
pub trait Arrival: Copy + Send + 'static {
    /// The instant.
    fn at(&self) -> Instant;

    /// Changes the instant.
    fn set_at(&mut self, at: Instant);
}
