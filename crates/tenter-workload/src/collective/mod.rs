//! Collective algorithms: one file per member, listed in [`CollectiveKind`].
//!
//! A member's file holds everything about it: keys with defaults and origins, limits, bus bandwidth
//! factor, [`Schedule`] and closed form. Code that several members share has a file without a
//! member (`butterfly`, `chunks`, `one_each`, `ring`, `star`, `tree`, `tree_flow`).

pub(crate) mod algorithm;
mod all_gather_nccl;
mod all_gather_recursive_doubling;
mod all_gather_ring;
mod all_reduce_bidirectional_ring;
mod all_reduce_double_binary_tree;
mod all_reduce_halving_doubling;
mod all_reduce_hierarchical;
mod all_reduce_nccl;
mod all_reduce_ring;
mod all_to_all_pairwise;
mod all_to_all_parallel;
mod all_to_all_pxn;
mod broadcast_parallel;
mod broadcast_ring;
mod broadcast_tree;
mod butterfly;
mod chunks;
mod gather_parallel;
mod hypercube;
mod in_domain;
mod incast;
mod limits;
pub(crate) mod member;
mod moe;
mod moe_combine_low_latency;
mod moe_combine_normal;
mod moe_combine_nvlink;
mod moe_dispatch_low_latency;
mod moe_dispatch_normal;
mod moe_dispatch_nvlink;
mod nccl;
mod nccl_member;
mod one_each;
mod permutation;
mod program;
mod reduce_scatter_nccl;
mod reduce_scatter_recursive_halving;
mod reduce_scatter_ring;
mod reduce_tree;
mod ring;
mod scatter_parallel;
mod send_recv;
mod star;
mod steps;
#[cfg(test)]
pub(crate) mod tests;
mod tree;
mod tree_flow;
#[cfg(test)]
pub(crate) mod vectors;

use std::sync::LazyLock;

use tenter_language::config::{Choice, Chosen, Component, Key, KeyTable, Presence, Reader, Shape};
use tenter_language::config::{Texts, Value, Words, Written};
use tenter_language::units::{Time, nearest};

use crate::closed_form::IdealSwitch;
use crate::{Schedule, WorkloadError};
use algorithm::Collective;

pub(crate) use all_gather_nccl::AllGatherNccl;
pub(crate) use all_gather_recursive_doubling::AllGatherRecursiveDoubling;
pub use all_gather_ring::AllGatherRing;
pub use all_reduce_bidirectional_ring::AllReduceBidirectionalRing;
pub(crate) use all_reduce_double_binary_tree::AllReduceDoubleBinaryTree;
pub use all_reduce_halving_doubling::AllReduceHalvingDoubling;
pub use all_reduce_hierarchical::AllReduceHierarchical;
pub(crate) use all_reduce_nccl::AllReduceNccl;
pub use all_reduce_ring::AllReduceRing;
pub use all_to_all_pairwise::AllToAllPairwise;
pub use all_to_all_parallel::AllToAllParallel;
pub(crate) use all_to_all_pxn::AllToAllPxn;
pub use broadcast_parallel::BroadcastParallel;
pub use broadcast_ring::BroadcastRing;
pub(crate) use broadcast_tree::BroadcastTree;
pub use butterfly::Distances;
pub use gather_parallel::GatherParallel;
pub(crate) use hypercube::Hypercube;
pub use in_domain::InDomain;
pub use incast::Incast;
pub use member::{CollectiveMember, Factor};
pub(crate) use moe::Direction;
pub use moe::{ExpertKernels, ExpertKeys};
pub(crate) use moe::{NormalKeys, TokenPrecision};
pub(crate) use moe_combine_low_latency::MoeCombineLowLatency;
pub(crate) use moe_combine_normal::MoeCombineNormal;
pub(crate) use moe_combine_nvlink::MoeCombineNvlink;
pub(crate) use moe_dispatch_low_latency::MoeDispatchLowLatency;
pub(crate) use moe_dispatch_normal::MoeDispatchNormal;
pub(crate) use moe_dispatch_nvlink::MoeDispatchNvlink;
pub(crate) use nccl::nics_divide;
pub use nccl::{HostCpu, NcclAlgorithm, NcclChoice, NcclCollective, NcclKeys, NpuGeneration};
pub use permutation::Permutation;
pub use program::{
    AlgorithmFiles, At, Buffer, HEADING, NotationError, Port, Program, ProgramBlock,
    ProgramCollective, ProgramError, ProgramLines, ProgramParts, ProgramStep, Programs, Slot,
    StepName, WireProtocol, read_program, write_program,
};
pub(crate) use reduce_scatter_nccl::ReduceScatterNccl;
pub(crate) use reduce_scatter_recursive_halving::ReduceScatterRecursiveHalving;
pub use reduce_scatter_ring::ReduceScatterRing;
pub(crate) use reduce_tree::ReduceTree;
pub use scatter_parallel::ScatterParallel;
pub use send_recv::SendRecv;
pub use steps::{StepError, StepList, StepSpec, Steps};

