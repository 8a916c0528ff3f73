//! A study made up of two cases, judged against made-up trials.

use tenter_record::{CollectiveRow, EngineStats, FlowRow, JobSummary, Summary};
use tenter_units::Time;

use super::*;
use crate::answer::Verdict;
use crate::gate::Gate;
use crate::made_up::DESCRIPTION;
use crate::sizes::Metric;
use crate::value::Value;

const SCENARIO: &str = "
fabric: {kind: single-switch, hosts: 2}
jobs: [{collectives: [{collective: all-to-all, size: 1KiB}]}]
";

const TABLE: &str = "case,size,completion_time_ms,ideal_percent,low,high,gate,reason\n\
                     a,1048576,1.5,90,1.4,1.6,required,r\n\
                     a,2097152,3,,2.9,3.1,open,r\n";

fn texts<'a>(description: &'a str, scenario: &'a str) -> StudyTexts<'a> {
    StudyTexts {
        name: "made/up",
        folder: "studies/made/up",
        readme: "",
        description,
        scenario,
    }
}

fn read(description: &str) -> Result<Study, StudyError> {
    Study::read(&texts(description, SCENARIO), |_| Some(TABLE), |_| None)
}

fn study() -> Study {
    read(DESCRIPTION).expect("a good study")
}

fn trial(times_us: &[(u64, u64)], digest: &str) -> Vec<Trial> {
    let row = |&(mib, us): &(u64, u64)| CollectiveRow {
        size_bytes: mib << 20,
        completion_time: Some(Time::from_us(us)),
        line_rate_percent: Some(91.5),
        complete: true,
        ..CollectiveRow::default()
    };
    let summary = Summary {
        jobs: vec![JobSummary {
            collectives: times_us.iter().map(row).collect(),
            ..JobSummary::default()
        }],
        engine: EngineStats {
            digest: digest.to_owned(),
            ..EngineStats::default()
        },
        ..Summary::default()
    };
    vec![Trial {
        summary,
        ..Trial::default()
    }]
}

#[test]
fn only_the_judged_variant_and_metric_are_judged() {
    let trials = [
        trial(&[(1, 1_000), (2, 2_000)], "aa"),
        trial(&[(1, 1_550), (2, 3_200)], "bb"),
    ];
    let answer = study().judge(Extent::Full, &trials);
    let rows: Vec<_> = answer
        .cases
        .iter()
        .map(|row| {
            let name = (row.case.as_str(), row.metric.as_str(), row.variant.as_str());
            let number = |value: &Option<Value>| value.as_ref().and_then(Value::number);
            let (published, measured) = (number(&row.published), number(&row.measured));
            (name, published, measured, row.gate, row.verdict)
        })
        .collect();
    let (time, ideal) = ("completion_time_ms", "ideal_percent");
    let info = (Gate::Info, Verdict::Info);
    let row = |case, metric, variant, published, measured, (gate, verdict)| {
        (
            (case, metric, variant),
            published,
            Some(measured),
            gate,
            verdict,
        )
    };
    let expected = [
        row("1MiB", time, "pure", Some(1.5), 1.0, info),
        row(
            "1MiB",
            time,
            "fitted",
            Some(1.5),
            1.55,
            (Gate::Required, Verdict::Match),
        ),
        row("2MiB", time, "pure", Some(3.0), 2.0, info),
        row(
            "2MiB",
            time,
            "fitted",
            Some(3.0),
            3.2,
            (Gate::Open, Verdict::Miss),
        ),
        row("1MiB", ideal, "pure", Some(90.0), 91.5, info),
        row("1MiB", ideal, "fitted", Some(90.0), 91.5, info),
        row("2MiB", ideal, "pure", None, 91.5, info),
        row("2MiB", ideal, "fitted", None, 91.5, info),
    ];
    assert_eq!(rows, expected);
    assert_eq!(answer.cases[0].band, None);
    assert_eq!(answer.cases[1].band, Some([1.4, 1.6]));
    assert!(answer.holds());
}

#[test]
fn what_did_not_finish_is_a_miss() {
    let mut unfinished = trial(&[(1, 1_500)], "bb");
    unfinished[0].summary.jobs[0].collectives[0].complete = false;
    let answer = study().judge(Extent::Quick, &[trial(&[(1, 1_500)], "aa"), unfinished]);
    assert_eq!(answer.cases[1].measured, None);
    assert_eq!(answer.cases[1].verdict, Verdict::Miss);
    assert!(!answer.holds());
    assert!(!study().judge(Extent::Quick, &[]).holds());
}

