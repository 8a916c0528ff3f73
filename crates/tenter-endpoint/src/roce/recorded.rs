//! In-band telemetry: the records of data packets, and whom they are returned to.

use tenter_net::{ACK_FRAME_BYTES, Medium, Packet, RecordName};

use super::RoceNic;
use super::in_band::InBand;
use crate::nic::context::{Directory, RxContext};
use crate::receive::Delivery;
use crate::spec::NicSpec;

impl RoceNic {
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
            Some(in_band) => RecordName::in_packet(in_band.answering.take()),
            None => packet.sent,
        }
    }

    /// Takes a data packet that may have a record, and answers it in any case if it has.
    #[inline(never)]
    pub(super) fn on_recorded<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        let mut packet = *packet;
        if let Some(in_band) = self.in_band() {
            in_band.answering = packet.record();
            packet.sent = match in_band.answering {
                Some(name) => in_band.telemetry.sent(name),
                None => (packet.at.ps() / tenter_net::SENT_UNIT_PS) as u32,
            };
        }
        let delivery = self.on_delayed(&packet, cx);
        if self.in_band().is_some_and(|own| own.answering.is_some()) {
            self.acknowledge(cx.spec, &packet);
        }
        delivery
    }
}
