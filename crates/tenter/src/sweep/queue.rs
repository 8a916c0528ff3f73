//! A queue in a folder that workers on several machines share, without a daemon and without locks.
//! It relies on two properties of the file system: making a folder and renaming a file are atomic.
//!
//! ```text
//!   queue/terms.json         which program, and how long a worker may be silent
//!   queue/orders/KEY.json    what is to be run
//!   queue/claims/KEY.N/      made by the one worker that runs it; N counts workers that were lost
//!   queue/answers/KEY.json   what came of it
//!   queue/workers/NAME       written again and again by a worker that lives
//! ```
//!
//! `SQLite`'s write-ahead log needs shared memory, which machines do not have. So only the process
//! that began the sweep writes the ledger, from the answers.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use crate::report::TrialError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::order::{TrialAnswer, TrialOrder};
use crate::Error;
use crate::identity::{sources, version};

/// The queue's folder within the sweep's.
const FOLDER: &str = "queue";
const TERMS: &str = "terms.json";
const ORDERS: &str = "orders";
const CLAIMS: &str = "claims";
const ANSWERS: &str = "answers";
const WORKERS: &str = "workers";
/// File in a claim's folder with the name of the worker that has claimed the trial.
const OWNER: &str = "owner";
const JSON: &str = "json";
/// Shortest patience, after which a silent worker may count as lost. NFS clients cache file
/// attributes for up to 60 s (`acregmax`), so a beat of another machine is seen that much later,
/// and beats are an eighth of this apart.
pub const PATIENCE_MIN: Duration = Duration::from_secs(120);
/// Upper limit for a patience, exclusive: a longer one is damage, and could overflow when added to
/// a time.
const PATIENCE_END: Duration = Duration::from_secs(366 * 24 * 3600);
/// Shortest patience that is read from a file: with a shorter one workers would do nothing but
/// write.
const PATIENCE_READ: Duration = Duration::from_millis(100);
/// Beats that a worker makes within the patience, up to [`PATIENCE_MIN`].
const BEATS: u32 = 8;

/// Terms on which all users agree.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Terms {
    version: String,
    sources: String,
    /// Silence after which a worker counts as lost, in seconds.
    patience_s: f64,
}

impl Terms {
    /// Returns the patience, or an error that names `path`, where the terms were read.
    fn patience(&self, path: &Path) -> Result<Duration, Error> {
        let patience = Duration::try_from_secs_f64(self.patience_s).ok();
        let patience = patience.filter(|of| (PATIENCE_READ..PATIENCE_END).contains(of));
        patience.ok_or_else(|| {
            Error::Asked(format!(
                "{} has a patience of {} s, which no queue has; remove this file alone, and run the sweep with `--queue` again",
                path.display(),
                self.patience_s
            ))
        })
    }
}

/// Refuses a patience outside `PATIENCE_MIN` to `PATIENCE_END`.
pub(super) fn check_patience(patience: Duration) -> Result<(), Error> {
    let seconds = patience.as_secs_f64();
    if patience < PATIENCE_MIN {
        return Err(Error::Asked(format!(
            "a worker cannot be taken for lost after {seconds} s: machines that share files by NFS see for up to a minute that another one has written nothing; wait for {} s or more",
            PATIENCE_MIN.as_secs()
        )));
    }
    if patience >= PATIENCE_END {
        return Err(Error::Asked(format!(
            "a patience of {seconds} s is a year or more: a worker that is lost would keep its trials; give less than {} s",
            PATIENCE_END.as_secs()
        )));
    }
    Ok(())
}

/// Returns the interval between a worker's beats. A patience above the minimum does not lengthen
/// it: other workers may have joined while the patience was shorter, and still judge by that.
fn beat(patience: Duration) -> Duration {
    patience.min(PATIENCE_MIN) / BEATS
}

/// Names a build for people: its version, and the first digits of its sources' digest.
fn build(version: &str, sources: &str) -> String {
    let sources: String = sources.chars().take(8).collect();
    format!("{version} (sources {sources})")
}

