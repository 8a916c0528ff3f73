//! State that all requests share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tenter::Workspace;
use tenter::report::TrialData;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use utoipa::ToSchema;

pub(crate) use crate::server::apart::{apart, message_of};
use crate::server::cache::Cache;
use crate::server::error::ApiError;
use crate::server::events::Events;
use crate::server::live::Live;
use crate::server::named_trial::NamedTrial;
use crate::server::options::Options;
use crate::server::token::Entry;
use crate::server::turns::Turns;

/// The workspace with its queue, events and limits.
pub(crate) struct App {
    pub(crate) workspace: Workspace,
    pub(crate) events: Events,
    pub(crate) cache: Cache,
    pub(crate) options: Options,
    /// Token that requests need; `None` if they need none.
    pub(crate) entry: Option<Entry>,
    /// Names that a request's `Host` may give this server.
    pub(crate) hosts: Vec<String>,
    /// TCP port if the server listens on all addresses, where any IP address in `Host` is accepted.
    pub(crate) port_of_any: Option<u16>,
    /// Turns for requests that resolve scenarios.
    pub(crate) turns: Turns,
    /// Turns for requests that read a whole trial into memory. Some take minutes, so those that
    /// resolve scenarios have turns to themselves and do not wait for them.
    pub(crate) whole_trials: Turns,
    /// Permit for the one large request body that may be in memory.
    pub(crate) large_bodies: Arc<Semaphore>,
    /// Permits for CSV answers, each of which holds a part of a table in memory.
    csv: Arc<Semaphore>,
    /// Held while a trace is written, so that it is written once.
    pub(crate) traces: Mutex<()>,
    /// A report's trials by folder, whole in memory. Empty in a server.
    pub(crate) read: BTreeMap<PathBuf, Arc<TrialData>>,
    /// Function that writes reports. `None` within a report, which has no such route's answer.
    pub(crate) report_of: Option<ReportOf>,
    running: Mutex<BTreeMap<i64, Arc<Running>>>,
    /// Number of the sweep that this server runs; the flag is true once it was cancelled.
    sweep: Mutex<Option<(i64, bool)>>,
    /// Wakes the runners when a trial or a sweep was queued.
    queued: Condvar,
    /// Becomes true when the server ends.
    closing: watch::Sender<bool>,
    /// Time when the folder was last searched for other commands' trials.
    searched: Mutex<Option<Instant>>,
}

/// Writes a report on trials as an HTML file's text.
pub(crate) type ReportOf = fn(Vec<NamedTrial>) -> Result<String, tenter::Error>;

/// Maximum number of CSV answers at the same time.
const CSV_MAX: usize = 4;

/// Minimum time between two searches through the folder.
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

    /// Waits for a permit to send a table as CSV.
    pub(crate) async fn csv_place(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let place = Arc::clone(&self.csv).acquire_owned().await;
        place.map_err(|_| ApiError::internal("the server ends"))
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<i64, Arc<Running>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a trial from the queue, or waits up to `patience` for one. From here on it can be
    /// cancelled.
    pub(crate) fn take(
        &self,
        patience: Duration,
    ) -> Result<Option<(tenter::QueuedTrial, Arc<Running>)>, tenter::Error> {
        // The lock is held from the ledger's answer to the entry in the map: `cancel` finds the
        // trial either in the queue or here, never in neither.
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

    /// Takes a sweep from the queue, or waits up to `patience` for one. From here on it can be
    /// cancelled.
    pub(crate) fn take_sweep(
        &self,
        patience: Duration,
    ) -> Result<Option<tenter::WorkspaceSweep>, tenter::Error> {
        // Held across both steps, as in `take`.
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

    /// Asks the running sweep to end. Returns false if it is not sweep `id`.
    pub(crate) fn cancel_sweep(&self, id: i64) -> bool {
        match &mut *self.sweep() {
            Some((running, is_cancelled)) if *running == id => {
                *is_cancelled = true;
                true
            }
            _ => false,
        }
    }

    /// True if sweep `id` was cancelled, or the server ends.
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

    /// Wakes the runners: something was queued.
    pub(crate) fn wake(&self) {
        self.queued.notify_all();
    }

    /// Returns trial `id` if this server is running it.
    pub(crate) fn run_of(&self, id: i64) -> Option<Arc<Running>> {
        self.running().get(&id).cloned()
    }

    /// Forgets a trial that has ended.
    pub(crate) fn left(&self, id: i64) {
        self.running().remove(&id);
    }

    /// Starts the shutdown: asks all running trials to end and wakes idle runners.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
        for run in self.running().values() {
            run.is_cancelled.store(true, Ordering::Relaxed);
        }
        self.queued.notify_all();
    }

    /// True once the shutdown has started.
    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// Returns a receiver that becomes true when the server ends.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Looks for trials that other commands have left in the folder, unless a request did so within
    /// [`SEARCH_EVERY`].
    pub(crate) fn search(&self) -> Result<(), tenter::Error> {
        let Ok(mut searched) = self.searched.try_lock() else {
            // Another request is searching; the list may lack its newest finds for a moment.
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
