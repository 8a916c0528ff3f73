//! Collectives as traces name them, and the algorithms that carry them out.

use tenter_config::{Reader, component, default_of};

use crate::collective::CollectiveKind;

/// A collective operation as a trace names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CollectiveName {
    /// Every rank gets the sum of all buffers.
    AllReduce,
    /// Every rank gets what every rank has.
    AllGather,
    /// Every rank gets its part of the sum of all buffers.
    ReduceScatter,
    /// Every rank has a part for every rank.
    AllToAll,
    /// Every rank gets what one rank has.
    Broadcast,
    /// One rank gets the sum of all buffers.
    Reduce,
    /// One rank gets what every rank has.
    Gather,
    /// One rank has a part for every rank.
    Scatter,
    /// No rank goes on before every rank is there.
    Barrier,
}

impl CollectiveName {
    /// The name in scenarios; a barrier is an all-reduce of a few bytes.
    pub fn collective(self) -> &'static str {
        match self {
            CollectiveName::AllReduce | CollectiveName::Barrier => "all-reduce",
            CollectiveName::AllGather => "all-gather",
            CollectiveName::ReduceScatter => "reduce-scatter",
            CollectiveName::AllToAll => "all-to-all",
            CollectiveName::Broadcast => "broadcast",
            CollectiveName::Reduce => "reduce",
            CollectiveName::Gather => "gather",
            CollectiveName::Scatter => "scatter",
        }
    }

    /// The size as Tenter counts it, as nccl-tests does, of one in which each rank has a buffer of
    /// `own_bytes` to send: that of all ranks together where each rank's is put beside the others'.
    pub fn size_of_own(self, own_bytes: u64, ranks: u32) -> u64 {
        match self {
            CollectiveName::AllGather | CollectiveName::Gather => {
                own_bytes.saturating_mul(u64::from(ranks))
            }
            CollectiveName::Barrier => BARRIER_BYTES,
            _ => own_bytes,
        }
    }
}

/// What a barrier sends: NCCL has none, and `PyTorch` reduces one element.
const BARRIER_BYTES: u64 = 4;

component! {
    /// The algorithms of the collectives in a trace, which names collectives alone.
    pub struct Algorithms as "`jobs[].workload.algorithms`", derive(Clone, Debug, PartialEq, Eq) {
        /// The algorithm of all-reduces, and of barriers.
        all_reduce: String = "ring", in 64;
        /// The algorithm of all-gathers.
        all_gather: String = "ring", in 64;
        /// The algorithm of reduce-scatters.
        reduce_scatter: String = "ring", in 64;
        /// The algorithm of all-to-alls.
        all_to_all: String = "parallel", in 64;
        /// The algorithm of broadcasts.
        broadcast: String = "tree", in 64;
        check are_known;
    }
}

/// Those of NCCL for large buffers.
impl Default for Algorithms {
    fn default() -> Algorithms {
        default_of()
    }
}

fn are_known(algorithms: &Algorithms, reader: &mut dyn Reader) -> bool {
    let mut known = true;
    for (key, collective, algorithm) in algorithms.keys() {
        if let Err(error) = CollectiveKind::parse(collective, algorithm) {
            reader.refuse(key, "is no algorithm of it", &error.to_string());
            known = false;
        }
    }
    known
}

impl Algorithms {
    fn keys(&self) -> [(&'static str, &'static str, &str); 5] {
        [
            ("all_reduce", "all-reduce", &self.all_reduce),
            ("all_gather", "all-gather", &self.all_gather),
            ("reduce_scatter", "reduce-scatter", &self.reduce_scatter),
            ("all_to_all", "all-to-all", &self.all_to_all),
            ("broadcast", "broadcast", &self.broadcast),
        ]
    }

    /// What carries out a collective; of those without a key their usual algorithm.
    pub fn kind(&self, name: CollectiveName) -> CollectiveKind {
        let collective = name.collective();
        let own = self.keys().into_iter().find(|(_, of, _)| *of == collective);
        let usual = || CollectiveKind::algorithms_of(collective).next();
        let algorithm = own.map(|(_, _, algorithm)| algorithm).or_else(usual);
        let kind = CollectiveKind::parse(collective, algorithm.unwrap_or_default());
        kind.expect("a check has found all of them")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_an_algorithm() {
        let algorithms = Algorithms::default();
        for name in [
            CollectiveName::AllReduce,
            CollectiveName::AllGather,
            CollectiveName::ReduceScatter,
            CollectiveName::AllToAll,
            CollectiveName::Broadcast,
            CollectiveName::Reduce,
            CollectiveName::Gather,
            CollectiveName::Scatter,
            CollectiveName::Barrier,
        ] {
            assert_eq!(algorithms.kind(name).name(), name.collective());
        }
        assert_eq!(CollectiveName::AllGather.size_of_own(10, 4), 40);
        assert_eq!(CollectiveName::ReduceScatter.size_of_own(10, 4), 10);
        assert_eq!(CollectiveName::Barrier.size_of_own(0, 4), 4);
    }
}
