//! What all ports of a switch go by.

use crate::class::{CLASSES, ClassSpec, EcnSpec, MarkAt, queue_of_class};
use crate::packet::Packet;
use crate::scheduling::Discipline;
use crate::transmitter::Transmitter;
use crate::trim_rule::{TrimRule, trim_rules};

/// What is the same for all ports of a switch.
#[derive(Clone, Debug)]
pub(crate) struct PortRules {
    pub(super) discipline: Discipline,
    /// The queue of each class.
    queue_of: [u8; CLASSES],
    /// Queues whose frames may be marked when they come, one bit each, and how.
    pub(super) marking: u8,
    /// The same of those whose frames are marked when they leave.
    pub(super) marking_late: u8,
    /// Those of either kind whose frames are not marked at ports to hosts.
    pub(super) unmarked_to_hosts: u8,
    ecn: Vec<Option<EcnSpec>>,
    /// For each queue what becomes of data that find no room: the queue and the class that the
    /// rest goes to, and its size.
    pub(super) trims: Vec<Option<TrimRule>>,
    /// Makes what is drawn by chance, and load balancing, differ from other switches'.
    pub(crate) seed: u32,
}

impl PortRules {
    pub(crate) fn new(classes: &[ClassSpec], seed: u32) -> PortRules {
        let marking = |at: MarkAt| -> u8 {
            let queues = classes.iter().enumerate();
            let marks = |(_, of): &(usize, &ClassSpec)| of.ecn.is_some_and(|ecn| ecn.mark_at == at);
            queues.filter(marks).map(|(queue, _)| 1 << queue).sum()
        };
        PortRules {
            discipline: Discipline::new(classes),
            queue_of: queue_of_class(classes),
            marking: marking(MarkAt::Enqueue),
            marking_late: marking(MarkAt::Dequeue),
            unmarked_to_hosts: unmarked_to_hosts(classes),
            ecn: classes.iter().map(|class| class.ecn).collect(),
            trims: trim_rules(classes),
            seed,
        }
    }

    /// What a departure may have to know and change, with the buffer of the switch.
    #[inline]
    pub(crate) fn around<'a, S>(&'a self, buffer: &'a mut S) -> PortEnv<'a, S> {
        PortEnv {
            rules: self,
            buffer,
        }
    }

    /// The queue a packet waits in.
    #[inline]
    pub(crate) fn queue(&self, packet: &Packet) -> usize {
        usize::from(self.queue_of[usize::from(packet.class())])
    }

    /// Whether a frame is marked that makes its queue hold `queue_bytes`, or leaves so much behind.
    #[inline(never)]
    pub(super) fn marks(
        &self,
        packet: &Packet,
        queue: usize,
        queue_bytes: u64,
        wire: &Transmitter,
    ) -> bool {
        let ecn = self.ecn[queue].as_ref();
        ecn.is_some_and(|ecn| ecn.marks(packet, queue_bytes, self.seed, wire))
    }
}

/// Queues whose frames are not marked at ports to hosts, one bit each.
fn unmarked_to_hosts(classes: &[ClassSpec]) -> u8 {
    let unmarked = |class: &ClassSpec| class.ecn.is_some_and(|ecn| !ecn.at_hosts);
    let queues = classes
        .iter()
        .enumerate()
        .filter(|(_, class)| unmarked(class));
    queues.map(|(queue, _)| 1 << queue).sum()
}

/// What a departure may have to know of and change in the rest of its switch.
#[derive(Debug)]
pub(crate) struct PortEnv<'a, S> {
    pub(crate) rules: &'a PortRules,
    pub(crate) buffer: &'a mut S,
}
