//! Server-sent events, by which the page hears of changes without asking.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::broadcast;

/// Number of past events kept for clients that reconnect.
const KEPT: usize = 4_096;

/// An event that was sent to clients.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) id: u64,
    /// Event name, such as `trial` or `progress`.
    pub(crate) topic: &'static str,
    /// Event body, as JSON.
    pub(crate) data: String,
}

/// Recent events, and the channel to all connected clients.
pub(crate) struct Events {
    ring: Mutex<Ring>,
    sender: broadcast::Sender<Arc<Told>>,
}

struct Ring {
    next: u64,
    told: VecDeque<Arc<Told>>,
}

/// Answer to a client that reconnects and names its last event.
pub(crate) enum Missed {
    /// The events since then, in order.
    Events(Vec<Arc<Told>>),
    /// Some events are no longer kept, or the number is from another server: the client must reload
    /// its state.
    TooMuch,
}

impl Events {
    pub(crate) fn new() -> Events {
        // Event numbers start at the wall time, so those of an earlier server process are smaller.
        // A client that reconnects after a restart is told to reload instead of being sent wrong
        // events.
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

    /// Sends an event to all clients and keeps it for those that reconnect.
    pub(crate) fn tell(&self, topic: &'static str, body: &impl Serialize) {
        let Ok(data) = serde_json::to_string(body) else {
            return;
        };
        let mut ring = self.ring();
        // Shared, since each of many clients gets the same body.
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
        // Without clients `send` fails, which is fine. It happens under the lock, so clients
        // receive events in the order of their numbers.
        let _ = self.sender.send(told);
    }

    /// Subscribes to events after `last`: returns those that the client has missed, and a receiver
    /// for the following ones.
    pub(crate) fn hear(&self, last: Option<u64>) -> (Missed, broadcast::Receiver<Arc<Told>>) {
        let ring = self.ring();
        // The subscription is made under the lock: no event falls between the two, and none is in
        // both.
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
