//! Parallel work on many items.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Returns what `work` makes of each item, in item order. One thread per processor takes the items
/// in that order.
///
/// # Panics
/// Panics if `work` does.
pub fn of_each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let take = || {
        loop {
            // Each number is handed out once; nothing else depends on this order.
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else {
                break;
            };
            let result = work(item);
            let mut made = made.lock().expect("nobody panics with the lock");
            made.push((number, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(take);
        }
    });
    // Threads finish in any order.
    let mut made = made.into_inner().expect("nobody panics with the lock");
    made.sort_unstable_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::of_each;

    #[test]
    fn results_are_in_the_order_of_items() {
        let items: Vec<u64> = (0..1_000).collect();
        let squares: Vec<u64> = items.iter().map(|item| item * item).collect();
        assert_eq!(of_each(&items, |item| item * item), squares);
    }
}
