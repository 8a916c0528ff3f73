//! Communication matrices: bytes from each rank to each other, stored sparsely.

use std::fmt::Write as _;

/// Bytes per ordered pair of ranks; no rank sends to itself.
///
/// Entries take 16 bytes each, ordered by source and then by destination. An entry may have 0
/// bytes: a message that only says how far its sender has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommunicationMatrix {
    /// Each rank's first entry, followed by the entry count.
    first: Vec<u32>,
    /// Each entry's destination and bytes; destinations ascend within each rank.
    entries: Vec<(u32, u64)>,
}

impl CommunicationMatrix {
    /// Most entries in a matrix; they take 256 MiB.
    pub(crate) const ENTRIES_MAX: usize = 1 << 24;

    /// Builds a matrix from (source, destination, bytes) in any order. Bytes of the same pair are
    /// added up, and sends from a rank to itself are left out.
    ///
    /// # Panics
    /// If a rank is not below `ranks`, which is the caller's mistake.
    pub fn of(ranks: u32, mut sends: Vec<(u32, u32, u64)>) -> CommunicationMatrix {
        sends.retain(|(src, dst, _)| src != dst);
        sends.sort_unstable();
        sends.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 = kept.2.saturating_add(next.2);
            }
            same
        });
        let mut first = vec![0; ranks as usize + 1];
        for (src, dst, _) in &sends {
            assert!(*dst < ranks, "destinations are ranks");
            first[*src as usize + 1] += 1;
        }
        for rank in 0..ranks as usize {
            first[rank + 1] += first[rank];
        }
        let entries = sends.into_iter().map(|(_, dst, bytes)| (dst, bytes));
        CommunicationMatrix {
            first,
            entries: entries.collect(),
        }
    }

    /// Adds up several matrices over equally many ranks; without any, returns a matrix over no
    /// ranks.
    #[cfg(test)]
    pub(crate) fn sum<'a>(matrices: impl IntoIterator<Item = &'a Self>) -> CommunicationMatrix {
        let mut ranks = 0;
        let mut sends = Vec::new();
        for matrix in matrices {
            ranks = ranks.max(matrix.ranks());
            sends.extend(matrix.iter());
        }
        CommunicationMatrix::of(ranks, sends)
    }

    /// Returns the count of ranks, those without entries included.
    pub(crate) fn ranks(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    /// Returns the count of ordered pairs with an entry.
    pub(crate) fn pairs(&self) -> usize {
        self.entries.len()
    }

    /// Returns a sender's entries: destinations in ascending order, with their bytes.
    pub(crate) fn row(&self, rank: u32) -> &[(u32, u64)] {
        let [begin, end] = [0, 1].map(|next| self.first[rank as usize + next] as usize);
        &self.entries[begin..end]
    }

    /// Lists all entries, ordered by source and destination.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        let of_rank = |src| self.row(src).iter().map(move |&(dst, b)| (src, dst, b));
        (0..self.ranks()).flat_map(of_rank)
    }

    /// Returns the bytes from one rank to another; 0 without an entry.
    #[cfg(test)]
    pub(crate) fn bytes(&self, src: u32, dst: u32) -> u64 {
        let row = self.row(src);
        let found = row.binary_search_by_key(&dst, |(dst, _)| *dst);
        found.map_or(0, |place| row[place].1)
    }

    /// Returns the sum over all entries, in bytes.
    #[cfg(test)]
    pub(crate) fn total(&self) -> u64 {
        let bytes = self.entries.iter().map(|(_, bytes)| *bytes);
        bytes.fold(0, u64::saturating_add)
    }

    /// Returns true if each pair sends equally much in both directions.
    #[cfg(test)]
    pub(crate) fn is_symmetric(&self) -> bool {
        self.iter()
            .all(|(src, dst, bytes)| self.bytes(dst, src) == bytes)
    }

    /// Adds up the bytes between `groups` groups of ranks: entry `a · groups + b` is the sum from
    /// group a to group b, also for a = b.
    pub(crate) fn between(&self, groups: u32, group_of: impl Fn(u32) -> u32) -> Vec<u64> {
        let mut between = vec![0_u64; groups as usize * groups as usize];
        for (src, dst, bytes) in self.iter() {
            let place = group_of(src) * groups + group_of(dst);
            let cell = &mut between[place as usize];
            *cell = cell.saturating_add(bytes);
        }
        between
    }

    /// Draws the matrix with at most `cells` rows and columns, one line per row: sources downwards,
    /// destinations to the right. `@` marks the most bytes, each lighter shade a quarter of the one
    /// before, and a dot nothing.
    pub fn heat_map(&self, cells: u32) -> String {
        const SHADES: [char; 8] = ['\'', '-', ':', '=', '+', '*', '%', '@'];
        let cells = cells.min(self.ranks()).max(1);
        let ranks = u64::from(self.ranks()).max(1);
        let cell_of = |rank: u32| (u64::from(rank) * u64::from(cells) / ranks) as u32;
        let between = self.between(cells, cell_of);
        let most = between.iter().copied().max().unwrap_or(0);
        let shade = |bytes: u64| match bytes {
            0 => '.',
            // A shade is a factor of four, hence half the binary logarithm; the lightest is
            // open-ended.
            _ => SHADES[SHADES.len() - 1 - ((most / bytes).ilog2() as usize / 2).min(7)],
        };
        let mut drawing = String::new();
        for row in between.chunks(cells as usize) {
            for &bytes in row {
                let _ = write!(drawing, "{}", shade(bytes));
            }
            drawing.push('\n');
        }
        drawing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_added_up_and_never_to_oneself() {
        let sends = vec![(2, 0, 5), (0, 1, 1), (1, 1, 9), (0, 2, 3), (0, 1, 6)];
        let matrix = CommunicationMatrix::of(3, sends);
        assert_eq!(matrix.row(0), [(1, 7), (2, 3)]);
        assert_eq!(matrix.row(1), []);
        assert_eq!((matrix.bytes(2, 0), matrix.bytes(1, 0)), (5, 0));
        assert_eq!((matrix.total(), matrix.pairs()), (15, 3));
        assert!(!matrix.is_symmetric());
        let back = CommunicationMatrix::of(3, matrix.iter().map(|(a, b, c)| (b, a, c)).collect());
        let both = CommunicationMatrix::sum([&matrix, &back]);
        assert!(both.is_symmetric());
        assert_eq!(both.bytes(0, 2), 8);
    }

    #[test]
    fn groups_and_drawings() {
        let matrix = CommunicationMatrix::of(4, vec![(0, 1, 64), (0, 2, 16), (3, 0, 3)]);
        assert_eq!(matrix.between(2, |rank| rank / 2), [64, 16, 3, 0]);
        // 64 is the most; 16 a quarter of it; 3 a sixteenth and less than a quarter of that.
        assert_eq!(matrix.heat_map(2), "@%\n*.\n");
        assert_eq!(matrix.heat_map(99).lines().count(), 4);
    }
}
