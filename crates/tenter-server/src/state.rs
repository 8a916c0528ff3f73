//! What all requests share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tenter::Workspace;
use tenter_report::TrialData;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use utoipa::ToSchema;

pub(crate) use crate::apart::{apart, message_of};
use crate::cache::Cache;
use crate::error::ApiError;
use crate::events::Events;
use crate::live::Live;
use crate::named_trial::NamedTrial;
use crate::options::Options;
use crate::token::Entry;
use crate::turns::Turns;

/// The workspace, its queue and its events.
pub(crate) struct App {
    pub(crate) workspace: Workspace,
    pub(crate) events: Events,
    pub(crate) cache: Cache,
    pub(crate) options: Options,
    /// What requests must know; `None` where everyone on this machine is let in.
    pub(crate) entry: Option<Entry>,
    /// The names of this server in a request's `Host`.
    pub(crate) hosts: Vec<String>,
    /// Its port, where it listens on every address.
    pub(crate) port_of_any: Option<u16>,
    /// Requests that work on scenarios.
    pub(crate) turns: Turns,
    /// Requests that have a whole trial in memory, some of which take minutes: the others do not
    /// wait for them.
    pub(crate) whole_trials: Turns,
    /// Held while a large body of a request is in memory.
    pub(crate) large_bodies: Arc<Semaphore>,
    /// Places of answers that are tables as text: each has a part of the table in memory.
    csv: Arc<Semaphore>,
    /// Held while a trace is written.
    pub(crate) traces: Mutex<()>,
    /// Trials that are whole in memory, by their folders: those of a report.
    pub(crate) read: BTreeMap<PathBuf, Arc<TrialData>>,
    /// What writes reports; a report writes none itself.
    pub(crate) report_of: Option<ReportOf>,
    running: Mutex<BTreeMap<i64, Arc<Running>>>,
    /// The sweep that this server runs, and whether it shall end.
    sweep: Mutex<Option<(i64, bool)>>,
    /// Told when a trial was queued.
    queued: Condvar,
    /// Whether the server ends.
    closing: watch::Sender<bool>,
    /// When the folder was last searched for trials of other commands.
    searched: Mutex<Option<Instant>>,
}

/// Writes the report of trials as an HTML file.
pub(crate) type ReportOf = fn(Vec<NamedTrial>) -> Result<String, tenter::Error>;

/// Tables that are sent as text at once.
const CSV_MAX: usize = 4;

/// How often the folder is searched for trials at most.
const SEARCH_EVERY: Duration = Duration::from_secs(2);

/// A trial that this server runs.
#[derive(Debug, Default)]
pub(crate) struct Running {
    pub(crate) is_cancelled: Arc<AtomicBool>,
    pub(crate) progress: Mutex<Option<ProgressBody>>,
    pub(crate) live: Live,
}

/// How far a trial is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ProgressBody {
    /// Number of the trial.
    pub(crate) id: i64,
    /// The share of the expected packet-hops that is done, from 0 to 1; missing where nothing is
    /// foretold, or more were carried than was.
    pub(crate) fraction: Option<f64>,
    /// Simulated time in nanoseconds.
    pub(crate) simulated_ns: f64,
    /// Packets carried, counted once per link.
    pub(crate) packet_hops: u64,
    /// The packet-hops that the whole simulation is expected to have.
    pub(crate) expected_packet_hops: Option<f64>,
    /// Packet-hops per second of wall time.
    pub(crate) packet_hops_per_s: f64,
    /// Wall time since the simulation began, in seconds.
    pub(crate) elapsed_s: f64,
    /// Wall time that is left at the pace so far, in seconds.
    pub(crate) eta_s: Option<f64>,
    /// Flows that have ended.
    pub(crate) flows_done: u64,
    /// Flows that are known by now.
    pub(crate) flows_total: u64,
}

pub(crate) type Shared = Arc<App>;

