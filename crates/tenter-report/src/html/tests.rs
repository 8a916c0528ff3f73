//! Reports of trials that no run leaves, as those of damaged files might be.

use std::path::PathBuf;

use tenter_record::{
    CollectiveRow, InterferenceRow, JobRow, JobSummary, NoteCode, NoteRow, Notes, PortRow, Summary,
    SwitchRow,
};
use tenter_units::Time;

use tenter_study::{
    Answers, CaseAnswer, Chart, Drawing, Gate, Origin, Shows, Spread, StudyAnswer, Value, Verdict,
};

use super::{html_report, html_study_report};
use crate::circuits::tests::steer;
use crate::drawings::{Drawn, DrawnLine};
use crate::tree::tests::flexible;
use crate::trial_data::{Chunk, PortSample, TrialData};

fn empty() -> TrialData {
    TrialData {
        path: PathBuf::from("</title><script>"),
        ..TrialData::empty()
    }
}

/// Every number in a drawing is one, and nothing of a name is a tag.
fn check(page: &str) {
    // What follows is the script, which has words of its own.
    let (page, _) = page.split_once("<div id=\"tip\"").unwrap();
    for wrong in ["NaN", "inf ", "inf\"", "<script>alert"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
    let opened = page.matches("<svg").count();
    assert_eq!(opened, page.matches("</svg>").count());
    assert_eq!(
        page.matches("<section").count(),
        page.matches("</section>").count()
    );
}

#[test]
fn a_trial_without_anything_has_a_report() {
    let page = html_report(&[empty()]);
    check(&page);
    for text in [
        "No flow was completed",
        "no samples",
        "No chunk was completed",
    ] {
        assert!(page.contains(text), "{text}");
    }
    check(&html_report(&[empty(), empty()]));
}

#[test]
fn numbers_that_fit_nothing_do_no_harm() {
    let chunk = |src_rank, posted, received| Chunk {
        src_rank,
        dst_rank: u32::MAX,
        src_host: u32::MAX,
        dst_host: 7,
        payload_bytes: 0.0,
        posted,
        first_sent: posted,
        received,
        acknowledged: 0.0,
        ..Chunk::default()
    };
    let sample = |time, node| PortSample {
        time,
        node,
        port: u16::MAX,
        queue_bytes: 1e18,
        queue_high_water_bytes: 1e18,
        tx_bytes: 1e18,
        paused: true,
    };
    let collective = CollectiveRow {
        collective: "<script>alert(1)</script>".to_owned(),
        completion_time: Some(Time::from_ps(0)),
        size_bytes: u64::MAX,
        tx_frames: u64::MAX,
        ..CollectiveRow::default()
    };
    let job = JobSummary {
        job: JobRow {
            name: "<script>alert(1)</script>".to_owned(),
            ..JobRow::default()
        },
        collectives: vec![collective.clone(), collective],
    };
    let port = PortRow {
        node: u32::MAX,
        node_name: "<script>alert(1)</script>".to_owned(),
        peer_name: "nobody".to_owned(),
        dropped_frames: 1,
        ..PortRow::default()
    };
    let trial = TrialData {
        summary: Summary {
            jobs: vec![job],
            notes: Notes(vec![NoteRow::new(
                NoteCode::Scenario,
                "<script>alert(1)</script>",
            )]),
            ..Summary::default()
        },
        config: "</pre><script>alert(1)</script>".to_owned(),
        chunks: vec![
            chunk(0, 5.0, 1.0),
            chunk(0, 0.0, 0.0),
            chunk(u32::MAX, 0.0, 1e18),
        ],
        ports: vec![port.clone(), port],
        switches: vec![SwitchRow::default()],
        samples: vec![sample(0.0, 0), sample(0.0, u32::MAX)],
        ..empty()
    };
    check(&html_report(&[trial]));
}

#[test]
fn slow_downs_stand_in_the_order_of_the_jobs() {
    let row = |job: u32, beside: Option<u32>, slow_down: Option<f64>| InterferenceRow {
        job,
        job_name: format!("job{job}"),
        beside,
        beside_name: beside.map(|beside| format!("<job{beside}>")),
        slow_down,
        ..InterferenceRow::default()
    };
    let trial = TrialData {
        summary: Summary {
            interference: vec![
                row(0, None, Some(2.0)),
                row(0, Some(1), Some(1.5)),
                row(1, None, None),
                row(1, Some(0), Some(1.0)),
            ],
            ..Summary::default()
        },
        ..empty()
    };
    let page = html_report(&[trial]);
    check(&page);
    let head = ">&lt;job0&gt;</th><th class=\"n\">&lt;job1&gt;</th>";
    assert!(page.contains(head), "{page}");
    let first = "<td class=\"n\">2.000</td><td class=\"n\"></td><td class=\"n\">1.500</td>";
    let second = "<td class=\"n\">-</td><td class=\"n\">1.000</td><td class=\"n\"></td>";
    assert!(page.contains(first) && page.contains(second), "{page}");
}

/// A study whose names are code, with a bar that was not measured and one that is 0.
#[test]
fn a_study_has_bars_and_rows() {
    let hostile = "</title><script>alert(1)</script>";
    let row = |bar: &str, measured: Option<f64>, gate: Gate| CaseAnswer {
        case: hostile.to_owned(),
        bar: Some(bar.to_owned()),
        metric: "m".to_owned(),
        variant: "v".to_owned(),
        published: Some(Value::Number(2.0)),
        origin: Origin::Published,
        measured: measured.map(Value::Number),
        statistic: Some("mean of 2 seeds: 2 values from 1 to 3".to_owned()),
        spread: Some(Spread {
            values: 2,
            least: 1.0,
            greatest: 3.0,
        }),
        band: Some([1.5, 2.5]),
        gate,
        verdict: Verdict::of(gate, Some([1.5, 2.5]), measured),
    };
    let study = StudyAnswer {
        study: "a/b".to_owned(),
        title: hostile.to_owned(),
        source: hostile.to_owned(),
        cases: vec![
            row("A", Some(2.0), Gate::Required),
            row("B", None, Gate::Open),
            row("C", Some(0.0), Gate::Info),
        ],
        charts: vec![Chart {
            title: hostile.to_owned(),
            metrics: vec!["m".to_owned()],
            bars: Vec::new(),
            axis: "ms".to_owned(),
        }],
        ..StudyAnswer::default()
    };
    let one = Answers {
        studies: vec![study.clone()],
    };
    let page = html_study_report(&one, &[]);
    check(&page);
    // Three bars, of which one has no value.
    assert_eq!(page.matches("\"colour\":").count(), 3);
    assert_eq!(page.matches("\"value\":null").count(), 1);
    assert!(
        page.contains("\\nmeasured 2, 1 to 3 over 2 seeds\\npublished 2\\nband 1.5–2.5: match")
    );
    assert!(page.contains("mean of 2 seeds</td>") && page.contains("✗ miss"));
    assert!(page.contains("<span class=\"state good\">holds</span>"));
    // Without a chart of its own, judged rows are drawn over the published values.
    let plain = StudyAnswer {
        charts: Vec::new(),
        left_out: vec!["b<".to_owned()],
        ..study
    };
    let empty = StudyAnswer::default();
    let both = Answers {
        studies: vec![plain, empty],
    };
    let page = html_study_report(&both, &[]);
    check(&page);
    assert!(page.contains("Measured over published") && page.contains(">2 studies</h1>"));
    assert!(page.contains("not run: no quick form"));
    assert!(page.contains("<span class=\"state good\">holds; left out: b&lt;</span>"));
    check(&html_study_report(&Answers::default(), &[]));
}

#[test]
fn what_trials_recorded_is_drawn() {
    let hostile = "</title><script>alert(1)</script>";
    let row = CaseAnswer {
        case: "c".to_owned(),
        bar: None,
        metric: "m".to_owned(),
        variant: "v".to_owned(),
        published: None,
        origin: Origin::Published,
        measured: None,
        statistic: None,
        spread: None,
        band: None,
        gate: Gate::Info,
        verdict: Verdict::Info,
    };
    let one = Answers {
        studies: vec![StudyAnswer {
            cases: vec![row],
            ..StudyAnswer::default()
        }],
    };
    let drawn = |shows, values: [f64; 2]| Drawn {
        drawing: Drawing {
            title: hostile.to_owned(),
            about: hostile.to_owned(),
            shows,
            lines: Vec::new(),
            ports: Vec::new(),
        },
        lines: vec![DrawnLine {
            name: hostile.to_owned(),
            points: vec![(1.0, values[0]), (9.0, values[1])],
        }],
        variants: 1,
    };
    let drawings = [
        drawn(Shows::QueueDepth, [0.0, 4096.0]),
        drawn(Shows::QueueChanges, [0.0, 0.0]),
        drawn(Shows::CompletionTimes, [0.0, 100.0]),
        drawn(Shows::CompletionTail, [100.0, 0.01]),
    ];
    let page = html_study_report(&one, &[drawings.to_vec()]);
    check(&page);
    assert_eq!(page.matches("{\"kind\":\"lines\"").count(), 4);
    assert!(page.contains("What the trials recorded"));
    assert!(!html_study_report(&one, &[]).contains("What the trials recorded"));
}

/// How the data of a picture of a tree begins.
const TREE: &str = "{\"kind\":\"circuits\"";

#[test]
fn circuits_are_drawn_before_and_after() {
    let hostile = "</svg><script>alert(1)</script>";
    let mut steered = flexible();
    let plain = crate::trial_data::TrialData {
        circuits: Vec::new(),
        ..steered.clone()
    };
    steer(&mut steered, 200, 220);
    for port in &mut steered.ports {
        port.node_name = port.node_name.replace("n8", hostile);
        port.peer_name = port.peer_name.replace("n8", hostile);
    }
    let page = html_report(std::slice::from_ref(&steered));
    check(&page);
    assert_eq!(page.matches(TREE).count(), 2);
    assert!(page.contains("<figcaption>Before the first change, 0\u{a0}ns to"));
    assert!(page.contains("<figcaption>After the last change, 220\u{a0}µs to 1\u{a0}ms<"));
    // The direct circuit, in the second picture and in the legend.
    assert_eq!(page.matches("class=\"moved\"").count(), 1);
    let moved = "\"kind\":\"moved\",\"count\":1,\"rate_bps\":100000000000,\"busy\":null";
    assert_eq!(page.matches(moved).count(), 1, "{page}");
    let dark = "\"switches\":1,\"leaves\":0,\"hosts\":0,\"dark\":1}";
    assert_eq!(page.matches(dark).count(), 2, "{page}");
    let pictures = super::circuits::pictures(&steered);
    let titles: Vec<&str> = pictures.iter().map(|of| of.title.as_str()).collect();
    assert!(titles[0].starts_with("Before") && titles[1].starts_with("After"));
    assert!(super::circuits::pictures(&plain).is_empty());
    assert!(page.contains("the trial was not sampled"));
    assert!(page.contains("<a href=\"#circuits0\">Circuits</a>"));
    let page = html_report(std::slice::from_ref(&plain));
    assert!(!page.contains(TREE) && !page.contains("#circuits0"));
    // Side by side the tree without optical switches is drawn too.
    let page = html_report(&[steered.clone(), plain.clone()]);
    check(&page);
    assert!(page.contains("Circuits of all trials") && page.contains("Without optical switches"));
    assert_eq!(page.matches(TREE).count(), 2 + 1 + 2);
    check(&html_report(&[steered, empty()]));
}
