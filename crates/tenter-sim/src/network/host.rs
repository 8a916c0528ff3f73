//! A host: a NIC, and the ranks that post transfers to it.

mod carried;
mod operations;
mod steady;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tenter_endpoint::{Delivery, Nic, RxContext, SendPeer, WorkRequest};
use tenter_engine::Stream;
use tenter_fabric::net::{Medium, Packet, PacketKind};
use tenter_language::units::{Instant, Time};
use tenter_workload::flow_workload::Sender;
use tenter_workload::graph::News;
use tenter_workload::{Countdown, Destination, JobId, RankReceiveSlot, Transfer, split};

use super::context::Context;
use super::jobs::RankHere;
use super::operation_runs::OperationRuns;
use super::partition_records::{FlowKey, PartitionRecords, Posted};
use super::queue_pair_id::QueuePairId;
use super::scale_up_port::ScaleUpPort;
use super::schedules::{Peers, Schedules};

/// An event for which a host waits; the variants' order is that of events at the same instant. The
/// first number is a rank's or an NPU's on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// A rank starts its job's collective.
    Start(u16),
    /// A rank may post a transfer (the second number).
    Release(u16, u32),
    /// The NPU's first transfer into the scale-up domain has been sent entirely.
    Carried(u16),
    /// The end of the NPU's first transfer under way in the domain arrives.
    Confirmed(u16),
    /// A flow in a rank's open loop arrives.
    Arrive(u16),
    /// An operation (the second number) in a rank's graph has had its time on its stream.
    Operation(u16, u32),
}

/// Most messages of a stream that wait in a queue pair. More could not be sent any sooner, and
/// would fill the memory if nothing is sent any more.
const STREAM_BACKLOG_MAX: usize = 4_096;

/// Reason why a stream's queue pairs take no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Full {
    /// Too many messages wait; there will be room later.
    ForNow,
    /// All queue pairs have given up.
    ForEver,
}

/// A host with its NIC, its ranks' timers and their state.
#[derive(Debug)]
pub struct Host {
    pub(crate) nic: Nic,
    /// Timers for ranks and NPUs, earliest first; the NIC has its own.
    timers: BinaryHeap<Reverse<(Instant, Timer)>>,
    /// Ranks that have not started their collective yet, with their start times.
    not_started: Vec<(u16, Instant)>,
    /// Arrivals for which each transfer still waits, by (rank's number on this host, transfer).
    waiting: Countdown<(u16, u32)>,
    /// A random stream for each rank, from which start delays are drawn; empty unless starts are
    /// skewed.
    start_skew: Box<[Stream]>,
    /// State of the ranks that run an open loop of flows.
    open_loops: Vec<OpenLoop>,
    /// State of the ranks that run an operation graph.
    operations: OperationRuns,
    /// Transfers under way within the scale-up domain, by NPU; allocated at the first one.
    pub(crate) scale_up: Box<[ScaleUpPort]>,
}

/// A rank's open loop of flows.
#[derive(Debug)]
struct OpenLoop {
    /// The rank's number on this host.
    number: u16,
    /// Time at which the loop started.
    start: Instant,
    sender: Sender,
    /// The flow that arrives next.
    next: u32,
}

/// The environment that a host needs while it handles an event.
pub(crate) struct HostScope<'a> {
    pub(crate) context: &'a Context,
    pub(crate) schedules: &'a Schedules,
    pub(crate) partition_records: &'a mut PartitionRecords,
}

impl<'a> HostScope<'a> {
    fn peers(&self) -> Peers<'a> {
        Peers {
            context: self.context,
            schedules: self.schedules,
        }
    }
}

impl Host {
    pub(crate) fn new(nic: Nic, start_skew: Box<[Stream]>) -> Host {
        Host {
            nic,
            timers: BinaryHeap::new(),
            not_started: Vec::new(),
            waiting: Countdown::default(),
            start_skew,
            open_loops: Vec::new(),
            operations: OperationRuns::default(),
            scale_up: Box::default(),
        }
    }