impl App {
    pub(crate) fn new(
        workspace: Workspace,
        options: Options,
        entry: Option<Entry>,
        hosts: Vec<String>,
        port_of_any: Option<u16>,
    ) -> App {
        let turns = || Turns::new(options.check);
        let (turns, whole_trials) = (turns(), turns());
        App {
            workspace,
            events: Events::new(),
            cache: Cache::default(),
            options,
            entry,
            hosts,
            port_of_any,
            turns,
            whole_trials,
            large_bodies: Arc::new(Semaphore::new(1)),
            csv: Arc::new(Semaphore::new(CSV_MAX)),
            traces: Mutex::default(),
            read: BTreeMap::new(),
            report_of: None,
            running: Mutex::default(),
            sweep: Mutex::default(),
            queued: Condvar::new(),
            closing: watch::Sender::new(false),
            searched: Mutex::default(),
        }
    }

    /// Waits for a place among the tables that are sent as text.
    pub(crate) async fn csv_place(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let place = Arc::clone(&self.csv).acquire_owned().await;
        place.map_err(|_| ApiError::internal("the server ends"))
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<i64, Arc<Running>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a trial from the queue, or waits a while for one. From here on it can be cancelled.
    pub(crate) fn take(
        &self,
        patience: Duration,
    ) -> Result<Option<(tenter::QueuedTrial, Arc<Running>)>, tenter::Error> {
        let mut running = self.running();
        if let Some(taken) = self.workspace.take()? {
            let run = Arc::new(Running::default());
            running.insert(taken.id, Arc::clone(&run));
            return Ok(Some((taken, run)));
        }
        let waited = self.queued.wait_timeout(running, patience);
        drop(waited);
        Ok(None)
    }

    fn sweep(&self) -> MutexGuard<'_, Option<(i64, bool)>> {
        self.sweep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a sweep from the queue, or waits a while for one. From here on it can be cancelled.
    pub(crate) fn take_sweep(
        &self,
        patience: Duration,
    ) -> Result<Option<tenter::WorkspaceSweep>, tenter::Error> {
        let mut sweep = self.sweep();
        if let Some(taken) = self.workspace.take_sweep()? {
            *sweep = Some((taken.id, false));
            return Ok(Some(taken));
        }
        drop(sweep);
        let running = self.running();
        drop(self.queued.wait_timeout(running, patience));
        Ok(None)
    }

    /// Asks the sweep that runs to end; whether it is that one.
    pub(crate) fn cancel_sweep(&self, id: i64) -> bool {
        match &mut *self.sweep() {
            Some((running, is_cancelled)) if *running == id => {
                *is_cancelled = true;
                true
            }
            _ => false,
        }
    }

    /// Whether the sweep that runs shall end.
    pub(crate) fn is_sweep_cancelled(&self, id: i64) -> bool {
        self.is_closing() || matches!(*self.sweep(), Some((running, true)) if running == id)
    }

    /// Forgets a sweep that has ended.
    pub(crate) fn left_sweep(&self, id: i64) {
        let mut sweep = self.sweep();
        if matches!(*sweep, Some((running, _)) if running == id) {
            *sweep = None;
        }
    }

    /// Tells the runners that there is something to do.
    pub(crate) fn wake(&self) {
        self.queued.notify_all();
    }

    /// The trial that this server runs, if it does.
    pub(crate) fn run_of(&self, id: i64) -> Option<Arc<Running>> {
        self.running().get(&id).cloned()
    }

    /// Forgets a trial that has ended.
    pub(crate) fn left(&self, id: i64) {
        self.running().remove(&id);
    }

    /// Asks all trials to end.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
        for run in self.running().values() {
            run.is_cancelled.store(true, Ordering::Relaxed);
        }
        self.queued.notify_all();
    }

    /// Whether the server ends.
    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// What tells when the server ends.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Looks for trials that other commands have left, unless that was done a moment ago.
    pub(crate) fn search(&self) -> Result<(), tenter::Error> {
        let Ok(mut searched) = self.searched.try_lock() else {
            // Another request is at it.
            return Ok(());
        };
        if searched.is_some_and(|at| at.elapsed() < SEARCH_EVERY) {
            return Ok(());
        }
        self.workspace.find(self.turns.limits())?;
        *searched = Some(Instant::now());
        Ok(())
    }
}
