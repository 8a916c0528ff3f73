//! What a scenario means: values, defaults and checks, one small scenario each.

use tenter::resolve::{Diagnostics, Format, Loaded, MAX_SOURCE_BYTES, load, text_of};
use tenter_endpoint::AckPolicy;
use tenter_fabric::net::{Forwarding, Limit, UNLIMITED_POOL};
use tenter_fabric::topology::HostId;
use tenter_language::units::Time;
use tenter_workload::collective::Permutation;

const SMALL: &str = "
fabric: {kind: single-switch, hosts: 4}
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
";

fn set(overrides: &[&str]) -> Result<Loaded, Diagnostics> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    load(SMALL, "small.yaml", Format::Yaml, &overrides, None)
}

fn good(overrides: &[&str]) -> Loaded {
    set(overrides).unwrap_or_else(|errors| panic!("{overrides:?}\n{errors}"))
}

/// Asserts that the overrides are refused with one problem that says `expected`.
fn refused(overrides: &[&str], expected: &str) {
    let errors = set(overrides).expect_err(expected);
    let text = errors.render();
    assert_eq!(errors.problems().len(), 1, "{overrides:?}\n{text}");
    assert!(
        text.contains(expected),
        "{overrides:?} lacks {expected:?}\n{text}"
    );
}

fn refused_text(text: &str, expected: &str) {
    let errors = load(text, "x.yaml", Format::Yaml, &[], None).expect_err(expected);
    assert!(
        errors.render().contains(expected),
        "lacks {expected:?}\n{errors}"
    );
}

#[test]
fn defaults_are_those_of_the_reference() {
    let plan = good(&[]).plan;
    assert_eq!(
        (plan.nic.mtu_bytes, plan.nic.message_bytes),
        (4096, 128 << 10)
    );
    assert_eq!(plan.nic.acknowledge, AckPolicy::PerMessage);
    assert_eq!((plan.nic.window_packets, plan.nic.retry_count), (None, 7));
    assert_eq!(
        plan.nic.retransmission_timeout,
        Time::from_ps(67_108_864_000)
    );
    assert_eq!(plan.switches.usual.forwarding, Forwarding::CutThrough);
    assert_eq!(plan.switches.usual.ingress_latency, Time::from_ns(300));
    assert_eq!(plan.switches.usual.egress_latency, Time::from_ns(300));
    assert_eq!(plan.switches.usual.pool_bytes, [UNLIMITED_POOL]);
    assert_eq!(plan.switches.usual.classes.len(), 1);
    assert_eq!(
        plan.switches.usual.classes[0].limit,
        Limit::Static(64 << 20)
    );
    assert_eq!(
        (plan.nic.control_dscp, plan.nic.receive_buffer),
        (None, None)
    );
    assert_eq!(
        plan.topology.cables[0].rate.bits_per_second(),
        400_000_000_000
    );
    assert_eq!(plan.topology.cables[0].delay, Time::from_ns(25));
    assert_eq!(plan.sample_interval, Some(Time::from_us(1)));
    assert_eq!((plan.time_limit, plan.window_cap), (None, None));
    assert_eq!(
        (plan.jobs[0].name.as_str(), plan.jobs[0].gap),
        ("job0", Time::from_us(10))
    );
    assert_eq!(plan.jobs[0].hosts, [0, 1, 2, 3].map(HostId::new));
}

#[test]
fn a_pipeline_of_odd_picoseconds_loses_none() {
    let switch = good(&["fabric.switch.pipeline_latency=7ps"])
        .plan
        .switches
        .usual;
    assert_eq!(
        (switch.ingress_latency.ps(), switch.egress_latency.ps()),
        (3, 4)
    );
}

