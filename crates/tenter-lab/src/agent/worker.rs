//! A trial's worker: it drives a host of the simulation by the clock.

use std::collections::VecDeque;
use std::io::Cursor;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::EventFd;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeSpec, TimeValLike};
use tenter::resolve::{Format, load_beside};
use tenter::run_budget;
use tenter_fabric::net::Packet;
use tenter_fabric::topology::HostId;
use tenter_formats::Content;
use tenter_language::units::Instant;
use tenter_sim::plan::Plan;
use tenter_sim::real_time::{Departure, HostCounts, RealHost};
use tenter_workload::JobId;

use super::data_path::DataPath;
use super::interface;
use super::receivers::Receivers;
use super::udp_path::EARLY_PS;
use crate::control::{AgentReport, FromAgent, LocalClock, Offer, Opening};

/// Most actions by the host before arrivals are looked at again.
const AT_ONCE: usize = 256;
/// Most packets that wait for the operating system; the host stands still beyond it.
const OUTGOING_MAX: usize = 1024;
/// Longest wait, so that the time limit and the stop flag are looked at.
const IDLE: Duration = Duration::from_millis(20);
/// Delay in ps before packets that the operating system refused are offered again: 100 µs.
const RETRY_PS: u64 = 100_000_000;
/// Interval in ps at which records are sent to the coordinator: 100 ms.
const RECORDS_EVERY_PS: u64 = 100_000_000_000;
/// Timer slack in ns; Linux's default, 50 µs, would delay each wait by up to that.
const TIMER_SLACK_NS: u64 = 1_000;

/// Interval at which a data path is polled if it has no descriptor to wait for.
const LOOK: Duration = Duration::from_micros(20);

/// Orders to a worker, as in [`crate::control::Order`].
#[derive(Clone, Debug)]
pub(super) enum Work {
    Connect(Vec<Offer>),
    Prepare { job: u16, turn: u32 },
    Start { job: u16, at_ps: u64 },
    Close,
}

/// Connections from a worker to the session that started it.
pub(super) struct Wires {
    pub(super) clock: LocalClock,
    pub(super) orders: Receiver<Work>,
    /// Counter that is written to when an order waits.
    pub(super) wake: Arc<EventFd>,
    pub(super) answers: Sender<FromAgent>,
    /// Set when the session ends: the coordinator is gone or opens another trial.
    pub(super) stop: Arc<AtomicBool>,
}

/// Resolves the scenario in `opening` into a plan.
///
/// # Errors
/// Returns all mistakes in the scenario, or a sentence about missing files or addresses.
pub(super) fn plan_of(opening: &Opening) -> Result<Plan, String> {
    // An agent opens no file that a scenario names; it reads what the coordinator sent.
    let files = |name: &str| {
        let found = opening.files.iter().find(|file| file.name == name);
        let file = found.ok_or_else(|| "the coordinator did not send it".to_owned())?;
        let bytes = file.bytes.clone();
        let length = bytes.len() as u64;
        Ok(Content::new(Cursor::new(bytes), length))
    };
    let text = &opening.scenario;
    let loaded = load_beside(
        text,
        "the coordinator's scenario",
        Format::Yaml,
        &[],
        None,
        &files,
        &run_budget(),
    );
    let plan = loaded.map_err(|found| found.render())?.plan;
    if opening.addresses.len() != plan.topology.hosts {
        return Err(format!(
            "the scenario has {} hosts, and the coordinator names {} addresses",
            plan.topology.hosts,
            opening.addresses.len()
        ));
    }
    Ok(plan)
}

/// A job's state at this host; the numbers are collective indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JobState {
    Idle,
    Prepared(u32),
    Running(u32),
}

