//! What `faults`, `impairments` and `pfc_watchdog` mean, and what is refused.

use tenter::resolve::{Diagnostics, Format, Loaded, load};
use tenter_fabric::net::impairment::{Strikes, TesterAction};
use tenter_fabric::net::{PacketKind, WatchdogAction};
use tenter_fabric::topology::{HostId, NodeId};
use tenter_language::units::{Rate, Time};
use tenter_sim::plan::Fault;

/// Cables: 4 of hosts, then leaf0 to spine0 (4, 5) and spine1 (6, 7), leaf1 likewise (8 to 11).
const SMALL: &str = "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2, links_per_pair: 2}
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
";

fn set(overrides: &[&str], seed: Option<u64>) -> Result<Loaded, Diagnostics> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    load(SMALL, "small.yaml", Format::Yaml, &overrides, seed)
}

fn good(overrides: &[&str]) -> Loaded {
    let loaded = set(overrides, None);
    let loaded = loaded.unwrap_or_else(|errors| panic!("{overrides:?}\n{errors}"));
    // What is written into the trial folder means the same.
    let again = load(&loaded.effective, "again.yaml", Format::Yaml, &[], None);
    let again = again.unwrap_or_else(|errors| panic!("{}\n{errors}", loaded.effective));
    assert_eq!(again.plan, loaded.plan, "{}", loaded.effective);
    loaded
}

fn refused(overrides: &[&str], expected: &str) {
    let errors = set(overrides, None).expect_err(expected);
    let text = errors.render();
    assert_eq!(errors.problems().len(), 1, "{overrides:?}\n{text}");
    assert!(
        text.contains(expected),
        "{overrides:?} lacks {expected:?}\n{text}"
    );
}

fn events(text: &str) -> Vec<(u64, Fault)> {
    let loaded = good(&[&format!("faults.events=[{text}]")]);
    let events = loaded.plan.faults.events.iter();
    events
        .map(|event| (event.at.ps() / 1_000_000, event.fault))
        .collect()
}

#[test]
fn nothing_breaks_unless_it_is_written() {
    let plan = good(&[]).plan;
    assert_eq!(plan.faults.events, []);
    assert_eq!(plan.faults.convergence, Time::from_us(50_000));
    assert_eq!((plan.impairments.len(), plan.watchdog), (0, None));
}

#[test]
fn links_and_switches_go_down_and_come_up() {
    use Fault::{LinkDown, LinkRate, LinkUp};
    let both = "{link: leaf0-spine1, down: 2us, up: 5us}";
    let expected = [
        (2, LinkDown(6)),
        (2, LinkDown(7)),
        (5, LinkUp(6)),
        (5, LinkUp(7)),
    ];
    assert_eq!(events(both), expected);
    assert_eq!(
        events("{link: spine1-leaf0, cable: 1, down: 2us}"),
        [(2, LinkDown(7))]
    );
    let flap = "{link: host1-leaf0, down: 1us, flap: {period: 10us, down_time: 4us, count: 2}}";
    let expected = [
        (1, LinkDown(1)),
        (5, LinkUp(1)),
        (11, LinkDown(1)),
        (15, LinkUp(1)),
    ];
    assert_eq!(events(flap), expected);
    let switch = events("{switch: spine0, down: 3us}");
    assert_eq!(switch, [4, 5, 8, 9].map(|cable| (3, LinkDown(cable))));
    let slow = Rate::from_gbps(100);
    let full = Rate::from_gbps(400);
    let rate = "{link: host0-leaf0, rate: 100Gbps, at: 1us, until: 9us}";
    assert_eq!(
        events(rate),
        [(1, LinkRate(0, slow)), (9, LinkRate(0, full))]
    );
    let storm = events("{nic: host3, pause_storm: 1us, until: 2us}");
    assert_eq!(
        storm,
        [
            (1, Fault::StormBegins(HostId::new(3))),
            (2, Fault::StormEnds(HostId::new(3)))
        ]
    );
}

#[test]
fn random_faults_follow_the_seed() {
    let random =
        "faults.events=[{random: fabric-links, count: 20, from: 5us, to: 9us, down_time: 1us}]";
    let events = |seed| {
        set(&[random], Some(seed))
            .expect("it is valid")
            .plan
            .faults
            .events
    };
    assert_eq!(events(1), events(1));
    assert_ne!(events(1), events(2));
    assert_eq!(events(1).len(), 40);
    for event in events(1) {
        let (cable, range) = match event.fault {
            Fault::LinkDown(cable) => (cable, 5..=9),
            Fault::LinkUp(cable) => (cable, 6..=10),
            other => panic!("{other:?}"),
        };
        assert!((4..12).contains(&cable) && range.contains(&(event.at.ps() / 1_000_000)));
    }
}

#[test]
fn impairments_are_for_directions_of_links() {
    let set = [
        "impairments=[{link: all, frame_loss: 1e-6}, {link: host1-leaf0, sender: host1, bit_error_rate: 0.5}]",
    ];
    let impairments = good(&set).plan.impairments;
    assert_eq!(impairments.len(), 24);
    for impairment in impairments {
        let expected = if impairment.sender.node == NodeId::new(1) {
            (0, 1 << 63)
        } else {
            (18_446_744_073_709, 0)
        };
        assert_eq!((impairment.frame_loss, impairment.bit_errors), expected);
    }
}

