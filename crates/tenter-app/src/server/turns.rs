//! Turns for requests that work on scenarios: a few at a time, and only while a client waits for
//! them.
//!
//! To resolve a large fabric takes seconds and gigabytes, and a page checks its text after each
//! change. So a page has one check at a time, and a newer one replaces an older one. The work for a
//! request has a [`Budget`]: it ends when the budget is used up or the client has gone.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::HeaderMap;
use tenter::{Budget, Bytes, Limits, check_budget, machine_limits, way_to_more};
use tokio::sync::{Notify, Semaphore};
use utoipa::IntoParams;

use crate::server::apart::apart;
use crate::server::error::ApiError;

/// Number of requests that work at the same time; other requests have the remaining threads for
/// blocking work.
const AT_ONCE: usize = 2;
/// Remedies for a request that exceeded its budget.
const MORE_TIME: &str = "`tenter ui --max-time 60s` allows more";
const MORE_MEMORY: &str = "`tenter ui --max-memory 16GiB` allows more";
/// Header by which a client with several requests identifies itself.
const CLIENT: &str = "tenter-client";
/// Longest client name, in bytes.
const CLIENT_MAX: usize = 64;

/// Returns the remedy if `budget` has refused something.
pub(crate) fn more_of(budget: &Budget) -> Option<&'static str> {
    way_to_more(budget, MORE_TIME, MORE_MEMORY)
}

/// Sets its flag when the request ends: it was answered, its client has gone, or a newer request
/// has replaced it.
struct Ends(Arc<AtomicBool>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The header of [`whose`], for the description of the interface.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it is read from the headers of a request")]
pub(crate) struct Client {
    /// A name, of at most 64 characters, that a client gives itself: its newer request to the route
    /// takes the place of an older one, which is answered 409.
    #[param(rename = "Tenter-Client")]
    client: Option<String>,
}

/// Client name and request kind: a client has one request of a kind at a time.
pub(crate) type Whose = (String, &'static str);

/// Returns the key for a request with kind `what`, if the client names itself.
pub(crate) fn whose(headers: &HeaderMap, what: &'static str) -> Option<Whose> {
    let client = headers.get(CLIENT)?.to_str().ok()?;
    (client.len() <= CLIENT_MAX).then(|| (client.to_owned(), what))
}

/// Admits requests that work on scenarios, [`AT_ONCE`] at a time.
pub(crate) struct Turns {
    limits: Limits,
    slots: Arc<Semaphore>,
    newest: Mutex<BTreeMap<Whose, Arc<Notify>>>,
}

impl Turns {
    /// Makes turns in which each request may use `limits`, and no more than its share of the
    /// machine's free memory.
    pub(crate) fn new(limits: Limits) -> Turns {
        Turns {
            limits,
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            newest: Mutex::default(),
        }
    }

    fn newest(&self) -> MutexGuard<'_, BTreeMap<Whose, Arc<Notify>>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the limits for a request that starts now.
    pub(crate) fn limits(&self) -> Limits {
        let share = machine_limits().memory.count() / AT_ONCE as u64;
        Limits {
            memory: self.limits.memory.min(Bytes::new(share)),
            ..self.limits
        }
    }

    /// Runs `work` within a budget when its turn comes. An older request by `whose` ends with a
    /// 409.
    pub(crate) async fn take<T: Send + 'static>(
        &self,
        whose: Option<Whose>,
        work: impl FnOnce(&Budget) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let is_over = Arc::new(AtomicBool::new(false));
        let _ends = Ends(Arc::clone(&is_over));
        let limits = self.limits();
        // Before the wait for a slot, so that an older request ends first and frees its own.
        let newest = Newest::begin(self, whose);
        let done = async {
            let slot = Arc::clone(&self.slots).acquire_owned().await;
            let slot = slot.map_err(|_| ApiError::internal("the server ends"))?;
            apart(move || {
                // The slot is freed when the work has really ended, not when the client leaves:
                // otherwise more than [`AT_ONCE`] could compute.
                let _slot = slot;
                let budget = check_budget(limits, is_over);
                // A request that was abandoned in the queue does not start at all.
                budget.check().map_err(tenter::Error::from)?;
                work(&budget).map_err(|error| error.or(more_of(&budget)))
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

/// Registers a client's newest request, until that request ends.
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
            // A newer request may have replaced the entry by now, which then must stay.
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
        let turns = Turns::new(Limits::NONE);
        let (told, hears) = mpsc::channel();
        let older = turns.take(Some(page()), move |budget| {
            // As long as the work may go on.
            while budget.check().is_ok() {
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
        let turns = Turns::new(Limits::NONE);
        let (told, hears) = mpsc::channel();
        run(async {
            let busy = |told: mpsc::Sender<&'static str>| {
                turns.take(None, move |budget| {
                    while budget.check().is_ok() {
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
        let turns = Turns::new(Limits::NONE);
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
