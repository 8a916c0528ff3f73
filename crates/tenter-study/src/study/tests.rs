//! Made-up studies, judged against made-up trials.

use tenter_record::Notes;

use super::*;
use crate::{CaseAnswer, Gate, Measured, SweepTrial, Value, Verdict};

const SCENARIO: &str = "
fabric: {kind: single-switch, hosts: 2}
jobs: [{collectives: [{collective: all-to-all, size: 1KiB}]}]
";

const TABLE: &str = "case,size,time_ms,low,high,gate,reason\n\
                     a,1048576,1.5,1.4,1.6,required,r\n\
                     b,1048576,9,8,10,required,r\n\
                     a,2097152,3,2.9,3.1,open,r\n";

const SIZES: &str = "
title: two cases
source: nowhere
scenario: scenario.yaml
published: {table: made-up, rows: {case: a}, band: [low, high]}
judge: fitted
set: {a.sizes: [1MiB, 2MiB]}
quick: {set: {a.sizes: [1MiB]}, rows: {size: [1048576]}, judged: true}
variants:
  pure: {about: nothing fitted}
  fitted:
    about: one constant fitted
    endpoint.nic.message_gap: 35ns
    fitted_to: {endpoint.nic.message_gap: 1 MiB}
readings:
  - {case: '{size}B', each_row: true, value: time_ms, every_seed: true,
     query: 'max(collectives.completion_time_ns) / 1000000 where size_bytes = {size}'}
";

/// Three fabrics in two cases, of which one has a row.
const GRID: &str = "
title: a matrix
source: nowhere
scenario: scenario.yaml
published: {table: pairs, rows: {study: s}}
seeds: {runs: 3, quick_runs: 1, because: luck}
axes:
  case:
    idle: {label: nothing beside it}
    busy: {label: a load beside it, row: b, 'jobs[0].iterations': 2}
variants:
  ecmp: {about: ECMP}
  spray: {about: spray, fabric.load_balancing: random-spray}
  deep: {about: deep buffers, only: {case: [busy]}, quick: false}
readings:
  - {name: time, query: max(jobs.jct_ns), row: {case: '{case}', fabric: '{variant}', metric: time}}
  - {name: over-ecmp, query: max(jobs.jct_ns), against: ecmp, statistic: mean,
     at: {case: [busy]}}
";

const PAIRS: &str = "study,case,fabric,metric,published,band_low,band_high,gate,reason\n\
                     s,b,spray,time,10,9,11,required,r\n";

fn read(description: &str) -> Result<Study, StudyError> {
    let texts = StudyTexts {
        name: "made/up",
        folder: "studies/made/up",
        readme: "",
        description,
        scenario: SCENARIO,
    };
    let table = |name: &str| match name {
        "made-up" => Some(TABLE.to_owned()),
        "pairs" => Some(PAIRS.to_owned()),
        _ => None,
    };
    Study::read(&texts, &table, |_| None)
}

fn sweep(description: &str) -> Sweep {
    read(description)
        .unwrap_or_else(|error| panic!("{error}"))
        .sweep
}

/// Trials in which all readings are what `value` makes of the cell and the seed.
fn measured(sweep: &Sweep, value: impl Fn(&str, u64) -> f64) -> Vec<Measured> {
    let trials = sweep.trials().enumerate().map(|(nth, trial)| {
        let SweepTrial { variant, point, .. } = trial;
        let (_, cell) = sweep.cell(point, variant).expect("it is run");
        let seed = nth as u64 % 3;
        Measured {
            variant,
            point,
            seed,
            digest: format!("{nth}"),
            values: vec![Some(value(&cell.name, seed).into()); sweep.reads().len()],
            notes: Notes::default(),
            pauses: None,
        }
    });
    trials.collect()
}

fn shown(case: &CaseAnswer) -> (&str, &str, &str, Option<f64>, Gate, Verdict) {
    let measured = case.measured.as_ref().and_then(Value::number);
    let (name, metric, variant) = (&case.case, &case.metric, &case.variant);
    (name, metric, variant, measured, case.gate, case.verdict)
}

#[test]
fn a_reading_has_a_row_for_each_row_of_the_table() {
    let sweep = sweep(SIZES);
    let names: Vec<&str> = sweep
        .cells()
        .iter()
        .map(|cell| cell.name.as_str())
        .collect();
    assert_eq!(names, ["pure", "fitted"]);
    let fitted = &sweep.cells()[1];
    assert_eq!(
        fitted.settings,
        ["a.sizes=[1MiB, 2MiB]", "endpoint.nic.message_gap=35ns"]
    );
    assert_eq!(fitted.fitted[0].1, "1 MiB");
    let trials = measured(&sweep, |name, _| if name == "pure" { 1.0 } else { 1.55 });
    let answer = sweep.answer(&trials);
    let rows: Vec<_> = answer.cases.iter().map(shown).collect();
    let info = (Gate::Info, Verdict::Info);
    let row = |case, variant, value, (gate, verdict)| {
        (case, "time_ms", variant, Some(value), gate, verdict)
    };
    let expected = [
        row("1MiB", "pure", 1.0, info),
        row("1MiB", "fitted", 1.55, (Gate::Required, Verdict::Match)),
        row("2MiB", "pure", 1.0, info),
        row("2MiB", "fitted", 1.55, (Gate::Open, Verdict::Miss)),
    ];
    assert_eq!(rows, expected);
    assert_eq!(answer.cases[1].band, Some([1.4, 1.6]));
    assert_eq!(answer.cases[1].published, Some(Value::Number(1.5)));
    assert!(answer.holds());
    // What has not ended misses where it is judged.
    assert!(!sweep.answer(&[]).holds());
    let quick = sweep.clone().quick();
    assert_eq!(quick.answer(&trials).cases.len(), 2);
    assert_eq!(
        quick.cells()[0].settings.last().map(String::as_str),
        Some("a.sizes=[1MiB]")
    );
    assert_eq!(quick.answer(&trials).cases[1].verdict, Verdict::Match);
    let other = sweep.otherwise_set();
    assert_eq!(other.answer(&trials).cases[1].verdict, Verdict::NotJudged);
}

