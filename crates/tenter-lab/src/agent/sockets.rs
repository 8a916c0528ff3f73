//! A trial's sockets: one receives, and each UDP source port has one that sends.

use std::collections::BTreeMap;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::sockopt::UdpGroSegment;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, sendmmsg,
    setsockopt,
};
use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery};

use super::codec::{Incoming, Outgoing};
use crate::wire::ROCE_PORT;

/// Most datagrams per system call.
pub(super) const BATCH: usize = 64;
/// Send buffer in bytes; the system may grant less.
const SEND_BUFFER: usize = 8 << 20;

/// All sockets that a trial uses at this host.
pub(super) struct Sockets {
    address: Ipv4Addr,
    receive: UdpSocket,
    /// Sending sockets by source port, opened when first used.
    send: BTreeMap<u16, UdpSocket>,
    received: MultiHeaders<SockaddrIn>,
    sent: MultiHeaders<SockaddrIn>,
    /// Buffers for one receiving call, one for each datagram.
    rooms: Vec<Vec<u8>>,
    /// True if the kernel joins a flow's received datagrams (UDP GRO).
    joins: bool,
}

/// Most datagrams that the kernel cuts from one: as many of 4 KiB of payload as fit into 64 KiB.
pub(super) const CUT_MAX: u16 = 15;
/// Longest datagram, in bytes, that is handed to the kernel for cutting.
const LONGEST: usize = 65_000;
/// Datagrams per receiving call when the kernel joins them: each buffer is then 64 KiB.
const LONG_BATCH: usize = 8;

/// Datagrams with the same source port and type of service, collected for one system call.
pub(super) struct Batch {
    /// Most datagrams in a run that the kernel gets as one; 1 without segmentation.
    cut: u16,
    source_port: u16,
    type_of_service: u8,
    /// Buffers for [`BATCH`] datagrams; `filled` describes the first ones.
    rooms: Vec<Vec<u8>>,
    filled: Vec<Filled>,
}

/// A datagram in the batch.
#[derive(Clone, Copy)]
struct Filled {
    length: usize,
    destination: u32,
    /// Index among the pieces that the kernel cuts from one datagram.
    nth: u16,
}

impl Batch {
    pub(super) fn new(longest: usize, cut: u16) -> Batch {
        Batch {
            cut,
            source_port: 0,
            type_of_service: 0,
            rooms: vec![vec![0; longest]; BATCH],
            filled: Vec::with_capacity(BATCH),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.filled.len()
    }

    /// Returns true if a datagram with these values fits into the batch.
    pub(super) fn takes(&self, source_port: u16, type_of_service: u8) -> bool {
        let is_same = (self.source_port, self.type_of_service) == (source_port, type_of_service);
        self.filled.is_empty() || (is_same && self.filled.len() < BATCH)
    }

    /// Returns the buffer for the next datagram.
    pub(super) fn room(&mut self) -> &mut [u8] {
        &mut self.rooms[self.filled.len()]
    }

    /// Adds the datagram in [`Batch::room`], which lacks only its ICRC. Returns its index among the
    /// pieces that the kernel cuts from one, and its buffer.
    pub(super) fn add(&mut self, outgoing: &Outgoing) -> (u16, &mut [u8]) {
        let (length, destination) = (outgoing.length, outgoing.flow.destination);
        self.source_port = outgoing.flow.source_port;
        self.type_of_service = outgoing.type_of_service;
        let nth = self.place(length, destination);
        let room = self.filled.len();
        self.filled.push(Filled {
            length,
            destination,
            nth,
        });
        (nth, &mut self.rooms[room])
    }

    /// Returns the index of the next datagram in its run: one more than the last one's if both can
    /// be pieces of one datagram, otherwise 0.
    ///
    /// The kernel cuts equal pieces; only the last may be shorter.
    fn place(&self, length: usize, destination: u32) -> u16 {
        let Some(last) = self.filled.last() else {
            return 0;
        };
        let first = self.filled[self.filled.len() - 1 - usize::from(last.nth)];
        let next = last.nth + 1;
        let follows = last.destination == destination
            && last.length == first.length
            && length <= last.length
            && next < self.cut
            && usize::from(next + 1) * first.length <= LONGEST;
        if follows { next } else { 0 }
    }

    /// Returns the piece length and the lengths of the runs that one system call can send.
    ///
    /// One control message states the piece length for all runs of a call, so runs with another
    /// length wait for the next call.
    fn runs(&self) -> (usize, Vec<usize>) {
        let mut runs: Vec<usize> = Vec::new();
        let size = self.filled.first().map_or(0, |first| first.length);
        for (place, filled) in self.filled.iter().enumerate() {
            if filled.nth > 0 {
                if let Some(run) = runs.last_mut() {
                    *run += 1;
                }
                continue;
            }
            let next = self.filled.get(place + 1);
            // A single datagram shorter than the piece length is not cut, so it may come along.
            let is_alone = next.is_none_or(|next| next.nth == 0);
            if filled.length != size && !(is_alone && filled.length < size) {
                break;
            }
            runs.push(1);
        }
        (size, runs)
    }
}

impl Sockets {
    /// Makes the sockets of a trial on `address`. Datagrams have at most `longest` bytes; with
    /// `joins` the kernel joins received ones if it can.
    pub(super) fn new(
        address: Ipv4Addr,
        receive: UdpSocket,
        longest: usize,
        joins: bool,
    ) -> Sockets {
        let controls = if joins {
            cmsg_space!(u8, u16)
        } else {
            cmsg_space!(u8)
        };
        let joins = setsockopt(&receive, UdpGroSegment, &joins).is_ok() && joins;
        // One byte more than allowed, so that a datagram that is too long does not pass as a whole
        // one.
        let (rooms, bytes) = if joins {
            (LONG_BATCH, usize::from(u16::MAX))
        } else {
            (BATCH, longest + 1)
        };
        Sockets {
            address,
            receive,
            send: BTreeMap::new(),
            received: MultiHeaders::preallocate(BATCH, Some(cmsg_space!(u8))),
            sent: MultiHeaders::preallocate(BATCH, Some(controls)),
            rooms: vec![vec![0; bytes]; rooms],
            joins,
        }
    }

