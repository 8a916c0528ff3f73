use tenter_language::units::{Budget, Bytes, Limits, Time};

use super::*;
use crate::rows::{CollectiveRow, FlowRow, JobRow, PortRow};
use crate::summary::{JobSummary, Summary};
use crate::tables::{Counts, Results};
use crate::{Cell, Names};

/// Two jobs of two collectives each, the first of them a warm-up; three flows of each.
struct Trial {
    summary: Summary,
    counts: Counts,
    flows: Vec<FlowRow>,
    names: Names,
}

fn trial() -> Trial {
    let mut summary = Summary::default();
    summary.totals.tx_frames = 7;
    summary.engine.simulated_ns = 50_000.0;
    let mut trial = Trial {
        summary,
        counts: Counts::default(),
        flows: Vec::new(),
        names: Names {
            jobs: vec!["train".to_owned(), "noise".to_owned()],
            nodes: Vec::new(),
        },
    };
    for job in 0..2_u32 {
        let collective = |index: u32| CollectiveRow {
            job,
            index,
            warm_up: index == 0,
            size_bytes: 1 << (20 + index),
            ..CollectiveRow::default()
        };
        trial.summary.jobs.push(JobSummary {
            job: JobRow {
                job,
                name: trial.names.jobs[job as usize].clone(),
                background: job == 1,
                ..JobRow::default()
            },
            collectives: vec![collective(0), collective(1)],
        });
        for (collective, us) in [(0, 90), (0, 10), (1, 1), (1, 2), (1, 6)] {
            trial.flows.push(FlowRow {
                job,
                collective,
                received: Time::from_us(us + 100 * u64::from(job)),
                payload_bytes: 1_000 * us,
                latency_max: (us > 5).then(|| Time::from_ns(us)),
                ..FlowRow::default()
            });
        }
    }
    trial.counts.ports = vec![
        PortRow {
            node_name: "leaf0".to_owned(),
            port: 1,
            paused: Time::from_us(30),
            utilisation: 0.6,
            ..PortRow::default()
        },
        PortRow {
            node_name: "leaf1".to_owned(),
            port: 2,
            paused: Time::from_us(10),
            ..PortRow::default()
        },
    ];
    trial
}

impl Trial {
    fn held(&self) -> Held<'_> {
        Held {
            results: Results {
                summary: &self.summary,
                counts: &self.counts,
                flows: &self.flows,
                samples: &[],
            },
            names: &self.names,
        }
    }

    fn ask(&self, text: &str) -> Answer {
        let query: Query = text.parse().unwrap_or_else(|problem| panic!("{problem}"));
        let answer = query.ask(&self.held(), &Budget::unlimited());
        answer.expect("a trial in memory can be read")
    }

    /// The only value.
    fn value(&self, text: &str) -> Option<f64> {
        let answer = self.ask(text);
        assert_eq!((answer.rows.len(), answer.values.len()), (1, 1), "{text}");
        answer.rows[0].values[0]
    }
}

const VALUES: &[(&str, Option<f64>)] = &[
    ("count(flows)", Some(10.0)),
    ("max(flows.fct_ns)", Some(190_000.0)),
    ("max(flows.fct)", Some(190_000.0)),
    ("median(flows.fct_ns) where job = 0", Some(6_000.0)),
    ("p50(flows.fct) where job = 0 and fct < 8us", Some(2_000.0)),
    (
        "count(flows) where fct_ns >= 10us and not job_name = noise",
        Some(2.0),
    ),
    (
        "count(flows) where job_name != 'noise' or fct > 0.15ms",
        Some(6.0),
    ),
    (
        "count(flows) where job_name in (train, 'noise')",
        Some(10.0),
    ),
    ("count(flows) where job_name ~ 'RAI'", Some(5.0)),
    ("count(flows) where payload_bytes * 2 <= 2kB", Some(2.0)),
    ("count(flows) where -payload_bytes < -5000", Some(6.0)),
    (
        "count(flows) where size in (1MiB, 2MiB) and fct in (2us, 0.006ms)",
        Some(2.0),
    ),
    (
        "count(flows) where (payload_bytes - 1kB) * 2 > 9e3",
        Some(6.0),
    ),
    (
        "count(flows) where (job = 0 or job = 1) and (fct < 2µs)",
        Some(1.0),
    ),
    ("count(flows) where warm_up = 1", Some(4.0)),
    ("count(flows) where warm_up != FALSE", Some(4.0)),
    ("count(flows) where warm_up in (true, false)", Some(10.0)),
    ("count(ports) where utilisation >= 50%", Some(1.0)),
    ("count(flows where fct > 5e+3 or fct < 1e-3)", Some(8.0)),
    // By way of the collective and the job.
    ("count(flows) where size_bytes >= 2MiB", Some(6.0)),
    (
        "count(flows) where size >= 2MiB and not background",
        Some(3.0),
    ),
    ("count(flows) where collectives.warm_up = true", Some(4.0)),
    (
        "sum(flows.payload_bytes) where warm_up and background",
        Some(100_000.0),
    ),
    (
        "max(collectives.size_bytes / flows.payload_bytes) where not warm_up",
        Some(2_097.152),
    ),
    // A row without a value is no part of a statistic, and fits no comparison.
    ("count(flows.latency_max_ns)", Some(6.0)),
    ("count(flows) where latency_max_ns < 1s", Some(6.0)),
    ("count(flows) where latency_max_ns is missing", Some(4.0)),
    (
        "count(flows) where latency_max_ns is not missing",
        Some(6.0),
    ),
    ("mean(flows.fct) where job = 7", None),
    ("count(flows) where job = 7", Some(0.0)),
    ("count(samples)", Some(0.0)),
    // Values may be reckoned with, and rows counted in each by themselves.
    (
        "max(ports.paused where node_name = leaf0) - max(ports.paused where node_name = leaf1)",
        Some(20_000.0),
    ),
    (
        "100 * count(flows where warm_up) / count(flows)",
        Some(40.0),
    ),
    ("sum(flows.payload_bytes) / max(flows.fct) * 0", Some(0.0)),
    ("1 / count(flows where job = 7)", None),
    // A trial has one row of totals, and one of how it ran.
    ("sum(totals.tx_frames)", Some(7.0)),
    ("mean(ports.paused) / max(engine.simulated_ns)", Some(0.4)),
    ("max(engine.simulated_ns) / mean(ports.paused)", Some(2.5)),
];

