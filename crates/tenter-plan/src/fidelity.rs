//! How closely a trial is simulated.

use tenter_config::choice;

/// What moves through the fabric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fidelity {
    /// Packets, one by one.
    #[default]
    Packet,
    /// Flows, each at its max–min fair rate.
    Flow,
}

choice!(Fidelity { "packet" => Packet, "flow" => Flow });
