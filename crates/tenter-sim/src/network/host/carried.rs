//! Transfers within a scale-up domain, between NPUs of a host, which pass no NIC.
//!
//! An NPU sends its transfers into the domain one after the other, at the domain's rate. Each end
//! arrives at the other NPU a latency later; receivers never limit it.

use tenter_endpoint::{Acknowledged, Delivery, HeldByRate, WorkRequest};
use tenter_fabric::net::{Medium, Packet, ReceiveSlot, ScaleUpEnd, SendSlot};
use tenter_language::units::Instant;
use tenter_workload::JobId;

use super::super::partition_records::FlowKey;
use super::super::scale_up_port::{Carried, ScaleUpPort};
use super::{Host, HostScope, Timer};

impl Host {
    /// Queues a transfer for the domain.
    pub(crate) fn carry(&mut self, number: u16, id: u32, now: Instant, scope: &HostScope<'_>) {
        let context = scope.context;
        let Some(domain) = context.scale_up else {
            return;
        };
        let here = context.ranks_on(self.nic.host())[usize::from(number)];
        let schedule = scope.schedules.of(here.job);
        let (bytes, pace) = (schedule.transfer(id).bytes, schedule.pace(id));
        // Most hosts carry nothing within their domain, so ports are made when the first transfer
        // needs one.
        if self.scale_up.is_empty() {
            let ports = (0..context.npus_per_nic).map(|_| ScaleUpPort::default());
            self.scale_up = ports.collect();
        }
        let port = &mut self.scale_up[usize::from(here.npu)];
        // A port sends one transfer after the other.
        let start = now.max(port.free_at);
        port.free_at = start.saturating_add(domain.time_of(bytes, pace));
        port.sending.push_back(Carried {
            number,
            id,
            posted: now,
            first_sent: start,
        });
        let end = port.free_at;
        self.set_timer(end, Timer::Carried(here.npu));
    }

    /// Sends the end of the NPU's first transfer into the domain at `now`.
    pub(crate) fn send_carried(
        &mut self,
        npu: u16,
        now: Instant,
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
        let to = context.jobs[job].job.hosts[transfer.receiver()];
        let at = now + domain.latency;
        let end = ScaleUpEnd {
            job: job.number(),
            transfer: carried.id,
        };
        // Only the end travels as a packet; the bytes before it have passed at the domain's rate.
        let packet = end.packet(to, at);
        medium.send(context.domain_output(from, to, domain), at, &packet);
        // The domain has no acknowledgements: the sender knows of the arrival when it happens.
        self.set_timer(at, Timer::Confirmed(npu));
    }

    /// Handles the end of a transfer, which arrives through the domain.
    pub(crate) fn take_carried(&mut self, packet: &Packet, scope: &mut HostScope<'_>) {
        let context = scope.context;
        let ScaleUpEnd { job, transfer: id } = ScaleUpEnd::of(packet);
        let job = JobId::new(job);
        let receiver = scope.schedules.of(job).transfer(id).receiver();
        let number = context.number_of(self.nic.host(), job, receiver);
        let number = number.expect("it was sent to a rank here");
        let turn = scope.schedules.turn(job);
        for queue_pair in 0..context.jobs[job].job.queue_pairs {
            let key = FlowKey {
                job,
                queue_pair,
                transfer: id,
            };
            // No frames pass a NIC, so the rows of these flows have times only.
            let delivery = Delivery {
                slot: ReceiveSlot::default(),
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
        // In a flow workload the acknowledgement releases the next flow.
        if context.jobs[job].flow_workload().is_some() {
            return;
        }
        self.release(number, id, packet.at, scope);
        context.progress.arrived(job, packet.at);
    }

    /// Handles the arrival of the end of the NPU's first transfer under way, which counts as its
    /// acknowledgement.
    pub(crate) fn confirm_carried(&mut self, npu: u16, now: Instant, scope: &mut HostScope<'_>) {
        let Some(port) = self.scale_up.get_mut(usize::from(npu)) else {
            return;
        };
        let Some(carried) = port.under_way.pop_front() else {
            return;
        };
        let context = scope.context;
        let job = context.ranks_on(self.nic.host())[usize::from(carried.number)].job;
        let group = scope.schedules.turn(job);
        for queue_pair in 0..context.jobs[job].job.queue_pairs {
            let key = FlowKey {
                job,
                queue_pair,
                transfer: carried.id,
            };
            scope.partition_records.acknowledged(&Acknowledged {
                // No NIC has sent frames of these flows.
                held: HeldByRate::default(),
                slot: SendSlot::default(),
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
            self.share_acknowledged(job, carried.id, carried.posted, now, scope);
        }
    }
}