#[test]
fn statistics_of_the_rows_that_count() {
    let trial = trial();
    for (text, expected) in VALUES {
        assert_eq!(trial.value(text), *expected, "{text}");
    }
}

#[test]
fn groups_are_in_the_order_of_what_tells_them_apart() {
    let trial = trial();
    let answer = trial.ask("max(flows.fct), count(flows) by job_name, size where fct < 150us");
    let names = |columns: &[AnswerColumn]| {
        let names = columns
            .iter()
            .map(|of| format!("{} [{}]", of.name, of.unit));
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&answer.keys), ["job_name []", "size_bytes [bytes]"]);
    assert_eq!(
        names(&answer.values),
        ["max(flows.fct) [ns]", "count(flows) []"]
    );
    let rows = answer.rows.iter().map(|row| {
        let key = row
            .key
            .iter()
            .map(|part| part.cell().to_text().into_owned());
        (key.collect::<Vec<_>>().join("/"), row.values.clone())
    });
    let expected = [
        ("noise/1048576", 110_000.0, 1.0),
        ("noise/2097152", 106_000.0, 3.0),
        ("train/1048576", 90_000.0, 2.0),
        ("train/2097152", 6_000.0, 3.0),
    ];
    let expected = expected.map(|(key, max, count)| (key.to_owned(), vec![Some(max), Some(count)]));
    assert_eq!(rows.collect::<Vec<_>>(), expected);
}

#[test]
fn units_are_those_of_the_columns() {
    let trial = trial();
    for (text, unit) in [
        ("max(flows.fct)", "ns"),
        ("count(flows.fct)", ""),
        ("max(flows.fct) / min(flows.fct)", ""),
        ("2 * max(flows.fct)", "ns"),
        ("sum(flows.payload_bytes) / max(flows.fct)", "bytes/ns"),
        ("sum(flows.payload_bytes * fct)", "bytes·ns"),
    ] {
        assert_eq!(trial.ask(text).values[0].unit, unit, "{text}");
    }
}

