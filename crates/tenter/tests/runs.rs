//! Explanations against runs of the same plans: unloaded times to the picosecond, packets to the
//! packet, ideal times as the bound that they are.

use tenter::explain::{Explanation, explain};
use tenter::resolve::{Format, load};
use tenter_language::units::Budget;
use tenter_results::{Control, FlowRow, Progress, SampleRow, Sink, SinkError};
use tenter_sim::plan::Plan;
use tenter_sim::{Options, Outcome, run};

/// Keeps the flows.
#[derive(Default)]
struct Flows(Vec<FlowRow>);

impl Sink for Flows {
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        self.0.extend_from_slice(rows);
        Ok(())
    }

    fn samples(&mut self, _: &[SampleRow]) -> Result<(), SinkError> {
        Ok(())
    }

    fn progress(&mut self, _: &Progress) -> Result<Control, SinkError> {
        Ok(Control::Continue)
    }
}

fn explained(text: &str) -> (Plan, Explanation) {
    let loaded = load(text, "x.yaml", Format::Yaml, &[], None)
        .unwrap_or_else(|problems| panic!("{}", problems.render()));
    let explanation =
        explain(&loaded.plan, &loaded.given, &Budget::unlimited()).expect("the plan can be run");
    (loaded.plan, explanation)
}

fn simulated(plan: &Plan) -> (Outcome, Vec<FlowRow>) {
    let mut flows = Flows::default();
    let outcome = run(plan, Options::default(), &mut flows).expect("the plan runs");
    (outcome, flows.0)
}

const FABRICS: [&str; 9] = [
    "{kind: single-switch, hosts: 3}",
    "{kind: single-switch, hosts: 3, rate: 100Gbps, switch: {forwarding: store-and-forward}}",
    "{kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2, uplink_rate: 800Gbps}",
    "{kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2, uplink_rate: 200Gbps}",
    "{kind: leaf-spine, leaves: 3, hosts_per_leaf: 2, spines: 2, host_rate: 300Gbps, switch: {forwarding: store-and-forward}}",
    "{kind: fat-tree, hosts_per_leaf: 2, leaves_per_pod: 2, aggs_per_pod: 2, core: {pods: 2, cores_per_agg: 2}}",
    "{kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2, switching: {kind: scheduled}}",
    "{kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 3, links_per_pair: 2, uplink_rate: 100Gbps, switching: {kind: scheduled, cell: {}}}",
    "{kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2, switching: {kind: scheduled, credit: 9000B, over_speed: 0, cell: {bundle: 4}}, switch: {forwarding: store-and-forward}}",
];

const NICS: [&str; 3] = [
    "{}",
    "{mtu: 1024, message_size: 100000B, transmit_latency: 7ns, receive_latency: 11ns}",
    "{message_gap: 35ns}",
];

#[test]
fn messages_take_as_long_as_alone_in_the_simulation() {
    for fabric in FABRICS {
        for nic in NICS {
            let head = format!("fabric: {fabric}\nendpoint: {{nic: {nic}}}\n");
            let job = "jobs: [{collectives: [{collective: incast, size: 1MiB}]}]\n";
            let (_, explanation) = explained(&format!("{head}{job}"));
            for path in &explanation.paths {
                for message in &path.messages {
                    // Of two ranks, the one sends half of the size to the other.
                    let (from, to, size) = (&path.from, &path.to, 2 * message.bytes);
                    let job = format!(
                        "jobs: [{{ranks: [{to}, {from}], collectives: [{{collective: incast, size: {size}B}}]}}]\n"
                    );
                    let (plan, _) = explained(&format!("{head}{job}"));
                    let (_, flows) = simulated(&plan);
                    let case = format!("{fabric} {nic} {from} to {to}, {} B", message.bytes);
                    assert_eq!(flows.len(), 1, "{case}");
                    let off = (flows[0].fct().as_ns() - message.latency_ns).abs();
                    assert!(off < 5e-4, "{case}: off by {off} ns");
                }
            }
        }
    }
}

