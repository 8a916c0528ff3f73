//! Places for peers that are greeting an agent.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};

/// The greatest number of peers that greet at once.
const PLACES: usize = 16;

/// The peers that are greeting, the oldest first. A greeting takes some milliseconds, so when all
/// places are taken the oldest peer loses its: peers that hold places without greeting keep nobody
/// out.
#[derive(Debug, Default)]
pub(super) struct Places(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    taken: VecDeque<(u64, TcpStream)>,
    next: u64,
}

impl Places {
    /// Takes a place for a peer; its number.
    ///
    /// # Errors
    /// When the process has no descriptor left for it.
    pub(super) fn take(&self, stream: &TcpStream) -> io::Result<u64> {
        let own = stream.try_clone()?;
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.taken.len() >= PLACES
            && let Some((_, oldest)) = inner.taken.pop_front()
        {
            // It may have left already.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        let number = inner.next;
        inner.next += 1;
        inner.taken.push_back((number, own));
        Ok(number)
    }

    /// Gives a place back.
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
