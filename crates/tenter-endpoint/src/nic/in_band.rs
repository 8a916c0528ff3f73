//! In-band telemetry: the records of a NIC's packets, and whom they are returned to.

use std::sync::Arc;

use tenter_net::{ACK_FRAME_BYTES, Hop, Medium, Packet, Telemetry};

use super::{Directory, Nic};
use crate::receive::Delivery;
use crate::spec::NicSpec;

/// The records of what a NIC sends.
///
/// A record is used again once its packet has been answered; that of a packet or an answer that is
/// lost never is.
#[derive(Clone, Debug)]
pub(super) struct InBand {
    telemetry: Arc<Telemetry>,
    free: Vec<u32>,
    used: u32,
    /// The record of the packet that is being served and has not been answered.
    answering: u32,
    /// What the last answer said.
    pub(super) hops: Vec<Hop>,
}

impl InBand {
    fn begin(&mut self, host: u32, packet: &mut Packet) {
        let record = self.free.pop().unwrap_or(self.used);
        if record == self.telemetry.records() {
            packet.sent = Telemetry::NONE;
            return;
        }
        self.used = self.used.max(record + 1);
        packet.sent = self.telemetry.begin(host, record, packet.sent);
    }

    /// Takes back the record that an answer returns; when its packet was sent. What it says is in
    /// `hops` then.
    pub(super) fn take_back(&mut self, name: u32) -> Option<u32> {
        if name == Telemetry::NONE {
            return None;
        }
        self.telemetry.read(name, &mut self.hops);
        self.free.push(self.telemetry.record(name));
        Some(self.telemetry.sent(name))
    }
}

impl Nic {
    /// Gives the data packets that it sends records of telemetry. Its congestion control must be
    /// one that wants them.
    pub fn carry_telemetry(&mut self, telemetry: Arc<Telemetry>) {
        if let Some(limits) = &mut self.limits {
            self.is_plain = false;
            limits.in_band = Some(Box::new(InBand {
                telemetry,
                free: Vec::new(),
                used: 0,
                answering: Telemetry::NONE,
                hops: Vec::new(),
            }));
        }
    }

    fn in_band(&mut self) -> Option<&mut InBand> {
        self.limits.as_mut()?.in_band.as_deref_mut()
    }

    /// Frame bytes of an acknowledgement: an answer returns what its packet has gathered.
    pub(super) fn ack_frame_bytes(spec: &NicSpec) -> u16 {
        ACK_FRAME_BYTES + spec.telemetry_bytes() as u16
    }

    /// Gives a data packet that is about to be sent its record.
    pub(super) fn begin_record(&mut self, packet: &mut Packet) {
        let host = self.host;
        if let Some(in_band) = self.in_band()
            && packet.kind.is_data()
        {
            in_band.begin(host, packet);
        }
    }

    /// What an answer to a packet says in [`Packet::sent`]: one answer to each packet returns its
    /// record.
    pub(super) fn answer_to(&mut self, packet: &Packet) -> u32 {
        match self.in_band() {
            Some(in_band) => std::mem::replace(&mut in_band.answering, Telemetry::NONE),
            None => packet.sent,
        }
    }

    /// Takes a data packet that may have a record, and answers it in any case if it has.
    #[inline(never)]
    pub(super) fn on_recorded<M: Medium>(
        &mut self,
        spec: &NicSpec,
        packet: &Packet,
        directory: &impl Directory,
        medium: &mut M,
    ) -> Option<Delivery> {
        let mut packet = *packet;
        if let Some(in_band) = self.in_band() {
            in_band.answering = packet.sent;
            packet.sent = if packet.sent == Telemetry::NONE {
                (packet.at / tenter_net::SENT_UNIT_PS) as u32
            } else {
                in_band.telemetry.sent(packet.sent)
            };
        }
        let delivery = self.on_delayed(spec, &packet, directory, medium);
        if self
            .in_band()
            .is_some_and(|own| own.answering != Telemetry::NONE)
        {
            self.acknowledge(spec, &packet);
        }
        delivery
    }
}
