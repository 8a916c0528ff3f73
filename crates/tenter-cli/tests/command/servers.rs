//! What collectives ask of servers, and what NCCL runs on them, through the command.

use tenter_record::Summary;
use tenter_report::read_summary;

use crate::workplace::Workplace;

/// Four servers of four NPUs, and a hierarchical all-reduce of 64 MiB.
const FOUR: &str = "\
name: four-gpu-servers
fabric: {kind: rail, servers: 4, nics_per_server: 4, spines: 4, flow_control: pfc}
endpoint: {host: {scale_up: {npus_per_host: 4, rate: 3600Gbps, latency: 1us}}}
jobs:
  - {name: a, collectives: [{collective: all-reduce, algorithm: hierarchical, size: 64MiB}]}
";

fn run(workplace: &Workplace, line: &str) -> Summary {
    let folder = workplace.path("out");
    let _ = std::fs::remove_dir_all(&folder);
    workplace.words(&format!("{line} --output out")).expect(0);
    read_summary(&folder).expect("a trial")
}

fn time_us(summary: &Summary, job: usize) -> f64 {
    let row = summary.jobs[job].collectives.first().expect("a collective");
    row.completion_time.expect("it has ended").as_ns() / 1e3
}

/// Two phases of 48 MiB at 450 GB/s, and 2 · ¾ · 16 MiB at 49 GB/s: 737 us and latencies.
#[test]
fn collectives_have_the_servers_of_the_hosts() {
    let workplace = Workplace::new("servers-four");
    workplace.write("four.yaml", FOUR);
    let usual = time_us(&run(&workplace, "run four.yaml"), 0);
    assert!((737.0..750.0).contains(&usual), "{usual}");
    let set = "--set jobs[0].collectives[0].npus_per_host=4";
    let said = time_us(&run(&workplace, &format!("run four.yaml {set}")), 0);
    assert_eq!(usual.to_bits(), said.to_bits());
    let slow = "run four.yaml --set endpoint.host.scale_up.rate=100Gbps";
    let slow = time_us(&run(&workplace, slow), 0);
    assert!((8_500.0..8_800.0).contains(&slow), "{slow}");
}

#[test]
fn keys_of_collectives_agree_with_the_hosts() {
    let workplace = Workplace::new("servers-differ");
    workplace.write("four.yaml", FOUR);
    let refused = |set: &str, parts: &[&str]| {
        let line = format!("run four.yaml --set {set}");
        workplace.words(&line).expect_refusal(parts);
    };
    let places = [
        "`npus_per_host` of all-reduce (hierarchical) is 8",
        "`endpoint.host.scale_up.npus_per_host` says 4",
    ];
    refused("jobs[0].collectives[0].npus_per_host=8", &places);
    let places = [
        "`scale_up_rate`",
        "`endpoint.host.scale_up.rate` says 3.6Tbps",
    ];
    refused("jobs[0].collectives[0].scale_up_rate=900Gbps", &places);
    let asked = ["how many NPUs share a host", "`endpoint.host.scale_up`"];
    refused("endpoint.host.scale_up=none", &asked);
}
