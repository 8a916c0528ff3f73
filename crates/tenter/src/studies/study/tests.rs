//! Made-up studies, judged against made-up trials.

use tenter_results::Notes;

use super::*;
use crate::studies::{CaseAnswer, Gate, Measured, SweepTrial, Value, Verdict};

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
        "made-up" => Ok(Some(TABLE.to_owned())),
        "pairs" => Ok(Some(PAIRS.to_owned())),
        _ => Ok(None),
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

/// Says what each row judges, and its gate.
fn judged_cells(sweep: &Sweep) -> Vec<(Option<&str>, Gate)> {
    let name = |cell: usize| sweep.cells()[cell].name.as_str();
    let rows = sweep.rows().iter();
    rows.map(|row| (row.judged.map(name), row.gate)).collect()
}

#[test]
fn the_value_of_the_study_stands_for_that_of_a_reading() {
    let text = SIZES
        .replace("rows: {case: a}", "rows: {case: a}, value: time_ms")
        .replace("value: time_ms, every_seed", "every_seed");
    let of_study = sweep(&text);
    assert_eq!(of_study.rows(), sweep(SIZES).rows());
    assert_eq!(judged_cells(&of_study)[0], (Some("fitted"), Gate::Required));
}

#[test]
fn a_reading_of_each_cell_judges_the_variant_that_it_names() {
    let with = |judge: &str| {
        GRID.replace(
            "metric: time}}",
            &format!("metric: time}}, judge: {judge}}}"),
        )
    };
    let spray = sweep(&with("spray"));
    let judged = judged_cells(&spray);
    let of_time = judged.iter().take(5).map(|(cell, _)| *cell);
    let expected = [None, Some("spray-idle"), None, Some("spray-busy"), None];
    assert_eq!(of_time.collect::<Vec<_>>(), expected);
    let nothing = sweep(&with("none"));
    let mut of_time = judged_cells(&nothing).into_iter().take(5);
    assert!(of_time.all(|of| of == (None, Gate::Info)));
}

#[test]
fn a_row_of_the_table_judges_the_named_variant_at_its_point() {
    let text = "
title: rows
source: nowhere
scenario: scenario.yaml
published: {table: made-up, band: [low, high], value: time_ms}
design: rows
judge: second
axes: {'case,size': {'a,1048576': {}, 'b,1048576': {}, 'a,2097152': {}}}
variants: {first: {}, second: {'jobs[0].iterations': 2}}
readings: [{case: '{case}', each_row: true, query: max(jobs.jct_ns)}]
";
    let of_rows = sweep(text);
    let judged = judged_cells(&of_rows);
    let names: Vec<_> = judged.iter().filter_map(|(cell, _)| *cell).collect();
    assert_eq!(
        names,
        ["second-a-1048576", "second-b-1048576", "second-a-2097152"]
    );
    assert!(of_rows.rows().iter().all(|row| row.shown.len() == 2));
}

#[test]
fn a_single_row_is_of_one_cell() {
    let text = "
scenario: s.yaml
variants: {a: {}}
axes: {x.y: [1, 2]}
readings: [{case: all, name: time, judge: a, query: max(jobs.jct_ns), band: [1, 2]}]
";
    let error = Sweep::read(text, "sweep.yaml", Format::Yaml).expect_err("two cells");
    assert!(error.to_string().contains("is run at 2 points"), "{error}");
}

#[test]
fn a_single_row_has_the_band_of_its_reading() {
    let text = "
scenario: s.yaml
variants: {a: {}, b: {}}
judge: b
readings: [{case: all, name: time, query: max(jobs.jct_ns), band: [1, 2]}]
";
    let sweep =
        Sweep::read(text, "sweep.yaml", Format::Yaml).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(judged_cells(&sweep), [(Some("b"), Gate::Required)]);
    assert_eq!(sweep.rows()[0].band, Some([1.0, 2.0]));
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
         fitted_to: {endpoint.nic => fitted_to: {endpoint => does not set
         judge: fitted => judge: '' => is of 2 cells, and none is judged
         band: [low, high] => band: [low, high, top] => has not two columns
         band: [low, high] => band: [low, low2] => there is no column `low2`
         {about: nothing fitted} => {row: p} => `row` of `pure` means nothing
         value: time_ms, => value: time_ms, band: [1, 2], => leave `band` out, or name two columns
         value: time_ms, => value: time_ms, tables: [made-up], => leave `tables` out
         value: time_ms, => value: published, => there is no column `published`
         value: time_ms, =>  => there is no column `published`
         value: time_ms, => value: time_ms, at: {a.sizes: [1]}, => name the variants in `shown`
         value: time_ms, => value: time_ms, variants: [pure], => name the variants in `shown`
         value: time_ms, => value: time_ms, published: [{value: 1}], => `published` belongs to
         value: time_ms, => value: time_ms, completed: true, pooled: true, => `completed` belongs",
    ),
    (
        GRID,
        "fabric: '{variant}' => fabric: ecmp => no reading is compared with this row
         only: {case => only: {cases => did you mean `case`?
         only: {case: [busy] => only: {case: [bussy] => did you mean `busy`?
         a load beside it, row: b => a load beside it, only: {}, row: b => write it at the variants
         against: ecmp => against: {mean_ratio: []} => it has no pairs
         against: ecmp => against: ecmp, judge: ecpm => did you mean `ecmp`?
         against: ecmp => against: ecmp, shown: [ecmp] => name the variants in `variants`
         against: ecmp => against: ecmp, bar: x => variants are the bars
         against: ecmp => against: ecmp, judge: ecmp => has no row for `ecmp`, which it judges
         at: {case: [busy]} => at: {case: [bussy]} => is at `case: bussy`, which no point has
         against: ecmp => against: ecmp, value: x => belong to a reading with `row`
         seeds: {runs => judge: ecmp¶seeds: {runs => name the variant in `judge` of a reading
         ecmp: {about: ECMP} => none: {about: ECMP} => a variant is called `none`
         only: {case: [busy]} => only: {case: []} => so the variant would never run
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
            let changed = text.replace(from, &to.replace('¶', "\n"));
            assert_ne!(changed, text, "{from}");
            let error = read(&changed).expect_err(to).to_string();
            assert!(error.contains(expected), "{to}: {error}");
        }
    }
}

/// Returns the blocks of a page that are marked `language`.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let begin = format!("```{language}\n");
    let blocks = page.split(&*begin).skip(1);
    blocks
        .filter_map(|rest| Some(rest.split_once("\n```")?.0))
        .collect()
}

#[test]
fn descriptions_that_pages_show_are_read() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for name in ["studies.md", "sweeps.md"] {
        let page = std::fs::read_to_string(docs.join(name)).expect("a page");
        let tables = blocks(&page, "csv");
        let table = |_: &str| Ok(tables.first().map(|table| (*table).to_owned()));
        let shown = blocks(&page, "yaml");
        assert!(!shown.is_empty(), "{name}");
        for text in shown {
            let read = Sweep::read_beside(text, name, Format::Yaml, &table);
            read.unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
