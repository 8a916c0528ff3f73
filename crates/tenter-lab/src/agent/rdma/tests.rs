//! Hosts of the simulation over devices in memory: a schedule becomes writes, completions become
//! the rows of the trial.

use std::cell::RefCell;
use std::rc::Rc;

use tenter::{HostId, Plan, Scenario};
use tenter_language::units::Instant;
use tenter_results::FlowRow;
use tenter_sim::real_time::{Departure, RealBooks, RealHost};
use tenter_workload::JobId;

use super::fake::{FakeDevice, FakeFabric, Faults};
use super::path::{RdmaBuild, RdmaPath};
use crate::control::Offer;

const JOB: u16 = 0;
/// One round of all hosts, in ps.
const ROUND_PS: u64 = 1_000_000;
/// No collective takes as many rounds.
const ROUNDS_MAX: u64 = 200_000;

fn plan(collective: &str, size: &str) -> Plan {
    let text = format!(
        "name: rdma\n\
         fabric: {{kind: leaf-spine, leaves: 1, hosts_per_leaf: 4, spines: 1, \
         host_rate: 10Gbps, uplink_rate: 10Gbps}}\n\
         endpoint: {{nic: {{retransmission_timeout: 10s}}}}\n\
         jobs:\n- {{name: j, ranks: 4, queue_pairs: 2, \
         collectives: [{{collective: {collective}, size: {size}}}]}}\n"
    );
    let scenario = Scenario::parse("rdma.yaml", text, tenter::resolve::Format::Yaml);
    scenario.resolve().expect("it is right")
}

/// Four hosts, and what has become of a collective.
struct Bench {
    plan: Plan,
    fabric: Rc<RefCell<FakeFabric>>,
    hosts: Vec<(RealHost, RdmaPath)>,
    books: RealBooks,
    rows: Vec<FlowRow>,
    /// The fabric works in one of so many rounds, and carries so many writes of a queue pair then.
    every: u64,
    steps: usize,
    refused: u64,
}

impl Bench {
    fn new(collective: &str, faults: Faults) -> Bench {
        Bench::of(plan(collective, "1MiB"), faults)
    }

    fn of(plan: Plan, faults: Faults) -> Bench {
        let resolved = plan.resolved();
        let fabric = FakeFabric::new(faults);
        let host = |id: HostId| {
            let host = RealHost::new(resolved, id).expect("it is for real hosts");
            let device = FakeDevice {
                host: id.number(),
                fabric: Rc::clone(&fabric),
            };
            let path = RdmaPath::new(RdmaBuild {
                device: Box::new(device),
                host: id,
                ways: host.ways(),
                cut: resolved.nic.cut(),
            });
            (host, path)
        };
        let mut hosts: Vec<_> = resolved.topology.host_ids().map(host).collect();
        let offers = hosts.iter().flat_map(|(_, path)| path.offers());
        for offer in offers.collect::<Vec<_>>() {
            let connected = hosts[offer.to as usize].1.connect(&offer);
            connected.expect("it is a queue pair of that host");
        }
        let books = RealBooks::new(resolved).expect("it can be built");
        Bench {
            plan,
            fabric,
            hosts,
            books,
            rows: Vec::new(),
            every: 1,
            steps: 1,
            refused: 0,
        }
    }

    fn start(&mut self) {
        let job = JobId::new(JOB);
        let begun = self.books.begin(job, 0, Instant::START);
        begun.expect("it can be run");
        for (host, _) in &mut self.hosts {
            host.prepare(job, 0).expect("it can be run");
            host.start(job, Instant::START);
        }
    }

    /// Runs the collective for at most so many rounds; whether it ended.
    fn run(&mut self, rounds: u64) -> bool {
        self.start();
        (0..rounds).any(|round| self.round(Instant::from_ps(round * ROUND_PS)))
    }

    /// Lets all hosts do what is due; whether the collective is done.
    fn round(&mut self, now: Instant) -> bool {
        let mut departures: Vec<Departure> = Vec::new();
        let mut arrivals = Vec::new();
        for (host, path) in &mut self.hosts {
            let taken = path.receive(now, host, &mut arrivals);
            self.refused += taken.expect("the device works");
            host.advance(now, 256, &mut departures);
            for packet in arrivals.drain(..) {
                assert!(host.arrive(packet, &mut departures), "{packet:?}");
            }
            host.advance(now, 256, &mut departures);
            for departure in departures.drain(..) {
                path.depart(&departure).expect("the device works");
            }
            let records = host.take_records();
            assert_eq!(self.books.take(&records, &mut self.rows), 0);
        }
        if (now.ps() / ROUND_PS).is_multiple_of(self.every) {
            for _ in 0..self.steps {
                self.fabric.borrow_mut().step();
            }
        }
        let missing = |(host, _): &(RealHost, RdmaPath)| host.progress(JobId::new(JOB)).0;
        let is_done = self.hosts.iter().all(|host| missing(host) == 0);
        is_done && self.books.halves_left() == 0
    }

