//! Collectives as traces name them, and the algorithms that carry them out.

use tenter_config::{Component, Idle, Reader, Shape, Value, Written, component, default_of};

use super::error::GraphError;
use crate::collective::{AlgorithmFiles, CollectiveKind, NcclKeys};

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

/// How many ranks a group has, and how many of them at each server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupShape {
    pub(super) size: u32,
    /// Where it has as many at all of its servers, one server after the other.
    pub(super) per_server: Option<u32>,
}

/// The key of algorithms that go by servers.
const NPUS_KEY: &str = "npus_per_host";

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
        ..nccl: NcclKeys, "What NCCL's choice depends on. Groups have the NPUs and NICs of their ranks, at servers that the ranks of the job fill one after the other.";
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
    let mut kinds = Vec::new();
    for (_, collective, algorithm) in algorithms.keys() {
        if let AlgorithmChoice::Named(name) = algorithm {
            kinds.extend(CollectiveKind::parse(collective, name).ok());
        }
    }
    let by_nccl = kinds.iter().any(|kind| kind.nccl().is_some());
    let by_servers = kinds.iter().any(|kind| kind.has_key(NPUS_KEY));
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
    known
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

    /// What carries out a collective of a size in a group; of those without a key their usual
    /// algorithm.
    ///
    /// # Errors
    /// An algorithm that goes by servers, and a group that has more ranks at one server than at
    /// another.
    pub fn kind_in(
        &self,
        name: CollectiveName,
        group: GroupShape,
        bytes: u64,
    ) -> Result<CollectiveKind, GraphError> {
        let kind = self.kind(name, group.size, bytes);
        if !kind.has_key(NPUS_KEY) {
            return Ok(kind);
        }
        let uneven = GraphError::UnevenGroup {
            collective: name.collective(),
            algorithm: kind.algorithm(),
            size: group.size,
            npus_per_host: self.nccl.npus_per_host,
        };
        let npus = group.per_server.ok_or(uneven)?;
        Ok(self.at_servers(&kind, npus).unwrap_or(kind))
    }

    /// The same for a group with so many ranks at each server.
    fn at_servers(&self, kind: &CollectiveKind, npus: u32) -> Option<CollectiveKind> {
        if kind.nccl().is_none() {
            return kind.with(&[(NPUS_KEY, npus.to_string())]);
        }
        // As many NICs as belong to these NPUs, or one that they share with others.
        let nics = npus * self.nccl.nics_per_host / self.nccl.npus_per_host;
        let mut fitting = (1..=nics.max(1)).rev();
        kind.with_nccl(NcclKeys {
            npus_per_host: npus,
            nics_per_host: fitting.find(|nics| npus.is_multiple_of(*nics))?,
            ..self.nccl
        })
    }

    /// How many ranks a group has, and where.
    pub(super) fn shape(&self, ranks: &[u32]) -> GroupShape {
        let server = |rank: &u32| rank / self.nccl.npus_per_host;
        let at_servers = ranks.chunk_by(|a, b| server(a) == server(b));
        let mut sizes = at_servers.map(<[u32]>::len);
        let first = sizes.next().unwrap_or_default();
        let is_even = sizes.all(|size| size == first);
        GroupShape {
            size: ranks.len() as u32,
            per_server: is_even.then_some(first as u32),
        }
    }

    /// What carries out a collective of a size among so many ranks, as if at full servers; of those
    /// without a key their usual algorithm.
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
        kind.expect("a check has found all of them")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_config::default_with;

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

    /// The data-parallel groups of tensor parallelism by 2, and those of 8, on servers of 8.
    #[test]
    fn groups_go_by_the_ranks_that_they_have_at_each_server() {
        let own: Algorithms = default_with(&[("all_reduce", "nccl"), ("nic_rate", "200Gbps")]);
        let kind = |ranks: &[u32]| {
            let shape = own.shape(ranks);
            own.kind_in(CollectiveName::AllReduce, shape, 1 << 20)
        };
        let every = |step: u32| (0..32).map(|rank| rank * step).collect::<Vec<_>>();
        for (step, npus) in [(1, 8), (2, 4), (8, 1), (16, 1)] {
            let kind = kind(&every(step)).unwrap();
            let (_, keys) = kind.nccl().unwrap();
            assert_eq!((keys.npus_per_host, keys.nics_per_host), (npus, npus));
            assert_eq!(keys.nic_rate.to_string(), "200Gbps");
        }
        let uneven = kind(&[0, 1, 8]).unwrap_err();
        assert!(uneven.to_string().contains("group of 3 ranks"), "{uneven}");
        // Rings go by no servers.
        let ring = Algorithms::default();
        let shape = ring.shape(&[0, 1, 8]);
        let kind = ring.kind_in(CollectiveName::AllReduce, shape, 1 << 20);
        assert_eq!(kind.map(|kind| kind.algorithm()), Ok("ring"));
    }
}
