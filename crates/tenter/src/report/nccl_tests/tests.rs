use super::*;

fn report() -> BenchReport {
    BenchReport {
        program: "all_reduce_perf".to_owned(),
        about: vec!["a line".to_owned()],
        threads: 1,
        gpus: 1,
        min_bytes: 8,
        max_bytes: 16,
        step: BenchStep::Factor(2),
        warm_up: 0,
        iterations: 1,
        devices: vec![BenchDevice {
            process: 3,
            host: "host3".to_owned(),
            device: 0,
            about: "NIC 400Gbps".to_owned(),
        }],
        datatype: "float".to_owned(),
        redop: "sum".to_owned(),
        root: -1,
    }
}

fn row(time_us: f64, busbw: f64) -> BenchRow {
    BenchRow {
        size_bytes: 1 << 30,
        count: 1 << 28,
        time_us,
        algbw: busbw / 2.0,
        busbw,
    }
}

/// The widths that published logs of nccl-tests have.
#[test]
fn lines_have_the_columns_of_nccl_tests() {
    let report = report();
    let expected = "  1073741824     268435456     float     sum      -1  43265.6   24.82   48.86    N/A  43265.6   24.82   48.86    N/A\n";
    let shown = report.row(&BenchRow {
        algbw: 24.82,
        ..row(43_265.6, 48.86)
    });
    assert_eq!(shown, expected);
    let header = report.header();
    let lines: Vec<&str> = header.lines().collect();
    assert_eq!(
        lines,
        [
            "# a line",
            "# Collective test starting: all_reduce_perf",
            "# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 0 iters: 1 agg iters: 1 validation: 0 graph: 0 unalign: 0",
            "#",
            "# Using devices",
            "#  Rank  0 Group  0 Pid      3 on      host3 device  0 [0000:00:00] NIC 400Gbps",
            "#",
            "#                                                              out-of-place                       in-place          ",
            "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong ",
            "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         ",
        ]
    );
    let footer = report.footer(&[row(1.0, 40.0), row(1.0, 41.0)]);
    assert_eq!(
        footer,
        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 40.5 \n#\n# Collective test concluded: all_reduce_perf\n"
    );
}

#[test]
fn numbers_keep_to_their_column() {
    let cases = [
        (0.0, 7, "   0.00"),
        (9_999.99, 7, "9999.99"),
        (10_000.0, 7, "10000.0"),
        (123_456.7, 7, " 123457"),
        (1_234_567.0, 7, "1234567"),
        (12_345_678.0, 7, "1.2e+07"),
        (48.86, 6, " 48.86"),
        (1_234.56, 6, "1234.6"),
        (12_345.6, 6, " 12346"),
        (1_234_567.0, 6, "1e+06"),
    ];
    for (value, width, expected) in cases {
        assert_eq!(float(value, width), expected);
    }
}

#[test]
fn averages_are_printed_as_c_does() {
    let cases = [
        (0.0, "0"),
        (40.5, "40.5"),
        (24.123_456_7, "24.1235"),
        (123_456.7, "123457"),
        (1_234_567.0, "1.23457e+06"),
        (0.000_012_3, "1.23e-05"),
        (0.000_123, "0.000123"),
    ];
    for (value, expected) in cases {
        assert_eq!(general(value), expected);
    }
}

#[test]
fn json_has_the_keys_of_nccl_tests() {
    let report = report();
    let rows = [row(2.0, 40.0)];
    let arguments = ["tenter".to_owned()];
    let text = report.json(&rows, &arguments, SystemTime::UNIX_EPOCH, &Value::Null);
    let json: Value = serde_json::from_str(&text).expect("own output");
    assert_eq!(json["version"], 2);
    assert_eq!(json["start_time"], "1970-01-01 00:00:00");
    assert_eq!(json["config"]["step_factor"], 2);
    assert_eq!(json["config"]["devices"][0]["hostname"], "host3");
    let result = &json["results"][0];
    assert_eq!(result["root"], "    -1");
    assert_eq!(result["out_of_place"]["bus_bw"], 40.0);
    assert_eq!(result["out_of_place"], result["in_place"]);
    assert_eq!(json["average_bus_bandwidth"]["bandwidth"], 40.0);
}