#[test]
fn variants_are_run_in_named_cases() {
    let mut sweep = sweep(GRID);
    let names: Vec<&str> = sweep
        .cells()
        .iter()
        .map(|cell| cell.name.as_str())
        .collect();
    let expected = [
        "ecmp-idle",
        "spray-idle",
        "ecmp-busy",
        "spray-busy",
        "deep-busy",
    ];
    assert_eq!(names, expected);
    // What a case sets comes before what a variant does.
    let settings = &sweep.cells()[3].settings;
    assert_eq!(
        settings,
        &["jobs[0].iterations=2", "fabric.load_balancing=random-spray"]
    );
    assert_eq!(sweep.cells()[3].about, "a load beside it, spray");
    let trials = measured(&sweep, |name, seed| match name {
        "spray-busy" => 10.0 + seed as f64,
        _ => 4.0,
    });
    let answer = sweep.answer(&trials);
    let of = |metric: &str, variant: &str| {
        let mut cases = answer.cases.iter();
        let found = cases.find(|of| of.metric == metric && of.variant == variant);
        found.map(|case| (case.measured.as_ref().and_then(Value::number), case.verdict))
    };
    assert_eq!(of("time", "spray-busy"), Some((Some(11.0), Verdict::Match)));
    assert_eq!(of("time", "ecmp-busy"), Some((Some(4.0), Verdict::Info)));
    assert_eq!(
        of("over-ecmp", "spray-busy"),
        Some((Some(2.75), Verdict::Info))
    );
    assert_eq!(
        (of("over-ecmp", "ecmp-busy"), of("over-ecmp", "spray-idle")),
        (None, None)
    );
    let case = answer
        .cases
        .iter()
        .find(|of| of.variant == "spray-busy")
        .expect("a row");
    let words = "median of 3 seeds: 3 values from 10 to 12";
    assert_eq!(case.statistic.as_deref(), Some(words));
    assert_eq!(case.bar.as_deref(), Some("spray"));
    // A quick run has one seed and leaves out what is not quick.
    assert_eq!((sweep.len(), sweep.clone().quick().len()), (15, 4));
    // Rows beside what is left out have no value that could miss.
    sweep
        .keep(&["spray-busy".to_owned()])
        .expect("it is a cell");
    let kept = sweep.answer(&trials);
    assert!(
        kept.cases
            .iter()
            .all(|of| of.variant == "spray-busy" && of.metric == "time")
    );
    assert_eq!(kept.left_out.len(), 4);
    assert!(sweep.keep(&["spray".to_owned()]).is_err());
}

#[test]
fn the_digest_tells_the_variants_apart() {
    let sweep = sweep(SIZES);
    let mut trials = measured(&sweep, |_, _| 1.0);
    let forward = sweep.answer(&trials).digest;
    assert_eq!(forward.len(), 32);
    trials.reverse();
    assert_eq!(sweep.answer(&trials).digest, forward);
    let (first, last) = (trials[0].digest.clone(), trials[1].digest.clone());
    (trials[0].digest, trials[1].digest) = (last, first);
    assert_ne!(sweep.answer(&trials).digest, forward);
}

/// What is changed of a description, into what, and what is said of it.
const WRONG: [(&str, &str); 2] = [
    (
        SIZES,
        "judge: fitted => judge: fit => choose from pure, fitted
         table: made-up => table: made-down => put it beside as `made-down.csv`
         value: time_ms => value: time => there is no column `time`
         = {size}' => = {bytes}' => names `bytes`
         fitted_to: {endpoint.nic => fitted_to: {endpoint => does not set",
    ),
    (
        GRID,
        "fabric: '{variant}' => fabric: ecmp => no reading is compared with this row
         only: {case => only: {cases => did you mean `case`?
         at: {case: [busy]} => at: {kase: [busy]} => the axis `kase`, which there is not
         runs: 3, => runs: 3, by: nobody, => `seeds.by` names the variant `nobody`
         runs: 3, => runs: 3, luck: 1, => unknown field `luck`
         against: ecmp => against: {ratio: ecmp} => unknown variant `ratio`
         query: max(jobs.jct_ns), against => of: accepted-gbps, against => window_us
         query: max(jobs.jct_ns), against => of: switches, leaf: a, against => `leaf`",
    ),
];

#[test]
fn what_does_not_go_together_is_refused_with_a_remedy() {
    for (text, changes) in WRONG {
        for change in changes.lines() {
            let parts: Vec<&str> = change.trim().split(" => ").collect();
            let [from, to, expected] = parts[..] else {
                panic!("{change}")
            };
            let changed = text.replace(from, to);
            assert_ne!(changed, text, "{from}");
            let error = read(&changed).expect_err(to).to_string();
            assert!(error.contains(expected), "{to}: {error}");
        }
    }
}
