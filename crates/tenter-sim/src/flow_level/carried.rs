//! Data that links have carried at flow level.

use crate::fluid::Weight;
use tenter_fabric::topology::{CableEnd, HostId, NodeId, Topology};
use tenter_language::units::ById;

/// Data frames and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Number of data frames that were sent or received.
    pub frames: u64,
    /// Bytes of these frames, headers and FCS included.
    pub bytes: u64,
}

impl Load {
    pub(super) fn add(&mut self, other: Load) {
        self.frames += other.frames;
        self.bytes += other.bytes;
    }
}

/// Data in units of 2⁻²⁰, as messages split over ports. Sums are exact; they are rounded once, when
/// they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts {
    frames: u128,
    bytes: u128,
}

impl Parts {
    fn add(&mut self, load: Load, weight: Weight) {
        self.frames += u128::from(load.frames) * weight.units();
        self.bytes += u128::from(load.bytes) * weight.units();
    }

    fn rounded(self) -> Load {
        let whole = Weight::WHOLE.units();
        let round = |of: u128| u64::try_from((of + whole / 2) / whole).unwrap_or(u64::MAX);
        Load {
            frames: round(self.frames),
            bytes: round(self.bytes),
        }
    }
}

/// Data that each port has sent and each NIC has received. A message counts once its last byte has
/// been sent. On ports between the leaves it may count later, at the latest when the trial ends,
/// since messages that share a path are added up first.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    ports: ById<NodeId, Vec<Parts>>,
    received: ById<HostId, Load>,
    hops: u64,
}

impl Carried {
    pub(super) fn new(topology: &Topology) -> Carried {
        let ports = topology.node_ids();
        Carried {
            ports: ports
                .map(|node| vec![Parts::default(); usize::from(topology.ports(node))])
                .collect(),
            received: vec![Load::default(); topology.hosts].into(),
            hops: 0,
        }
    }

    pub(super) fn count(&mut self, end: CableEnd, load: Load, weight: Weight) {
        // Unrounded: many small parts would otherwise add up to a visible error.
        self.ports[end.node][usize::from(end.port)].add(load, weight);
    }

    pub(super) fn receive(&mut self, host: HostId, load: Load) {
        self.received[host].add(load);
    }

    /// Returns the data that a port has sent.
    pub(crate) fn sent(&self, node: NodeId, port: u16) -> Load {
        self.ports[node][usize::from(port)].rounded()
    }

    /// Returns the data that a NIC has received.
    pub(crate) fn received(&self, host: HostId) -> Load {
        self.received[host]
    }

    /// Returns the frames carried so far, each counted once per link.
    pub(crate) fn hops(&self) -> u64 {
        self.hops
    }

    pub(super) fn add_hops(&mut self, hops: u64) {
        self.hops += hops;
    }
}