    /// Returns the host's NIC, with its ranks' queue pairs.
    pub(crate) fn nic(&self) -> &Nic {
        &self.nic
    }

    /// Schedules the start of the collective that begins at `now` for the ranks of `job` on this
    /// host. Returns the earliest start, or `None` if there is no such rank.
    pub(crate) fn start(&mut self, context: &Context, job: JobId, now: Instant) -> Option<Instant> {
        let skew_max = context.nic.start_skew_max.ps();
        let begin = now + context.host_delays.start_up + context.host_delays.step;
        let mut first: Option<Instant> = None;
        for (number, here) in context.ranks_on(self.nic.host()).iter().enumerate() {
            if here.job != job {
                continue;
            }
            let skew = self
                .start_skew
                .get_mut(number)
                .map_or(0, |stream| stream.below(skew_max + 1));
            let start = begin + Time::from_ps(skew);
            self.timers
                .push(Reverse((start, Timer::Start(number as u16))));
            // Kept beside the timers: what arrives before the start must wait for it.
            self.not_started.push((number as u16, start));
            first = Some(first.map_or(start, |first| first.min(start)));
        }
        first
    }

    /// Discards the state that a job's last collective left, so that the next one counts anew.
    pub(crate) fn reset(&mut self, context: &Context, job: JobId) {
        let ranks = context.ranks_on(self.nic.host());
        // At flow level NICs have no queue pairs.
        let on_slots = ranks.iter().filter(|_| context.has_packets());
        for here in on_slots.filter(|here| here.job == job) {
            let slots = context.jobs[job].pairs.receive_count(here.rank);
            self.nic.reset_delivered(here.receive_base, slots);
        }
        self.waiting
            .forget(|(number, _)| ranks[usize::from(*number)].job == job);
        // A late rank with nothing to send may not have started when the collective ended.
        self.not_started
            .retain(|(number, _)| ranks[usize::from(*number)].job != job);
        self.timers.retain(|Reverse((_, timer))| match timer {
            Timer::Start(number)
            | Timer::Release(number, _)
            | Timer::Arrive(number)
            | Timer::Operation(number, _) => ranks[usize::from(*number)].job != job,
            Timer::Carried(_) | Timer::Confirmed(_) => true,
        });
        self.operations
            .forget(job, |number| ranks[usize::from(number)].job == job);
    }

    /// Returns when the next frame can leave, given that it is `now`.
    #[inline]
    pub fn next_departure(&self, now: Instant) -> Option<Instant> {
        self.nic.next_departure(now)
    }

    /// Returns when a rank or NPU has its next timer; [`Instant::NEVER`] if none has.
    #[inline]
    pub(crate) fn alarm(&self) -> Instant {
        let first = self.timers.peek();
        first.map_or(Instant::NEVER, |&Reverse((at, _))| at)
    }

    /// Returns when the next timer fires, be it a rank's, an NPU's or the NIC's.
    pub fn next_timer(&self) -> Option<Instant> {
        let nic = self.nic.next_timer().unwrap_or(Instant::NEVER);
        let next = self.alarm().min(nic);
        (!next.is_never()).then_some(next)
    }

    #[inline]
    pub(crate) fn arrive(
        &mut self,
        packet: &Packet,
        input: u16,
        scope: &mut HostScope<'_>,
        medium: &mut impl Medium,
    ) {
        if packet.kind == PacketKind::ScaleUp {
            self.take_carried(packet, scope);
            return;
        }
        let mut cx = RxContext {
            spec: &scope.context.nic,
            directory: &scope.peers(),
            medium,
            done: &mut scope.partition_records.done,
        };
        let delivery = self.nic.arrive(packet, input, &mut cx);
        self.book(delivery, scope);
    }

