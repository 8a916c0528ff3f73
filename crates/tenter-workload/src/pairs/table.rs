//! The (destination, lane) entries of each rank, and their numbers at both ends.

use crate::Destination;

/// Far end of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FarEntry {
    /// Rank at the other end.
    pub(super) rank: u32,
    /// The entry's number at the other end.
    pub(super) entry: u32,
    /// Lane that the entry stands for.
    pub(super) lane: u32,
}

/// The entries of all ranks.
#[derive(Debug)]
pub(super) enum Table {
    Dense(Dense),
    Sparse(Sparse),
}

impl Table {
    #[cfg(test)]
    pub(super) fn ranks(&self) -> u32 {
        match self {
            Table::Dense(dense) => dense.ranks,
            Table::Sparse(sparse) => (sparse.send_start.len() - 1) as u32,
        }
    }

    /// Counts the entries that the rank sends on.
    pub(super) fn sends(&self, rank: u32) -> u32 {
        match self {
            Table::Dense(dense) => dense.ranks - 1,
            Table::Sparse(sparse) => length(&sparse.send_start, rank),
        }
    }

    /// Counts the entries that the rank receives on.
    pub(super) fn receives(&self, rank: u32) -> u32 {
        match self {
            Table::Dense(dense) => dense.ranks - 1,
            Table::Sparse(sparse) => length(&sparse.receive_start, rank),
        }
    }

    /// Returns the entry's numbers at the sender and at the receiver.
    pub(super) fn find(&self, src: u32, dst: u32, lane: u32) -> Option<(u32, u32)> {
        match self {
            Table::Dense(dense) => dense.find(src, dst, lane),
            Table::Sparse(sparse) => sparse.find(src, dst, lane),
        }
    }

    /// Returns where a rank's send entry arrives.
    pub(super) fn peer_of(&self, rank: u32, send: u32) -> FarEntry {
        match self {
            Table::Dense(dense) => dense.far_end(rank, send, true),
            Table::Sparse(sparse) => sparse.peer_of(rank, send),
        }
    }

    /// Returns where a rank's receive entry comes from.
    pub(super) fn source_of(&self, rank: u32, receive: u32) -> FarEntry {
        match self {
            Table::Dense(dense) => dense.far_end(rank, receive, false),
            Table::Sparse(sparse) => sparse.source_of(rank, receive),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Table::Dense(_) => 0,
            Table::Sparse(sparse) => sparse.columns().map(|column| 4 * column.len()).sum(),
        }
    }
}

/// A table in which every rank has exactly one entry to every other rank, so that numbers follow by
/// arithmetic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dense {
    ranks: u32,
    lanes: DenseLanes,
}

/// Lane numbering in a dense table; these two occur in practice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DenseLanes {
    /// All lanes are 0, as in most collectives.
    Zero,
    /// Lanes count the entries by source and then by destination, as an all-to-all's chunks do.
    Counted,
}

impl Dense {
    /// Returns rank `of`'s position in a list with all ranks except `at`.
    fn position(of: u32, at: u32) -> u32 {
        of - u32::from(of > at)
    }

    fn lane(self, src: u32, send: u32) -> u32 {
        match self.lanes {
            DenseLanes::Zero => 0,
            DenseLanes::Counted => src * (self.ranks - 1) + send,
        }
    }

    fn find(self, src: u32, dst: u32, lane: u32) -> Option<(u32, u32)> {
        if src >= self.ranks || dst >= self.ranks || src == dst {
            return None;
        }
        let send = Dense::position(dst, src);
        (lane == self.lane(src, send)).then(|| (send, Dense::position(src, dst)))
    }

    fn far_end(self, rank: u32, entry: u32, sending: bool) -> FarEntry {
        assert!(rank < self.ranks && entry < self.ranks - 1, "no such slot");
        let far = entry + u32::from(entry >= rank);
        let there = Dense::position(rank, far);
        let lane = if sending {
            self.lane(rank, entry)
        } else {
            self.lane(far, there)
        };
        FarEntry {
            rank: far,
            entry: there,
            lane,
        }
    }

    fn row(self, src: u32) -> impl Iterator<Item = Destination> {
        (0..self.ranks - 1).map(move |send| Destination {
            dst: send + u32::from(send >= src),
            lane: self.lane(src, send),
        })
    }
}

/// A table in compressed sparse rows, with a second index by receiver.
///
/// An entry's global number is its place in `dst`. For a given receiver, ascending global numbers
/// mean ascending sources and lanes, so filling the receive lists in global order sorts them.
#[derive(Debug, Default)]
pub(super) struct Sparse {
    /// Rank r sends on the global entries `send_start[r]..send_start[r + 1]`.
    send_start: Vec<u32>,
    /// Each entry's destination, by global number.
    dst: Vec<u32>,
    /// Each entry's lane, by global number; empty while all are 0.
    lane: Vec<u32>,
    /// Each entry's number at its receiver.
    receive: Vec<u32>,
    /// Rank r receives on `entry[receive_start[r]..receive_start[r + 1]]`.
    receive_start: Vec<u32>,
    /// Each receive entry's global number.
    entry: Vec<u32>,
}

fn length(starts: &[u32], rank: u32) -> u32 {
    starts[rank as usize + 1] - starts[rank as usize]
}

impl Sparse {
    fn lane(&self, entry: usize) -> u32 {
        self.lane.get(entry).copied().unwrap_or(0)
    }

    fn columns(&self) -> impl Iterator<Item = &Vec<u32>> {
        let starts = [&self.send_start, &self.receive_start];
        starts
            .into_iter()
            .chain([&self.dst, &self.lane, &self.receive, &self.entry])
    }

