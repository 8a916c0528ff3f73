//! Which (destination, lane) entries each rank has, and the numbers both ends give them.

use crate::Destination;

/// What is at the other end of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FarEntry {
    /// The rank there.
    pub(super) rank: u32,
    /// The entry's number there.
    pub(super) entry: u32,
    /// The entry's lane.
    pub(super) lane: u32,
}

/// The entries of all ranks.
#[derive(Debug)]
pub(super) enum Table {
    Dense(Dense),
    Sparse(Sparse),
}

impl Table {
    pub(super) fn ranks(&self) -> u32 {
        match self {
            Table::Dense(dense) => dense.ranks,
            Table::Sparse(sparse) => (sparse.send_start.len() - 1) as u32,
        }
    }

    /// How many entries the rank sends on.
    pub(super) fn sends(&self, rank: u32) -> u32 {
        match self {
            Table::Dense(dense) => dense.ranks - 1,
            Table::Sparse(sparse) => length(&sparse.send_start, rank),
        }
    }

    /// How many entries the rank receives on.
    pub(super) fn receives(&self, rank: u32) -> u32 {
        match self {
            Table::Dense(dense) => dense.ranks - 1,
            Table::Sparse(sparse) => length(&sparse.receive_start, rank),
        }
    }

    /// The entry's numbers at the sender and at the receiver.
    pub(super) fn find(&self, src: u32, dst: u32, lane: u32) -> Option<(u32, u32)> {
        match self {
            Table::Dense(dense) => dense.find(src, dst, lane),
            Table::Sparse(sparse) => sparse.find(src, dst, lane),
        }
    }

    /// The receiver of a rank's send entry.
    pub(super) fn peer_of(&self, rank: u32, send: u32) -> FarEntry {
        match self {
            Table::Dense(dense) => dense.far_end(rank, send, true),
            Table::Sparse(sparse) => sparse.peer_of(rank, send),
        }
    }

    /// The sender of a rank's receive entry.
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

/// Every rank has exactly one entry to every other rank: all numbers are arithmetic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dense {
    ranks: u32,
    lanes: DenseLanes,
}

/// The two ways lanes are numbered in practice when every pair has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DenseLanes {
    /// All are 0.
    Zero,
    /// They count the entries, by source and then by destination, as the chunks of an all-to-all
    /// do.
    Counted,
}

impl Dense {
    /// The number rank `of` has in a list of all ranks but `at`.
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

/// Rows of entries one after the other (compressed sparse rows), and the same entries by receiver.
///
/// An entry's global number is its place in `dst`. Within a receiver, ascending global numbers are
/// ascending sources and lanes, so filling the receive lists in global order sorts them.
#[derive(Debug, Default)]
pub(super) struct Sparse {
    /// Rank r sends on the global entries `send_start[r]..send_start[r + 1]`.
    send_start: Vec<u32>,
    /// Destination of each entry.
    dst: Vec<u32>,
    /// Lane of each entry; empty while all are 0.
    lane: Vec<u32>,
    /// The number each entry has at its receiver.
    receive: Vec<u32>,
    /// Rank r receives on `entry[receive_start[r]..receive_start[r + 1]]`.
    receive_start: Vec<u32>,
    /// Global number of each receive entry.
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

    /// Appends a rank's entries.
    fn push_row(&mut self, row: impl Iterator<Item = Destination>) {
        for Destination { dst, lane } in row {
            if lane != 0 && self.lane.is_empty() {
                self.lane.resize(self.dst.len(), 0);
                self.lane.reserve(self.dst.capacity() - self.dst.len());
            }
            if lane != 0 || !self.lane.is_empty() {
                self.lane.push(lane);
            }
            self.dst.push(dst);
        }
        // `QUEUE_PAIRS_MAX` is far below 2³².
        self.send_start.push(self.dst.len() as u32);
    }

    /// Numbers all entries at their receivers.
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

/// Takes one row per rank and keeps none of them as long as the table is dense.
pub(super) struct TableBuilder {
    ranks: u32,
    rows: u32,
    /// The dense tables all rows so far fit; of two ranks, the first row may fit both.
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
            // Beyond that many ranks the count itself would not fit.
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

    /// Adds the next rank's entries, in ascending order and none twice.
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
        if let Some(dense) = before {
            for earlier in 0..src {
                self.sparse.push_row(dense.row(earlier));
            }
        }
        self.sparse.push_row(row.iter().copied());
    }

    /// The bytes that the table of these rows takes once it is finished.
    pub(super) fn finished_bytes(&self) -> u64 {
        let sparse = &self.sparse;
        // Where an entry goes, its lane, its number at the receiver, and its place in that order.
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
