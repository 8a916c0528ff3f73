//! Collectives, their bytes and their paths.

use tenter::report::{TrialData, read_rows};
use tenter_lab::{Calibration, Constants, LabRun, kernel_paths};
use tenter_results::FlowRow;

use crate::bench::{Bench, Quiet, complete};

const COLLECTIVES: &str = "
name: collectives
jobs:
  - name: all
    iterations: 2
    collectives:
      - {collective: all-to-all, size: 512KiB}
      - {collective: all-reduce, algorithm: ring, size: 512KiB}
      - {collective: incast, root: 0, size: 1000001B}
";

/// All-to-all, a ring and an incast: every byte is what was sent, and the tables are those of any
/// trial.
pub(crate) fn collectives(bench: &Bench) {
    let (outcome, folder, problems) = bench.run(COLLECTIVES);
    complete(&outcome.summary, &problems);
    let flows: Vec<FlowRow> = read_rows(&folder).expect("rows of flows");
    // An all-to-all of 8 has 56, a ring 2 × 7 × 8, an incast 7; each twice.
    assert_eq!(flows.len(), 2 * (56 + 112 + 7));
    let payload: u64 = flows.iter().map(|row| row.payload_bytes).sum();
    let mut verified = 0;
    for host in Bench::hosts(&folder) {
        let report = &host["report"];
        assert_eq!(report["corrupt_packets"], 0);
        verified += report["verified_bytes"].as_u64().expect("a count");
    }
    // Pads come on top, and what was sent again.
    assert!(verified >= payload, "{verified} of {payload}");
    let overhead = flows.iter().map(|row| row.rx_bytes).sum::<u64>();
    assert!(overhead > payload);
    let trial = TrialData::read(&folder).expect("a trial that can be reported");
    drop(trial);
    for row in &outcome.collectives {
        let time = row.completion_time.expect("it was completed");
        let ideal = row.ideal.expect("it has a closed form");
        // Token buckets let the first frames pass at once.
        let ratio = time.as_ns() / ideal.as_ns();
        assert!(
            (0.97..4.0).contains(&ratio),
            "{} took {time}, ideal is {ideal}",
            row.collective
        );
    }
}

/// The kernel cuts packets from long datagrams, at hosts or at the next port: they are the same.
pub(crate) fn segmentation(bench: &Bench) {
    let mut trial = bench.trial(COLLECTIVES);
    trial.lab.keys.segmentation = true;
    let (outcome, folder, problems) = bench.run_trial(&trial);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    complete(&outcome.summary, &problems);
    for host in Bench::hosts(&folder) {
        let report = &host["report"];
        assert_eq!(report["corrupt_packets"], 0);
        assert_eq!(
            report["refused_packets"], 0,
            "the ICRC of a packet did not fit"
        );
    }
}

/// Many queue pairs across the leaves collide on two uplinks: each takes the link that the
/// simulation says, and the counters of links agree.
pub(crate) fn paths(bench: &Bench) {
    let text = "
name: collisions
jobs:
  - name: across
    queue_pairs: 3
    collectives: [{collective: all-to-all, size: 256KiB}]
";
    let trial = bench.trial(text);
    let plan = trial.measured.resolved();
    let rows = kernel_paths(&bench.lab.keys.name, plan).expect("switches answer");
    // From each of 8 hosts to 4 behind the other leaf, by 3 queue pairs.
    assert_eq!(rows.len(), 8 * 4 * 3);
    let differing: Vec<_> = rows.iter().filter(|row| !row.agrees()).collect();
    assert!(differing.is_empty(), "{differing:?}");
    let by_first = rows
        .iter()
        .filter(|row| row.simulated == rows[0].simulated)
        .count();
    assert!((1..rows.len()).contains(&by_first), "both uplinks are used");
    let (outcome, _, problems) = bench.run(text);
    complete(&outcome.summary, &problems);
    // What leaf 0 sends by each uplink is what its queue pairs carry: 32 KiB / 8 / 3 each.
    for port in outcome
        .counts
        .ports
        .iter()
        .filter(|row| row.node_name == "leaf0")
    {
        let Some(pairs) = port
            .queue_pairs
            .filter(|_| port.peer_name.starts_with("spine"))
        else {
            continue;
        };
        let frames = port.tx_frames as f64;
        // 32 KiB in 3 shares are 3 packets each and their acknowledgement comes the same way.
        let least = pairs as f64 * 3.0;
        assert!(frames >= least, "{frames} frames for {pairs} queue pairs");
    }
}

/// An incast beyond the rate of its link: switches mark, receivers notify, senders slow down.
pub(crate) fn marks(bench: &Bench) {
    let text = "
name: marks
endpoint: {nic: {congestion_control: dcqcn}}
jobs:
  - name: incast
    collectives: [{collective: incast, root: 0, size: 2MiB}]
";
    let (outcome, _, problems) = bench.run(text);
    complete(&outcome.summary, &problems);
    let totals = &outcome.summary.totals;
    assert!(
        totals.rx_marked_frames > 0 && totals.cnp_frames > 0,
        "{totals:?}"
    );
}

/// The simulation of the same scenario takes about as long, flow by flow and by the same links, and
/// fitted constants bring it no further away.
pub(crate) fn twin(bench: &Bench) {
    let trial = bench.trial(
        "
name: twin
endpoint: {nic: {acknowledge: {every: 4}, retransmission_timeout: 500ms}}
jobs:
  - name: all
    iterations: 3
    collectives:
      - {collective: all-to-all, size: 256KiB}
      - {collective: all-to-all, size: 512KiB}
      - {collective: all-reduce, algorithm: ring, size: 256KiB}
      - {collective: all-reduce, algorithm: ring, size: 512KiB}
",
    );
    let options = LabRun {
        folder: bench.folder.join("twin"),
        command: Vec::new(),
    };
    let mut quiet = Quiet(Vec::new());
    let twin = tenter_lab::twin(&trial, Constants::Fit, &options, &mut quiet);
    let twin = twin.unwrap_or_else(|error| panic!("{error}"));
    println!("{}", tenter_lab::twin_text(&twin));
    assert!(twin.complete && twin.page.exists());
    assert!(twin.paths.iter().all(tenter_lab::PathRow::agrees));
    assert_eq!(twin.sizes.len(), 4);
    // On a quiet machine all are within 5 %; where other tests run beside, it takes longer.
    for row in &twin.sizes {
        assert!(EXPECTED_PERCENT.contains(&row.stated_percent()), "{row:?}");
    }
    for link in &twin.links {
        assert!((link.measured.1 - link.simulated.1).abs() < 3.0, "{link:?}");
    }
    let file = options.folder.join("calibration.yaml");
    let read = Calibration::read(&file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(Some(read), twin.calibration);
}

/// What is simulated may be this much less, or more, than what is measured.
const EXPECTED_PERCENT: std::ops::RangeInclusive<f64> = -70.0..=10.0;
