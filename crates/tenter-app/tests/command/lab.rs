//! `tenter lab` and `tenter agent`: what is refused before anything is sent.

use crate::workplace::Workplace;

const LAB: &str = "name: none\nfabric: {leaves: 1, hosts_per_leaf: 2, spines: 1}\n";

#[test]
fn files_of_labs_are_checked_as_scenarios_are() {
    let workplace = Workplace::new("lab-files");
    workplace.write(
        "bad.yaml",
        "name: a/b\nfabric: {leaves: 1, hosts_per_leaf: 2}\n",
    );
    workplace
        .words("lab up bad.yaml")
        .expect_refusal(&["spines", "bad.yaml:2"]);
    workplace
        .words("lab up missing.yaml")
        .expect_refusal(&["missing.yaml"]);
    workplace.write("lab.yaml", LAB);
    workplace.write(
        "scenario.yaml",
        "fabric: {kind: single-switch, hosts: 2}\nendpoint: {nic: {connection_set_up: true}}\n\
         jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]\n",
    );
    workplace
        .words("lab run scenario.yaml --lab lab.yaml -o trial")
        .expect_refusal(&["connection_set_up", "not for real hosts"]);
    assert_eq!(
        workplace.entries(),
        ["bad.yaml", "lab.yaml", "scenario.yaml"]
    );
}

#[test]
fn an_agent_needs_a_secret_that_is_one() {
    let workplace = Workplace::new("lab-secret");
    workplace.write("lab.yaml", LAB);
    let start = "agent --listen 127.0.0.1:0 --lab lab.yaml --secret-file";
    workplace
        .words(&format!("{start} missing"))
        .expect_refusal(&["cannot use the secret file", "missing"]);
    workplace.write("short", "abc");
    let open = workplace.words(&format!("{start} short"));
    open.expect_refusal(&["others can read", "chmod 600"]);
    workplace
        .words("agent --listen nowhere --lab lab.yaml --secret-file short")
        .expect_failure(2, &["--listen"]);
}

#[test]
fn a_plan_for_hardware_names_commands_and_switches() {
    let workplace = Workplace::new("lab-plan");
    let answer = workplace.words("lab plan methodology/jct-2").expect(0);
    for part in ["mpirun -np 8", "alltoall_perf", "SONiC", "lab collect"] {
        assert!(answer.stdout.contains(part), "{part}");
    }
    workplace
        .words("lab plan nothing/there")
        .expect_refusal(&["nothing/there"]);
}

const RACK: &str = "\
name: rack
agents:
  - {control: '192.0.2.1:7471', address: 198.51.100.1}
  - {control: '192.0.2.2:7471', address: 198.51.100.2}
switches:
  - {name: leaf0, collect: sonic, command: [sh, show.sh], ports: [Ethernet0, Ethernet4]}
";

/// A script stands in for a switch.
#[test]
fn counters_of_switches_are_shown_or_why_not() {
    let workplace = Workplace::new("lab-counters");
    workplace.write("lab.yaml", LAB);
    workplace
        .words("lab counters lab.yaml")
        .expect_refusal(&["has no `switches`"]);
    workplace.write("rack.yaml", RACK);
    let table = "IFACE RX_OK TX_OK TX_DRP\\nEthernet0 1,000 2 N/A\\n";
    workplace.write("show.sh", format!("printf '{table}'\n"));
    let answer = workplace.words("lab counters rack.yaml").expect(0);
    for part in ["leaf0", "Ethernet0", "1000", "–"] {
        assert!(answer.stdout.contains(part), "{part}: {}", answer.stdout);
    }
    workplace.write("show.sh", "echo 'Connection refused' >&2; exit 255\n");
    let answer = workplace.words("lab counters rack.yaml").expect(1);
    assert!(
        answer
            .stderr
            .contains("switch `leaf0`, asked for `show interfaces counters`: `sh` failed")
    );
    workplace
        .words("lab counters rack.yaml --trial here")
        .expect_failure(2, &["--before"]);
    for folder in ["before/leaf0", "after/leaf0"] {
        workplace.write(&format!("{folder}/a.txt"), "no table\n");
    }
    workplace
        .words("lab counters rack.yaml --trial here --before before --after after")
        .expect_refusal(&["switch `leaf0`", "a.txt", "line 1"]);
}

/// The namespaces that there are; nothing where they cannot be listed.
fn namespaces() -> Option<String> {
    let output = std::process::Command::new("ip")
        .args(["netns", "list"])
        .output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A stand-in for `tc` holds `lab up` in the middle of its probe.
#[test]
fn what_is_killed_while_it_probes_leaves_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let workplace = Workplace::new("lab-probe");
    let name = format!("probed{}", std::process::id());
    workplace.write("lab.yaml", LAB.replace("none", &name));
    workplace.write(
        "bin/tc",
        "#!/bin/sh\n[ \"$1\" = -V ] && exit 0\nexec sleep 10\n",
    );
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(workplace.path("bin/tc"), executable).expect("it is there");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", workplace.path("bin").display());
    let mut command = workplace.command(&["lab", "up", "lab.yaml"]);
    let mut up = command.env("PATH", path).spawn().expect("it starts");
    let own = format!("tenter-{name}-");
    let is_there = || namespaces().is_some_and(|list| list.contains(&own));
    while !is_there() {
        if let Some(status) = up.try_wait().expect("it is a child") {
            println!("NOT TESTED: namespaces cannot be made here ({status})");
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    up.kill().expect("it is a child");
    up.wait().expect("it has ended");
    let down = workplace.words("lab down lab.yaml").expect(0);
    assert!(
        down.stderr.contains("1 namespaces removed"),
        "{}",
        down.stderr
    );
    assert!(!is_there());
}
