//! Queues at outputs: departures of a switch, lazily or in the order of time.

use tenter_units::{Instant, Time};

use crate::buffer::Buffer;
use crate::medium::Medium;
use crate::switch::queued::{Outputs, QueuedSwitch, Queueing};

impl<B: Buffer> QueuedSwitch<B, Outputs>
where
    QueuedSwitch<B, Outputs>: Queueing,
{
    /// Prefetches the frames that wait where frames do, for a visit in the order of time.
    #[inline]
    pub(crate) fn prefetch_frames(&self) {
        for (index, &word) in self.queues.active.iter().enumerate() {
            let mut ports = word;
            while ports != 0 {
                let number = index * 64 + ports.trailing_zeros() as usize;
                self.chassis.ports[number].prefetch_frames();
                ports &= ports - 1;
            }
        }
    }

    /// A port has changed, and departures are carried out in the order of time.
    #[inline]
    pub(crate) fn enter_departure(&mut self, number: u16) {
        let port = &self.chassis.ports[usize::from(number)];
        self.queues.departures.enter(number, port);
    }

    pub(super) fn enter_all_departures(&mut self) {
        for number in 0..self.chassis.ports.len() as u16 {
            self.enter_departure(number);
        }
    }

    /// [`Queueing::port_changed`] of queues at outputs.
    #[inline]
    pub(super) fn output_changed(&mut self, number: u16) {
        if self.buffer.is_armed() {
            self.enter_departure(number);
        }
    }

    /// [`Queueing::settle`] of queues at outputs.
    pub(super) fn settle_outputs<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        self.flush_control(now, medium);
        if self.buffer.is_armed() {
            self.enter_all_departures();
        }
    }

    /// [`Queueing::flush_control`] of queues at outputs. `is_armed_anew`: departures were not
    /// carried out in the order of time before.
    pub(super) fn flush_outputs<M: Medium>(
        &mut self,
        is_armed_anew: bool,
        now: Instant,
        medium: &mut M,
    ) {
        while let Some(mut control) = self.buffer.take_pending() {
            let port = &mut self.chassis.ports[usize::from(control.port)];
            let mut around = self.chassis.rules.around(&mut self.buffer);
            port.advance(now, &mut around, medium);
            let class = self.chassis.class_of[usize::from(control.queue)];
            if let Some(signals) = &mut self.signals {
                signals.extend(&mut control, class, now);
            }
            self.chassis.send_pending(control, now, medium);
            let port = &self.chassis.ports[usize::from(control.port)];
            self.queues.departures.enter(control.port, port);
        }
        if !self.buffer.is_armed() {
            self.queues.departures.clear();
        } else if is_armed_anew {
            self.enter_all_departures();
        }
    }

    /// [`Queueing::bring_to`] of queues at outputs: exact while the buffer is not armed.
    #[inline]
    pub(super) fn bring_outputs_to<M: Medium>(&mut self, until: Instant, medium: &mut M) {
        let mut around = self.chassis.rules.around(&mut self.buffer);
        for (index, word) in self.queues.active.iter_mut().enumerate() {
            let mut ports = *word;
            while ports != 0 {
                let bit = ports & ports.wrapping_neg();
                ports ^= bit;
                let number = index * 64 + bit.trailing_zeros() as usize;
                let port = &mut self.chassis.ports[number];
                port.advance(until, &mut around, medium);
                if !port.has_waiting() {
                    *word &= !bit;
                }
            }
        }
    }

    /// Does what comes before an arrival at `now` in the order of time: departures up to and
    /// including that instant, repetitions of pauses before it, and refreshes of what the load
    /// balancer knows.
    pub(crate) fn bring_before<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        self.refresh_quality_before(now, medium);
        if self.buffer.is_armed() {
            self.merge(now, now, medium);
        }
    }

    /// Refreshes what the load balancer knows of the ports as often as it must be before `end`.
    fn refresh_quality_before<M: Medium>(&mut self, end: Instant, medium: &mut M) {
        while let Some(at) = self.balancer.next_refresh().filter(|at| *at < end) {
            self.merge(at, at, medium);
            if !self.buffer.is_armed() {
                self.bring_outputs_to(at, medium);
            }
            self.balancer.refresh(&self.chassis.ports, at);
        }
    }

    /// While the buffer is armed: carries out, in the order of time, departures up to and including
    /// `until` and repetitions of pauses before `refresh_before`.
    fn merge<M: Medium>(&mut self, until: Instant, refresh_before: Instant, medium: &mut M) {
        while self.buffer.is_armed() {
            let refresh = self.buffer.next_refresh();
            match self.queues.departures.next(&self.chassis.ports) {
                Some((at, number)) if at <= until && at <= refresh => {
                    self.queues.departures.pop();
                    self.advance_output(number, at, medium);
                    self.output_changed(number);
                }
                _ if refresh < refresh_before => self.refresh(refresh, medium),
                _ => return,
            }
        }
    }

    /// [`Queueing::advance_port`] of queues at outputs.
    pub(super) fn advance_output<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M) {
        let mut around = self.chassis.rules.around(&mut self.buffer);
        self.chassis.ports[usize::from(number)].advance(now, &mut around, medium);
        if self.buffer.has_pending() {
            self.flush_control(now, medium);
        }
    }

    /// As [`Switch::advance_to`](crate::Switch::advance_to).
    #[inline]
    pub(crate) fn advance_to<M: Medium>(
        &mut self,
        end: Instant,
        medium: &mut M,
    ) -> Option<Instant> {
        self.refresh_quality_before(end, medium);
        self.merge(end - Time::LEAST, end, medium);
        if !self.buffer.is_armed() {
            self.bring_outputs_to(end - Time::LEAST, medium);
        }
        self.next_event()
    }

    /// When something next happens of its own.
    fn next_event(&self) -> Option<Instant> {
        let timer = self.next_common_timer();
        let mut next = (!timer.is_never()).then_some(timer);
        for (index, &word) in self.queues.active.iter().enumerate() {
            let mut ports = word;
            while ports != 0 {
                let number = index * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                if let Some(departure) = self.chassis.ports[number].next_departure() {
                    next = Some(next.map_or(departure, |next| next.min(departure)));
                }
            }
        }
        next
    }
}
