//! Transfers for a choice, and the closed form for them.

use super::algorithms::{NcclAlgorithm, NcclCollective};
use super::constants as table;
use super::keys::NcclKeys;
use super::model::{Communicator, NcclChoice, StepLatencies};
use super::rings::{ChannelRings, Round};
use super::servers::Servers;
use super::trees::{ChannelTrees, Within};
use crate::closed_form::IdealSwitch;
use crate::collective::WireProtocol;
use crate::collective::chunks::Chunks;
use crate::collective::member::CollectiveMember;
use crate::{Schedule, WorkloadError};
use tenter_language::units::{Rate, Time};

/// Rate of a NIC if no scenario has bound the ranks to hosts.
const USUAL_NIC: Rate = Rate::from_gbps(400);
/// Most pieces that a tree passes on; larger sizes get longer pieces.
const PIECES_MAX: u64 = 1 << 16;
/// Most wire bytes for one buffer byte. LL has as many flags as data (2); NVLS sends a piece twice
/// over links of which it reaches 74 % or more (2.7).
pub(in crate::collective) const WIRE_TIMES: u64 = 3;
/// Most transfers between two ranks beyond the usual ones: those on several channels, or pieces
/// both ways.
pub(in crate::collective) const MORE_OF_A_WAY: u64 = 1 << 24;
/// Most transfers that the closed form walks; beyond that it falls back on the time of one share.
const TRANSFERS_MAX: u32 = 1 << 20;

impl NcclKeys {
    /// Returns the servers on which `ranks` ranks run.
    fn servers(&self, member: &CollectiveMember, ranks: u32) -> Result<Servers, WorkloadError> {
        let npus_per_host = member.known_npus(self.npus_per_host)?;
        if ranks > npus_per_host {
            member.check_hosts(ranks, npus_per_host)?;
        }
        let npus = ranks.min(npus_per_host);
        // NPUs per NIC; a group on part of a server has its share of the NICs.
        let of_each = npus_per_host / self.nics_per_host.unwrap_or(npus_per_host);
        Ok(Servers {
            nodes: ranks / npus,
            npus,
            // Within one node no ring passes a NIC, so any count that fits will do.
            nics: if npus.is_multiple_of(of_each) {
                npus / of_each
            } else {
                1
            },
        })
    }

    fn communicator(&self, collective: NcclCollective, servers: Servers) -> Communicator {
        Communicator {
            collective,
            nodes: servers.nodes,
            npus: servers.npus,
            nics: servers.nics,
            nic_rate: self.nic_rate.unwrap_or(USUAL_NIC),
            generation: self.generation(),
            cpu: self.host_cpu,
            nvls: self.nvls,
            plug_in_latency: self.plug_in_latency,
        }
    }

    /// Returns the model's estimates for a collective with `bytes`, one for each algorithm and
    /// protocol.
    ///
    /// # Errors
    /// Ranks that do not fill servers.
    pub(super) fn estimates(
        &self,
        collective: NcclCollective,
        member: &CollectiveMember,
        ranks: u32,
        bytes: u64,
    ) -> Result<Vec<NcclChoice>, WorkloadError> {
        let servers = self.servers(member, ranks)?;
        let of = self.communicator(collective, servers);
        Ok(of.estimates(self.only_algorithm, self.only_protocol, bytes))
    }

    /// Returns the estimate with the least time.
    ///
    /// # Errors
    /// Ranks that do not fill servers; no algorithm with the requested protocol.
    pub(in crate::collective) fn choose(
        &self,
        collective: NcclCollective,
        member: &CollectiveMember,
        ranks: u32,
        bytes: u64,
    ) -> Result<NcclChoice, WorkloadError> {
        let estimates = self.estimates(collective, member, ranks, bytes)?;
        let least = |a: &NcclChoice, b: &NcclChoice| a.time_us.total_cmp(&b.time_us);
        // Of equal times the first in the model's list of algorithms counts.
        let chosen = estimates.into_iter().min_by(least);
        chosen.ok_or_else(|| WorkloadError::NoNcclAlgorithm {
            collective: member.to_string(),
            ranks,
        })
    }

    /// Builds the transfers for the estimate with the least time.
    ///
    /// # Errors
    /// Those of [`NcclKeys::choose`].
    pub(in crate::collective) fn schedule(
        &self,
        collective: NcclCollective,
        member: &CollectiveMember,
        ranks: u32,
        bytes: u64,
    ) -> Result<Box<dyn Schedule>, WorkloadError> {
        let choice = self.choose(collective, member, ranks, bytes)?;
        let servers = self.servers(member, ranks)?;
        let of = self.communicator(collective, servers);
        Ok(match choice.algorithm {
            NcclAlgorithm::Ring => Box::new(rings(&of, servers, &choice, bytes)),
            _ => Box::new(trees(&of, servers, &choice, bytes)),
        })
    }
}

