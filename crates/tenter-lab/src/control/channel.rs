//! Authenticated frames over TCP: only holders of the secret can write one, and each frame is
//! accepted once and in order.
//!
//! ```text
//!   coordinator                               agent
//!     version, nonce ────────────────────────▶
//!     ◀──────────────── nonce, code of both nonces      the agent has the secret
//!     code of both nonces ───────────────────▶          the coordinator has it
//!     ◀═══════ length, message, code of (counter, message) ═══════▶
//! ```
//!
//! Each direction has its own key, derived from the secret and both nonces. A frame from another
//! session, direction or position therefore carries a code that does not match.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::messages::PROTOCOL_VERSION;
use super::secret::{Key, MAC_BYTES, Secret, SecretError, random};

const NONCE_BYTES: usize = 32;
/// First bytes in a greeting: the program's name and [`PROTOCOL_VERSION`].
const GREETING: [u8; 8] = [b't', b'e', b'n', b't', b'e', b'r', PROTOCOL_VERSION, 0];
/// Time limit for a whole greeting, so that a peer without the secret cannot hold a connection by
/// sending one byte at a time.
const GREETING_TIME: Duration = Duration::from_secs(3);
/// Longest frame in bytes. Scenarios and records need about a hundredth of it.
const FRAME_MAX: usize = 64 << 20;

/// Reason why a channel can no longer be used.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The connection failed, or the other end was silent for too long.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// The other end does not run this Tenter version.
    #[error(
        "the other end speaks another protocol: install the same version of Tenter on all hosts"
    )]
    Protocol,
    /// The other end closed the connection before it answered the greeting. It has not checked this
    /// end's secret, so the secret may well be right.
    #[error(
        "the other end closed the connection before it answered: more connections greet it at once than it has places for (something may be holding them; try again in some seconds), or it is another version of Tenter"
    )]
    Unanswered,
    /// The other end lacks the secret, or somebody changed, repeated or left out a frame.
    #[error(
        "the other end does not have the secret of this lab, or someone between changed a frame"
    )]
    NotAuthentic,
    /// A frame is too long, or its content is not a message.
    #[error("a frame is no message: {0}")]
    Message(String),
    /// The system gave no random bytes for a nonce.
    #[error(transparent)]
    Secret(#[from] SecretError),
}

/// The end of a channel that reads.
pub(crate) struct Reader {
    stream: TcpStream,
    key: Key,
    counter: u64,
}

/// The end of a channel that writes.
pub(crate) struct Writer {
    stream: TcpStream,
    key: Key,
    counter: u64,
}

// Labels that keep the codes apart: without them, an agent's proof could be sent back to it as the
// coordinator's.
const TO_AGENT: &[u8] = b"to agent";
const TO_COORDINATOR: &[u8] = b"to coordinator";
const AGENT: &[u8] = b"agent";
const COORDINATOR: &[u8] = b"coordinator";

/// Greets an agent: proves that this end has the secret, and checks the agent's proof.
///
/// # Errors
/// Returns an error if the agent does not answer in time or lacks the secret.
pub(crate) fn connect(
    mut stream: TcpStream,
    secret: &Secret,
) -> Result<(Reader, Writer), ChannelError> {
    let until = begin(&stream, GREETING_TIME)?;
    let own = random::<NONCE_BYTES>()?;
    // If the agent has already closed the connection, the write may fail instead of the read.
    stream.write_all(&GREETING).map_err(unanswered)?;
    stream.write_all(&own).map_err(unanswered)?;
    let mut answer = [0; NONCE_BYTES + MAC_BYTES];
    read_until(&mut stream, &mut answer, until).map_err(unanswered)?;
    let (other, code) = answer.split_at(NONCE_BYTES);
    if !secret.fits(&[AGENT, &own, other], code) {
        return Err(ChannelError::NotAuthentic);
    }
    stream.write_all(&secret.code(&[COORDINATOR, &own, other]))?;
    let to_agent = secret.key(&[TO_AGENT, &own, other]);
    let to_coordinator = secret.key(&[TO_COORDINATOR, &own, other]);
    ends(stream, to_coordinator, to_agent)
}

/// Answers a coordinator's greeting.
///
/// # Errors
/// Returns an error if the coordinator does not complete its greeting in time or lacks the secret.
pub(crate) fn accept(stream: TcpStream, secret: &Secret) -> Result<(Reader, Writer), ChannelError> {
    accept_within(stream, secret, GREETING_TIME)
}