/// A trial at one host.
pub(super) struct Worker {
    wires: Wires,
    host: RealHost,
    /// Index of the host in the scenario.
    node: u32,
    path: DataPath,
    address: Ipv4Addr,
    /// Packets that the NIC has begun to send. Each is handed to the system when its last bit would
    /// have left.
    outgoing: VecDeque<Departure>,
    /// Scratch for the departures in one pass through the loop.
    departures: Vec<Departure>,
    arrivals: Vec<Packet>,
    jobs: Vec<JobState>,
    /// The agent's clock when the trial started.
    epoch_ns: u64,
    limit_ps: u64,
    /// Instant in ps when records are next sent.
    records_at: u64,
    /// Instant in ps when refused packets are offered again; `None` if the system took all.
    retry_at: Option<u64>,
    /// Queue pairs that gave up and have been reported.
    gave_up: usize,
    refused: u64,
    /// Longest delay so far with which the host did something, in ps.
    latest_ps: u64,
    /// The thread's processor time before the trial, in ns.
    cpu_before: u64,
    interface_before: Option<interface::InterfaceCounts>,
}

impl Worker {
    /// Makes a worker for `opening`, whose plan is `plan`, and opens its sockets.
    ///
    /// # Errors
    /// Returns a sentence that says why the trial cannot be run here.
    pub(super) fn new(
        opening: &Opening,
        plan: &Plan,
        receivers: &Receivers,
        wires: Wires,
    ) -> Result<Worker, String> {
        let id = HostId::new(opening.host);
        let host = RealHost::new(plan, id).map_err(|error| error.to_string())?;
        let address = Ipv4Addr::from(opening.addresses[id.index()]);
        let path = DataPath::new(opening, plan, receivers, &host)?;
        // If it is refused, timers are merely later.
        let _ = nix::sys::prctl::set_timerslack(TIMER_SLACK_NS);
        Ok(Worker {
            jobs: vec![JobState::Idle; plan.jobs.len()],
            node: opening.host,
            path,
            address,
            outgoing: VecDeque::new(),
            departures: Vec::new(),
            arrivals: Vec::new(),
            epoch_ns: opening.epoch_ns,
            limit_ps: opening.time_limit_ns.saturating_mul(1_000),
            records_at: 0,
            retry_at: None,
            gave_up: 0,
            refused: 0,
            latest_ps: 0,
            cpu_before: cpu_ns(),
            interface_before: interface::read(address),
            host,
            wires,
        })
    }

    fn now(&self) -> Instant {
        let since = self.wires.clock.now_ns().saturating_sub(self.epoch_ns);
        Instant::from_ps(since.saturating_mul(1_000))
    }

    /// Runs until the coordinator closes the trial or is gone.
    pub(super) fn run(mut self) {
        if let Err(why) = self.work() {
            // The coordinator may be gone already.
            let _ = self.wires.answers.send(FromAgent::Failed(why));
        }
    }

    fn work(&mut self) -> Result<(), String> {
        // Over UDP, QP numbers follow from the trial; RDMA hardware chooses its own, which peers
        // must learn.
        match self.path.offers() {
            None => self.tell(FromAgent::Opened)?,
            Some(offers) => self.tell(FromAgent::Offers(offers))?,
        }
        loop {
            if self.wires.stop.load(Ordering::Acquire) {
                return Ok(());
            }
            if self.obey()? {
                return self.close();
            }
            let now = self.now();
            if now.ps() > self.limit_ps {
                return Err("the trial took longer than its time limit".to_owned());
            }
            self.receive(now)?;
            self.advance(now);
            self.send(now)?;
            self.report(now)?;
            self.wait();
        }
    }

    fn tell(&self, answer: FromAgent) -> Result<(), String> {
        let told = self.wires.answers.send(answer);
        told.map_err(|_| "the coordinator is gone".to_owned())
    }

