//! NCCL's rings: one per channel, each of which enters and leaves nodes by its own NICs.

use super::model::StepLatencies;
use super::servers::Servers;
use crate::collective::WireProtocol;
use crate::collective::chunks::Chunks;
use crate::{Destination, QueuePairScope, Schedule, Transfer};
use tenter_language::units::Time;

/// The rings' content and length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Position of the rank whose share the rank at position 0 sends in step 0.
    pub(super) first: u32,
    pub(super) steps: u32,
    /// Number of steps, from the first, in which the receiver adds to its own data.
    pub(super) reducing: u32,
}

/// Rings that run side by side through the same n ranks. Channel c carries the c-th part of each
/// rank's share. Transfer id = (step · channels + channel) · n + position of the source.
///
/// In step s the rank at position p of a ring sends the share that belongs to the rank at position
/// (p + `first` − s) mod n.
pub(super) struct ChannelRings {
    pub(super) servers: Servers,
    pub(super) channels: u32,
    /// One chunk for each rank and channel.
    pub(super) chunks: Chunks,
    pub(super) round: Round,
    pub(super) protocol: WireProtocol,
    pub(super) latencies: StepLatencies,
}

/// A transfer's coordinates; `position` is the sender's in the ring.
#[derive(Clone, Copy)]
struct Part {
    step: u32,
    channel: u32,
    position: u32,
}

impl ChannelRings {
    fn part(&self, id: u32) -> Part {
        let (rest, position) = (id / self.ranks(), id % self.ranks());
        Part {
            step: rest / self.channels,
            channel: rest % self.channels,
            position,
        }
    }

    fn id(&self, part: Part) -> u32 {
        (part.step * self.channels + part.channel) * self.ranks() + part.position
    }

    fn next(&self, position: u32) -> u32 {
        let next = position + 1;
        if next < self.ranks() { next } else { 0 }
    }

    fn next_rank(&self, channel: u32, rank: u32) -> u32 {
        let position = self.servers.position_of(channel, rank);
        self.servers.rank_at(channel, self.next(position))
    }

    /// Returns the position whose share is sent.
    fn owner(&self, part: Part) -> u32 {
        let ranks = u64::from(self.ranks());
        // 2n keeps the difference positive: a ring has at most 2n − 2 steps.
        let ahead = u64::from(part.position) + u64::from(self.round.first) + 2 * ranks;
        ((ahead - u64::from(part.step)) % ranks) as u32
    }

    fn chunk(&self, part: Part) -> u32 {
        self.servers.rank_at(part.channel, self.owner(part)) * self.channels + part.channel
    }

    /// Returns the step in which a position first sends a chunk; it may lie beyond the last step.
    fn first_step(&self, position: u32, chunk: u32) -> u32 {
        let (owner, channel) = (chunk / self.channels, chunk % self.channels);
        let owner = u64::from(self.servers.position_of(channel, owner));
        let ranks = u64::from(self.ranks());
        let ahead = u64::from(position) + u64::from(self.round.first) + ranks - owner;
        (ahead % ranks) as u32
    }
}

impl Schedule for ChannelRings {
    fn ranks(&self) -> u32 {
        self.servers.ranks()
    }

    fn transfer_count(&self) -> u32 {
        self.round.steps * self.channels * self.ranks()
    }

    fn transfer(&self, id: u32) -> Transfer {
        let part = self.part(id);
        let chunk = self.chunk(part);
        Transfer {
            src: self.servers.rank_at(part.channel, part.position),
            dst: self.servers.rank_at(part.channel, self.next(part.position)),
            bytes: self.protocol.bytes(self.chunks.bytes(chunk)),
            chunk,
            channel: part.channel,
            step: part.step,
            reduce: part.step < self.round.reducing,
        }
    }

    fn initial(&self, rank: u32, out: &mut Vec<u32>) {
        let of = |channel| {
            self.id(Part {
                step: 0,
                channel,
                position: self.servers.position_of(channel, rank),
            })
        };
        out.extend((0..self.channels).map(of));
    }

    fn released_by(&self, id: u32, out: &mut Vec<u32>) {
        let part = self.part(id);
        if part.step + 1 < self.round.steps {
            out.push(self.id(Part {
                step: part.step + 1,
                position: self.next(part.position),
                ..part
            }));
        }
    }

    fn dependencies(&self, id: u32) -> u32 {
        u32::from(id >= self.channels * self.ranks())
    }

    fn start_up(&self) -> Time {
        self.latencies.start_up
    }

    fn latency(&self, id: u32) -> Time {
        let part = self.part(id);
        let src = self.servers.rank_at(part.channel, part.position);
        let dst = self.servers.rank_at(part.channel, self.next(part.position));
        if self.servers.are_joined(src, dst) {
            self.latencies.within
        } else {
            self.latencies.across
        }
    }

    fn nth(&self, src: u32, to: Destination, scope: QueuePairScope, nth: u32) -> Option<u32> {
        let channel = match scope {
            QueuePairScope::RankPair => to.lane,
            QueuePairScope::Chunk => to.lane % self.channels,
        };
        let position = self.servers.position_of(channel, src);
        let step = match scope {
            QueuePairScope::RankPair => nth,
            // A chunk comes round again after n steps.
            QueuePairScope::Chunk => self.first_step(position, to.lane) + nth * self.ranks(),
        };
        (step < self.round.steps).then(|| {
            self.id(Part {
                step,
                channel,
                position,
            })
        })
    }

    fn pairs(&self, rank: u32, scope: QueuePairScope, out: &mut Vec<Destination>) {
        let start = out.len();
        for channel in 0..self.channels {
            let dst = self.next_rank(channel, rank);
            if scope == QueuePairScope::RankPair {
                out.push(Destination { dst, lane: channel });
                continue;
            }
            let position = self.servers.position_of(channel, rank);
            let chunks = (0..self.ranks()).map(|owner| owner * self.channels + channel);
            let sent = chunks.filter(|&chunk| self.first_step(position, chunk) < self.round.steps);
            out.extend(sent.map(|lane| Destination { dst, lane }));
        }
        out[start..].sort_unstable();
    }
}
