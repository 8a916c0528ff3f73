//! Collectives as traces name them, and the algorithm chosen for each.

use tenter_language::config::{
    Component, Idle, Reader, Shape, Value, Written, component, default_of,
};

use crate::collective::{AlgorithmFiles, CollectiveKind, NPUS_KEY, NcclKeys, nics_divide};

/// A collective operation by the name that a trace gives it, without an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CollectiveName {
    /// Every rank gets the sum over all buffers.
    AllReduce,
    /// Every rank gets all ranks' buffers.
    AllGather,
    /// Every rank gets its part, summed over all buffers.
    ReduceScatter,
    /// Every rank sends a different part to each rank.
    AllToAll,
    /// Every rank gets the root's buffer.
    Broadcast,
    /// The root gets the sum over all buffers.
    Reduce,
    /// The root gets all ranks' buffers.
    Gather,
    /// The root sends a different part to each rank.
    Scatter,
    /// No rank goes on before every rank has arrived.
    Barrier,
}

impl CollectiveName {
    /// Returns the collective's name in scenarios. A barrier runs as an all-reduce over a few
    /// bytes.
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

    /// Converts the bytes that one rank passes to the call into the size by nccl-tests, which
    /// Tenter uses. All-gather and gather concatenate the buffers from `ranks` ranks; the size of
    /// other collectives is the buffer itself.
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

/// A barrier's bytes: NCCL has no barrier, and `PyTorch` all-reduces one element (4 bytes).
const BARRIER_BYTES: u64 = 4;

/// The algorithm for a collective: a built-in one by name, or algorithms from a file.
///
/// As with MSCCL, an algorithm from a file serves groups with its rank count, and the sizes for
/// which the file is meant; all other cases fall back to the default algorithm.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AlgorithmChoice {
    /// A built-in algorithm's name, such as `ring`.
    Named(String),
    /// Algorithms from a file, each for a size range.
    File(AlgorithmFiles),
}

/// Longest algorithm name that a scenario may contain, in characters.
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
        /// Algorithm of all-gathers, by its name or its file.
        all_gather: AlgorithmChoice = "ring";
        /// Algorithm of reduce-scatters, by its name or its file.
        reduce_scatter: AlgorithmChoice = "ring";
        /// Algorithm of all-to-alls, by its name or its file.
        all_to_all: AlgorithmChoice = "parallel";
        /// Algorithm of broadcasts, by its name or its file.
        broadcast: AlgorithmChoice = "tree";
        check are_known;
        ..nccl: NcclKeys, "What NCCL's choice depends on. Each group has the NPUs and NICs of its ranks at their hosts; without a scale-up domain ranks of the job fill hosts of `npus_per_host` in order.";
    }
}

/// The defaults are NCCL's choices for large buffers.
impl Default for Algorithms {
    fn default() -> Algorithms {
        default_of()
    }
}

/// Lists NCCL's keys that have no effect because no algorithm named here uses them.
fn idle(algorithms: &Algorithms) -> Vec<Idle> {
    let by_nccl = algorithms.names(|kind| kind.nccl().is_some());
    let by_servers = algorithms.names(|kind| kind.has_key(NPUS_KEY));
    let of_nccl = NcclKeys::KEYS.iter().map(|key| key.name);
    // Other algorithms by hosts also need the number of NPUs per host.
    let idle = of_nccl.filter(|key| !(by_nccl || by_servers && *key == NPUS_KEY));
    let keys: Vec<&str> = idle.collect();
    let remedy = "leave it out, or give an algorithm `nccl`";
    Idle::all(&keys, "has no effect without `nccl`", remedy)
}

/// Checks that each named algorithm exists and that each file carries out its key's collective.
/// Reports all problems, not just the first.
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
    /// Lists the keys, the collective that each stands for, and the algorithm given for it.
    fn keys(&self) -> [(&'static str, &'static str, &AlgorithmChoice); 5] {
        [
            ("all_reduce", "all-reduce", &self.all_reduce),
            ("all_gather", "all-gather", &self.all_gather),
            ("reduce_scatter", "reduce-scatter", &self.reduce_scatter),
            ("all_to_all", "all-to-all", &self.all_to_all),
            ("broadcast", "broadcast", &self.broadcast),
        ]
    }

    /// Returns true if some named algorithm satisfies `is_of`; algorithms from files are passed
    /// over.
    fn names(&self, is_of: impl Fn(&CollectiveKind) -> bool) -> bool {
        let mut keys = self.keys().into_iter();
        keys.any(|(_, collective, algorithm)| match algorithm {
            AlgorithmChoice::Named(name) => {
                CollectiveKind::parse(collective, name).is_ok_and(|kind| is_of(&kind))
            }
            // NCCL's model does not choose for algorithms from a file.
            AlgorithmChoice::File(_) => false,
        })
    }

    /// Returns the algorithm for a collective over `bytes` among `ranks` ranks. Collectives without
    /// a key run their first built-in algorithm.
    ///
    /// The answer does not depend on where the ranks are: [`Graph::at`](super::Graph::at) fills in
    /// their hosts' properties once the ranks are placed.
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
        // NCCL's model takes all keys about hosts; other algorithms by hosts take the NPU count
        // only.
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