    /// Carries out the orders that have arrived, and returns true if the trial is to be closed.
    fn obey(&mut self) -> Result<bool, String> {
        loop {
            match self.wires.orders.try_recv() {
                Ok(Work::Connect(offers)) => {
                    self.path.connect(&offers)?;
                    self.tell(FromAgent::Opened)?;
                }
                Ok(Work::Prepare { job, turn }) => self.prepare(job, turn)?,
                Ok(Work::Start { job, at_ps }) => self.start(job, at_ps)?,
                // A session that ended without closing also gets here, but nothing waits for the
                // report.
                Ok(Work::Close) | Err(TryRecvError::Disconnected) => return Ok(true),
                Err(TryRecvError::Empty) => return Ok(false),
            }
        }
    }

    fn prepare(&mut self, job: u16, turn: u32) -> Result<(), String> {
        let Some(state @ JobState::Idle) = self.jobs.get_mut(usize::from(job)) else {
            return Err(format!(
                "the coordinator prepares job {job}, which is running"
            ));
        };
        *state = JobState::Prepared(turn);
        let prepared = self.host.prepare(JobId::new(job), turn);
        prepared.map_err(|error| error.to_string())?;
        self.tell(FromAgent::Prepared { job, turn })
    }

    fn start(&mut self, job: u16, at_ps: u64) -> Result<(), String> {
        let Some(state) = self.jobs.get_mut(usize::from(job)) else {
            return Err(format!("there is no job {job}"));
        };
        let JobState::Prepared(turn) = *state else {
            return Err(format!(
                "the coordinator starts job {job}, which is not prepared"
            ));
        };
        *state = JobState::Running(turn);
        self.host.start(JobId::new(job), Instant::from_ps(at_ps));
        Ok(())
    }

    fn receive(&mut self, now: Instant) -> Result<(), String> {
        let came = self.path.receive(now, &self.host, &mut self.arrivals);
        self.refused += came?;
        Ok(())
    }

    /// Lets the host do what is due, takes arrivals, and lets it react to them.
    ///
    /// Due actions come first: their instants have passed, while arrivals count from `now`.
    fn advance(&mut self, now: Instant) {
        let due = self.host.next();
        if due < now {
            self.latest_ps = self.latest_ps.max(now.ps() - due.ps());
        }
        // A queue that the system does not empty must not grow; the host catches up later.
        if self.outgoing.len() < OUTGOING_MAX {
            self.host.advance(now, AT_ONCE, &mut self.departures);
        }
        for packet in self.arrivals.drain(..) {
            if !self.host.arrive(packet, &mut self.departures) {
                self.refused += 1;
            }
        }
        if self.outgoing.len() < OUTGOING_MAX {
            self.host.advance(now, AT_ONCE, &mut self.departures);
        }
        self.outgoing.extend(self.departures.drain(..));
    }

    /// Sends the packets that have left the NIC.
    fn send(&mut self, now: Instant) -> Result<(), String> {
        let is_all = self.path.send(now, &mut self.outgoing)?;
        self.retry_at = (!is_all).then(|| now.ps() + RETRY_PS);
        Ok(())
    }

    /// Reports finished collectives, and now and then records and queue pairs that gave up.
    fn report(&mut self, now: Instant) -> Result<(), String> {
        let mut is_done = false;
        for job in 0..self.jobs.len() {
            let JobState::Running(turn) = self.jobs[job] else {
                continue;
            };
            let (missing, last) = self.host.progress(JobId::new(job as u16));
            if missing > 0 {
                continue;
            }
            is_done = true;
            self.jobs[job] = JobState::Idle;
            self.tell(FromAgent::Done {
                job: job as u16,
                turn,
                at_ps: last.ps(),
            })?;
        }
        // The last records of a collective follow its end at once, so the coordinator need not wait
        // for them.
        if is_done || now.ps() >= self.records_at {
            self.records_at = now.ps() + RECORDS_EVERY_PS;
            self.hand_over()?;
        }
        Ok(())
    }

