//! Limit on the peers that greet an agent at the same time.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};

/// Most peers that greet at once.
const PLACES: usize = 16;

/// The connections that are still greeting, oldest first.
///
/// A greeting takes some milliseconds. If all places are taken, the oldest connection is closed, so
/// peers that hold places without greeting cannot keep the coordinator out.
#[derive(Debug, Default)]
pub(super) struct Places(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Each peer's number and connection.
    taken: VecDeque<(u64, TcpStream)>,
    next: u64,
}

impl Places {
    /// Gives a new connection a place, and returns the place's number.
    ///
    /// # Errors
    /// Returns an error if the process has no file descriptor left for a copy of `stream`.
    pub(super) fn take(&self, stream: &TcpStream) -> io::Result<u64> {
        let own = stream.try_clone()?;
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.taken.len() >= PLACES
            && let Some((_, oldest)) = inner.taken.pop_front()
        {
            // The peer may have left already.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        let number = inner.next;
        inner.next += 1;
        inner.taken.push_back((number, own));
        Ok(number)
    }

    /// Frees a place; one that a newer peer has taken over is gone already.
    pub(super) fn leave(&self, number: u64) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.taken.retain(|(taken, _)| *taken != number);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::{PLACES, Places};
    use std::net::TcpStream;

    #[test]
    fn a_new_peer_takes_the_place_of_the_oldest() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let places = Places::default();
        let mut peers = Vec::new();
        for _ in 0..=PLACES {
            let peer = TcpStream::connect(address).expect("a listener");
            let (stream, _) = listener.accept().expect("a peer");
            let number = places.take(&stream).expect("a place");
            peers.push((peer, stream, number));
        }
        let (oldest, ..) = &mut peers[0];
        assert_eq!(oldest.read(&mut [0]).expect("its end"), 0);
        let (second, ..) = &mut peers[1];
        second.set_nonblocking(true).expect("a stream");
        second.read(&mut [0]).expect_err("it has its place");
        for (_, _, number) in &peers {
            places.leave(*number);
        }
        assert_eq!(places.0.lock().expect("no panic").taken.len(), 0);
    }
}
