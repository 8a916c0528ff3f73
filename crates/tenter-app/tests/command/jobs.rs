//! Several jobs through the command: eight tenants, background load, and what jobs cost each other.

use tenter::report::{read_rows, read_summary};
use tenter_results::InterferenceRow;

use crate::workplace::Workplace;

const EIGHT: &str = include_str!("../../../../scenarios/eight-tenants.yaml");
const FLOWS: &str = include_str!("../../../../scenarios/background-flows.yaml");

#[test]
fn eight_tenants_are_done_with_the_same_digest_on_two_threads() {
    let workplace = Workplace::new("jobs-eight");
    workplace.write("eight.yaml", EIGHT);
    let digest = |threads: u32| {
        let command = format!("run eight.yaml --threads {threads} -o out-{threads}");
        let answer = workplace.words(&command).expect(0);
        assert_eq!(answer.stderr, "");
        let folder = workplace.path(&format!("out-{threads}"));
        let summary = read_summary(&folder).expect("a trial");
        assert!(summary.complete && summary.interference.is_empty());
        assert_eq!((summary.jobs.len(), summary.totals.dropped_frames), (8, 0));
        // A frame in a million, and those in the way of a link that goes down.
        assert!(summary.totals.lost_frames > 0 && summary.totals.unsent_frames > 0);
        summary.engine.digest
    };
    assert_eq!(digest(1), digest(2));
    // What was written out runs the same trial.
    let answer = workplace.words("run out-1/config.yaml -o again").expect(0);
    assert!(answer.stdout.contains("noise: 16 ranks, background: "));
    let again = read_summary(&workplace.path("again")).expect("a trial");
    assert_eq!(again.engine.digest, digest(1));
}

#[test]
fn the_matrix_of_slow_downs_is_printed_and_kept() {
    let workplace = Workplace::new("jobs-matrix");
    workplace.write("eight.yaml", EIGHT);
    let answer = workplace
        .words("run eight.yaml --interference -o out")
        .expect(0);
    // 7 alone; of 8 jobs 28 pairs, each with one under test at least.
    assert_eq!(
        answer.stderr,
        "35 more runs with some of the jobs only show how much jobs slow each other down\n"
    );
    assert!(
        answer
            .stdout
            .contains("interference: JCT beside others over JCT alone")
    );
    let rows: Vec<InterferenceRow> = read_rows(&workplace.path("out")).expect("the table");
    assert_eq!(rows.len(), 7 * 8);
    let summary = read_summary(&workplace.path("out")).expect("a trial");
    assert_eq!(summary.interference, rows);
    for row in rows {
        let (alone, together) = (row.alone.expect("done"), row.together.expect("done"));
        assert_eq!(row.slow_down, Some(together.as_ns() / alone.as_ns()));
    }
}

#[test]
fn a_scenario_may_ask_for_the_baseline() {
    let workplace = Workplace::new("jobs-baseline");
    workplace.write("flows.yaml", FLOWS);
    let answer = workplace.words("run flows.yaml -o out").expect(0);
    assert_eq!(
        answer.stderr,
        "1 more run with some of the jobs only shows how much jobs slow each other down\n"
    );
    let rows: Vec<InterferenceRow> = read_rows(&workplace.path("out")).expect("the table");
    assert_eq!(rows.len(), 1);
    // Three streams fill the uplinks of its leaf.
    assert!(
        rows[0].slow_down.is_some_and(|ratio| ratio > 1.1),
        "{rows:?}"
    );
    let alone = "run flows.yaml --set observe.baseline=false -o out";
    assert_eq!(workplace.words(alone).expect(0).stderr, "");
    assert!(!workplace.path("out").join("interference.parquet").exists());
}
