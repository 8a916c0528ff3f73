use tenter_language::units::Time;
use tenter_results::{
    CollectiveRow, EngineStats, JobRow, JobSummary, NoteCode, NoteRow, Notes, Totals,
};

use super::*;

fn collective(index: u32, operation: &str, algorithm: &str, size_bytes: u64) -> CollectiveRow {
    CollectiveRow {
        index,
        collective: operation.to_owned(),
        algorithm: algorithm.to_owned(),
        size_bytes,
        ranks: 8,
        complete: true,
        ..CollectiveRow::default()
    }
}

fn done(mut row: CollectiveRow, time_us: u64, busbw: f64) -> CollectiveRow {
    let us = |share: u64| Some(Time::from_ns(time_us * share * 10));
    row.completion_time = us(100);
    row.busbw_gbytes_per_s = Some(busbw);
    row.algbw_gbytes_per_s = Some(busbw * 8.0 / 7.0);
    row.line_rate_percent = Some(busbw / 49.0187 * 100.0);
    [row.fct_min, row.fct_p50, row.fct_max] = [us(80), us(90), us(100)];
    [row.fct_p95, row.fct_p99] = [us(98), us(99)];
    (row.tx_frames, row.rx_frames) = (28_672, 28_670);
    row.retransmitted_frames = 2;
    row
}

fn summary() -> Summary {
    let collectives = vec![
        done(collective(0, "all-to-all", "parallel", 16 << 20), 312, 46.9),
        done(
            collective(1, "all-to-all", "parallel", 8 << 30),
            153_560,
            48.945,
        ),
        collective(2, "all-reduce", "ring", 16 << 20),
    ];
    let job = JobRow {
        name: "training".to_owned(),
        ranks: 8,
        jct: Some(Time::from_us(154_123)),
        complete: true,
        ..JobRow::default()
    };
    Summary {
        scenario: "quickstart".to_owned(),
        seed: 1,
        complete: true,
        jobs: vec![JobSummary { job, collectives }],
        totals: Totals {
            flows: 112,
            tx_frames: 57_344,
            timeouts: 1,
            ..Totals::default()
        },
        notes: Notes(vec![NoteRow::new(
            NoteCode::Scenario,
            "the warm-up is short",
        )]),
        engine: EngineStats {
            packet_hops: 41_200_000,
            wall_s: 1.9,
            peak_rss_bytes: Some(60_000_000),
            threads: 1,
            digest: "0f9d15c799d757666d566208f60a09e4".to_owned(),
            ..EngineStats::default()
        },
        ..Summary::default()
    }
}

fn table(summary: &Summary) -> String {
    let fabric = "64 NICs, 8 leaves × 4 spines, 400 Gbps, ECMP";
    let folder = Some(Path::new("trials/quickstart-1"));
    TrialReport {
        summary,
        fabric,
        folder,
        ideal: false,
    }
    .render(Format::Table)
}

#[test]
fn golden_table() {
    assert_eq!(table(&summary()), GOLDEN);
}

const GOLDEN: &str = "\
quickstart, seed 1
64 NICs, 8 leaves × 4 spines, 400 Gbps, ECMP

training: 8 ranks, JCT 154.123 ms

  all-to-all, parallel
    size     time  algbw  busbw  line rate  ideal  FCT min      P50      P95      P99      max  frames  not accepted  retransmitted
               ms   GB/s   GB/s          %      %       ms       ms       ms       ms       ms    sent        frames         frames
  16 MiB    0.312  53.60  46.90      95.68      -    0.250    0.281    0.306    0.309    0.312  28,672             2              2
   8 GiB  153.560  55.94  48.95      99.85      -  122.848  138.204  150.489  152.024  153.560  28,672             2              2

  all-reduce, ring
    size  time  algbw  busbw  line rate  ideal  FCT min  P50  P95  P99  max  frames  not accepted  retransmitted
            ms   GB/s   GB/s          %      %       ms   ms   ms   ms   ms    sent        frames         frames
  16 MiB     -      -      -          -      -        -    -    -    -    -       0             0              0

total    112 flows, 57,344 data frames sent, 0 dropped, 0 retransmitted, 0 NAKs, 1 timeout
warning  the warm-up is short
engine   41.2 M packet-hops in 1.9 s = 21.7 M/s, 1 thread, peak 60.0 MB, digest 0f9d15c799d757666d566208f60a09e4
trial    trials/quickstart-1
";

