//! Send queue pairs as part of a steady state.

use tenter_fabric::net::{FlowEnd, SendSlot, Visitor};

use super::{SendPeer, SendQueuePair};
use crate::send::requests::{NO_BACKLOG, Requests};
use crate::send::{Connection, Turn};
use crate::spec::AckPolicy;

impl SendQueuePair {
    /// Returns the other end of its data.
    pub(crate) fn peer(&self) -> SendPeer {
        self.peer
    }

    /// Returns the packets of the current request that have not been sent.
    pub(crate) fn left(&self) -> u32 {
        self.request_end.wrapping_sub(self.next_sequence)
    }

    /// Passes the state and the requests to `visitor`. A request that is not followed by a similar
    /// one must not end within a jump, and its last message, which may be shorter, must not begin
    /// in it.
    pub(crate) fn steady(
        &mut self,
        of: FlowEnd,
        requests: &mut Requests,
        slot: SendSlot,
        acknowledge: AckPolicy,
        visitor: &mut impl Visitor,
    ) {
        let SendQueuePair {
            last_progress,
            bytes,
            next_sequence,
            acknowledged,
            message_end,
            request_end,
            posted_sequence,
            last_payload,
            peer: _,
            backlog,
            turn,
            timer_armed,
            starts_message,
            retries,
            naks,
            connection,
            repairs,
            class,
        } = self;
        visitor.exact(*connection as u64);
        if *connection == Connection::Unused {
            return;
        }
        if *turn == Turn::Paced || *repairs {
            visitor.refuse();
        }
        visitor.instant(last_progress);
        visitor.exact(*bytes);
        let (next, end) = (*next_sequence, *request_end);
        let is_followed = visitor.of_request(of, request_end);
        visitor.of_request(of, posted_sequence);
        visitor.exact(u64::from(*last_payload) << 32 | u64::from(*backlog));
        let [armed, starts] = [*timer_armed, *starts_message].map(u8::from);
        let flags = [*turn as u8, armed, starts, *retries, *naks, *class];
        visitor.exact((flags.iter()).fold(0, |all, &flag| all << 8 | u64::from(flag)));
        if let AckPolicy::EveryPackets(packets) = acknowledge {
            // The packet's number decides whether it asks for an acknowledgement.
            visitor.exact(u64::from(*next_sequence % packets));
            // Otherwise the pattern breaks where PSNs wrap, so no jump may cross that.
            if !packets.is_power_of_two() {
                visitor.left(of, u32::MAX - *next_sequence);
            }
        }
        let before = *message_end;
        let last = if visitor.sequence_or_fixed(of, message_end) {
            end.wrapping_sub(before)
        } else {
            before.wrapping_sub(next)
        };
        if !is_followed {
            visitor.left(of, last.saturating_sub(1));
        }
        if !is_followed && *backlog == NO_BACKLOG {
            visitor.left(of, end.wrapping_sub(*acknowledged).saturating_sub(1));
        }
        requests.steady(of, slot, *backlog, *acknowledged, visitor);
        visitor.sequence(of, next_sequence);
        visitor.sequence(of, acknowledged);
    }
}