#[test]
fn packets_are_counted_to_the_packet() {
    let acknowledge = ["per-message", "per-packet", "{every: 7}"];
    let collectives = [
        "collective: all-to-all, size: 333333B",
        "collective: all-reduce, algorithm: double-binary-tree, size: 1MiB, chunk_size: 100000B",
        "collective: broadcast, algorithm: ring, size: 3MiB",
        "collective: hypercube, size: 8B",
    ];
    let scheduled = ", switching: {kind: scheduled, cell: {bundle: 3}}";
    let cases = acknowledge.map(|of| (of, "")).into_iter();
    for (acknowledge, switching) in cases.chain([("per-packet", scheduled)]) {
        for collective in collectives {
            let text = format!(
                "fabric: {{kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 2{switching}}}\n\
                 endpoint: {{nic: {{message_size: 50000B, acknowledge: {acknowledge}, connection_set_up: true}}}}\n\
                 jobs: [{{queue_pairs: 3, iterations: 2, collectives: [{{{collective}}}]}}]\n"
            );
            let (plan, explanation) = explained(&text);
            let (outcome, flows) = simulated(&plan);
            let engine = &outcome.summary.engine;
            assert_eq!(outcome.summary.totals.dropped_frames, 0);
            let cost = &explanation.cost;
            assert!(cost.exact);
            assert_eq!(cost.flows, flows.len() as u64, "{collective}");
            let data = cost.data_packet_hops - engine.data_packet_hops as f64;
            assert!(data.abs() < 0.5, "{collective}: off by {data}");
            let off = (cost.packet_hops / engine.packet_hops as f64 - 1.0).abs();
            // Every seventh packet of a queue pair is acknowledged, whichever transfer it is of.
            let most = if acknowledge == "{every: 7}" {
                0.03
            } else {
                0.0
            };
            assert!(off <= most, "{acknowledge} {collective}: off by {off}");
        }
    }
}

#[test]
fn nothing_is_faster_than_its_ideal_time() {
    let collectives = [
        "all-to-all",
        "all-to-all, algorithm: pairwise",
        "all-reduce",
        "all-reduce, algorithm: bidirectional-ring",
        "all-reduce, algorithm: halving-doubling",
        "all-reduce, algorithm: double-binary-tree",
        "all-gather",
        "reduce-scatter, algorithm: recursive-halving",
        "broadcast",
        "broadcast, algorithm: tree",
        "reduce",
        "gather",
        "permutation",
        "send-recv",
    ];
    for fabric in FABRICS {
        for collective in collectives {
            for size in ["1000B", "100KiB", "3MiB"] {
                let text = format!(
                    "fabric: {fabric}\njobs: [{{collectives: [{{collective: {collective}, size: {size}}}]}}]\n"
                );
                let (plan, explanation) = explained(&text);
                let (outcome, _) = simulated(&plan);
                let took = outcome.collectives[0]
                    .completion_time
                    .expect("it ends")
                    .as_ns();
                let ideal = explanation.jobs[0].collectives[0].ideal_ns;
                assert!(
                    took >= ideal,
                    "{fabric} {collective} {size}: {took} ns, ideal {ideal} ns"
                );
            }
        }
    }
}

