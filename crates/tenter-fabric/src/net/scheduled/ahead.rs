//! Cells that a link into the fabric has been given and has not begun to send.
//!
//! A cell is handed to its link when it is cut, because its departure is known then. A reader of
//! the link in between must see which cells have gone over the wire, and which wait.

use std::collections::VecDeque;

use tenter_language::units::Instant;

use crate::net::packet::Packet;

/// Cells of one link, in the order in which they leave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ahead {
    cells: VecDeque<Cell>,
    /// Frame bytes of the cells that had not begun when the last one was added.
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    start: Instant,
    end: Instant,
    bytes: u16,
    is_data: bool,
}

/// Cells that were taken back from a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TakenBack {
    /// Frames and frame bytes: without payload, and data.
    pub(crate) sent: [(u64, u64); 2],
    /// End of the cell that is on the wire, or of the last one.
    pub(crate) ended: Instant,
}

impl Ahead {
    /// Adds a cell that is given to the link at `now` and is on the wire from `start` to `end`;
    /// returns the frame bytes that wait then.
    pub(crate) fn add(&mut self, cell: &Packet, now: Instant, start: Instant, end: Instant) -> u64 {
        while let Some(first) = self.cells.front()
            && first.start <= now
        {
            self.bytes -= u64::from(first.bytes);
            self.cells.pop_front();
        }
        if start > now {
            self.bytes += u64::from(cell.frame_bytes);
            self.cells.push_back(Cell {
                start,
                end,
                bytes: cell.frame_bytes,
                is_data: cell.kind.is_data(),
            });
        }
        self.bytes
    }

    /// Returns the frame bytes that have not begun to be sent before `now`, a sync point.
    pub(crate) fn bytes(&self, now: Instant) -> u64 {
        let gone = self.cells.iter().take_while(|cell| cell.start < now);
        self.bytes - gone.map(|cell| u64::from(cell.bytes)).sum::<u64>()
    }

    /// Takes back the cells that have not begun to be sent before `now`, a sync point, from a link
    /// whose last cell would have ended at `end`.
    pub(crate) fn take_back(&mut self, now: Instant, end: Instant) -> TakenBack {
        let mut back = TakenBack {
            ended: end,
            ..TakenBack::default()
        };
        for cell in self.cells.drain(..).rev() {
            // A cell that begins at a sync point still waits there, as in any queue.
            if cell.start < now {
                back.ended = cell.end;
                break;
            }
            let sent = &mut back.sent[usize::from(cell.is_data)];
            sent.0 += 1;
            sent.1 += u64::from(cell.bytes);
            // A cell before it that is no longer listed has ended by then.
            back.ended = cell.start;
        }
        self.bytes = 0;
        back
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Instant;

    use super::{Ahead, TakenBack};
    use crate::net::packet::{Packet, PacketKind};

    /// Three cells of 100 bytes that take 10 ps each, given at 0: one on the wire, two wait.
    fn three() -> Ahead {
        let mut ahead = Ahead::default();
        let mut cell = Packet::pause(0, 0);
        cell.kind = PacketKind::Only;
        cell.frame_bytes = 100;
        let waits =
            [0, 10, 20].map(|start| ahead.add(&cell, Instant::START, at(start), at(start + 10)));
        assert_eq!(waits, [0, 100, 200]);
        ahead
    }

    fn at(ps: u64) -> Instant {
        Instant::from_ps(ps)
    }

    #[test]
    fn a_cell_waits_until_it_begins_to_be_sent() {
        let ahead = three();
        // At the instant at which it begins, a sync point sees it wait, as in any queue.
        let waits = [1, 10, 11, 20, 21].map(|now| ahead.bytes(at(now)));
        assert_eq!(waits, [200, 200, 100, 100, 0]);
    }

    #[test]
    fn what_has_not_begun_is_taken_back() {
        let back = |now| three().take_back(now, at(30));
        let of = |cells: u64, ended| TakenBack {
            sent: [(0, 0), (cells, 100 * cells)],
            ended,
        };
        assert_eq!(back(at(5)), of(2, at(10)));
        assert_eq!(back(at(10)), of(2, at(10)));
        assert_eq!(back(at(15)), of(1, at(20)));
        assert_eq!(back(at(25)), of(0, at(30)));
        assert_eq!(back(at(40)), of(0, at(30)));
    }
}