/// Declares the enum with all collectives, and each question that every member answers: its words
/// and keys, how it is read and written, its schedule and its properties.
macro_rules! collectives {
    (
        $(#[$about:meta])*
        pub enum $list:ident { $($name:ident,)+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $list {
            $(#[doc = concat!("[`", stringify!($name), "`].")] $name($name),)+
            /// An algorithm that is read from a file, or from several files by size.
            FromFile(AlgorithmFiles),
            /// NCCL's, among ranks of one scale-up domain whose kernels have times.
            InDomain(Box<InDomain>),
        }

        $(impl From<$name> for $list {
            fn from(own: $name) -> $list {
                $list::$name(own)
            }
        })+

        impl $list {
            /// All members except those from files, in the order in which users see them. The first
            /// member of a collective is its usual algorithm.
            pub const MEMBERS: &'static [&'static CollectiveMember] =
                &[$(&<$name as Collective>::MEMBER),+];

            /// Key tables, in the order of [`Self::MEMBERS`].
            pub const TABLES: &'static [&'static KeyTable] =
                &[$(&<$name as Component>::TABLE),+];

            /// Returns all members with default keys, in the order of [`Self::MEMBERS`].
            pub fn defaults() -> Vec<$list> {
                vec![$($name::default().into()),+]
            }

            /// Returns the static description of this algorithm.
            pub fn member(&self) -> &'static CollectiveMember {
                match self {
                    $($list::$name(_) => &<$name as Collective>::MEMBER,)+
                    $list::FromFile(own) => own.member(),
                    $list::InDomain(own) => own.kind().member(),
                }
            }

            /// Reads the keys of the member at `place` in [`Self::MEMBERS`].
            fn read_member(place: usize, reader: &mut dyn Reader) -> Option<$list> {
                type Read = fn(&mut dyn Reader) -> Option<$list>;
                let members: &[Read] = &[
                    $(|reader| <$name as Component>::read(reader).map($list::$name),)+
                ];
                reader.extend($list::TABLES[place]);
                members[place](reader)
            }

            /// Returns the keys as they are written; none for algorithms from files, whose key is
            /// `algorithm`.
            fn keys(&self) -> Vec<(&'static str, Written)> {
                match self {
                    $($list::$name(own) => Component::written(own),)+
                    $list::FromFile(_) => Vec::new(),
                    $list::InDomain(own) => own.kind().keys(),
                }
            }

            fn of_all(
                &self,
                ranks: u32,
                size_bytes: u64,
            ) -> Result<Box<dyn Schedule>, WorkloadError> {
                match self {
                    $($list::$name(own) => own.schedule(ranks, size_bytes),)+
                    $list::FromFile(own) => own.schedule(ranks, size_bytes),
                    $list::InDomain(own) => own.schedule(ranks, size_bytes),
                }
            }

            /// Returns the completion time on an ideal switch that never makes a rank wait, or a
            /// lower bound. Simulations are tested against it.
            pub fn ideal_completion(&self, switch: &IdealSwitch<'_>) -> Time {
                match self {
                    $($list::$name(own) => own.ideal(switch),)+
                    $list::FromFile(own) => own.ideal(switch),
                    $list::InDomain(own) => own.ideal(switch),
                }
            }

            /// Returns the time spent within the hosts before the first transfer can be sent; the
            /// same time passes again after the last arrival. Zero for algorithms that do not
            /// distinguish hosts.
            pub fn within_hosts(&self, size_bytes: u64) -> Time {
                match self {
                    $($list::$name(own) => own.within_hosts(size_bytes),)+
                    $list::FromFile(_) => Time::ZERO,
                    $list::InDomain(_) => Time::ZERO,
                }
            }

            /// Returns the ratio between algorithm bandwidth and size over time, as nccl-tests
            /// defines it.
            pub fn algbw(&self) -> Factor {
                match self {
                    $($list::$name(own) => own.algbw(),)+
                    $list::FromFile(_) => Factor::One,
                    $list::InDomain(own) => own.kind().algbw(),
                }
            }

            /// Returns the chunk length in bytes if the algorithm passes on one chunk after the
            /// other.
            pub fn chunk_bytes(&self) -> Option<u64> {
                match self {
                    $($list::$name(own) => own.chunk_bytes(),)+
                    $list::FromFile(own) => own.chunk_bytes(),
                    $list::InDomain(_) => None,
                }
            }

            /// Returns the NPUs per host if the algorithm counts on a scale-up domain that joins
            /// them.
            pub fn hands_over(&self) -> Option<u32> {
                match self {
                    $($list::$name(own) => own.hands_over(),)+
                    $list::FromFile(_) => None,
                    $list::InDomain(own) => own.kind().hands_over(),
                }
            }

            /// Returns the size in bytes if it follows from the keys, so that no `size` is given.
            pub fn own_size(&self) -> Option<u64> {
                match self {
                    $($list::$name(own) => own.own_size(),)+
                    $list::FromFile(_) => None,
                    $list::InDomain(_) => None,
                }
            }

            /// Returns the transfers that one rank may send another, beyond two for each rank and
            /// one for each chunk. Tests bound the counts by it.
            pub fn more_of_a_way(&self) -> u64 {
                match self {
                    $($list::$name(own) => own.more_of_a_way(),)+
                    $list::FromFile(own) => own.more_of_a_way(),
                    $list::InDomain(own) => own.kind().more_of_a_way(),
                }
            }

            /// Returns the most wire bytes for one buffer byte: 2 if a protocol adds as many flags
            /// as data.
            pub fn wire_times(&self) -> u64 {
                match self {
                    $($list::$name(own) => own.wire_times(),)+
                    $list::FromFile(_) => 1,
                    $list::InDomain(own) => own.wire_times(),
                }
            }

            /// Returns the collective and the keys by which NCCL chooses, if this member follows
            /// NCCL's choice. The algorithm that carries it out then depends on the size.
            pub fn nccl(&self) -> Option<(NcclCollective, &NcclKeys)> {
                match self {
                    $($list::$name(own) => own.nccl(),)+
                    $list::FromFile(_) => None,
                    $list::InDomain(own) => own.kind().nccl(),
                }
            }

            /// Returns the same collective with other keys for NCCL's choice; `None` if the member
            /// does not follow it.
            pub(crate) fn with_nccl(&self, keys: NcclKeys) -> Option<$list> {
                match self {
                    $($list::$name(own) => own.with_nccl(keys).map($list::$name),)+
                    $list::FromFile(_) => None,
                    $list::InDomain(own) => own.kind().with_nccl(keys),
                }
            }

            /// Returns true if the transfers depend on a random draw.
            pub fn draws(&self) -> bool {
                match self {
                    $($list::$name(own) => own.draws(),)+
                    $list::FromFile(_) => false,
                    $list::InDomain(own) => own.kind().draws(),
                }
            }
        }
    };
}