    /// Records the messages that the NIC has just completed, and does what follows from them.
    #[inline]
    fn book(&mut self, delivery: Option<Delivery>, scope: &mut HostScope<'_>) {
        if let Some(delivery) = delivery {
            self.deliver(&delivery, scope);
            while let Some(delivery) = self.nic.next_delivery() {
                self.deliver(&delivery, scope);
            }
        } else if !scope.partition_records.done.is_empty() {
            self.go_on_after_acknowledgements(scope);
            scope.partition_records.book_done();
        }
    }

    /// Fires the first timer that is due at `now`; the workload's timers precede the NIC's.
    #[inline(never)]
    pub(crate) fn fire(
        &mut self,
        now: Instant,
        scope: &mut HostScope<'_>,
        medium: &mut impl Medium,
    ) {
        match self.timers.peek() {
            Some(&Reverse((at, timer))) if at <= now => {
                self.timers.pop();
                match timer {
                    Timer::Start(number) => {
                        self.not_started.retain(|(other, _)| *other != number);
                        self.post_initial(number, now, scope);
                    }
                    Timer::Release(number, id) => self.post(number, id, now, scope),
                    Timer::Carried(npu) => self.send_carried(npu, now, scope, medium),
                    Timer::Confirmed(npu) => self.confirm_carried(npu, now, scope),
                    Timer::Arrive(number) => self.flow_arrives(number, now, scope),
                    Timer::Operation(number, of) => self.hear(number, News::Woken(of), now, scope),
                }
            }
            _ => {
                let mut cx = RxContext {
                    spec: &scope.context.nic,
                    directory: &scope.peers(),
                    medium,
                    done: &mut scope.partition_records.done,
                };
                let delivery = self.nic.fire(now, &mut cx);
                self.book(delivery, scope);
            }
        }
    }

    /// Posts the transfers with which a rank starts its collective.
    fn post_initial(&mut self, number: u16, now: Instant, scope: &HostScope<'_>) {
        let RankHere { job, rank, .. } =
            scope.context.ranks_on(self.nic.host())[usize::from(number)];
        let mut ids = Vec::new();
        let schedule = scope.schedules.of(job);
        if schedule.operations().is_some() {
            return self.hear(number, News::Start, now, scope);
        }
        let flows = schedule.flow_workload();
        if let Some(flows) = flows.filter(|flows| flows.workload().is_open()) {
            if flows.sends(rank.number()) {
                self.open_loops.push(OpenLoop {
                    number,
                    start: now,
                    sender: Sender::default(),
                    next: 0,
                });
                self.plan_arrival(self.open_loops.len() - 1, now, scope);
            }
            return;
        }
        schedule.initial(rank.number(), &mut ids);
        for id in ids {
            let flows = schedule.flow_workload();
            if flows.is_some_and(|flows| !flows.may_start(scope.context.elapsed(job, now))) {
                // The slot's time is over before it began, so its work counts as done.
                scope.context.progress.arrived(job, now);
            } else {
                let wait = Self::wait(job, id, scope);
                self.post_after(number, id, wait, now, scope);
            }
        }
    }

    /// Returns how long a released transfer waits. The communication library states a minimum
    /// latency for it, which faster links must not undercut.
    fn wait(job: JobId, id: u32, scope: &HostScope<'_>) -> Time {
        let Some(least_latency) = scope.context.jobs[job].least_latency else {
            return Time::ZERO;
        };
        let schedule = scope.schedules.of(job);
        let latency = schedule.latency(id);
        if latency.is_zero() {
            return Time::ZERO;
        }
        let is_carried = scope.context.is_carried(job, &schedule.transfer(id));
        let domain = scope.context.scale_up.filter(|_| is_carried);
        let own = domain.map_or(least_latency, |domain| domain.latency);
        // The library's latency includes that of the path, which passes anyway.
        latency.saturating_sub(own)
    }

