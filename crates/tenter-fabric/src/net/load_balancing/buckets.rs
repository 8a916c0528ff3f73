//! Memory of a switch for flows: tables of buckets, which flows share by their hash.

use crate::net::load_balancing::view::TableSizes;

/// One table for each list of equal-cost ports that flows have used. Flows with other candidates
/// never share a bucket: they would take it from each other again and again.
#[derive(Clone, Debug)]
pub(crate) struct Buckets<B> {
    entries: usize,
    /// Content of a bucket that no flow has used.
    empty: B,
    groups: Vec<Group<B>>,
}

#[derive(Clone, Debug)]
struct Group<B> {
    candidates: Vec<u16>,
    buckets: Vec<B>,
}

impl<B: Clone> Buckets<B> {
    /// Returns the bytes of all tables with this number of entries each.
    pub(crate) fn bytes(entries: u32, sizes: &TableSizes) -> u64 {
        let table = u64::from(entries) * size_of::<B>() as u64;
        table.saturating_mul(sizes.lists)
    }

    /// Makes tables with this number of entries each, all of them `empty`.
    pub(crate) fn new(entries: u32, empty: B) -> Buckets<B> {
        Buckets {
            entries: entries as usize,
            empty,
            groups: Vec::new(),
        }
    }

    /// Returns the bucket of flows with this hash among these candidates; a table is made when it
    /// is first used.
    #[inline]
    pub(crate) fn of(&mut self, candidates: &[u16], hash: u32) -> &mut B {
        // A linear search will do: a switch has few lists.
        let known = self
            .groups
            .iter()
            .position(|group| group.candidates == candidates);
        let place = known.unwrap_or_else(|| {
            self.groups.push(Group {
                candidates: candidates.to_vec(),
                buckets: vec![self.empty.clone(); self.entries],
            });
            self.groups.len() - 1
        });
        // The upper bits of hash × entries: even parts for any number of entries.
        let bucket = (u64::from(hash) * self.entries as u64) >> 32;
        &mut self.groups[place].buckets[bucket as usize]
    }
}