collectives! {
    /// Every collective by every algorithm.
    pub enum CollectiveKind {
        AllToAllParallel,
        AllToAllPairwise,
        AllToAllPxn,
        AllReduceRing,
        AllReduceBidirectionalRing,
        AllReduceHalvingDoubling,
        AllReduceDoubleBinaryTree,
        AllReduceHierarchical,
        AllReduceNccl,
        AllGatherRing,
        AllGatherRecursiveDoubling,
        AllGatherNccl,
        ReduceScatterRing,
        ReduceScatterRecursiveHalving,
        ReduceScatterNccl,
        BroadcastParallel,
        BroadcastRing,
        BroadcastTree,
        ReduceTree,
        GatherParallel,
        ScatterParallel,
        SendRecv,
        Hypercube,
        Permutation,
        Incast,
        MoeDispatchNormal,
        MoeDispatchLowLatency,
        MoeDispatchNvlink,
        MoeCombineNormal,
        MoeCombineLowLatency,
        MoeCombineNvlink,
        Steps,
    }
}

/// Key that all algorithms which distinguish hosts have.
pub(crate) const NPUS_KEY: &str = "npus_per_host";

/// Keys by which collectives describe a host beyond its ranks: NPUs, NICs, NIC rate, NPU
/// generation, kernels for experts, and the rate and latency of the scale-up domain.
pub(crate) const HOST_KEYS: [&str; 7] = [
    NPUS_KEY,
    "nics_per_host",
    "nic_rate",
    "generation",
    "kernels",
    "scale_up_rate",
    "scale_up_latency",
];

