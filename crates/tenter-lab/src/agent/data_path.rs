//! The data path: how a trial's data gets from host to host.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;

use tenter_fabric::net::Packet;
use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;
use tenter_sim::plan::Plan;
use tenter_sim::real_time::{Departure, RealHost};

use super::rdma::{Attributes, RdmaBuild, RdmaPath, open};
use super::receivers::Receivers;
use super::udp_path::UdpPath;
use crate::control::{Offer, Opening};
use crate::data_path_kind::DataPathKind;

/// A trial's data path at one host.
pub(super) enum DataPath {
    /// Packets by UDP, made by the agent.
    Udp(Box<UdpPath>),
    /// Messages as RDMA writes, carried by hardware.
    Rdma(Box<RdmaPath>),
}

impl DataPath {
    /// Opens the data path that `opening` asks for.
    ///
    /// # Errors
    /// Returns a sentence that says why it cannot be opened.
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

    /// Returns the connection data for this host's peers; `None` if peers need none.
    pub(super) fn offers(&self) -> Option<Vec<Offer>> {
        match self {
            DataPath::Udp(_) => None,
            DataPath::Rdma(path) => Some(path.offers()),
        }
    }

    /// Connects queue pairs to the ends that peers have offered.
    ///
    /// # Errors
    /// Returns a sentence that says why an offer cannot be used.
    pub(super) fn connect(&mut self, offers: &[Offer]) -> Result<(), String> {
        match self {
            DataPath::Udp(_) => Ok(()),
            DataPath::Rdma(path) => offers.iter().try_for_each(|offer| path.connect(offer)),
        }
    }

    /// Appends the packets that have arrived to `arrivals`, and returns how many datagrams or
    /// completions were refused.
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

    /// Sends the departures that are due at `now`, and returns true if everything due was taken.
    /// The rest stays in `outgoing`.
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
                // Completions tell the model what happened; nothing waits here.
                Ok(true)
            }
        }
    }

    /// Returns the descriptor that becomes readable when something arrives; `None` if the path has
    /// to be polled.
    pub(super) fn waits(&self) -> Option<BorrowedFd<'_>> {
        match self {
            DataPath::Udp(path) => Some(path.waits()),
            DataPath::Rdma(_) => None,
        }
    }

    /// Returns the payload bytes that were verified, and the packets whose payload was wrong.
    pub(super) fn compared(&self) -> (u64, u64) {
        match self {
            DataPath::Udp(path) => (path.codec.verified_bytes, path.codec.corrupt),
            // Hardware writes no pattern, so there is nothing to compare.
            DataPath::Rdma(_) => (0, 0),
        }
    }

    /// Returns the hosts to which hardware has given up sending, with the instants. By UDP the
    /// model itself gives up; [`RealHost::given_up`] has those.
    pub(super) fn given_up(&self) -> Vec<(HostId, Instant)> {
        match self {
            DataPath::Udp(_) => Vec::new(),
            DataPath::Rdma(path) => path.given_up().collect(),
        }
    }
}
