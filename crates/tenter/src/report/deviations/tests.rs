use tenter_results::{CollectiveRow, JobRow, JobSummary, Summary};

use super::*;

/// An all-reduce of 1 MiB that takes this time, on four ranks.
fn trial(name: &str, job: &str, ns: u64) -> NamedSummary {
    let time = Some(Time::from_ps(ns * 1_000));
    let collective = CollectiveRow {
        collective: "all-reduce".to_owned(),
        size_bytes: 1 << 20,
        ranks: 4,
        completion_time: time,
        algbw_gbytes_per_s: Some(1e6 / ns as f64 / 1.5),
        busbw_gbytes_per_s: Some(1e6 / ns as f64),
        ..CollectiveRow::default()
    };
    let job = JobSummary {
        job: JobRow {
            name: job.to_owned(),
            jct: Some(Time::from_ps(10 * ns * 1_000)),
            ..JobRow::default()
        },
        collectives: vec![collective],
    };
    NamedSummary {
        name: name.to_owned(),
        summary: Summary {
            jobs: vec![job],
            ..Summary::default()
        },
    }
}

fn file(rows: &[(u64, f64, f64)]) -> Measured {
    let row = |&(size_bytes, time_us, busbw): &(u64, f64, f64)| MeasuredRow {
        size_bytes,
        time_us: Some(time_us),
        busbw: Some(busbw),
    };
    Measured {
        name: "run.log".to_owned(),
        rows: rows.iter().map(row).collect(),
        ..Measured::default()
    }
}

#[test]
fn a_file_stands_beside_its_size() {
    let measured = file(&[(1 << 20, 2.5, 400.0)]);
    let mut rows = comparison_rows(&[trial("a", "x", 2_000)]);
    add_measured(&mut rows, &measured, None).expect("the only collective");
    assert_eq!(rows.len(), 4);
    // 2.5 µs against 2 µs, 400 against 500 GB/s.
    assert_eq!(rows[2].time_difference, Some(25.0));
    let busbw = rows[2].busbw_difference.expect("both have one");
    assert!((busbw + 20.0).abs() < 1e-9, "{busbw}");
    // It is there once, beside the first of two trials whose jobs have other names.
    let mut both = comparison_rows(&[trial("a", "x", 1_000), trial("b", "y", 1_500)]);
    add_measured(&mut both, &measured, None).expect("the only collective");
    let names: Vec<&str> = both.iter().map(|row| row.trial.as_str()).collect();
    assert_eq!(names, ["a", "b", "a", "run.log", "b", "a", "b"]);
    let elsewhere = file(&[(8, 2.5, 400.0)]);
    let error = add_measured(&mut rows, &elsewhere, None).expect_err("no common size");
    assert!(
        error.contains("the file has 8 B, the trial 1 MiB"),
        "{error}"
    );
    let error = add_measured(&mut rows, &elsewhere, Some("gather"));
    assert!(error.expect_err("not there").contains("only all-reduce"));
}

#[test]
fn deviations_are_of_the_simulation_from_the_measurement() {
    let trials = [trial("a", "x", 2_000), trial("b", "x", 3_000)];
    let files = [file(&[(8, 1.0, 1.0), (1 << 20, 2.5, 400.0)])];
    let rows = deviation_rows(&trials, &files, None).expect("a common size");
    let times: Vec<_> = rows
        .iter()
        .map(|row| (row.trial.as_str(), row.time_deviation))
        .collect();
    assert_eq!(times, [("a", Some(-20.0)), ("b", Some(20.0))]);
    let text = deviation_table(&rows);
    assert!(text.contains("all-reduce of run.log"), "{text}");
    assert!(
        text.contains("a: mean absolute deviation 20.0 %, farthest -20.0 % at 1 MiB"),
        "{text}"
    );
    assert_eq!(
        doubts(&trials, &files, &rows),
        ["run.log: 1 of 2 sizes are in no trial"]
    );
}

#[test]
fn other_operations_and_ranks_raise_doubts() {
    let trials = [trial("a", "x", 2_000)];
    let of_eight = Measured {
        ranks: Some(8),
        ..file(&[(1 << 20, 2.5, 400.0)])
    };
    let files = [of_eight];
    let rows = deviation_rows(&trials, &files, None).expect("a common size");
    let doubts_of = |files: &[Measured]| doubts(&trials, files, &rows);
    assert_eq!(
        doubts_of(&files),
        ["run.log: it is of 8 ranks, and a has 4"]
    );
    // 2 · 7 / 8 = 1.75 of eight ranks against 1.5 of four.
    let by_factor = [Measured {
        factor: Some(1.75),
        ..file(&[(1 << 20, 2.5, 400.0)])
    }];
    let doubt = doubts_of(&by_factor).remove(0);
    assert!(doubt.contains("1.750 times"), "{doubt}");
    let gathers = [Measured {
        reduces: Some(false),
        ..file(&[(1 << 20, 2.5, 400.0)])
    }];
    let error = deviation_rows(&trials, &gathers, None).expect_err("no such operation");
    assert!(
        error.contains("that does not reduce, and the trial has only all-reduce"),
        "{error}"
    );
}
