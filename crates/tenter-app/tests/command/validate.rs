//! `tenter validate`.

use crate::workplace::Workplace;

#[test]
fn a_good_scenario_is_described_with_its_cost() {
    let workplace = Workplace::with_small("validate-good");
    let answer = workplace.tenter(&["validate", "small.yaml"]).expect(0);
    assert_eq!(answer.stderr, "");
    let (line, cost) = answer
        .stdout
        .split_once("\n\n")
        .expect("a line, and a cost");
    assert_eq!(line.lines().count(), 1, "{line}");
    // What will run, as it is explained.
    let explained = workplace.tenter(&["explain", "small.yaml"]).expect(0);
    let begins = "cost of a run, every transfer counted\n";
    assert!(cost.starts_with(begins), "{cost}");
    assert!(explained.stdout.contains(cost), "{cost}");
    let by_flows = ["validate", "small.yaml", "--fidelity", "flow"];
    let by_flows = workplace.tenter(&by_flows).expect(0).stdout;
    assert!(
        by_flows.contains("at flow level, in place of"),
        "{by_flows}"
    );
    let as_json = ["validate", "small.yaml", "--format", "json"];
    let as_json = workplace.tenter(&as_json).expect(0).json();
    let explained = ["explain", "small.yaml", "--format", "json"];
    let explained = workplace.tenter(&explained).expect(0).json();
    assert_eq!(as_json["cost"], explained["cost"]);
    assert_eq!(as_json["cost"]["level"], "packet");
    for part in [
        "small.yaml is valid",
        "4 NICs",
        "4 switches",
        "8 cables",
        "4 collectives",
    ] {
        assert!(line.contains(part), "{part}\n{line}");
    }
    assert_eq!(workplace.entries(), ["small.yaml"]);
}

#[test]
fn all_errors_are_told_at_once_in_the_order_of_the_text() {
    let workplace = Workplace::new("validate-all");
    let wrong = "
fabric: {kind: leaf-spine, leaves: two, hosts_per_leaf: 2, spines: 2, uplink_rate: 400}
endpoint: {nic: {mtu: 1500}}
jobs: [{ranks: [host9], collectives: [{collective: all-to-al, size: 1MiB}]}]
";
    workplace.write("wrong.yaml", wrong);
    for command in ["validate", "run"] {
        let stderr = workplace.tenter(&[command, "wrong.yaml"]).expect(2).stderr;
        let places: Vec<&str> = stderr
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("--> "))
            .collect();
        let expected = [
            "wrong.yaml:2:36",
            "wrong.yaml:2:84",
            "wrong.yaml:3:23",
            "wrong.yaml:4:52",
        ];
        assert_eq!(places, expected, "{stderr}");
    }
    assert_eq!(workplace.entries(), ["wrong.yaml"]);
}

#[test]
fn an_error_in_an_override_points_into_the_override() {
    let workplace = Workplace::with_small("validate-set");
    let arguments = ["validate", "small.yaml", "--set", "fabric.uplink_rate=fast"];
    let answer = workplace.tenter(&arguments);
    answer.expect_refusal(&["--set:1:20", "fabric.uplink_rate=fast", "400Gbps"]);
    // An override may also mend what is broken.
    workplace.write("bare.yaml", "fabric: {kind: single-switch, hosts: 2, rate: 400}\njobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]\n");
    workplace.tenter(&["validate", "bare.yaml"]).expect(2);
    let arguments = ["validate", "bare.yaml", "--set", "fabric.rate=400Gbps"];
    workplace.tenter(&arguments).expect(0);
}

#[test]
fn what_has_no_effect_is_noted() {
    let workplace = Workplace::with_small("validate-odd");
    let odd = [
        "--set",
        "observe.samples=false",
        "--set",
        "observe.sample_interval=5us",
    ];
    // Once, whatever is done with it.
    let note = "note: `observe.sample_interval` has no effect: samples are off\n";
    for command in [
        &["validate", "small.yaml"][..],
        &["explain", "small.yaml"],
        &["run", "small.yaml", "-o", "trial"],
    ] {
        let arguments: Vec<&str> = command.iter().chain(&odd).copied().collect();
        let answer = workplace.tenter(&arguments).expect(0);
        assert_eq!(answer.stderr, "", "{command:?}");
        let told = answer.stdout.matches(note).count();
        assert_eq!(told, 1, "{command:?}\n{}", answer.stdout);
    }
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_refused() {
    let workplace = Workplace::new("validate-endless");
    let answer = workplace.tenter(&["validate", "/dev/zero"]);
    answer.expect_refusal(&["/dev/zero", "more than 8388608 bytes"]);
    let answer = workplace.tenter(&["validate", "/dev/null"]);
    answer.expect_refusal(&["/dev/null", "the scenario is empty"]);
}

#[test]
fn the_schema_is_printed_as_json() {
    let workplace = Workplace::new("schema");
    let schema = workplace.words("schema").expect(0).json();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert_eq!(schema["additionalProperties"], false);
    let meaning = &schema["properties"]["seed"]["description"];
    assert_eq!(meaning, "Seed of every random stream. Default: 1.");
}

#[test]
fn names_with_two_meanings_are_refused() {
    let workplace = Workplace::new("validate-ambiguous");
    let jobs = "jobs: [{collectives: [{collective: all-to-all, size: 1KiB}]}]";
    workplace.write(
        "link.yaml",
        format!(
            "fabric: {{kind: explicit, nodes: [{{name: x}}, {{name: x-y}}, {{name: y-z, kind: switch}}, {{name: z, kind: switch}}], links: [{{a: x, b: y-z}}, {{a: x-y, b: z}}, {{a: y-z, b: z}}]}}\n{jobs}\nfaults: {{events: [{{link: x-y-z, down: 1us}}]}}\n"
        ),
    );
    workplace.words("validate link.yaml").expect_refusal(&[
        "`faults.events[0].link` names two links",
        "from `x` to `y-z`",
        "from `x-y` to `z`",
    ]);
    workplace.write(
        "host.yaml",
        "fabric: {kind: explicit, nodes: [{name: '7'}, {name: '0'}, {name: s, kind: switch}], links: [{a: '7', b: s}, {a: '0', b: s}]}\njobs: [{ranks: [0, 1], collectives: [{collective: incast, size: 1MiB}]}]\n",
    );
    workplace.words("validate host.yaml").expect_refusal(&[
        "`0` has two meanings",
        "host number 0",
        "whose number is 1",
    ]);
}

#[test]
fn what_cannot_be_built_is_not_valid() {
    let workplace = Workplace::new("validate-no-delay");
    workplace.write(
        "zero.yaml",
        "fabric: {kind: single-switch, hosts: 2, host_delay: 0ps, switch: {pipeline_latency: 0ps}}\n\
         jobs: [{collectives: [{collective: send-recv, size: 1KiB}]}]\n",
    );
    for command in ["validate", "explain", "run"] {
        let words = format!("{command} zero.yaml");
        let place = "from `host0` to `leaf0` takes no time at all: give the cable a delay";
        workplace.words(&words).expect_refusal(&[place]);
    }
}
