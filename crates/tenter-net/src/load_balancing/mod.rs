//! How a switch chooses one of several equal-cost ports: one file per member, listed in
//! [`LoadBalancing`].

mod ecmp;

pub use ecmp::{Ecmp, FiveTuple, HashFields, HashFunction, HashSeeding};

/// Every load balancer there is.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadBalancing {
    /// A hash of the packet's addresses and ports picks the link, for the whole life of a flow.
    Ecmp(Ecmp),
}

impl LoadBalancing {
    /// Which of `candidates` equal-cost ports a packet takes at a switch with this seed.
    #[inline]
    pub fn choose(&self, hash: u32, switch_seed: u32, candidates: usize) -> usize {
        if candidates == 1 {
            return 0;
        }
        match self {
            LoadBalancing::Ecmp(ecmp) => ecmp.choose(hash, switch_seed, candidates as u32) as usize,
        }
    }

    /// The hash a packet with this 5-tuple carries to every switch.
    pub fn hash(&self, tuple: &FiveTuple) -> u32 {
        match self {
            LoadBalancing::Ecmp(ecmp) => ecmp.hash(tuple),
        }
    }
}
