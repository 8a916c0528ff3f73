//! Tests of readings, by hand.

use tenter_record::{CollectiveRow, InterferenceRow, JobRow, JobSummary};
use tenter_topology::{HostId, NodeId};

use super::*;
use crate::throughput::Throughput;

/// A leaf with hosts 0 and 1 and uplinks 2 and 3; one flow leaves it whole, one with half of
/// its 2,000 bytes, one stays.
fn trial() -> Trial {
    let port = |port: u16, tx_bytes: u64, pairs: u64| PortRow {
        node: 4,
        port,
        tx_bytes,
        queue_pairs: Some(pairs),
        ..PortRow::default()
    };
    let flow = |src_host: u32, dst_host: u32, rx_frames: u64| FlowRow {
        src_host,
        dst_host,
        tx_frames: 2,
        rx_frames,
        rx_bytes: rx_frames * 1_000,
        ..FlowRow::default()
    };
    let mut trial = Trial {
        leaves: vec![Leaf {
            name: "leaf0".to_owned(),
            node: NodeId::new(4),
            hosts: vec![HostId::new(0), HostId::new(1)],
            uplinks: vec![2, 3],
        }],
        flows: vec![flow(0, 2, 2), flow(1, 3, 1), flow(0, 1, 1), flow(2, 0, 1)],
        ..Trial::default()
    };
    trial.counts.ports = vec![port(0, 9_000, 9), port(2, 4_500, 3), port(3, 1_500, 1)];
    trial.summary.complete = true;
    trial.summary.jobs = vec![JobSummary {
        collectives: vec![CollectiveRow {
            line_rate_percent: Some(40.0),
            ..CollectiveRow::default()
        }],
        ..JobSummary::default()
    }];
    trial
}

fn read(reading: Reading, trial: &Trial) -> Option<Value> {
    row(reading).read(trial)
}

fn row(reading: Reading) -> ReadingRow {
    ReadingRow {
        case: "a".to_owned(),
        bar: None,
        reading,
        query: None,
        against: None,
        metric: "m".to_owned(),
        leaf: Some("leaf0".to_owned()),
        job: None,
        port: None,
        constants: BTreeMap::new(),
        window_us: None,
        statistic: Statistic::Median,
        variant: "pure".to_owned(),
        shown: vec!["pure".to_owned()],
        seeds: None,
        origin: Origin::Published,
        published: None,
        band: None,
        gate: Gate::Info,
        reason: String::new(),
        quick_judged: Some(true),
    }
}

#[test]
fn a_leaf_is_read_at_its_uplinks_and_by_what_leaves_it() {
    let trial = trial();
    let number = |reading| read(reading, &trial);
    assert_eq!(number(Reading::EgressQpCount), Some(Value::Number(4.0)));
    let split = Value::Text("3+1".to_owned());
    assert_eq!(number(Reading::QpsPerUplink), Some(split));
    // 3,000 bytes have left by two flows: the uplinks carry 3 and 1 of 1,500 bytes, as far from
    // the mean; the later of two as far is told.
    let equivalents = number(Reading::QpEquivalentsPerUplink);
    assert_eq!(equivalents, Some(Value::Number(1.0)));
    assert_eq!(number(Reading::FramesDelta), Some(Value::Number(1.0)));
}

#[test]
fn what_stopped_early_is_not_read_as_the_whole() {
    let mut trial = trial();
    trial.summary.complete = false;
    assert_eq!(read(Reading::FramesDelta, &trial), None);
    assert_eq!(read(Reading::QpEquivalentsPerUplink, &trial), None);
    let pairs = read(Reading::EgressQpCount, &trial);
    assert_eq!(pairs, Some(Value::Number(4.0)));
}

#[test]
fn a_third_of_the_ideal_completes_and_less_does_not() {
    let completes = |percent: Option<f64>| {
        let mut trial = trial();
        trial.summary.jobs[0].collectives[0].line_rate_percent = percent;
        read(Reading::Completes, &trial)
    };
    assert_eq!(completes(Some(33.4)), Some(Value::Number(1.0)));
    assert_eq!(completes(Some(33.3)), Some(Value::Number(0.0)));
    assert_eq!(completes(None), Some(Value::Number(0.0)));
}