fn accept_within(
    mut stream: TcpStream,
    secret: &Secret,
    time: Duration,
) -> Result<(Reader, Writer), ChannelError> {
    let until = begin(&stream, time)?;
    let mut greeting = [0; GREETING.len() + NONCE_BYTES];
    read_until(&mut stream, &mut greeting, until)?;
    let (start, other) = greeting.split_at(GREETING.len());
    if start != GREETING {
        return Err(ChannelError::Protocol);
    }
    // Both sides put a random number into the codes, so a recorded greeting opens no second
    // connection.
    let own = random::<NONCE_BYTES>()?;
    stream.write_all(&own)?;
    stream.write_all(&secret.code(&[AGENT, other, &own]))?;
    let mut code = [0; MAC_BYTES];
    read_until(&mut stream, &mut code, until).map_err(left)?;
    if !secret.fits(&[COORDINATOR, other, &own], &code) {
        return Err(ChannelError::NotAuthentic);
    }
    // Each direction has a key of its own: a message cannot be sent back to where it came from.
    let to_agent = secret.key(&[TO_AGENT, other, &own]);
    let to_coordinator = secret.key(&[TO_COORDINATOR, other, &own]);
    ends(stream, to_agent, to_coordinator)
}

/// Maps an error after the agent's proof: a coordinator that hangs up then has rejected the proof.
fn left(error: io::Error) -> ChannelError {
    if is_end(&error) {
        ChannelError::NotAuthentic
    } else {
        ChannelError::Io(error)
    }
}

/// Maps an error before the agent's proof: the agent proves itself first, so one that hangs up has
/// not yet checked this end's secret.
fn unanswered(error: io::Error) -> ChannelError {
    if is_end(&error) {
        ChannelError::Unanswered
    } else {
        ChannelError::Io(error)
    }
}

fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof
    )
}

/// Prepares a stream for a greeting, and returns the instant by which the greeting must end.
fn begin(stream: &TcpStream, time: Duration) -> io::Result<Instant> {
    // Pings measure clocks, and orders must arrive ahead of a start: neither may wait for more
    // data.
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(time))?;
    Ok(Instant::now() + time)
}

/// Fills `bytes` by the instant `until`, even if they come one at a time.
///
/// A read timeout alone would start anew with each byte.
fn read_until(stream: &mut TcpStream, mut bytes: &mut [u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => bytes = &mut bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn ends(stream: TcpStream, read: Key, write: Key) -> Result<(Reader, Writer), ChannelError> {
    stream.set_read_timeout(Some(GREETING_TIME))?;
    let reader = Reader {
        stream: stream.try_clone()?,
        key: read,
        counter: 0,
    };
    let writer = Writer {
        stream,
        key: write,
        counter: 0,
    };
    Ok((reader, writer))
}

impl Reader {
    /// Makes [`Reader::read`] fail if the other end is silent for `time`.
    ///
    /// # Errors
    /// Returns an error if the connection has failed.
    pub(crate) fn wait_at_most(&self, time: Duration) -> Result<(), ChannelError> {
        Ok(self.stream.set_read_timeout(Some(time))?)
    }

    /// Returns the next message.
    ///
    /// # Errors
    /// Returns an error if no frame comes in time, or if one is too long, not authentic or not a
    /// `T`.
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> Result<T, ChannelError> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length) as usize;
        // The length is used before its frame can be checked, so it has a limit.
        if length > FRAME_MAX {
            return Err(ChannelError::Message(format!(
                "{length} bytes are too many"
            )));
        }
        // Memory grows with the bytes that arrive, not with the length that an unproved frame
        // claims.
        let mut text = Vec::new();
        let mut limited = (&mut self.stream).take(length as u64);
        limited.read_to_end(&mut text)?;
        if text.len() != length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let mut code = [0; MAC_BYTES];
        self.stream.read_exact(&mut code)?;
        if !self.key.fits(&[&self.counter.to_be_bytes(), &text], &code) {
            return Err(ChannelError::NotAuthentic);
        }
        self.counter += 1;
        serde_json::from_slice(&text).map_err(|error| ChannelError::Message(error.to_string()))
    }
}

impl Writer {
    /// Sends `message` as one frame.
    ///
    /// # Errors
    /// Returns an error if the connection has failed, or if the other end does not read in time.
    pub(crate) fn write<T: Serialize>(&mut self, message: &T) -> Result<(), ChannelError> {
        let text = serde_json::to_vec(message)
            .map_err(|error| ChannelError::Message(error.to_string()))?;
        if text.len() > FRAME_MAX {
            return Err(ChannelError::Message(format!(
                "{} bytes are too many",
                text.len()
            )));
        }
        let code = self.key.code(&[&self.counter.to_be_bytes(), &text]);
        self.counter += 1;
        let mut frame = Vec::with_capacity(4 + text.len() + MAC_BYTES);
        frame.extend((text.len() as u32).to_be_bytes());
        frame.extend(text);
        frame.extend(code);
        Ok(self.stream.write_all(&frame)?)
    }