#[test]
fn values_are_taken() {
    let nic = good(&["endpoint.nic={port_mtu: 1500, acknowledge: {every: 4}, window: 9}"])
        .plan
        .nic;
    assert_eq!((nic.mtu_bytes, nic.window_packets), (1024, Some(9)));
    assert_eq!(nic.outstanding_messages, None);
    assert_eq!(nic.acknowledge, AckPolicy::EveryPackets(4));
    let plan = good(&[
        "observe={samples: false}",
        "limits.time=5ms",
        "engine.window=1us",
    ])
    .plan;
    assert_eq!(plan.sample_interval, None);
    assert_eq!(
        (plan.time_limit, plan.window_cap),
        (Some(Time::from_us(5_000)), Some(Time::from_us(1)))
    );
    let none = good(&[
        "fabric.switch.queue_capacity=none",
        "endpoint.nic.window=none",
    ])
    .plan;
    assert_eq!(
        (
            none.switches.usual.classes[0].limit,
            none.nic.window_packets
        ),
        (Limit::Static(UNLIMITED_POOL), None)
    );
}

#[test]
fn sizes_come_in_three_forms_and_overrides_win() {
    let sizes = |value: &str| -> Vec<u64> {
        let plan = good(&[value]).plan;
        plan.jobs[0]
            .sequence
            .iter()
            .map(|run| run.size_bytes)
            .collect()
    };
    assert_eq!(sizes("jobs[0].collectives[0].size=7B"), [7]);
    assert_eq!(sizes("jobs[0].collectives[0].sizes=[7B, 5B]"), [7, 5]);
    // 10, 30, 90; the next, 270, is beyond the end.
    assert_eq!(
        sizes("jobs[0].collectives[0].sizes={start: 10B, multiplier: 3, end: 100B}"),
        [10, 30, 90]
    );
}

#[test]
fn the_seed_can_be_replaced_and_reaches_permutations() {
    let text = SMALL.replace("all-to-all", "permutation");
    let loaded = load(&text, "x.yaml", Format::Yaml, &[], Some(9)).unwrap();
    assert_eq!(loaded.plan.seed, 9);
    assert_eq!(
        loaded.plan.jobs[0].sequence[0].traffic,
        Permutation { seed: Some(9) }.into()
    );
    let again = load(&loaded.effective, "x.yaml", Format::Yaml, &[], None).unwrap();
    assert_eq!(again.plan, loaded.plan);
}

#[test]
fn ranks_are_bound_to_hosts() {
    let hosts = |value: &str| good(&[value]).plan.jobs[0].hosts.clone();
    assert_eq!(hosts("jobs[0].ranks=2"), [0, 1].map(HostId::new));
    assert_eq!(
        hosts("jobs[0].ranks=[3, host1, 0]"),
        [3, 1, 0].map(HostId::new)
    );
    assert_eq!(hosts("jobs[0].ranks=[2-3, 0]"), [2, 3, 0].map(HostId::new));
    refused(&["jobs[0].ranks=5"], "the ranks from 4 on are unreachable");
    refused(
        &["jobs[0].ranks=[0, 4]"],
        "rank 1 is unreachable: there is no host `4`",
    );
    refused(&["jobs[0].ranks=[0, hots1]"], "did you mean `host1`?");
    refused(&["jobs[0].ranks=[0, 3-1]"], "run backwards");
    refused(
        &["jobs[0].ranks=[0-2, 1]"],
        "host `host1` is bound twice, to ranks 1 and 3",
    );
    refused(&["jobs[0].ranks=[2]"], "bind at least 2 ranks");
    refused(&["jobs[0].ranks=1"], "outside its range");
}

#[test]
fn addresses_are_one_subnet_per_leaf() {
    let fabric = "fabric={kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 1}";
    let dotted = |bits: u32| std::net::Ipv4Addr::from(bits).to_string();
    let addresses = good(&[fabric]).plan.addresses;
    let seen: Vec<_> = addresses
        .iter()
        .map(|nic| (dotted(nic.address), dotted(nic.gateway)))
        .collect();
    assert_eq!(seen[0], ("10.0.0.2".into(), "10.0.0.1".into()));
    assert_eq!(seen[3], ("10.1.0.3".into(), "10.1.0.1".into()));
    assert_eq!(
        (
            addresses[HostId::new(0)].prefix,
            addresses[HostId::new(0)].dscp
        ),
        (16, 26)
    );
    let change = "endpoint.addresses.overrides=[{host: host3, address: 10.9.0.7, gateway: 10.9.0.1, dscp: 48}]";
    let nic = good(&[fabric, change]).plan.addresses[HostId::new(3)];
    assert_eq!(
        (dotted(nic.address), nic.dscp, nic.prefix),
        ("10.9.0.7".into(), 48, 16)
    );
}

