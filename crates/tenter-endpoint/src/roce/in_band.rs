//! In-band telemetry: the records of a NIC's packets.

use std::sync::Arc;

use tenter_fabric::net::{Hop, Packet, RecordName, Telemetry};
use tenter_fabric::topology::HostId;

/// Records for the packets that a NIC sends.
///
/// A record is reused once its packet has been answered. If the packet or its answer is lost, the
/// record is never reused.
#[derive(Clone, Debug)]
pub(super) struct InBand {
    pub(super) telemetry: Arc<Telemetry>,
    /// Records that answers have returned, to be used again.
    free: Vec<u32>,
    /// Number of records ever used; the next fresh one has this number.
    used: u32,
    /// Record of the packet being served, until an answer has taken it.
    pub(super) answering: Option<RecordName>,
    /// Telemetry that the last answer returned.
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

    /// Gives a packet a record, whose name replaces its send time.
    pub(super) fn begin(&mut self, host: HostId, packet: &mut Packet) {
        let record = self.free.pop().unwrap_or(self.used);
        // The host's share of record names is used up: the packet goes without telemetry.
        if record == self.telemetry.records() {
            packet.sent = RecordName::in_packet(None);
            return;
        }
        self.used = self.used.max(record + 1);
        let name = self.telemetry.begin(host, record, packet.sent);
        packet.sent = RecordName::in_packet(Some(name));
    }

    /// Frees the record that an answer returns and returns its packet's send time, in units of
    /// [`tenter_fabric::net::SENT_UNIT_PS`]. The record's telemetry is then in `hops`.
    pub(super) fn take_back(&mut self, answer: &Packet) -> Option<u32> {
        let name = answer.record()?;
        self.telemetry.read(name, &mut self.hops);
        self.free.push(self.telemetry.record(name));
        Some(self.telemetry.sent(name))
    }
}