#[test]
fn a_partial_trial_says_so() {
    let mut partial = summary();
    partial.complete = false;
    partial.stopped = Some("stopped by Ctrl-C at 1.2 ms".to_owned());
    partial.jobs[0].job.jct = None;
    partial.jobs[0].job.failure = Some("rank 3 waits for rank 2".to_owned());
    let text = table(&partial);
    assert!(
        text.contains("\nNOT COMPLETE  stopped by Ctrl-C at 1.2 ms\n"),
        "{text}"
    );
    assert!(
        text.contains("training: 8 ranks, not done\nnot completed: rank 3 waits"),
        "{text}"
    );
}

#[test]
fn each_reason_why_a_job_was_not_completed_has_a_line() {
    let mut partial = summary();
    partial.jobs[0].job.jct = None;
    let reasons = "2 transfers have not arrived; rank 3 waits for 32MiB; and 7 more";
    partial.jobs[0].job.failure = Some(reasons.to_owned());
    let expected =
        "\nnot completed: 2 transfers have not arrived\n  rank 3 waits for 32MiB\n  and 7 more\n";
    let text = table(&partial);
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_load_of_flows_has_no_completion_time_and_no_bus_bandwidth() {
    let mut load = summary();
    let mut row = done(collective(0, FLOWS, "open-loop", 16 << 20), 312, 46.9);
    (row.busbw_gbytes_per_s, row.line_rate_percent) = (None, None);
    load.jobs[0].collectives = vec![row];
    let text = table(&load);
    let head = "training: 8 ranks, last flow ended after 154.123 ms\n";
    assert!(text.contains(head), "{text}");
    let table = "
    size   time  goodput  FCT min    P50    P95    P99    max  frames  not accepted  retransmitted
             ms     GB/s       ms     ms     ms     ms     ms    sent        frames         frames
  16 MiB  0.312    53.60    0.250  0.281  0.306  0.309  0.312  28,672             2              2
";
    assert!(text.contains(table), "{text}");
}

#[test]
fn a_slow_background_stream_has_a_rate() {
    let mut trial = summary();
    let job = &mut trial.jobs[0];
    job.collectives.clear();
    (job.job.background, job.job.rx_bytes, job.job.rx_gbps) = (true, 1_500, Some(0.000_012));
    let expected = "training: 8 ranks, background: 1.50 kB received, 12.0 kb/s\n";
    assert!(table(&trial).contains(expected), "{}", table(&trial));
}

#[test]
fn losses_pauses_and_marks_have_a_line_where_there_are_any() {
    let mut trial = summary();
    let quiet = table(&trial);
    for label in ["lost", "pauses", "marks"] {
        assert!(!quiet.contains(&format!("\n{label} ")), "{quiet}");
    }
    trial.engine.simulated_ns = 5e6;
    trial.totals = Totals {
        lossless_dropped_frames: 3,
        nic_dropped_frames: 1,
        given_up_frames: 2,
        cnp_frames: 2_345,
        marked_frames: 12_345,
        rx_marked: 21.5,
        xoff_frames: 1_716,
        xon_frames: 1,
        nic_paused: Time::from_us(4_321),
        switch_paused: Time::from_us(98_765),
        most_paused_port: Some("spine0:4".to_owned()),
        most_paused: Time::from_us(1_234),
        ..Totals::default()
    };
    let expected = "\
lost     3 frames of lossless classes in switches, 1 frame in the receive buffers of NICs, 2 frames that \
         are not retransmitted
pauses   1,716 XOFF and 1 XON frame sent, NICs paused for 4.321 ms in sum over ports, switch ports paused for \
         98.765 ms in sum over ports, longest spine0:4 for 1.234 ms (24.7 % of the trial)
marks    12,345 frames marked by switches, 21.50 % of the data frames that arrived, 2,345 notifications
";
    let text = table(&trial);
    assert!(text.contains(expected), "{text}");
    // A pause that is sent and never applied, as the last of a trial may be, has no time.
    trial.totals = Totals {
        xoff_frames: 1,
        ..Totals::default()
    };
    let text = table(&trial);
    assert!(
        text.contains("\npauses   1 XOFF and 0 XON frames sent\n"),
        "{text}"
    );
}

#[test]
fn iterations_have_a_column_and_warm_ups_none() {
    let mut trial = summary();
    let row = trial.jobs[0].collectives[0].clone();
    let iteration = |iteration| CollectiveRow {
        iteration,
        warm_up: iteration == 0,
        ..row.clone()
    };
    trial.jobs[0].collectives = vec![iteration(0), iteration(1), iteration(2)];
    let text = table(&trial);
    assert!(
        text.contains("parallel (1 warm-up iteration not shown)\n"),
        "{text}"
    );
    assert!(text.contains("    size  iteration   time"), "{text}");
    assert!(text.contains("  16 MiB          2  0.312"), "{text}");
    assert!(!text.contains("  16 MiB          0"), "{text}");
}

#[test]
fn iterations_stand_together_whatever_ran_in_between() {
    // Two operations of two sizes, one warm-up and two measured iterations.
    let mut trial = summary();
    let mut rows = Vec::new();
    for iteration in 0..3 {
        for (index, operation, size) in [(0, "all-to-all", 1), (1, "all-to-all", 2), (2, "x", 1)] {
            rows.push(CollectiveRow {
                iteration,
                warm_up: iteration == 0,
                ..collective(index, operation, "y", size << 20)
            });
        }
    }
    trial.jobs[0].collectives = rows;
    let text = table(&trial);
    assert_eq!(
        text.matches("all-to-all, y (1 warm-up").count(),
        1,
        "{text}"
    );
    assert_eq!(text.matches("x, y (1 warm-up").count(), 1, "{text}");
    let lines = text.lines().filter(|line| line.contains(" MiB"));
    let sizes: Vec<String> = lines.map(|line| line.trim()[..16].to_owned()).collect();
    let expected = [
        "1 MiB          1",
        "1 MiB          2",
        "2 MiB          1",
        "2 MiB          2",
        "1 MiB          1",
        "1 MiB          2",
    ];
    assert_eq!(sizes, expected, "{text}");
}

#[test]
fn a_scenario_without_a_name_has_none() {
    let mut trial = summary();
    trial.scenario.clear();
    assert!(table(&trial).starts_with("seed 1\n"));
}

#[test]
fn short_times_keep_their_digits() {
    let mut trial = summary();
    // 5.25 µs is 0.00525 ms: three digits need five decimals.
    trial.jobs[0].collectives[0].completion_time = Some(Time::from_ns(5_250));
    assert!(
        table(&trial).contains("  16 MiB    0.00525"),
        "{}",
        table(&trial)
    );
}

#[test]
fn marks_have_columns_where_there_are_any() {
    let mut trial = summary();
    assert!(!table(&trial).contains("CE received"));
    trial.jobs[0].collectives[0].rx_marked_frames = 1_503;
    trial.jobs[0].collectives[0].cnp_frames = 17;
    let text = table(&trial);
    assert!(
        text.contains("retransmitted  CE received  CNP sent"),
        "{text}"
    );
    assert!(text.contains("2        1,503        17"), "{text}");
}

#[test]
fn a_time_that_stands_alone_has_a_readable_unit() {
    let times = [15_886, 33_161_000, 999, 2_059_000_000];
    assert_eq!(
        times.map(|ns| super::printed_time(Time::from_ns(ns))),
        ["15.886 µs", "33.161 ms", "999.000 ns", "2059.000 ms"]
    );
}

#[test]
fn json_is_the_summary() {
    let summary = summary();
    let text = TrialReport {
        summary: &summary,
        fabric: "",
        folder: None,
        ideal: false,
    }
    .render(Format::Json);
    assert_eq!(
        serde_json::from_str::<Summary>(&text).expect("own output"),
        summary
    );
}

#[test]
fn csv_is_the_collectives() {
    let mut summary = summary();
    // The second job of a scenario whose first has no collectives here.
    summary.jobs[0].job.job = 1;
    summary.jobs[0]
        .collectives
        .iter_mut()
        .for_each(|row| row.job = 1);
    let text = TrialReport {
        summary: &summary,
        fabric: "",
        folder: None,
        ideal: false,
    }
    .render(Format::Csv);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with("job,collective_index,iteration,warm_up,collective,"));
    assert!(
        lines[1].starts_with("1,0,0,false,all-to-all,parallel,16777216,8,"),
        "{}",
        lines[1]
    );
    assert!(lines[3].ends_with(",training"), "{}", lines[3]);
}

#[test]
fn ideal_ratios_have_a_table_of_their_own() {
    let mut trial = summary();
    let job = &mut trial.jobs[0];
    job.job.ideal_ratio = Some(1.038_04);
    job.collectives.truncate(1);
    let row = &mut job.collectives[0];
    row.full_mesh_time = Time::from_us(300);
    row.ideal_ratio = Some(1.038_04);
    row.flow_ratio_mean = Some(0.9);
    row.flow_ratio_max = Some(1.038);
    let text = TrialReport {
        summary: &trial,
        fabric: "",
        folder: None,
        ideal: true,
    }
    .render(Format::Table);
    let expected = "
ideal ratio: time over that of the same transfers on a full mesh of links at port speed
  job       collective              size  full mesh   ratio  flows: mean  P50  P99  P99.9     max
                                                 ms
  training  all                                      1.0380
            all-to-all, parallel  16 MiB      0.300  1.0380       0.9000    -    -      -  1.0380
";
    assert!(text.contains(expected), "{text}");
}
