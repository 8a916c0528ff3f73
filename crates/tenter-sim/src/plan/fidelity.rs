//! The level at which a trial is simulated.

use tenter_language::config::choice;
use tenter_language::units::{Bytes, Time};

/// The level: packets or flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fidelity {
    /// Packets are simulated one by one.
    #[default]
    Packet,
    /// Flows are simulated, each at its max–min fair rate.
    Flow,
}

/// The level as a scenario asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AskedFidelity {
    /// Packets are simulated one by one.
    #[default]
    Packet,
    /// Flows are simulated, each at its max–min fair rate.
    Flow,
    /// Packets if they are cheap enough, otherwise flows.
    Auto,
}

choice!(AskedFidelity { "packet" => Packet, "flow" => Flow, "auto" => Auto });

/// The most that packet level may cost if the level is chosen automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketBudget {
    /// Wall time on one thread.
    pub wall_time: Time,
    /// Memory that the run may take.
    pub memory: Bytes,
}
