//! The sockets of a trial: one that receives, one for each source port that sends.

use std::collections::BTreeMap;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, sendmmsg,
};
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery};

use super::codec::Incoming;
use crate::wire::{ROCE_PORT, UdpFlow};

/// Datagrams that one system call takes.
pub(super) const BATCH: usize = 64;
/// Bytes that wait for the wire; the system may give less.
const SEND_BUFFER: usize = 8 << 20;

/// The sockets of a trial.
pub(super) struct Sockets {
    address: Ipv4Addr,
    receive: UdpSocket,
    send: BTreeMap<u16, UdpSocket>,
    received: MultiHeaders<SockaddrIn>,
    sent: MultiHeaders<SockaddrIn>,
    rooms: Vec<Vec<u8>>,
}

/// Datagrams with the same source port and type of service that leave together.
pub(super) struct Batch {
    source_port: u16,
    type_of_service: u8,
    rooms: Vec<Vec<u8>>,
    filled: Vec<(usize, u32)>,
}

impl Batch {
    pub(super) fn new(longest: usize) -> Batch {
        Batch {
            source_port: 0,
            type_of_service: 0,
            rooms: vec![vec![0; longest]; BATCH],
            filled: Vec::with_capacity(BATCH),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.filled.len()
    }

    /// Whether one more datagram can leave with the others.
    pub(super) fn takes(&self, source_port: u16, type_of_service: u8) -> bool {
        let is_same = (self.source_port, self.type_of_service) == (source_port, type_of_service);
        self.filled.is_empty() || (is_same && self.filled.len() < BATCH)
    }

    /// Room for the next datagram.
    pub(super) fn room(&mut self) -> &mut [u8] {
        &mut self.rooms[self.filled.len()]
    }

    /// The datagram in that room is whole.
    pub(super) fn add(&mut self, length: usize, flow: &UdpFlow, type_of_service: u8) {
        self.source_port = flow.source_port;
        self.type_of_service = type_of_service;
        self.filled.push((length, flow.destination));
    }
}

impl Sockets {
    /// Sockets on an address of this host, one of which receives, for datagrams of so many bytes at
    /// most.
    pub(super) fn new(address: Ipv4Addr, receive: UdpSocket, longest: usize) -> Sockets {
        Sockets {
            address,
            receive,
            send: BTreeMap::new(),
            received: MultiHeaders::preallocate(BATCH, Some(cmsg_space!(u8))),
            sent: MultiHeaders::preallocate(BATCH, Some(cmsg_space!(u8))),
            // One byte more shows those that are too long.
            rooms: vec![vec![0; longest + 1]; BATCH],
        }
    }

    /// The one that receives, to wait for.
    pub(super) fn waits(&self) -> BorrowedFd<'_> {
        self.receive.as_fd()
    }

    /// Hands datagrams that have come to `take`, at most a batch of them; how many.
    pub(super) fn receive(&mut self, mut take: impl FnMut(&Incoming<'_>)) -> io::Result<usize> {
        let mut slices: Vec<[IoSliceMut<'_>; 1]> = self
            .rooms
            .iter_mut()
            .map(|room| [IoSliceMut::new(room)])
            .collect();
        let answer = recvmmsg(
            self.receive.as_raw_fd(),
            &mut self.received,
            slices.iter_mut(),
            MsgFlags::MSG_DONTWAIT,
            None,
        );
        let messages = match answer {
            Ok(messages) => messages,
            // Some peer was not listening, which ICMP told.
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNREFUSED) => return Ok(0),
            Err(error) => return Err(error.into()),
        };
        let mut count = 0;
        for message in messages {
            count += 1;
            let mut tos = 0;
            if let Ok(controls) = message.cmsgs() {
                for control in controls {
                    if let ControlMessageOwned::Ipv4Tos(found) = control {
                        tos = found;
                    }
                }
            }
            let (Some(address), Some(bytes)) = (message.address, message.iovs().next()) else {
                continue;
            };
            take(&Incoming {
                bytes,
                source: u32::from(address.ip()),
                source_port: address.port(),
                type_of_service: tos,
            });
        }
        Ok(count)
    }

    /// Sends the datagrams of a batch, as many of them as the system takes now; keeps the others.
    pub(super) fn send(&mut self, batch: &mut Batch) -> io::Result<usize> {
        if batch.filled.is_empty() {
            return Ok(0);
        }
        let socket = match self.send.entry(batch.source_port) {
            std::collections::btree_map::Entry::Occupied(found) => found.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(sender(self.address, batch.source_port)?)
            }
        };
        let slices: Vec<[IoSlice<'_>; 1]> = batch
            .filled
            .iter()
            .zip(&batch.rooms)
            .map(|(&(length, _), room)| [IoSlice::new(&room[..length])])
            .collect();
        let addresses: Vec<Option<SockaddrIn>> = batch
            .filled
            .iter()
            .map(|&(_, to)| Some(SocketAddrV4::new(Ipv4Addr::from(to), ROCE_PORT).into()))
            .collect();
        let answer = sendmmsg(
            socket.as_raw_fd(),
            &mut self.sent,
            slices.iter(),
            &addresses,
            [ControlMessage::Ipv4Tos(&batch.type_of_service)],
            MsgFlags::MSG_DONTWAIT,
        );
        let sent = match answer {
            Ok(sent) => sent.count(),
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOBUFS) => 0,
            // Told by ICMP of one before, or a link that is down: as a NIC would, it goes on.
            Err(
                Errno::ECONNREFUSED
                | Errno::ENETUNREACH
                | Errno::EHOSTUNREACH
                | Errno::ENETDOWN
                | Errno::EPERM,
            ) => 1,
            Err(error) => return Err(error.into()),
        };
        let sent = sent.min(batch.filled.len());
        batch.filled.drain(..sent);
        batch.rooms.rotate_left(sent);
        Ok(sent)
    }
}

fn sender(address: Ipv4Addr, port: u16) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(SocketAddrV4::new(address, port))?;
    socket.set_nonblocking(true)?;
    // Never a fragment, and so 0 as identification, over which the ICRC is computed.
    sockopt::set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE)?;
    set_buffer(SEND_BUFFER, |size| {
        sockopt::set_socket_send_buffer_size(&socket, size)
    });
    Ok(socket)
}

/// The system may grant less than is asked for, which is slower and no error.
fn set_buffer(size: usize, set: impl Fn(usize) -> rustix::io::Result<()>) {
    let _ = set(size);
}