#[test]
fn addresses_that_cannot_be_are_refused() {
    let section = "endpoint.addresses";
    refused(
        &[&format!("{section}.pool=10.0.0.0")],
        "must be an IPv4 prefix",
    );
    refused(
        &[&format!("{section}.pool=10.0.0.1/8")],
        "must be an IPv4 prefix",
    );
    refused(
        &[&format!("{section}={{pool: 10.0.0.0/29, prefix: 30}}")],
        "does not hold 1 subnets of 4",
    );
    refused(&[&format!("{section}.dscp=64")], "outside its range");
    refused(
        &[&format!("{section}.overrides=[{{host: host9}}]")],
        "there is no host `host9`",
    );
    refused(
        &[&format!("{section}.overrides=[{{host: 0-1}}]")],
        "one host is wanted",
    );
    refused(
        &[&format!(
            "{section}.overrides=[{{host: 0, address: 10.0.0.3}}]"
        )],
        "both have the address 10.0.0.3",
    );
}

#[test]
fn ranks_reach_each_other_within_their_prefix_or_through_a_gateway_in_it() {
    let overrides = |items: &str| format!("endpoint.addresses.overrides=[{items}]");
    // Four hosts in 10.0.0.0/16 with the gateway 10.0.0.1.
    refused(
        &[&overrides("{host: 2, address: 10.9.0.7}")],
        "rank 2 of job `job0` (`host2`, 10.9.0.7/16) cannot reach rank 0 (`host0`, 10.0.0.2): its gateway 10.0.0.1 is not within its prefix",
    );
    refused(
        &[&overrides("{host: 2, address: 10.9.0.7}")],
        "give `host2` a `gateway` within 10.9.0.0/16, or a prefix that holds both addresses",
    );
    good(&[&overrides(
        "{host: 2, address: 10.9.0.7, gateway: 10.9.0.1}",
    )]);
    good(&[
        "endpoint.addresses.prefix=12",
        &overrides("{host: 2, address: 10.9.0.7, gateway: 10.200.0.1}"),
    ]);
    // A gateway elsewhere does no harm where all others are within the prefix, or where nobody
    // sends to or from the host.
    good(&[&overrides("{host: 2, gateway: 10.9.0.1}")]);
    good(&[
        "jobs[0].ranks=[0, 1, 3]",
        &overrides("{host: 2, address: 10.9.0.7}"),
    ]);
    // Host 3 sends to nobody, but acknowledges what host 2 sends.
    refused(
        &[
            "jobs[0].collectives=[{collective: incast, root: 3, size: 1MiB}]",
            &overrides("{host: 3, address: 10.9.0.7}"),
        ],
        "rank 3 of job `job0` (`host3`, 10.9.0.7/16) cannot reach rank 0",
    );
}

#[test]
fn numbers_have_their_limits() {
    refused(
        &["fabric.rate=0bps"],
        "a link without a rate carries nothing",
    );
    refused(&["fabric.rate=1bps"], "outside its range");
    refused(&["fabric.hosts=0"], "outside its range");
    refused(
        &["fabric.hosts=99999999999999999999999"],
        "outside its range",
    );
    refused(&["fabric.hosts=8.0"], "must be a whole number");
    refused(&["fabric.hosts=\"8\""], "leave the quotation marks out");
    refused(&["fabric.host_delay=99999999999999999999s"], "too large");
    refused(&["endpoint.nic.mtu=1500"], "cannot be `1500`");
    refused(
        &["endpoint.nic.clock_offset_max_ppm=1001"],
        "outside its range",
    );
    refused(&["endpoint.nic.message_size=0B"], "outside its range");
    refused(
        &["fabric.switch.queue_capacity=4173B"],
        "less than one full frame of 4174",
    );
    refused(&["jobs[0].gap=1999ns"], "a barrier takes effect no sooner");
    refused(
        &["jobs[0].gap=1000s", "jobs[0].iterations=8642"],
        "`jobs[0].gap` is `1000s`, which puts the last of 8642 collectives beyond 8640000s",
    );
    refused(&["limits.time=8640001s"], "outside its range");
    refused(&["observe.sample_interval=999ns"], "outside its range");
    refused(&["schema_version=2"], "outside its range");
    refused(&["jobs[0].iterations=0"], "outside its range");
    refused(&["jobs[0].collectives[0].size=0B"], "outside its range");
    refused(
        &["jobs[0].collectives[0].sizes={start: 1B, multiplier: 1, end: 8B}"],
        "outside its range",
    );
    refused(&["jobs[0].collectives[0].sizes=[]"], "is empty");
    refused(&["jobs[0].collectives=[]"], "is empty");
    refused(&["jobs=[]"], "is empty");
}