    /// Posts a transfer at once, or after `wait`.
    fn post_after(
        &mut self,
        number: u16,
        id: u32,
        wait: Time,
        now: Instant,
        scope: &HostScope<'_>,
    ) {
        if wait.is_zero() {
            self.post(number, id, now, scope);
        } else {
            self.set_timer(now + wait, Timer::Release(number, id));
        }
    }

    /// Posts a transfer, into the scale-up domain or split over the queue pairs of its path, and
    /// schedules the transfer that follows regardless of arrivals. If a stream's queue pairs are
    /// full, the message is tried again one interval later; once they have given up, the stream
    /// ends.
    fn post(&mut self, number: u16, id: u32, now: Instant, scope: &HostScope<'_>) {
        let context = scope.context;
        let here = context.ranks_on(self.nic.host())[usize::from(number)];
        let transfer = scope.schedules.of(here.job).transfer(id);
        // Only messages of a stream have a follower, so only streams are held back.
        let follows = scope.schedules.of(here.job).followed_by(id);
        if context.is_carried(here.job, &transfer) {
            self.carry(number, id, now, scope);
        } else if let Some((_, wait)) = follows
            && let Some(full) = self.is_backed_up(here, &transfer, context)
        {
            if full == Full::ForNow {
                self.set_timer(now + wait, Timer::Release(number, id));
            }
            return;
        } else {
            self.post_to_nic(here, id, &transfer, now, scope);
        }
        if let Some((next, wait)) = follows {
            self.set_timer(now + wait, Timer::Release(number, next));
        }
    }

    /// Returns why a stream's queue pairs take no message, or `None` if they do.
    fn is_backed_up(&self, here: RankHere, transfer: &Transfer, context: &Context) -> Option<Full> {
        let plan = &context.jobs[here.job];
        let first = plan.pairs.find_for(transfer)?;
        let first = plan.places[here.rank].send_slot(first.send);
        let mut slots = first.run(u32::from(plan.job.queue_pairs));
        if slots.clone().all(|slot| self.nic.has_given_up(slot)) {
            return Some(Full::ForEver);
        }
        // A message takes all queue pairs of its path, so a single full one holds it back.
        let full = |slot| self.nic.unfinished_count(slot) >= STREAM_BACKLOG_MAX;
        slots.any(full).then_some(Full::ForNow)
    }

    /// Returns true if a timer is set here for a rank in `job`, or for the scale-up domain.
    pub(crate) fn has_timers_of(&self, context: &Context, job: JobId) -> bool {
        let ranks = context.ranks_on(self.nic.host());
        self.timers.iter().any(|Reverse((_, timer))| match timer {
            Timer::Start(number)
            | Timer::Release(number, _)
            | Timer::Arrive(number)
            | Timer::Operation(number, _) => ranks[usize::from(*number)].job == job,
            Timer::Carried(_) | Timer::Confirmed(_) => true,
        })
    }

    pub(crate) fn set_timer(&mut self, at: Instant, timer: Timer) {
        self.timers.push(Reverse((at, timer)));
    }

    /// Posts a transfer to its queue pairs.
    fn post_to_nic(
        &mut self,
        here: RankHere,
        id: u32,
        transfer: &Transfer,
        now: Instant,
        scope: &HostScope<'_>,
    ) {
        let context = scope.context;
        let plan = &context.jobs[here.job];
        let first = plan
            .pairs
            .find_for(transfer)
            .expect("every way of a schedule has queue pairs");
        let queue_pairs = plan.job.queue_pairs;
        if let Some(posted) = &scope.partition_records.posted {
            posted.borrow_mut().push(Posted {
                job: here.job,
                rank: here.rank,
                first: first.send,
                transfer: id,
                at: now,
            });
            return;
        }
        for index in 0..queue_pairs {
            let send = first.send.after(u32::from(index));
            let send = plan.places[here.rank].send_slot(send);
            // A queue pair gets its state when it is first used: most pairs of ranks never talk.
            if !self.nic.is_open(send) {
                let peer = peer(context, here.job, transfer, first.receive, index);
                let class = context.data_class(here.job, self.nic.host());
                self.nic.open(&context.nic, send, peer, class, now);
            }
            let key = FlowKey {
                job: here.job,
                queue_pair: index,
                transfer: id,
            };
            let request = WorkRequest {
                tag: key.pack(),
                group: scope.schedules.turn(here.job),
                bytes: split::share(transfer.bytes, queue_pairs, index),
                posted: now,
            };
            self.nic.post(&context.nic, send, request);
        }
    }

