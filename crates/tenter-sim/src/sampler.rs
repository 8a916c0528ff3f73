//! Samples of every port that is in use, at a fixed interval and at the end.

use tenter_record::SampleRow;
use tenter_units::Time;

use crate::driver::Driver;
use crate::fabric::NodeModel;

/// Takes samples at edges.
#[derive(Debug)]
pub(crate) struct Sampler {
    interval: Option<u64>,
    next: u64,
    last: u64,
    /// Frame bytes each port had sent at the last sample, port after port.
    sent_bytes: Vec<u64>,
}

impl Sampler {
    pub(crate) fn new(interval: Option<u64>) -> Sampler {
        Sampler {
            interval,
            next: interval.unwrap_or(u64::MAX),
            last: 0,
            sent_bytes: Vec::new(),
        }
    }

    /// When the next sample is due.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn is_due(&self, now: u64) -> bool {
        now >= self.next
    }

    /// Whether there may be more to say at the end of the run than at the last sample.
    pub(crate) fn is_due_at_end(&self, end: u64) -> bool {
        self.interval.is_some() && end > self.last
    }

    /// Leaves out the samples before `to`: nothing happens until then.
    pub(crate) fn skip_to(&mut self, to: u64) {
        if let Some(interval) = self.interval {
            self.next = self.next.max(to.next_multiple_of(interval));
        }
    }

    /// One row for every port that has sent since the last sample or has something waiting.
    pub(crate) fn take(&mut self, driver: &impl Driver, now: u64) -> Vec<SampleRow> {
        if let Some(interval) = self.interval {
            self.next = (now / interval + 1) * interval;
        }
        self.last = now;
        let mut rows = Vec::new();
        let mut place = 0;
        let context = driver.fabric(0).context();
        for node in 0..context.topology().nodes.len() as u32 {
            let (part, local) = context.home(node);
            match &driver.fabric(usize::from(part)).nodes()[local as usize] {
                NodeModel::Host(host) => {
                    let sent = host.nic().transmitter().sent().1;
                    self.sample(&mut place, (now, node, 0), (sent, 0), &mut rows);
                }
                NodeModel::Switch(switch) => {
                    for (number, port) in (0..).zip(switch.ports()) {
                        let state = (port.counters().sent_bytes, port.queue_bytes());
                        self.sample(&mut place, (now, node, number), state, &mut rows);
                    }
                }
            }
        }
        rows
    }

    fn sample(
        &mut self,
        place: &mut usize,
        (now, node, port): (u64, u32, u16),
        (sent_bytes, queue_bytes): (u64, u64),
        rows: &mut Vec<SampleRow>,
    ) {
        if self.sent_bytes.len() == *place {
            self.sent_bytes.push(0);
        }
        let tx_bytes = sent_bytes - std::mem::replace(&mut self.sent_bytes[*place], sent_bytes);
        *place += 1;
        if tx_bytes > 0 || queue_bytes > 0 {
            rows.push(SampleRow {
                time: Time::from_ps(now),
                node,
                port,
                queue_bytes,
                tx_bytes,
            });
        }
    }
}