    /// Returns the receiving socket's descriptor.
    pub(super) fn waits(&self) -> BorrowedFd<'_> {
        self.receive.as_fd()
    }

    /// Passes received datagrams to `take`, at most one system call's worth, and returns their
    /// number as the kernel counts them: joined ones are one.
    pub(super) fn receive(&mut self, mut take: impl FnMut(&Incoming<'_>)) -> io::Result<usize> {
        let mut slices: Vec<[IoSliceMut<'_>; 1]> = self
            .rooms
            .iter_mut()
            .map(|room| [IoSliceMut::new(room)])
            .collect();
        if self.joins {
            // The headers keep the control-message length of the previous call, which may be too
            // short for this one.
            let controls = Some(cmsg_space!(u8, i32));
            self.received = MultiHeaders::preallocate(LONG_BATCH, controls);
        }
        let answer = recvmmsg(
            self.receive.as_raw_fd(),
            &mut self.received,
            slices.iter_mut(),
            MsgFlags::MSG_DONTWAIT,
            None,
        );
        let messages = match answer {
            Ok(messages) => messages,
            // ICMP reported that the receiver of an earlier datagram was not listening; nothing has
            // arrived.
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNREFUSED) => return Ok(0),
            Err(error) => return Err(error.into()),
        };
        let mut count = 0;
        for message in messages {
            count += 1;
            let (mut tos, mut size) = (0, 0);
            if let Ok(controls) = message.cmsgs() {
                for control in controls {
                    match control {
                        ControlMessageOwned::Ipv4Tos(found) => tos = found,
                        ControlMessageOwned::UdpGroSegments(found) => size = found.max(0) as usize,
                        _ => {}
                    }
                }
            }
            let (Some(address), Some(bytes)) = (message.address, message.iovs().next()) else {
                continue;
            };
            // Without a joined size, the message is one datagram.
            let size = if size == 0 { bytes.len().max(1) } else { size };
            for bytes in bytes.chunks(size) {
                take(&Incoming {
                    bytes,
                    source: u32::from(address.ip()),
                    source_port: address.port(),
                    type_of_service: tos,
                });
            }
        }
        Ok(count)
    }

    /// Sends the first datagrams of `batch` by one system call, and returns how many left the
    /// batch. The others stay in it.
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
        let (size, runs) = batch.runs();
        let size = size as u16;
        let mut slices: Vec<Vec<IoSlice<'_>>> = Vec::with_capacity(runs.len());
        let mut addresses: Vec<Option<SockaddrIn>> = Vec::with_capacity(runs.len());
        let mut filled = batch.filled.iter().zip(&batch.rooms);
        for &run in &runs {
            let run: Vec<_> = filled.by_ref().take(run).collect();
            let first = run.first().map_or(0, |(first, _)| first.destination);
            addresses.push(Some(
                SocketAddrV4::new(Ipv4Addr::from(first), ROCE_PORT).into(),
            ));
            let of = run
                .iter()
                .map(|(filled, room)| IoSlice::new(&room[..filled.length]));
            slices.push(of.collect());
        }
        let with_size = [
            ControlMessage::Ipv4Tos(&batch.type_of_service),
            ControlMessage::UdpGsoSegments(&size),
        ];
        let controls = if batch.cut > 1 {
            &with_size[..]
        } else {
            &with_size[..1]
        };
        let answer = sendmmsg(
            socket.as_raw_fd(),
            &mut self.sent,
            slices.iter(),
            &addresses,
            controls,
            MsgFlags::MSG_DONTWAIT,
        );
        let sent = match answer {
            Ok(sent) => sent.count(),
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOBUFS) => 0,
            // Either ICMP reports an earlier failure, or the link is down. Like a NIC, the agent
            // drops this run and goes on; the transport sends again.
            Err(
                Errno::ECONNREFUSED
                | Errno::ENETUNREACH
                | Errno::EHOSTUNREACH
                | Errno::ENETDOWN
                | Errno::EPERM,
            ) => 1,
            Err(error) => return Err(error.into()),
        };
        let sent: usize = runs.iter().take(sent).sum();
        batch.filled.drain(..sent);
        // The free buffers move to the end, so that the unsent ones stay beside their descriptions.
        batch.rooms.rotate_left(sent);
        Ok(sent)
    }
}

fn sender(address: Ipv4Addr, port: u16) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(SocketAddrV4::new(address, port))?;
    socket.set_nonblocking(true)?;
    // The kernel then never fragments, and sets the IPv4 identification to 0, over which the ICRC
    // is computed.
    sockopt::set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE)?;
    set_buffer(SEND_BUFFER, |size| {
        sockopt::set_socket_send_buffer_size(&socket, size)
    });
    Ok(socket)
}

/// Sets a buffer size. The system may grant less, which is slower but no error.
fn set_buffer(size: usize, set: impl Fn(usize) -> rustix::io::Result<()>) {
    let _ = set(size);
}
