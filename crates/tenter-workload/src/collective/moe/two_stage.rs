//! Tokens by way of hosts: over the fabric between NPUs of the same number, and within domains to
//! or from the other NPUs.

use tenter_language::units::{Rate, Time};

use super::Direction;
use super::kernels::Kernel;
use crate::collective::chunks::Chunks;
use crate::{Destination, QueuePairScope, Schedule, Transfer};

/// Most pieces of a message; those of longer messages are longer.
const PIECES_MAX: u32 = 64;

/// The schedule. With g NPUs on each of h hosts, rank a·g + i is NPU i on host a.
///
/// Each rank has a rail to NPU i of every other host, and NPU i of a host is the forwarder that
/// joins these rails with the other NPUs of its host. Dispatch goes down the rails first and is
/// then handed on; combination is the same backwards. Each message is cut into pieces that pass one
/// after the other.
///
/// The first n·(g−1)·h·p transfers are those within hosts, ordered by forwarder, other NPU, turn
/// and piece. Turn t is for the tokens of host a + 1 + t, so the last of the h turns is for those
/// of the host itself. The other n·(h−1)·p go along rails, ordered by the rank with the tokens,
/// turn and piece. Transfer id and chunk are the same number.
pub(super) struct TwoStage {
    pub(super) direction: Direction,
    pub(super) npus: u32,
    /// Copies of a rank's tokens by host: one for each host that a token needs.
    pub(super) to_hosts: Chunks,
    /// Copies of a rank's tokens by rank: one for each rank that a token needs.
    pub(super) to_ranks: Chunks,
    pub(super) pieces: u32,
    pub(super) kernel: Kernel,
}

/// Coordinates of a transfer.
#[derive(Clone, Copy)]
enum Link {
    /// Within a host, of the tokens of the host in `turn`.
    Handed {
        forwarder: u32,
        npu: u32,
        turn: u32,
        piece: u32,
    },
    /// Between the rank with the tokens and the forwarder on the host in `turn`.
    Railed { owner: u32, turn: u32, piece: u32 },
}

impl TwoStage {
    /// Returns the number of pieces of messages of at most `bytes`, of `chunk_bytes` each.
    pub(super) fn pieces_of(bytes: u64, chunk_bytes: u64, ranks: u32) -> u32 {
        let most = u64::from(
            PIECES_MAX
                .min(u32::MAX / (ranks * (ranks - 1)).max(1))
                .max(1),
        );
        bytes.div_ceil(chunk_bytes.max(1)).clamp(1, most) as u32
    }

    fn hosts(&self) -> u32 {
        self.to_hosts.count()
    }

    /// Returns the number of transfers within hosts.
    fn handed(&self) -> u32 {
        self.ranks() * (self.npus - 1) * self.hosts() * self.pieces
    }

    fn link(&self, id: u32) -> Link {
        let of = |id: u32, turns: u32| (id / self.pieces / turns, id / self.pieces % turns);
        let piece = id % self.pieces;
        if let Some(id) = id.checked_sub(self.handed()) {
            let (owner, turn) = of(id, self.hosts() - 1);
            let piece = id % self.pieces;
            return Link::Railed { owner, turn, piece };
        }
        let (pair, turn) = of(id, self.hosts());
        let others = self.npus - 1;
        let (forwarder, other) = (pair / others, pair % others);
        Link::Handed {
            forwarder,
            npu: other + u32::from(other >= forwarder % self.npus),
            turn,
            piece,
        }
    }

    fn id(&self, link: Link) -> u32 {
        match link {
            Link::Handed {
                forwarder,
                npu,
                turn,
                piece,
            } => {
                let other = npu - u32::from(npu > forwarder % self.npus);
                let pair = forwarder * (self.npus - 1) + other;
                (pair * self.hosts() + turn) * self.pieces + piece
            }
            Link::Railed { owner, turn, piece } => {
                let rail = owner * (self.hosts() - 1) + turn;
                self.handed() + rail * self.pieces + piece
            }
        }
    }

    /// Returns the host in the given turn for `rank`.
    fn host_of(&self, rank: u32, turn: u32) -> u32 {
        (rank / self.npus + 1 + turn) % self.hosts()
    }

    /// Returns the turn in which `rank` has `host`; the inverse of [`Self::host_of`].
    fn turn_of(&self, rank: u32, host: u32) -> u32 {
        (host + self.hosts() - rank / self.npus - 1) % self.hosts()
    }

    fn in_host_of(&self, rank: u32, npu: u32) -> u32 {
        rank / self.npus * self.npus + npu
    }

    /// Returns the rank with the same NPU number on the host in `turn`.
    fn across(&self, rank: u32, turn: u32) -> u32 {
        self.host_of(rank, turn) * self.npus + rank % self.npus
    }

    /// Returns the NPU numbers on `rank`'s host but its own, rotated so that no two ranks begin
    /// with the same one.
    fn others(&self, rank: u32) -> impl Iterator<Item = u32> + use<> {
        let own = rank % self.npus;
        (own + 1..self.npus).chain(0..own)
    }

    /// Returns (source, destination) of a way from `near` to `far` as tokens go, or back.
    fn ends(&self, near: u32, far: u32) -> (u32, u32) {
        match self.direction {
            Direction::Dispatch => (near, far),
            Direction::Combine => (far, near),
        }
    }

