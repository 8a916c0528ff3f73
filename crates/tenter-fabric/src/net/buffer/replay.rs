//! Replay of a journal: brings pools and priority groups to the state that the order of time gives.

use super::certificate::Certificate;
use super::frame::{Place, QueuedFrame};
use super::journal::{Entry, Journal};
use super::limits::{Watch, shared, within};
use super::occupancy::Occupancy;

/// Replays a journal, sorted by time where a pool might set a high-water mark.
pub(super) fn replay(journal: &mut Journal, memory: &mut Occupancy, certificate: &mut Certificate) {
    let queues = journal.charged_queues();
    if memory.may_peak(queues, journal.charged_bytes()) {
        for slot in 0..journal.arrange() {
            // If all frames stored in the slot together set no record, neither does any order of
            // them.
            let in_order = memory.may_peak(queues, journal.charged_bytes_in(slot));
            replay_entries(journal.entries_in(slot, in_order), memory, certificate);
        }
    } else {
        replay_entries(journal.entries().iter(), memory, certificate);
    }
}

/// Replays entries of a visit in which no sender is paused, before them or by them.
#[inline]
fn replay_entries<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    memory: &mut Occupancy,
    certificate: &mut Certificate,
) {
    // A copy that stays in registers for as long as entries concern the same pool.
    let mut number = 0;
    let mut pool = memory.pools[number];
    for entry in entries {
        let queue = usize::from(entry.queue);
        let rules = &memory.classes[queue];
        let place = Place {
            input: entry.port,
            output: entry.output,
            queue,
        };
        let own = memory.pool_of(rules, place);
        if own != number {
            memory.pools[number] = pool;
            number = own;
            pool = memory.pools[number];
        }
        let mut of_queue = entry.queue_bytes;
        let holder = if rules.lossless.is_none() {
            &mut of_queue
        } else {
            let index = memory.group(entry.port, queue);
            let group = &mut memory.groups[index];
            if group.headroom > 0 && entry.change < 0 {
                // Headroom is in use but its sender is not paused: its link has failed meanwhile.
                let bytes = u64::from(entry.change.unsigned_abs());
                memory.pools[number] = pool;
                memory.remove_seldom(QueuedFrame {
                    input: place.input,
                    output: place.output,
                    queue,
                    bytes,
                    others: entry.queue_bytes - bytes,
                });
                pool = memory.pools[number];
                continue;
            }
            &mut group.used
        };
        let before = *holder;
        let after = before.wrapping_add_signed(i64::from(entry.change));
        *holder = after;
        let decides = if rules.watch == Watch::Queue {
            let change = i64::from(entry.change);
            entry.queue_bytes.wrapping_add_signed(change)
        } else {
            after
        };
        certificate.raise(queue, decides);
        pool.used = pool.used + shared(rules, after) - shared(rules, before);
        pool.high_water = pool.high_water.max(pool.used);
        debug_assert!(
            entry.change < 0
                || match rules.watch {
                    Watch::Group => true,
                    Watch::Pool(limit, _) => pool.used <= limit,
                    Watch::Queue => within(&rules.limit, &pool, decides),
                },
            "a frame that was certain to pause no sender does"
        );
    }
    memory.pools[number] = pool;
}
