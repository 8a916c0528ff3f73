//! Rules that all ports of a switch share.

use crate::net::class::{CLASSES, ClassSpec, EcnSpec, MarkAt, queue_of_class};
use crate::net::packet::Packet;
use crate::net::scheduling::Discipline;
use crate::net::transmitter::Transmitter;
use crate::net::trim_rule::{TrimRule, trim_rules};

/// Rules of a switch's ports: queues of classes, scheduling, marks and trimming.
#[derive(Clone, Debug)]
pub(crate) struct PortRules {
    pub(super) discipline: Discipline,
    /// Number of each class's queue.
    queue_of: [u8; CLASSES],
    /// Queues whose frames may be marked at the enqueue, one bit each.
    pub(super) marking: u8,
    /// Queues whose frames may be marked at the dequeue, one bit each.
    pub(super) marking_late: u8,
    /// Queues of either kind that mark nothing at ports to hosts, one bit each.
    pub(super) unmarked_to_hosts: u8,
    /// ECN settings of each queue; `None` marks nothing.
    ecn: Vec<Option<EcnSpec>>,
    /// Trim rule for each queue's data that finds no room; `None` drops it.
    pub(super) trims: Vec<Option<TrimRule>>,
    /// Seed of the switch's draws and choices, which differ by it from those of other switches.
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

    /// Joins the rules with the switch's buffer: a departure needs both.
    #[inline]
    pub(crate) fn around<'a, S>(&'a self, buffer: &'a mut S) -> PortEnv<'a, S> {
        PortEnv {
            rules: self,
            buffer,
        }
    }

    /// Returns the number of the queue in which a packet waits.
    #[inline]
    pub(crate) fn queue(&self, packet: &Packet) -> usize {
        usize::from(self.queue_of[usize::from(packet.class())])
    }

    /// Returns true if a frame is marked with which its queue holds `queue_bytes`, or that leaves
    /// as many behind.
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

/// Returns the queues that mark nothing at ports to hosts, one bit each.
fn unmarked_to_hosts(classes: &[ClassSpec]) -> u8 {
    let unmarked = |class: &ClassSpec| class.ecn.is_some_and(|ecn| !ecn.at_hosts);
    let queues = classes
        .iter()
        .enumerate()
        .filter(|(_, class)| unmarked(class));
    queues.map(|(queue, _)| 1 << queue).sum()
}

/// Parts of the switch that a port reads and changes as frames depart.
#[derive(Debug)]
pub(crate) struct PortEnv<'a, S> {
    pub(crate) rules: &'a PortRules,
    pub(crate) buffer: &'a mut S,
}