    /// Returns the first piece from `src` to `dst`; `lane` is the turn within a host.
    fn first_piece(&self, src: u32, dst: u32, lane: u32) -> u32 {
        let (near, far) = self.ends(src, dst);
        let (host, piece) = (far / self.npus, 0);
        self.id(if near / self.npus == host {
            Link::Handed {
                forwarder: near,
                npu: far % self.npus,
                turn: lane,
                piece,
            }
        } else {
            Link::Railed {
                owner: near,
                turn: self.turn_of(near, host),
                piece,
            }
        })
    }
}

impl Schedule for TwoStage {
    fn ranks(&self) -> u32 {
        self.to_ranks.count()
    }

    fn transfer_count(&self) -> u32 {
        self.handed() + self.ranks() * (self.hosts() - 1) * self.pieces
    }

    fn transfer(&self, id: u32) -> Transfer {
        let (near, far, bytes, channel, piece, last) = match self.link(id) {
            Link::Handed {
                forwarder,
                npu,
                turn,
                piece,
            } => {
                let other = self.in_host_of(forwarder, npu);
                let bytes = self.to_ranks.bytes(other);
                // Messages of several hosts are handed on in any order.
                (forwarder, other, bytes, turn, piece, true)
            }
            Link::Railed { owner, turn, piece } => {
                let bytes = self.to_hosts.bytes(self.host_of(owner, turn));
                (owner, self.across(owner, turn), bytes, 0, piece, false)
            }
        };
        let (src, dst) = self.ends(near, far);
        let combines = self.direction == Direction::Combine;
        Transfer {
            src,
            dst,
            bytes: Chunks::new(bytes, self.pieces).bytes(piece),
            chunk: id,
            channel,
            step: u32::from(last != combines),
            reduce: combines,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        let hosts = self.hosts();
        // Piece by piece, so that those behind need not wait for whole messages.
        for piece in 0..self.pieces {
            if self.direction == Direction::Combine && self.npus > 1 {
                for turn in 0..hosts {
                    out.extend(self.others(rank).map(|npu| {
                        self.id(Link::Handed {
                            forwarder: self.in_host_of(rank, npu),
                            npu: rank % self.npus,
                            turn,
                            piece,
                        })
                    }));
                }
                continue;
            }
            let owner = |turn| match self.direction {
                Direction::Dispatch => (rank, turn),
                // Without other NPUs nothing is handed over, and results go back at once.
                Direction::Combine => {
                    let owner = self.across(rank, turn);
                    (owner, self.turn_of(owner, rank / self.npus))
                }
            };
            out.extend((0..hosts - 1).map(|turn| {
                let (owner, turn) = owner(turn);
                self.id(Link::Railed { owner, turn, piece })
            }));
            out.extend(self.others(rank).map(|npu| {
                self.id(Link::Handed {
                    forwarder: rank,
                    npu,
                    turn: hosts - 1,
                    piece,
                })
            }));
        }
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        match (self.direction, self.link(id)) {
            (Direction::Dispatch, Link::Railed { owner, turn, piece }) => {
                let forwarder = self.across(owner, turn);
                let turn = self.turn_of(forwarder, owner / self.npus);
                out.extend(self.others(forwarder).map(|npu| {
                    self.id(Link::Handed {
                        forwarder,
                        npu,
                        turn,
                        piece,
                    })
                }));
            }
            (
                Direction::Combine,
                Link::Handed {
                    forwarder,
                    turn,
                    piece,
                    ..
                },
            ) if turn + 1 < self.hosts() => {
                let owner = self.across(forwarder, turn);
                let turn = self.turn_of(owner, forwarder / self.npus);
                out.push(self.id(Link::Railed { owner, turn, piece }));
            }
            // The last stage, or tokens of the host itself.
            _ => {}
        }
    }

    fn dependencies(&self, id: u32) -> u32 {
        match (self.direction, self.link(id)) {
            (Direction::Dispatch, Link::Handed { turn, .. }) => u32::from(turn + 1 < self.hosts()),
            (Direction::Combine, Link::Railed { .. }) => self.npus - 1,
            _ => 0,
        }
    }

    fn start_up(&self) -> Time {
        self.kernel.launch
    }

    fn pace(&self, _id: u32) -> Option<Rate> {
        self.kernel.pace
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        match scope {
            QueuePairScope::RankPair => {
                (nth < self.pieces).then(|| self.first_piece(src, to.dst, to.lane) + nth)
            }
            // The lane is the chunk, and the chunk is the id.
            QueuePairScope::Chunk => (nth == 0).then_some(to.lane),
        }
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let own = rank / self.npus;
        for host in 0..self.hosts() {
            let all = (0..self.npus).map(|npu| host * self.npus + npu);
            let reached = |dst: &u32| (host == own) != (dst % self.npus == rank % self.npus);
            for dst in all.filter(reached) {
                let turns = if host == own { self.hosts() } else { 1 };
                for turn in 0..turns {
                    match scope {
                        QueuePairScope::RankPair => out.push(Destination { dst, lane: turn }),
                        QueuePairScope::Chunk => {
                            let first = self.first_piece(rank, dst, turn);
                            let lanes = first..first + self.pieces;
                            out.extend(lanes.map(|lane| Destination { dst, lane }));
                        }
                    }
                }
            }
        }
    }
}
