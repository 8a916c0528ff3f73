//! How a trial's data gets from host to host.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;

use tenter_net::Packet;
use tenter_plan::Plan;
use tenter_sim::real_time::{Departure, RealHost};
use tenter_topology::HostId;
use tenter_units::Instant;

use super::rdma::{Attributes, RdmaBuild, RdmaPath, open};
use super::receivers::Receivers;
use super::udp_path::UdpPath;
use crate::control::{Offer, Opening};
use crate::data_path_kind::DataPathKind;

/// A data path.
pub(super) enum DataPath {
    /// Packets by UDP.
    Udp(Box<UdpPath>),
    /// Messages by RDMA hardware.
    Rdma(Box<RdmaPath>),
}

impl DataPath {
    /// The path of an opening.
    ///
    /// # Errors
    /// Why it cannot be, as a sentence.
    pub(super) fn new(
        opening: &Opening,
        plan: &Plan,
        receivers: &Receivers,
        host: &RealHost,
    ) -> Result<DataPath, String> {
        if opening.data_path == DataPathKind::Udp {
            let path = UdpPath::new(opening, plan, receivers, host)?;
            return Ok(DataPath::Udp(Box::new(path)));
        }
        let id = HostId::new(opening.host);
        let address = Ipv4Addr::from(opening.addresses[id.index()]);
        let slots: Vec<_> = host.ways().iter().map(|way| way.own).collect();
        let attributes = Attributes {
            mtu_bytes: plan.nic.mtu_bytes,
            message_bytes: plan.nic.message_bytes,
            traffic_class: plan.addresses[id].dscp << 2,
        };
        let device = open(address, &slots, &attributes)?;
        Ok(DataPath::Rdma(Box::new(RdmaPath::new(RdmaBuild {
            device,
            host: id,
            ways: host.ways(),
            cut: plan.nic.cut(),
        }))))
    }

    /// What peers must know before anything can be sent; none if that is nothing.
    pub(super) fn offers(&self) -> Option<Vec<Offer>> {
        match self {
            DataPath::Udp(_) => None,
            DataPath::Rdma(path) => Some(path.offers()),
        }
    }

    /// Takes what peers have offered.
    ///
    /// # Errors
    /// Why that does not do, as a sentence.
    pub(super) fn connect(&mut self, offers: &[Offer]) -> Result<(), String> {
        match self {
            DataPath::Udp(_) => Ok(()),
            DataPath::Rdma(path) => offers.iter().try_for_each(|offer| path.connect(offer)),
        }
    }

    /// Takes what has come; how much of it was refused.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        host: &RealHost,
        arrivals: &mut Vec<Packet>,
    ) -> Result<u64, String> {
        match self {
            DataPath::Udp(path) => path.receive(now, host, arrivals),
            DataPath::Rdma(path) => path.receive(now, host, arrivals),
        }
    }

    /// Hands over what is due; whether all of it was taken.
    pub(super) fn send(
        &mut self,
        now: Instant,
        outgoing: &mut VecDeque<Departure>,
    ) -> Result<bool, String> {
        match self {
            DataPath::Udp(path) => path.send(now, outgoing),
            DataPath::Rdma(path) => {
                for departure in outgoing.drain(..) {
                    path.depart(&departure)?;
                }
                Ok(true)
            }
        }
    }

    /// What to wait for until something comes; none where one has to look.
    pub(super) fn waits(&self) -> Option<BorrowedFd<'_>> {
        match self {
            DataPath::Udp(path) => Some(path.waits()),
            DataPath::Rdma(_) => None,
        }
    }

    /// Payload bytes that were compared, and packets whose payload was wrong.
    pub(super) fn compared(&self) -> (u64, u64) {
        match self {
            DataPath::Udp(path) => (path.codec.verified_bytes, path.codec.corrupt),
            DataPath::Rdma(_) => (0, 0),
        }
    }

    /// The hosts to which the path itself has given up sending.
    pub(super) fn given_up(&self) -> Vec<(HostId, Instant)> {
        match self {
            DataPath::Udp(_) => Vec::new(),
            DataPath::Rdma(path) => path.given_up().collect(),
        }
    }
}
