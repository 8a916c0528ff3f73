//! Events: what the page hears without asking.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::broadcast;

/// Events that are kept for clients that come back.
const KEPT: usize = 4_096;

/// Something that has happened.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) id: u64,
    /// The name of the event.
    pub(crate) topic: &'static str,
    /// JSON.
    pub(crate) data: String,
}

/// What has happened, and whoever hears of it.
pub(crate) struct Events {
    ring: Mutex<Ring>,
    sender: broadcast::Sender<Arc<Told>>,
}

struct Ring {
    next: u64,
    told: VecDeque<Arc<Told>>,
}

/// What a client that comes back has missed.
pub(crate) enum Missed {
    /// These.
    Events(Vec<Arc<Told>>),
    /// More than is kept: it must ask for the state of things.
    TooMuch,
}

impl Events {
    pub(crate) fn new() -> Events {
        // Numbers grow from one server to the next, so that those of an earlier one are known for
        // what they are.
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let first = since.map_or(1, |since| since.as_millis() as u64 * 1_000);
        let (sender, _) = broadcast::channel(KEPT);
        Events {
            ring: Mutex::new(Ring {
                next: first,
                told: VecDeque::new(),
            }),
            sender,
        }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells everyone.
    pub(crate) fn tell(&self, topic: &'static str, body: &impl Serialize) {
        let Ok(data) = serde_json::to_string(body) else {
            return;
        };
        let mut ring = self.ring();
        let told = Arc::new(Told {
            id: ring.next,
            topic,
            data,
        });
        ring.next += 1;
        if ring.told.len() == KEPT {
            ring.told.pop_front();
        }
        ring.told.push_back(Arc::clone(&told));
        // Nobody may be there; the order of what is sent is that of the ring.
        let _ = self.sender.send(told);
    }

    /// What follows, and what was missed since an event.
    pub(crate) fn hear(&self, last: Option<u64>) -> (Missed, broadcast::Receiver<Arc<Told>>) {
        let ring = self.ring();
        let receiver = self.sender.subscribe();
        let missed = match last {
            None => Missed::Events(Vec::new()),
            Some(last) => {
                let first = ring.told.front().map_or(ring.next, |told| told.id);
                if last + 1 < first || last >= ring.next {
                    Missed::TooMuch
                } else {
                    let told = ring.told.iter().filter(|told| told.id > last);
                    Missed::Events(told.cloned().collect())
                }
            }
        };
        (missed, receiver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(missed: Missed) -> Option<usize> {
        match missed {
            Missed::Events(events) => Some(events.len()),
            Missed::TooMuch => None,
        }
    }

    #[test]
    fn who_comes_back_hears_what_it_missed_or_that_it_is_too_much() {
        let events = Events::new();
        for number in 0..10 {
            events.tell("trial", &number);
        }
        let first = events.ring().told[0].id;
        assert_eq!(ids(events.hear(None).0), Some(0));
        assert_eq!(ids(events.hear(Some(first + 6)).0), Some(3));
        assert_eq!(ids(events.hear(Some(first + 9)).0), Some(0));
        // Of another server.
        assert_eq!(ids(events.hear(Some(first + 10)).0), None);
        assert_eq!(ids(events.hear(Some(first - 2)).0), None);
        assert_eq!(ids(events.hear(Some(3)).0), None);
        for number in 0..KEPT {
            events.tell("trial", &number);
        }
        assert_eq!(ids(events.hear(Some(first)).0), None);
        assert_eq!(events.ring().told.len(), KEPT);
    }
}
