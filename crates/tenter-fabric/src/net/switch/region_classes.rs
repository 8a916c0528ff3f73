//! Classes that change from region to region.
//!
//! A packet takes the next class as it enters a region. With a class for each region on a path, a
//! priority group waits for queues of its own class within the region and for queues of the next
//! class beyond it, so pauses cannot wait for each other in a cycle through regions.
//!
//! The switch that a packet enters changes its class, like one that rewrites the DSCP of incoming
//! packets. The priority group there belongs to the new class. The group's pause frames name the
//! old class, in which the packets still are at the other end of the link.
//!
//! Source: Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology" (ISCA 2008), section
//! 4.1, where virtual channels take the place of classes.

use crate::net::class::{CLASSES, ClassSpec};
use crate::net::packet::Packet;

/// Change of packets' classes at one switch.
#[derive(Clone, Debug)]
pub(crate) struct RegionClasses {
    /// Class of a packet in the next region, by its class before.
    next: [u8; CLASSES],
    /// True for ports whose links lead to another region.
    is_border: Vec<bool>,
}

impl RegionClasses {
    /// Makes the change at a switch with ports `is_border` to other regions; `None` if no class
    /// changes there.
    pub(super) fn new(classes: &[ClassSpec], is_border: Vec<bool>) -> Option<RegionClasses> {
        let changes = |class: &ClassSpec| class.next_region.is_some();
        if !is_border.contains(&true) || !classes.iter().any(changes) {
            return None;
        }
        let mut next = std::array::from_fn(|class| class as u8);
        for class in classes {
            next[usize::from(class.class)] = class.next_region.unwrap_or(class.class);
        }
        Some(RegionClasses { next, is_border })
    }

    fn is_border(&self, port: u16) -> bool {
        let border = self.is_border.get(usize::from(port));
        border.is_some_and(|border| *border)
    }

    /// Returns the class here of a packet that arrives through `input`.
    pub(super) fn class_of(&self, packet: &Packet, input: u16) -> u8 {
        let class = packet.class();
        if self.is_border(input) {
            self.next[usize::from(class)]
        } else {
            class
        }
    }

    /// Returns the classes, one bit each, that become `class` here as packets arrive through
    /// `port`.
    pub(super) fn of_sender(&self, port: u16, class: u8) -> u8 {
        if !self.is_border(port) {
            return 1 << class;
        }
        let classes = (0..).zip(&self.next);
        let before = classes.filter(|(_, next)| **next == class);
        before.fold(0, |bits, (class, _): (u8, _)| bits | 1 << class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes 3, 4 and 5 for three regions; port 1 leads to another one.
    fn classes() -> RegionClasses {
        let class = |class, next_region| ClassSpec {
            next_region,
            ..ClassSpec::without_end(class)
        };
        let all = [
            class(0, None),
            class(3, Some(4)),
            class(4, Some(5)),
            class(5, None),
        ];
        RegionClasses::new(&all, vec![false, true]).expect("two classes change")
    }

    #[test]
    fn a_packet_takes_the_next_class_where_it_enters_a_region() {
        let of = |class, input| {
            let packet = Packet::pause(class, 0);
            classes().class_of(&packet, input)
        };
        assert_eq!([0, 3, 4, 5].map(|class| of(class, 1)), [0, 4, 5, 5]);
        assert_eq!([0, 3, 4, 5].map(|class| of(class, 0)), [0, 3, 4, 5]);
    }

    #[test]
    fn a_pause_names_the_classes_that_the_sender_has() {
        let of = |port, class| classes().of_sender(port, class);
        assert_eq!(of(0, 4), 1 << 4);
        // Class 3 stays on the other side of the border; 4 and 5 are both 5 here.
        assert_eq!(
            [0, 3, 4, 5].map(|class| of(1, class)),
            [1, 0, 1 << 3, 1 << 4 | 1 << 5]
        );
    }

    #[test]
    fn without_borders_or_changes_there_are_none() {
        let same = [ClassSpec::without_end(3)];
        assert!(RegionClasses::new(&same, vec![true]).is_none());
        let other = ClassSpec {
            next_region: Some(4),
            ..ClassSpec::without_end(3)
        };
        assert!(RegionClasses::new(&[other], vec![false]).is_none());
    }
}
