//! Packets that find no room: they are dropped, or go on without their payload.
//!
//! Source: the rule of NDP's switches (Handley et al., 2017), as the Ultra Ethernet Consortium's
//! simulator has it: by the toss of a coin the packet that arrives is trimmed, or the last one that
//! waits.

use tenter_units::Instant;

use super::{Port, PortEnv, PortRules};
use crate::buffer::{Admission, QueuedFrame, SharedBuffer, Storage as _};
use crate::medium::{EventKind, Medium};
use crate::packet::{Draw, Packet};
use crate::trim_rule::TrimRule;

impl PortRules {
    /// What becomes of a packet of a queue that finds no room, if it may be trimmed.
    fn trim(&self, packet: &Packet, queue: usize) -> Option<TrimRule> {
        let rule = self.trims[queue]?;
        (packet.kind.is_data() && packet.frame_bytes > rule.bytes).then_some(rule)
    }
}

impl Port {
    /// A frame finds no room, all departures that matter having been carried out: it is trimmed
    /// where its class says so, or dropped. Whether anything is stored instead.
    #[cold]
    pub(super) fn refuse<M: Medium>(
        &mut self,
        packet: &Packet,
        frame: QueuedFrame,
        around: &mut PortEnv<'_, SharedBuffer>,
        medium: &mut M,
    ) -> bool {
        let now = packet.at;
        let Some(rule) = around.rules.trim(packet, frame.queue) else {
            self.drop_frame(frame.queue, packet, now, medium);
            return false;
        };
        let heads = packet.draw(around.rules.seed, Draw::Trim) & 1 == 0;
        let last = self.queues[frame.queue].last();
        let fits = last.is_some_and(|last| {
            last.kind.is_data() && last.frame_bytes >= packet.frame_bytes.max(rule.bytes + 1)
        });
        if !heads || !fits {
            return self.put_rest(packet, frame.input, rule, around, medium);
        }
        let Some(last) = self.queues[frame.queue].take_last() else {
            return false;
        };
        self.bytes -= u64::from(last.frame_bytes);
        if self.queues[frame.queue].is_empty() {
            // A shared buffer may have less room for the frame that arrives than it had for this.
            self.waiting &= !(1 << frame.queue);
        }
        let left = self.queued_frame(last.stored_from(), frame.queue, &last);
        around.buffer.release_seldom(left, now);
        let arriving = self.queued_frame(frame.input, frame.queue, packet);
        let admission = around.buffer.admission(&arriving);
        if admission == Admission::Refused {
            // One packet makes room for one: a limit that has fallen takes no further ones.
            self.put_rest(packet, frame.input, rule, around, medium);
        } else {
            self.put(packet, arriving, admission, around, medium);
        }
        let cut = Packet { at: now, ..last };
        self.put_rest(&cut, last.stored_from(), rule, around, medium);
        true
    }

    /// Sends or stores what is left of a packet, or drops it; whether it is stored.
    fn put_rest<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        rule: TrimRule,
        around: &mut PortEnv<'_, SharedBuffer>,
        medium: &mut M,
    ) -> bool {
        let now: Instant = packet.at;
        let rest = packet.trimmed(rule.bytes, rule.class, self.leads_to_host);
        let trimmed = self.trimmed.get_or_insert_default();
        trimmed.0 += 1;
        trimmed.1 += u64::from(packet.frame_bytes - rule.bytes);
        self.transmitter
            .note(EventKind::Trimmed, now, &rest, medium);
        let queue = usize::from(rule.queue);
        if self.is_free(queue, now) {
            self.pass(&rest, now, medium);
            return false;
        }
        if self.is_closed(queue) {
            self.lose(&rest, now, medium);
            return false;
        }
        let frame = self.queued_frame(input, queue, &rest);
        let admission = around.buffer.admission(&frame);
        self.put(&rest, frame, admission, around, medium)
    }
}
