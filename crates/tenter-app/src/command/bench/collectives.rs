//! Collectives, element types and reductions in nccl-tests by name.

use tenter_language::units::suggestion;

/// Buffer whose bytes a size in the table counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// The buffer that each rank has.
    Whole,
    /// All ranks' shares together; each rank has its own.
    PerRank,
}

/// Content for the columns `redop` and `root`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// True if the reduction is shown; else `none`.
    pub(super) redop: bool,
    /// True if the root is shown; else -1.
    pub(super) root: bool,
}

/// A program in nccl-tests, and what it runs here.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Collective {
    /// The program's name without `_perf`.
    pub(super) name: &'static str,
    /// The collective's name in scenarios.
    pub(super) scenario: &'static str,
    /// Default algorithm: the one closest to what NCCL does between NICs.
    pub(super) algorithm: &'static str,
    pub(super) share: Share,
    pub(super) shown: Shown,
}

/// Neither a reduction nor a root.
const NEITHER: Shown = Shown {
    redop: false,
    root: false,
};
/// A reduction and no root.
const REDOP: Shown = Shown {
    redop: true,
    root: false,
};
/// A root and no reduction.
const ROOT: Shown = Shown {
    redop: false,
    root: true,
};
/// A reduction and a root.
const BOTH: Shown = Shown {
    redop: true,
    root: true,
};

const fn collective(
    name: &'static str,
    scenario: &'static str,
    algorithm: &'static str,
    share: Share,
    shown: Shown,
) -> Collective {
    Collective {
        name,
        scenario,
        algorithm,
        share,
        shown,
    }
}

/// Programs in nccl-tests, except those for the device API.
const COLLECTIVES: [Collective; 10] = [
    collective("all_reduce", "all-reduce", "ring", Share::Whole, REDOP),
    collective("all_gather", "all-gather", "ring", Share::PerRank, NEITHER),
    collective(
        "reduce_scatter",
        "reduce-scatter",
        "ring",
        Share::PerRank,
        REDOP,
    ),
    collective(
        "alltoall",
        "all-to-all",
        "parallel",
        Share::PerRank,
        NEITHER,
    ),
    collective("broadcast", "broadcast", "ring", Share::Whole, ROOT),
    collective("reduce", "reduce", "tree", Share::Whole, BOTH),
    collective("sendrecv", "send-recv", "ring", Share::Whole, REDOP),
    collective("gather", "gather", "parallel", Share::PerRank, ROOT),
    collective("scatter", "scatter", "parallel", Share::PerRank, ROOT),
    collective(
        "hypercube",
        "hypercube",
        "recursive-doubling",
        Share::PerRank,
        NEITHER,
    ),
];

impl Collective {
    /// Finds a collective by its name in nccl-tests, in scenarios, or as a program.
    pub(super) fn of_name(name: &str) -> Result<&'static Collective, String> {
        let bare = name.strip_suffix("_perf").unwrap_or(name);
        // nccl-tests writes `alltoall`, scenarios write `all-to-all`.
        let letters = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
        let found = COLLECTIVES
            .iter()
            .find(|known| letters(known.scenario) == letters(bare));
        found.ok_or_else(|| {
            let names = COLLECTIVES.iter().map(|known| known.name);
            format!(
                "nccl-tests has no collective `{name}`; {}",
                suggestion(name, names)
            )
        })
    }
}

/// NCCL's element types with their bytes.
const TYPES: [(&str, u64); 12] = [
    ("int8", 1),
    ("uint8", 1),
    ("int32", 4),
    ("uint32", 4),
    ("int64", 8),
    ("uint64", 8),
    ("half", 2),
    ("float", 4),
    ("double", 8),
    ("bfloat16", 2),
    ("f8e4m3", 1),
    ("f8e5m2", 1),
];

const REDUCTIONS: [&str; 6] = ["sum", "prod", "max", "min", "avg", "mulsum"];

/// Reply to `all`, which nccl-tests accepts.
const ONE_AT_A_TIME: &str =
    "the network does not distinguish types of data, so every table would be the same; give one";

/// Returns an element type's bytes.
pub(super) fn element_bytes(name: &str) -> Result<u64, String> {
    if name == "all" {
        return Err(format!("`-d all`: {ONE_AT_A_TIME}, such as `-d float`"));
    }
    let found = TYPES.iter().find(|(known, _)| *known == name);
    found.map(|(_, bytes)| *bytes).ok_or_else(|| {
        let names = TYPES.iter().map(|(known, _)| *known);
        format!(
            "NCCL has no type `{name}` (-d); {}",
            suggestion(name, names)
        )
    })
}

/// Rejects anything but a reduction.
pub(super) fn check_reduction(name: &str) -> Result<(), String> {
    if name == "all" {
        return Err(format!("`-o all`: {ONE_AT_A_TIME}, such as `-o sum`"));
    }
    if REDUCTIONS.contains(&name) {
        return Ok(());
    }
    Err(format!(
        "NCCL has no reduction `{name}` (-o); {} (the trial folder is named with `--output`)",
        suggestion(name, REDUCTIONS.into_iter())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_workload::collective::CollectiveKind;

    #[test]
    fn every_collective_exists_with_its_algorithm() {
        for collective in &COLLECTIVES {
            assert!(
                CollectiveKind::algorithms_of(collective.scenario)
                    .any(|name| name == collective.algorithm),
                "{collective:?}"
            );
        }
    }

    #[test]
    fn names_are_taken_in_every_spelling() {
        for name in [
            "alltoall",
            "all_to_all",
            "all-to-all",
            "alltoall_perf",
            "AllToAll",
        ] {
            assert_eq!(
                Collective::of_name(name).map(|found| found.name),
                Ok("alltoall")
            );
        }
        let error = Collective::of_name("allreduc").expect_err("misspelt");
        assert!(error.contains("did you mean `all_reduce`?"), "{error}");
    }

    #[test]
    fn types_and_reductions_are_those_of_nccl() {
        assert_eq!(element_bytes("half"), Ok(2));
        assert!(element_bytes("all").is_err_and(|error| error.contains("give one")));
        assert!(element_bytes("flot").is_err_and(|error| error.contains("`float`")));
        assert!(check_reduction("avg").is_ok());
        assert!(check_reduction("trials").is_err_and(|error| error.contains("--output")));
    }
}