#[test]
fn packets_of_a_queue_pair_have_numbers_of_their_own() {
    // Messages of 1 byte are packets of 1 byte.
    let ring = |size: &str, more: &str| {
        let collectives = format!("collectives: [{{collective: all-reduce, size: {size}}}]");
        [
            "endpoint.nic.message_size=1B".to_owned(),
            format!("jobs=[{{{collectives}, {more}}}]"),
        ]
    };
    let refused =
        |[message, jobs]: [String; 2], expected: &str| refused(&[&message, &jobs], expected);
    let good = |[message, jobs]: [String; 2]| good(&[&message, &jobs]);
    // 4 chunks of 178,956,970 bytes, 6 of them to the next rank: 1,073,741,820. One more byte per
    // chunk is 1,073,741,826.
    good(ring("715827880B", ""));
    refused(
        ring("715827884B", ""),
        "all-reduce (ring) of 715827884B puts 1073741826 packets on one queue pair of rank 0 to rank 1",
    );
    // Split over two, or with two of the six on each chunk's own queue pair, there is room.
    good(ring("715827884B", "queue_pairs: 2"));
    good(ring("715827884B", "queue_pair_scope: chunk"));
    // The largest collective there is fits with messages of the usual size.
    good([
        "endpoint.nic.mtu=4096".to_owned(),
        "jobs[0].collectives[0].size=1TiB".to_owned(),
    ]);
}

#[test]
fn words_are_chosen_from_lists() {
    refused(&["fabric.switch.forwarding=cut_thru"], "cut-through");
    refused(&["fabric.load_balancing.fields=[]"], "is empty");
    refused(
        &["fabric.load_balancing.fields=[source_prot]"],
        "did you mean `source_port`?",
    );
    refused(
        &["fabric.load_balancing.fields=[protocol, protocol]"],
        "is listed twice",
    );
    refused(
        &["fabric.load_balancing={kind: spray, hash: crc32}"],
        "choose from ecmp",
    );
    refused(
        &["jobs[0].collectives[0].algorithm=ring"],
        "choose from parallel",
    );
    refused(
        &["jobs[0].collectives=[{collective: incast, root: 4, size: 1MiB}]"],
        "root 4 is not one of the 4 ranks",
    );
    refused(
        &["jobs[0].collectives=[{collective: reduce, chunk_size: 1B, size: 1TiB}]"],
        "cut it into chunks of at least 524288 bytes",
    );
    refused(
        &["jobs[0].collectives=[{collective: reduce, chunk_size: 0B, size: 1MiB}]"],
        "outside its range",
    );
    refused(
        &["jobs[0].collectives=[{collective: all-gather, chunk_size: 1KiB, size: 1MiB}]"],
        "unknown key `chunk_size`",
    );
    refused(
        &["jobs[0].queue_pair_scope=chunks"],
        "did you mean `chunk`?",
    );
    refused(
        &["endpoint.nic.connection_set_up=yes"],
        "choose from true, false",
    );
}

#[test]
fn windows_that_never_open_are_refused() {
    refused(
        &["endpoint.nic.window=31"],
        "first acknowledgement comes after 32",
    );
    refused(
        &["endpoint.nic={window: 7, acknowledge: {every: 8}}"],
        "comes after 8",
    );
    good(&["endpoint.nic.window=32"]);
    good(&["endpoint.nic={window: 1, acknowledge: per-packet}"]);
}

