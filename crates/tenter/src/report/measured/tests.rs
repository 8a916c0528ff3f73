use super::*;

const TEXT: &str = "\
# nThread 1 nGpus 8 minBytes 8388608 maxBytes 33554432 step: 2(factor) warmup iters: 5 iters: 20
#  Rank  0 Group  0 Pid 7 on node-1 device  0 [0000:19:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid 8 on node-2 device  0 [0000:19:00] NVIDIA H100 80GB HBM3
# Collective test starting: all_reduce_perf
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     8388608       2097152     float     sum      -1    103.1   81.36  142.38      0    102.9   81.52  142.66      0
[1,0]<stdout>:    33554432       8388608     float     sum      -1    12345  229.30  401.28    N/A    270.0  124.28  217.48      0
# Avg bus bandwidth    : 148.3
";

fn one(text: &str) -> Measured {
    let mut all = Measured::parse("log", text).expect("it is read");
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn row(size_bytes: u64, time_us: f64, busbw: f64) -> MeasuredRow {
    MeasuredRow {
        size_bytes,
        time_us: Some(time_us),
        busbw: Some(busbw),
    }
}

#[test]
fn text_is_read() {
    let log = one(TEXT);
    assert_eq!(log.collective.as_deref(), Some("all-reduce"));
    assert_eq!((log.ranks, log.reduces), (Some(2), Some(true)));
    assert!((log.factor.expect("there is one") - 1.75).abs() < 1e-4);
    assert_eq!(
        log.rows,
        [row(8 << 20, 103.1, 142.38), row(32 << 20, 12_345.0, 401.28)]
    );
    assert_eq!(log.notes, Vec::<String>::new());
}

#[test]
fn marks_of_launchers_and_other_lines_are_passed_over() {
    let rows = [
        "0: 1024 256 float sum -1 16.4 0.06 0.11 0",
        "[1,0]<stdout>:1024 256 float sum -1 16.4 0.06 0.11 0 15.6 0.07 0.11 0",
        "2026-05-01T12:00:00.123Z stdout F 1024 256 half sum -1 16.4 0.06 0.11 0 1 1 1 N/A",
        "12 nodes in 3 racks\n1024 256 float sum 16.4 0.06 0.11 0e+00 15.6 0.07 0.11 0e+00",
    ];
    for text in rows {
        let log = one(text);
        assert_eq!(log.rows, [row(1_024, 16.4, 0.11)], "{text}");
        assert_eq!((log.collective, log.ranks), (None, None));
    }
}

#[test]
fn rows_without_numbers_sizes_twice_and_wrong_results_are_noted() {
    let text = "\
8 2 float none -1 0.00 nan nan 0
64 2 float none -1 1.5 0.04 0.04 3
64 2 float none -1 1.6 0.04 0.04 0";
    let log = one(text);
    assert_eq!(log.rows, [row(64, 1.5, 0.04)]);
    assert_eq!(
        log.notes,
        [
            "1 rows have no number (nan), and are left out",
            "1 rows have wrong results by nccl-tests' own check, and are kept",
            "1 rows have a size that occurs before, and are left out",
        ]
    );
}

#[test]
fn json_is_read_without_its_environment() {
    let text = r#"{"version": 3, "args": ["./build/alltoall_perf", "-b", "8"],
        "env": ["TOKEN=of-the-reader"], "config": {"devices": [{"rank": 0}, {"rank": 1}]}, "results": [
        {"size": 0, "redop": "none", "out_of_place": {"time": 0.1, "alg_bw": "nan", "bus_bw": "nan"}},
        {"size": 512, "redop": "none", "out_of_place": null, "in_place": {"cpu_time": 9.5, "alg_bw": 1, "bus_bw": 0.5}},
        {"size": 1048576, "redop": "none", "out_of_place": {"time": 50.5, "alg_bw": 36.2, "bus_bw": 18.1, "nwrong": 0}}]}"#;
    let log = one(text);
    assert_eq!(log.collective.as_deref(), Some("all-to-all"));
    assert_eq!((log.ranks, log.factor), (Some(2), Some(0.5)));
    assert_eq!(log.rows, [row(512, 9.5, 0.5), row(1 << 20, 50.5, 18.1)]);
    assert!(!format!("{log:?}").contains("of-the-reader"));
    assert_eq!(log.notes.len(), 2);
}

