//! Pictures of trials that no run leaves, as those of damaged files might be.

use tenter_language::units::Time;
use tenter_results::{CollectiveRow, JobRow, JobSummary, PortRow, Summary, SwitchRow};

use super::{PictureGroup, pictures, pictures_together};
use crate::report::circuits::tests::steer;
use crate::report::tree::tests::flexible;
use crate::report::trial_data::{Chunk, PortSample, TrialData};

fn named<'g>(groups: &'g [PictureGroup], name: &str) -> Option<&'g PictureGroup> {
    groups.iter().find(|group| group.name == name)
}

#[test]
fn a_trial_without_anything_has_no_pictures() {
    let empty = TrialData::empty();
    assert!(pictures(&empty, None).is_empty());
    let names = ["a".to_owned(), "b".to_owned()];
    assert!(pictures_together(&[&empty, &empty], &names).is_empty());
}

#[test]
fn numbers_that_fit_nothing_do_no_harm() {
    let chunk = |src_rank, posted, received| Chunk {
        src_rank,
        dst_rank: u32::MAX,
        src_host: u32::MAX,
        dst_host: 7,
        posted,
        first_sent: posted,
        received,
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
        completion_time: Some(Time::from_ps(0)),
        size_bytes: u64::MAX,
        ..CollectiveRow::default()
    };
    let job = JobSummary {
        job: JobRow::default(),
        collectives: vec![collective.clone(), collective],
    };
    let port = PortRow {
        node: u32::MAX,
        peer_name: "nobody".to_owned(),
        dropped_frames: 1,
        ..PortRow::default()
    };
    let trial = TrialData {
        summary: Summary {
            jobs: vec![job],
            ..Summary::default()
        },
        chunks: vec![
            chunk(0, 5.0, 1.0),
            chunk(0, 0.0, 0.0),
            chunk(u32::MAX, 0.0, 1e18),
        ],
        ports: vec![port.clone(), port],
        switches: vec![SwitchRow::default()],
        samples: vec![sample(0.0, 0), sample(0.0, u32::MAX)],
        ..TrialData::empty()
    };
    let groups = pictures(&trial, None);
    let all = groups.iter().flat_map(|group| &group.pictures);
    for picture in all {
        let plot: serde_json::Value = serde_json::from_str(&picture.plot).expect("JSON");
        assert!(plot["kind"].is_string(), "{}", picture.plot);
    }
    super::held_up(&trial);
}

/// How the data of a picture of a tree begins.
const TREE: &str = "{\"kind\":\"circuits\"";

#[test]
fn circuits_are_drawn_before_and_after() {
    let mut steered = flexible();
    let plain = TrialData {
        circuits: Vec::new(),
        ..steered.clone()
    };
    steer(&mut steered, 200, 220);
    let groups = pictures(&steered, Some("circuits"));
    let circuits = &groups[0];
    let titles: Vec<&str> = circuits.pictures.iter().map(|of| &*of.title).collect();
    assert!(
        titles[0].starts_with("Before the first change, 0\u{a0}ms to"),
        "{titles:?}"
    );
    assert_eq!(titles[1], "After the last change, 220\u{a0}µs to 1\u{a0}ms");
    let [before, after] = [0, 1].map(|at| circuits.pictures[at].plot.as_str());
    assert!(before.starts_with(TREE));
    // The direct circuit is in the second picture alone.
    let moved = "\"kind\":\"moved\",\"count\":1,\"rate_bps\":100000000000,\"busy\":null";
    assert!(!before.contains(moved) && after.contains(moved), "{after}");
    let dark = "\"switches\":1,\"leaves\":0,\"hosts\":0,\"dark\":1}";
    assert_eq!(after.matches(dark).count(), 2, "{after}");
    assert!(
        circuits.pictures[0]
            .lead
            .contains("the trial was not sampled")
    );
    assert_eq!(circuits.sections[0].tables[0].table.rows().len(), 2);
    assert!(pictures(&plain, Some("circuits")).is_empty());
    // Side by side the tree without optical switches is drawn too.
    let names = ["steered".to_owned(), "plain".to_owned()];
    let together = pictures_together(&[&steered, &plain], &names);
    let together = named(&together, "circuits").expect("both trees");
    let trees = together
        .pictures
        .iter()
        .filter(|of| of.plot.starts_with(TREE));
    assert_eq!(trees.count(), 3);
    assert!(
        together.pictures[2]
            .title
            .starts_with("plain: Without optical switches")
    );
    let other = TrialData::empty();
    let together = pictures_together(&[&steered, &other], &names);
    assert!(named(&together, "circuits").is_none());
}
