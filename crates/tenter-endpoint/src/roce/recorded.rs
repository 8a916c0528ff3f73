//! In-band telemetry: the records of data packets, and their return to the sender.

use tenter_fabric::net::{ACK_FRAME_BYTES, Medium, Packet, RecordName};

use super::RoceNic;
use super::in_band::InBand;
use crate::nic::context::{Directory, RxContext};
use crate::receive::Delivery;
use crate::spec::NicSpec;

impl RoceNic {
    fn in_band(&mut self) -> Option<&mut InBand> {
        self.limits.as_mut()?.in_band.as_deref_mut()
    }

    /// Returns the frame bytes that an acknowledgement has, with room for its packet's telemetry.
    pub(super) fn ack_frame_bytes(spec: &NicSpec) -> u16 {
        ACK_FRAME_BYTES + spec.telemetry_bytes() as u16
    }

    /// Gives a record to a data packet that is about to be sent.
    pub(super) fn begin_record(&mut self, packet: &mut Packet) {
        let host = self.host;
        if let Some(in_band) = self.in_band()
            && packet.kind.is_data()
        {
            in_band.begin(host, packet);
        }
    }

    /// Returns the value of [`Packet::sent`] for an answer. With telemetry, exactly one answer to
    /// each packet returns the packet's record.
    pub(super) fn answer_to(&mut self, packet: &Packet) -> u32 {
        match self.in_band() {
            Some(in_band) => RecordName::in_packet(in_band.answering.take()),
            None => packet.sent,
        }
    }

    /// Handles a data packet that may have a record, and answers it in any case if it has one.
    #[inline(never)]
    pub(super) fn on_recorded<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        let mut packet = *packet;
        if let Some(in_band) = self.in_band() {
            in_band.answering = packet.record();
            // From here on the packet carries its send time, as packets without telemetry do.
            packet.sent = match in_band.answering {
                Some(name) => in_band.telemetry.sent(name),
                // No record, no send time: the latency counts as zero.
                None => (packet.at.ps() / tenter_fabric::net::SENT_UNIT_PS) as u32,
            };
        }
        let delivery = self.on_delayed(&packet, cx);
        // No answer was due, or none that returned the record: without this one it would be lost.
        if self.in_band().is_some_and(|own| own.answering.is_some()) {
            self.acknowledge(cx.spec, &packet);
        }
        delivery
    }
}
