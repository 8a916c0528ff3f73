//! What collectives ask of servers, and what NCCL runs on them, through the command.

use std::fmt::Write as _;

use tenter::report::read_summary;
use tenter_results::Summary;

use crate::workplace::Workplace;

/// Four servers of four NPUs, and a hierarchical all-reduce of 64 MiB.
const FOUR: &str = "\
name: four-gpu-servers
fabric: {kind: rail, servers: 4, nics_per_server: 4, spines: 4, flow_control: pfc}
endpoint: {host: {scale_up: {npus_per_host: 4, rate: 3600Gbps, latency: 1us}}}
jobs:
  - {name: a, collectives: [{collective: all-reduce, algorithm: hierarchical, size: 64MiB}]}
";

/// Two servers of eight NPUs behind one NIC at 100G.
const ONE_NIC: &str = "\
name: two-servers-one-nic
fabric: {kind: rail, servers: 2, nics_per_server: 1, spines: 1, host_rate: 100Gbps, uplink_rate: 100Gbps, flow_control: pfc}
endpoint: {host: {npus_per_nic: 8, scale_up: {npus_per_host: 8, rate: 2966400Mbps, latency: 600ns, generation: hopper}}}
";

const RAIL_ONLY: &str = "\
name: rail-only
fabric: {kind: rail-only, servers: 4, nics_per_server: 4, flow_control: pfc}
endpoint: {host: {scale_up: {npus_per_host: 4, rate: 3600Gbps}}}
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

