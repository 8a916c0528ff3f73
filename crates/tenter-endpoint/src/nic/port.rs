//! What a NIC has for a port, where it sends over several.

use tenter_net::Transmitter;
use tenter_units::Instant;

use crate::pauses::Pauses;

/// What a NIC has for a port beside its queue pairs.
#[derive(Clone, Debug)]
pub(crate) struct NicPort {
    pub(crate) transmitter: Transmitter,
    pub(crate) plane: u8,
    /// What the leaf at this port has paused.
    pub(crate) pauses: Box<Pauses>,
    /// The end of the last message here, and when the wire was free after its gap.
    pub(crate) message_end: (Instant, Instant),
}

impl NicPort {
    /// A port before anything has happened.
    pub(crate) fn new(plane: u8, transmitter: Transmitter, pauses: Pauses) -> NicPort {
        NicPort {
            transmitter,
            plane,
            pauses: Box::new(pauses),
            message_end: (Instant::START, Instant::START),
        }
    }

    /// When frames can leave by it.
    pub(crate) fn wire(&self) -> Wire<'_> {
        Wire {
            free_at: self.transmitter.free_at(),
            pauses: &self.pauses,
        }
    }

    /// When the last frame so far has left; [`Instant::START`] when there was none.
    pub(crate) fn last_end(&self) -> Instant {
        last_end(&self.transmitter, self.message_end)
    }
}

/// When frames can leave by a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire<'p> {
    pub(crate) free_at: Instant,
    pub(crate) pauses: &'p Pauses,
}

impl<'p> Wire<'p> {
    /// That of a port, or of the first of the others of its NIC that is free.
    #[inline]
    pub(crate) fn of_any_port(
        transmitter: &Transmitter,
        others_free_at: Instant,
        pauses: &'p Pauses,
    ) -> Wire<'p> {
        Wire {
            free_at: transmitter.free_at().min(others_free_at),
            pauses,
        }
    }
}

/// When the last frame of a transmitter has left, without the gap after the last message.
pub(crate) fn last_end(transmitter: &Transmitter, message_end: (Instant, Instant)) -> Instant {
    let (end, resumed) = message_end;
    let free_at = transmitter.last_end();
    if free_at == resumed { end } else { free_at }
}

/// Frames and frame bytes.
pub(super) type Frames = (u64, u64);

/// The ports of a NIC that sprays over them.
#[derive(Clone, Debug)]
pub(super) struct Sprayed {
    /// What the NIC has for each port; of the current one it is in the NIC itself.
    pub(super) ports: Vec<NicPort>,
    /// The port that the NIC has turned to.
    pub(super) current: usize,
    /// The port by which the last frame left.
    pub(super) last: usize,
    /// What has arrived at each port, MAC control frames left out.
    pub(super) received: Vec<Frames>,
}

impl Sprayed {
    /// When the first of the ports but one is free.
    pub(super) fn others_free_at(&self, port: usize) -> Instant {
        let ports = self.ports.iter().enumerate();
        let others = ports.filter(|(other, _)| *other != port);
        let free = others.map(|(_, port)| port.transmitter.free_at());
        free.min().unwrap_or(Instant::NEVER)
    }
}
