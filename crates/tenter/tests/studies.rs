//! What the studies of the program are made of.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tenter::resolve::{Format, written_paths};
use tenter::studies::{Gate, Origin, STUDIES, Study, equipment_text, select};
use tenter_formats::Content;
use tenter_language::units::Budget;

/// The equipment of the program, as scenarios open it.
fn equipment(path: &str) -> Result<Content<'static>, String> {
    let text = equipment_text(path).ok_or("there is no such equipment")?;
    Ok(text.as_bytes().into())
}

/// Of these no source has the equipment.
const WITHOUT_EQUIPMENT: [&str; 2] = [
    // Each of its fabrics has switches and NICs of its own, as named variants.
    "ultra-ethernet/fabrics",
    // Hashes alone, on switches with their defaults.
    "evolved-ethernet/polarisation",
];

/// The studies of a source inherit its switches and NICs; that they set nothing of these
/// themselves is checked when they are read.
#[test]
fn every_study_inherits_its_equipment() {
    for texts in STUDIES {
        let written = written_paths(
            texts.scenario,
            texts.name,
            Format::Yaml,
            &equipment,
            &Budget::unlimited(),
        );
        let written = written.unwrap_or_else(|problems| panic!("{problems}"));
        let inherits = !written.of_equipment.is_empty();
        let expected = !WITHOUT_EQUIPMENT.contains(&texts.name);
        assert_eq!(inherits, expected, "{}", texts.name);
    }
}

#[test]
fn every_equipment_is_listed_and_used() {
    let named = |text: &'static str| {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix("equipment: "))
    };
    // Variants may name another one.
    let of_variants = STUDIES.iter().flat_map(|study| {
        let lines = study.description.lines();
        lines.filter_map(|line| line.trim_start().strip_prefix("equipment: "))
    });
    // `fitted_to` has the key as well, with a reason in place of a path.
    let of_variants = of_variants.filter(|path| path.starts_with("../"));
    let of_scenarios = STUDIES.iter().filter_map(|study| named(study.scenario));
    let mut used = BTreeSet::new();
    for path in of_scenarios.chain(of_variants) {
        used.insert(path.to_owned());
        let begins_with = equipment_text(path).and_then(named);
        used.extend(begins_with.map(|name| format!("../../equipment/{name}")));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/equipment");
    let files = fs::read_dir(folder).expect("the folder of equipment");
    let path = |name: &str| format!("../../equipment/{name}");
    let names = files.map(|file| file.expect("a file").file_name().into_string());
    let names = names.map(|name| name.expect("a plain name"));
    let found: BTreeSet<String> = names
        .filter(|name| name != "README.md")
        .map(|name| path(&name))
        .collect();
    assert_eq!(found, used);
    for path in &found {
        assert!(equipment_text(path).is_some(), "add {path} to registry.rs");
    }
}

#[test]
fn every_folder_with_a_study_is_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let mut found = BTreeSet::new();
    collect(&root, &root, &mut found);
    let listed: BTreeSet<PathBuf> = STUDIES.iter().map(|study| study.name.into()).collect();
    assert_eq!(found, listed);
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of studies") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, found);
        } else if path.file_name().is_some_and(|name| name == "study.yaml") {
            let study = folder.strip_prefix(root).expect("it is under the root");
            found.insert(study.to_owned());
        }
    }
}

/// A quick form with other settings is another experiment than the published one.
#[test]
fn published_values_are_not_judged_by_other_settings() {
    let texts = select(["remote-pfc/testbed"]).expect("a study")[0];
    let testbed = Study::embedded(texts).expect("it holds").sweep;
    let mut own = 0;
    for row in testbed.rows() {
        match (row.origin, row.gate) {
            (_, Gate::Info) => {}
            (Origin::Published, _) => assert!(!row.quick_judged, "{}", row.metric),
            (Origin::Own, _) => own += u32::from(row.quick_judged),
        }
    }
    assert!(own > 0);
}