    /// Handles a delivery: a queue pair has received its share of a transfer.
    #[inline(never)]
    fn deliver(&mut self, delivery: &Delivery, scope: &mut HostScope<'_>) {
        let (number, here) = scope.context.rank_of_slot(self.nic.host(), delivery.slot);
        let plan = &scope.context.jobs[here.job];
        let slot = here.own_receive_slot(delivery.slot);
        let source = plan.pairs.source_of(here.rank, slot);
        let way = Destination {
            dst: here.rank.number(),
            lane: source.lane,
        };
        let schedule = scope.schedules.of(here.job);
        let id = schedule
            .nth(
                source.rank.number(),
                way,
                plan.job.queue_pair_scope,
                delivery.nth,
            )
            .expect("what arrives has been posted");
        let key = FlowKey {
            job: here.job,
            queue_pair: source.queue_pair,
            transfer: id,
        };
        let turn = scope.schedules.turn(here.job);
        scope.partition_records.delivered(key, turn, delivery);
        scope
            .partition_records
            .marked(key, turn, self.nic.take_marks(delivery.slot));
        // A transfer is complete once each of its queue pairs has delivered more than `nth` shares.
        let whole = delivery
            .slot
            .before(u32::from(source.queue_pair))
            .run(u32::from(plan.job.queue_pairs))
            .all(|slot| self.nic.delivered(slot) > delivery.nth);
        if whole {
            self.transfer_arrived(number, here.job, id, delivery.at, scope);
        }
    }

    /// Handles the arrival of a transfer's last share at a rank on this host.
    pub(crate) fn transfer_arrived(
        &mut self,
        number: u16,
        job: JobId,
        id: u32,
        now: Instant,
        scope: &mut HostScope<'_>,
    ) {
        // In a flow workload the acknowledgement, not the arrival, releases the next flow.
        if scope.context.jobs[job].flow_workload().is_none() {
            self.release(number, id, now, scope);
            scope.context.progress.arrived(job, now);
        }
    }

    /// Posts the transfers that have waited for `id`, or sets a timer for the time at which they
    /// may be posted.
    pub(crate) fn release(
        &mut self,
        number: u16,
        id: u32,
        now: Instant,
        scope: &mut HostScope<'_>,
    ) {
        let job = scope.context.ranks_on(self.nic.host())[usize::from(number)].job;
        let schedule = scope.schedules.of(job);
        if schedule.operations().is_some() {
            return self.hear(number, News::Arrived(id), now, scope);
        }
        // Taken out while the loop runs, because posting borrows the scope.
        let mut released = std::mem::take(&mut scope.partition_records.released);
        released.clear();
        schedule.released_by(id, &mut released);
        let step = scope.context.host_delays.step;
        for &next in &released {
            let dependencies = schedule.dependencies(next);
            if !self.waiting.is_last((number, next), dependencies) {
                continue;
            }
            let wait = Self::wait(job, next, scope);
            let start = self.not_started.iter().find(|(late, _)| *late == number);
            match start {
                None if step + wait == Time::ZERO => self.post(number, next, now, scope),
                // A rank passes nothing on before it has started; at equal times the start timer
                // comes first.
                _ => {
                    let at = (now + step).max(start.map_or(Instant::START, |&(_, at)| at)) + wait;
                    self.timers
                        .push(Reverse((at, Timer::Release(number, next))));
                }
            }
        }
        scope.partition_records.released = released;
    }