#[test]
fn the_digest_tells_the_variants_apart() {
    let (a, b) = (trial(&[], "aa"), trial(&[], "bb"));
    let digest = |trials: &[Vec<Trial>]| study().judge(Extent::Full, trials).digest;
    let forward = digest(&[a.clone(), b.clone()]);
    assert_eq!(forward.len(), 32);
    assert_eq!(forward, digest(&[a.clone(), b.clone()]));
    assert_ne!(forward, digest(&[b, a]));
}

#[test]
fn a_trial_has_the_cases_and_its_calibrations_alone() {
    let study = study();
    let sizes = |variant: &str, extent| {
        let variant = study.variant(variant).expect("it is listed");
        let plan = &study
            .trials(variant, extent, Limits::NONE)
            .expect("a good trial")[0]
            .plan;
        let runs = plan.jobs[0].sequence.iter();
        let sizes: Vec<u64> = runs.map(|run| run.size_bytes >> 10).collect();
        (sizes, plan.nic.message_gap)
    };
    let gap = Time::from_ns(35);
    assert_eq!(
        sizes("pure", Extent::Full),
        (vec![1_024, 2_048], Time::ZERO)
    );
    assert_eq!(sizes("fitted", Extent::Quick), (vec![1_024], gap));
}

#[test]
fn a_metric_is_a_column_of_the_trial() {
    let row = CollectiveRow {
        fct_p50: Some(Time::from_ps(87_394_160)),
        flows: 56,
        ..CollectiveRow::default()
    };
    let value = |name: &str| Metric::find(name).map(|metric| metric.measured(&row));
    assert_eq!(value("fct_p50_ms"), Some(Some(0.087_394_16)));
    assert_eq!(value("fct_p50_ns"), Some(Some(87_394.16)));
    assert_eq!(value("flows"), Some(Some(56.0)));
    assert_eq!(value("fct_p99_ms"), Some(None));
    assert_eq!(value("collective"), Some(None));
    assert!(value("beauty").is_none());
}

