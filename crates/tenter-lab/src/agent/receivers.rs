//! Sockets that receive, opened while the agent still has its privileges: only these may have more
//! room than the system gives to everyone.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use rustix::net::sockopt;

use crate::wire::ROCE_PORT;

/// Bytes that wait for an agent that is late.
const RECEIVE_BUFFER: usize = 16 << 20;

/// Sockets at the port of `RoCEv2`, by address.
#[derive(Debug, Default)]
pub(super) struct Receivers(BTreeMap<Ipv4Addr, UdpSocket>);

impl Receivers {
    /// Opens one at each of the addresses that this machine has.
    pub(super) fn open(addresses: &BTreeSet<Ipv4Addr>) -> Receivers {
        // Most addresses of a lab are those of other machines.
        let found = addresses.iter().filter_map(|&address| {
            let socket = open(address).ok()?;
            Some((address, socket))
        });
        Receivers(found.collect())
    }

    /// The one at an address, opened now if it is not known; nothing that came before waits in it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn at(&self, address: Ipv4Addr) -> io::Result<UdpSocket> {
        let Some(socket) = self.0.get(&address) else {
            return open(address);
        };
        let mut room = [0; 1];
        // It does not block: the last one fails.
        while socket.recv(&mut room).is_ok() {}
        socket.try_clone()
    }
}

fn open(address: Ipv4Addr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(SocketAddrV4::new(address, ROCE_PORT))?;
    socket.set_nonblocking(true)?;
    sockopt::set_ip_recvtos(&socket, true)?;
    let forced = sockopt::set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER);
    if forced.is_err() {
        // The system grants less, which loses packets when the agent is late, and is no error.
        let _ = sockopt::set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER);
    }
    Ok(socket)
}