const REFUSED: &[(&str, usize, &str)] = &[
    ("", 1, "a statistic is wanted"),
    (
        "mode(flows.fct)",
        1,
        "a statistic is wanted here, as in `p99(flows.fct_ns)`; choose from min",
    ),
    ("maxx(flows.fct)", 1, "did you mean `max`?"),
    (
        "max(flow.fct)",
        5,
        "there is no table `flow`; did you mean `flows`?",
    ),
    (
        "max(flows.fct_n)",
        5,
        "has no column `fct_n`; did you mean `fct_ns`?",
    ),
    ("max(fct)", 5, "name the table of `fct`, too"),
    ("max(flows.fct", 14, "write `)` here"),
    (
        "max(flows.fct) - max(ports.paused)",
        22,
        "rows of `flows` and of `ports` do not belong together",
    ),
    ("max(flows.job_name)", 5, "holds texts"),
    (
        "max(flows.fct) where job_name",
        30,
        "write `=`, `!=`, `~` (contains) or `in` behind it",
    ),
    ("max(flows.fct) where fct", 25, "write one of ="),
    (
        "max(flows.fct) where fct > 1MiB",
        26,
        "ns and bytes do not compare",
    ),
    (
        "max(flows.fct) + max(flows.payload_bytes)",
        16,
        "ns and bytes do not add up",
    ),
    (
        "max(flows.fct) where job_name = 'a",
        33,
        "a text begins here and does not end",
    ),
    (
        "max(flows.fct) 5",
        16,
        "write `where`, `by`, or nothing here",
    ),
    (
        "max(flows.fct) by job by job",
        23,
        "write `where`, `by`, or nothing here",
    ),
    (
        "max(flows.fct) by job by",
        23,
        "write `where`, `by`, or nothing here",
    ),
    ("max(flows.fct) where job = 5x", 28, "`5x` is no number"),
    (
        "max(flows.size_bytes)",
        5,
        "the table `flows` has no column `size_bytes`",
    ),
    (
        "max(training_steps.exposed_communication_ns)",
        5,
        "has no column",
    ),
    (
        "sum(ports.dropped)",
        5,
        "may be `dropped_frames` or `dropped_bytes`",
    ),
    (
        "max(flows.fct) where fct > 5%",
        26,
        "ns and % do not compare",
    ),
    (
        "max(flows.fct) where job = 10us",
        26,
        "a number without a unit and ns do not compare",
    ),
    ("max(flows.fct) where warm_up = yes", 32, "`yes` is no flag"),
    (
        "max(flows.fct) where fct in (1MiB)",
        30,
        "ns and bytes do not compare",
    ),
    ("max(flows.fct) where (fct > 1us", 32, "write `)` here"),
    (
        "count(ports) where node_name = a/b",
        33,
        "needs single quotes",
    ),
    ("max(flows.fct) ; 5", 16, "`;` means nothing here"),
    ("5", 1, "the query asks no table"),
];

#[test]
fn what_is_no_query_is_refused_with_a_place() {
    for (text, at, expected) in REFUSED {
        let problem = text.parse::<Query>().expect_err(text).to_string();
        assert!(problem.contains(expected), "{text}: {problem}");
        let caret = problem.lines().last().unwrap_or_default();
        assert_eq!(caret.chars().count(), at + 2, "{problem}");
    }
    let deep = format!("{}1{}", "(".repeat(500), ")".repeat(500));
    let long = format!("max(flows.fct) where job = {}", "1".repeat(5_000));
    for text in [deep, long] {
        assert!(text.parse::<Query>().is_err());
    }
}

#[test]
fn what_does_not_fit_into_memory_is_refused() {
    let trial = trial();
    let limits = Limits {
        memory: Bytes::new(64),
        ..Limits::NONE
    };
    let query: Query = "max(flows.fct)".parse().expect("it holds");
    let refused = query.ask(&trial.held(), &Budget::new(limits));
    assert!(matches!(refused, Err(QueryError::Budget(_))), "{refused:?}");
}

#[test]
fn cells_have_an_order() {
    let of = |cell: Cell<'_>| KeyCell::of(cell);
    let mut cells = [
        of(Cell::Text("b")),
        of(Cell::Missing),
        of(Cell::Text("a")),
        of(Cell::Integer(10)),
        of(Cell::Integer(9)),
        of(Cell::Float(f64::NAN)),
        of(Cell::Float(1.0)),
    ];
    cells.sort();
    let texts = cells.iter().map(|cell| cell.cell().to_text().into_owned());
    assert_eq!(
        texts.collect::<Vec<_>>(),
        ["", "9", "10", "1", "NaN", "a", "b"]
    );
}

#[test]
fn a_filter_is_a_condition_by_itself() {
    let trial = trial();
    let held = trial.held();
    let filter = Filter::parse(
        "flows",
        "fct < 10us and warm_up = false and background = false",
    );
    let filter = filter.expect("it holds");
    let ready = filter
        .ready(&held, &Budget::unlimited())
        .expect("it is in memory");
    let ready = ready.expect("some rows are not meant");
    let mut fits = Vec::new();
    let read = held.each_group("flows", ready.places(), &mut |arrays| {
        fits.extend(ready.fits(arrays));
        std::ops::ControlFlow::Continue(())
    });
    assert_eq!(read, Ok(()));
    assert_eq!(fits.iter().filter(|fits| **fits).count(), 3);
    assert_eq!(fits[2..5], [true; 3]);
    let all = Filter::parse("flows", " ").expect("it is empty");
    assert!(
        all.ready(&held, &Budget::unlimited())
            .expect("it is in memory")
            .is_none()
    );
    for text in [
        "fct < 10us;",
        "fct < 10us by job",
        "fcd = 1",
        "max(flows.fct) > 1",
    ] {
        assert!(Filter::parse("flows", text).is_err(), "{text}");
    }
}