#[test]
fn rules_are_those_of_a_tester() {
    let rule = "{opcodes: [last, nak], from: host0, to: host3, psn: 10-20, count: 3, action: reorder, behind: 7}";
    let set = format!("impairments=[{{link: host-links, rules: [{rule}, {{every: 9, skip: 2}}]}}]");
    let impairments = good(&[&set]).plan.impairments;
    assert_eq!(impairments.len(), 8);
    let [first, second] = impairments[0].rules.as_slice() else {
        panic!("{impairments:?}");
    };
    let kinds = [
        PacketKind::Last,
        PacketKind::Nak,
        PacketKind::SelectiveNak,
        PacketKind::TrimNak,
    ];
    let kinds = kinds.map(|kind| 1 << kind as u8);
    assert_eq!(first.kinds, kinds.iter().sum::<u32>());
    assert_eq!(
        (first.from, first.to),
        (Some(HostId::new(0)), Some(HostId::new(3)))
    );
    let sequences = Strikes::Sequences {
        first: 10,
        last: 20,
        most: 3,
    };
    assert_eq!(
        (first.strikes, first.action),
        (sequences, TesterAction::Hold(7))
    );
    let every = Strikes::Every {
        skip: 2,
        period: 9,
        most: u64::MAX,
    };
    assert_eq!((second.strikes, second.action), (every, TesterAction::Drop));
    assert_eq!(second.kinds, 0b1111);
}

#[test]
fn the_watchdog_has_the_defaults_of_sonic() {
    let watchdog = "fabric.switch.pfc_watchdog={}";
    let watchdog = good(&["fabric.flow_control=pfc", watchdog]).plan.watchdog;
    let watchdog = watchdog.expect("it is on");
    let times = [
        watchdog.poll_interval,
        watchdog.detection_time,
        watchdog.restoration_time,
    ];
    assert_eq!(times, [Time::from_us(200_000); 3]);
    assert_eq!(watchdog.action, WatchdogAction::Drop);
}

#[test]
fn what_cannot_be_is_refused() {
    let event = |event: &str, expected: &str| {
        refused(&[&format!("faults.events=[{event}]")], expected);
    };
    event("{down: 1us}", "does not say what one thing breaks");
    event(
        "{link: a, switch: b, down: 1us}",
        "does not say what one thing breaks",
    );
    event("{link: leaf0-spine7, down: 1us}", "did you mean `spine0`");
    event(
        "{link: leaf0-leaf1, down: 1us}",
        "has links to host0, host1, spine0",
    );
    event("{link: leaf0, down: 1us}", "is no link of the fabric");
    event(
        "{link: leaf0-spine0, cable: 2, down: 1us}",
        "there are 2, counted from 0",
    );
    event("{link: leaf0-spine0}", "lacks `down`");
    event(
        "{link: leaf0-spine0, down: 2us, up: 1us}",
        "no later than `down`",
    );
    event(
        "{link: leaf0-spine0, rate: 800Gbps, at: 1us}",
        "cannot become faster",
    );
    event("{link: leaf0-spine0, rate: 100Gbps}", "lacks `at`");
    event("{switch: leaf9, down: 1us}", "is no switch of the fabric");
    event("{switch: host0, down: 1us}", "is no switch of the fabric");
    event(
        "{nic: leaf0, pause_storm: 1us, until: 2us}",
        "is no host of the fabric",
    );
    event(
        "{nic: host0, pause_storm: 2us, until: 2us}",
        "no later than `pause_storm`",
    );
    event(
        "{random: links, count: 1, from: 2us, to: 1us, down_time: 1us}",
        "is before `from`",
    );
    let flap = "{link: leaf0-spine0, down: 1us, flap: {period: 2us, down_time: 2us, count: 1}}";
    event(flap, "no shorter than `period`");
    // Six cables go down and come up 100,000 times each: 1.2 M events an entry.
    let often = "{switch: leaf0, down: 1us, flap: {period: 2us, down_time: 1us, count: 100000}}";
    let four = [often; 4].join(", ");
    refused(
        &[&format!("faults={{events: [{four}]}}")],
        "are more than 4194304 single events",
    );
}

#[test]
fn impairments_that_cannot_be_are_refused() {
    let impairment = |text: &str, expected: &str| {
        refused(&[&format!("impairments=[{text}]")], expected);
    };
    impairment("{link: all, frame_loss: 2}", "write a probability");
    impairment(
        "{link: host0-leaf0, sender: leaf1}",
        "is at no end of the link",
    );
    impairment("{link: all, rules: [{}]}", "which frames it strikes");
    impairment(
        "{link: all, rules: [{every: 1, psn: 3}]}",
        "which frames it strikes",
    );
    impairment(
        "{link: all, rules: [{psn: 9-3}]}",
        "write a packet sequence number",
    );
    impairment(
        "{link: all, rules: [{every: 1, opcodes: [lst]}]}",
        "did you mean `last`",
    );
    impairment(
        "{link: all, rules: [{every: 1, to: host9}]}",
        "is no host of the fabric",
    );
}

#[test]
fn what_pauses_nobody_is_warned_of() {
    let loaded = good(&["faults.events=[{nic: host0, pause_storm: 1us, until: 2us}]"]);
    assert!(format!("{}", loaded.warnings).contains("no class is lossless"));
    let loaded = good(&["fabric.switch.pfc_watchdog={}"]);
    assert!(format!("{}", loaded.warnings).contains("no class is lossless"));
}

#[test]
fn limits_that_hold_no_frame_on_a_degraded_link_are_warned_of() {
    let class = "fabric.switch.classes=[{class: 3, limit: 40kB, limit_scale_from: 400Gbps}]";
    let warned = |rate: &str| {
        let event = format!("faults.events=[{{link: leaf0-spine1, rate: {rate}, at: 0s}}]");
        good(&[class, &event]).warnings.to_string()
    };
    assert!(!warned("100Gbps").contains("class 3"));
    let told = warned("10Gbps");
    assert!(
        told.contains("class 3 may hold 1000 bytes at a port of 10Gbps"),
        "{told}"
    );
}
