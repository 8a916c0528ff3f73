//! The studies of the program, run and judged.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tenter::studies::{CaseAnswer, Gate, STUDIES, StudyTexts, Sweep, Value, Verdict};
use tenter::{StudyAnswer, StudyRun, SweepRun};
use tenter_testkit::cases;

/// The digests of all quick forms, as they were recorded last.
const QUICK_DIGESTS: &str = include_str!("../../../studies/quick-digests.csv");

fn study(name: &str) -> StudyRun {
    StudyRun::of_name(name).expect("it holds")
}

fn run(run: &SweepRun) -> StudyAnswer {
    let results = run.clone().workers(1).run().expect("it runs");
    assert!(results.failures.is_empty(), "{:?}", results.failures);
    results.answer
}

fn quick(study: StudyRun) -> StudyAnswer {
    run(&part(study, Sweep::quick).run(None))
}

/// A study of a part of its sweep.
fn part(mut study: StudyRun, part: impl FnOnce(Sweep) -> Sweep) -> StudyRun {
    study.study.sweep = part(study.study.sweep);
    study
}

/// The variant without fitted constants alone.
fn pure(mut sweep: Sweep) -> Sweep {
    sweep.keep(&["pure".to_owned()]).expect("it is listed");
    sweep
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
fn keep_judged(mut sweep: Sweep) -> Sweep {
    let mut kept = BTreeSet::new();
    let required = sweep.rows().iter().filter(|row| row.gate == Gate::Required);
    for row in required {
        kept.extend(row.judged.iter().chain(row.others()).copied());
    }
    kept.extend(kept.is_empty().then_some(0));
    let names = kept
        .iter()
        .map(|place: &usize| sweep.cells()[*place].name.clone());
    let names: Vec<String> = names.collect();
    sweep.keep(&names).expect("they are listed");
    sweep
}

/// Its required rows match, and no share of the ideal is beyond it. Variants that are shown and not
/// judged are run by `make test-all`.
fn holds_in_its_quick_form(texts: &StudyTexts<'static>) {
    let study = StudyRun::embedded(texts).expect("it holds");
    if !study.study.sweep.has_quick() {
        // Too long for a test; at least its scenario holds.
        assert!(!study.run(None).first_plans().expect("it holds").is_empty());
        // What was not run is neither a match nor a miss.
        let answer = study.study.sweep.quick().answer(&[]);
        assert!(answer.cases.is_empty() && answer.holds(), "{answer:?}");
        return;
    }
    let answer = quick(match cases(0, 1) {
        0 => part(study, keep_judged),
        _ => study,
    });
    let name = texts.name;
    for row in answer.cases.iter().filter(|row| row.gate == Gate::Required) {
        assert_ne!(row.verdict, Verdict::Miss, "{name} {row:?}");
    }
    if cases(0, 1) != 0 {
        let mut lines = QUICK_DIGESTS.lines();
        let recorded = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(','));
        assert_eq!(recorded, Some(answer.digest.as_str()), "{name}");
    }
    // A study of our own may be for information alone.
    let is_shown = answer.cases.iter().all(|row| row.gate == Gate::Info);
    let is_published = answer.cases.iter().any(|row| row.published.is_some());
    assert!(is_published || is_shown, "{name}");
    assert!(answer.holds());
    let is_percent = |row: &&CaseAnswer| row.metric == "ideal_percent";
    for row in answer.cases.iter().filter(is_percent) {
        let percent = row.measured.as_ref().and_then(Value::number);
        assert!(
            percent.is_none_or(|percent| percent <= 100.0),
            "{name} {row:?}"
        );
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
    let pure = part(study("methodology/jct-2"), pure);
    assert!(pure.study.sweep.cells()[0].fitted.is_empty());
    let answer = run(&pure.run(None));
    let percent = values(&answer, "ideal_percent", "pure").last();
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
    let answer = quick(study("methodology/jct-1"));
    let measured = values(&answer, "completion_time_ms", "calibrated").next();
    let expected = 6.0 * 0.647_426;
    let difference = measured.expect("16 MiB") - expected;
    assert!(difference.abs() < 1e-6, "{measured:?} {expected}");
}

/// A calibration is off outside its variant, and names the rows it is fitted to.
#[test]
fn calibrations_are_marked() {
    for texts in STUDIES {
        let study = StudyRun::embedded(texts).expect("it holds");
        let cells = study.study.sweep.cells();
        assert!(cells[0].fitted.is_empty());
        let plans = study.run(None).first_plans().expect("it holds");
        let pure = plans[0].to_yaml();
        for key in ["step_delay", "start_up", "message_gap"] {
            // A key that means nothing with the transport is not listed.
            let is_listed = pure.contains(&format!(" {key}: "));
            assert!(
                !is_listed || pure.contains(&format!("{key}: 0ns")),
                "{pure}"
            );
        }
        for (set, rows) in cells.iter().flat_map(|cell| &cell.fitted) {
            // The rows have sizes, ranks or times in their names.
            assert!(rows.contains(char::is_numeric), "{set}: {rows}");
        }
    }
}

/// NICs that are slower than their links pause their leaf first, and what stands in the leaves
/// makes spines pause them later: here in a fabric of 16 NICs with little memory.
#[test]
fn pauses_are_read_in_their_order() {
    let small = part(study("scheduled-fabric/test-5"), pure);
    let changes = [
        "fabric.leaves=4",
        "fabric.hosts_per_leaf=4",
        "fabric.spines=1",
        "fabric.links_per_pair=2",
        "fabric.switch.buffer.size=16MB",
        "jobs[0].ranks=16",
        "jobs[0].collectives[0].sizes=[32MiB]",
    ];
    let small = changes
        .into_iter()
        .fold(small.run(None), SweepRun::with_setting);
    let answer = run(&small);
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
