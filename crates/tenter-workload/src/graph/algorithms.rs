//! Collectives as traces name them, and the algorithms that carry them out.

use std::collections::BTreeSet;

use tenter_config::{Component, Idle, Reader, Shape, Value, Written, component, default_of};

use super::error::GraphError;
use crate::collective::{AlgorithmFiles, CollectiveKind, NcclKeys, nics_divide};

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

/// How many ranks a group has, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupShape {
    pub(super) size: u32,
    /// What it has at each of its servers, where that is the same at all of them, and its ranks are
    /// listed server after server.
    at_each: Option<AtServer>,
}

/// What a group has at a server: ranks, and the NICs next to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct AtServer {
    npus: u32,
    nics: u32,
}

const UNEVEN: &str = "are not spread evenly, one server after the other, over servers";
const AT_ONE: &str = "are at one server";

/// The first ranks of a group.
fn shown(ranks: &[u32]) -> String {
    const SHOWN_MAX: usize = 6;
    let first = ranks.iter().take(SHOWN_MAX).map(u32::to_string);
    let more = (ranks.len() > SHOWN_MAX).then(|| "…".to_owned());
    first.chain(more).collect::<Vec<_>>().join(", ")
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
        ..nccl: NcclKeys, "What NCCL's choice depends on. Ranks of the job fill servers in order; each group has the NPUs and NICs of its ranks.";
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

    /// What carries out a collective of a size in the group of these ranks; of those without a key
    /// their usual algorithm.
    ///
    /// # Errors
    /// An algorithm that goes by servers, and a group that does not have as many ranks at each, or
    /// is at one server where the algorithm is for several.
    pub(super) fn kind_in(
        &self,
        name: CollectiveName,
        shape: GroupShape,
        ranks: &[u32],
        bytes: u64,
    ) -> Result<CollectiveKind, GraphError> {
        let kind = self.kind(name, shape.size, bytes);
        if !kind.has_key(NPUS_KEY) {
            return Ok(kind);
        }
        let refused = |what| GraphError::NotAtServers {
            ranks: shown(ranks),
            what,
            npus_per_host: self.nccl.npus_per_host,
            collective: name.collective(),
            algorithm: kind.algorithm(),
        };
        let at_each = shape.at_each.ok_or_else(|| refused(UNEVEN))?;
        if kind.nccl().is_none() {
            if at_each.npus == shape.size {
                return Err(refused(AT_ONE));
            }
            let keys = [(NPUS_KEY, at_each.npus.to_string())];
            return Ok(kind.with(&keys).unwrap_or(kind));
        }
        let mut fitting = (1..=at_each.nics).rev();
        let at_server = NcclKeys {
            npus_per_host: at_each.npus,
            nics_per_host: fitting
                .find(|nics| at_each.npus.is_multiple_of(*nics))
                .unwrap_or(1),
            ..self.nccl
        };
        Ok(kind.with_nccl(at_server).unwrap_or(kind))
    }

    /// How many ranks a group has, and where.
    pub(super) fn shape(&self, ranks: &[u32]) -> GroupShape {
        let NcclKeys {
            npus_per_host,
            nics_per_host,
            ..
        } = self.nccl;
        let of_a_nic = (npus_per_host / nics_per_host).max(1);
        let server = |rank: &u32| rank / npus_per_host;
        let servers: BTreeSet<u32> = ranks.iter().map(server).collect();
        let parts = ranks.chunk_by(|a, b| server(a) == server(b));
        let count = parts.clone().count();
        let mut parts = parts.map(|part| {
            let nics = part.iter().map(|rank| rank % npus_per_host / of_a_nic);
            AtServer {
                npus: part.len() as u32,
                nics: nics.collect::<BTreeSet<_>>().len() as u32,
            }
        });
        let first = parts.next();
        let is_even = parts.all(|part| Some(part) == first) && count == servers.len();
        GroupShape {
            size: ranks.len() as u32,
            at_each: first.filter(|_| is_even),
        }
    }

    /// What carries out a collective of a size among so many ranks, wherever they are; of those
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
        let kind = kind.expect("a check has found all of them");
        kind.with_nccl(self.nccl).unwrap_or(kind)
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

    /// The data-parallel groups of tensor parallelism by 2, 4 and 8 on servers of 8, also where two
    /// NPUs share a NIC.
    #[test]
    fn groups_go_by_the_ranks_that_they_have_at_each_server() {
        let every = |step: u32| (0..32).map(|rank| rank * step).collect::<Vec<_>>();
        let at = |nics: &str, ranks: &[u32]| {
            let keys = [
                ("all_reduce", "nccl"),
                ("nic_rate", "200Gbps"),
                ("nics_per_host", nics),
            ];
            let own: Algorithms = default_with(&keys);
            let shape = own.shape(ranks);
            let kind = own.kind_in(CollectiveName::AllReduce, shape, ranks, 1 << 20);
            kind.map(|kind| *kind.nccl().unwrap().1)
        };
        for (step, npus, nics) in [(1, 8, 4), (2, 4, 4), (4, 2, 2), (8, 1, 1), (16, 1, 1)] {
            let keys = at("8", &every(step)).unwrap();
            assert_eq!((keys.npus_per_host, keys.nics_per_host), (npus, npus));
            assert_eq!(keys.nic_rate.to_string(), "200Gbps");
            let keys = at("4", &every(step)).unwrap();
            assert_eq!((keys.npus_per_host, keys.nics_per_host), (npus, nics));
        }
        for uneven in [&[0, 1, 8][..], &[0, 8, 1, 9]] {
            let refused = at("8", uneven).unwrap_err().to_string();
            assert!(refused.starts_with("ranks 0, "), "{refused}");
        }
    }

    #[test]
    fn algorithms_for_several_servers_are_refused_at_one() {
        let ranks: Vec<u32> = (0..8).collect();
        let own: Algorithms = default_with(&[("all_to_all", "pxn"), ("npus_per_host", "4")]);
        let of = |own: &Algorithms, ranks: &[u32]| {
            own.kind_in(CollectiveName::AllToAll, own.shape(ranks), ranks, 64)
        };
        let found = of(&own, &ranks).unwrap();
        assert_eq!(found.hands_over(), Some(4));
        let refused = of(&own, &ranks[..4]).unwrap_err().to_string();
        assert!(refused.contains("at one server of 4 NPUs"), "{refused}");
        // Parallel messages go by no servers.
        let usual = Algorithms::default();
        assert!(of(&usual, &[0, 1, 8]).is_ok());
    }
}
