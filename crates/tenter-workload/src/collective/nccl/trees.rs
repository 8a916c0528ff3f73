//! NCCL's trees: sums go up and results down, piece by piece, within nodes and across them.

use super::model::StepLatencies;
use super::servers::Servers;
use crate::collective::WireProtocol;
use crate::collective::all_reduce_double_binary_tree::trees;
use crate::collective::chunks::Chunks;
use crate::collective::tree::Tree;
use crate::{Destination, QueuePairScope, Schedule, Transfer};
use tenter_language::units::Time;

/// Connection between the NPUs in a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// Each NPU behind the next, up to the head.
    Chain,
    /// All NPUs below the head, through a switch that adds and copies. NVLS reaches `share_ppm` of
    /// the domain's rate, in parts per million.
    Switch { share_ppm: u64 },
}

/// One tree per channel through all ranks. A node's head is the NPU next to the channel's NIC.
/// Heads form the first of two binary trees, or the second from channel `nics` on. Piece q belongs
/// to channel q mod `channels`.
///
/// Transfer id = (2·piece + direction) · (n−1) + number of the lower end among the ranks other than
/// the root; direction 0 is up, 1 is down.
pub(super) struct ChannelTrees {
    pub(super) servers: Servers,
    pub(super) within: Within,
    pub(super) channels: u32,
    pub(super) pieces: Chunks,
    pub(super) protocol: WireProtocol,
    pub(super) latencies: StepLatencies,
}

/// Coordinates of a transfer; `lower` is the rank at the lower end.
#[derive(Clone, Copy)]
struct Part {
    piece: u32,
    is_up: bool,
    lower: u32,
}

impl ChannelTrees {
    fn channel(&self, piece: u32) -> u32 {
        piece % self.channels
    }

    /// Returns the tree across nodes; `None` if there is a single node.
    fn across(&self, channel: u32) -> Option<Tree> {
        let second = usize::from(channel / self.servers.nics % 2 == 1);
        (self.servers.nodes > 1).then(|| trees(self.servers.nodes)[second])
    }

    /// Returns an NPU's distance behind the head of its node, in ascending order round the node.
    fn behind_head(&self, channel: u32, rank: u32) -> u32 {
        let Servers { npus, .. } = self.servers;
        (rank % npus + npus - self.servers.head(channel)) % npus
    }

    fn head_of(&self, channel: u32, node: u32) -> u32 {
        node * self.servers.npus + self.servers.head(channel)
    }

    /// Returns the rank that is `behind` places behind the head of `node`.
    fn at(&self, channel: u32, node: u32, behind: u32) -> u32 {
        let Servers { npus, .. } = self.servers;
        node * npus + (self.servers.head(channel) + behind) % npus
    }

    fn root(&self, channel: u32) -> u32 {
        let node = self.across(channel).map_or(0, |tree| tree.rank_at(0));
        self.head_of(channel, node)
    }

    fn parent(&self, channel: u32, rank: u32) -> Option<u32> {
        let node = rank / self.servers.npus;
        match (self.behind_head(channel, rank), self.within) {
            (0, _) => {
                let tree = self.across(channel)?;
                let position = tree.position_of(node);
                let above = (position > 0).then(|| tree.rank_at(tree.parent(position)))?;
                Some(self.head_of(channel, above))
            }
            (behind, Within::Chain) => Some(self.at(channel, node, behind - 1)),
            (_, Within::Switch { .. }) => Some(self.head_of(channel, node)),
        }
    }

    fn children(&self, channel: u32, rank: u32) -> Vec<u32> {
        let node = rank / self.servers.npus;
        let behind = self.behind_head(channel, rank);
        let last = self.servers.npus - 1;
        let within = match (self.within, behind) {
            (Within::Chain, _) if behind < last => behind + 1..behind + 2,
            (Within::Switch { .. }, 0) => 1..last + 1,
            _ => 0..0,
        };
        let mut children: Vec<u32> = within
            .map(|behind| self.at(channel, node, behind))
            .collect();
        if let Some(tree) = self.across(channel).filter(|_| behind == 0) {
            let below = tree.children(tree.position_of(node));
            children.extend(below.map(|at| self.head_of(channel, tree.rank_at(at))));
        }
        children
    }

    /// Returns the hops from a rank to the root.
    fn depth(&self, channel: u32, rank: u32) -> u32 {
        let node = rank / self.servers.npus;
        let tree = self.across(channel);
        let across = tree.map_or(0, |tree| tree.depth(tree.position_of(node)));
        let behind = self.behind_head(channel, rank);
        across
            + match self.within {
                Within::Chain => behind,
                Within::Switch { .. } => behind.min(1),
            }
    }

    /// Returns the most hops from any rank to a root.
    fn height(&self) -> u32 {
        let across = self.across(0).map_or(0, Tree::height);
        across
            + match self.within {
                Within::Chain => self.servers.npus - 1,
                Within::Switch { .. } => self.servers.npus.min(2) - 1,
            }
    }

    fn part(&self, id: u32) -> Part {
        let edges = self.ranks() - 1;
        let (rest, number) = (id / edges, id % edges);
        let piece = rest / 2;
        let root = self.root(self.channel(piece));
        Part {
            piece,
            is_up: rest.is_multiple_of(2),
            lower: number + u32::from(number >= root),
        }
    }