#[test]
fn a_row_is_about_the_seeds_of_its_kind() {
    let beside = |slow_down: f64, shared: Option<u64>| {
        let mut trial = trial();
        trial.summary.interference = vec![InterferenceRow {
            slow_down: Some(slow_down),
            ..InterferenceRow::default()
        }];
        trial.shared_uplinks = shared;
        trial
    };
    let trials = [
        beside(1.0, Some(0)),
        beside(1.6, Some(1)),
        beside(2.0, Some(2)),
        beside(4.0, None),
    ];
    let judged = |seeds| {
        let row = ReadingRow {
            seeds,
            ..row(Reading::PercentOfUndisturbed)
        };
        let answer = row.judge("pure", Extent::Full, &trials, &[]);
        let number = answer.measured.as_ref().and_then(Value::number);
        (number, answer.statistic.unwrap_or_default())
    };
    let statistic = |values: &str| format!("median of 4 seeds: {values}");
    let shared = (Some(56.25), statistic("2 values from 50 to 62.5"));
    assert_eq!(judged(Some(Condition::SharesAnUplink)), shared);
    let apart = (Some(100.0), statistic("1 value from 100 to 100"));
    assert_eq!(judged(Some(Condition::SharesNoUplink)), apart);
    assert_eq!(judged(None).0, Some(56.25));
}

#[test]
fn pauses_are_those_of_nics_and_moves_those_of_all() {
    let mut trial = trial();
    let nic = |node: u32, us: u64| PortRow {
        node,
        paused: Time::from_us(us),
        ..PortRow::default()
    };
    // Two hosts below the leaf; its own ports do not count.
    trial.counts.ports = vec![nic(0, 500), nic(1, 1_500), nic(4, 9_000)];
    trial.summary.totals.flow_moves = 7;
    trial.flows[1].received = Time::from_us(7);
    let row = &mut trial.summary.jobs[0].collectives[0];
    row.completion_time = Some(Time::from_us(2_000));
    let number = |reading| read(reading, &trial).and_then(|value| value.number());
    assert_eq!(number(Reading::NicXoffMs), Some(1.5));
    assert_eq!(number(Reading::NicXoffMeanMs), Some(1.0));
    // The flow that ended last is one of host 1.
    assert_eq!(number(Reading::SlowestSenderXoffMs), Some(1.5));
    // 40 % of the ideal in 2 ms: the ideal is 0.8 ms.
    assert_eq!(number(Reading::SlowestFlowSlowDownMs), Some(1.2));
    assert_eq!(number(Reading::MovedFlows), Some(7.0));
}

#[test]
fn completion_times_of_all_seeds_are_one_set() {
    // 1 to 100 us and 101 to 200 us in one seed each; twice as long in the other variant, and
    // as long again in a background job.
    let of = |times: std::ops::RangeInclusive<u64>, factor: u64| {
        let mut trial = trial();
        trial.completion_times = times
            .flat_map(|us| [(0, Time::from_us(us * factor)), (1, Time::from_us(us * 9))])
            .collect();
        trial.summary.jobs = ["a", "load"]
            .map(|name| JobSummary {
                job: JobRow {
                    name: name.to_owned(),
                    background: name == "load",
                    ..JobRow::default()
                },
                ..JobSummary::default()
            })
            .into();
        trial
    };
    let trials = [of(1..=100, 1), of(101..=200, 1)];
    let others = [of(1..=100, 2), of(101..=200, 2)];
    let judged = |reading, statistic, against| {
        let row = ReadingRow {
            against,
            statistic,
            ..row(reading)
        };
        let answer = row.judge("pure", Extent::Full, &trials, &[&others]);
        answer.measured.as_ref().and_then(Value::number)
    };
    let pooled = |reading| judged(reading, Statistic::Pooled, None);
    assert_eq!(pooled(Reading::FctP50Ms), Some(0.1));
    assert_eq!(pooled(Reading::FctP99Ms), Some(0.198));
    assert_eq!(pooled(Reading::FctP9999Ms), Some(0.2));
    // 0.05 and 0.15 ms by themselves.
    let mean = judged(Reading::FctP50Ms, Statistic::Mean, None);
    assert_eq!(mean, Some(0.1));
    let change = Some(Against::ChangeFrom("b".to_owned()));
    let change = judged(Reading::FctP99Ms, Statistic::Pooled, change);
    assert_eq!(change, Some(-50.0));
}

#[test]
fn means_are_of_ratios_and_not_of_values() {
    let pair = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
    let pairs = vec![pair("a", "b"), pair("c", "d")];
    // Twice and three quarters.
    let values = [6.0, 3.0, 300.0, 400.0];
    let mean = Against::MeanRatio(pairs.clone());
    assert_eq!(mean.variants(), ["a", "b", "c", "d"]);
    let less = Against::MeanPercentLess(pairs.clone());
    let means = [mean, less].map(|of| format!("{:.3}", of.of(6.0, &values)));
    assert_eq!(means, ["1.375", "-37.500"]);
    let below = |percent| {
        let pairs = pairs.clone();
        Against::CountBelow { percent, pairs }.of(6.0, &values) as u32
    };
    assert_eq!((below(75), below(80), below(300)), (0, 1, 2));
}

