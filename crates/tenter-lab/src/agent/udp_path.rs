//! The data path by UDP: codec and sockets.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;

use tenter_fabric::net::Packet;
use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;
use tenter_sim::plan::Plan;
use tenter_sim::real_time::{Departure, RealHost};

use super::codec::{Codec, CodecBuild};
use super::receivers::Receivers;
use super::sockets::{Batch, CUT_MAX, Sockets};
use crate::control::Opening;

/// Packets that are due within this time, in ps, leave at once: a wait would end later.
pub(super) const EARLY_PS: u64 = 10_000_000;

/// A trial's data path by UDP.
pub(super) struct UdpPath {
    pub(super) codec: Codec,
    sockets: Sockets,
    batch: Batch,
}

impl UdpPath {
    /// Opens the sockets that `opening` needs.
    ///
    /// # Errors
    /// Returns a sentence that says why a socket cannot be opened.
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

    /// Appends received packets to `arrivals`, and returns how many datagrams were refused.
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

    /// Sends all packets whose last bit has left the NIC by now, and returns true if the system
    /// took all of them.
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
            // The kernel takes one type of service and one socket per call.
            if !self.batch.takes(port, type_of_service) && !self.flush()? {
                return Ok(false);
            }
            let Some(next) = outgoing.pop_front() else {
                break;
            };
            let room = self.batch.room();
            // The place among the pieces is known only when the length is, and the ICRC depends on
            // it.
            let outgoing = self.codec.encode(&next, now, room);
            let (nth, room) = self.batch.add(&outgoing);
            Codec::seal(&outgoing, nth, room);
        }
        self.flush()
    }

    /// Sends the batch, and returns false if some datagrams have to be offered again.
    fn flush(&mut self) -> Result<bool, String> {
        while self.batch.len() > 0 {
            let sent = self.sockets.send(&mut self.batch);
            if sent.map_err(|error| format!("cannot send: {error}"))? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the receiving socket's descriptor.
    pub(super) fn waits(&self) -> BorrowedFd<'_> {
        self.sockets.waits()
    }
}
