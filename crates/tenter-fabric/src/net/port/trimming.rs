//! Frames that find no room: they are dropped, or go on without their payload.
//!
//! Source: the rule of NDP's switches (Handley et al., 2017), as the Ultra Ethernet Consortium's
//! simulator has it: by the toss of a coin the arriving packet is trimmed, or the last one that
//! waits.

use tenter_language::units::Instant;

use super::{Port, PortEnv, PortRules};
use crate::net::buffer::{Admission, QueuedFrame, SharedBuffer, Storage as _};
use crate::net::medium::{EventKind, Medium};
use crate::net::packet::{Draw, Packet};
use crate::net::trim_rule::TrimRule;

impl PortRules {
    /// Returns the rule for a packet that finds no room in `queue`; `None` if it must be dropped.
    fn trim(&self, packet: &Packet, queue: usize) -> Option<TrimRule> {
        let rule = self.trims[queue]?;
        (packet.kind.is_data() && packet.frame_bytes > rule.bytes).then_some(rule)
    }
}

impl Port {
    /// Handles a frame that finds no room although all departures that matter have been carried
    /// out: trims it if its class says so, or drops it. Returns true if frames may have been stored
    /// instead.
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
        // The victim must leave at least the room that the arriving packet needs, and be long
        // enough to be cut.
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
            // It may stay empty: in a shared buffer the arriving frame may get less room than this
            // had.
            self.waiting &= !(1 << frame.queue);
        }
        let left = self.queued_frame(last.stored_from(), frame.queue, &last);
        around.buffer.release_seldom(left, now);
        let arriving = self.queued_frame(frame.input, frame.queue, packet);
        let admission = around.buffer.admission(&arriving);
        if admission == Admission::Refused {
            // One packet makes room for one: if the limit has fallen, no further ones are trimmed.
            self.put_rest(packet, frame.input, rule, around, medium);
        } else {
            self.put(packet, arriving, admission, around, medium);
        }
        let cut = Packet { at: now, ..last };
        self.put_rest(&cut, last.stored_from(), rule, around, medium);
        true
    }

    /// Trims a packet, then sends, stores or drops the rest; returns true if it is stored.
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
        // The rest goes to the queue of its own class, which may be free where the packet's was
        // full.
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