/// Collective names, each once, in member order.
static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut names: Vec<_> = CollectiveKind::MEMBERS
        .iter()
        .map(|member| member.collective)
        .collect();
    // The members of a collective are adjacent in the list.
    names.dedup();
    names
});

/// Text for the reference: each collective's algorithms.
static ALGORITHMS: LazyLock<String> = LazyLock::new(|| {
    let of = |name: &&str| {
        let algorithms: Vec<&str> = CollectiveKind::algorithms_of(name).collect();
        format!("{name}: {}", algorithms.join(", "))
    };
    NAMES.iter().map(of).collect::<Vec<_>>().join("; ")
});

impl CollectiveKind {
    /// Returns the collective's name, such as `all-to-all`.
    pub fn name(&self) -> &'static str {
        self.member().collective
    }

    /// Returns the algorithm's name, such as `parallel`.
    pub fn algorithm(&self) -> &'static str {
        self.member().algorithm
    }

    /// Lists a collective's algorithms, the usual one first; empty for an unknown name.
    pub fn algorithms_of(collective: &str) -> impl Iterator<Item = &'static str> {
        let members = Self::MEMBERS.iter();
        let of_it = members.filter(move |member| member.collective == collective);
        of_it.map(|member| member.algorithm)
    }

    /// Returns the member with these two names and default keys.
    ///
    /// # Errors
    /// An unknown name; the error suggests the nearest known one.
    pub fn parse(collective: &str, algorithm: &str) -> Result<CollectiveKind, WorkloadError> {
        let place = Self::find(collective, algorithm)?;
        Ok(Self::defaults().swap_remove(place))
    }

    /// Returns the same algorithm with some keys changed, given as they are written; `None` if a
    /// key or a value does not exist.
    pub fn with(&self, keys: &[(&str, String)]) -> Option<CollectiveKind> {
        // `Steps` cannot be read without keys, because either `file` or `steps` must be there.
        if keys.is_empty() {
            return Some(self.clone());
        }
        let place = Self::find(self.name(), self.algorithm()).ok()?;
        let table = Self::TABLES[place];
        let known = keys.iter().all(|(key, _)| table.get(key).is_some());
        known.then(|| Self::read_member(place, &mut Texts::new(table.keys, keys)))?
    }

    /// Returns the algorithm that a collective has by default on servers with known NPUs: NCCL's
    /// choice, or PXN for all-to-all.
    pub fn algorithm_of_servers(collective: &str) -> Option<&'static str> {
        match collective {
            "all-reduce" | "all-gather" | "reduce-scatter" => Some("nccl"),
            "all-to-all" => Some("pxn"),
            _ => None,
        }
    }

    /// Returns true if the usual algorithm replaces this one where ranks do not fill hosts in
    /// order.
    pub(crate) fn gives_way(&self) -> bool {
        Self::algorithm_of_servers(self.name()) == Some(self.algorithm())
    }

    /// Returns true if the algorithm only hands data over within a host, and adds nothing up there.
    pub(crate) fn hands_over_only(&self) -> bool {
        matches!(self, CollectiveKind::AllToAllPxn(_))
    }

    /// Returns the same collective by its usual algorithm.
    pub(crate) fn usual(&self) -> CollectiveKind {
        let usual = Self::algorithms_of(self.name()).next();
        let found = usual.and_then(|usual| Self::parse(self.name(), usual).ok());
        found.unwrap_or_else(|| self.clone())
    }

    /// Returns NPUs and NICs per host if the keys say so; NICs default to one per NPU.
    pub fn hosts(&self) -> Option<(u32, u32)> {
        let nics = self.nccl().and_then(|(_, keys)| keys.nics_per_host);
        self.npus().map(|npus| (npus, nics.unwrap_or(npus)))
    }

    fn npus(&self) -> Option<u32> {
        match self {
            CollectiveKind::AllReduceHierarchical(own) => own.npus_per_host,
            _ => self.hands_over(),
        }
    }

    /// Returns the written keys as texts; keys that are left out are missing.
    pub(crate) fn texts(&self) -> Vec<(&'static str, String)> {
        let keys = self.keys().into_iter();
        keys.map(|(key, value)| (key, value.to_string())).collect()
    }

    /// Returns true if the algorithm has a key with this name.
    pub fn has_key(&self, name: &str) -> bool {
        let place = Self::find(self.name(), self.algorithm());
        place.is_ok_and(|place| Self::TABLES[place].get(name).is_some())
    }

    /// Returns the place in [`Self::MEMBERS`] of the member with these two names.
    fn find(collective: &str, algorithm: &str) -> Result<usize, WorkloadError> {
        let members = || Self::MEMBERS.iter().copied();
        let Some(found) = members().find(|member| member.collective == collective) else {
            return Err(WorkloadError::UnknownCollective {
                given: collective.to_owned(),
                suggestion: nearest(collective, NAMES.iter().copied()),
                known: NAMES.join(", "),
            });
        };
        let is_meant = |member: &&CollectiveMember| {
            (member.collective, member.algorithm) == (collective, algorithm)
        };
        match members().position(|member| is_meant(&member)) {
            Some(place) => Ok(place),
            None => Err(WorkloadError::UnknownAlgorithm {
                collective: found.collective,
                given: algorithm.to_owned(),
                suggestion: nearest(algorithm, Self::algorithms_of(collective)),
                known: Self::algorithms_of(collective)
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }

    /// Returns true if the transfer count between two ranks depends on the size.
    pub(crate) fn counts_depend_on_size(&self) -> bool {
        self.chunk_bytes().is_some() || self.nccl().is_some()
    }

    /// Returns one kind for each algorithm that NCCL may choose on `ranks` ranks, restricted to
    /// that algorithm.
    pub(crate) fn nccl_ways(&self, ranks: u32) -> Vec<CollectiveKind> {
        if self.nccl().is_none() {
            return Vec::new();
        }
        let ways = NcclAlgorithm::ALL.iter().map(|way| {
            let keys = self.texts().into_iter();
            let keys = keys.filter(|(key, _)| *key != "only_algorithm");
            let only = std::iter::once(("only_algorithm", way.word().to_owned()));
            self.with(&keys.chain(only).collect::<Vec<_>>())
        });
        ways.flatten()
            .filter(|kind| kind.schedule(ranks, 1).is_ok())
            .collect()
    }

    /// Returns NCCL's choice for a size; `None` if the member does not follow NCCL's choice.
    ///
    /// # Errors
    /// Those of [`CollectiveKind::schedule`].
    pub fn nccl_choice(
        &self,
        ranks: u32,
        size_bytes: u64,
    ) -> Result<Option<NcclChoice>, WorkloadError> {
        self.member().check(ranks, size_bytes)?;
        let Some((collective, keys)) = self.nccl() else {
            return Ok(None);
        };
        if let CollectiveKind::InDomain(own) = self
            && let Some(choice) = own.choose(ranks, size_bytes)
        {
            return Ok(Some(choice));
        }
        let member = self.member();
        let choice = keys.choose(collective, member, ranks, size_bytes);
        choice.map(Some)
    }

    /// Builds the transfers over `ranks` ranks for `size_bytes`, counted as nccl-tests counts
    /// sizes.
    ///
    /// # Errors
    /// Fewer than 2 ranks, a size of 0, a rank count that does not suit the algorithm, a root that
    /// is no rank, or more transfers than ids.
    pub fn schedule(
        &self,
        ranks: u32,
        size_bytes: u64,
    ) -> Result<Box<dyn Schedule>, WorkloadError> {
        self.member().check(ranks, size_bytes)?;
        self.of_all(ranks, size_bytes)
    }
}

/// The keys `collective` and `algorithm` choose which other keys exist.
impl Component for CollectiveKind {
    const KEYS: &'static [Key] = &[
        Key {
            name: "collective",
            shape: || Shape::Choice(&NAMES),
            presence: Presence::Required,
            meaning: "Which collective",
            origin: "",
        },
        Key {
            name: "algorithm",
            shape: || {
                let files = <AlgorithmFiles as Value>::shape(());
                Shape::Either(Box::new(Shape::Parsed(&ALGORITHMS)), Box::new(files))
            },
            presence: Presence::Follows(
                "the first of the collective; with `endpoint.host.scale_up.generation` `nccl`, of all-to-all `pxn`",
                |beside| {
                    let collective = beside("collective")?.to_string();
                    Self::algorithms_of(&collective).next().map(Written::word)
                },
            ),
            meaning: "By which algorithm; a mapping names one from a file",
            origin: "",
        },
    ];

    const TABLE: KeyTable = KeyTable {
        title: "`jobs[].collectives[]`: which",
        keys: Self::KEYS,
    };

    fn read(reader: &mut dyn Reader) -> Option<CollectiveKind> {
        let collective = reader
            .choice("collective", &NAMES)
            .map(|place| NAMES[place]);
        if reader.is_mapping("algorithm") {
            return from_file(collective, reader);
        }
        let algorithm = if let Some(collective) = collective {
            let algorithms: Vec<&str> = Self::algorithms_of(collective).collect();
            let usual = (!reader.is_there("algorithm")).then_some(0);
            let place = usual.or_else(|| reader.choice("algorithm", &algorithms));
            place.map(|place| algorithms[place])
        } else {
            // Without a collective there is no list of algorithms to compare the name with.
            reader.any("algorithm");
            None
        };
        let place = collective
            .zip(algorithm)
            .and_then(|(collective, algorithm)| {
                reader.write("algorithm", Written::word(algorithm));
                Self::find(collective, algorithm).ok()
            });
        let Some(place) = place else {
            reader.guess(Self::TABLES, &mut |place, reader| {
                Self::read_member(place, reader);
            });
            return None;
        };
        Self::read_member(place, reader)
    }

    fn written(&self) -> Vec<(&'static str, Written)> {
        let algorithm = match self {
            CollectiveKind::FromFile(files) => Value::written(files),
            _ => Written::word(self.algorithm()),
        };
        let mut keys = vec![
            ("collective", Written::word(self.name())),
            ("algorithm", algorithm),
        ];
        keys.extend(self.keys());
        keys
    }
}

/// Reads an algorithm from files and refuses files for another collective.
fn from_file(collective: Option<&'static str>, reader: &mut dyn Reader) -> Option<CollectiveKind> {
    let files = <AlgorithmFiles as Value>::read(reader, "algorithm", ())?;
    let own = CollectiveKind::FromFile(files);
    let collective = collective?;
    if own.name() == collective {
        return Some(own);
    }
    let what = format!(
        "is a file of {}, and the collective is {collective}",
        own.name()
    );
    let remedy = format!("write `collective: {}`, or name another file", own.name());
    reader.refuse("algorithm", &what, &remedy);
    None
}

/// Table for `algorithm` as a mapping, which names files.
static FROM_FILE: KeyTable = KeyTable {
    title: "",
    keys: &[Key {
        name: "algorithm",
        shape: || <AlgorithmFiles as Value>::shape(()),
        presence: Presence::Required,
        meaning: "By which algorithm: one from a file",
        origin: "",
    }],
};

impl Chosen for CollectiveKind {
    fn members() -> Vec<Choice> {
        let choice = |(member, table): (&&CollectiveMember, &&'static KeyTable)| {
            let usual = Self::algorithms_of(member.collective).next() == Some(member.algorithm);
            Choice {
                words: vec![
                    ("collective", member.collective, true),
                    ("algorithm", member.algorithm, !usual),
                ],
                table,
            }
        };
        let from_file = ProgramCollective::ALL.iter().map(|of| Choice {
            words: vec![("collective", of.word(), true)],
            table: &FROM_FILE,
        });
        let members = Self::MEMBERS.iter().zip(Self::TABLES).map(choice);
        members.chain(from_file).collect()
    }
}
