//! The studies that are embedded in the program, with their tables and equipment.

use tenter_language::units::nearest;

use crate::studies::gate::Origin;
use crate::studies::unknown::UnknownStudy;

/// Texts from the folder of one study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyTexts<'a> {
    /// Study name; for an embedded study the folder below `studies/`, `<group>/<study>`.
    pub name: &'a str,
    /// Folder path as messages show it.
    pub folder: &'a str,
    /// `README.md`: the source's statements and the assumptions.
    pub readme: &'a str,
    /// `study.yaml`: published rows, variants and judged readings.
    pub description: &'a str,
    /// `scenario.yaml`: the scenario that every variant changes.
    pub scenario: &'a str,
}

/// Embeds a file below `studies/` as text.
macro_rules! text {
    ($($part:literal),+) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/studies/", $($part),+))
    };
}

/// Embeds each study's files and its `recorded.csv`.
macro_rules! studies {
    ($($name:literal),+ $(,)?) => {
        /// All embedded studies, in listing order.
        pub static STUDIES: &[StudyTexts<'static>] = &[$(StudyTexts {
            name: $name,
            folder: concat!("studies/", $name),
            readme: text!($name, "/README.md"),
            description: text!($name, "/study.yaml"),
            scenario: text!($name, "/scenario.yaml"),
        }),+];

        /// Study names and the measured values from each study's last full run, as CSV.
        static RECORDED: &[(&str, &str)] = &[$(($name, text!($name, "/recorded.csv"))),+];
    };
}

/// Embeds tables from one folder as pairs: table name and text.
macro_rules! tables {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, text!($folder, "/", $name, ".csv"))),+]
    };
}

/// Embeds equipment files as pairs: the path by which a study's scenario names the file, and text.
macro_rules! equipment {
    ($($name:literal),+ $(,)?) => {
        &[$((concat!("../../equipment/", $name, ".yaml"), text!("equipment/", $name, ".yaml"))),+]
    };
}

studies![
    "methodology/jct-1",
    "methodology/jct-2",
    "methodology/jct-3",
    "methodology/jct-4",
    "methodology/iso-1",
    "methodology/iso-2",
    "methodology/iso-3",
    "methodology/lb-1",
    "methodology/lb-2",
    "methodology/lb-3",
    "methodology/lb-4",
    "methodology/cc-1",
    "methodology/cc-2",
    "methodology/cc-3",
    "methodology/cc-4",
    "scheduled-fabric/test-1",
    "scheduled-fabric/test-3",
    "scheduled-fabric/test-5",
    "scheduled-fabric/test-7",
    "scheduled-fabric/test-12",
    "scheduled-fabric/test-14",
    "scheduled-fabric/test-16e",
    "scheduled-fabric/test-18",
    "scheduled-fabric/bundles",
    "scheduled-fabric/impairments",
    "scheduled-fabric/placement",
    "evolved-ethernet/walk-through",
    "evolved-ethernet/jobs",
    "evolved-ethernet/speed-up",
    "evolved-ethernet/degraded",
    "evolved-ethernet/sensitivity",
    "evolved-ethernet/summary",
    "evolved-ethernet/asynchronous-vs-synchronous",
    "evolved-ethernet/interference",
    "evolved-ethernet/polarisation",
    "remote-pfc/testbed",
    "bandwidth-steering/testbed",
    "bandwidth-steering/system",
    "bandwidth-steering/tapers",
    "bandwidth-steering/saturation",
    "bandwidth-steering/radix",
    "bandwidth-steering/reconfiguration",
    "training/activation-recompute",
    "training/h100-weak-scaling",
    "training/fsdp-slope",
    "training/expert-parallel-latency",
    "nccl/collectives",
    "ultra-ethernet/validation",
    "ultra-ethernet/packet-books",
    "ultra-ethernet/incast",
    "ultra-ethernet/permutation",
    "ultra-ethernet/receiver-credit",
    "ultra-ethernet/fabrics",
];

/// Tables with published values, which are never edited to fit.
static PUBLISHED: &[(&str, &str)] = tables![
    "published":
    "keysight-trials",
    "load-balancing-egress-qps",
    "isolation",
    "drivenets-ideal-ratio",
    "cisco-load-balancing",
    "remote-pfc",
    "bandwidth-steering",
    "training-a100-activation-recompute",
    "training-expert-parallel-latency",
    "training-fsdp-slope",
    "training-h100-weak-scaling",
    "uec-incast",
    "uec-validation",
    "nccl-measured"
];

/// Equipment files, at least one for each source.
static EQUIPMENT: &[(&str, &str)] = equipment![
    "a100-servers",
    "bandwidth-steering",
    "deepep",
    "evolved-ethernet",
    "h100-servers",
    "methodology",
    "methodology-late-testers",
    "nccl",
    "remote-pfc",
    "scheduled-fabric",
    "scheduled-fabric-jericho3",
    "scheduled-fabric-tomahawk5",
    "ultra-ethernet",
];

/// Tables with the project's own expectations.
static EXPECTATIONS: &[(&str, &str)] = tables![
    "expectations":
    "evolved-ethernet-jobs-fluid",
    "evolved-ethernet-degraded-fluid",
    "evolved-ethernet-sensitivity-fluid",
    "evolved-ethernet-summary",
    "scheduled-fabric-bundles",
    "scheduled-fabric-impairments-fluid",
    "remote-pfc-mappings",
    "remote-pfc-signals",
    "evolved-ethernet-speed-up-mean",
    "methodology-counters",
    "scheduled-fabric-pauses",
    "scheduled-fabric-placement-fluid",
    "asynchronous-vs-synchronous-fluid",
    "bandwidth-steering-expectations",
    "bandwidth-steering-saturation",
    "evolved-ethernet-interference",
    "evolved-ethernet-polarisation",
    "ultra-ethernet-permutation",
    "ultra-ethernet-packet-books",
    "ultra-ethernet-receiver-credit"
];

