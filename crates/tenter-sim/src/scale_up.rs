//! Transfers between the NPUs of a host, which pass its scale-up domain and no NIC.
//!
//! An NPU puts its transfers into the domain one after the other, at its rate; the end of each is
//! at the other NPU a latency later, whatever else arrives there.

use std::collections::VecDeque;

use tenter_endpoint::{Acknowledged, Delivery, WorkRequest};
use tenter_engine::Output;
use tenter_net::{Medium, Packet, PacketKind};
use tenter_units::Time;
use tenter_workload::Transfer;
use tenter_workload::collective::ScaleUp;

use crate::build::Context;
use crate::host::{Host, HostScope, Timer};
use crate::partition_records::FlowKey;

/// What an NPU has under way into its domain.
#[derive(Debug, Default)]
pub(crate) struct ScaleUpPort {
    free_at: u64,
    /// Transfers whose end has not been sent, in the order in which they are.
    sending: VecDeque<Carried>,
    /// Transfers whose end is under way.
    under_way: VecDeque<Carried>,
}

/// A transfer within a domain.
#[derive(Clone, Copy, Debug)]
struct Carried {
    /// The rank's number on its host.
    number: u16,
    id: u32,
    posted: u64,
    first_sent: u64,
}

impl Context {
    /// Whether two NICs belong to NPUs of the same scale-up domain.
    pub(crate) fn is_within_domain(&self, a: u32, b: u32) -> bool {
        self.scale_up
            .is_some_and(|domain| domain.joins_nics(self.npus_per_nic, a, b))
    }

    /// Whether a transfer of a job passes a domain and no NIC.
    pub(crate) fn is_carried(&self, job: usize, transfer: &Transfer) -> bool {
        let hosts = &self.jobs[job].job.hosts;
        let host = |rank: u32| hosts[rank as usize];
        self.is_within_domain(host(transfer.src), host(transfer.dst))
    }

    /// Where the ends of transfers from an NPU of one NIC to one of another of its domain go, or of
    /// the same.
    fn domain_output(&self, from: u32, to: u32, domain: ScaleUp) -> Output {
        let (part, node) = self.home(to);
        let ports = 2 * self.topology.nodes[to as usize].ports.len() as u16;
        let nics = domain.npus_per_host / self.npus_per_nic;
        Output {
            part,
            node,
            input: ports + (from % nics) as u16,
        }
    }
}

impl Host {
    /// Puts a transfer into the domain.
    pub(crate) fn carry(&mut self, number: u16, id: u32, now: u64, scope: &HostScope<'_>) {
        let context = scope.context;
        let Some(domain) = context.scale_up else {
            return;
        };
        let here = context.ranks_on(self.nic.host())[usize::from(number)];
        let bytes = scope.schedules.of(here.job).transfer(id).bytes;
        if self.scale_up.is_empty() {
            let ports = (0..context.npus_per_nic).map(|_| ScaleUpPort::default());
            self.scale_up = ports.collect();
        }
        let port = &mut self.scale_up[usize::from(here.npu)];
        let start = now.max(port.free_at);
        port.free_at = start.saturating_add(domain.time_of(bytes).ps());
        port.sending.push_back(Carried {
            number,
            id,
            posted: now,
            first_sent: start,
        });
        let end = port.free_at;
        self.set_timer(end, Timer::Carried(here.npu));
    }

    /// The end of the first transfer of an NPU goes into the domain at `now`.
    pub(crate) fn send_carried(
        &mut self,
        npu: u16,
        now: u64,
        scope: &HostScope<'_>,
        medium: &mut impl Medium,
    ) {
        let context = scope.context;
        let port = self.scale_up.get_mut(usize::from(npu));
        let (Some(domain), Some(port)) = (context.scale_up, port) else {
            return;
        };
        let Some(carried) = port.sending.pop_front() else {
            return;
        };
        port.under_way.push_back(carried);
        let from = self.nic.host();
        let job = context.ranks_on(from)[usize::from(carried.number)].job;
        let transfer = scope.schedules.of(job).transfer(carried.id);
        let to = context.jobs[usize::from(job)].job.hosts[transfer.dst as usize];
        let at = now + domain.latency.ps();
        let packet = Packet {
            at,
            queue_pair: u32::from(job),
            sequence: carried.id,
            destination: to,
            hash: 0,
            sent: 0,
            frame_bytes: 0,
            kind: PacketKind::ScaleUp,
            flags: 0,
        };
        medium.send(context.domain_output(from, to, domain), at, &packet);
        self.set_timer(at, Timer::Confirmed(npu));
    }

    /// The end of a transfer has come out of the domain.
    pub(crate) fn take_carried(&mut self, packet: &Packet, scope: &mut HostScope<'_>) {
        let context = scope.context;
        let (job, id) = (packet.queue_pair as u16, packet.sequence);
        let receiver = scope.schedules.of(job).transfer(id).dst;
        let number = context.number_of(self.nic.host(), (job, receiver));
        let number = number.expect("it was sent to a rank here");
        let turn = scope.schedules.turn(job);
        for queue_pair in 0..context.jobs[usize::from(job)].job.queue_pairs {
            let key = FlowKey {
                job,
                queue_pair,
                transfer: id,
            };
            let delivery = Delivery {
                slot: 0,
                nth: 0,
                at: packet.at,
                accepted_frames: 0,
                accepted_bytes: 0,
                latency_min: 0,
                latency_max: 0,
                latency_sum: 0,
            };
            scope.partition_records.delivered(key, turn, &delivery);
        }
        // A flow releases another once it is acknowledged.
        if context.jobs[usize::from(job)].flow_workload().is_some() {
            return;
        }
        self.release(number, id, packet.at, scope);
        context.progress.arrived(usize::from(job), packet.at);
    }

    /// The end of the NPU's first transfer that is under way arrives at `now`.
    pub(crate) fn confirm_carried(&mut self, npu: u16, now: u64, scope: &mut HostScope<'_>) {
        let Some(port) = self.scale_up.get_mut(usize::from(npu)) else {
            return;
        };
        let Some(carried) = port.under_way.pop_front() else {
            return;
        };
        let context = scope.context;
        let job = context.ranks_on(self.nic.host())[usize::from(carried.number)].job;
        let group = scope.schedules.turn(job);
        for queue_pair in 0..context.jobs[usize::from(job)].job.queue_pairs {
            let key = FlowKey {
                job,
                queue_pair,
                transfer: carried.id,
            };
            scope.partition_records.acknowledged(&Acknowledged {
                slot: 0,
                request: WorkRequest {
                    tag: key.pack(),
                    group,
                    bytes: 0,
                    posted: carried.posted,
                },
                first_sent: carried.first_sent,
                at: now,
                sent_frames: 0,
                sent_bytes: 0,
                retransmitted_frames: 0,
            });
        }
        if context.jobs[usize::from(job)].flow_workload().is_some() {
            self.flow_is_over((job, carried.id), now, scope);
        }
    }
}

/// The shortest time in which one NPU affects another over their domain.
pub(crate) fn lookahead(context: &Context) -> Option<u64> {
    context
        .scale_up
        .map(|domain| domain.latency.max(Time::from_ps(1)).ps())
}
