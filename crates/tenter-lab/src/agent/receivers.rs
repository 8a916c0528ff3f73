//! Receiving sockets, opened while the agent is still root: only root may give a socket a larger
//! receive buffer than the system's limit.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use rustix::net::sockopt;

use crate::wire::ROCE_PORT;

/// Receive buffer in bytes, so that datagrams wait while the agent is late.
const RECEIVE_BUFFER: usize = 16 << 20;

/// Receiving sockets at the `RoCEv2` UDP port, by local address.
#[derive(Debug, Default)]
pub(super) struct Receivers(BTreeMap<Ipv4Addr, UdpSocket>);

impl Receivers {
    /// Opens a socket at each of `addresses` that this machine has.
    pub(super) fn open(addresses: &BTreeSet<Ipv4Addr>) -> Receivers {
        // Most addresses belong to other machines; binding to those fails.
        let found = addresses.iter().filter_map(|&address| {
            let socket = open(address).ok()?;
            Some((address, socket))
        });
        Receivers(found.collect())
    }

    /// Returns the socket at `address`, emptied of earlier datagrams; opens it if there is none
    /// yet.
    ///
    /// # Errors
    /// Returns an error if the socket cannot be opened.
    pub(super) fn at(&self, address: Ipv4Addr) -> io::Result<UdpSocket> {
        let Some(socket) = self.0.get(&address) else {
            return open(address);
        };
        let mut room = [0; 1];
        // What an earlier trial left behind would only be refused. The socket does not block, so
        // the loop ends with an error once it is empty.
        while socket.recv(&mut room).is_ok() {}
        socket.try_clone()
    }
}

fn open(address: Ipv4Addr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(SocketAddrV4::new(address, ROCE_PORT))?;
    socket.set_nonblocking(true)?;
    // Switches' marks are in the type-of-service byte of each datagram.
    sockopt::set_ip_recvtos(&socket, true)?;
    let forced = sockopt::set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER);
    if forced.is_err() {
        // Without root the system grants less. Then a late agent loses packets, which are sent
        // again.
        let _ = sockopt::set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER);
    }
    Ok(socket)
}
