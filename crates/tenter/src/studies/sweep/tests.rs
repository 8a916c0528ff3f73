use super::*;
use crate::studies::{Value, Verdict};
use tenter_results::Notes;

const SWEEP: &str = "
name: fabrics
scenario: s.yaml
set:
  jobs[0].iterations: 2
variants:
  ecmp: {}
  spray: {fabric.load_balancing: {kind: random-spray}, endpoint.nic.window: default}
axes:
  fabric.spines: [2, 4]
seeds: 3
readings:
  - {name: time, query: max(jobs.jct_ns)}
  - {name: gain, query: max(jobs.jct_ns), against: ecmp, band: [0.1, 0.9]}
";

fn sweep(text: &str) -> Sweep {
    Sweep::read(text, "sweep.yaml", Format::Yaml).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    let error = Sweep::read(text, "sweep.yaml", Format::Yaml);
    error.expect_err("it does not hold").to_string()
}

#[test]
fn trials_are_points_by_variants_by_seeds() {
    let sweep = sweep(SWEEP);
    let trials: Vec<SweepTrial> = sweep.trials().collect();
    assert_eq!((trials.len(), sweep.len()), (12, 12));
    let last = &trials[11];
    assert_eq!(
        (last.point, last.variant, last.seeds.as_slice()),
        (1, 1, [TrialSeed::After(2)].as_slice())
    );
    let expected = [
        "jobs[0].iterations=2",
        "fabric.load_balancing={kind: random-spray}",
        "endpoint.nic.window=default",
        "fabric.spines=4",
    ];
    assert_eq!(last.settings, expected);
    assert_eq!(sweep.point_name(1), "spines=4");
}

/// Times of a trial: spray takes 80, 70 or 60 % of ECMP's time, by the seed.
fn measured(sweep: &Sweep) -> Vec<Measured> {
    let trials = sweep.trials().map(|trial| {
        let [TrialSeed::After(seed)] = trial.seeds[..] else {
            unreachable!("seeds are counted")
        };
        let ecmp = 100.0 + 10.0 * seed as f64;
        let share = [1.0, 0.8 - 0.1 * seed as f64][trial.variant];
        Measured {
            variant: trial.variant,
            point: trial.point,
            seed,
            digest: format!("{seed}"),
            values: vec![Some((ecmp * share).into()); 2],
            notes: Notes::default(),
            pauses: None,
        }
    });
    trials.collect()
}

#[test]
fn values_are_compared_seed_by_seed() {
    let sweep = sweep(SWEEP);
    let trials = measured(&sweep);
    let answer = sweep.answer(&trials);
    assert_eq!(answer.cases.len(), 2 * 2 * 2);
    let value = |at: usize| answer.cases[at].measured.as_ref().and_then(Value::number);
    // 110 is the middle of ECMP's times; 77 that of 80, 77 and 72.
    assert_eq!(value(0), Some(110.0));
    assert!(value(1).is_some_and(|value| (value - 77.0).abs() < 1e-9));
    let gain = &answer.cases[5];
    assert_eq!(gain.variant, "spray");
    let ratio: f64 = value(5).expect("a ratio");
    assert!((ratio - 0.7).abs() < 1e-12);
    assert_eq!(gain.verdict, Verdict::Match);
    // ECMP over itself is 1, outside the band.
    assert_eq!(answer.cases[4].verdict, Verdict::Miss);
    assert!(!answer.holds());
    let winners = sweep.winners(&trials);
    assert_eq!((winners.len(), winners[0].variant.as_str()), (4, "spray"));
    assert_eq!((winners[0].wins, winners[0].pairs), (3, 3));
    // Three of three by luck: 2 / 8.
    assert!((winners[0].p_value - 0.25).abs() < 1e-12);
}

#[test]
fn the_answer_does_not_depend_on_the_order_of_trials() {
    let sweep = sweep(SWEEP);
    let mut trials = measured(&sweep);
    let answer = sweep.answer(&trials);
    trials.reverse();
    assert_eq!(sweep.answer(&trials), answer);
}

