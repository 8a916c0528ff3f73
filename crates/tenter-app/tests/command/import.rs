//! `tenter import`.

#[cfg(unix)]
use std::process::Stdio;

use crate::workplace::{Answer, Workplace};

const CONFIG_DB: &str = include_str!("../../../../scenarios/sonic/config_db.json");

const EIGHT: &str = "
name: eight
fabric: {kind: single-switch, hosts: 8}
jobs: [{collectives: [{collective: all-to-all, size: 64KiB}]}]
";

#[test]
fn a_sonic_switch_becomes_part_of_a_scenario() {
    let workplace = Workplace::new("import-sonic");
    workplace.write("config_db.json", CONFIG_DB);
    workplace.write("eight.yaml", EIGHT);
    let answer = workplace.words("import sonic config_db.json").expect(0);
    let alpha = "alpha: 1/4  # BUFFER_PROFILE|pg_lossless_400000_5m_profile|dynamic_th";
    assert!(answer.stdout.contains(alpha), "{}", answer.stdout);
    assert!(
        answer
            .stderr
            .lines()
            .all(|line| line.starts_with("warning: ")),
        "{}",
        answer.stderr
    );
    let unused = "warning: BUFFER_POOL|egress_lossless_pool: ";
    assert!(answer.stderr.contains(unused), "{}", answer.stderr);

    let json = workplace.words("import sonic config_db.json --format json");
    let json = json.expect(0).json();
    assert_eq!(json["fabric"]["switch"]["classes"][3]["class"], 3);

    let line = workplace.words("import sonic config_db.json --format override");
    let line = line.expect(0).stdout;
    let run = ["run", "eight.yaml", "-o", "trial", "--set", line.trim_end()];
    workplace.tenter(&run).expect(0);
    let config = std::fs::read_to_string(workplace.path("trial/config.yaml"));
    let config = config.expect("the trial has its configuration");
    for part in ["184320B", "1/4", "400ms"] {
        assert!(config.contains(part), "{part}\n{config}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let workplace = Workplace::new("import-sonic-broken");
    workplace.write("broken.json", CONFIG_DB.replace("\"184320\"", "\"180K\""));
    let answer = workplace.words("import sonic broken.json");
    answer.expect_refusal(&[
        "`BUFFER_PROFILE|pg_lossless_400000_5m_profile|xoff` cannot be `180K`",
        "--> broken.json:",
        "write a whole number",
    ]);
    let answer = workplace.words("import sonic absent.json");
    answer.expect_refusal(&["cannot read absent.json"]);
    workplace.write("config_db.json", CONFIG_DB);
    let answer = workplace.words("import sonic config_db.json --port Ethernet1");
    answer.expect_refusal(&["no port `Ethernet1`"]);
}

const GOAL: &str = "
num_ranks 2
rank 0 {
  a: calc 500
  b: send 65536b to 1 tag 7
  b requires a
}
rank 1 { recv 65536b from 0 tag 7 }
";

#[test]
fn operations_are_counted_kept_run_and_written() {
    let workplace = Workplace::new("import-goal");
    workplace.write("app.goal", GOAL);
    let counted = workplace.words("import goal app.goal -o app.tenter --format json");
    let counted = counted.expect(0).json();
    for (key, count) in [
        ("ranks", 2),
        ("operations", 3),
        ("computes", 1),
        ("sends", 1),
        ("receives", 1),
        ("collectives", 0),
        ("waits", 1),
        ("sent_bytes", 65_536),
    ] {
        assert_eq!(counted[key], count, "{key}");
    }
    let fabric = "fabric: {kind: single-switch, hosts: 2}\n";
    let job = |kind: &str, file: &str| {
        format!("{fabric}jobs: [{{workload: {{kind: {kind}, file: {file}}}}}]\n")
    };
    workplace.write("goal.yaml", job("goal", "app.goal"));
    workplace.write("graph.yaml", job("graph", "app.tenter"));
    let digest = |scenario: &str, folder: &str| {
        workplace
            .words(&format!("run {scenario} -o {folder}"))
            .expect(0);
        workplace.json(&format!("{folder}/summary.json"))["digest"].clone()
    };
    let of_file = digest("goal.yaml", "goal");
    assert_eq!(digest("graph.yaml", "graph"), of_file);
    assert_eq!(digest("goal/config.yaml", "again"), of_file);
    workplace
        .words("export goal graph.yaml -o back.goal")
        .expect(0);
    workplace.write("back.yaml", job("goal", "back.goal"));
    assert_eq!(digest("back.yaml", "back"), of_file);
    workplace
        .words("export graph goal.yaml -o back.tenter")
        .expect(0);
    let kept = |name: &str| std::fs::read(workplace.path(name)).expect("it was written");
    assert_eq!(kept("back.tenter"), kept("app.tenter"));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once() {
    use std::io::Write as _;
    let workplace = Workplace::new("import-pipe");
    let node = |id: u32| {
        let attributes =
            r#"[{"name": "comm_type", "int64_val": 0}, {"name": "comm_size", "int64_val": 4096}]"#;
        format!(r#"{{"id": {id}, "name": "n", "type": 7, "attr": {attributes}}}"#)
    };
    let trace = format!(r#"{{"nodes": [{}, {}]}}"#, node(1), node(2));
    for (format, text, operations) in [
        ("chakra --set ranks=3", trace.as_str(), 6),
        ("goal", GOAL, 3),
    ] {
        let line = format!("import {format} --format json /dev/stdin");
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = workplace.command(&words);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("it runs");
        let mut input = child.stdin.take().expect("it is a pipe");
        input.write_all(text.as_bytes()).expect("it reads");
        drop(input);
        let output = child.wait_with_output().expect("it ends");
        let answer = Answer::of(&output).expect(0);
        assert_eq!(answer.json()["operations"], operations, "{format}");
    }
}

#[test]
fn exported_chakra_traces_are_read_without_a_setting() {
    let workplace = Workplace::new("import-chakra-back");
    let layer = "layer -1 100000 ALLREDUCE 4194304 200000 NONE 0 200000 ALLREDUCE 8388608 1000";
    let first = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 all_gpus: 4";
    workplace.write("layers.txt", format!("{first}\n1\n{layer}\n"));
    let scenario = "fabric: {kind: single-switch, hosts: 4}\n\
                    jobs: [{workload: {kind: simai, file: layers.txt}}]\n";
    workplace.write("layers.yaml", scenario);
    workplace
        .words("export chakra layers.yaml -o layers")
        .expect(0);
    let counts = |line: &str| {
        let answer = workplace.words(line).expect(0).json();
        ["ranks", "collectives", "computes"].map(|key| answer[key].clone())
    };
    let back = counts("import chakra layers --format json");
    assert_eq!(back, counts("import simai layers.txt --format json"));
}

#[cfg(unix)]
#[test]
fn devices_without_end_are_refused() {
    let workplace = Workplace::new("import-endless");
    for format in ["aicb", "goal", "chakra", "topo"] {
        let answer = workplace.words(&format!("import {format} /dev/zero"));
        answer.expect_refusal(&["/dev/zero", "more than 256MiB; write it to one"]);
    }
}

#[test]
fn operations_that_cannot_be_read_say_where() {
    let workplace = Workplace::new("import-goal-broken");
    workplace.write("app.goal", "num_ranks 2\nrank 0 { calc x }\n");
    let answer = workplace.words("import goal app.goal");
    answer.expect_refusal(&["`app.goal`, line 2", "not a time"]);
    let answer = workplace.words("import goal absent.goal");
    answer.expect_refusal(&["`absent.goal`", "check the path"]);
    let answer = workplace.words("import graph app.goal");
    answer.expect_refusal(&["byte 0", "`tenter import`"]);
    let answer = workplace.words("import goal app.goal --set eager=many");
    answer.expect_refusal(&["`eager`", "size"]);
    workplace.write("flows.yaml", "
fabric: {kind: single-switch, hosts: 2}
jobs: [{flows: [{from: 0, to: 1}], background: true}, {name: a, workload: {sizes: 1KiB, flows: 3, pairs: [{from: 0, to: 1}]}}]
");
    let answer = workplace.words("export goal flows.yaml --job a -o a.goal");
    answer.expect_refusal(&["job `a`", "drawn while it runs"]);
    let answer = workplace.words("export goal flows.yaml --job b -o b.goal");
    answer.expect_refusal(&["no job `b`", "`a`"]);
}

const TOPO: &str = "
Nodes 8
Tiers 3
Podsize 4
Tier 0
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 4
Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Bundle 2
";

const MATRIX: &str = "
Nodes 8
Connections 2
Triggers 1
0->7 id 1 start 0 size 200000 recv_done_trigger 1
7->3 id 2 trigger 1 size 100000
trigger id 1 oneshot
";

#[test]
fn a_case_of_htsim_runs_on_its_fabric() {
    let workplace = Workplace::new("import-htsim");
    workplace.write("tree.topo", TOPO);
    workplace.write("flows.cm", MATRIX);
    let fabric = workplace.words("import topo tree.topo").expect(0);
    assert!(
        fabric.stderr.contains("2 tier(s) have no"),
        "{}",
        fabric.stderr
    );
    let job = "jobs: [{name: case, workload: {kind: htsim, file: flows.cm}}]\n";
    workplace.write("case.yaml", format!("{}{job}", fabric.stdout));
    workplace.words("run case.yaml -o case").expect(0);
    let summary = workplace.json("case/summary.json");
    assert_eq!(summary["totals"]["flows"], 2);
    assert_eq!(summary["critical_shares"][0]["job_name"], "case");
    let flows = workplace
        .words("export htsim case.yaml -o back.cm --format json")
        .expect(0);
    assert_eq!(flows.json()["ranks"], 8);
    workplace
        .words("export ns3 case.yaml -o flow.txt")
        .expect(0);
    let text = std::fs::read_to_string(workplace.path("flow.txt")).expect("it was written");
    assert!(
        text.starts_with("2\n0 7 3 100 200000 0.000000000000\n7 3 "),
        "{text}"
    );
}

/// A file of another format names the import that reads it, for operations, fabrics and switches.
#[test]
fn a_file_of_another_format_names_its_import() {
    let workplace = Workplace::new("import-others");
    workplace.write("nodes.json", "{\"nodes\": [{\"ctrl_deps\": 1}]}");
    workplace.write("server.xml", "<system version=\"1\"></system>");
    workplace.write(
        "flows.cm",
        "Nodes 4\nConnections 1\n0->1 id 1 start 0 size 2\n",
    );
    for (line, other) in [
        ("import kineto nodes.json", "pytorch-et"),
        ("import goal flows.cm", "htsim"),
        ("import topo flows.cm", "htsim"),
        ("import netbox server.xml", "nccl-topo"),
        ("import sonic nodes.json", "pytorch-et"),
    ] {
        let hint = format!("import it as `{other}`");
        workplace.words(line).expect_refusal(&[&hint]);
    }
}

/// The limits of a comparison belong to its query; without one nothing would be limited.
#[test]
fn limits_of_a_comparison_need_a_query() {
    let workplace = Workplace::new("compare-limits");
    for limit in ["--max-time 1s", "--max-memory 1GB"] {
        let line = format!("compare one two {limit}");
        workplace.words(&line).expect_refusal(&["--query"]);
    }
}
