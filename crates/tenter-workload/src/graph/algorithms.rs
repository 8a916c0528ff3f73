//! Collectives as traces name them, and the algorithms that carry them out.

use tenter_config::{Component, Idle, Reader, Shape, Value, Written, component, default_of};

use crate::collective::{AlgorithmFiles, CollectiveKind, NPUS_KEY, NcclKeys, nics_divide};

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

/// The algorithm of a collective: one that Tenter has, by its name, or one from a file.
///
/// One from a file carries out the collectives of groups of as many ranks as it has, and of sizes
/// for which a file is meant; the usual one carries out the others, as with MSCCL.
#[derive(Clone, Debug, PartialEq)]
pub enum AlgorithmChoice {
    /// One that Tenter has.
    Named(String),
    /// One from a file.
    File(AlgorithmFiles),
}

/// A name is no longer.
const NAME_MAX: usize = 64;

impl Value for AlgorithmChoice {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        let files = <AlgorithmFiles as Value>::shape(());
        Shape::Either(Box::new(Shape::Text), Box::new(files))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<AlgorithmChoice> {
        if reader.is_mapping(key) {
            let files = <AlgorithmFiles as Value>::read(reader, key, ());
            files.map(AlgorithmChoice::File)
        } else {
            reader.text(key, NAME_MAX).map(AlgorithmChoice::Named)
        }
    }

    fn written(&self) -> Written {
        match self {
            AlgorithmChoice::Named(name) => Written::Text(name.clone()),
            AlgorithmChoice::File(files) => Value::written(files),
        }
    }
}

component! {
    /// The algorithms of the collectives in a trace, which names collectives alone.
    pub struct Algorithms as "`jobs[].workload.algorithms`", derive(Clone, Debug, PartialEq) {
        idle idle;
        /// The algorithm of all-reduces, and of barriers.
        all_reduce: AlgorithmChoice = "ring";
        /// The algorithm of all-gathers.
        all_gather: AlgorithmChoice = "ring";
        /// The algorithm of reduce-scatters.
        reduce_scatter: AlgorithmChoice = "ring";
        /// The algorithm of all-to-alls.
        all_to_all: AlgorithmChoice = "parallel";
        /// The algorithm of broadcasts.
        broadcast: AlgorithmChoice = "tree";
        check are_known;
        ..nccl: NcclKeys, "What NCCL's choice depends on. Each group has the NPUs and NICs of its ranks at their hosts; without a scale-up domain ranks of the job fill hosts of `npus_per_host` in order.";
    }
}

/// Those of NCCL for large buffers.
impl Default for Algorithms {
    fn default() -> Algorithms {
        default_of()
    }
}

/// What is for NCCL alone where NCCL's model chooses none.
fn idle(algorithms: &Algorithms) -> Vec<Idle> {
    let by_nccl = algorithms.names(|kind| kind.nccl().is_some());
    let by_servers = algorithms.names(|kind| kind.has_key(NPUS_KEY));
    let of_nccl = NcclKeys::KEYS.iter().map(|key| key.name);
    let idle = of_nccl.filter(|key| !(by_nccl || by_servers && *key == NPUS_KEY));
    let keys: Vec<&str> = idle.collect();
    let remedy = "leave it out, or give an algorithm `nccl`";
    Idle::all(&keys, "has no effect without `nccl`", remedy)
}

fn are_known(algorithms: &Algorithms, reader: &mut dyn Reader) -> bool {
    let mut known = true;
    for (key, collective, algorithm) in algorithms.keys() {
        let found = match algorithm {
            AlgorithmChoice::Named(name) => CollectiveKind::parse(collective, name),
            AlgorithmChoice::File(files) => Ok(CollectiveKind::FromFile(files.clone())),
        };
        match found {
            Ok(found) if found.name() == collective => {}
            Ok(found) => {
                let what = format!("is a file of {}", found.name());
                reader.refuse(key, &what, &format!("name a file of {collective}"));
                known = false;
            }
            Err(error) => {
                reader.refuse(key, "is no algorithm of it", &error.to_string());
                known = false;
            }
        }
    }
    let by_nccl = algorithms.names(|kind| kind.nccl().is_some());
    known && (!by_nccl || nics_divide(&algorithms.nccl, reader))
}

impl Algorithms {
    fn keys(&self) -> [(&'static str, &'static str, &AlgorithmChoice); 5] {
        [
            ("all_reduce", "all-reduce", &self.all_reduce),
            ("all_gather", "all-gather", &self.all_gather),
            ("reduce_scatter", "reduce-scatter", &self.reduce_scatter),
            ("all_to_all", "all-to-all", &self.all_to_all),
            ("broadcast", "broadcast", &self.broadcast),
        ]
    }

    /// Whether one of those that are named is of a kind.
    fn names(&self, is_of: impl Fn(&CollectiveKind) -> bool) -> bool {
        let mut keys = self.keys().into_iter();
        keys.any(|(_, collective, algorithm)| match algorithm {
            AlgorithmChoice::Named(name) => {
                CollectiveKind::parse(collective, name).is_ok_and(|kind| is_of(&kind))
            }
            AlgorithmChoice::File(_) => false,
        })
    }

    /// What carries out a collective of a size among so many ranks, wherever they are; of those
    /// without a key their usual algorithm. What it asks of hosts it has once ranks are bound to
    /// them ([`Graph::at`](super::Graph::at)).
    pub fn kind(&self, name: CollectiveName, ranks: u32, bytes: u64) -> CollectiveKind {
        let collective = name.collective();
        let own = self.keys().into_iter().find(|(_, of, _)| *of == collective);
        let usual = || CollectiveKind::algorithms_of(collective).next();
        let algorithm = match own.map(|(_, _, algorithm)| algorithm) {
            Some(AlgorithmChoice::File(files)) if files.suits(ranks, bytes) => {
                return CollectiveKind::FromFile(files.clone());
            }
            Some(AlgorithmChoice::File(_)) => {
                return Algorithms::default().kind(name, ranks, bytes);
            }
            Some(AlgorithmChoice::Named(name)) => Some(name.as_str()),
            None => usual(),
        };
        let kind = CollectiveKind::parse(collective, algorithm.unwrap_or_default());
        let kind = kind.expect("a check has found all of them");
        if let Some(of_nccl) = kind.with_nccl(self.nccl) {
            return of_nccl;
        }
        let npus = self.nccl.npus_per_host.map(|npus| npus.to_string());
        let npus = npus.filter(|_| kind.has_key(NPUS_KEY));
        let by_hosts = npus.and_then(|npus| kind.with(&[(NPUS_KEY, npus)]));
        by_hosts.unwrap_or(kind)
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
            assert_eq!(algorithms.kind(name, 4, 64).name(), name.collective());
        }
        assert_eq!(CollectiveName::AllGather.size_of_own(10, 4), 40);
        assert_eq!(CollectiveName::ReduceScatter.size_of_own(10, 4), 10);
        assert_eq!(CollectiveName::Barrier.size_of_own(0, 4), 4);
    }
}