    /// Closes the connection for both ends; this end's [`Reader`] fails, too.
    pub(crate) fn close(&self) {
        // The connection may have ended already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    fn pair(coordinator: &str, agent: &str) -> [Result<(Reader, Writer), ChannelError>; 2] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let agent = Secret::of(agent);
        let accepting = thread::spawn(move || {
            let (stream, _) = listener.accept().expect("a peer");
            accept(stream, &agent)
        });
        let stream = TcpStream::connect(address).expect("a listener");
        let connected = connect(stream, &Secret::of(coordinator));
        [connected, accepting.join().expect("no panic")]
    }

    #[test]
    fn holders_of_the_secret_understand_each_other() {
        let [coordinator, agent] = pair("a shared secret", "a shared secret");
        let (mut coordinator, mut agent) = (coordinator.expect("greeted"), agent.expect("greeted"));
        for number in 0..3_u32 {
            coordinator.1.write(&number).expect("sent");
            assert_eq!(agent.0.read::<u32>().expect("read"), number);
            agent.1.write(&format!("got {number}")).expect("sent");
            assert_eq!(
                coordinator.0.read::<String>().expect("read"),
                format!("got {number}")
            );
        }
    }

    #[test]
    fn others_get_nowhere() {
        let [coordinator, agent] = pair("a wrong secret", "a shared secret");
        assert!(matches!(coordinator, Err(ChannelError::NotAuthentic)));
        assert!(agent.is_err());
    }

    #[test]
    fn a_greeting_ends_as_a_whole() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let began = Instant::now();
        let dripping = thread::spawn(move || {
            let mut stream = TcpStream::connect(address).expect("a listener");
            // Each byte comes well before a time-out of single reads.
            for byte in GREETING.iter().chain(&[0; NONCE_BYTES]) {
                if stream.write_all(&[*byte]).is_err() {
                    break;
                }
                thread::sleep(Duration::from_millis(100));
            }
        });
        let (stream, _) = listener.accept().expect("a peer");
        let secret = Secret::of("a shared secret");
        let accepted = accept_within(stream, &secret, Duration::from_millis(300));
        assert!(matches!(accepted, Err(ChannelError::Io(_))));
        assert!(
            began.elapsed() < Duration::from_secs(3),
            "40 bytes take 4 s"
        );
        dripping.join().expect("no panic");
    }

    #[test]
    fn an_end_without_a_place_is_not_one_without_the_secret() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let closing = thread::spawn(move || drop(listener.accept().expect("a peer")));
        let stream = TcpStream::connect(address).expect("a listener");
        let connected = connect(stream, &Secret::of("a shared secret"));
        closing.join().expect("no panic");
        let Err(error) = connected else {
            panic!("nobody has answered");
        };
        assert!(matches!(error, ChannelError::Unanswered), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn a_frame_counts_once_and_in_its_place() {
        let [coordinator, agent] = pair("a shared secret", "a shared secret");
        let (mut coordinator, mut agent) = (coordinator.expect("greeted"), agent.expect("greeted"));
        coordinator.1.write(&"start").expect("sent");
        assert_eq!(agent.0.read::<String>().expect("read"), "start");
        // The same frame again, as someone who has recorded it would send it.
        coordinator.1.counter = 0;
        coordinator.1.write(&"start").expect("sent");
        assert!(matches!(
            agent.0.read::<String>(),
            Err(ChannelError::NotAuthentic)
        ));
    }

    #[test]
    fn a_changed_frame_is_refused() {
        let [coordinator, agent] = pair("a shared secret", "a shared secret");
        let (mut coordinator, mut agent) = (coordinator.expect("greeted"), agent.expect("greeted"));
        let mut frame = 5_u32.to_be_bytes().to_vec();
        frame.extend(b"\"abc\"");
        frame.extend([0; MAC_BYTES]);
        coordinator.1.stream.write_all(&frame).expect("sent");
        assert!(matches!(
            agent.0.read::<String>(),
            Err(ChannelError::NotAuthentic)
        ));
        let long = u32::MAX.to_be_bytes();
        coordinator.1.stream.write_all(&long).expect("sent");
        assert!(matches!(
            agent.0.read::<String>(),
            Err(ChannelError::Message(_))
        ));
    }
}
