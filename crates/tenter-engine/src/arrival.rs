//! What travels between nodes.

/// Something that arrives at a node at an instant.
pub trait Arrival: Copy + Send + 'static {
    /// The instant, in ps.
    fn at(&self) -> u64;

    /// Changes the instant.
    fn set_at(&mut self, at: u64);
}
