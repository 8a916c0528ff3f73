//! In-band telemetry: the records of a NIC's packets.

use std::sync::Arc;

use tenter_net::{Hop, Packet, RecordName, Telemetry};
use tenter_topology::HostId;

/// The records of what a NIC sends.
///
/// A record is used again once its packet has been answered; that of a packet or an answer that is
/// lost never is.
#[derive(Clone, Debug)]
pub(super) struct InBand {
    pub(super) telemetry: Arc<Telemetry>,
    free: Vec<u32>,
    used: u32,
    /// The record of the packet that is being served and has not been answered.
    pub(super) answering: Option<RecordName>,
    /// What the last answer said.
    pub(super) hops: Vec<Hop>,
}

impl InBand {
    pub(super) fn new(telemetry: Arc<Telemetry>) -> InBand {
        InBand {
            telemetry,
            free: Vec::new(),
            used: 0,
            answering: None,
            hops: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self, host: HostId, packet: &mut Packet) {
        let record = self.free.pop().unwrap_or(self.used);
        if record == self.telemetry.records() {
            packet.sent = RecordName::in_packet(None);
            return;
        }
        self.used = self.used.max(record + 1);
        let name = self.telemetry.begin(host, record, packet.sent);
        packet.sent = RecordName::in_packet(Some(name));
    }

    /// Takes back the record that an answer returns; when its packet was sent. What it says is in
    /// `hops` then.
    pub(super) fn take_back(&mut self, answer: &Packet) -> Option<u32> {
        let name = answer.record()?;
        self.telemetry.read(name, &mut self.hops);
        self.free.push(self.telemetry.record(name));
        Some(self.telemetry.sent(name))
    }
}