    fn hand_over(&mut self) -> Result<(), String> {
        let records = self.host.take_records();
        if !records.received.is_empty() || !records.sent.is_empty() {
            self.tell(FromAgent::Records(records))?;
        }
        let given_up = self.given_up();
        for (host, _) in &given_up[self.gave_up.min(given_up.len())..] {
            self.tell(FromAgent::GaveUp(host.number()))?;
        }
        self.gave_up = given_up.len();
        Ok(())
    }

    /// Returns the hosts to which sending was given up, with the instants.
    fn given_up(&self) -> Vec<(HostId, Instant)> {
        self.host.given_up().chain(self.path.given_up()).collect()
    }

    /// Waits for a datagram, an order, or the instant when something is due.
    fn wait(&self) {
        let mut next = self.host.next().ps();
        // The host stands still until packets leave, so its next action sets no time.
        if self.outgoing.len() >= OUTGOING_MAX {
            next = u64::MAX;
        }
        if let Some(outgoing) = self.outgoing.front() {
            next = next.min(outgoing.end.ps().saturating_sub(EARLY_PS));
        }
        // While the system takes nothing, only a retry can help.
        if let Some(retry) = self.retry_at {
            next = retry;
        }
        let now = self.now().ps();
        let wait_ns = next.saturating_sub(now) / 1_000;
        if wait_ns == 0 {
            return;
        }
        let own = self.path.waits();
        let most = if own.is_some() { IDLE } else { LOOK };
        let wait = Duration::from_nanos(wait_ns).min(most);
        let wake = self.wires.wake.as_fd();
        let mut waits = [
            PollFd::new(wake, PollFlags::POLLIN),
            // A path to poll has no descriptor; the other one takes both places.
            PollFd::new(own.unwrap_or(wake), PollFlags::POLLIN),
        ];
        let time = TimeSpec::nanoseconds(i64::try_from(wait.as_nanos()).unwrap_or(0));
        // The loop looks at everything whatever ended the wait, errors included.
        let _ = ppoll(&mut waits, Some(time), None);
        if waits[0].any() == Some(true) {
            let _ = self.wires.wake.read();
        }
    }

    fn close(&mut self) -> Result<(), String> {
        self.hand_over()?;
        let (counters, [data, control]) = self.host.counters();
        let before = self.interface_before.as_ref();
        let counted = interface::read(self.address).zip(before);
        let (verified_bytes, corrupt_packets) = self.path.compared();
        let report = AgentReport {
            counts: HostCounts {
                sent_data: data,
                sent_control: control,
                received: (counters.received_frames, counters.received_bytes),
                accepted: (counters.data_packets, counters.data_bytes),
                retransmitted: counters.retransmitted_packets,
                acknowledgements: counters.acknowledgements_sent,
                naks: counters.nak_sent,
                timeouts: counters.local_ack_timeout_err,
                marked: counters.marked_packets,
                notifications: (counters.np_cnp_sent, counters.rp_cnp_handled),
                out_of_order: counters.out_of_order,
                discarded: counters.out_of_sequence,
                duplicates: counters.duplicate_request,
            },
            interface: counted
                .as_ref()
                .map(|(now, then)| now.since(then, self.node)),
            interface_counters: counted
                .as_ref()
                .map(|(now, then)| now.others_since(then))
                .unwrap_or_default(),
            verified_bytes,
            corrupt_packets,
            refused_packets: self.refused,
            given_up: self
                .given_up()
                .iter()
                .map(|(host, at)| (host.number(), at.ps()))
                .collect(),
            cpu_ns: cpu_ns().saturating_sub(self.cpu_before),
            latest_ns: self.latest_ps / 1_000,
        };
        self.tell(FromAgent::Closed(Box::new(report)))
    }
}

/// Returns this thread's processor time in ns; 0 if the system does not tell.
fn cpu_ns() -> u64 {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else {
        return 0;
    };
    let sum = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    u64::try_from(sum).unwrap_or(0).saturating_mul(1_000)
}
