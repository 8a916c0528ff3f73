//! `tenter import`.

use crate::workplace::Workplace;

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
