//! Work on scenarios that requests have sent: a few at a time, and for those who still wait.
//!
//! A large fabric takes seconds and gigabytes to be resolved, and a page checks after each change
//! of its text. So a page has one check at a time, and a newer one takes the place of an older one;
//! work whose client has gone ends where it next asks its [`Limits`].

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::HeaderMap;
use tenter::Error;
use tokio::sync::{Notify, Semaphore};

use crate::apart::apart;
use crate::error::ApiError;

/// Scenarios that are resolved at once: other requests have the rest of the threads that may wait.
const AT_ONCE: usize = 2;
/// The header by which a client that sends several requests tells itself from others.
const CLIENT: &str = "tenter-client";
/// The longest name of a client.
const CLIENT_MAX: usize = 64;

/// What the work for one request may take. Every function that resolves or explains a scenario for
/// a request takes it: limits of time and memory belong here.
#[derive(Clone, Default)]
pub(crate) struct Limits {
    /// Whether nobody waits for the answer any more.
    is_over: Arc<AtomicBool>,
}

impl Limits {
    /// Whether the work may go on; asked between its steps.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_over.load(Ordering::Relaxed) {
            return Err(Error::Asked("nobody waits for the answer".to_owned()));
        }
        Ok(())
    }
}

/// A request ends: it was answered, its client has gone, or a newer one takes its place.
struct Ends(Limits);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

/// A kind of request of one client, which has one of them at a time.
pub(crate) type Whose = (String, &'static str);

/// Whose request it is, if its client says.
pub(crate) fn whose(headers: &HeaderMap, what: &'static str) -> Option<Whose> {
    let client = headers.get(CLIENT)?.to_str().ok()?;
    (client.len() <= CLIENT_MAX).then(|| (client.to_owned(), what))
}

/// The requests that work on scenarios.
pub(crate) struct Turns {
    slots: Arc<Semaphore>,
    newest: Mutex<BTreeMap<Whose, Arc<Notify>>>,
}

impl Turns {
    pub(crate) fn new() -> Turns {
        Turns {
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            newest: Mutex::default(),
        }
    }

    fn newest(&self) -> MutexGuard<'_, BTreeMap<Whose, Arc<Notify>>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does some work when it is its turn. An older request of `whose` ends.
    pub(crate) async fn take<T: Send + 'static>(
        &self,
        whose: Option<Whose>,
        work: impl FnOnce(&Limits) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let limits = Limits::default();
        let _ends = Ends(limits.clone());
        let newest = Newest::begin(self, whose);
        let done = async {
            let slot = Arc::clone(&self.slots).acquire_owned().await;
            let slot = slot.map_err(|_| ApiError::internal("the server ends"))?;
            apart(move || {
                // Until the work has really ended, whoever waits for it.
                let _slot = slot;
                limits.check()?;
                work(&limits)
            })
            .await
        };
        tokio::select! {
            done = done => done,
            () = newest.superseded.notified() => Err(ApiError::conflict(
                "a newer request of the same client has taken its place; wait for that one",
            )),
        }
    }
}

/// The newest request of a client.
struct Newest<'t> {
    turns: &'t Turns,
    whose: Option<Whose>,
    superseded: Arc<Notify>,
}

impl<'t> Newest<'t> {
    fn begin(turns: &'t Turns, whose: Option<Whose>) -> Newest<'t> {
        let superseded = Arc::new(Notify::new());
        if let Some(whose) = &whose {
            let before = turns
                .newest()
                .insert(whose.clone(), Arc::clone(&superseded));
            if let Some(before) = before {
                before.notify_one();
            }
        }
        Newest {
            turns,
            whose,
            superseded,
        }
    }
}

impl Drop for Newest<'_> {
    fn drop(&mut self) {
        if let Some(whose) = &self.whose {
            let mut newest = self.turns.newest();
            if newest
                .get(whose)
                .is_some_and(|own| Arc::ptr_eq(own, &self.superseded))
            {
                newest.remove(whose);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn run<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        runtime.expect("a runtime").block_on(work)
    }

    fn page() -> Whose {
        ("page".to_owned(), "check")
    }

    #[test]
    fn a_newer_request_takes_the_place_of_an_older_one() {
        let turns = Turns::new();
        let (told, hears) = mpsc::channel();
        let older = turns.take(Some(page()), move |limits| {
            // As long as the work may go on.
            while limits.check().is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
            told.send(()).expect("the test hears");
            Ok(1)
        });
        let newer = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            turns.take(Some(page()), |_| Ok(2)).await
        };
        let (older, newer) = run(async { tokio::join!(older, newer) });
        assert!(older.is_err());
        assert_eq!(newer.ok(), Some(2));
        hears.recv().expect("the older work has ended");
        assert!(turns.newest().is_empty());
    }

    #[test]
    fn work_whose_client_has_gone_ends_or_never_begins() {
        let turns = Turns::new();
        let (told, hears) = mpsc::channel();
        run(async {
            let busy = |told: mpsc::Sender<&'static str>| {
                turns.take(None, move |limits| {
                    while limits.check().is_ok() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    told.send("ended").expect("the test hears");
                    Ok(())
                })
            };
            let waiting = told.clone();
            let late = turns.take(None, move |_| {
                waiting.send("began").expect("the test hears");
                Ok(())
            });
            let patience = Duration::from_millis(50);
            let both = async { tokio::join!(busy(told.clone()), busy(told.clone()), late) };
            assert!(tokio::time::timeout(patience, both).await.is_err());
        });
        drop(told);
        let mut heard: Vec<&str> = hears.iter().collect();
        heard.sort_unstable();
        assert_eq!(heard, ["ended", "ended"]);
        assert_eq!(turns.slots.available_permits(), AT_ONCE);
    }

    #[test]
    fn clients_without_a_name_and_of_others_do_not_disturb_each_other() {
        let turns = Turns::new();
        let other = || Some(("other".to_owned(), "check"));
        let all = run(async {
            tokio::join!(
                turns.take(None, |_| Ok(1)),
                turns.take(None, |_| Ok(2)),
                turns.take(Some(page()), |_| Ok(3)),
                turns.take(other(), |_| Ok(4)),
            )
        });
        assert!(all.0.is_ok() && all.1.is_ok() && all.2.is_ok() && all.3.is_ok());
    }
}