    /// Handles the acknowledgements in `done`.
    #[inline(never)]
    fn go_on_after_acknowledgements(&mut self, scope: &HostScope<'_>) {
        for done in &scope.partition_records.done {
            let FlowKey { job, transfer, .. } = FlowKey::unpack(done.request.tag);
            self.share_acknowledged(job, transfer, done.request.posted, done.at, scope);
        }
    }

    /// Handles an acknowledged share of a transfer: it advances flow workloads and operation
    /// graphs, but not collectives.
    pub(crate) fn share_acknowledged(
        &mut self,
        job: JobId,
        id: u32,
        posted: Instant,
        now: Instant,
        scope: &HostScope<'_>,
    ) {
        let plan = &scope.context.jobs[job];
        if plan.flow_workload().is_some() {
            self.flow_is_over(job, id, now, scope);
        } else if plan.has_operations() {
            self.message_acknowledged(job, id, posted, now, scope);
        }
    }

    /// Posts the flow that an open loop has scheduled for now, and schedules the next.
    fn flow_arrives(&mut self, number: u16, now: Instant, scope: &HostScope<'_>) {
        let mut loops = self.open_loops.iter();
        let Some(index) = loops.position(|open| open.number == number) else {
            return;
        };
        let job = scope.context.ranks_on(self.nic.host())[usize::from(number)].job;
        scope.context.progress.started(job);
        self.post(number, self.open_loops[index].next, now, scope);
        self.plan_arrival(index, now, scope);
    }

    /// Schedules the next arrival of an open loop, or reports the loop's end.
    fn plan_arrival(&mut self, index: usize, now: Instant, scope: &HostScope<'_>) {
        let open = &mut self.open_loops[index];
        let number = open.number;
        let here = scope.context.ranks_on(self.nic.host())[usize::from(number)];
        let flows = scope.schedules.of(here.job).flow_workload();
        let next = flows.and_then(|flows| flows.next_arrival(here.rank.number(), &mut open.sender));
        match next {
            Some((after, id)) => {
                open.next = id;
                // Arrivals count from the loop's start, so delays do not add up.
                let at = open.start.saturating_add(after);
                self.set_timer(at, Timer::Arrive(number));
            }
            None => scope.context.progress.arrived(here.job, now),
        }
    }

    /// Starts the next flow in the slot of flow `id`, or reports that the slot is finished.
    pub(crate) fn flow_is_over(
        &mut self,
        job: JobId,
        id: u32,
        now: Instant,
        scope: &HostScope<'_>,
    ) {
        let context = scope.context;
        let Some(flows) = scope.schedules.of(job).flow_workload() else {
            return;
        };
        let sender = scope.schedules.of(job).transfer(id).sender();
        let number = context.number_of(self.nic.host(), job, sender);
        let start = now + context.host_delays.step;
        let next = flows.next_in_slot(id, context.elapsed(job, start));
        match (next, number) {
            (Some(next), Some(number)) if start == now => {
                self.post(number, next, start, scope);
            }
            (Some(next), Some(number)) => {
                self.set_timer(start, Timer::Release(number, next));
            }
            _ => context.progress.arrived(job, now),
        }
    }
}

/// Returns the other end of queue pair number `queue_pair` for a transfer; `first` is the first of
/// these queue pairs there.
fn peer(
    context: &Context,
    job: JobId,
    transfer: &Transfer,
    first: RankReceiveSlot,
    queue_pair: u16,
) -> SendPeer {
    let plan = &context.jobs[job];
    let destination = plan.job.hosts[transfer.receiver()];
    let lane = transfer.way(plan.job.queue_pair_scope).lane;
    let slot = first.after(u32::from(queue_pair));
    SendPeer {
        destination,
        slot: plan.places[transfer.receiver()].receive_slot(slot),
        hash: context.hash(QueuePairId::of(job, transfer, lane, queue_pair)),
    }
}
