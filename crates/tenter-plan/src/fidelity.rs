//! How closely a trial is simulated.

use tenter_config::choice;
use tenter_units::{Bytes, Time};

/// What moves through the fabric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fidelity {
    /// Packets, one by one.
    #[default]
    Packet,
    /// Flows, each at its max–min fair rate.
    Flow,
}

/// What moves through the fabric, as a scenario asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AskedFidelity {
    /// Packets, one by one.
    #[default]
    Packet,
    /// Flows, each at its max–min fair rate.
    Flow,
    /// Packets where they are cheap enough, else flows.
    Auto,
}

choice!(AskedFidelity { "packet" => Packet, "flow" => Flow, "auto" => Auto });

/// The most that packets may cost where the level is to be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketBudget {
    /// Wall time on one thread.
    pub wall_time: Time,
    /// Memory.
    pub memory: Bytes,
}
