//! `tenter bench`: the table of nccl-tests, its letters and its JSON.

use tenter::report::read_rows;
use tenter_results::CollectiveRow;

use crate::workplace::{Workplace, entries};

/// What a program gets out of a log of nccl-tests that knows nothing of Tenter: lines that begin
/// with `#` are comments, all others have thirteen columns, and two comments at the end are known
/// by their words.
#[derive(Debug, PartialEq)]
struct Log {
    rows: Vec<Row>,
    out_of_bounds: u64,
    average: f64,
}

#[derive(Debug, PartialEq)]
struct Row {
    size: u64,
    count: u64,
    datatype: String,
    redop: String,
    root: i64,
    out_of_place: Half,
    in_place: Half,
}

#[derive(Clone, Debug, PartialEq)]
struct Half {
    time_us: f64,
    algbw: f64,
    busbw: f64,
    wrong: Option<u64>,
}

fn parse(log: &str) -> Log {
    let known = |words: &str| {
        let line = log.lines().find(|line| line.starts_with(words));
        let line = line.unwrap_or_else(|| panic!("no {words:?} in\n{log}"));
        let (_, value) = line.split_once(':').expect("a colon");
        value.split_whitespace().next().expect("a value").to_owned()
    };
    let data = |line: &&str| !line.starts_with('#') && !line.trim().is_empty();
    Log {
        rows: log.lines().filter(data).map(parse_row).collect(),
        out_of_bounds: known("# Out of bounds values").parse().expect("a count"),
        average: known("# Avg bus bandwidth").parse().expect("a number"),
    }
}

fn parse_row(line: &str) -> Row {
    let columns: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(columns.len(), 13, "{line}");
    let number = |index: usize| columns[index].parse::<f64>().expect("a number");
    let half = |first: usize| Half {
        time_us: number(first),
        algbw: number(first + 1),
        busbw: number(first + 2),
        wrong: columns[first + 3].parse().ok(),
    };
    Row {
        size: columns[0].parse().expect("bytes"),
        count: columns[1].parse().expect("elements"),
        datatype: columns[2].to_owned(),
        redop: columns[3].to_owned(),
        root: columns[4].parse().expect("a rank"),
        out_of_place: half(5),
        in_place: half(9),
    }
}

#[test]
fn the_table_is_read_as_that_of_nccl_tests() {
    let workplace = Workplace::new("bench-table");
    let line = "bench all_reduce -b 8 -e 8M -f 2 --fabric rail-64";
    let answer = workplace.words(line).expect(0);
    assert_eq!(answer.stderr, "");
    let log = parse(&answer.stdout);
    // 8 bytes to 8 MiB are 21 powers of two.
    assert_eq!(log.rows.len(), 21);
    assert_eq!(log.out_of_bounds, 0);
    let mut sum = 0.0;
    for (row, power) in log.rows.iter().zip(3..) {
        assert_eq!((row.size, row.count), (1 << power, 1 << (power - 2)));
        assert_eq!(
            (row.datatype.as_str(), row.redop.as_str()),
            ("float", "sum")
        );
        assert_eq!((row.root, row.out_of_place.wrong), (-1, None));
        assert_eq!(row.out_of_place, row.in_place);
        let Half {
            time_us,
            algbw,
            busbw,
            ..
        } = row.out_of_place;
        // Times have five digits or more, bandwidths two decimals.
        let exact = row.size as f64 / (time_us * 1e3);
        assert!((algbw - exact).abs() < 0.005 + exact * 1e-4, "{row:?}");
        assert!(
            (busbw - exact * 2.0 * 63.0 / 64.0).abs() < 0.005 + exact * 2e-4,
            "{row:?}"
        );
        sum += busbw;
    }
    assert!((log.average - sum / 21.0).abs() < 0.005, "{}", log.average);
    let head = "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong \n";
    assert!(answer.stdout.contains(head), "{}", answer.stdout);
}