#[test]
fn broken_descriptions_are_refused() {
    let broken = |from: &str, to: &str| {
        assert!(DESCRIPTION.contains(from), "{from}");
        let error = read(&DESCRIPTION.replacen(from, to, 1));
        error.expect_err("a broken description").to_string()
    };
    let wrong = broken("title = ", "tite = ");
    assert!(wrong.contains("unknown field `tite`"), "{wrong}");
    assert!(broken(r#"variant = "fitted""#, r#"variant = "x""#).contains("`x` is not listed"));
    assert!(broken(r#"metric = "c"#, r#"metric = "x"#).contains("is not listed"));
    assert!(broken(r#"name = "fitted""#, r#"name = "pure""#).contains("two variants"));
    assert!(broken(r#"name = "pure""#, r#"name = "../pure""#).contains("lower-case"));
    assert!(broken(r#""ideal_percent""#, r#""beauty""#).contains("no column for `beauty`"));
    assert!(broken(r#""1MiB""#, r#""1""#).contains("quick_size_max"));
}

#[test]
fn a_scenario_that_does_not_fit_is_refused() {
    let refused = |scenario: &str| {
        let study = Study::read(&texts(DESCRIPTION, scenario), |_| Some(TABLE), |_| None);
        let study = study.expect("the scenario is not read yet");
        let error = study.trials(&study.variants[0], Extent::Full, Limits::NONE);
        error.expect_err("a broken scenario").to_string()
    };
    let two = SCENARIO.replace("collectives:", "iterations: 2, collectives:");
    assert!(refused(&two).contains("one job with one iteration"));
    let unknown = refused(&SCENARIO.replace("hosts", "hots"));
    assert!(unknown.starts_with("studies/made/up/scenario.yaml, variant `pure`"));
    assert!(unknown.contains("hots"), "{unknown}");
    let missing = Study::read(&texts(DESCRIPTION, SCENARIO), |_| None, |_| None);
    let message = missing.expect_err("no table").to_string();
    assert!(message.contains("there is no table `made-up`"), "{message}");
}

/// Two fabrics in two cases, of which one is not published, and a ratio of two variants.
const MATRIX: &str = r#"
title = "fabrics"
source = "nowhere"
published = { table = "made-up", rows = { study = "s" } }
seeds = { looked_at = 2, runs = 2, quick_runs = 2, because = "each other" }

[matrix]
tables = ["made-up"]
metrics = [{ metric = "m", reading = "worst_job_over_ideal", statistic = "mean" }]
cases = [
    { name = "1", label = "1 job", row = "1-job", set = ["seed=1"], quick = false },
    { name = "2", label = "2 jobs" },
]
fabrics = [
    { name = "a", label = "A", about = "fabric A", set = ["name=x"] },
    { name = "b", label = "B", about = "fabric B", cases = ["2"] },
]

[[readings]]
row = { case = "2", fabric = "a-over-b" }
case = "2 jobs"
bar = "A over B"
reading = "worst_job_over_ideal"
against = { ratio_to = "b-2" }
statistic = "mean"
variant = "a-2"
shown = ["a-2"]
"#;

const MATRIX_TABLE: &str = "study,case,fabric,metric,published,band_low,band_high,gate,reason\n\
                            s,1-job,a,m,2,1,3,required,r\n\
                            s,2,b,m,1,1,1.2,open,r\n\
                            s,2,a-over-b,n,2,1.9,2.1,required,r\n";

/// Trials with the seeds 1 and 2 in which a job has these shares of the ideal, in percent.
fn shares(percents: [f64; 2]) -> Vec<Trial> {
    let trial = |(seed, percent)| {
        let mut trial = trial(&[(1, 1_000)], "aa").remove(0);
        trial.seed = seed;
        trial.summary.jobs[0].collectives[0].line_rate_percent = Some(percent);
        trial
    };
    [1, 2].into_iter().zip(percents).map(trial).collect()
}

#[test]
fn a_matrix_has_a_variant_and_a_row_for_each_pair() {
    let study = Study::read(&texts(MATRIX, SCENARIO), |_| Some(MATRIX_TABLE), |_| None);
    let study = study.expect("a good study");
    let names: Vec<&str> = study.variants.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(names, ["a-1", "a-2", "b-2"]);
    assert_eq!(study.variants[0].set, ["seed=1", "name=x"]);
    assert_eq!(study.variants[0].about, "1 job, fabric A");
    // A: 2 and 4 times the ideal, B: 1 and 2 times.
    let (a, b) = (shares([50.0, 25.0]), shares([100.0, 50.0]));
    let answer = study.judge(Extent::Full, &[a.clone(), a.clone(), b.clone()]);
    let rows = answer.cases.iter().map(|row| {
        let bar = row.bar.as_deref().expect("all have one");
        let number = row.measured.as_ref().and_then(Value::number);
        (row.case.as_str(), bar, number, row.verdict)
    });
    let rows: Vec<_> = rows.collect();
    let expected = [
        ("1 job", "A", Some(3.0), Verdict::Match),
        ("2 jobs", "A", Some(3.0), Verdict::Info),
        ("2 jobs", "B", Some(1.5), Verdict::Miss),
        ("2 jobs", "A over B", Some(2.0), Verdict::Match),
    ];
    assert_eq!(rows, expected);
    let spread = answer.cases[0].spread.expect("two seeds");
    assert_eq!(
        (spread.values, spread.least, spread.greatest),
        (2, 2.0, 4.0)
    );
    let spread = answer.cases[3].spread.expect("two seeds");
    assert_eq!(
        (spread.values, spread.least, spread.greatest),
        (2, 2.0, 2.0)
    );
    // A quick run leaves the first case out, and nothing of it misses.
    let quick = study.judge(Extent::Quick, &[Vec::new(), a, b]);
    assert_eq!(quick.cases.len(), 3);
    assert!(quick.holds() && quick.quick);
}

#[test]
fn what_is_not_there_cannot_be_compared_with() {
    let (a, b) = (shares([50.0, 25.0]), shares([100.0, 50.0]));
    let study = Study::read(&texts(MATRIX, SCENARIO), |_| Some(MATRIX_TABLE), |_| None);
    let study = study.expect("a good study");
    // Only the second seed has a trial of both.
    let answer = study.judge(Extent::Full, &[a.clone(), a, b[1..].to_vec()]);
    let ratio = &answer.cases[3];
    assert_eq!(ratio.measured, Some(Value::Number(2.0)));
    assert_eq!(ratio.spread.expect("two seeds").values, 1);
}

#[test]
fn a_broken_matrix_is_refused() {
    let broken = |from: &str, to: &str| {
        assert!(MATRIX.contains(from), "{from}");
        let text = MATRIX.replacen(from, to, 1);
        let study = Study::read(&texts(&text, SCENARIO), |_| Some(MATRIX_TABLE), |_| None);
        study.expect_err("a broken matrix").to_string()
    };
    // A misspelt name would leave a published row without a reading.
    let unread = broken(r#"row = "1-job""#, r#"row = "1-jobs""#);
    assert!(
        unread.contains("line 2: no reading is compared"),
        "{unread}"
    );
    assert!(broken(r#"cases = ["2"]"#, r#"cases = ["3"]"#).contains("the case `3`"));
    let unknown = broken(r#""mean" }]"#, r#""mean", fabrics = ["c"] }]"#);
    assert!(unknown.contains("the fabric `c`"), "{unknown}");
    assert!(broken(r#"ratio_to = "b-2""#, r#"ratio_to = "b-1""#).contains("`b-1` is not listed"));
    assert!(broken(r#""a-over-b""#, r#""a-under-b""#).contains("not exactly one row"));
}

#[test]
fn values_stand_against_those_of_others() {
    let name = || "x".to_owned();
    let of =
        |against: &Against, value: f64, others: &[f64]| Value::Number(against.of(value, others));
    let [no, yes] = [0.0, 1.0].map(Value::Number);
    let at_most = Against::AtMost(name());
    assert_eq!(of(&at_most, 1.0, &[1.0]), yes);
    assert_eq!(of(&at_most, 1.1, &[1.0]), no);
    let between = Against::Between([name(), name()]);
    let judged = [0.9, 1.0, 2.0, 2.1].map(|value| of(&between, value, &[1.0, 2.0]));
    assert_eq!(judged, [no.clone(), yes.clone(), yes, no]);
    let ratio = of(&Against::RatioTo(name()), 3.0, &[2.0]);
    assert_eq!(ratio, Value::Number(1.5));
}

#[test]
fn variants_left_out_are_not_run_and_have_no_rows() {
    let mut study = study();
    let names = |names: &[&str]| -> Vec<String> {
        let owned = names.iter().map(|&name| name.to_owned());
        owned.collect()
    };
    let unknown = study.keep_variants(&names(&["pure", "other"]));
    let unknown = unknown.expect_err("there is no such variant");
    assert_eq!(
        (unknown.given.as_str(), unknown.known),
        ("other", names(&["pure", "fitted"]))
    );

    study.keep_variants(&names(&["pure"])).expect("it is one");
    let [pure, fitted] = study.variants.as_slice() else {
        panic!("there are two variants");
    };
    let runs = |variant| {
        study
            .trials(variant, Extent::Full, Limits::NONE)
            .expect("it holds")
            .len()
    };
    assert_eq!((runs(pure), runs(fitted)), (1, 0));
    let answer = study.judge(Extent::Full, &[trial(&[(1, 1_000)], "aa"), Vec::new()]);
    assert!(!answer.cases.is_empty());
    assert!(answer.cases.iter().all(|row| row.variant == "pure"));
    assert!(answer.holds());
    assert_eq!(answer.left_out, names(&["fitted"]));

    study.keep_variants(&[]).expect("none is named");
    assert_eq!(study.kept_variants().count(), 2);
}

#[test]
fn a_reading_of_what_is_accepted_has_a_window_and_needs_flows() {
    let of = |reading: &str| {
        let line = "\nreading = \"worst_job_over_ideal\"\n";
        let text = MATRIX.replacen(line, &format!("\n{reading}\n"), 1);
        Study::read(&texts(&text, SCENARIO), |_| Some(MATRIX_TABLE), |_| None)
    };
    assert!(!of(r#"reading = "throughput_gbps""#).unwrap().needs_flows());
    let good = of("reading = \"accepted_gbps\"\nwindow_us = [40, 120]").unwrap();
    assert!(good.needs_flows());
    // Flows take room: none is kept once they are counted.
    let mut trial = trial(&[(1, 1_000)], "aa").remove(0);
    trial.flows = vec![FlowRow::default()];
    assert!(good.thinned(trial).flows.is_empty());
    for wrong in [
        r#"reading = "accepted_gbps""#,
        "reading = \"accepted_percent\"\nwindow_us = [120, 40]",
        "reading = \"throughput_gbps\"\nwindow_us = [40, 120]",
    ] {
        let error = of(wrong).expect_err(wrong).to_string();
        assert!(error.contains("window_us = [from, to]"), "{error}");
    }
}

#[test]
fn a_judged_variant_that_is_not_shown_is_refused() {
    let text = format!(
        "{DESCRIPTION}
[[readings]]
case = \"b\"
metric = \"m\"
reading = \"completion_time_ms\"
variant = \"fitted\"
shown = [\"pure\"]
"
    );
    let error = read(&text)
        .expect_err("it would never be judged")
        .to_string();
    assert!(
        error.contains("`shown` has pure and not the judged variant `fitted`"),
        "{error}"
    );
    let both = text.replace("shown = [", "shown = [\"fitted\", ");
    read(&both).expect("both are shown");
}
