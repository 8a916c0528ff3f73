//! What a NIC does without its ranks, packet by packet: it sends, and takes what changes nothing
//! else. Which NIC it is, is asked once for all of that.

use tenter_net::{Medium, Packet};
use tenter_units::Instant;

use super::{MultiPlaneNic, Nic};
use crate::roce::RoceNic;
use crate::spec::NicSpec;
use crate::ultra_ethernet::UltraEthernetNic;

/// Packets that have come to a NIC, in the order of time, each with its input.
///
/// A `Peekable` would do, at 0.2 to 0.4 % more instructions of a whole run.
#[derive(Debug)]
pub struct Arrivals<'p, I> {
    rest: I,
    next: Option<(&'p Packet, u16)>,
}

impl<'p, I: Iterator<Item = (&'p Packet, u16)>> Arrivals<'p, I> {
    /// Those that an iterator gives.
    #[inline]
    pub fn new(mut rest: I) -> Arrivals<'p, I> {
        let next = rest.next();
        Arrivals { rest, next }
    }

    /// When the next one arrives.
    #[inline]
    fn next_at(&self) -> Instant {
        self.next.map_or(Instant::NEVER, |(packet, _)| packet.at)
    }

    /// Takes out the next one, if it arrives at `now`.
    #[inline]
    pub fn take(&mut self, now: Instant) -> Option<(&'p Packet, u16)> {
        let due = self.next.filter(|(packet, _)| packet.at == now)?;
        self.next = self.rest.next();
        Some(due)
    }
}

/// Until when a NIC goes on by itself.
#[derive(Clone, Copy, Debug)]
pub struct RunEnd {
    /// When its host has something else to do.
    pub alarm: Instant,
    /// When the visit ends.
    pub visit: Instant,
}

/// What each NIC does packet by packet.
trait Line {
    fn departure(&self, now: Instant) -> Option<Instant>;

    fn send(&mut self, spec: &NicSpec, now: Instant, medium: &mut impl Medium);

    /// When the next timer fires.
    fn timer(&self) -> Option<Instant>;

    /// Takes a packet that changes neither when the NIC next sends nor when a timer fires; whether
    /// it is one. If it is none, nothing happens. By default none is.
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
        while let Some((packet, _)) = arrivals.next
            && packet.at < own
            && line.take(spec, packet, medium)
        {
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
    /// Sends what is ready from `now` on, and takes packets that change nothing else, until `end`,
    /// a timer, or a packet that may change more; departures come before all else that happens at
    /// the same instant. Returns when that is.
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