/// Returns an embedded study's `recorded.csv`.
pub(crate) fn recorded_table(name: &str) -> Option<&'static str> {
    let found = RECORDED.iter().find(|(study, _)| *study == name);
    found.map(|(_, text)| *text)
}

/// Returns an embedded table as text, published or expected, by its file name without `.csv`.
pub fn published_table(name: &str) -> Option<&'static str> {
    let mut tables = PUBLISHED.iter().chain(EXPECTATIONS);
    let found = tables.find(|(table, _)| *table == name);
    found.map(|(_, text)| *text)
}

/// Returns an embedded equipment file as text, by the path that scenarios use,
/// `../../equipment/NAME.yaml`.
pub fn equipment_text(path: &str) -> Option<&'static str> {
    let found = EQUIPMENT.iter().find(|(of, _)| *of == path);
    found.map(|(_, text)| *text)
}

/// Returns the origin of a table's rows. A table that is not embedded counts as published.
pub(crate) fn origin_of(table: &str) -> Origin {
    if EXPECTATIONS.iter().any(|(name, _)| *name == table) {
        Origin::Own
    } else {
        Origin::Published
    }
}

/// Returns the path of a table for messages: from the project root if the table is embedded, else
/// relative to the study's folder.
pub(crate) fn file_of(table: &str) -> String {
    if published_table(table).is_none() {
        return format!("{table}.csv");
    }
    let folder = match origin_of(table) {
        Origin::Own => "expectations",
        Origin::Published => "published",
    };
    format!("studies/{folder}/{table}.csv")
}

/// Selects embedded studies by name, by group (`methodology`), or all of them (`all`). Each study
/// appears once, at the first name that selects it.
///
/// # Errors
/// Fails at the first name that is no study, group or `all`.
pub fn select<N: AsRef<str>>(
    names: impl IntoIterator<Item = N>,
) -> Result<Vec<&'static StudyTexts<'static>>, UnknownStudy> {
    let mut selected: Vec<&StudyTexts<'_>> = Vec::new();
    for name in names {
        let given = name.as_ref();
        // Names within one group are distinct, so only studies selected by earlier names can
        // repeat.
        let before = selected.len();
        let mut known = false;
        for study in STUDIES.iter().filter(|study| is_meant(given, study.name)) {
            known = true;
            if !selected[..before].contains(&study) {
                selected.push(study);
            }
        }
        if !known {
            return Err(unknown(given));
        }
    }
    Ok(selected)
}

/// Returns true if `given` is the study's name, its group with or without a final `/`, or `all`.
fn is_meant(given: &str, name: &str) -> bool {
    let group = given.trim_end_matches('/');
    let in_group = name
        .strip_prefix(group)
        .is_some_and(|rest| rest.starts_with('/'));
    given == "all" || given == name || (!group.is_empty() && in_group)
}

fn unknown(given: &str) -> UnknownStudy {
    let known: Vec<&str> = STUDIES.iter().map(|study| study.name).collect();
    // A study is often called by the last part of its name.
    let last = |name: &&'static str| name.rsplit('/').next().unwrap_or(name);
    let by_last = || {
        let last_near = nearest(given, known.iter().map(last))?;
        known.iter().copied().find(|name| last(name) == last_near)
    };
    let closest = nearest(given, known.iter().copied()).or_else(by_last);
    UnknownStudy {
        given: given.to_owned(),
        closest,
        known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(given: &[&str]) -> Vec<&'static str> {
        let selected = select(given).expect("known names");
        selected.iter().map(|study| study.name).collect()
    }

    #[test]
    fn a_name_a_group_and_all() {
        assert_eq!(names(&["methodology/jct-2"]), ["methodology/jct-2"]);
        let all: Vec<&str> = STUDIES.iter().map(|study| study.name).collect();
        let group = all.iter().copied();
        let group: Vec<&str> = group
            .filter(|name| name.starts_with("methodology/"))
            .collect();
        assert!(group.len() >= 5);
        assert_eq!(names(&["methodology"]), group);
        assert_eq!(names(&["methodology/"]), group);
        assert_eq!(names(&["all"]), all);
    }

    #[test]
    fn each_study_once_and_in_the_order_asked_for() {
        let asked = names(&["methodology/jct-2", "methodology", "methodology/jct-2"]);
        let mut group = names(&["methodology"]);
        let at = group.iter().position(|name| *name == "methodology/jct-2");
        let first = group.remove(at.expect("one of the group"));
        group.insert(0, first);
        assert_eq!(asked, group);
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_and_the_list() {
        let closest = |given: &str| select([given]).expect_err("unknown").closest;
        assert_eq!(closest("methodology/jct2"), Some("methodology/jct-2"));
        assert_eq!(closest("jct-1"), Some("methodology/jct-1"));
        assert_eq!(closest("jct-2"), Some("methodology/jct-2"));
        assert_eq!(closest("x"), None);
        assert_eq!(closest(""), None);
        assert_eq!(closest("/"), None);
        let text = select(["jct-1"]).expect_err("unknown").to_string();
        assert!(text.contains("did you mean `methodology/jct-1`?"), "{text}");
        assert!(text.contains("methodology/: jct-1, jct-2"), "{text}");
    }
}
