//! A trial on real hosts, from the first greeting to the last report.

use std::net::SocketAddrV4;
use std::time::{Duration, Instant as Wall};

use tenter_language::units::Instant;
use tenter_sim::Outcome;
use tenter_sim::real_time::{PortCounts, RealBooks};

use super::agents::Agents;
use super::finish::{self, Finished};
use super::jobs::{JobRun, Stage};
use super::trial::LabTrial;
use super::under_way::{LabRun, Observed, Trial};
use crate::control::{FromAgent, LocalClock, Offer, Opening, Order, ScenarioFile, Secret};
use crate::error::LabError;
use crate::fabric;
use crate::switches::{measured, read_settled};

/// Time in ps, 30 ms, between the order to start a collective and its start; orders take less.
const AHEAD_PS: u64 = 30_000_000_000;
/// Wait at the end for the last acknowledgements; what is not acknowledged by then never will be.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// Wait at the end for the agents' reports.
const LAST_REPORTS: Duration = Duration::from_secs(3);
/// Longest wait for a message before time limit and user are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Warning for switches that were read too early.
const NOT_SETTLED: &str = "switches were read before their counters had settled, as the trial was stopped: the end of the trial may be missing in them";

/// Runs a scenario on the hosts of a lab, writes its trial folder, and returns the outcome.
///
/// In a lab of namespaces, a thread of its own enters the coordinator's namespace.
///
/// # Errors
/// Returns an error if an agent cannot be reached at the start, or if the folder cannot be written.
/// Later problems end the trial, which keeps what it has.
pub fn run(
    trial: &LabTrial,
    options: &LabRun,
    observer: &mut (dyn Observed + Send),
) -> Result<Outcome, LabError> {
    let is_of_namespaces = trial.lab.keys.fabric.is_some();
    // A namespace belongs to a thread: the caller's thread must not stay in it.
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            if is_of_namespaces {
                fabric::enter(&trial.lab.keys.name)?;
            }
            run_here(trial, options, observer)
        });
        running
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn run_here(
    trial: &LabTrial,
    options: &LabRun,
    observer: &mut dyn Observed,
) -> Result<Outcome, LabError> {
    let secret = Secret::read(&trial.lab.secret_file())?;
    let plan = trial.measured.resolved();
    let clock = LocalClock::start();
    let names = plan
        .topology
        .host_ids()
        .map(|host| plan.topology.name(host).to_owned());
    let agents = trial.lab.agents();
    let hosts: Vec<(String, SocketAddrV4)> = names
        .zip(agents.iter().map(|agent| agent.control))
        .collect();
    let machines = &trial.lab.keys.switches;
    // Reading may take seconds. Agents that were connected meanwhile would take the coordinator for
    // lost, since it would not ping them.
    let (shown, _) = read_settled(machines, trial.lab.folder(), || observer.goes_on());
    let agents = Agents::connect(&hosts, &secret, clock)?;
    let books = RealBooks::new(plan)?;
    let before = switch_counts(trial);
    let mut running = Trial {
        jobs: JobRun::all(plan, |job| books.turns(job)),
        folder: finish::begin_folder(trial, options)?,
        reports: vec![None; agents.all.len()],
        opened: vec![false; agents.all.len()],
        offers: vec![None; agents.all.len()],
        epoch_ns: clock.now_ns(),
        agents,
        books,
        refused: 0,
        problems: Vec::new(),
        ended_by_user: false,
        rows: Vec::new(),
        observer,
    };
    running.open(trial)?;
    running.work(trial)?;
    running.close()?;
    let ports = fabric::since(&switch_counts(trial), &before);
    running.agents.close();
    // Reading switches takes seconds that are not part of the trial.
    let ended = Instant::from_ps(running.now_ps());
    let (after, settled) =
        read_settled(machines, trial.lab.folder(), || running.observer.goes_on());
    let node = |name: &str| {
        let topology = &trial.measured.resolved().topology;
        let mut nodes = topology.node_ids().filter(|&node| !topology.is_host(node));
        let node = nodes.find(|&node| topology.name(node) == name)?;
        Some((node.number(), topology.ports(node)))
    };
    let mut switches = measured(machines, &shown, &after, node);
    switches.ports.extend(ports);
    if !settled {
        switches.warnings.push(NOT_SETTLED.to_owned());
    }
    finish::finish(Finished {
        trial,
        running,
        ended,
        switches,
        shown: [shown, after],
    })
}

