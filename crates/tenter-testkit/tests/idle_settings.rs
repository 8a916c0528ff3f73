//! Notes of settings without effect are true: the same scenario without the setting leaves the same
//! results. Random scenarios are given settings that some of them have no use for.

use std::collections::BTreeMap;

use tenter::explain::idle_settings;
use tenter::resolve::{Format, Loaded, load, load_without};
use tenter_language::units::Budget;
use tenter_results::Digest;
use tenter_sim::Outcome;
use tenter_sim::plan::Plan;
use tenter_testkit::{Engine, Trial, random_scenario};

const SCENARIOS: u64 = 150;

/// Settings that are laid over random scenarios, each that a scenario takes; some matter in it.
const SETTINGS: [&str; 40] = [
    "fabric.load_balancing={kind: ecmp}",
    "fabric.load_balancing={kind: ecmp, fields: [source_address]}",
    "fabric.load_balancing={kind: ecmp, fields: [source_port]}",
    "fabric.load_balancing={kind: weighted-ecmp}",
    "fabric.load_balancing={kind: destination}",
    "fabric.load_balancing={kind: random-spray}",
    "fabric.load_balancing={kind: round-robin-spray}",
    "fabric.overrides=[{leaf: 0, spine: 0, links: 1}]",
    "fabric.cabling=[0, 0, 1, 1]",
    "fabric.switching={kind: input-queued, queues: per-output, channels: 4}",
    "fabric.switching={kind: input-queued, queues: fifo, channels: 4}",
    "fabric.switching={kind: input-queued, queues: fifo, iterations: 3}",
    "fabric.switching={kind: credit-based}",
    "fabric.switch.pause_response=1us",
    "endpoint.nic.pause_response=1us",
    "endpoint.nic.resume_delay=6us",
    "endpoint.nic.congestion_control={kind: dcqcn, cnp: in-acknowledgement, cnp_dscp: 40}",
    "fabric.source_flow_control={threshold: 100kB}",
    "fabric.source_flow_control={mode: nic, at: any, threshold: 20kB}",
    "fabric.source_flow_control={mode: nic, at: last-hop, cache_entries: 4, threshold: 20kB}",
    "fabric.switch.classes=[{class: 0}, {class: 3}, {class: 6}]",
    "fabric.switch.classes=[{class: 0}, {class: 3}, {class: 6, ecn: {kmin: 20kB, kmax: 80kB, pmax: 0.1}}]",
    "endpoint.addresses.pool=11.0.0.0/8",
    "endpoint.addresses.prefix=24",
    "endpoint.addresses.dscp=10",
    "endpoint.addresses.overrides=[{host: 0, dscp: 3}]",
    "endpoint.addresses.overrides=[{host: 0, address: 10.0.0.77}]",
    "endpoint.nic.control_dscp=48",
    "endpoint.nic.loss_recovery={kind: selective-repeat, reorder: 128}",
    "endpoint.nic.receive_buffer={drain_rate: 40Gbps, quanta: 900}",
    "endpoint.nic.receive_buffer={drain_rate: 40Gbps, xoff: 64KiB, xon: 32KiB}",
    "endpoint.nic.entropy={values: 4}",
    "endpoint.nic.pcie={generation: 5, lanes: 16, max_payload: 256B, tlp_overhead: 24B}",
    "observe={samples: false, sample_interval: 5us}",
    "limits.background=10us",
    "engine.window=5us",
    "jobs[0].gap=20us",
    "jobs[0].class=0",
    "jobs[0].placement=packed",
    "endpoint.nic.entropy={kind: oblivious, values: 4}",
];

/// Scenarios of what random ones do not have: routes and optical circuits.
const TEXTS: [&str; 6] = [
    "fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 2, spines: 4, circuits: {spill: 1us, cabling: straight, steering: {interval: 1us}}}",
    "fabric: {kind: leaf-spine, leaves: 4, hosts_per_leaf: 2, spines: 4, circuits: {steering: {controller: greedy, threshold: 5}}}",
    "fabric: {kind: fat-tree, hosts_per_leaf: 2, leaves_per_pod: 4, aggs_per_pod: 4, load_balancing: {kind: ecmp}, circuits: {spill: 1us}}",
    "fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 1, cabling: [0, 0, 1, 1], overrides: [{leaf: 0, spine: 0, links: 1}], load_balancing: {kind: ecmp}}\nseed: 9",
    "fabric: {kind: explicit, nodes: [{name: a}, {name: b}, {name: s, kind: switch}, {name: t, kind: switch}], links: [{a: a, b: s}, {a: s, b: t}, {a: t, b: b}], routes: [{at: s, to: t, via: t}]}",
    "fabric: {kind: single-switch, hosts: 4, source_flow_control: {mode: nic, at: any, cache_entries: 4}}",
];

const JOB: &str = "jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]\n";

