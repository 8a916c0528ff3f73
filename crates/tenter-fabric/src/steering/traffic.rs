//! Traffic between hosts, as far as the choice of circuits needs it.

use std::collections::BTreeMap;

use crate::topology::{HostId, NodeId, Topology};
use tenter_language::units::{ById, Rate};

use crate::steering::matching::DEMAND_MAX;

/// Traffic between hosts, per time or in all, in any unit. It is kept between leaves, because
/// circuits join these, and as a sum for each NIC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Each host's leaf. Leaves are numbered by their first host.
    leaf_of: ById<HostId, u32>,
    leaves: u32,
    /// Amounts by sending and receiving leaf; traffic within a leaf is left out.
    between: BTreeMap<(u32, u32), u64>,
    /// Amounts that each host sends and receives.
    by_host: ById<HostId, [u64; 2]>,
}

/// Adds an amount, up to the largest demand.
fn add_to(sum: &mut u64, amount: u64) {
    *sum = sum.saturating_add(amount).min(DEMAND_MAX);
}

/// Returns the time for an amount at a rate, in a unit that is the same for all rates: 2^−20 ps if
/// amounts are bits.
pub(crate) fn time_of(amount: u64, rate: Rate) -> u128 {
    let bits = u128::from(rate.bits_per_second().max(1));
    // Twenty binary places keep small amounts at high rates from rounding to 0.
    (u128::from(amount) << 20) * 1_000_000_000_000 / bits
}

impl Traffic {
    /// Starts without traffic, for a fabric's hosts.
    pub fn new(topology: &Topology) -> Traffic {
        let mut numbers: BTreeMap<NodeId, u32> = BTreeMap::new();
        let leaves = topology.host_ids().map(|host| {
            let next = numbers.len() as u32;
            let leaf = topology.neighbour(host, 0).node;
            *numbers.entry(leaf).or_insert(next)
        });
        let leaf_of: ById<HostId, u32> = leaves.collect();
        Traffic {
            leaves: numbers.len() as u32,
            between: BTreeMap::new(),
            by_host: vec![[0; 2]; leaf_of.len()].into(),
            leaf_of,
        }
    }

    /// Adds an amount that one host sends another.
    pub fn add(&mut self, src: HostId, dst: HostId, amount: u64) {
        // Traffic of a host to itself takes no link.
        if src == dst || amount == 0 {
            return;
        }
        add_to(&mut self.by_host[src][0], amount);
        add_to(&mut self.by_host[dst][1], amount);
        let leaves = (self.leaf_of[src], self.leaf_of[dst]);
        if leaves.0 != leaves.1 {
            add_to(self.between.entry(leaves).or_default(), amount);
        }
    }

    /// Adds all traffic from another one in the same fabric.
    pub fn add_all(&mut self, other: &Traffic) {
        for (&leaves, &amount) in &other.between {
            add_to(self.between.entry(leaves).or_default(), amount);
        }
        for (sum, amounts) in self.by_host.iter_mut().zip(other.by_host.iter()) {
            add_to(&mut sum[0], amounts[0]);
            add_to(&mut sum[1], amounts[1]);
        }
    }

    /// Returns true if nothing is sent from leaf to leaf.
    pub fn is_empty(&self) -> bool {
        self.between.is_empty()
    }

    /// Scales all amounts by `parts` over `whole`.
    #[must_use]
    pub(crate) fn scaled(&self, parts: u128, whole: u128) -> Traffic {
        let scale = |amount: u64| {
            let scaled = u128::from(amount).saturating_mul(parts) / whole.max(1);
            scaled.min(u128::from(DEMAND_MAX)) as u64
        };
        let mut scaled = self.clone();
        scaled.between.values_mut().for_each(|of| *of = scale(*of));
        scaled.between.retain(|_, amount| *amount > 0);
        for amount in scaled.by_host.iter_mut().flatten() {
            *amount = scale(*amount);
        }
        scaled
    }

    /// Returns the traffic that receivers can take while the busiest NIC sends. A leaf's hosts
    /// count together: every sender to them loses the same share.
    #[must_use]
    pub(crate) fn taken(&self, topology: &Topology) -> Traffic {
        let time = self.busiest_sender(topology);
        // For each leaf, the traffic to its hosts, and the part that they can take.
        let mut leaves = vec![[0_u128; 2]; self.leaves as usize];
        for (host, &[_, received]) in self.by_host.numbered() {
            let most = time_of(received, topology.cable(host, 0).rate).max(1);
            let received = u128::from(received);
            let [comes, taken] = &mut leaves[self.leaf_of[host] as usize];
            *comes += received;
            *taken += received * time.min(most) / most;
        }
        let mut traffic = self.clone();
        for (&(_, leaf), amount) in &mut traffic.between {
            let [comes, taken] = leaves[leaf as usize];
            *amount = (u128::from(*amount) * taken / comes.max(1)) as u64;
        }
        traffic.between.retain(|_, amount| *amount > 0);
        traffic
    }

    /// Returns the longest time that any NIC needs to send or to receive, in the unit of
    /// [`Estimate`](crate::steering::Estimate).
    pub fn busiest_nic(&self, topology: &Topology) -> u128 {
        self.longest(topology, |[sent, received]| *sent.max(received))
    }

    /// Returns the longest time that any NIC needs to send, in the same unit.
    pub(crate) fn busiest_sender(&self, topology: &Topology) -> u128 {
        self.longest(topology, |[sent, _]| *sent)
    }

    fn longest(&self, topology: &Topology, amount: impl Fn(&[u64; 2]) -> u64) -> u128 {
        let time = |(host, amounts): (HostId, &[u64; 2])| {
            time_of(amount(amounts), topology.cable(host, 0).rate)
        };
        let times = self.by_host.numbered().map(time);
        times.max().unwrap_or(0)
    }

    /// Returns a host's leaf. Leaves are numbered from 0 by their first host.
    pub(crate) fn leaf_of(&self, host: HostId) -> u32 {
        self.leaf_of[host]
    }

    /// Returns the leaf count; only leaves with hosts are numbered.
    pub(crate) fn leaves(&self) -> u32 {
        self.leaves
    }

    /// Iterates over sending leaf, receiving leaf and amount, ascending by the two leaves.
    pub(crate) fn between(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        self.between.iter().map(|(&(a, b), &sum)| (a, b, sum))
    }

    /// Returns the traffic from one leaf to another.
    pub(crate) fn sent(&self, src: u32, dst: u32) -> u64 {
        self.between.get(&(src, dst)).copied().unwrap_or(0)
    }
}