#[test]
fn a_port_is_found_by_its_ends() {
    let mut trial = trial();
    let port = |node: &str, peer: &str, high: u64| PortRow {
        node_name: node.to_owned(),
        peer_name: peer.to_owned(),
        queue_high_water_bytes: high,
        tx_bytes: 2_500,
        rate_gbps: 400.0,
        tx_data_wire_bytes: 2_000,
        tx_control_wire_bytes: 400,
        tx_pause_wire_bytes: 100,
        paused: Time::from_ns(25),
        ..PortRow::default()
    };
    trial.counts.ports = vec![port("a", "b", 7), port("a", "b", 9), port("b", "a", 99)];
    trial.summary.engine.simulated_ns = 100.0;
    let read = |reading, against| {
        let ends = ["a", "b"].map(str::to_owned);
        let [node, peer] = ends;
        let row = ReadingRow {
            port: Some(PortName { node, peer }),
            against,
            ..row(reading)
        };
        let value = row.read_against(&trial, &[]);
        value.and_then(|value| value.number())
    };
    assert_eq!(read(Reading::QueueHighWaterBytes, None), Some(9.0));
    let over = Some(Against::Over(6));
    assert_eq!(read(Reading::QueueHighWaterBytes, over), Some(1.5));
    // 5,000 bytes in 100 ns.
    assert_eq!(read(Reading::SentGbps, None), Some(400.0));
    assert_eq!(read(Reading::PausedPercent, None), Some(25.0));
    // Two links of 400 Gb/s could carry 10,000 bytes in 100 ns, and carry 5,000.
    assert_eq!(read(Reading::IdlePercent, None), Some(50.0));
}

#[test]
fn upper_links_are_those_of_the_highest_tier() {
    let mut trial = Trial {
        top_switches: vec![NodeId::new(9)],
        ..Trial::default()
    };
    assert_eq!(upper_links_percent(&trial), None);
    let port = |node: u32, tx_bytes: u64, rx_bytes: u64| PortRow {
        node,
        rate_gbps: 10.0,
        tx_frames: tx_bytes / 1_000,
        tx_bytes,
        rx_frames: rx_bytes / 1_000,
        rx_bytes,
        ..PortRow::default()
    };
    trial.counts.ports = vec![port(8, 9_000, 9_000), port(9, 0, 5_000), port(9, 0, 0)];
    trial.summary.engine.simulated_ns = 8_000.0;
    assert!((upper_links_used(&trial) - 1.0).abs() < 1e-9);
    // 40,000 bits; two links of 80,000 bits each way.
    assert_eq!(upper_links_percent(&trial), Some(12.5));
}

#[test]
fn a_fabric_is_read_by_what_it_consists_of() {
    use tenter_explain::{CableLine, SwitchLine};
    let switches = |count, ports: &[(u64, f64)]| SwitchLine {
        tier: "leaf".to_owned(),
        count,
        ports: ports.to_vec(),
        device_percent: None,
    };
    let cables = |between: &str, count| CableLine {
        between: between.to_owned(),
        count,
        rate_gbps: 400.0,
        delay_ns: 25.0,
        length_m: 5.0,
    };
    // Four leaves with four NICs at 400G and two links at 800G, and two spines.
    let bill = Bill {
        nics: vec![(400.0, 16)],
        switches: vec![
            switches(4, &[(4, 400.0), (2, 800.0)]),
            switches(2, &[(4, 800.0)]),
        ],
        cables: vec![cables("NIC - leaf", 16), cables("leaf - spine", 8)],
        switch_chips_watts: Some(3_000),
        watts_per_nic: None,
        power: None,
        not_known: Vec::new(),
    };
    let of = |reading| of_bill(reading, &bill);
    assert_eq!(of(Reading::Switches), Some(6.0));
    assert_eq!(of(Reading::SwitchPorts), Some(32.0));
    assert_eq!(of(Reading::FabricCables), Some(8.0));
    assert_eq!(of(Reading::SwitchGbpsPerNic), Some(1_200.0));
    assert_eq!(of(Reading::SwitchChipsWatts), Some(3_000.0));
    assert_eq!(of(Reading::NicXoffMs), None);
}

#[test]
fn a_quick_form_that_is_another_experiment_is_not_judged() {
    let judged = |quick_judged, extent| {
        let row = ReadingRow {
            band: Some([7.0, 8.0]),
            gate: Gate::Required,
            quick_judged: Some(quick_judged),
            ..row(Reading::EgressQpCount)
        };
        row.judge("pure", extent, &[trial()], &[]).verdict
    };
    assert_eq!(judged(true, Extent::Quick), Verdict::Miss);
    assert_eq!(judged(false, Extent::Full), Verdict::Miss);
    assert_eq!(judged(false, Extent::Quick), Verdict::NotJudged);
}

