//! Hosts that a caller drives, over a network made of nothing but a delay: what they record is what
//! a simulation of the same plan records.

use std::collections::BTreeMap;

use tenter::resolve::{Format, load};
use tenter_fabric::net::{Packet, PacketKind};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};
use tenter_results::{EngineKind, FlowRow, MemorySink, Notes};
use tenter_sim::plan::Plan;
use tenter_sim::real_time::{Departure, HostCounts, RealBooks, RealEnd, RealHost};
use tenter_sim::{Options, SimulationError, run};
use tenter_workload::JobId;

const JOB: JobId = JobId::new(0);

fn plan(rest: &str) -> Plan {
    let text = format!(
        "
fabric: {{kind: single-switch, hosts: 4, rate: 100Gbps}}
{rest}
"
    );
    load(&text, "test.yaml", Format::Yaml, &[], None)
        .expect("a plan")
        .plan
}

/// Hosts, and packets on their way: by arrival, and by the order in which they left.
struct Wire {
    hosts: Vec<RealHost>,
    under_way: BTreeMap<(Instant, u64), Packet>,
    left: u64,
    /// Every so many-th packet is lost; 0 loses none.
    loses: u64,
    delay: Time,
}

impl Wire {
    fn new(plan: &Plan, loses: u64) -> Wire {
        let hosts = plan
            .topology
            .host_ids()
            .map(|host| RealHost::new(plan, host));
        Wire {
            hosts: hosts.map(|host| host.expect("a host")).collect(),
            under_way: BTreeMap::new(),
            left: 0,
            loses,
            delay: Time::from_ns(700),
        }
    }

    fn take(&mut self, departures: &mut Vec<Departure>) {
        for departure in departures.drain(..) {
            self.left += 1;
            if self.loses > 0 && self.left.is_multiple_of(self.loses) {
                continue;
            }
            let at = departure.end + self.delay;
            let packet = Packet {
                at,
                ..departure.packet
            };
            self.under_way.insert((at, self.left), packet);
        }
    }

    /// Runs until all hosts have what they wait for and nothing is under way.
    fn run(&mut self) -> Instant {
        let mut departures = Vec::new();
        loop {
            let own = self.hosts.iter().map(RealHost::next).min();
            let own = own.expect("there are hosts");
            let done = self.hosts.iter().all(|host| host.progress(JOB).0 == 0);
            // Acknowledgements that were lost are waited for, too.
            if done && self.under_way.is_empty() && own.is_never() {
                let last = self.hosts.iter().map(|host| host.progress(JOB).1);
                return last.max().expect("there are hosts");
            }
            let first = self.under_way.first_key_value().map(|(key, _)| *key);
            if let Some(key) = first.filter(|(at, _)| *at < own) {
                let packet = self.under_way.remove(&key).expect("it is the first");
                let to = packet.destination.index();
                assert!(self.hosts[to].arrive(packet, &mut departures), "{packet:?}");
            } else {
                assert!(!own.is_never(), "nothing goes on");
                for host in &mut self.hosts {
                    host.advance(own, usize::MAX, &mut departures);
                }
            }
            self.take(&mut departures);
        }
    }
}

/// Runs a plan over a wire; its rows and its outcome.
fn measured(plan: &Plan, loses: u64) -> (Vec<FlowRow>, tenter_sim::Outcome) {
    let mut wire = Wire::new(plan, loses);
    let mut books = RealBooks::new(plan).expect("books");
    let mut rows = Vec::new();
    let mut start = Instant::from_ps(1_000_000);
    for turn in 0..books.turns(JOB) {
        books.begin(JOB, turn, start).expect("it can be run");
        for host in &mut wire.hosts {
            host.prepare(JOB, turn).expect("it can be run");
            host.start(JOB, start);
        }
        let end = wire.run();
        start = books.end(JOB, turn, end) + Time::from_us(10);
        // Receivers come last: halves wait for each other in any order.
        for host in wire.hosts.iter_mut().rev() {
            assert_eq!(books.take(&host.take_records(), &mut rows), 0);
        }
    }
    assert_eq!(books.halves_left(), 0);
    let counts = wire.hosts.iter().map(|host| {
        let (counters, [data, control]) = host.counters();
        Some(HostCounts {
            sent_data: data,
            sent_control: control,
            accepted: (counters.data_packets, counters.data_bytes),
            retransmitted: counters.retransmitted_packets,
            ..HostCounts::default()
        })
    });
    let hosts: Vec<Option<HostCounts>> = counts.collect();
    let end = RealEnd {
        ended: start,
        stopped: None,
        failures: vec![None],
        hosts: &hosts,
        ports: &[],
        notes: Notes::default(),
    };
    (rows, books.finish(end))
}