    fn find(&self, src: u32, dst: u32, lane: u32) -> Option<(u32, u32)> {
        let start = *self.send_start.get(src as usize)? as usize;
        let end = *self.send_start.get(src as usize + 1)? as usize;
        let row = &self.dst[start..end];
        let first = start + row.partition_point(|&other| other < dst);
        let found = if self.lane.is_empty() {
            first
        } else {
            let same = self.dst[first..end].partition_point(|&other| other == dst);
            first + self.lane[first..first + same].partition_point(|&other| other < lane)
        };
        let hit = found < end && self.dst[found] == dst && self.lane(found) == lane;
        hit.then(|| ((found - start) as u32, self.receive[found]))
    }

    fn peer_of(&self, rank: u32, send: u32) -> FarEntry {
        assert!(send < length(&self.send_start, rank), "no such slot");
        let entry = (self.send_start[rank as usize] + send) as usize;
        FarEntry {
            rank: self.dst[entry],
            entry: self.receive[entry],
            lane: self.lane(entry),
        }
    }

    fn source_of(&self, rank: u32, receive: u32) -> FarEntry {
        assert!(receive < length(&self.receive_start, rank), "no such slot");
        let entry = self.entry[(self.receive_start[rank as usize] + receive) as usize];
        let src = self.send_start.partition_point(|&start| start <= entry) - 1;
        FarEntry {
            rank: src as u32,
            entry: entry - self.send_start[src],
            lane: self.lane(entry as usize),
        }
    }

    /// Appends the next rank's entries.
    fn push_row(&mut self, row: impl Iterator<Item = Destination>) {
        for Destination { dst, lane } in row {
            // The first lane other than 0: earlier entries get their zeros now. Without channels
            // and chunk scope the column stays empty.
            if lane != 0 && self.lane.is_empty() {
                self.lane.resize(self.dst.len(), 0);
                self.lane.reserve(self.dst.capacity() - self.dst.len());
            }
            if lane != 0 || !self.lane.is_empty() {
                self.lane.push(lane);
            }
            self.dst.push(dst);
        }
        // `QUEUE_PAIRS_MAX` is far below 2³², so the cast is lossless.
        self.send_start.push(self.dst.len() as u32);
    }

    /// Numbers all entries at their receivers, once all rows are there.
    fn number_receivers(&mut self, ranks: u32) {
        let mut start = vec![0; ranks as usize + 1];
        // Counting first and then turning counts into starts leaves no list to grow.
        self.receive = Vec::with_capacity(self.dst.len());
        for &dst in &self.dst {
            let count = &mut start[dst as usize + 1];
            self.receive.push(*count);
            *count += 1;
        }
        for rank in 0..ranks as usize {
            start[rank + 1] += start[rank];
        }
        self.entry = vec![0; self.dst.len()];
        for (entry, (&dst, &receive)) in (0..).zip(self.dst.iter().zip(&self.receive)) {
            self.entry[(start[dst as usize] + receive) as usize] = entry;
        }
        self.receive_start = start;
    }
}

/// Builds a table from one row per rank, without storing rows as long as the table is dense.
pub(super) struct TableBuilder {
    ranks: u32,
    rows: u32,
    /// Dense tables that all rows so far agree with. With two ranks, the first row may agree with
    /// both.
    dense: Vec<Dense>,
    sparse: Sparse,
}

impl TableBuilder {
    pub(super) fn new(ranks: u32) -> TableBuilder {
        let mut dense = Vec::new();
        if ranks >= 2 {
            dense.push(Dense {
                ranks,
                lanes: DenseLanes::Zero,
            });
            // With more ranks the lanes would not fit into 32 bits.
            if ranks.checked_mul(ranks - 1).is_some() {
                dense.push(Dense {
                    ranks,
                    lanes: DenseLanes::Counted,
                });
            }
        }
        let sparse = Sparse {
            send_start: vec![0],
            ..Sparse::default()
        };
        TableBuilder {
            ranks,
            rows: 0,
            dense,
            sparse,
        }
    }

    /// Adds the next rank's entries, in ascending order without repetition.
    pub(super) fn push_row(&mut self, row: &[Destination]) {
        let before = self.dense.first().copied();
        let src = self.rows;
        self.rows += 1;
        self.dense.retain(|dense| {
            row.len() == dense.ranks as usize - 1 && dense.row(src).eq(row.iter().copied())
        });
        if !self.dense.is_empty() {
            return;
        }
        // The table has just stopped being dense: earlier rows were not stored and are generated
        // again.
        if let Some(dense) = before {
            for earlier in 0..src {
                self.sparse.push_row(dense.row(earlier));
            }
        }
        self.sparse.push_row(row.iter().copied());
    }

    /// Returns the bytes that the table takes once it is finished.
    pub(super) fn finished_bytes(&self) -> u64 {
        let sparse = &self.sparse;
        // Per entry: destination, number at the receiver and place in that order, and the lane; per
        // rank: two starts.
        let words = 3 * sparse.dst.len() + sparse.lane.len() + 2 * sparse.send_start.len();
        4 * words as u64
    }

    pub(super) fn finish(mut self) -> Table {
        if let Some(&dense) = self.dense.first() {
            return Table::Dense(dense);
        }
        self.sparse.dst.shrink_to_fit();
        self.sparse.lane.shrink_to_fit();
        self.sparse.number_receivers(self.ranks);
        Table::Sparse(self.sparse)
    }
}
