//! Counters for events that must all have happened before something else may start.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Remaining events for each key that waits for several and has seen some, but not all.
///
/// Keys that have seen nothing take no memory, so the map holds only what is in progress.
#[derive(Clone, Debug)]
pub struct Countdown<K>(BTreeMap<K, u32>);

impl<K> Default for Countdown<K> {
    fn default() -> Countdown<K> {
        Countdown(BTreeMap::new())
    }
}

impl<K: Ord> Countdown<K> {
    /// Counts one event that `key` waits for, out of `all`, and returns true if it was the last.
    pub fn is_last(&mut self, key: K, all: u32) -> bool {
        // Most keys wait for a single event and never enter the map.
        if all <= 1 {
            return true;
        }
        match self.0.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(all - 1);
                false
            }
            Entry::Occupied(mut entry) => {
                *entry.get_mut() -= 1;
                let is_last = *entry.get() == 0;
                if is_last {
                    entry.remove();
                }
                is_last
            }
        }
    }

    /// Returns true if no key is in progress.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes the counters for which `is_over` holds.
    pub fn forget(&mut self, is_over: impl Fn(&K) -> bool) {
        self.0.retain(|key, _| !is_over(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_counts_by_itself_and_anew_once_it_is_over() {
        let mut countdown = Countdown::default();
        assert!(countdown.is_last("alone", 1));
        for _ in 0..2 {
            let of_two = ["a", "b", "a", "b"].map(|key| countdown.is_last(key, 2));
            assert_eq!(of_two, [false, false, true, true]);
        }
        assert!(!countdown.is_last("a", 2));
        countdown.forget(|key| *key == "a");
        assert!(!countdown.is_last("a", 2));
    }
}
