//! The loop in which a NIC works without its ranks: it sends frames, and takes packets that change
//! nothing beyond its own counters and queue pairs. The NIC's kind is matched once for the whole
//! loop.

use tenter_fabric::net::{Medium, Packet};
use tenter_language::units::Instant;

use super::{MultiPlaneNic, Nic};
use crate::roce::RoceNic;
use crate::spec::NicSpec;
use crate::ultra_ethernet::UltraEthernetNic;

/// Packets that have come to a NIC in time order, each with its input.
///
/// `Peekable` would serve as well, at 0.2 to 0.4 % more instructions in a whole run.
#[derive(Debug)]
pub struct Arrivals<'p, I> {
    rest: I,
    next: Option<(&'p Packet, u16)>,
}

impl<'p, I: Iterator<Item = (&'p Packet, u16)>> Arrivals<'p, I> {
    /// Wraps an iterator over packets and their inputs.
    #[inline]
    pub fn new(mut rest: I) -> Arrivals<'p, I> {
        let next = rest.next();
        Arrivals { rest, next }
    }

    /// Returns the next packet's arrival, or [`Instant::NEVER`].
    #[inline]
    fn next_at(&self) -> Instant {
        self.next.map_or(Instant::NEVER, |(packet, _)| packet.at)
    }

    /// Takes out the next packet if it arrives at `now`.
    #[inline]
    pub fn take(&mut self, now: Instant) -> Option<(&'p Packet, u16)> {
        let due = self.next.filter(|(packet, _)| packet.at == now)?;
        self.next = self.rest.next();
        Some(due)
    }
}

/// Limits to which a NIC may run by itself.
#[derive(Clone, Copy, Debug)]
pub struct RunEnd {
    /// Next instant at which the NIC's host has something else to do.
    pub alarm: Instant,
    /// Instant at which the visit ends.
    pub visit: Instant,
}

/// One NIC's steps in the loop, for each kind.
trait Line {
    /// Returns the earliest instant for the next frame.
    fn departure(&self, now: Instant) -> Option<Instant>;

    /// Sends one frame at `now`.
    fn send(&mut self, spec: &NicSpec, now: Instant, medium: &mut impl Medium);

    /// Returns the next timer's instant.
    fn timer(&self) -> Option<Instant>;

    /// Takes a packet and returns true if it changes neither the next departure nor a timer. For
    /// any other packet it does nothing and returns false, which is the default.
    fn take(&mut self, _: &NicSpec, _: &Packet, _: &mut impl Medium) -> bool {
        false
    }
}

#[expect(
    clippy::inline_always,
    reason = "once or twice a packet; a call costs a fiftieth of it, that of `take` a quarter"
)]
impl Line for RoceNic {
    #[inline(always)]
    fn departure(&self, now: Instant) -> Option<Instant> {
        self.next_departure(now)
    }

    #[inline(always)]
    fn send(&mut self, spec: &NicSpec, now: Instant, medium: &mut impl Medium) {
        self.depart(spec, now, medium);
    }

    #[inline(always)]
    fn timer(&self) -> Option<Instant> {
        self.next_timer()
    }

    #[inline(always)]
    fn take(&mut self, spec: &NicSpec, packet: &Packet, medium: &mut impl Medium) -> bool {
        self.receive_fast(spec, packet, medium)
    }
}

impl Line for UltraEthernetNic {
    fn departure(&self, now: Instant) -> Option<Instant> {
        self.next_departure(now)
    }

    fn send(&mut self, _: &NicSpec, now: Instant, medium: &mut impl Medium) {
        self.depart(now, medium);
    }

    fn timer(&self) -> Option<Instant> {
        self.next_timer()
    }
}

impl Line for MultiPlaneNic {
    fn departure(&self, now: Instant) -> Option<Instant> {
        self.next_departure(now)
    }

    fn send(&mut self, spec: &NicSpec, now: Instant, medium: &mut impl Medium) {
        self.depart(spec, now, medium);
    }

    fn timer(&self) -> Option<Instant> {
        self.next_timer()
    }
}

/// Runs a NIC until `end`, a timer, or a packet that needs the driver, and returns that instant.
#[expect(
    clippy::inline_always,
    reason = "once for each NIC; what it knows of the arrivals is in registers then"
)]
#[inline(always)]
fn run<'p, I: Iterator<Item = (&'p Packet, u16)>>(
    line: &mut impl Line,
    spec: &NicSpec,
    mut now: Instant,
    end: RunEnd,
    arrivals: &mut Arrivals<'p, I>,
    medium: &mut impl Medium,
) -> Instant {
    loop {
        let departure = line.departure(now).unwrap_or(Instant::NEVER);
        let timer = line.timer().unwrap_or(Instant::NEVER).min(end.alarm);
        let own = departure.min(timer);
        // Strictly before `own`: at equal times departures come before arrivals.
        while let Some((packet, _)) = arrivals.next
            && packet.at < own
            && line.take(spec, packet, medium)
        {
            // A packet that changes nothing else is taken ahead of the clock: neither departure nor
            // timer moves, so neither has to be computed again.
            arrivals.next = arrivals.rest.next();
        }
        now = own.min(arrivals.next_at());
        if now >= end.visit || departure != now {
            return now;
        }
        line.send(spec, now, medium);
    }
}

impl Nic {
    /// Sends frames from `now` on and takes packets that change nothing else. Stops at `end`, at a
    /// timer, or at a packet that may change more, and returns that instant. Departures come before
    /// all other events at the same instant.
    #[inline]
    pub fn run<'p, I: Iterator<Item = (&'p Packet, u16)>>(
        &mut self,
        spec: &NicSpec,
        now: Instant,
        end: RunEnd,
        arrivals: &mut Arrivals<'p, I>,
        medium: &mut impl Medium,
    ) -> Instant {
        match self {
            Nic::Roce(nic) => run(nic, spec, now, end, arrivals, medium),
            Nic::UltraEthernet(nic) => run(&mut **nic, spec, now, end, arrivals, medium),
            Nic::MultiPlane(nic) => run(&mut **nic, spec, now, end, arrivals, medium),
        }
    }
}