#[test]
fn jobs_have_names_of_their_own() {
    let text = SMALL.replace(
        "jobs: [{",
        "jobs: [{name: a, collectives: [{collective: incast, size: 1B}]}, {name: a, ",
    );
    refused_text(&text, "two jobs are called `a`");
}

#[test]
fn jobs_that_change_rails_are_refused() {
    let text = |job: &str, domain: &str| {
        format!(
            "fabric: {{kind: rail-only, servers: 4, nics_per_server: 2}}\n\
             endpoint: {{host: {{{domain}}}}}\njobs: [{{{job}}}]\n"
        )
    };
    let domain = "scale_up: {npus_per_host: 2}";
    let ring = "collectives: [{collective: all-reduce, algorithm: ring, size: 1MiB}]";
    let pxn =
        "collectives: [{collective: all-to-all, algorithm: pxn, npus_per_host: 2, size: 1MiB}]";
    // A ring over the servers changes rails within the first one, and between it and the next.
    let within = "rank 0 of job `job0` (`server0/nic0`) sends to rank 1 (`server0/nic1`), and no cable leads";
    refused_text(&text(ring, ""), within);
    let between = "rank 1 of job `job0` (`server0/nic1`) sends to rank 2 (`server1/nic0`)";
    refused_text(&text(ring, domain), between);
    refused_text(&text(pxn, ""), within);
    let on_one_rail = format!("ranks: [0, 2, 4, 6], {ring}");
    for (job, domain) in [(pxn, domain), (&*on_one_rail, "")] {
        let text = text(job, domain);
        let loaded = load(&text, "x.yaml", Format::Yaml, &[], None);
        loaded.unwrap_or_else(|errors| panic!("{errors}"));
    }
}

#[test]
fn explicit_fabrics_are_checked() {
    let fabric = |links: &str| {
        format!(
            "fabric: {{kind: explicit, nodes: [{{name: a}}, {{name: b}}, {{name: s, kind: switch}}, {{name: t, kind: switch}}], links: {links}}}\n\
             jobs: [{{collectives: [{{collective: all-to-all, size: 1MiB}}]}}]\n"
        )
    };
    refused_text(
        &fabric("[{a: a, b: s}, {a: b, b: t}]"),
        "host `a` cannot reach host `b`",
    );
    refused_text(
        &fabric("[{a: a, b: s}, {a: b, b: u}]"),
        "names a node `u` that is not in the list",
    );
    refused_text(&fabric("[{a: a, b: s}]"), "host `b` has 0 ports");
}

#[test]
fn every_problem_is_reported_at_once_in_the_order_of_the_text() {
    let text = "
fabric:
  kind: leaf-spine
  leaves: many
  spines: 4
  speed: 400Gbps
  host_rate: 400
jobs:
  - iterations: 0
    collectives: [{collective: all-to-al, sise: 1MiB}]
    x: &anchor 1
";
    let errors = load(
        text,
        "x.yaml",
        Format::Yaml,
        &["limits.tyme=1s".into()],
        None,
    )
    .unwrap_err();
    let said: Vec<(&str, &str)> = errors
        .problems()
        .iter()
        .map(|one| (one.place.as_str(), one.message.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            ("x.yaml:2:1", "`fabric` lacks `hosts_per_leaf`"),
            (
                "x.yaml:4:11",
                "`fabric.leaves` must be a whole number, not `many`"
            ),
            ("x.yaml:6:3", "unknown key `speed` in `fabric`"),
            ("x.yaml:7:14", "`fabric.host_rate`: `400` has no unit"),
            (
                "x.yaml:9:17",
                "`jobs[0].iterations` is `0`, outside its range"
            ),
            (
                "x.yaml:10:19",
                "`jobs[0].collectives[0]` lacks `size` or `sizes`"
            ),
            (
                "x.yaml:10:32",
                "`jobs[0].collectives[0].collective` cannot be `all-to-al`"
            ),
            (
                "x.yaml:10:43",
                "unknown key `sise` in `jobs[0].collectives[0]`"
            ),
            ("x.yaml:11:5", "unknown key `x` in `jobs[0]`"),
            ("--set:1:8", "unknown key `tyme` in `limits`"),
        ]
    );
}