#[test]
fn the_trial_folder_has_what_the_table_says() {
    let workplace = Workplace::new("bench-folder");
    let line = "bench all_gather -b 64K -e 128K -f 2 -g 8 -n 3 -w 1 --fabric single-switch-8";
    let answer = workplace.words(line).expect(0);
    let folder = workplace.path("trials/bench-all_gather-single-switch-8");
    assert!(
        answer
            .stdout
            .contains("# Trial folder: trials/bench-all_gather-single-switch-8")
    );
    let collectives: Vec<CollectiveRow> = read_rows(&folder).expect("collectives");
    assert_eq!(collectives.len(), 2 * 4);
    let judged = collectives
        .iter()
        .filter(|row| row.index == 1 && !row.warm_up);
    let times: Vec<f64> = judged
        .map(|row| row.completion_time.expect("done").as_ns() / 1e3)
        .collect();
    let mean = times.iter().sum::<f64>() / 3.0;
    let rows = parse(&answer.stdout).rows;
    assert!((rows[1].out_of_place.time_us - mean).abs() < 0.005);
    // 8 shares of 16 KiB, counted in elements of a share.
    assert_eq!((rows[1].size, rows[1].count), (128 << 10, 4 << 10));
    // The effective configuration is a scenario that gives the same.
    let config = folder.join("config.yaml");
    let again = [
        "run",
        config.to_str().expect("UTF-8"),
        "-o",
        "again",
        "--format",
        "json",
    ];
    let again = workplace.tenter(&again).expect(0).json();
    let digest = again["engine"]["digest"].as_str().expect("a digest");
    assert!(answer.stdout.contains(digest));
}

#[test]
fn every_collective_of_nccl_tests_runs() {
    let workplace = Workplace::new("bench-all");
    for (name, redop, root, factor) in [
        ("all_reduce", "sum", -1, 1.75),
        ("all_gather", "none", -1, 0.875),
        ("reduce_scatter", "sum", -1, 0.875),
        ("alltoall", "none", -1, 0.875),
        ("broadcast", "none", 3, 1.0),
        ("reduce", "sum", 3, 1.0),
        ("sendrecv", "sum", -1, 1.0),
        ("gather", "none", 3, 0.875),
        ("scatter", "none", 3, 0.875),
        ("hypercube", "none", -1, 1.0),
    ] {
        let root_given = if root < 0 { "" } else { " -r 3" };
        let line = format!("bench {name} -b 4M -e 4M{root_given} --fabric single-switch-8");
        let answer = workplace.words(&line).expect(0);
        let log = parse(&answer.stdout);
        let row = &log.rows[0];
        assert_eq!(
            (row.size, row.redop.as_str(), row.root),
            (4 << 20, redop, root),
            "{name}"
        );
        let Half { algbw, busbw, .. } = row.out_of_place;
        assert!((busbw / algbw - factor).abs() < 0.01, "{name}: {row:?}");
        assert!(busbw > 5.0 && busbw < 50.0, "{name}: {row:?}");
        assert!(
            answer.stdout.contains(&format!("concluded: {name}_perf")),
            "{name}"
        );
    }
}

/// Eight NICs of a server carry a part of the buffer each, so the bus bandwidth passes that of one.
#[test]
fn a_hierarchical_all_reduce_uses_all_rails() {
    let workplace = Workplace::new("bench-hierarchical");
    let line =
        "bench all_reduce -b 64M -e 64M --algorithm hierarchical --fabric rail-64 --output out";
    let answer = workplace.words(line).expect(0);
    let rows = parse(&answer.stdout).rows;
    let busbw = rows[0].out_of_place.busbw;
    assert!(busbw > 100.0 && busbw < 400.0, "{busbw}");
    let config = std::fs::read_to_string(workplace.path("out/config.yaml")).expect("a folder");
    assert!(config.contains("npus_per_host: 8"), "{config}");
    assert!(config.contains("ranks: [0, 1, 2,"), "{config}");
    workplace
        .words("bench all_reduce --algorithm hierarchical --order rails --fabric rail-64")
        .expect_refusal(&["--order hosts"]);
    workplace
        .words("bench all_reduce --algorithm hierarchical --fabric leaf-spine-64")
        .expect_refusal(&["needs servers", "-g"]);
}

/// nccl-tests rounds the share of each rank down to 16 bytes; what is left of 8 bytes among 64
/// ranks is a row of nothing.
#[test]
fn sizes_without_a_share_for_every_rank_send_nothing() {
    let workplace = Workplace::new("bench-small");
    let answer = workplace
        .words("bench alltoall -b 8 -e 2K -f 4 -d half --fabric rail-64")
        .expect(0);
    let log = parse(&answer.stdout);
    let sizes: Vec<(u64, u64)> = log.rows.iter().map(|row| (row.size, row.count)).collect();
    assert_eq!(sizes, [(0, 0), (0, 0), (0, 0), (0, 0), (2_048, 16)]);
    assert_eq!(
        log.rows[0].out_of_place.time_us.to_bits(),
        0.0_f64.to_bits()
    );
    assert!(log.rows[4].out_of_place.time_us > 0.0);
    let answer = workplace
        .words("bench all_gather -b 8 -e 8 --fabric rail-64")
        .expect(0);
    assert_eq!(parse(&answer.stdout).rows.len(), 1);
    assert!(answer.stdout.contains("# Nothing was sent"));
    // Only the first left a trial.
    assert_eq!(
        entries(&workplace.path("trials")),
        ["bench-alltoall-rail-64"]
    );
}