fn busbw(summary: &Summary) -> f64 {
    let row = summary.jobs[0].collectives.first().expect("a collective");
    row.busbw_gbytes_per_s.expect("it has ended")
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

/// `tenter run` on a server preset gives the bandwidth of `tenter bench` by default.
#[test]
fn runs_and_benchmarks_of_a_preset_agree() {
    let workplace = Workplace::new("servers-agree");
    workplace.words("new --fabric dgx-h100-64 d.yaml").expect(0);
    let line = "run d.yaml --set jobs[0].collectives[0].size=64MiB --fidelity flow";
    let ran = run(&workplace, line);
    let taken = "all-reduce as NCCL chooses (nvls-tree simple from 64MiB)";
    assert!(
        ran.notes.iter().any(|note| note.text.contains(taken)),
        "{:?}",
        ran.notes
    );
    let line = "bench all_reduce -b 64M -e 64M --nodes 8 -g 8 --fidelity flow";
    let bench = run(&workplace, line);
    assert_eq!(busbw(&ran).to_bits(), busbw(&bench).to_bits());
    assert!(
        bench
            .notes
            .iter()
            .all(|note| !note.text.contains("as NCCL chooses"))
    );
    let ring = format!(
        "{} --set jobs[0].collectives[0].algorithm=ring",
        "run d.yaml"
    );
    let ring = run(&workplace, &format!("{ring} --fidelity flow"));
    assert!(
        ring.notes
            .iter()
            .all(|note| !note.text.contains("as NCCL chooses"))
    );
    assert!(busbw(&ring) < busbw(&bench) / 4.0);
}

#[test]
fn uneven_ranks_run_the_usual_algorithm_with_a_warning() {
    let workplace = Workplace::new("servers-uneven");
    workplace.words("new --fabric dgx-h100-64 d.yaml").expect(0);
    let line = "validate d.yaml --set jobs[0].ranks=12";
    let answer = workplace.words(line).expect(0);
    let warning = "runs as all-reduce (ring): their ranks are not spread evenly, host after host";
    let said = format!("{}{}", answer.stdout, answer.stderr);
    assert!(said.contains(warning), "{said}");
}

/// Each of two servers has the buffer once on its NIC by trees, and twice by rings.
#[test]
fn two_servers_take_trees_where_their_nics_bind() {
    let workplace = Workplace::new("servers-two");
    workplace.write("two.yaml", ONE_NIC);
    let line = "bench all_reduce -b 1G -e 1G --fabric two.yaml --fidelity flow";
    let usual = busbw(&run(&workplace, line));
    assert!((22.0..23.5).contains(&usual), "{usual}");
    let only = "--set jobs[0].collectives[0].only_algorithm=ring";
    let ring = busbw(&run(&workplace, &format!("{line} {only}")));
    assert!(usual > ring, "{usual} and {ring}");
}

#[test]
fn rail_only_fabrics_are_benchmarked_and_exported() {
    let workplace = Workplace::new("servers-rail-only");
    workplace.write("rails.yaml", RAIL_ONLY);
    let line = "bench alltoall -b 1M -e 1M --fabric rails.yaml --algorithm pxn";
    assert!(busbw(&run(&workplace, line)) > 0.0);
    workplace
        .words("export infragraph rails.yaml -o out.yaml")
        .expect(0);
    // Without a domain nothing joins two rails, and what is asked for says so.
    let refused = "bench alltoall -b 1M -e 1M --fabric rails.yaml --algorithm parallel \
                   --set endpoint.host.scale_up=none";
    workplace
        .words(refused)
        .expect_refusal(&["no cable leads from the rail"]);
}

#[test]
fn larger_fabrics_and_letters_without_effect() {
    let workplace = Workplace::new("servers-letters");
    let refused = "bench all_reduce --nodes 128 -g 8";
    workplace
        .words(refused)
        .expect_refusal(&["`--set fabric.servers=128`"]);
    let line = "bench all_reduce -b 8 -e 8 -g 8 -c 1 -R 1 --output out";
    let answer = workplace.words(line).expect(0);
    for note in ["note: `-c 1` has no effect", "note: `-R 1` has no effect"] {
        assert!(answer.stderr.contains(note), "{}", answer.stderr);
    }
}

/// A recording of NCCL is replayed as NCCL chooses on hosts that have a domain.
#[test]
fn recordings_of_nccl_run_as_nccl_chooses() {
    let workplace = Workplace::new("servers-log");
    let mut log = String::new();
    for rank in 0..8 {
        let _ = write!(
            log,
            "host{}:{rank}:9 [{}] NCCL INFO ncclCommInitRank comm 0xa{rank} rank {rank} nranks 8 cudaDev 0 \
             nvmlDev 0 busId 57000 commId 0xfeed - Init COMPLETE\n\
             host{}:{rank}:9 [{}] NCCL INFO AllReduce: opCount a sendbuff 0x7f00 recvbuff (nil) count \
             4194304 datatype 7 op 0 root 0 comm 0xa{rank} [nranks=8] stream 0x55\n",
            rank / 4,
            rank % 4,
            rank / 4,
            rank % 4
        );
    }
    workplace.write("nccl.log", log);
    let scenario = |job: &str, domain: &str| {
        format!(
            "fabric: {{kind: rail, servers: 2, nics_per_server: 4, spines: 4, flow_control: pfc}}\n\
             endpoint: {{host: {{scale_up: {domain}}}}}\n\
             jobs: [{{name: log, workload: {job}}}]\n"
        )
    };
    let of_log = "{kind: nccl-log, file: nccl.log}";
    workplace.write("log.yaml", scenario(of_log, "{npus_per_host: 4}"));
    let ran = run(&workplace, "run log.yaml");
    let taken = "1 all-reduce (nccl)";
    assert!(
        ran.notes.iter().any(|note| note.text.contains(taken)),
        "{:?}",
        ran.notes
    );
    // The same where a graph was made of it before any host was known.
    workplace
        .words("import nccl-log nccl.log -o log.graph")
        .expect(0);
    let of_graph = "{kind: graph, file: log.graph}";
    workplace.write("graph.yaml", scenario(of_graph, "{npus_per_host: 4}"));
    let again = run(&workplace, "run graph.yaml");
    assert_eq!(ran.engine.digest, again.engine.digest);
    // Without a domain it is a ring, and a warning says so.
    workplace.write("none.yaml", scenario(of_log, "none"));
    let answer = workplace.words("run none.yaml --output none").expect(0);
    let warning = "run as all-reduce (ring): nothing says which NPUs share a host";
    assert!(answer.stderr.contains(warning), "{}", answer.stderr);
    let none = read_summary(&workplace.path("none")).expect("a trial");
    assert_ne!(none.engine.digest, ran.engine.digest);
}
