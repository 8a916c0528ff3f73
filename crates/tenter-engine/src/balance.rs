//! Distribution of the windows' work over the partitions.

/// Work that windows bring for several threads, in visits plus arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Windows with enough work to be shared.
    pub windows: u64,
    /// Work in these windows.
    pub work: u64,
    /// Sum over these windows: the busiest partition's work, which remains when each partition has
    /// a thread.
    pub busiest: u64,
    /// Work in all other windows, which one thread does.
    pub rest: u64,
}

/// Least work for which a window is shared: waking a thread takes some microseconds.
pub(crate) const SHARED_WORK: u64 = 200;

impl Balance {
    /// Counts a window, given its work for each partition; returns the total.
    pub(crate) fn count(&mut self, work_of_parts: impl Iterator<Item = u64>) -> u64 {
        let (mut work, mut busiest) = (0, 0);
        for of_part in work_of_parts {
            work += of_part;
            busiest = of_part.max(busiest);
        }
        if work >= SHARED_WORK {
            self.windows += 1;
            self.work += work;
            self.busiest += busiest;
        } else {
            self.rest += work;
        }
        work
    }

    /// Estimates the speed-up over one thread when each partition has a thread. A visit or arrival
    /// takes `work_ns`, and the meeting in which all threads share a window `meeting_ns`.
    #[must_use]
    pub fn speed_up(&self, work_ns: f64, meeting_ns: f64) -> f64 {
        let alone = (self.work + self.rest) as f64 * work_ns;
        let shared = self.busiest as f64 * work_ns + self.windows as f64 * meeting_ns;
        // `Pace` gives sharing up where it does not pay.
        let shared = shared.min(self.work as f64 * work_ns);
        let together = shared + self.rest as f64 * work_ns;
        if together > 0.0 {
            alone / together
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_part_and_the_meetings_bound_what_threads_gain() {
        let mut balance = Balance::default();
        for _ in 0..10 {
            assert_eq!(balance.count([300, 100, 100, 100].into_iter()), 600);
        }
        assert_eq!(balance.count([20, 0, 0, 0].into_iter()), 20);
        assert_eq!((balance.busiest, balance.rest), (3_000, 20));
        let free = balance.speed_up(50.0, 0.0);
        assert!((free - 6_020.0 / 3_020.0).abs() < 1e-9, "{free}");
        // Ten meetings of 7.5 us each take half of what one thread does.
        let met = balance.speed_up(50.0, 7_500.0);
        assert!(
            (met - 6_020.0 * 50.0 / (3_020.0 * 50.0 + 75_000.0)).abs() < 1e-9,
            "{met}"
        );
        assert!(
            (balance.speed_up(50.0, 1e6) - 1.0).abs() < 1e-9,
            "sharing is given up"
        );
    }
}