#[test]
fn the_unit_of_perftest_follows_from_its_rate_of_messages() {
    // 65,536 bytes: 0.1766 million messages per second are 92.59 Gb/s, or 11,037.5 MiB/s.
    let file = |rate: &str| {
        format!(
            "{{\"test_info\": {{\"test\": RDMA_Write_BW, \"Device\": mlx5_0}},\n\"results\": {{\"MsgSize\": 65536, \"n_iterations\": 5000, \"BW_peak\": 0.0, \"BW_average\": {rate}, \"MsgRate\": 0.176600}}}}"
        )
    };
    for rate in ["92.59", "11037.5"] {
        let log = one(&file(rate));
        let busbw = log.rows[0].busbw.expect("a bandwidth");
        assert!((busbw - 11.574).abs() < 0.01, "{rate}: {busbw}");
        assert_eq!(
            (log.rows[0].size_bytes, log.rows[0].time_us),
            (65_536, None)
        );
    }
    let error = Measured::parse("x", &file("50")).expect_err("no unit fits");
    assert!(error.contains("neither MiB/s nor Gb/s"), "{error}");
    let latency =
        r#"{"results": {"MsgSize": 2, "n_iterations": 1000, "t_avg": 1.25, "t_typical": 1.2}}"#;
    assert_eq!(
        one(latency).rows,
        [MeasuredRow {
            size_bytes: 2,
            time_us: Some(1.25),
            busbw: None
        }]
    );
}

#[test]
fn tables_have_their_units_in_the_line_of_names() {
    let text = "# measured in May\nsize (KiB);time (ms);busbw (Gb/s);node\n64;0.5;80;a\n128;1;;a\n";
    let log = one(text);
    let half = MeasuredRow {
        busbw: None,
        ..row(128 << 10, 1_000.0, 0.0)
    };
    assert_eq!(log.rows, [row(64 << 10, 500.0, 10.0), half]);
    assert_eq!(log.notes, ["columns that are not read: `node`"]);
    // 1,000 bytes at 2 GB/s take 0.5 µs.
    let log = one("size_bytes,algbw_gbytes_per_s\n1000,2\n");
    assert_eq!(log.rows[0].time_us, Some(0.5));
    let of_several = "collective,bytes,time_us\nall_reduce,8,1\nbroadcast,8,2\nall_reduce,16,3\n";
    let all = Measured::parse("x", of_several).expect("a table");
    let names: Vec<_> = all
        .iter()
        .map(|of| (of.collective.as_deref(), of.rows.len()))
        .collect();
    assert_eq!(names, [(Some("all-reduce"), 2), (Some("broadcast"), 1)]);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    let cases = [
        ("", "no row of results"),
        ("hello\nworld", "no row of results"),
        ("{\"results\": 3}", "not the JSON of nccl-tests"),
        ("8 2 float sum -1 1.0", "line 1: the row ends before"),
        (
            "8 2 float sum -1 x 1 1 0 1 1 1 0",
            "line 1: `x` in column `time` is not a number",
        ),
        ("8 2 float sum -1 nan 1 1 0 1 1 1 0", "no row of results"),
        ("8 2 float sum -1 1 1 -4 0 1 1 1 0", "make no sense"),
        (
            "99999999999999999999999 2 float sum -1 1 1 1 0 1 1 1 0",
            "is no number of bytes",
        ),
        ("size,time\n8,1", "line 1: the column `time` needs a unit"),
        (
            "size,colour\n8,1",
            "line 1: there is neither a time nor a bandwidth",
        ),
        ("size_bytes,time_us\n8,1us", "line 2: `1us` is not a number"),
        ("size_bytes,time_us\n-8,1", "line 2: `-8` is no size"),
        (
            "{\"results\": {\"MsgSize\": \"x\"}}",
            "not those of perftest",
        ),
    ];
    for (text, expected) in cases {
        let error = Measured::parse("x", text).expect_err(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn damaged_files_are_refused_or_read_and_nothing_panics() {
    let files = [
        TEXT.to_owned(),
        r#"{"args": ["all_reduce_perf"], "results": [{"size": 8, "redop": "sum", "out_of_place": {"time": 1, "alg_bw": 1, "bus_bw": 1}}]}"#.to_owned(),
        r#"{"results": {"MsgSize": 65536, "BW_average": 92.59, "MsgRate": 0.1766}}"#.to_owned(),
        "size (KiB);time (ms);busbw (Gb/s)\n64;0.5;80\n128;1;\n".to_owned(),
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..20_000 {
        let mut bytes = files[round % files.len()].clone().into_bytes();
        for _ in 0..=draw(4) {
            let place = draw(bytes.len());
            match draw(4) {
                0 => bytes[place] = b"0123456789 .,;:-#{}[]\"\n\te"[draw(25)],
                1 => bytes[place] = draw(256) as u8,
                2 => bytes.truncate(place.max(1)),
                _ => {
                    bytes.remove(place);
                    bytes.push(b'9');
                }
            }
        }
        let _ = Measured::parse("damaged", &String::from_utf8_lossy(&bytes));
    }
}
