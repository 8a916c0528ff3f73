//! `tenter run --seeds`: a trial per seed, and the table of all.

use serde_json::json;
use tenter::report::{read_rows, read_summary};
use tenter_results::SeedRow;

use crate::embedded::Embedded;
use crate::workplace::Workplace;

/// Two leaves with two uplinks each: which flows share an uplink depends on the seed.
const HASHED: &str = "
name: hashed
seed: 11
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 4}
jobs:
  - name: training
    iterations: 2
    warm_up: 1
    collectives:
      - {collective: all-to-all, sizes: [64KiB, 1MiB]}
";

#[test]
fn each_seed_is_a_trial_and_the_table_sums_them_up() {
    let workplace = Workplace::new("seeds-table");
    workplace.write("hashed.yaml", HASHED);
    let answer = workplace
        .words("run hashed.yaml --seeds 4 -o out")
        .expect(0);
    assert_eq!(answer.stderr, "");
    for part in [
        "hashed, seeds 11 to 14",
        "training: 8 ranks",
        "JCT",
        "1 MiB",
        "± 95 %",
        "trials   out",
    ] {
        assert!(answer.stdout.contains(part), "{part}\n{}", answer.stdout);
    }
    let expected = ["seed-11", "seed-12", "seed-13", "seed-14", "seeds.parquet"];
    assert_eq!(crate::workplace::entries(&workplace.path("out")), expected);
    let rows: Vec<SeedRow> = read_rows(&workplace.path("out")).expect("the table");
    // The job and its two sizes.
    assert_eq!(rows.len(), 3);
    let mut times = Vec::new();
    for seed in 11..15 {
        let folder = workplace.path(&format!("out/seed-{seed}"));
        let summary = read_summary(&folder).expect("a trial");
        assert_eq!(summary.seed, seed);
        let judged = summary.jobs[0].collectives.iter();
        let judged = judged.filter(|row| row.index == 1 && !row.warm_up);
        let sum: f64 = judged
            .map(|row| row.completion_time.expect("done").as_ns())
            .sum();
        times.push(sum / 2.0);
    }
    let row = &rows[2];
    assert_eq!((row.size_bytes, row.seeds), (Some(1 << 20), 4));
    let mean = times.iter().sum::<f64>() / 4.0;
    assert!((row.mean - mean).abs() < 1e-6);
    let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / 3.0;
    // Student's t with three degrees of freedom.
    let notes = tenter::report::read_notes(&workplace.path("out/seeds.parquet"));
    let notes = notes.expect("the table");
    assert_eq!(notes["tenter.seed"], "11,12,13,14");
    assert_eq!(notes["tenter.digest"].split(',').count(), 4);
    assert_eq!(notes["tenter.unit.time_mean_ns"], "ns");
    let ci95 = 3.182_446 * (variance / 4.0).sqrt();
    assert!(ci95 > 0.0, "seeds differ: {times:?}");
    assert!((row.ci95.expect("four seeds") - ci95).abs() < 1e-3);
    let (worst, time) = times
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(b.1))
        .expect("four seeds");
    assert!((row.worst - time).abs() < 1e-6);
    assert_eq!(row.worst_seed.0, 11 + worst as u64);
    // A trial is the one that a run with its seed leaves.
    let single = workplace
        .words("run hashed.yaml --seed 13 -o single --format json")
        .expect(0);
    let digest = single.json()["engine"]["digest"].clone();
    assert_eq!(
        workplace.json("out/seed-13/summary.json")["engine"]["digest"],
        digest
    );
}

