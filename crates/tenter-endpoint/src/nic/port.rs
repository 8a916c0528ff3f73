//! Per-port state for a NIC that sends over several ports.

use tenter_fabric::net::Transmitter;
use tenter_language::units::Instant;

use crate::pauses::Pauses;

/// State that a port has apart from the queue pairs.
#[derive(Clone, Debug)]
pub(crate) struct NicPort {
    pub(crate) transmitter: Transmitter,
    pub(crate) plane: u8,
    /// Pauses by the leaf at this port.
    pub(crate) pauses: Box<Pauses>,
    /// Instants at which this port's last message ended, and the gap after it.
    pub(crate) message_end: (Instant, Instant),
}

impl NicPort {
    /// Creates a port's initial state.
    pub(crate) fn new(plane: u8, transmitter: Transmitter, pauses: Pauses) -> NicPort {
        NicPort {
            transmitter,
            plane,
            pauses: Box::new(pauses),
            message_end: (Instant::START, Instant::START),
        }
    }

    /// Returns the state that decides when frames can leave by this port.
    pub(crate) fn wire(&self) -> Wire<'_> {
        Wire {
            free_at: self.transmitter.free_at(),
            pauses: &self.pauses,
        }
    }

    /// Returns the instant at which the last frame ended, or [`Instant::START`] if there was none.
    pub(crate) fn last_end(&self) -> Instant {
        last_end(&self.transmitter, self.message_end)
    }
}

/// State that decides when frames can leave by a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire<'p> {
    pub(crate) free_at: Instant,
    pub(crate) pauses: &'p Pauses,
}

impl<'p> Wire<'p> {
    /// Returns a port's state as if it were free as soon as any port at its NIC is.
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

/// Returns the instant at which a transmitter's last frame ended, without the gap after its last
/// message.
pub(crate) fn last_end(transmitter: &Transmitter, message_end: (Instant, Instant)) -> Instant {
    let (end, resumed) = message_end;
    let free_at = transmitter.last_end();
    // The transmitter's own end includes the gap if nothing was sent after the message.
    if free_at == resumed { end } else { free_at }
}

/// A frame count and the frames' bytes.
pub(super) type Frames = (u64, u64);

/// Ports at a NIC that sprays packets over them.
#[derive(Clone, Debug)]
pub(super) struct Sprayed {
    /// State of each port. The current port's state is swapped with the NIC's own and lies there.
    pub(super) ports: Vec<NicPort>,
    /// Port whose state lies in the NIC.
    pub(super) current: usize,
    /// Port by which the last frame left; the next frame prefers the one after it.
    pub(super) last: usize,
    /// Arrivals at each port, MAC control frames excluded.
    pub(super) received: Vec<Frames>,
}

impl Sprayed {
    /// Returns the earliest instant at which a port other than `port` is free.
    pub(super) fn others_free_at(&self, port: usize) -> Instant {
        let ports = self.ports.iter().enumerate();
        let others = ports.filter(|(other, _)| *other != port);
        let free = others.map(|(_, port)| port.transmitter.free_at());
        free.min().unwrap_or(Instant::NEVER)
    }
}