#[test]
fn a_tail_is_long_from_one_and_a_half_medians() {
    let tails = |max_us: u64| {
        let mut trial = trial();
        let row = &mut trial.summary.jobs[0].collectives[0];
        row.fct_p50 = Some(Time::from_us(10));
        row.fct_max = Some(Time::from_us(max_us));
        read(Reading::TrialsWithALongTail, &trial)
    };
    assert_eq!(tails(15), Some(Value::Number(0.0)));
    assert_eq!(tails(16), Some(Value::Number(1.0)));
}

#[test]
fn the_ratio_is_that_of_the_job() {
    let mut trial = trial();
    let job = |name: &str, ideal_ratio| JobSummary {
        job: JobRow {
            name: name.to_owned(),
            ideal_ratio,
            ..JobRow::default()
        },
        ..JobSummary::default()
    };
    trial.summary.jobs = vec![job("a", Some(1.25)), job("b", Some(1.5)), job("c", None)];
    let of = |job: Option<&str>| {
        let row = ReadingRow {
            job: job.map(str::to_owned),
            ..row(Reading::IdealRatio)
        };
        row.read(&trial).and_then(|value| value.number())
    };
    assert_eq!((of(None), of(Some("b"))), (Some(1.25), Some(1.5)));
    assert_eq!((of(Some("c")), of(Some("d"))), (None, None));
}

#[test]
fn several_seeds_have_a_median_and_texts_a_first() {
    let numbers = |all: &[f64]| all.iter().copied().map(Value::Number).collect::<Vec<_>>();
    let median = |value| {
        (
            Some(Value::Number(value)),
            Some("median of 4 seeds".to_owned()),
        )
    };
    assert_eq!(middle(numbers(&[4.0, 1.0, 2.0, 9.0]), 4), median(3.0));
    assert_eq!(middle(numbers(&[4.0, 1.0, 2.0]), 4), median(2.0));
    assert_eq!(middle(numbers(&[7.0]), 1), (Some(Value::Number(7.0)), None));
    assert_eq!(middle(Vec::new(), 2), (None, None));
    let texts = ["6+4", "5+5"].map(|text| Value::Text(text.to_owned()));
    let first = (Some(texts[0].clone()), Some("first of 2 seeds".to_owned()));
    assert_eq!(middle(texts.to_vec(), 2), first);
}

#[test]
fn what_is_accepted_is_read_in_its_window() {
    let flow = |posted, received| FlowRow {
        posted: Time::from_us(posted),
        received: Time::from_us(received),
        payload_bytes: 5_000,
        ..FlowRow::default()
    };
    let mut trial = trial();
    trial.throughput = Throughput::of(&[flow(10, 19), flow(15, 22), flow(19, 40)], &trial.summary);
    let read = |trial: &Trial, reading, window_us| {
        let row = ReadingRow {
            window_us,
            ..row(reading)
        };
        row.read(trial)
    };
    let accepted = |reading, window_us| read(&trial, reading, window_us);
    // Of three messages posted from 10 to 20 us one arrives then, 40,000 bits in 10 us.
    let window = Some([10, 20]);
    let rate = accepted(Reading::AcceptedGbps, window);
    assert_eq!(rate, Some(Value::Number(4.0)));
    let share = accepted(Reading::AcceptedPercent, window);
    assert_eq!(share, Some(Value::Number(100.0 / 3.0)));
    assert_eq!(accepted(Reading::AcceptedGbps, None), None);
    // A trial that was stopped has no flow of what did not arrive.
    let mut stopped = trial.clone();
    stopped.summary.complete = false;
    assert_eq!(read(&stopped, Reading::AcceptedGbps, window), None);
    assert_eq!(read(&stopped, Reading::AcceptedPercent, window), None);
}

#[test]
fn fragmentation_is_that_of_the_job_or_of_the_first_under_test() {
    let mut trial = trial();
    let job = |name: &str, background, leaves| JobSummary {
        job: JobRow {
            name: name.to_owned(),
            background,
            leaf_fragmentation: Some(leaves),
            pod_fragmentation: (!background).then_some(1.5),
            ..JobRow::default()
        },
        ..JobSummary::default()
    };
    trial.summary.jobs = vec![job("load", true, 4.0), job("a", false, 2.0)];
    let of = |reading, name: Option<&str>| {
        let row = ReadingRow {
            job: name.map(str::to_owned),
            ..row(reading)
        };
        row.read(&trial)
    };
    let number = |value| Some(Value::Number(value));
    assert_eq!(of(Reading::LeafFragmentation, None), number(2.0));
    assert_eq!(of(Reading::LeafFragmentation, Some("load")), number(4.0));
    assert_eq!(of(Reading::PodFragmentation, None), number(1.5));
    assert_eq!(of(Reading::PodFragmentation, Some("load")), None);
}