#[test]
fn json_and_csv_have_the_same_rows() {
    let workplace = Workplace::new("seeds-formats");
    workplace.write("hashed.yaml", HASHED);
    let json = workplace
        .words("run hashed.yaml --seeds 2 --format json")
        .expect(0)
        .json();
    assert_eq!(json["trials"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["trials"][1]["trial"], "trials/hashed/seed-12");
    assert_eq!(json["seeds"][0]["job_name"], "training");
    assert!(json["seeds"][0]["collective"].is_null());
    let csv = workplace
        .words("run hashed.yaml --seeds 2 --format csv")
        .expect(0)
        .stdout;
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(csv.starts_with("job,job_name,collective_index,"));
    assert!(workplace.path("trials/hashed-2/seeds.parquet").is_file());
}

#[test]
fn a_seed_that_is_not_done_is_said_and_left_out() {
    let workplace = Workplace::new("seeds-limit");
    workplace.write("hashed.yaml", HASHED);
    let answer = workplace
        .words("run hashed.yaml --seeds 2 --set limits.time=30us -o out")
        .expect(1);
    assert!(
        answer.stdout.contains("seeds 11 to 12"),
        "{}",
        answer.stdout
    );
    assert!(workplace.path("out/seed-12/manifest.json").is_file());
    let rows: Vec<SeedRow> = read_rows(&workplace.path("out")).expect("the table");
    assert!(
        rows.iter().all(|row| row.index.is_some()),
        "the job was not done: {rows:?}"
    );
}

#[test]
fn folders_and_numbers_that_do_not_fit_are_refused() {
    let workplace = Workplace::new("seeds-refused");
    workplace.write("hashed.yaml", HASHED);
    workplace.write("mine/notes.txt", "mine");
    workplace
        .words("run hashed.yaml --seeds 2 -o mine")
        .expect_refusal(&["mine holds something else"]);
    workplace
        .words("run hashed.yaml --seeds 1")
        .expect_refusal(&["1"]);
    workplace
        .words("run hashed.yaml --seeds 2 --seed 18446744073709551615")
        .expect_refusal(&["no 2 seeds"]);
    workplace
        .words("run hashed.yaml --seeds 2 --watch flow=host0-host1")
        .expect_refusal(&["cannot be used with"]);
    assert_eq!(workplace.entries(), ["hashed.yaml", "mine"]);
    // An older answer is replaced.
    workplace
        .words("run hashed.yaml --seeds 3 -o out")
        .expect(0);
    workplace
        .words("run hashed.yaml --seeds 2 -o out")
        .expect(0);
    let rows: Vec<SeedRow> = read_rows(&workplace.path("out")).expect("the table");
    assert_eq!(rows[0].seeds, 2);
}

#[test]
fn a_folder_is_used_again_and_what_is_not_ours_stays() {
    let workplace = Workplace::new("seeds-again");
    workplace.write("hashed.yaml", HASHED);
    let run = |count: u32, seed: u32| {
        let words = format!("run hashed.yaml --seeds {count} --seed {seed} -o out");
        workplace.words(&words).expect(0)
    };
    let entries = |folder: &str| crate::workplace::entries(&workplace.path(folder));
    run(4, 1);
    // Fewer seeds, and a file and a folder of somebody else: old trials go, those two stay.
    workplace.write("out/notes.txt", "mine");
    workplace.write("out/seed-4/notes.txt", "mine");
    workplace.write("out/seed-9/notes.txt", "mine");
    run(2, 2);
    let expected = [
        "notes.txt",
        "seed-2",
        "seed-3",
        "seed-4",
        "seed-9",
        "seeds.parquet",
    ];
    assert_eq!(entries("out"), expected);
    assert_eq!(entries("out/seed-4"), ["notes.txt"]);
    assert_eq!(entries("out/seed-9"), ["notes.txt"]);
    // A run that was killed has left no table.
    std::fs::remove_file(workplace.path("out/seeds.parquet")).expect("it was there");
    run(2, 2);
    assert_eq!(entries("out"), expected);
}

#[test]
fn settings_without_effect_are_named() {
    let workplace = Workplace::new("seeds-notes");
    workplace.write("hashed.yaml", HASHED);
    let words = "run hashed.yaml --seeds 2 --set engine.window=1ms -o out";
    let note = "`engine.window` has no effect: windows are never longer than 2 us";
    let answer = workplace.words(words).expect(0);
    assert_eq!(answer.stdout.matches(&format!("note: {note}\n")).count(), 1);
    let json = workplace
        .words(&format!("{words} --format json"))
        .expect(0)
        .json();
    assert_eq!(json["notes"][0]["text"], note);
    assert_eq!(json["notes"].as_array().map(Vec::len), Some(1));
}

#[test]
fn finished_seeds_are_kept() {
    let workplace = Workplace::new("seeds-kept");
    workplace.write("hashed.yaml", HASHED);
    let run = || {
        workplace
            .words("run hashed.yaml --seeds 3 -o out")
            .expect(0)
    };
    let first = run();
    let began = |seed: u32| {
        let manifest = workplace.json(&format!("out/seed-{seed}/manifest.json"));
        manifest["wall_s"].clone()
    };
    let before = [11, 12, 13].map(began);
    // Seed 12 was killed, and the table is not there.
    let file = "out/seed-12/manifest.json";
    let text = std::fs::read_to_string(workplace.path(file)).expect("it is there");
    workplace.write(
        file,
        text.replace("\"complete\": true", "\"complete\": false"),
    );
    std::fs::remove_file(workplace.path("out/seeds.parquet")).expect("it was there");
    let again = run();
    assert_eq!(again.stdout, first.stdout);
    let kept: Vec<&str> = again.stderr.lines().collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(kept[0].starts_with("note: seed 11 (1 of 3) is finished in out/seed-11"));
    assert!(kept[1].starts_with("note: seed 13 (3 of 3) is finished in out/seed-13"));
    assert_eq!(
        [began(11), began(13)],
        [before[0].clone(), before[2].clone()]
    );
    assert_ne!(began(12), before[1]);
    // Another configuration is another trial.
    let words = "run hashed.yaml --seeds 3 -o out --set jobs[0].iterations=3";
    assert_eq!(workplace.words(words).expect(0).stderr, "");
}

#[test]
fn folders_of_seeds_are_compared_seed_by_seed() {
    let workplace = Workplace::new("seeds-compared");
    workplace.write("hashed.yaml", HASHED);
    for words in [
        "run hashed.yaml --seeds 3 -o one",
        "run hashed.yaml --seeds 3 -o two --set endpoint.nic.message_gap=100ns",
        "run hashed.yaml --seeds 2 --seed 40 -o apart",
        "run hashed.yaml -o single",
    ] {
        workplace.words(words).expect(0);
    }
    let answer = workplace.words("compare one two").expect(0);
    for part in ["job completion time (less is better)", "of 3 seeds"] {
        assert!(answer.stdout.contains(part), "{}", answer.stdout);
    }
    workplace.words("report one two -o seeds.html").expect(0);
    let sweep = Embedded::read(&workplace.path("seeds.html")).json("/api/v1/sweeps/1");
    assert_eq!(sweep["variants"], json!(["one", "two"]));
    assert_eq!(
        sweep["readings"][0]["best"].as_array().map(Vec::len),
        Some(1)
    );
    workplace
        .words("compare one apart")
        .expect_refusal(&["no seed in common", "--seeds 3"]);
    workplace
        .words("compare one single")
        .expect_refusal(&["name folders of one kind"]);
    workplace
        .words("compare one")
        .expect_refusal(&["name another folder"]);
}

#[test]
fn answers_to_a_query_are_compared_group_by_group() {
    let workplace = Workplace::new("query-compared");
    workplace.write("hashed.yaml", HASHED);
    for words in [
        "run hashed.yaml --seeds 3 -o one",
        "run hashed.yaml --seeds 3 -o two --set endpoint.nic.message_gap=100ns",
        "run hashed.yaml -o single",
        "run hashed.yaml --seed 9 -o other --set endpoint.nic.message_gap=100ns",
    ] {
        workplace.words(words).expect(0);
    }
    let query = "p99(flows.fct_ns), count(flows) by size_bytes";
    let compare = |folders: [&str; 2], more: &[&str]| {
        let line = ["compare", folders[0], folders[1], "--query", query];
        workplace.tenter(&[&line[..], more].concat())
    };
    let answer = compare(["one", "two"], &["--format", "json"])
        .expect(0)
        .json();
    let rows = answer["comparison"].as_array().expect("rows");
    let sizes = rows
        .iter()
        .filter(|row| row["reading"] == "p99(flows.fct_ns)");
    assert_eq!(2 * sizes.count(), rows.len());
    // The values are those of the query.
    let asked = ["query", "one", query, "--format", "json"];
    let asked = workplace.tenter(&asked).expect(0).json();
    let key = &asked["trials"][0]["rows"][0];
    let mut values: Vec<f64> = (0..3)
        .filter_map(|trial| asked["trials"][trial]["rows"][0][1].as_f64())
        .collect();
    values.sort_by(f64::total_cmp);
    let first = &rows[0];
    assert_eq!(first["settings"], format!("size_bytes={}", key[0]));
    assert_eq!((&first["pairs"], &first["unit"]), (&json!(3), &json!("ns")));
    assert_eq!(first["against_value"].as_f64(), Some(values[1]));
    // Single trials stand beside each other whatever their seeds are, without a test of luck.
    let table = compare(["single", "other"], &["--more-is-better"]).expect(0);
    for part in ["p99(flows.fct_ns)", "(more is better)", "size_bytes="] {
        assert!(table.stdout.contains(part), "{part}: {}", table.stdout);
    }
    assert!(!table.stdout.contains("seeds"), "{}", table.stdout);
    compare(["other", "one"], &[]).expect_refusal(&["no seed in common"]);
    compare(["single", "nowhere"], &[]).expect_refusal(&["nowhere"]);
    compare(["one", "one"], &[]).expect_refusal(&["is named twice"]);
    workplace
        .words("compare one --query count(flows)")
        .expect_refusal(&["`tenter query`"]);
}

#[test]
fn groups_are_compared_by_their_whole_name() {
    let workplace = Workplace::new("query-groups");
    let jobs = |names: &[&str]| {
        let job = |(at, name): (usize, &&str)| {
            let size = format!("{}KiB", 64 << at);
            format!(
                "  - {{name: '{name}', ranks: 2, collectives: [{{collective: all-to-all, size: {size}}}]}}\n"
            )
        };
        let jobs: String = names.iter().enumerate().map(job).collect();
        format!("fabric: {{kind: single-switch, hosts: 8}}\njobs:\n{jobs}")
    };
    workplace.write("two.yaml", jobs(&["1024B", "1KiB"]));
    workplace.write("three.yaml", jobs(&["1024B", "1KiB", "extra"]));
    workplace.write("other.yaml", jobs(&["a"]));
    for name in ["two", "three", "other"] {
        workplace
            .words(&format!("run {name}.yaml -o {name}"))
            .expect(0);
    }
    let query = "max(flows.fct_ns) by job_name";
    let compare = |folders: [&str; 2], query: &str, more: &[&str]| {
        let line = ["compare", folders[0], folders[1], "--query", query];
        workplace.tenter(&[&line[..], more].concat())
    };
    let answer = compare(["two", "three"], query, &["--format", "json"]);
    let answer = answer.expect(0).json();
    let asked = workplace.tenter(&["query", "two", query, "--format", "json"]);
    let asked = asked.expect(0).json();
    for row in asked["trials"][0]["rows"].as_array().expect("rows") {
        let settings = format!("job_name={}", row[0].as_str().expect("a name"));
        let rows = answer["comparison"].as_array().expect("rows");
        let same = rows.iter().find(|of| of["settings"] == settings.as_str());
        assert_eq!(
            same.expect("the group")["against_value"],
            row[1],
            "{settings}"
        );
    }
    let remark = "note: 1 group of three that two lacks, for instance job_name=extra";
    assert_eq!(answer["remarks"], json!([remark]));
    compare(["two", "other"], query, &[]).expect_refusal(&["no group in common"]);
    let nothing = "max(flows.fct_ns) where size_bytes > 1GiB";
    compare(["two", "three"], nothing, &[]).expect_refusal(&["no value in two"]);
}

#[test]
fn seeds_of_a_load_have_one_distribution() {
    let workplace = Workplace::new("seeds-load");
    workplace.write(
        "load.yaml",
        "
name: load
fabric: {kind: single-switch, hosts: 4, rate: 100Gbps}
jobs:
  - name: web
    workload: {sizes: google-all-rpc-homa, arrivals: poisson, load: 0.4, duration: 50us, pairs: [{from: [0-3], to: [0-3]}]}
",
    );
    let answer = workplace.words("run load.yaml --seeds 3 -o out").expect(0);
    // Each seed moves other bytes, so that of the first names nothing.
    for part in ["last flow ended", "FCT P99", "FCT max"] {
        assert!(answer.stdout.contains(part), "{part}: {}", answer.stdout);
    }
    for part in ["iB", "busbw", "JCT"] {
        assert!(!answer.stdout.contains(part), "{part}: {}", answer.stdout);
    }
    workplace.words("report out -o seeds.html").expect(0);
    let sweep = Embedded::read(&workplace.path("seeds.html")).json("/api/v1/sweeps/1");
    let readings = sweep["readings"].as_array().expect("readings");
    let names = readings.iter().map(|reading| reading["name"].as_str());
    let names = names
        .map(|name| name.expect("a name"))
        .collect::<Vec<_>>()
        .join("; ");
    for part in [
        "flows, FCT P99",
        "flows, slowdown P99",
        "end of the last flow",
    ] {
        assert!(names.contains(part), "{part}: {names}");
    }
    assert!(!names.contains("flows of "), "{names}");
    for reading in readings {
        let cells = reading["cells"].as_array().expect("cells");
        assert!(
            cells.iter().any(|cell| cell["value"].is_number()),
            "{reading}"
        );
    }
}