/// A queue, as one worker sees it.
#[derive(Debug)]
pub(super) struct Queue {
    folder: PathBuf,
    patience: Duration,
    /// This worker's name, and its file's.
    name: String,
    /// Thread that writes the file again and again.
    heart: Option<Heart>,
}

/// Answer to a worker that claims a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claimed {
    /// The trial is this worker's to run.
    Mine,
    /// Another worker runs the trial.
    Others,
    /// The trial has an answer.
    Answered,
}

impl Queue {
    /// Makes a sweep's queue, or joins the existing one. A queue from another build of Tenter loses
    /// its trials and becomes one for this build. The greater patience wins: a patience that was
    /// raised for a slow file system is not lowered by a later call without one.
    pub(super) fn make(sweep: &Path, patience: Duration) -> Result<Queue, Error> {
        let folder = sweep.join(FOLDER);
        for part in [ORDERS, CLAIMS, ANSWERS, WORKERS] {
            let part = folder.join(part);
            fs::create_dir_all(&part).map_err(|error| failed("create", &part, error))?;
        }
        let path = folder.join(TERMS);
        let before = get::<Terms>(&path)?;
        // This comes before new terms are written: a worker of this build that joins must not meet
        // orders that it cannot run.
        if before
            .as_ref()
            .is_some_and(|terms| terms.sources != sources())
        {
            empty(&folder)?;
        }
        let before = before.map(|terms| terms.patience(&path)).transpose()?;
        let terms = Terms {
            version: version().to_owned(),
            sources: sources().to_owned(),
            patience_s: before.unwrap_or_default().max(patience).as_secs_f64(),
        };
        put(&path, &terms)?;
        Queue::join(sweep)
    }

    /// Joins a sweep's queue, which must exist.
    pub(super) fn join(sweep: &Path) -> Result<Queue, Error> {
        let queue = Queue::join_if_there(sweep)?;
        queue.ok_or_else(|| {
            Error::Asked(format!(
                "{} has no queue: run `tenter sweep FILE --queue -o {0}` first",
                sweep.display()
            ))
        })
    }

    /// Joins a sweep's queue, if there is one.
    pub(super) fn join_if_there(sweep: &Path) -> Result<Option<Queue>, Error> {
        let folder = sweep.join(FOLDER);
        let path = folder.join(TERMS);
        let Some(terms) = get::<Terms>(&path)? else {
            return Ok(None);
        };
        if terms.sources != sources() {
            return Err(Error::Asked(format!(
                "the queue in {} was made by Tenter {}, and this is {}; use that build on all machines, or replace the queue by `tenter sweep FILE --queue -o {}` with this one",
                folder.display(),
                build(&terms.version, &terms.sources),
                build(version(), sources()),
                sweep.display()
            )));
        }
        let patience = terms.patience(&path)?;
        let mut queue = Queue::silent(folder, patience)?;
        let file = queue.folder.join(WORKERS).join(&queue.name);
        queue.heart = Some(Heart::beating(file, beat(patience)));
        Ok(Some(queue))
    }

    /// Joins a queue with a single beat; tests use it for a worker that is lost.
    fn silent(folder: PathBuf, patience: Duration) -> Result<Queue, Error> {
        let mut queue = Queue {
            folder,
            patience,
            name: String::new(),
            heart: None,
        };
        queue.name = queue.begin_to_live()?;
        Ok(queue)
    }

    /// Puts an order into the queue, replacing one with the same key and other readings. A worker
    /// that has taken the older order answers that one.
    pub(super) fn put(&self, order: &TrialOrder) -> Result<(), Error> {
        let path = self.of(ORDERS, &order.key);
        // Writing an equal order again would change nothing and cost a sync.
        if fs::read(&path).is_ok_and(|text| serde_json::to_vec(order).is_ok_and(|own| own == text))
        {
            return Ok(());
        }
        put(&path, order)
    }