const RING: &str = "
jobs:
  - {name: ring, iterations: 2, collectives: [{collective: all-reduce, algorithm: ring, size: 4MiB}]}
";

#[test]
fn the_same_flows_are_recorded() {
    let plan = plan(RING);
    let mut sink = MemorySink::default();
    let simulated = run(&plan, Options::default(), &mut sink).expect("it runs");
    let (rows, outcome) = measured(&plan, 0);
    assert_eq!(rows.len(), sink.flows.len());
    let key = |row: &FlowRow| {
        (
            row.iteration,
            row.transfer,
            row.queue_pair,
            row.udp_source_port,
        )
    };
    let sizes = |row: &FlowRow| {
        (
            row.payload_bytes,
            row.tx_frames,
            row.tx_bytes,
            row.rx_frames,
        )
    };
    let sorted = |rows: &[FlowRow]| {
        let mut all: Vec<_> = rows.iter().map(|row| (key(row), sizes(row))).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(sorted(&rows), sorted(&sink.flows));
    // The wire has no switch in it, so times are a little shorter.
    for (real, due) in outcome.collectives.iter().zip(&simulated.collectives) {
        let (real, due) = (real.completion_time, due.completion_time);
        let ratio = real.expect("it ended").as_ns() / due.expect("it ended").as_ns();
        assert!((0.95..=1.01).contains(&ratio), "{ratio}");
    }
    assert!(outcome.summary.complete);
    assert_eq!(outcome.summary.engine.engine, EngineKind::Lab);
    let (totals, due) = (&outcome.summary.totals, &simulated.summary.totals);
    assert_eq!(
        (totals.tx_bytes, totals.rx_bytes),
        (due.tx_bytes, due.rx_bytes)
    );
}

#[test]
fn what_is_lost_is_sent_again() {
    for recovery in ["go-back-n", "selective-repeat"] {
        let text = format!(
            "endpoint: {{nic: {{loss_recovery: {recovery}, retransmission_timeout: 100us}}}}{RING}"
        );
        let (rows, outcome) = measured(&plan(&text), 101);
        assert!(outcome.summary.complete, "{recovery}");
        let again: u64 = rows.iter().map(|row| row.retransmitted_frames).sum();
        assert!(again > 0, "{recovery}");
    }
}

#[test]
fn what_nobody_sends_is_refused() {
    let plan = plan(RING);
    let mut wire = Wire::new(&plan, 0);
    let mut out = Vec::new();
    let receiver = HostId::new(1);
    let data = |sequence: u32| Packet {
        at: Instant::from_ps(5_000_000),
        queue_pair: 0,
        sequence,
        destination: receiver,
        hash: 0,
        sent: 0,
        frame_bytes: 4_174,
        kind: PacketKind::First,
        flags: 0,
    };
    let host = &mut wire.hosts[1];
    assert!(
        !host.arrive(data(0), &mut out),
        "no collective has been prepared"
    );
    host.prepare(JOB, 0).expect("it can be run");
    // Six transfers of 1 MiB come by the queue pair: 1,536 packets.
    assert!(!host.arrive(data(1_536), &mut out), "beyond all transfers");
    let slot = Packet {
        queue_pair: 77,
        ..data(0)
    };
    assert!(!host.arrive(slot, &mut out), "no such queue pair");
    for kind in [PacketKind::Ack, PacketKind::Nak, PacketKind::SelectiveNak] {
        let answer = Packet {
            kind,
            sent: 9,
            ..data(5)
        };
        assert!(
            !host.arrive(answer, &mut out),
            "{kind:?} of what was not sent"
        );
    }
    let other = Packet {
        kind: PacketKind::Pause,
        ..data(0)
    };
    assert!(!host.arrive(other, &mut out));
    assert!(out.is_empty());
}

#[test]
fn plans_that_real_hosts_cannot_run_are_refused() {
    for (text, what) in [
        (
            "endpoint: {nic: {connection_set_up: true}}",
            "connection_set_up",
        ),
        ("endpoint: {nic: {loss_recovery: none}}", "loss_recovery"),
    ] {
        let plan = plan(&format!("{text}{RING}"));
        let refused = RealHost::new(&plan, HostId::new(0)).expect_err("it is refused");
        assert!(matches!(refused, SimulationError::NotForRealHosts(_)));
        assert!(refused.to_string().contains(what), "{refused}");
    }
}
