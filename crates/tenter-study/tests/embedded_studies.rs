//! The studies of the program, run and judged.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use tenter_formats::Content;
use tenter_plan::Plan;
use tenter_record::MemorySink;
use tenter_scenario::{Format, Loaded, load_beside, written_paths};
use tenter_sim::{Interference, Options, interference_rows, interference_runs};
use tenter_study::{
    Against, CaseAnswer, Extent, Gate, Origin, STUDIES, Study, StudyAnswer, StudyTexts, Trial,
    Value, Verdict, equipment_text, select,
};
use tenter_testkit::cases;
use tenter_units::{Budget, Limits};

fn study(name: &str) -> Study {
    let texts = select([name]).expect("a study")[0];
    Study::embedded(texts).expect("it holds")
}

/// The equipment of the program, as scenarios open it.
fn equipment(path: &str) -> Result<Content<'static>, String> {
    let text = equipment_text(path).ok_or("there is no such equipment")?;
    Ok(text.as_bytes().into())
}

fn run(plan: &Plan) -> Trial {
    let mut sink = MemorySink::default();
    let outcome = tenter_sim::run(plan, Options::default(), &mut sink);
    let mut outcome = outcome.expect("it runs");
    if plan.baseline {
        let alone = |jobs: Vec<usize>| {
            let plan = plan.with_jobs(&jobs);
            let outcome = tenter_sim::run(&plan, Options::default(), &mut MemorySink::default());
            (jobs, outcome.expect("it runs").jobs)
        };
        let runs = interference_runs(plan, Interference::Alone).into_iter();
        let runs: Vec<_> = runs.map(alone).collect();
        outcome.summary.interference = interference_rows(&outcome.jobs, &runs);
    }
    Trial::new(plan, outcome, sink.flows)
}

fn quick(study: &Study) -> StudyAnswer {
    let trials = |variant| {
        let trials = study
            .trials(variant, Extent::Quick, Limits::NONE)
            .expect("it holds");
        let run = |trial: &Loaded| {
            assert!(trial.warnings.is_empty(), "{}", trial.warnings.render());
            // As the program does, which keeps no more than readings need.
            let mut trial = run(&trial.plan);
            if !study.needs_flows() {
                trial.flows = Vec::new();
            }
            study.thinned(trial)
        };
        trials.iter().map(run).collect()
    };
    let trials: Vec<Vec<Trial>> = study
        .variants
        .iter()
        .map(|variant| {
            if variant.left_out {
                Vec::new()
            } else {
                trials(variant)
            }
        })
        .collect();
    study.judge(Extent::Quick, &trials)
}

fn values<'a>(
    answer: &'a StudyAnswer,
    metric: &'a str,
    variant: &'a str,
) -> impl Iterator<Item = f64> {
    let rows = answer.cases.iter();
    let rows = rows.filter(move |row| row.metric == metric && row.variant == variant);
    // A deadlocked case has no value.
    rows.filter_map(|row| row.measured.as_ref().and_then(Value::number))
}

/// Leaves out the variants of a study that no required row is of or beside; of a study that is
/// shown and not judged its first variant stays.
fn keep_judged(study: &mut Study) {
    let untried = study.judge(Extent::Quick, &[]);
    let required = |row: &&CaseAnswer| row.gate == Gate::Required;
    let mut kept: BTreeSet<String> = untried
        .cases
        .iter()
        .filter(required)
        .map(|row| row.variant.clone())
        .collect();
    let beside = study
        .readings()
        .iter()
        .filter(|row| row.gate == Gate::Required)
        .filter_map(|row| row.against.as_ref());
    kept.extend(beside.flat_map(Against::variants).cloned());
    kept.extend(kept.is_empty().then(|| study.variants[0].name.clone()));
    let kept: Vec<String> = kept.into_iter().collect();
    study.keep_variants(&kept).expect("they are listed");
}

/// Its required rows match, and no share of the ideal is beyond it. Variants that are shown and not
/// judged are run by `make test-all`.
fn holds_in_its_quick_form(texts: &StudyTexts<'static>) {
    let mut study = Study::embedded(texts).expect("it holds");
    if !study.has(Extent::Quick) {
        // Too long for a test; at least all its scenarios hold.
        for variant in &study.variants {
            study
                .trials(variant, Extent::Full, Limits::NONE)
                .expect("it holds");
        }
        // What was not run is neither a match nor a miss.
        let answer = study.judge(Extent::Quick, &[]);
        assert!(answer.cases.is_empty() && answer.holds(), "{answer:?}");
        return;
    }
    if cases(0, 1) == 0 {
        keep_judged(&mut study);
    }
    let answer = quick(&study);
    for row in answer.cases.iter().filter(|row| row.gate == Gate::Required) {
        assert_ne!(row.verdict, Verdict::Miss, "{} {row:?}", study.name);
    }
    // A study of our own may be for information alone.
    let is_shown = answer.cases.iter().all(|row| row.gate == Gate::Info);
    let is_published = answer.cases.iter().any(|row| row.published.is_some());
    assert!(is_published || is_shown, "{}", study.name);
    assert!(answer.holds());
    for variant in &study.variants {
        for percent in values(&answer, "ideal_percent", &variant.name) {
            assert!(percent <= 100.0, "{} {percent}", study.name);
        }
    }
}

#[test]
fn every_study_holds_in_its_quick_form() {
    let next = AtomicUsize::new(0);
    let work = || {
        // The last ones take longest.
        while let Some(texts) = STUDIES
            .iter()
            .nth_back(next.fetch_add(1, Ordering::Relaxed))
        {
            holds_in_its_quick_form(texts);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(work);
        }
    });
}