/// What notes must have been put to the test, of those that paths here can be of.
const PROVED: [&str; 19] = [
    "seed",
    "fabric.load_balancing",
    "fabric.cabling",
    "fabric.circuits.spill",
    "fabric.circuits.cabling",
    "fabric.circuits.steering.interval",
    "fabric.switching.channels",
    "fabric.switching.iterations",
    "fabric.switch.pause_response",
    "endpoint.nic.pause_response",
    "endpoint.nic.resume_delay",
    "endpoint.nic.congestion_control.cnp_dscp",
    "fabric.routes[].via",
    "endpoint.addresses.pool",
    "endpoint.addresses.dscp",
    "endpoint.nic.control_dscp",
    "endpoint.nic.entropy",
    "engine.window",
    "jobs[].gap",
];

/// A scenario that is read, and what it was read from.
struct Case {
    name: String,
    text: String,
    overrides: Vec<String>,
    loaded: Loaded,
}

impl Case {
    /// The scenario without a setting, or without the item of a list that must have it; nothing
    /// where something has to be said, without it making any difference what.
    fn without(&self, path: &str) -> Option<Loaded> {
        let item = path.rsplit_once('.').map(|(item, _)| item);
        let item = item.filter(|item| item.ends_with(']'));
        let mut paths = [Some(path), item].into_iter().flatten();
        paths.find_map(|path| {
            let loaded = load_without(
                &self.text,
                "case.yaml",
                &self.overrides,
                path,
                &Budget::unlimited(),
            );
            loaded
                .unwrap_or_else(|| panic!("{}: no {path}", self.name))
                .ok()
        })
    }
}

fn read(text: &str, overrides: &[String]) -> Option<Loaded> {
    load(text, "case.yaml", Format::Yaml, overrides, None).ok()
}

/// The scenario of a seed with each setting that it takes, of one in four.
fn random_case(seed: u64) -> Case {
    let text = random_scenario(seed).text;
    let mut overrides = Vec::new();
    let mut loaded = read(&text, &overrides).expect("it was read before");
    for (number, setting) in (0..).zip(SETTINGS) {
        let drawn = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (number % 61);
        if !drawn.wrapping_add(number).is_multiple_of(4) {
            continue;
        }
        overrides.push(setting.to_owned());
        match read(&text, &overrides) {
            Some(with) => loaded = with,
            None => {
                overrides.pop();
            }
        }
    }
    Case {
        name: format!("seed {seed}"),
        text,
        overrides,
        loaded,
    }
}

fn written_case(text: &str) -> Case {
    let text = format!("{text}\n{JOB}");
    let loaded = load(&text, "case.yaml", Format::Yaml, &[], None);
    Case {
        name: text.clone(),
        overrides: Vec::new(),
        loaded: loaded.unwrap_or_else(|problems| panic!("{}", problems.render())),
        text,
    }
}

/// What a run leaves, or how it fails: a digest of all tables but of columns that only name what
/// was set. These are the ports that a seed draws for queue pairs, and how many queue pairs a hash
/// sends where. Tables have the numbers of queues in them, which change when a class is left out;
/// then those without them stand for all.
fn result(plan: &Plan, renumbered: bool) -> String {
    let (outcome, flows) = match Engine::windowed(1).run(plan) {
        Ok(Trial { outcome, rows }) => (outcome, rows.flows),
        Err(why) => return why,
    };
    let Outcome {
        jobs,
        collectives,
        mut counts,
        ..
    } = outcome;
    if renumbered {
        return format!("{flows:?} {jobs:?} {collectives:?} {:?}", counts.ports);
    }
    let mut digest = Digest::new();
    for mut flow in flows {
        flow.udp_source_port = 0;
        digest.add_row(&flow);
    }
    for port in &mut counts.ports {
        port.queue_pairs = None;
    }
    digest.add_rows(&jobs);
    digest.add_rows(&collectives);
    counts.add_to(&mut digest);
    digest.to_hex()
}

/// A path with nothing of which item of a list it is in.
fn rule(path: &str) -> String {
    path.split(']')
        .map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit()))
        .collect::<Vec<_>>()
        .join("]")
}

#[test]
fn a_setting_without_effect_can_be_left_out() {
    let mut proved: BTreeMap<String, u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    let written = TEXTS.iter().map(|text| written_case(text));
    for case in written.chain((0..SCENARIOS).map(random_case)) {
        let given = &case.loaded.given;
        let idle = idle_settings(&case.loaded.plan, given, &Budget::unlimited())
            .expect("hosts reach each other");
        if idle.is_empty() {
            continue;
        }
        let with = [false, true].map(|renumbered| result(&case.loaded.plan, renumbered));
        for idle in idle {
            let Some(without) = case.without(&idle.path) else {
                continue;
            };
            let rule = rule(&idle.path);
            let renumbered = rule == "fabric.switch.classes[]";
            *proved.entry(rule).or_default() += 1;
            if result(&without.plan, renumbered) != with[usize::from(renumbered)] {
                wrong.push(format!(
                    "{} with {:?}: {}",
                    case.name, case.overrides, idle.note
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    for rule in PROVED {
        assert!(proved.contains_key(rule), "{rule} is not among {proved:#?}");
    }
}