#[test]
fn the_ideal_time_is_that_of_the_best_of_unequal_links() {
    // Of two cables between the switches the one that is listed first has 9 us more, so a flow that
    // takes the other one is faster than any on the first. Seeds of the hash make both happen.
    let text = |seed: u32| {
        format!(
            "seed: {seed}
fabric:
  kind: explicit
  nodes: [{{name: a}}, {{name: b}}, {{name: x, kind: switch, tier: 0}}, {{name: y, kind: switch, tier: 0}}]
  links:
    - {{a: a, b: x, rate: 400Gbps}}
    - {{a: b, b: y, rate: 400Gbps}}
    - {{a: x, b: y, rate: 400Gbps, delay: 10us}}
    - {{a: x, b: y, rate: 400Gbps, delay: 1us}}
jobs: [{{ranks: [a, b], collectives: [{{collective: incast, size: 8KiB}}]}}]
"
        )
    };
    let mut times = Vec::new();
    for seed in 0..8 {
        let (plan, explanation) = explained(&text(seed));
        let (outcome, _) = simulated(&plan);
        let took = outcome.collectives[0].completion_time.expect("it ends");
        times.push(took.as_ns());
        assert!(took.as_ns() >= explanation.jobs[0].collectives[0].ideal_ns);
        assert_eq!(explanation.fabric.bisection_gbps, None);
    }
    let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
    let (_, explanation) = explained(&text(0));
    let ideal = explanation.jobs[0].collectives[0].ideal_ns;
    // 16 bytes of a header that come only with the first packet of a message are left out of the
    // frame that is followed.
    assert!(fastest - ideal < 1.0, "{fastest} {ideal}");
    assert!(times.iter().any(|time| time - ideal > 8_000.0), "{times:?}");
}

#[test]
fn a_time_limit_shortens_all_that_a_run_costs() {
    // A hundred rounds of one job, of which a tenth is done, beside one that is done long before.
    let text = |limit: &str| {
        format!(
            "fabric: {{kind: single-switch, hosts: 8}}
jobs:
  - {{name: long, ranks: [0, 1, 2, 3], iterations: 100, collectives: [{{collective: all-to-all, size: 1MiB}}]}}
  - {{name: short, ranks: [4, 5, 6, 7], collectives: [{{collective: all-to-all, size: 1MiB}}]}}
observe: {{sample_interval: 1us}}
limits: {{time: {limit}}}
"
        )
    };
    let (_, whole) = explained(&text("none"));
    let tenth = (whole.cost.simulated_ns * 100.0).round() as u64;
    let (plan, limited) = explained(&text(&format!("{tenth}ps")));
    let (whole, limited) = (whole.cost, limited.cost);
    // Twelve flows a round: 10 rounds and one are left of 100 and one.
    assert_eq!((whole.flows, limited.flows), (12 * 101, 12 * 11));
    assert!((limited.packet_hops / whole.packet_hops - 11.0 / 101.0).abs() < 1e-9);
    // Visits of nodes go by time, of which a tenth is left.
    assert!((limited.wall_s / whole.wall_s - 11.0 / 101.0).abs() < 0.01);
    assert!((limited.simulated_ns * 1e3 - tenth as f64).abs() < 1e-3);
    let rows = |parts: tenter::explain::MemoryParts| parts.tables_bytes as f64;
    assert!(rows(limited.memory) < 0.15 * rows(whole.memory));
    assert!(limited.memory.flows_bytes < whole.memory.flows_bytes);
    let (outcome, flows) = simulated(&plan);
    assert!(outcome.summary.stopped.is_some());
    let ratio = flows.len() as f64 / limited.flows as f64;
    assert!((0.8..1.1).contains(&ratio), "{} flows", flows.len());
}

#[test]
fn flows_that_a_receiver_cannot_take_wait_in_memory() {
    // Seven senders offer one receiver a share of seven ports: what its port cannot carry waits
    // when the last flow arrives. Below its rate nothing does.
    let text = |load: f64| {
        format!(
            "fabric: {{kind: single-switch, hosts: 8, rate: 100Gbps, flow_control: pfc}}
jobs:
  - workload: {{sizes: 10kB, arrivals: poisson, load: {load}, pairs: [{{from: [0-6], to: 7}}], duration: 2ms}}
"
        )
    };
    let flows_bytes = |load| explained(&text(load)).1.cost.memory.flows_bytes;
    let (plan, crowded) = explained(&text(0.6));
    let (_, rows) = simulated(&plan);
    let waiting = rows.iter().filter(|row| row.received.ps() > 2_000_000_000);
    let waiting = waiting.count() as f64 * 120.0;
    let more = (crowded.cost.memory.flows_bytes - flows_bytes(0.1)) as f64;
    assert!((0.9..1.1).contains(&(more / waiting)), "{more}, {waiting}");
    assert_eq!(flows_bytes(0.1), flows_bytes(0.14));
}