#[test]
fn what_does_not_hold_is_refused_with_a_remedy() {
    for (text, expected) in [
        ("name: x", "lacks `scenario`"),
        ("fabric: {}\njobs: []", "run it with `tenter run`"),
        ("scenario: s\nvaries: {a: b}", "without `published`"),
        ("scenario: s\nfabric: {}", "unknown key `fabric`"),
        (
            "scenario: s\nreadings: [{case: a, query: max(jobs.jct_ns)}]",
            "has no `name`",
        ),
        ("scenario: s\nquick: {set: {a: 1}}", "without `published`"),
        ("scenario: s\nvariant: {}", "did you mean `variants`?"),
        ("scenario: s\nseeds: many", "write `seeds: 10`"),
        ("scenario: s\nseeds: 0", "from 1 to"),
        ("scenario: s\nseeds: [1, 1]", "twice"),
        ("scenario: s\nvariants: {a/b: {}}", "folder"),
        ("scenario: s\nvariants: [a]", "must be a mapping"),
        (
            "scenario: s\nreadings: [{name: a, query: max(jobs.jct_n)}]",
            "did you mean `jct_ns`?",
        ),
        (
            "scenario: s\nreadings: [{name: a, query: max(job.b)}]",
            "did you mean `jobs`?",
        ),
        (
            "scenario: s\nreadings: [{name: a, query: max(jobs.job_name)}]",
            "holds texts",
        ),
        (
            "scenario: s\nreadings: [{name: a, query: max(jobs.jct_ns) where jb = 1}]",
            "did you mean `job`?",
        ),
        (
            "scenario: s\nvariants: {a: {}}\nreadings: [{name: a, query: max(jobs.jct_ns), against: b}]",
            "there is not",
        ),
        (
            "scenario: s\nreadings: [{name: a, query: max(jobs.jct_ns), band: [2, 1]}]",
            "is no band",
        ),
        (
            "scenario: s\nreadings: [{name: a, query: max(jobs.jct_ns)}, {name: a, query: max(jobs.jct_ns)}]",
            "two readings",
        ),
    ] {
        let error = refused(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn names_that_there_are_not_are_refused_with_a_remedy() {
    for (text, expected) in [
        (
            "scenario: s\nreadings: [{name: a, query: p101(jobs.jct_ns)}]",
            "any other percentile",
        ),
        (
            "scenario: s\nreadings: [{name: a, query: max(jobs.jct_ns), published: [{value: x}]}]",
            "is no number",
        ),
        (
            "scenario: s\nreadings: [{name: a, query: max(jobs.jct_ns), published: [{value: 1, variant: b}]}]",
            "published value of the variant `b`",
        ),
        (
            "scenario: s\nreadings: [{name: a, query: max(jobs.jct_ns), published: [{value: 1, at: {b: 1}}]}]",
            "which is no axis",
        ),
        (
            "scenario: s\ncharts: [{title: a, kind: lines}]",
            "needs 1 axes",
        ),
        (
            "scenario: s\naxes: {a.b: [1]}\ncharts: [{title: a, kind: lines, x: c}]",
            "which there is not",
        ),
        (
            "scenario: s\ncharts: [{title: a, readings: [x]}]",
            "choose from completion time",
        ),
        (
            "scenario: s\nseeds: {hash: 2}",
            "choose from placement, hashing, arrivals",
        ),
    ] {
        let error = refused(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn no_variant_is_best_where_two_are_equal() {
    let sweep = sweep("scenario: s.yaml\nvariants: {a: {}, b: {}, c: {}}\n");
    let measured = |values: [f64; 3]| {
        let trial = |variant: usize| Measured {
            variant,
            point: 0,
            seed: 1,
            digest: String::new(),
            values: vec![Some(values[variant].into())],
            notes: Notes::default(),
            pauses: None,
        };
        (0..3).map(trial).collect::<Vec<_>>()
    };
    assert_eq!(sweep.winners(&measured([2.0, 2.0, 3.0])), []);
    let winners = sweep.winners(&measured([3.0, 2.0, 3.0]));
    assert_eq!(winners[0].variant, "b");
}

#[test]
fn no_variant_is_best_by_how_far_seeds_are_apart() {
    for (statistic, winners) in [("mean", 2), ("stddev", 0), ("range", 0), ("count", 0)] {
        let text = format!(
            "scenario: s.yaml\nvariants: {{a: {{}}, b: {{}}}}\naxes: {{x.y: [1, 2]}}\nseeds: 3\nreadings: [{{name: time, query: max(jobs.jct_ns), statistic: {statistic}}}]\n"
        );
        let sweep = sweep(&text);
        let measured: Vec<Measured> = (0..12_usize)
            .map(|number| Measured {
                variant: number / 3 % 2,
                point: number / 6,
                seed: (number % 3) as u64,
                digest: String::new(),
                values: vec![Some((number as f64).into())],
                notes: Notes::default(),
                pauses: None,
            })
            .collect();
        assert_eq!(sweep.winners(&measured).len(), winners, "{statistic}");
        let reading = &sweep.record(&measured).readings[0];
        assert_eq!(reading.has_a_best(), winners > 0, "{statistic}");
    }
}

#[test]
fn published_values_are_judged_at_their_points() {
    let rows = "published: [{variant: spray, at: {spines: 4}, value: 80, band: [75, 85]}, {variant: ecmp, value: 100, band: [1, 2], gate: open}, {value: 70}]";
    let text = SWEEP.replace(
        "query: max(jobs.jct_ns)}",
        &format!("query: max(jobs.jct_ns), {rows}}}"),
    );
    let sweep = sweep(&text);
    let answer = sweep.answer(&measured(&sweep));
    let case = |at: usize| &answer.cases[at];
    let published = |at: usize| case(at).published.as_ref().and_then(Value::number);
    // Two spines: ECMP misses a band that is open; spray has a value without a band.
    assert_eq!(
        (published(0), case(0).verdict),
        (Some(100.0), Verdict::Miss)
    );
    assert_eq!(case(0).gate, crate::studies::Gate::Open);
    assert_eq!((published(1), case(1).verdict), (Some(70.0), Verdict::Info));
    // Four spines: 77 is in the band of spray.
    assert_eq!(
        (published(3), case(3).verdict),
        (Some(80.0), Verdict::Match)
    );
    assert_eq!(case(3).origin, crate::studies::Origin::Published);
}

#[test]
fn charts_name_their_readings_and_axes() {
    let charts = "charts:\n  - {title: all}\n  - {title: gain over spines, kind: lines, readings: [gain], x: spines}\n";
    let sweep = sweep(&format!("{SWEEP}{charts}"));
    let record = sweep.record(&measured(&sweep));
    let chart = |title: &str, kind: &str, readings: &[usize], x: Option<usize>| SweepChart {
        title: title.to_owned(),
        kind: kind.to_owned(),
        readings: readings.to_vec(),
        x,
        y: None,
    };
    assert_eq!(
        record.charts,
        [
            chart("all", "bars", &[0, 1], None),
            chart("gain over spines", "lines", &[1], Some(0))
        ]
    );
    assert_eq!(sweep, self::sweep(&sweep.to_yaml()));
}

#[test]
fn a_description_is_written_and_read_again() {
    let first = sweep(SWEEP);
    let again = sweep(&first.to_yaml());
    assert_eq!(first, again);
}

#[test]
fn a_record_has_what_was_varied_and_what_was_read() {
    let text = SWEEP.replace(
        "fabric.spines: [2, 4]",
        "fabric.spines: {from: 2, to: 4, factor: 2}",
    );
    let sweep = sweep(&text);
    let record = sweep.record(&measured(&sweep));
    let axis = SweepAxis {
        path: "fabric.spines".to_owned(),
        name: "spines".to_owned(),
        log: true,
    };
    assert_eq!(record.axes, [axis]);
    assert_eq!(record.variants, ["ecmp", "spray"]);
    assert_eq!(record.points, [["2"], ["4"]]);
    assert_eq!(
        record.set,
        [("jobs[0].iterations".to_owned(), "2".to_owned())]
    );
    let (time, gain) = (&record.readings[0], &record.readings[1]);
    assert_eq!((time.unit.as_str(), time.against.as_str()), ("ns", ""));
    assert_eq!(gain.against, "ecmp");
    assert_eq!(time.of, gain.of);
    assert_eq!(time.of_seeds(vec![3.0, 1.0, 2.0]), Some(2.0));
    let last = record.trials.last().expect("trials have run");
    assert_eq!((last.point, last.variant, last.seed), (1, 1, 2));
    let text = serde_json::to_string(&record).expect("plain data");
    let read: SweepRecord = serde_json::from_str(&text).expect("what was written");
    assert_eq!(read, record);
}