#[test]
fn a_table_ends_where_time_was_up() {
    let workplace = Workplace::new("bench-limit");
    let line = "bench all_reduce -b 1M -e 4M -f 2 --fabric single-switch-8 \
                --set limits.time=100us --output out";
    let answer = workplace.words(line).expect(1);
    let log = parse(&answer.stdout);
    assert_eq!(log.rows.len(), 1);
    assert!((log.average - log.rows[0].in_place.busbw).abs() < 0.005);
    for part in ["time limit of 100us", "`all_reduce` was not completed"] {
        assert!(answer.stderr.contains(part), "{}", answer.stderr);
    }
    assert!(workplace.path("out/summary.json").is_file());
}

#[test]
fn json_is_that_of_nccl_tests_and_overwrites_nothing() {
    let workplace = Workplace::new("bench-json");
    workplace.write("log.json", "mine");
    let line = "bench broadcast -b 1M -e 2M -i 512K -J log.json --fabric single-switch-8";
    let answer = workplace.words(line).expect(0);
    assert!(answer.stdout.contains("# JSON: log.json.0"));
    assert_eq!(
        std::fs::read(workplace.path("log.json")).expect("kept"),
        b"mine"
    );
    let json = workplace.json("log.json.0");
    let rows = parse(&answer.stdout).rows;
    let results = json["results"].as_array().expect("a list");
    assert_eq!((results.len(), rows.len()), (3, 3));
    for (result, row) in results.iter().zip(&rows) {
        assert_eq!(result["size"], row.size);
        assert_eq!(result["type"], "float");
        for half in ["out_of_place", "in_place"] {
            let time = result[half]["time"].as_f64().expect("a time");
            assert!((time - row.out_of_place.time_us).abs() < 0.05);
            assert!(result[half]["nwrong"].is_null());
        }
    }
    assert_eq!(json["config"]["step_bytes"], 512 << 10);
    assert_eq!(json["config"]["devices"].as_array().map(Vec::len), Some(8));
    let average = &json["average_bus_bandwidth"]["bandwidth"];
    assert!(average.as_f64().expect("a number") > 5.0);
    assert_eq!(json["tenter"]["algorithm"], "ring");
    let assumed = &json["tenter"]["assumptions"];
    assert_eq!(
        (&assumed["servers"], &assumed["gpus_per_server"]),
        (&8.into(), &1.into())
    );
    assert!(assumed["scale_up_domain"].is_null());
    assert_eq!(assumed["rank_order"], "hosts");
    assert_eq!(assumed["lines"].as_array().map(Vec::len), Some(4));
}

#[test]
fn the_header_says_what_was_assumed() {
    let workplace = Workplace::new("bench-assumptions");
    let header = |more: &str| {
        let line = format!("bench {more} -b 64K -e 64K --fabric rail-64");
        let text = workplace.words(&line).expect(0).stdout;
        let lines = text.lines().skip(2).take(4);
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        lines.join("\n")
    };
    assert_eq!(
        header("all_reduce"),
        "# Servers: 8 servers with 8 GPUs each, and a NIC for each\n\
         # Scale-up domain: none (no NVLink), so all traffic crosses NICs, within a server too; \
         --set endpoint.host.scale_up.npus_per_host=8 adds one\n\
         # Rank order: along the rails, so rank 1 is GPU 0 of the second server; --order hosts \
         goes server after server\n\
         # Algorithm: ring at every size, where NCCL chooses by size and topology; --algorithm \
         takes bidirectional-ring, halving-doubling, double-binary-tree, hierarchical, nccl"
    );
    assert_eq!(
        header("all_reduce -g 8 --set endpoint.host.scale_up.npus_per_host=8"),
        "# Servers: 1 server with 8 GPUs, and a NIC for each\n\
         # Scale-up domain: 8 GPUs at 3.6Tbps and 1us; traffic among them crosses no NIC\n\
         # Rank order: GPU after GPU, server after server\n\
         # Algorithm: ring at every size, where NCCL chooses by size and topology; --algorithm \
         takes bidirectional-ring, halving-doubling, double-binary-tree, hierarchical, nccl"
    );
    let formula = header("all_reduce --algorithm hierarchical");
    assert!(
        formula.contains("8 GPUs at 3.6Tbps and 1us by formula"),
        "{formula}"
    );
    assert!(header("sendrecv").contains("ring at every size; there is no other"));
}