/// With nothing fitted, a parallel all-to-all of 8 GiB on a fabric without oversubscription is at
/// least as near to the ideal as the published 98.7 %, and never beyond it.
#[test]
fn the_pure_all_to_all_is_near_the_ideal() {
    let study = study("methodology/jct-2");
    let pure = study.variant("pure").expect("it is listed");
    assert!(pure.calibrations.is_empty());
    let mut trials = study
        .trials(pure, Extent::Full, Limits::NONE)
        .expect("it holds");
    let plan = &mut trials[0].plan;
    let largest = plan.jobs[0].sequence.pop().expect("sizes");
    assert_eq!(largest.size_bytes, 8 << 30);
    plan.jobs[0].sequence = vec![largest];
    let percent = run(plan).summary.jobs[0].collectives[0].line_rate_percent;
    let percent = percent.expect("it has ended");
    assert!((98.7..=100.0).contains(&percent), "{percent}");
}

/// The ring's completion time in closed form: six steps, each the 0.56 ms that the tester waits and
/// a chunk of a quarter of the size.
///
/// At 16 MiB a chunk is 4 MiB = 32 messages = 1,024 packets. On the wire a packet has 4,178 bytes
/// and the first of a message 16 more: 1,024 · 83.56 ns + 32 · 0.32 ns + 31 gaps · 35 ns =
/// 86,660.68 ns. Between its packets the NIC sends 31 acknowledgements of 86 bytes on the wire, for
/// all messages from its other neighbour but the last: 31 · 1.72 ns = 53.32 ns. The last bit is at
/// the receiver 795.56 ns − 83.56 ns = 712 ns later, so a step takes 647,426 ns.
#[test]
fn the_calibrated_ring_is_its_closed_form() {
    let answer = quick(&study("methodology/jct-1"));
    let measured = values(&answer, "completion_time_ms", "calibrated").next();
    let expected = 6.0 * 0.647_426;
    let difference = measured.expect("16 MiB") - expected;
    assert!(difference.abs() < 1e-6, "{measured:?} {expected}");
}

/// A calibration is off outside its variant, and names the rows it is fitted to.
#[test]
fn calibrations_are_marked() {
    for texts in STUDIES {
        let study = Study::embedded(texts).expect("it holds");
        let effective = |variant| {
            let trials = study
                .trials(variant, Extent::Full, Limits::NONE)
                .expect("it holds");
            trials[0].effective.clone()
        };
        let pure = effective(&study.variants[0]);
        assert!(study.variants[0].calibrations.is_empty());
        for key in ["step_delay", "start_up", "message_gap"] {
            // A key that means nothing with the transport is not listed.
            let is_listed = pure.contains(&format!(" {key}: "));
            assert!(
                !is_listed || pure.contains(&format!("{key}: 0ns")),
                "{pure}"
            );
        }
        for variant in &study.variants {
            for fitted in &variant.calibrations {
                // The rows have sizes, ranks or times in their names.
                assert!(fitted.fitted_to.contains(char::is_numeric), "{fitted:?}");
            }
        }
    }
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
    let mut used = BTreeSet::new();
    for path in STUDIES.iter().filter_map(|study| named(study.scenario)) {
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
        } else if path.file_name().is_some_and(|name| name == "study.toml") {
            let study = folder.strip_prefix(root).expect("it is under the root");
            found.insert(study.to_owned());
        }
    }
}

/// NICs that are slower than their links pause their leaf first, and what stands in the leaves
/// makes spines pause them later: here in a fabric of 16 NICs with little memory.
#[test]
fn pauses_are_read_in_their_order() {
    let texts = select(["scheduled-fabric/test-5"]).expect("a study")[0];
    let study = Study::embedded(texts).expect("it holds");
    let changes = [
        "fabric.leaves=4",
        "fabric.hosts_per_leaf=4",
        "fabric.spines=1",
        "fabric.links_per_pair=2",
        "fabric.switch.buffer.size=16MB",
        "jobs[0].ranks=16",
        "jobs[0].collectives[0].sizes=[32MiB]",
    ];
    let changes = changes.map(str::to_owned);
    let (text, format) = (texts.scenario, Format::Yaml);
    let loaded = load_beside(
        text,
        "scenario.yaml",
        format,
        &changes,
        None,
        &equipment,
        &Budget::unlimited(),
    );
    let trial = run(&loaded.expect("it holds").plan);
    let mut trials = vec![Vec::new(); study.variants.len()];
    trials[0].push(trial);
    let answer = study.judge(Extent::Full, &trials);
    let value = |metric: &str| values(&answer, metric, "pure").next().expect(metric);
    let after = value("first-pause-by-a-spine-after-the-first-by-a-nic-ns");
    assert!(after > 1_000.0, "{after}");
    // A NIC takes 229.4 of 400 Gb/s; pauses begin when its buffer is full and end before the job.
    let share = value("xoff-percent-of-a-port-to-a-nic");
    assert!((25.0..43.0).contains(&share), "{share}");
    let mean = value("flow-ideal-ratio-mean");
    assert!(
        mean > 1.0 && mean <= value("flow-ideal-ratio-p100"),
        "{mean}"
    );
}

/// A quick form with other settings is another experiment than the published one.
#[test]
fn published_values_are_not_judged_by_other_settings() {
    let testbed = study("remote-pfc/testbed");
    assert!(!testbed.quick_set.is_empty());
    let mut own = 0;
    for row in testbed.readings() {
        match (row.origin, row.gate) {
            (_, Gate::Info) => {}
            (Origin::Published, _) => assert_eq!(row.quick_judged, Some(false), "{}", row.metric),
            (Origin::Own, _) => own += u32::from(row.quick_judged.is_none()),
        }
    }
    assert!(own > 0);
}
