//! `tenter run --watch`: the life of a flow or a port.

use crate::workplace::Workplace;

/// One packet from host1 on the second leaf to host0 on the first, and its acknowledgement.
const ONE: &str = "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 1, spines: 1, host_delay: 25ns, fabric_delay: 200ns}
jobs: [{collectives: [{collective: incast, size: 2B}]}]
";

fn watch(workplace: &Workplace, arguments: &[&str]) -> String {
    let mut all = vec!["run", "one.yaml", "-o", "trial", "--watch"];
    all.extend_from_slice(arguments);
    workplace.tenter(&all).expect(0).stdout
}

/// The lines before the summary, as words.
fn events(stdout: &str) -> Vec<Vec<&str>> {
    let lines = stdout.lines().take_while(|line| !line.starts_with("seed"));
    lines
        .map(|line| line.split_whitespace().collect())
        .collect()
}

fn workplace(name: &str) -> Workplace {
    let workplace = Workplace::new(name);
    workplace.write("one.yaml", ONE);
    workplace
}

#[test]
fn the_life_of_a_packet() {
    let workplace = workplace("watch-flow");
    let stdout = watch(&workplace, &["flow=host0-host1"]);
    let seen: Vec<(&str, &str, &str)> = events(&stdout)
        .iter()
        .map(|words| (words[1], words[2], words[3]))
        .collect();
    let there = [
        ("host1:0", "sent", "Only"),
        ("leaf1:0", "arrives", "Only"),
        ("leaf1:1", "sent", "Only"),
        ("spine0:1", "arrives", "Only"),
        ("spine0:0", "sent", "Only"),
        ("leaf0:1", "arrives", "Only"),
        ("leaf0:0", "sent", "Only"),
        ("host0:0", "accepted", "Only"),
    ];
    let back = [
        ("host0:0", "sent", "Ack"),
        ("leaf0:0", "arrives", "Ack"),
        ("leaf0:1", "sent", "Ack"),
        ("spine0:0", "arrives", "Ack"),
        ("spine0:1", "sent", "Ack"),
        ("leaf1:1", "arrives", "Ack"),
        ("leaf1:0", "sent", "Ack"),
        ("host1:0", "accepted", "Ack"),
    ];
    assert_eq!(seen, [&there[..], &back].concat(), "{stdout}");
    // The other way round it is the same flow.
    assert_eq!(
        events(&watch(&workplace, &["flow=host1-host0"])),
        events(&stdout)
    );
    // Three switches of 600 ns, cables of 450 ns, and one byte of payload: filled up to 4, with
    // 78 of headers and 20 of gap 102 bytes at 20 ps: 2.25204 us.
    let accepted = &events(&stdout)[7];
    assert_eq!(
        (accepted[0], accepted[6]),
        ("2.25204us", "host0"),
        "{stdout}"
    );
}

#[test]
fn the_life_of_a_port() {
    let workplace = workplace("watch-port");
    let stdout = watch(&workplace, &["port=spine0:1"]);
    let seen = events(&stdout);
    assert_eq!(seen.len(), 2, "{stdout}");
    assert_eq!(seen[0][1..4], ["spine0:1", "arrives", "Only"]);
    assert_eq!(seen[1][1..4], ["spine0:1", "sent", "Ack"]);
}

#[test]
fn pause_frames_have_a_class_and_quanta() {
    let workplace = workplace("watch-pause");
    let slow =
        "endpoint.nic.receive_buffer={drain_rate: 10Gbps, capacity: 1MiB, xoff: 10kB, xon: 5kB}";
    let set = [
        "port=host0:0",
        "--set",
        slow,
        "--set",
        "fabric.flow_control=pfc",
        "--set",
        "jobs[0].collectives[0].size=64KiB",
    ];
    let stdout = watch(&workplace, &set);
    for part in ["XOFF class 3 for 65535 quanta (64 B)", "XON class 3 (64 B)"] {
        assert!(stdout.contains(part), "{part}\n{stdout}");
    }
}

#[test]
fn a_limit_says_what_it_leaves_out() {
    let workplace = workplace("watch-limit");
    let stdout = watch(&workplace, &["flow=host0-host1", "--watch-limit", "3"]);
    let shown: Vec<&str> = stdout.lines().take(4).collect();
    assert!(shown[2].contains("leaf1:1"), "{stdout}");
    assert_eq!(shown[3], "… and 13 more events (--watch-limit)");
}

#[test]
fn watching_changes_nothing_and_leaves_standard_output_to_programs() {
    let workplace = workplace("watch-json");
    let plain = ["run", "one.yaml", "-o", "trial", "--format", "json"];
    let watched = [&plain[..], &["--watch", "flow=host0-host1"]].concat();
    let on_two = [&watched[..], &["--threads", "2"]].concat();
    let digest = |arguments: &[&str]| {
        let answer = workplace.tenter(arguments).expect(0);
        (answer.json()["engine"]["digest"].clone(), answer.stderr)
    };
    let (expected, silence) = digest(&plain);
    assert_eq!(silence, "");
    let (found, events) = digest(&watched);
    assert_eq!(found, expected);
    assert_eq!(events.lines().count(), 16, "{events}");
    assert_eq!(digest(&on_two), (expected, events));
}

#[test]
fn a_flow_that_nobody_sends_is_said_to_be_none() {
    let workplace = Workplace::new("watch-none");
    let pair = "fabric: {kind: single-switch, hosts: 3}\njobs: [{ranks: 2, collectives: [{collective: incast, size: 2B}]}]\n";
    workplace.write("one.yaml", pair);
    for target in ["flow=host0-host2", "flow=host1-host1", "port=leaf0:2"] {
        let stdout = watch(&workplace, &[target]);
        assert!(stdout.starts_with("--watch: no packet passed"), "{stdout}");
    }
}

#[test]
fn names_may_have_hyphens() {
    let workplace = Workplace::new("watch-hyphen");
    workplace.write(
        "one.yaml",
        "
fabric:
  kind: explicit
  nodes: [{name: gpu-a}, {name: gpu-b}, {name: leaf-1, kind: switch}]
  links: [{a: gpu-a, b: leaf-1}, {a: gpu-b, b: leaf-1}]
jobs: [{collectives: [{collective: incast, size: 2B}]}]
",
    );
    let stdout = watch(&workplace, &["flow=gpu-a-gpu-b"]);
    assert_eq!(
        events(&stdout)[0][1..4],
        ["gpu-b:0", "sent", "Only"],
        "{stdout}"
    );
    assert!(watch(&workplace, &["port=leaf-1:0"]).contains("leaf-1:0"));
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let workplace = workplace("watch-wrong");
    let cases = [
        ("host0", "write `flow=HOST-HOST`"),
        ("", "write `flow=HOST-HOST`"),
        ("flow=host0", "write `flow=HOST-HOST`"),
        ("flow=host0-host7", "there is no node `host7`"),
        ("flow=host0-leaf0", "`leaf0` is a switch"),
        ("port=leaf0", "`port=NODE:PORT`"),
        ("port=leaf0:2", "leaf0 has ports 0 to 1"),
        ("port=leaf0:-1", "leaf0 has ports 0 to 1"),
        ("port=leaf9:0", "there is no node `leaf9`"),
    ];
    for (target, part) in cases {
        let answer = workplace.tenter(&["run", "one.yaml", "-o", "trial", "--watch", target]);
        answer.expect_refusal(&["--watch", part]);
    }
    assert_eq!(workplace.entries(), ["one.yaml"]);
}