#[test]
fn an_error_of_an_override_shows_the_override() {
    let errors = set(&["fabric.rate=0Gbps"]).unwrap_err();
    let expected = "error: `fabric.rate` is zero: a link without a rate carries nothing
  --> --set:1:13
   |
 1 | fabric.rate=0Gbps
   |             ^^^^^ give it a rate, for example `400Gbps`
";
    assert_eq!(errors.render(), expected);
}

#[test]
fn json_and_toml_give_the_same_plan() {
    let json = r#"{"fabric": {"kind": "single-switch", "hosts": 4},
        "jobs": [{"collectives": [{"collective": "all-to-all", "size": "1MiB"}]}]}"#;
    let toml = "[fabric]\nkind = \"single-switch\"\nhosts = 4\n[[jobs]]\n[[jobs.collectives]]\ncollective = \"all-to-all\"\nsize = \"1MiB\"\n";
    let yaml = good(&[]).plan;
    assert_eq!(
        load(json, "x.json", Format::of_name("x.json"), &[], None)
            .unwrap()
            .plan,
        yaml
    );
    assert_eq!(
        load(toml, "x.toml", Format::of_name("x.toml"), &[], None)
            .unwrap()
            .plan,
        yaml
    );
    let errors = load(
        &toml.replace("hosts", "hosst"),
        "x.toml",
        Format::Toml,
        &[],
        None,
    )
    .unwrap_err();
    assert!(errors.render().contains("--> x.toml:3:1"), "{errors}");
}

#[test]
fn a_text_is_called_what_its_file_is() {
    let broken = |name: &str| {
        let found = load("{", name, Format::of_name(name), &[], None);
        found.expect_err("it is broken").render()
    };
    assert!(broken("x.json").contains("this is not valid JSON"));
    assert!(broken("x.yaml").contains("this is not valid YAML"));
    // Both are written the same way.
    let small = good(&[]).plan;
    let text = SMALL.replace('#', "");
    let json = load(&text, "small.json", Format::Json, &[], None).expect("it is a scenario");
    assert_eq!(json.plan, small);
}

#[test]
fn one_thing_is_told_in_the_singular() {
    let effective = good(&[]).effective;
    assert!(effective.contains(", 1 switch, "), "{effective}");
    assert!(effective.contains("; 1 job with "), "{effective}");
}

/// 40,000 hosts whose names have 64 characters: 6.2 MB as they are written, 9.9 MB with defaults.
#[test]
fn a_configuration_that_is_too_long_to_be_read_again_is_told() {
    let name = |host: usize| format!("h{host:063}");
    let node = |host: usize| format!("{{name: {}}}, ", name(host));
    let link = |host: usize| format!("{{a: {}, b: s}}, ", name(host));
    let nodes: Vec<String> = (0..40_000).map(node).collect();
    let links: Vec<String> = (0..40_000).map(link).collect();
    let (nodes, links) = (nodes.concat(), links.concat());
    let text = format!(
        "fabric:\n  kind: explicit\n  nodes: [{nodes}{{name: s, kind: switch}}]\n  links: [{links}]\n\
         jobs: [{{ranks: [0, 1], collectives: [{{collective: all-to-all, size: 1MiB}}]}}]"
    );
    let loaded = load(&text, "x", Format::Yaml, &[], None).expect("it holds");
    let warnings = loaded.warnings.to_string();
    assert!(warnings.contains("cannot be run again"), "{warnings}");
    assert!(loaded.effective.len() > MAX_SOURCE_BYTES);
}

#[test]
fn unreadable_files_say_why() {
    assert!(
        text_of(b"a: \xff", "x")
            .unwrap_err()
            .render()
            .contains("not UTF-8: byte 3")
    );
    assert!(
        text_of(&vec![b' '; (8 << 20) + 1], "x")
            .unwrap_err()
            .render()
            .contains("more than 8388608")
    );
    assert_eq!(text_of("\u{feff}a".as_bytes(), "x").unwrap(), "a");
    refused_text("", "the scenario is empty");
    refused_text("# only a comment\n", "the scenario is empty");
    refused_text("name: x", "the scenario lacks `fabric`");
    refused_text("5", "a scenario is a mapping, not `5`");
    refused_text("[]", "a scenario is a mapping, not a list");
}
