//! Polls trials that other processes run.

use std::time::{Duration, Instant};

/// Shortest pause between polls. Each poll reads the ledger, or a file system that machines share.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// Longest pause between polls.
pub(super) const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Shortest pause for each polled trial: one poll takes a tenth as long on a local disk, and half
/// as long over NFS.
const PER_TRIAL: Duration = Duration::from_millis(2);

/// Trials that other processes were running at the last poll, and the next poll's time.
#[derive(Debug)]
pub(super) struct Elsewhere {
    pub(super) trials: Vec<usize>,
    /// Current pause between polls; doubles while no trial ends.
    pause: Duration,
    /// Time for the next poll; the first [`Elsewhere::again`] after a poll sets it.
    next: Option<Instant>,
}

impl Elsewhere {
    pub(super) fn new() -> Elsewhere {
        Elsewhere {
            trials: Vec::new(),
            pause: PAUSE_MIN,
            next: None,
        }
    }

    /// Resets the pause when a trial has ended: others may end soon.
    pub(super) fn has_ended(&mut self) {
        self.pause = PAUSE_MIN;
        self.next = None;
    }

    /// Returns the trials to be polled, or as an error the time until then. Call it when no other
    /// trial waits: the pause begins with the first call, and doubles from poll to poll.
    pub(super) fn again(&mut self, now: Instant) -> Result<Vec<usize>, Duration> {
        if self.trials.is_empty() {
            return Ok(Vec::new());
        }
        let next = *self.next.get_or_insert_with(|| {
            let count = u32::try_from(self.trials.len()).unwrap_or(u32::MAX);
            let least = PER_TRIAL.saturating_mul(count).min(PAUSE_MAX);
            now + self.pause.max(least)
        });
        match next.checked_duration_since(now) {
            Some(left) if !left.is_zero() => Err(left),
            _ => {
                self.next = None;
                self.pause = (2 * self.pause).min(PAUSE_MAX);
                Ok(std::mem::take(&mut self.trials))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_become_rare_while_nothing_happens() {
        let mut now = Instant::now();
        let mut elsewhere = Elsewhere::new();
        assert_eq!(elsewhere.again(now), Ok(Vec::new()));
        let mut pauses = Vec::new();
        // Some may still be with other threads, which look at them.
        for count in [2_usize, 1, 2, 2, 1, 2, 2, 2, 1, 1] {
            if pauses.len() == 8 {
                elsewhere.has_ended();
            }
            elsewhere.trials = (0..count).collect();
            let pause = elsewhere.again(now).expect_err("it is too early");
            // Asking does not move the time.
            let half = elsewhere.again(now + pause / 2);
            assert_eq!(half, Err(pause / 2));
            now += pause;
            assert_eq!(elsewhere.again(now).map(|of| of.len()), Ok(count));
            pauses.push(pause.as_millis());
        }
        // It doubles up to 5 s, and begins anew where a trial has ended.
        let expected = [100, 200, 400, 800, 1600, 3200, 5000, 5000, 100, 200];
        assert_eq!(pauses, expected);
    }

    #[test]
    fn many_trials_have_long_pauses() {
        let now = Instant::now();
        for (count, millis) in [(2, 100), (1_000, 2_000), (1_000_000, 5_000)] {
            let mut elsewhere = Elsewhere::new();
            elsewhere.trials = (0..count).collect();
            let pause = elsewhere.again(now);
            assert_eq!(pause, Err(Duration::from_millis(millis)));
        }
    }
}
