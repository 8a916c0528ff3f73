//! A trial on real hosts, from the first greeting to the last report.

use std::net::SocketAddrV4;
use std::time::{Duration, Instant as Wall};

use tenter_sim::Outcome;
use tenter_sim::real_time::{PortCounts, RealBooks};
use tenter_units::Instant;

use super::agents::Agents;
use super::finish::{self, Finished};
use super::jobs::{JobRun, Stage};
use super::trial::LabTrial;
use super::under_way::{LabRun, Observed, Trial};
use crate::control::{FromAgent, LocalClock, Offer, Opening, Order, ScenarioFile, Secret};
use crate::error::LabError;
use crate::fabric;
use crate::switches::{measured, read_settled};

/// From the order to start a collective to its start: longer than an order takes.
const AHEAD_PS: u64 = 30_000_000_000;
/// What has arrived is acknowledged in so much time at the end, or never.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// Reports come in so much time at the end.
const LAST_REPORTS: Duration = Duration::from_secs(3);
/// One look at what agents say takes at most so long.
const LOOK: Duration = Duration::from_millis(100);
/// The warning of a trial whose switches could not be waited for.
const NOT_SETTLED: &str = "switches were read before their counters had settled, as the trial was stopped: the end of the trial may be missing in them";

/// Runs a scenario on the hosts of a lab, and writes its trial folder; what it left.
///
/// A lab of namespaces is entered by a thread of its own.
///
/// # Errors
/// When an agent cannot be reached at the start, or the folder cannot be written. What happens
/// later ends the trial, which keeps what there is.
pub fn run(
    trial: &LabTrial,
    options: &LabRun,
    observer: &mut (dyn Observed + Send),
) -> Result<Outcome, LabError> {
    let is_of_namespaces = trial.lab.keys.fabric.is_some();
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
    // While agents are connected, they wait for no switch.
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
    // Reading switches takes seconds, which are no part of the trial.
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

/// The counters of the switches, where they are namespaces; none where these cannot be read.
fn switch_counts(trial: &LabTrial) -> Vec<PortCounts> {
    let topology = &trial.measured.resolved().topology;
    if trial.lab.keys.fabric.is_none() {
        return Vec::new();
    }
    fabric::switch_counts(&trial.lab.keys.name, topology).unwrap_or_default()
}

impl Trial<'_> {
    /// Lets all agents make ready.
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

    /// Hands on what agents have offered to their peers, once all have.
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

    /// Whether nothing has gone wrong that ends the trial.
    fn is_whole(&self) -> bool {
        self.problems.is_empty() && !self.ended_by_user
    }

    fn problem(&mut self, what: String) {
        self.observer.problem(&what);
        self.problems.push(what);
    }

    /// Runs the jobs to their end, or until something goes wrong.
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
        let began = Wall::now();
        while self.is_whole() && self.books.halves_left() > 0 && began.elapsed() < LAST_ANSWERS {
            self.hear(LOOK)?;
        }
        Ok(())
    }

    /// Lets the hosts of a job make ready for its next collective.
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

    /// Starts the collective for which all hosts of a job are ready.
    fn start(&mut self, index: usize) -> Result<(), LabError> {
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

    /// Takes the next thing that an agent says, if one says anything for so long.
    fn hear(&mut self, wait: Duration) -> Result<(), LabError> {
        if let Some((agent, message)) = self.agents.next(wait) {
            self.take(agent, message)?;
        }
        for index in 0..self.agents.all.len() {
            let agent = &self.agents.all[index];
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

    /// A queue pair of a host has given up: told once for each host.
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

    /// A collective of a job has ended: the next one follows, or none.
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

    /// Ends the trial at all agents, and waits for their reports.
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
