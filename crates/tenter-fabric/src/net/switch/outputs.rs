//! Queues at outputs: departures, lazily or in the order of time.

use tenter_language::units::{Instant, Time};

use crate::net::buffer::Buffer;
use crate::net::medium::Medium;
use crate::net::switch::queued::{Outputs, QueuedSwitch, Queueing};

impl<B: Buffer> QueuedSwitch<B, Outputs>
where
    QueuedSwitch<B, Outputs>: Queueing,
{
    /// Prefetches the frames at ports that may have some, for a visit in the order of time.
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

    /// Enters a port that has changed among the ordered departures.
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

    /// Implements [`Queueing::port_changed`] for queues at outputs.
    #[inline]
    pub(super) fn output_changed(&mut self, number: u16) {
        if self.buffer.is_armed() {
            self.enter_departure(number);
        }
    }

    /// Implements [`Queueing::settle`] for queues at outputs.
    pub(super) fn settle_outputs<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        self.flush_control(now, medium);
        if self.buffer.is_armed() {
            self.enter_all_departures();
        }
    }

    /// Implements [`Queueing::flush_control`] for queues at outputs. `is_armed_anew` is true if
    /// departures were lazy until now.
    pub(super) fn flush_outputs<M: Medium>(
        &mut self,
        is_armed_anew: bool,
        now: Instant,
        medium: &mut M,
    ) {
        while let Some(mut control) = self.buffer.take_pending() {
            let port = &mut self.chassis.ports[usize::from(control.port)];
            let mut around = self.chassis.rules.around(&mut self.buffer);
            // The frame goes out behind all that its port has started by now.
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
            // Ports are lazy again, and entries would grow stale.
            self.queues.departures.clear();
        } else if is_armed_anew {
            // From the first pause on, departures of all ports have side effects.
            self.enter_all_departures();
        }
    }

    /// Implements [`Queueing::bring_to`] for queues at outputs: exact while the buffer is not
    /// armed.
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

    /// Does all that precedes an arrival at `now`: departures up to and including that instant,
    /// repetitions of pauses before it, and refreshes of the load balancer's view.
    pub(crate) fn bring_before<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        self.refresh_quality_before(now, medium);
        if self.buffer.is_armed() {
            self.merge(now, now, medium);
        }
    }

    /// Refreshes the load balancer's view of ports at each interval before `end`.
    fn refresh_quality_before<M: Medium>(&mut self, end: Instant, medium: &mut M) {
        while let Some(at) = self.balancer.next_refresh().filter(|at| *at < end) {
            // Levels are read after the departures and the arrivals at the same instant.
            self.merge(at, at, medium);
            if !self.buffer.is_armed() {
                self.bring_outputs_to(at, medium);
            }
            self.balancer.refresh(&self.chassis.ports, at);
        }
    }

    /// Carries out, while the buffer is armed and in the order of time, departures up to and
    /// including `until` and repetitions of pauses before `refresh_before`.
    fn merge<M: Medium>(&mut self, until: Instant, refresh_before: Instant, medium: &mut M) {
        while self.buffer.is_armed() {
            let refresh = self.buffer.next_refresh();
            match self.queues.departures.next(&self.chassis.ports) {
                // At one instant departures come before repetitions, which are timers.
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

    /// Implements [`Queueing::advance_port`] for queues at outputs.
    pub(super) fn advance_output<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M) {
        let mut around = self.chassis.rules.around(&mut self.buffer);
        self.chassis.ports[usize::from(number)].advance(now, &mut around, medium);
        if self.buffer.has_pending() {
            self.flush_control(now, medium);
        }
    }

    /// Implements [`Switch::advance_to`](crate::net::Switch::advance_to).
    #[inline]
    pub(crate) fn advance_to<M: Medium>(
        &mut self,
        end: Instant,
        medium: &mut M,
    ) -> Option<Instant> {
        self.refresh_quality_before(end, medium);
        // A window ends just before `end`, and departures go up to and including an instant.
        self.merge(end - Time::LEAST, end, medium);
        if !self.buffer.is_armed() {
            self.bring_outputs_to(end - Time::LEAST, medium);
        }
        self.next_event()
    }

    /// Returns the instant of the next departure or timer, if any.
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