    /// Returns the keys with an order or answer that are not in `known`.
    pub(super) fn others(&self, known: &BTreeSet<&str>) -> Result<BTreeSet<String>, Error> {
        let mut keys: BTreeSet<String> = self.names(ORDERS)?.into_iter().collect();
        keys.extend(self.names(ANSWERS)?);
        keys.retain(|key| !known.contains(key.as_str()));
        Ok(keys)
    }

    /// Returns all orders' keys, in a rotation that differs between workers, so that they seldom
    /// claim the same trial.
    pub(super) fn keys(&self) -> Result<Vec<String>, Error> {
        let mut keys = self.names(ORDERS)?;
        keys.sort_unstable();
        let bytes = self.name.bytes();
        let place = bytes.fold(0_usize, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(byte.into())
        });
        let count = keys.len().max(1);
        keys.rotate_left(place % count);
        Ok(keys)
    }

    /// Returns the JSON files' stems in a part of the queue.
    fn names(&self, part: &str) -> Result<Vec<String>, Error> {
        let part = self.folder.join(part);
        let unreadable = |error: io::Error| failed("read", &part, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&part).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|ending| ending == JSON) {
                let name = path.file_stem().unwrap_or_default();
                names.push(name.to_string_lossy().into_owned());
            }
        }
        Ok(names)
    }

    /// Reads an order; `None` if its answer was collected already.
    pub(super) fn order(&self, key: &str) -> Result<Option<TrialOrder>, Error> {
        get(&self.of(ORDERS, key))
    }

    /// True if there is an order with that key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.of(ORDERS, key).exists()
    }

    /// Reads the answer for a trial, if there is one.
    pub(super) fn answer(&self, key: &str) -> Result<Option<TrialAnswer>, Error> {
        get(&self.of(ANSWERS, key))
    }

    /// Writes the answer for a trial.
    pub(super) fn give(&self, key: &str, answer: &TrialAnswer) -> Result<(), Error> {
        put(&self.of(ANSWERS, key), answer)
    }

    /// Claims a trial. Workers compete by making the same folder, which only one can.
    pub(super) fn claim(&self, key: &str) -> Result<Claimed, Error> {
        let mut lost = 0_u32;
        loop {
            if self.of(ANSWERS, key).exists() {
                return Ok(Claimed::Answered);
            }
            let claim = self.claim_folder(key, lost);
            match fs::create_dir(&claim) {
                Ok(()) => {
                    let owner = claim.join(OWNER);
                    fs::write(&owner, &self.name)
                        .map_err(|error| failed("write", &owner, error))?;
                    return Ok(Claimed::Mine);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // The queue was removed, which happens once all trials are answered.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Claimed::Answered);
                }
                Err(error) => return Err(failed("create", &claim, error)),
            }
            if self.is_held(&claim) {
                return Ok(Claimed::Others);
            }
            // That worker is lost. Of the workers that notice, one makes the folder with the next
            // number.
            lost += 1;
        }
    }

    /// Gives back a trial that this worker has claimed and not run.
    pub(super) fn release(&self, key: &str) {
        for lost in 0_u32.. {
            let claim = self.claim_folder(key, lost);
            match fs::read_to_string(claim.join(OWNER)) {
                Ok(owner) if owner == self.name => {
                    let _ = fs::remove_dir_all(claim);
                    return;
                }
                // The claim of a worker that was lost; this worker's claim has a higher number.
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// Removes a trial's order, claims and answer; the ledger has the answer.
    pub(super) fn forget(&self, key: &str) {
        // The order goes first and the answer last: a worker with an older list of orders meets
        // the answer, or no order, and runs nothing.
        let _ = fs::remove_file(self.of(ORDERS, key));
        for lost in 0_u32.. {
            if fs::remove_dir_all(self.claim_folder(key, lost)).is_err() {
                break;
            }
        }
        let _ = fs::remove_file(self.of(ANSWERS, key));
    }

    /// Removes the queue if no order is left.
    pub(super) fn remove_if_done(&self) {
        let is_done = self.names(ORDERS).is_ok_and(|names| names.is_empty());
        if is_done {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    /// True if a claim's worker may still be running the trial.
    fn is_held(&self, claim: &Path) -> bool {
        let workers = self.folder.join(WORKERS);
        let own = modified(&workers.join(&self.name));
        let other = match fs::read_to_string(claim.join(OWNER)) {
            // A worker that ends in good order removes its file.
            Ok(owner) if !owner.is_empty() => match modified(&workers.join(owner)) {
                Some(time) => Some(time),
                None => return false,
            },
            // The claim was made this instant, or its worker died before it wrote its name.
            _ => modified(claim),
        };
        let (Some(own), Some(other)) = (own, other) else {
            // Without a time there is no proof that the worker is lost.
            return true;
        };
        // Both times come from the file server's clock, so clocks of machines do not matter; this
        // worker's own file is at most a beat old.
        own.duration_since(other).unwrap_or_default() <= self.patience
    }

    fn of(&self, part: &str, key: &str) -> PathBuf {
        self.folder.join(part).join(format!("{key}.{JSON}"))
    }

    fn claim_folder(&self, key: &str, lost: u32) -> PathBuf {
        self.folder.join(CLAIMS).join(format!("{key}.{lost}"))
    }

    /// Makes this worker's file under a name that no other worker has.
    fn begin_to_live(&self) -> Result<String, Error> {
        let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let began = began.unwrap_or_default().as_nanos();
        let process = std::process::id();
        for attempt in 0_u32.. {
            let name = format!("{process}-{began:x}-{attempt}");
            let path = self.folder.join(WORKERS).join(&name);
            match File::options().create_new(true).write(true).open(&path) {
                Ok(_) => {
                    touch(&path).map_err(|error| failed("write", &path, error))?;
                    return Ok(name);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed("create", &path, error)),
            }
        }
        unreachable!("a name is free before numbers end")
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // First the thread, which would only fail to write once the file is gone.
        drop(self.heart.take());
        let _ = fs::remove_file(self.folder.join(WORKERS).join(&self.name));
    }
}

/// A worker's beats, until it is dropped.
#[derive(Debug)]
struct Heart {
    stopped: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Heart {
    fn beating(file: PathBuf, beat: Duration) -> Heart {
        let stopped = Arc::new((Mutex::new(false), Condvar::new()));
        let of_thread = Arc::clone(&stopped);
        let thread = std::thread::spawn(move || {
            let (stopped, changed) = &*of_thread;
            let mut is_over = stopped.lock().unwrap_or_else(PoisonError::into_inner);
            while !*is_over {
                // A beat that fails now is made up by the next one, well within the patience.
                let _ = touch(&file);
                let waited = changed.wait_timeout(is_over, beat);
                is_over = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        });
        Heart {
            stopped,
            thread: Some(thread),
        }
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        let (stopped, changed) = &*self.stopped;
        *stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
        // The thread holds nothing that a panic could leave half done.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Empties a queue, orders first: without orders no worker gives an answer.
fn empty(folder: &Path) -> Result<(), Error> {
    for part in [ORDERS, CLAIMS, ANSWERS] {
        let part = folder.join(part);
        fs::remove_dir_all(&part).map_err(|error| failed("empty", &part, error))?;
        fs::create_dir_all(&part).map_err(|error| failed("create", &part, error))?;
    }
    Ok(())
}

/// Returns the time at which a file was last written, by the file server's clock.
fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

/// Writes one byte, so that the machine with the file sets its time by its own clock.
fn touch(path: &Path) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.write_all(b".")?;
    file.sync_all()
}

/// Writes a value as a file that appears whole or not at all.
fn put<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    let text = serde_json::to_vec(value).map_err(|error| {
        Error::Asked(format!(
            "cannot write {}: {error}; please report it",
            path.display()
        ))
    })?;
    // Readers on other machines see the old file or the new one, never a part: see
    // `tempfile_beside`.
    let unwritable = |error: io::Error| failed("write", path, error);
    let mut partial = tempfile_beside(path).map_err(unwritable)?;
    partial.1.write_all(&text).map_err(unwritable)?;
    // On disk before the rename: after a crash the name must not lead to a file that is half there.
    partial.1.sync_all().map_err(unwritable)?;
    fs::rename(&partial.0, path).map_err(unwritable)
}

/// Makes a new file beside `path`; its extension keeps readers away.
fn tempfile_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let process = std::process::id();
    for attempt in 0_u32.. {
        let partial = path.with_extension(format!("{process}-{attempt}.partial"));
        match File::options().create_new(true).write(true).open(&partial) {
            Ok(file) => return Ok((partial, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("a name is free before numbers end")
}

/// Reads a value; `None` if there is no file.
fn get<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("read", path, error)),
    };
    let read = serde_json::from_slice(&text);
    read.map(Some).map_err(|error| {
        Error::Asked(format!(
            "{} holds something else than it should: {error}; remove it, and run the sweep again",
            path.display()
        ))
    })
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Folder(TrialError::Io {
        action,
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use crate::studies::Read;

    use super::*;

    fn order(key: &str) -> TrialOrder {
        TrialOrder {
            key: key.to_owned(),
            name: String::new(),
            memory_bytes: 0,
            packet_hops: 0.0,
            sources: sources().to_owned(),
            reads: Vec::new(),
            config: String::new(),
            given: Vec::new(),
            beside: Vec::new(),
            folder: None,
            force: false,
            title: String::new(),
            checkpoints: None,
        }
    }

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("tenter-queue-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn claim(of: &Queue, key: &str) -> Claimed {
        of.claim(key).expect("the folder can be written")
    }

    #[test]
    fn a_trial_is_claimed_once_and_forgotten_when_it_is_answered() {
        let folder = folder("once");
        let first = Queue::make(&folder, Duration::from_mins(1)).expect("a folder");
        first.put(&order("k")).expect("it is written");
        let second = Queue::join(&folder).expect("the same queue");
        assert_eq!(second.keys().expect("orders"), ["k"]);
        assert_eq!(claim(&first, "k"), Claimed::Mine);
        assert_eq!(claim(&second, "k"), Claimed::Others);
        first.release("k");
        assert_eq!(claim(&second, "k"), Claimed::Mine);
        let answer = TrialAnswer::failed("too large");
        second.give("k", &answer).expect("it is written");
        assert_eq!(claim(&first, "k"), Claimed::Answered);
        let found = first.answer("k").expect("it can be read");
        assert_eq!(
            found.and_then(|of| of.failure().map(str::to_owned)),
            Some("too large".into())
        );
        first.forget("k");
        first.remove_if_done();
        assert!(Queue::join(&folder).is_err());
        fs::remove_dir_all(folder).expect("the folder is there");
    }

    fn terms(folder: &Path, change: impl Fn(&mut serde_json::Value)) {
        let path = folder.join(FOLDER).join(TERMS);
        let mut terms = get(&path).expect("it is JSON").expect("it is there");
        change(&mut terms);
        put(&path, &terms).expect("it is written");
    }

    #[test]
    fn a_queue_of_another_build_is_told_and_replaced() {
        let folder = folder("build");
        let minute = Duration::from_mins(1);
        let queue = Queue::make(&folder, minute).expect("a folder");
        queue.put(&order("old")).expect("it is written");
        drop(queue);
        terms(&folder, |terms| {
            terms["version"] = "0.0.9".into();
            terms["sources"] = "1234567890".into();
        });
        let error = Queue::join(&folder).expect_err("it is of another build");
        let error = error.to_string();
        let own = build(version(), sources());
        for expected in ["0.0.9 (sources 12345678)", own.as_str(), "--queue"] {
            assert!(error.contains(expected), "{error}");
        }
        let queue = Queue::make(&folder, minute).expect("it is replaced");
        // No worker of this build takes an order of the other one.
        assert!(queue.keys().expect("orders").is_empty());
        queue.put(&order("new")).expect("it is written");
        queue.put(&order("other")).expect("it is written");
        let others = queue.others(&BTreeSet::from(["new"]));
        assert_eq!(
            others.expect("it can be read"),
            BTreeSet::from(["other".to_owned()])
        );
        drop(queue);
        fs::remove_dir_all(folder).expect("the folder is there");
    }

    #[test]
    fn the_greater_patience_counts() {
        let folder = folder("patience");
        let of = |seconds| {
            let queue = Queue::make(&folder, Duration::from_secs(seconds)).expect("a folder");
            queue.patience.as_secs()
        };
        assert_eq!([of(200), of(900), of(120)], [200, 900, 900]);
        let queue = Queue::join(&folder).expect("the same queue");
        queue.put(&order("k")).expect("it is written");
        drop(queue);
        for damaged in [-1.0, 0.0, 1e300] {
            terms(&folder, |terms| terms["patience_s"] = damaged.into());
            let error = Queue::join(&folder).expect_err("it is no time").to_string();
            assert!(error.contains("terms.json has a patience of"), "{error}");
            assert!(error.contains("remove this file alone"), "{error}");
        }
        // That loses neither orders nor answers.
        fs::remove_file(folder.join(FOLDER).join(TERMS)).expect("it is there");
        assert_eq!(of(200), 200);
        let queue = Queue::join(&folder).expect("the same queue");
        assert!(queue.has("k"));
        drop(queue);
        fs::remove_dir_all(folder).expect("the folder is there");
    }

    #[test]
    fn workers_of_every_patience_write_often_enough_for_the_least() {
        let hour = Duration::from_hours(1);
        for patience in [PATIENCE_MIN, hour, 24 * hour] {
            assert_eq!(beat(patience), Duration::from_secs(15));
        }
        assert_eq!(beat(Duration::from_secs(8)), Duration::from_secs(1));
        assert!(check_patience(hour).is_ok());
        for refused in [Duration::ZERO, PATIENCE_END, Duration::MAX] {
            assert!(check_patience(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn an_order_with_other_readings_takes_the_place_of_the_first() {
        let folder = folder("readings");
        let queue = Queue::make(&folder, Duration::from_mins(1)).expect("a folder");
        queue.put(&order("k")).expect("it is written");
        let more = TrialOrder {
            reads: vec![Read::Query("max(jobs.jct_ns)".to_owned())],
            ..order("k")
        };
        queue.put(&more).expect("it is written");
        let found = queue.order("k").expect("it can be read");
        assert_eq!(found.map(|of| of.reads), Some(more.reads));
        drop(queue);
        fs::remove_dir_all(folder).expect("the folder is there");
    }

    #[test]
    fn a_trial_of_a_worker_that_is_lost_is_claimed_by_one_other() {
        let folder = folder("lost");
        let patience = Duration::from_millis(200);
        drop(Queue::make(&folder, patience).expect("a folder"));
        let lost = Queue::silent(folder.join(FOLDER), patience).expect("the same queue");
        lost.put(&order("k")).expect("it is written");
        assert_eq!(claim(&lost, "k"), Claimed::Mine);
        let others = [(); 3].map(|()| Queue::join(&folder).expect("the same queue"));
        assert_eq!(claim(&others[0], "k"), Claimed::Others);
        std::thread::sleep(Duration::from_millis(500));
        let claims = others.each_ref().map(|other| claim(other, "k"));
        assert_eq!(claims, [Claimed::Mine, Claimed::Others, Claimed::Others]);
        // One that ended in good order is not waited for.
        let [ended, next, _] = others;
        drop(ended);
        assert_eq!(claim(&next, "k"), Claimed::Mine);
        drop((lost, next));
        fs::remove_dir_all(folder).expect("the folder is there");
    }
}
