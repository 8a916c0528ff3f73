//! Reports of trials that no run leaves, as those of damaged files might be.

use std::path::PathBuf;

use tenter_record::{
    CollectiveRow, InterferenceRow, JobRow, JobSummary, PortRow, Summary, SwitchRow,
};
use tenter_units::Time;

use super::html_report;
use crate::trial_data::{Chunk, PortSample, TrialData};
use crate::{Manifest, RunIdentity};

fn empty() -> TrialData {
    TrialData {
        path: PathBuf::from("</title><script>"),
        manifest: Manifest::begin(RunIdentity::default()),
        summary: Summary::default(),
        config: String::new(),
        chunks: Vec::new(),
        ports: Vec::new(),
        queues: Vec::new(),
        switches: Vec::new(),
        samples: Vec::new(),
    }
}

/// Every number in a drawing is one, and nothing of a name is a tag.
fn check(page: &str) {
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
            warnings: vec!["<script>alert(1)</script>".to_owned()],
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
    let second = "<td class=\"n\">–</td><td class=\"n\">1.000</td><td class=\"n\"></td>";
    assert!(page.contains(first) && page.contains(second), "{page}");
}