    fn id(&self, part: Part) -> u32 {
        let root = self.root(self.channel(part.piece));
        let number = part.lower - u32::from(part.lower > root);
        (2 * part.piece + u32::from(!part.is_up)) * (self.ranks() - 1) + number
    }

    /// Returns the wire bytes of a piece between a rank and its parent.
    ///
    /// A switch that copies receives a piece only once. The transfer to the first NPU behind the
    /// head stands for all copies, so it is the only one with bytes. It carries the piece twice,
    /// because the head's own share passes the switch as well, as that of every other NPU does.
    fn bytes(&self, part: Part) -> u64 {
        let channel = self.channel(part.piece);
        let data = self.pieces.bytes(part.piece);
        let behind = self.behind_head(channel, part.lower);
        let Within::Switch { share_ppm } = self.within else {
            return self.protocol.bytes(data);
        };
        // NVLS reaches only a share of the links; longer transfers have the same effect.
        let on_links = |times: u128| {
            let wire = (u128::from(data) * times * 1_000_000).div_ceil(u128::from(share_ppm));
            u64::try_from(wire).unwrap_or(u64::MAX)
        };
        match (behind, part.is_up) {
            (0, _) => self.protocol.bytes(data),
            (_, true) => on_links(1),
            (1, false) => on_links(2),
            (_, false) => 0,
        }
    }

    fn is_within(&self, part: Part) -> bool {
        self.behind_head(self.channel(part.piece), part.lower) > 0
    }

    /// Returns direction and lower end of the transfer from `src` to `dst`; `None` if they are no
    /// neighbours.
    fn between(&self, channel: u32, src: u32, dst: u32) -> Option<(bool, u32)> {
        if self.parent(channel, src) == Some(dst) {
            return Some((true, src));
        }
        (self.parent(channel, dst) == Some(src)).then_some((false, dst))
    }

    /// Appends the transfers by which a rank passes a piece down.
    fn down_from(&self, piece: u32, rank: u32, out: &mut Vec<u32>) {
        let below = self.children(self.channel(piece), rank);
        out.extend(below.into_iter().map(|lower| {
            self.id(Part {
                piece,
                is_up: false,
                lower,
            })
        }));
    }
}

impl Schedule for ChannelTrees {
    fn ranks(&self) -> u32 {
        self.servers.ranks()
    }

    fn transfer_count(&self) -> u32 {
        2 * self.pieces.count() * (self.ranks() - 1)
    }

    fn transfer(&self, id: u32) -> Transfer {
        let part = self.part(id);
        let channel = self.channel(part.piece);
        // A lower end always has a parent, so the fallback is never taken.
        let upper = self.parent(channel, part.lower).unwrap_or(part.lower);
        let depth = self.depth(channel, part.lower);
        let (src, dst, step) = if part.is_up {
            (part.lower, upper, self.height() - depth)
        } else {
            (upper, part.lower, self.height() + depth - 1)
        };
        Transfer {
            src,
            dst,
            bytes: self.bytes(part),
            chunk: part.piece,
            channel,
            step,
            reduce: part.is_up,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        let leaf_of: Vec<bool> = (0..self.channels)
            .map(|channel| self.children(channel, rank).is_empty())
            .collect();
        let pieces = 0..self.pieces.count();
        let own = pieces.filter(|&piece| leaf_of[self.channel(piece) as usize]);
        out.extend(own.map(|piece| {
            self.id(Part {
                piece,
                is_up: true,
                lower: rank,
            })
        }));
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        let part = self.part(id);
        let channel = self.channel(part.piece);
        if !part.is_up {
            return self.down_from(part.piece, part.lower, out);
        }
        let upper = self.parent(channel, part.lower).unwrap_or(part.lower);
        if self.root(channel) == upper {
            self.down_from(part.piece, upper, out);
        } else {
            out.push(self.id(Part {
                lower: upper,
                ..part
            }));
        }
    }

    fn dependencies(&self, id: u32) -> u32 {
        let part = self.part(id);
        let channel = self.channel(part.piece);
        if part.is_up {
            return self.children(channel, part.lower).len() as u32;
        }
        let upper = self.parent(channel, part.lower).unwrap_or(part.lower);
        if self.root(channel) == upper {
            self.children(channel, upper).len() as u32
        } else {
            1
        }
    }

    fn start_up(&self) -> Time {
        self.latencies.start_up
    }

    fn latency(&self, id: u32) -> Time {
        if self.is_within(self.part(id)) {
            self.latencies.within
        } else {
            self.latencies.across
        }
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let piece = match scope {
            QueuePairScope::RankPair if to.lane < self.channels => {
                // Pieces go round the channels, so those of one channel are `channels` apart.
                nth.checked_mul(self.channels)?.checked_add(to.lane)?
            }
            QueuePairScope::Chunk if nth == 0 => to.lane,
            _ => return None,
        };
        if piece >= self.pieces.count() {
            return None;
        }
        let (is_up, lower) = self.between(self.channel(piece), src, to.dst)?;
        Some(self.id(Part {
            piece,
            is_up,
            lower,
        }))
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let start = out.len();
        let lanes = match scope {
            QueuePairScope::RankPair => self.channels,
            QueuePairScope::Chunk => self.pieces.count(),
        };
        for lane in 0..lanes {
            let channel = self.channel(lane);
            let others = self.parent(channel, rank).into_iter();
            let others = others.chain(self.children(channel, rank));
            out.extend(others.map(|dst| Destination { dst, lane }));
        }
        out[start..].sort_unstable();
    }
}