    /// All flows are there, with all their bytes, and latencies that nobody knows.
    fn check_rows(&self) {
        let payload: u64 = self.rows.iter().map(|row| row.payload_bytes).sum();
        let books = &self.rows;
        assert!(!books.is_empty());
        for row in books {
            assert_eq!(row.tx_frames, row.rx_frames, "{row:?}");
            assert_eq!(row.tx_bytes, row.rx_bytes, "{row:?}");
            assert_eq!(row.retransmitted_frames, 0);
            assert_eq!(row.latency_min, None, "{row:?}");
            assert!(row.received >= row.first_sent && row.acknowledged >= row.first_sent);
        }
        // Each of four ranks sends three quarters of a MiB to the others, once or twice.
        let ring = 4 * 3 * (1 << 20) / 4;
        assert!(payload == ring || payload == 2 * ring, "{payload}");
        assert_eq!(self.plan.resolved().topology.hosts, 4);
    }
}

#[test]
fn a_schedule_becomes_writes_and_completions_become_rows() {
    for collective in ["all-to-all", "all-reduce"] {
        let mut bench = Bench::new(collective, Faults::default());
        assert!(bench.run(ROUNDS_MAX), "{collective}");
        bench.check_rows();
        assert_eq!(bench.refused, 0);
    }
}

#[test]
fn full_queues_only_take_longer() {
    let faults = Faults {
        depth: 1,
        ..Faults::default()
    };
    let mut bench = Bench::of(plan("all-to-all", "8MiB"), faults);
    bench.every = 2_000;
    assert!(bench.run(ROUNDS_MAX));
    let fabric = bench.fabric.borrow();
    assert!(fabric.full > 0, "some posts found no room");
}

#[test]
fn a_queue_pair_that_fails_names_its_peer_and_the_rest_is_flushed() {
    let faults = Faults {
        fails: Some((2, 0, 1)),
        ..Faults::default()
    };
    let mut bench = Bench::new("all-to-all", faults);
    let ended = bench.run(5_000);
    assert!(!ended, "a transfer is missing");
    let (host, path) = &bench.hosts[2];
    let failed: Vec<HostId> = path.given_up().map(|(peer, _)| peer).collect();
    let own = tenter_sim::real_time::Slot::Send(tenter_fabric::net::SendSlot::new(0));
    let way = host.ways().iter().find(|way| way.own == own);
    assert_eq!(
        failed,
        [way.expect("it sends").peer],
        "once, whatever is flushed"
    );
    assert!(
        bench
            .hosts
            .iter()
            .filter(|(_, path)| path.given_up().count() > 0)
            .count()
            == 1
    );
    assert!(!bench.rows.is_empty(), "other flows are booked");
}

#[test]
fn receivers_without_receives_are_tried_again_until_the_sender_gives_up() {
    let run = |not_ready_retries: u32, rounds: u64| {
        let faults = Faults {
            receives_max: 1,
            not_ready_retries,
            ..Faults::default()
        };
        let mut bench = Bench::of(plan("all-to-all", "8MiB"), faults);
        (bench.every, bench.steps) = (5_000, 4);
        let ended = bench.run(rounds);
        let found = bench.fabric.borrow().not_ready > 0;
        let failed = bench
            .hosts
            .iter()
            .any(|(_, path)| path.given_up().count() > 0);
        (ended, found, failed)
    };
    assert_eq!(run(1_000, ROUNDS_MAX), (true, true, false));
    assert_eq!(run(0, 20_000), (false, true, true));
}

#[test]
fn what_is_of_no_queue_pair_is_refused() {
    let bench = Bench::new("all-to-all", Faults::default());
    let mut hosts = bench.hosts.into_iter();
    let (_, mut path) = hosts.next().expect("a host");
    let offer = Offer {
        to: 0,
        receives: true,
        slot: 99,
        bytes: vec![0; 12],
    };
    assert!(path.connect(&offer).is_err());
}

#[test]
fn a_build_or_host_without_devices_says_so() {
    use super::{Attributes, open};
    let attributes = Attributes {
        mtu_bytes: 4_096,
        message_bytes: 1 << 17,
        traffic_class: 0,
    };
    let opened = open("192.0.2.1".parse().expect("an address"), &[], &attributes);
    let why = opened.err().expect("there is none");
    let remedy = ["packets go by UDP", "correct `address`"];
    let has_remedy = remedy.iter().any(|part| why.contains(part));
    assert!(why.contains("192.0.2.1") && has_remedy, "{why}");
}