fn rings(of: &Communicator, servers: Servers, choice: &NcclChoice, bytes: u64) -> ChannelRings {
    let others = servers.ranks() - 1;
    let round = match of.collective {
        NcclCollective::AllReduce => Round {
            first: 0,
            steps: 2 * others,
            reducing: others,
        },
        NcclCollective::AllGather => Round {
            first: 0,
            steps: others,
            reducing: 0,
        },
        NcclCollective::ReduceScatter => Round {
            first: others,
            steps: others,
            reducing: others,
        },
    };
    // Channels on one node share the ports of the same NPUs, so one channel is as fast as all.
    let most = if servers.nodes > 1 { servers.nics } else { 1 };
    // Channels multiply the transfers, which ids must still be able to number.
    let numbered = u32::MAX / (round.steps * servers.ranks());
    let channels = of.channels_for(choice.algorithm, choice.protocol, bytes, most.min(numbered));
    ChannelRings {
        servers,
        channels,
        chunks: Chunks::new(bytes, channels * servers.ranks()),
        round,
        protocol: choice.protocol,
        latencies: of.step_latencies(choice.algorithm, choice.protocol),
    }
}

fn trees(of: &Communicator, servers: Servers, choice: &NcclChoice, bytes: u64) -> ChannelTrees {
    let within = match choice.algorithm {
        NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree => Within::Switch {
            share_ppm: of.nvls_share_ppm(),
        },
        _ => Within::Chain,
    };
    let heads = match within {
        // Each NPU is the head for its part of the buffer.
        Within::Switch { .. } if servers.nodes == 1 => Servers {
            nics: servers.npus,
            ..servers
        },
        _ => servers,
    };
    // Across nodes each NIC has a channel in both of the two trees.
    let both = if servers.nodes > 1 { 2 } else { 1 };
    let channels = match within {
        Within::Switch { .. } => both * heads.nics,
        Within::Chain => {
            of.channels_for(choice.algorithm, choice.protocol, bytes, both * heads.nics)
        }
    };
    let depth = u64::from(servers.nodes.ilog2() + servers.npus - 1);
    let most = u64::from(u32::MAX / (2 * (servers.ranks() - 1).max(1))).min(PIECES_MAX);
    let pieces = match within {
        // The switch returns the sums itself: nothing is passed on that pieces could pipeline.
        Within::Switch { .. } if servers.nodes == 1 => u64::from(channels),
        _ => pieces(bytes, u64::from(channels), depth),
    };
    let pieces = pieces.min(most.max(u64::from(channels)));
    ChannelTrees {
        servers: heads,
        within,
        channels,
        pieces: Chunks::new(bytes, pieces as u32),
        protocol: choice.protocol,
        latencies: of.step_latencies(choice.algorithm, choice.protocol),
    }
}

/// Builds NVLS among `ranks` ranks of one server, without latencies and by the whole rate of the
/// domain.
pub(in crate::collective) fn through_switch(ranks: u32, bytes: u64) -> Box<dyn Schedule> {
    Box::new(ChannelTrees {
        servers: Servers {
            nodes: 1,
            npus: ranks,
            // Each NPU is the head for its part of the buffer.
            nics: ranks,
        },
        within: Within::Switch {
            share_ppm: 1_000_000,
        },
        channels: ranks,
        pieces: Chunks::new(bytes, ranks),
        protocol: WireProtocol::Simple,
        latencies: StepLatencies::default(),
    })
}

/// Returns the piece count for a size; each channel has equally many pieces.
fn pieces(bytes: u64, channels: u64, depth: u64) -> u64 {
    let each = bytes.div_ceil(channels);
    let mut piece = table::TREE_PIECE_BYTES;
    for (least, of_hop) in table::TREE_PIECE_STEPS {
        while piece > least && each / piece < depth * of_hop {
            piece /= 2;
        }
    }
    channels * each.div_ceil(piece).max(1)
}

/// Returns the busiest port's time or the longest chain of steps, whichever is longer: a lower
/// bound.
pub(in crate::collective) fn ideal(schedule: &dyn Schedule, switch: &IdealSwitch<'_>) -> Time {
    let count = schedule.transfer_count();
    if count > TRANSFERS_MAX {
        return switch.share();
    }
    let mut ports = vec![[Time::ZERO; 2]; schedule.ranks() as usize];
    // A pass in the order of dependencies: a transfer is taken once all that it waits for have
    // been.
    let mut missing: Vec<u32> = (0..count).map(|id| schedule.dependencies(id)).collect();
    let mut ready = vec![schedule.start_up(); count as usize];
    let mut next: Vec<u32> = (0..count).filter(|&id| missing[id as usize] == 0).collect();
    let (mut chain, mut released) = (Time::ZERO, Vec::new());
    while let Some(id) = next.pop() {
        let transfer = schedule.transfer(id);
        let time = (switch.port_time)(transfer.bytes);
        // A port sends and receives at once, so each direction has a sum of its own.
        for (way, rank) in [transfer.src, transfer.dst].into_iter().enumerate() {
            let port = &mut ports[rank as usize][way];
            *port = port.saturating_add(time);
        }
        let hop = time.saturating_add(switch.latency.max(schedule.latency(id)));
        let arrived = ready[id as usize].saturating_add(hop);
        chain = chain.max(arrived);
        released.clear();
        schedule.released_by(id, &mut released);
        for &after in &released {
            let after = after as usize;
            ready[after] = ready[after].max(arrived);
            missing[after] = missing[after].saturating_sub(1);
            if missing[after] == 0 {
                next.push(after as u32);
            }
        }
    }
    let port = ports.into_iter().flatten().max().unwrap_or_default();
    chain.max(port.saturating_add(switch.latency))
}
