//! A lane's leaps over time: the items on their way are taken out, and put back at a later instant.

use super::Lane;
use tenter_language::units::Instant;

use crate::arrival::Arrival;
use crate::calendar::Calendar;
use crate::event_list::Inbox;
use crate::home::LocalNode;

/// An item on its way: the receiving node, the input, and the item.
pub type UnderWay<T> = (LocalNode, u16, T);

impl<T: Arrival> Lane<T> {
    /// Returns all items on their way to `node`, in the order (time, input) in which they arrive.
    pub fn in_order(&self, node: LocalNode) -> Vec<(u16, T)> {
        let items = self.in_flight(node).map(|(input, item)| (input, *item));
        let mut items: Vec<(u16, T)> = items.collect();
        // The sort is stable: items with equal time and input keep the order in which they were
        // sent.
        items.sort_by_key(|(input, item)| (item.at(), *input));
        items
    }

    /// Moves all nodes to the instant `to`, with `items` on their way and no others. Items for a
    /// node must be in the order in which they arrive. Every node is visited next.
    pub fn leap(&mut self, to: Instant, items: impl IntoIterator<Item = UnderWay<T>>) {
        self.inboxes.iter_mut().for_each(Inbox::clear);
        self.filled.fill(0);
        self.later.clear();
        let nodes = self.filled.len();
        self.calendar = Calendar::new(nodes, self.bucket_ps);
        self.begin(to);
        for (node, input, item) in items {
            self.deliver(node, input, item.at(), &item);
        }
        for node in LocalNode::first(nodes) {
            self.calendar.wake(node, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::{LaneBuilder, LaneLayout};
    use tenter_language::units::Time;

    /// An item with its time of arrival and a number.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Item(Instant, u32);

    impl Arrival for Item {
        fn at(&self) -> Instant {
            self.0
        }

        fn set_at(&mut self, at: Instant) {
            self.0 = at;
        }
    }

    fn lane(central: bool) -> Lane<Item> {
        let mut builder = LaneBuilder::default();
        let layout = LaneLayout {
            parts: 1,
            bucket_ps: 1_000,
            flight_ps: 2_500,
            central,
        };
        builder.add_node(4);
        builder.add_node(4);
        builder.build(0, layout)
    }

    #[test]
    fn what_is_under_way_arrives_later_in_the_same_order() {
        for central in [false, true] {
            let mut lane = lane(central);
            lane.begin(Instant::START);
            let node = LocalNode::new(1);
            let sent = [(900, 3), (900, 1), (90_000, 0), (40, 2), (900, 1)];
            for (number, (at, input)) in (0..).zip(sent) {
                let at = Instant::from_ps(at);
                lane.deliver(node, input, at, &Item(at, number));
            }
            let before = lane.in_order(node);
            let numbers: Vec<u32> = before.iter().map(|(_, item)| item.1).collect();
            assert_eq!(numbers, [3, 1, 4, 0, 2]);
            let by = Time::from_ps(123_456_789);
            let to = Instant::at(by);
            let later = |(input, item): &(u16, Item)| (*input, Item(item.0 + by, item.1));
            let expected: Vec<(u16, Item)> = before.iter().map(later).collect();
            let moved = expected.iter().map(|(input, item)| (node, *input, *item));
            lane.leap(to, moved.collect::<Vec<_>>());
            assert_eq!(lane.in_order(node), expected);
            assert!(lane.in_order(LocalNode::new(0)).is_empty());
            assert_eq!(lane.calendar.next(to), Some(to));
        }
    }
}