/// Returns the counters of namespace switches; none for a lab of machines, or if they cannot be
/// read.
fn switch_counts(trial: &LabTrial) -> Vec<PortCounts> {
    let topology = &trial.measured.resolved().topology;
    if trial.lab.keys.fabric.is_none() {
        return Vec::new();
    }
    fabric::switch_counts(&trial.lab.keys.name, topology).unwrap_or_default()
}

impl Trial<'_> {
    /// Opens the trial at all agents, and waits up to 20 s until they are ready.
    fn open(&mut self, trial: &LabTrial) -> Result<(), LabError> {
        let number = crate::control::random_number()?;
        let limit_ns = trial.lab.keys.time_limit.ps() / 1_000;
        let agents = trial.lab.agents();
        let beside = trial.measured.files_beside().into_iter();
        let files = beside.map(|(name, bytes)| ScenarioFile { name, bytes });
        let opening = Opening {
            scenario: trial.measured.to_yaml().to_owned(),
            files: files.collect(),
            host: 0,
            addresses: agents.iter().map(|agent| agent.address.into()).collect(),
            trial: number,
            epoch_ns: 0,
            time_limit_ns: limit_ns,
            segmentation: trial.lab.keys.segmentation,
            data_path: trial.lab.keys.data_path,
        };
        // Agents have clocks of their own, on which the common epoch is another number for each.
        for index in 0..self.agents.all.len() {
            let opening = Opening {
                host: index as u32,
                epoch_ns: self.agents.all[index].clock.agent_ns(self.epoch_ns),
                ..opening.clone()
            };
            self.agents.order(index, &Order::Open(Box::new(opening)));
        }
        let began = Wall::now();
        while !self.opened.iter().all(|opened| *opened) && self.is_whole() {
            if began.elapsed() > Duration::from_secs(20) {
                self.problem("agents do not get ready for the trial".to_owned());
                break;
            }
            self.hear(LOOK)?;
        }
        Ok(())
    }

    /// Passes offers on to the agents they are made for, once all agents have sent theirs.
    fn connect(&mut self) {
        let offers: Option<Vec<&Vec<Offer>>> = self.offers.iter().map(Option::as_ref).collect();
        let Some(offers) = offers else {
            return;
        };
        let offers: Vec<Offer> = offers.into_iter().flatten().cloned().collect();
        for index in 0..self.agents.all.len() {
            let own = offers.iter().filter(|offer| offer.to == index as u32);
            let own = own.cloned().collect();
            self.agents.order(index, &Order::Connect(own));
        }
    }

    /// Returns true while the trial may go on.
    fn is_whole(&self) -> bool {
        self.problems.is_empty() && !self.ended_by_user
    }

    fn problem(&mut self, what: String) {
        self.observer.problem(&what);
        self.problems.push(what);
    }

    /// Runs the jobs until they are complete or something goes wrong.
    fn work(&mut self, trial: &LabTrial) -> Result<(), LabError> {
        let limit_ps = trial.lab.keys.time_limit.ps();
        if self.is_whole() {
            for index in 0..self.jobs.len() {
                self.prepare(index);
            }
        }
        while self.is_whole() && self.jobs.iter().any(|job| job.stage != Stage::Done) {
            self.hear(LOOK)?;
            if self.now_ps() > limit_ps {
                self.problem(format!(
                    "the trial was stopped at the time limit of the lab file, {}",
                    trial.lab.keys.time_limit
                ));
            }
            self.ended_by_user |= !self.observer.goes_on();
        }
        // The last data has arrived, but its acknowledgement completes the flow's row.
        let began = Wall::now();
        while self.is_whole() && self.books.halves_left() > 0 && began.elapsed() < LAST_ANSWERS {
            self.hear(LOOK)?;
        }
        Ok(())
    }

    /// Asks a job's hosts to make ready for its next collective, if it has one.
    fn prepare(&mut self, index: usize) {
        let JobRun { job, turn, .. } = self.jobs[index];
        if self.jobs[index].stage == Stage::Done {
            return;
        }
        let hosts = self.jobs[index].hosts.clone();
        self.jobs[index].stage = Stage::Preparing(hosts.clone());
        let job = job.number();
        for host in hosts {
            self.agents.order(host, &Order::Prepare { job, turn });
        }
    }

    /// Starts a job's prepared collective, once all its hosts are ready.
    fn start(&mut self, index: usize) -> Result<(), LabError> {
        // The scenario's pause counts from the end of the previous collective; hosts need
        // `AHEAD_PS`.
        let JobRun { job, turn, .. } = self.jobs[index];
        let pause = self.books.pause_before(job, turn).ps();
        let after = self.jobs[index].last_ps.saturating_add(pause);
        let at_ps = after.max(self.now_ps() + AHEAD_PS);
        self.books.begin(job, turn, Instant::from_ps(at_ps))?;
        let hosts = self.jobs[index].hosts.clone();
        let number = job.number();
        for &host in &hosts {
            self.agents
                .order(host, &Order::Start { job: number, at_ps });
        }
        self.jobs[index].stage = Stage::Running(hosts);
        self.jobs[index].last_ps = 0;
        Ok(())
    }

    /// Handles the next message, if one comes within `wait`, and notes lost agents.
    fn hear(&mut self, wait: Duration) -> Result<(), LabError> {
        if let Some((agent, message)) = self.agents.next(wait) {
            self.take(agent, message)?;
        }
        for index in 0..self.agents.all.len() {
            let agent = &self.agents.all[index];
            // An agent that has sent its report may close the connection.
            let (Some(why), None) = (&agent.lost, &self.reports[index]) else {
                continue;
            };
            let what = format!("the agent of {} was lost: {why}", agent.name);
            if !self.problems.contains(&what) {
                self.problem(what);
            }
        }
        Ok(())
    }

    fn take(&mut self, agent: usize, message: FromAgent) -> Result<(), LabError> {
        match message {
            FromAgent::Offers(offers) => {
                self.offers[agent] = Some(offers);
                self.connect();
            }
            FromAgent::Opened => self.opened[agent] = true,
            FromAgent::Prepared { job, turn } => {
                let index = usize::from(job);
                let all = self
                    .jobs
                    .get_mut(index)
                    .is_some_and(|run| run.prepared(agent, turn));
                // No collective starts after a problem: the trial is about to end.
                if all && self.is_whole() {
                    self.start(index)?;
                }
            }
            FromAgent::Done { job, turn, at_ps } => {
                let at_ps = self.agents.all[agent].clock.corrected_ps(at_ps);
                let index = usize::from(job);
                let all = self
                    .jobs
                    .get_mut(index)
                    .is_some_and(|run| run.done(agent, turn, at_ps));
                if all {
                    self.ended(index);
                }
            }
            FromAgent::Records(mut records) => {
                // Halves of flows must be on one clock before they are joined.
                let clock = self.agents.all[agent].clock;
                records.correct(|ps| clock.corrected_ps(ps));
                self.refused += self.books.take(&records, &mut self.rows);
                self.folder
                    .append_flows(&self.rows)
                    .map_err(tenter::Error::from)?;
                self.rows.clear();
            }
            FromAgent::GaveUp(host) => self.gave_up(agent, host),
            FromAgent::Failed(why) => {
                let what = format!("the agent of {} failed: {why}", self.agents.all[agent].name);
                self.problem(what);
            }
            FromAgent::Closed(report) => self.reports[agent] = Some(*report),
            FromAgent::Pong(..) => {}
        }
        Ok(())
    }

    /// Notes that a host's queue pair has given up, once for each host.
    fn gave_up(&mut self, agent: usize, peer: u32) {
        let names = &self.agents.all;
        let begin = format!("a queue pair of {} has given up", names[agent].name);
        if self
            .problems
            .iter()
            .any(|problem| problem.starts_with(&begin))
        {
            return;
        }
        let to = names
            .get(peer as usize)
            .map_or("a host", |agent| &agent.name);
        self.problem(format!(
            "{begin} sending to {to}: nothing is acknowledged, the link or the host is down"
        ));
    }

    /// Ends a job's collective in the flow table, and prepares the next one.
    fn ended(&mut self, index: usize) {
        let JobRun {
            job,
            turn,
            turns,
            last_ps,
            ..
        } = self.jobs[index];
        let end = self.books.end(job, turn, Instant::from_ps(last_ps));
        let run = &mut self.jobs[index];
        run.last_ps = end.ps();
        run.turn += 1;
        if run.turn == turns {
            run.stage = Stage::Done;
        }
        let ended = self.jobs.iter().map(|job| job.turn).sum();
        let all = self.jobs.iter().map(|job| job.turns).sum();
        if !self.observer.collective(ended, all) {
            self.ended_by_user = true;
        }
        self.prepare(index);
    }

    /// Closes the trial at all agents, and waits for their reports.
    fn close(&mut self) -> Result<(), LabError> {
        for index in 0..self.agents.all.len() {
            self.agents.order(index, &Order::Close);
        }
        let began = Wall::now();
        let waits = |trial: &Self| {
            let mut all = trial.agents.all.iter().zip(&trial.reports);
            all.any(|(agent, report)| agent.lost.is_none() && report.is_none())
        };
        while waits(self) && began.elapsed() < LAST_REPORTS {
            self.hear(LOOK)?;
        }
        Ok(())
    }
}