#[test]
fn a_scenario_file_lends_its_fabric() {
    let workplace = Workplace::with_small("bench-file");
    let line = "bench all_reduce -b 1M -e 1M --fabric small.yaml --set fabric.spines=1 --seed 7 \
                --set jobs[0].queue_pairs=2 --algorithm halving-doubling --output out --threads 2";
    let answer = workplace.words(line).expect(0);
    assert!(answer.stdout.contains("4 NICs, 3 switches"));
    assert!(answer.stdout.contains("algorithm halving-doubling, seed 7"));
    let config = std::fs::read_to_string(workplace.path("out/config.yaml")).expect("a folder");
    for part in [
        "queue_pairs: 2",
        "seed: 7",
        "spines: 1",
        "name: bench-all_reduce-small",
    ] {
        assert!(config.contains(part), "{part}\n{config}");
    }
    assert!(
        !config.contains("all-to-all"),
        "the file's own jobs are not run"
    );
}

#[test]
fn letters_without_a_meaning_are_refused_with_the_reason() {
    let workplace = Workplace::new("bench-letters");
    for letter in "cmNpzyTGCaRxDVMuISKF".chars() {
        let line = format!("bench all_reduce -b 1M -e 1M --fabric single-switch-8 -{letter} 7");
        let answer = workplace.words(&line);
        let named = format!("`-{letter} 7` of nccl-tests has no meaning here: ");
        answer.expect_refusal(&[&named, "help: leave it out"]);
    }
    // What asks for that which happens anyway is fine, also in its long form.
    let line = "bench all_reduce --minbytes 1M --maxbytes 1M --fabric single-switch-8 --check 0 \
                -a 3 -z 1 -p 0 -m 1 -N 1 --cudagraph 0";
    workplace.words(line).expect(0);
    assert_eq!(workplace.entries(), ["trials"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let workplace = Workplace::new("bench-refused");
    let cases: [(&str, &[&str]); 19] = [
        (
            "all_reduce --set jobs[0].iterations=3",
            &["`--set jobs[0].iterations`", "that this command sets"],
        ),
        (
            "all_reduce --set jobs[0].collectives[0].sizes=[8MiB]",
            &[
                "`--set jobs[0].collectives[0].sizes`",
                "that this command sets",
            ],
        ),
        (
            "all_reduce --set jobs[1].name=other",
            &["`--set jobs[1].name`", "that this command sets"],
        ),
        (
            "all_redcue",
            &["`all_redcue`", "did you mean `all_reduce`?"],
        ),
        (
            "all_reduce -b 2M -e 1M",
            &["2097152 bytes (-b)", "raise -e"],
        ),
        (
            "all_reduce -b 1 -e 1G -i 1",
            &["more than 10000 sizes", "-f 2"],
        ),
        ("all_reduce -b 1MB -e 1G", &["powers of 1024"]),
        ("all_reduce -f 1", &["1"]),
        ("all_reduce -f 2 -i 8", &["cannot be used with"]),
        ("all_reduce -n 0", &["0"]),
        ("all_reduce -d flaot", &["did you mean `float`?"]),
        ("all_reduce -d all", &["give one"]),
        ("all_reduce -o trials", &["--output"]),
        ("all_reduce -r 1", &["has no root"]),
        ("broadcast -r 64", &["choose from 0 to 63"]),
        ("broadcast -r -1", &["one root at a time"]),
        ("all_reduce -g 9", &["--nodes 8 -g 8"]),
        (
            "all_reduce --fabric rail64",
            &["`rail64`", "did you mean `rail-64`?"],
        ),
        ("all_reduce --algorithm rign", &["did you mean `ring`?"]),
    ];
    for (line, parts) in cases {
        workplace
            .words(&format!("bench {line}"))
            .expect_refusal(parts);
    }
    let line = "bench hypercube -b 1M -e 1M -g 6 --fabric single-switch-8";
    workplace.words(line).expect_refusal(&["hypercube", "6"]);
    let line = "bench all_reduce -J no/such.json --fabric single-switch-8";
    workplace.words(line).expect_refusal(&["no folder no"]);
    let line = "bench all_reduce --fabric single-switch-8 --set fabric.hostz=3";
    workplace
        .words(line)
        .expect_refusal(&["unknown key `hostz`", "did you mean `hosts`?"]);
    assert!(workplace.entries().is_empty());
}

#[test]
fn presets_are_listed_and_printed_as_scenarios() {
    let workplace = Workplace::new("presets");
    let list = workplace.words("presets").expect(0).stdout;
    assert_eq!(workplace.words("presets list").expect(0).stdout, list);
    for name in [
        "single-switch-8",
        "leaf-spine-64",
        "rail-64",
        "fat-tree-128",
        "leaf-spine-512",
    ] {
        assert!(list.contains(name), "{list}");
        let text = workplace
            .words(&format!("presets show {name}"))
            .expect(0)
            .stdout;
        // With jobs it is a scenario.
        let jobs = "jobs: [{collectives: [{collective: send-recv, size: 1KiB}]}]\n";
        workplace.write("preset.yaml", text + jobs);
        workplace.words("validate preset.yaml").expect(0);
    }
    workplace
        .words("presets show rail64")
        .expect_refusal(&["no preset `rail64`", "did you mean `rail-64`?"]);
}

#[test]
fn settings_without_effect_are_named() {
    let workplace = Workplace::new("bench-notes");
    let words = "bench all_reduce -b 1M -e 1M --fabric leaf-spine-64 --set engine.window=1ms";
    let answer = workplace.words(words).expect(0);
    let note = "# Note: `engine.window` has no effect: windows are never longer than 2 us\n";
    assert_eq!(answer.stdout.matches(note).count(), 1, "{}", answer.stdout);
}

#[test]
fn what_is_wrong_with_a_job_names_its_flags() {
    let workplace = Workplace::new("bench-places");
    let words =
        "bench sendrecv -b 1T -e 1T --fabric rail-64 --set endpoint.nic.mtu=256 --output out";
    let answer = workplace.words(words);
    answer.expect_refusal(&[
        "puts 4294967296 packets on one queue pair",
        "--> COLLECTIVE, -b, -e, -f and -i\n",
    ]);
}

/// One server of eight H100, as nccl-tests shows it: 13.7 and 12.9 us measured for 8 bytes, 27.4 us
/// for 1 MiB, 480 GB/s for large sizes. The server to which the kernels are fitted needs 15.6 us
/// for 512 bytes, so the lower of the two logs is missed by a quarter.
#[test]
fn a_server_of_the_default_fabric_reads_like_a_real_one() {
    let workplace = Workplace::new("bench-dgx");
    let line = "bench all_reduce -b 8 -e 16G -f 2 -g 8 --output out";
    let text = workplace.words(line).expect(0).stdout;
    let rows = parse(&text).rows;
    let time = |size: u64| {
        let row = rows.iter().find(|row| row.size == size);
        row.expect("a row").out_of_place.clone()
    };
    let small = time(8).time_us;
    assert!(
        (small / 13.67 - 1.0).abs() < 0.2 && (small / 12.9 - 1.0).abs() < 0.25,
        "{small}"
    );
    let middle = time(1 << 20).time_us;
    assert!((20.0..30.0).contains(&middle), "{middle}");
    let large = time(1 << 34).busbw;
    assert!((large / 479.9 - 1.0).abs() < 0.1, "{large}");
    for part in [
        "# Fabric dgx-h100-64, algorithm nccl, seed 1",
        "# Scale-up domain: 8 GPUs at 2.9664Tbps and 600ns; traffic among them crosses no NIC",
        "# Algorithm: NCCL's choice by the fastest of its kernels, ring ll from 8, ",
        "# NCCL's model: hopper GPUs, 8 NICs at 400Gbps for each server, intel processors, ",
        "# NCCL's kernels: launch, steps and rates fitted to measured servers of h100",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let config = std::fs::read_to_string(workplace.path("out/config.yaml")).expect("a folder");
    for part in ["algorithm: nccl", "generation: hopper", "npus_per_host: 8"] {
        assert!(config.contains(part), "{part}\n{config}");
    }
}

/// Servers of a domain have ranks one after the other, and hand over by PXN.
#[test]
fn several_servers_have_the_order_of_a_launcher() {
    let workplace = Workplace::new("bench-servers");
    let header = |line: &str| {
        let text = workplace.words(line).expect(0).stdout;
        let lines = text.lines().skip(2).take(5);
        lines.map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    let text = header("bench all_reduce -b 64K -e 64K --nodes 2 -g 8");
    assert!(
        text.contains("# Rank order: GPU after GPU, server after server"),
        "{text}"
    );
    assert!(text.contains("tree ll at every size here"), "{text}");
    let text = header("bench alltoall -b 1M -e 1M --nodes 2 -g 8");
    assert!(text.contains("# Algorithm: pxn at every size"), "{text}");
    let text = header("bench all_gather -b 1M -e 1M -g 8 --fabric mi300x-64");
    assert!(text.contains("# Algorithm: ring at every size"), "{text}");
}
