//! The data path of packets in user space: codec, sockets, and what waits for them.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;

use tenter_net::Packet;
use tenter_plan::Plan;
use tenter_sim::real_time::{Departure, RealHost};
use tenter_topology::HostId;
use tenter_units::Instant;

use super::codec::{Codec, CodecBuild};
use super::receivers::Receivers;
use super::sockets::{Batch, CUT_MAX, Sockets};
use crate::control::Opening;

/// What is due in less than this leaves now: waiting would take longer.
pub(super) const EARLY_PS: u64 = 10_000_000;

/// Packets by UDP.
pub(super) struct UdpPath {
    pub(super) codec: Codec,
    sockets: Sockets,
    batch: Batch,
}

impl UdpPath {
    /// The path of an opening; its sockets are open.
    ///
    /// # Errors
    /// Why it cannot be, as a sentence.
    pub(super) fn new(
        opening: &Opening,
        plan: &Plan,
        receivers: &Receivers,
        host: &RealHost,
    ) -> Result<UdpPath, String> {
        let id = HostId::new(opening.host);
        let address = Ipv4Addr::from(opening.addresses[id.index()]);
        let cut = if opening.segmentation { CUT_MAX } else { 1 };
        let codec = Codec::new(CodecBuild {
            host: id,
            trial: opening.trial,
            addresses: opening.addresses.clone(),
            ways: host.ways(),
            dscp: plan.addresses[id].dscp,
            control_dscp: plan.nic.control_dscp,
            by_class: plan.jobs.iter().any(|job| job.class.is_some()),
            longest_frame_bytes: plan.nic.longest_frame_bytes(),
            cut_datagrams: cut,
        });
        let longest = codec.longest_datagram();
        let receive = receivers.at(address).map_err(|error| {
            format!("cannot open port 4791 of UDP at {address}: {error}; is another agent there, or RDMA?")
        })?;
        Ok(UdpPath {
            sockets: Sockets::new(address, receive, longest, opening.segmentation),
            batch: Batch::new(longest, cut),
            codec,
        })
    }

    /// Takes what has come; how many datagrams were refused.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        host: &RealHost,
        arrivals: &mut Vec<Packet>,
    ) -> Result<u64, String> {
        let mut refused = 0;
        let codec = &mut self.codec;
        let took = self
            .sockets
            .receive(|incoming| match codec.decode(incoming, now, host) {
                Ok(packet) => arrivals.push(packet),
                Err(_) => refused += 1,
            });
        took.map_err(|error| format!("cannot receive: {error}"))?;
        Ok(refused)
    }

    /// Hands over to the operating system what has left the NIC; whether it has taken all of it.
    pub(super) fn send(
        &mut self,
        now: Instant,
        outgoing: &mut VecDeque<Departure>,
    ) -> Result<bool, String> {
        let until = now.ps() + EARLY_PS;
        while let Some(next) = outgoing.front() {
            if next.end.ps() > until {
                break;
            }
            let type_of_service = self.codec.type_of_service(&next.packet);
            let port = self.codec.source_port(next);
            if !self.batch.takes(port, type_of_service) && !self.flush()? {
                return Ok(false);
            }
            let Some(next) = outgoing.pop_front() else {
                break;
            };
            let room = self.batch.room();
            let outgoing = self.codec.encode(&next, now, room);
            let (nth, room) = self.batch.add(&outgoing);
            Codec::seal(&outgoing, nth, room);
        }
        self.flush()
    }

    /// Sends the batch; whether all of it has left.
    fn flush(&mut self) -> Result<bool, String> {
        while self.batch.len() > 0 {
            let sent = self.sockets.send(&mut self.batch);
            if sent.map_err(|error| format!("cannot send: {error}"))? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The socket that receives, to wait for.
    pub(super) fn waits(&self) -> BorrowedFd<'_> {
        self.sockets.waits()
    }
}