#[test]
fn a_scheduled_fabric_is_told_in_numbers() {
    let text = "fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 2, links_per_pair: 9, \
                uplink_rate: 100Gbps, switch: {profile: jericho3-ramon3}, switching: {kind: scheduled}}\n\
                jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]\n";
    let facts = explained(text)
        .1
        .scheduled
        .expect("the fabric is scheduled");
    // 4,096 bytes at 408 Gb/s.
    assert!(
        (facts.credit_ns - 80.3137).abs() < 1e-3,
        "{}",
        facts.credit_ns
    );
    // 4,174 bytes and 17 cells of 16 more, beside 4,194.
    assert!((facts.fabric_percent - 100.0 * 4_446.0 / 4_194.0).abs() < 1e-9);
    // 1,800 to 1,600 Gb/s.
    assert!((facts.speed_up - 1.125 * 4_194.0 / 4_446.0).abs() < 1e-9);
    // Pipelines of 300 ns and two cables of 200 ns.
    assert_eq!(facts.control_ns, Some(1_000.0));
    let (cold, warm) = (facts.cold_ns.unwrap_or(0.0), facts.warm_ns.unwrap_or(0.0));
    assert!((cold - warm - 2_000.0).abs() < 1e-9);
    assert!((3_000.0..4_000.0).contains(&cold), "{cold}");
    assert_eq!(facts.leaf_bytes, Some(12 << 30));
    assert_eq!(facts.voq_bytes, None);
}

#[test]
fn the_choice_of_source_ports_is_named() {
    let choice = |entropy: &str| {
        let nic = "acknowledge: per-packet, loss_recovery: {kind: selective-repeat, reorder: 64}";
        let (_, explanation) = explained(&format!(
            "fabric: {{kind: leaf-spine, leaves: 2, hosts_per_leaf: 1, spines: 2, flow_control: ecn}}\n\
             endpoint: {{nic: {{{nic}, entropy: {entropy}}}}}\n\
             jobs: [{{collectives: [{{collective: incast, size: 1MiB}}]}}]\n"
        ));
        let facts = explanation.entropy;
        facts.map(|facts| (facts.kind, facts.values, facts.learns))
    };
    assert_eq!(choice("none"), None);
    assert_eq!(choice("{}"), Some(("random", 64, false)));
    let reps = "{kind: reps, values: 16}";
    assert_eq!(choice(reps), Some(("reps", 16, true)));
}

#[test]
fn a_detour_is_told_of_where_load_balancing_takes_any() {
    let detour = |balancing: &str| {
        let fabric = "kind: dragonfly, groups: 5, routers_per_group: 2, hosts_per_router: 1, \
                      global_links_per_router: 2";
        let nic = "{loss_recovery: {kind: selective-repeat, reorder: 64}}";
        let (_, explanation) = explained(&format!(
            "fabric: {{{fabric}, load_balancing: {{kind: {balancing}}}}}\nendpoint: {{nic: {nic}}}\n\
             jobs: [{{collectives: [{{collective: incast, size: 1MiB}}]}}]\n"
        ));
        let longest = explanation.paths.iter().map(|path| path.switches).max();
        assert_eq!(longest, Some(4));
        explanation.longest_detour
    };
    // Two routers of the source's group, two of another one, and two of the destination's.
    assert_eq!(
        ["ecmp", "valiant", "ugal"].map(detour),
        [None, Some(6), Some(6)]
    );
}
