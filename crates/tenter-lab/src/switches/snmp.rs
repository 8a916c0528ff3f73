//! Counters by SNMP: IF-MIB (RFC 2863), and the pause frames in EtherLike-MIB (RFC 3635).
//!
//! Neither MIB has pause frames by class (PFC); those by link (IEEE 802.3, annex 31B) are read.
//! Drops have 32 bits.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use snmp2::{Oid, SyncSession, Value};
use tenter_sim::real_time::Counter;

use super::keys::SnmpKeys;
use super::snapshot::Snapshot;

/// Columns with interface names: `ifName`, and `ifDescr` for switches without it.
const NAMES: [&[u64]; 2] = [
    &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 1],
    &[1, 3, 6, 1, 2, 1, 2, 2, 1, 2],
];

/// A counter, and the columns whose sum it is.
type Sum = (Counter, &'static [&'static [u64]]);

/// Counters in the order of reading; the last one that a switch has replaces the others.
const SUMS: [Sum; 10] = [
    // ifHCInOctets, ifHCOutOctets
    (Counter::RxBytes, &[&[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6]]),
    (Counter::TxBytes, &[&[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 10]]),
    // ifHCIn and ifHCOut: UcastPkts, MulticastPkts, BroadcastPkts
    (
        Counter::RxFrames,
        &[
            &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 7],
            &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 8],
            &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 9],
        ],
    ),
    (
        Counter::TxFrames,
        &[
            &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 11],
            &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 12],
            &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 13],
        ],
    ),
    // ifInDiscards, ifOutDiscards
    (
        Counter::RxDroppedFrames,
        &[&[1, 3, 6, 1, 2, 1, 2, 2, 1, 13]],
    ),
    (Counter::DroppedFrames, &[&[1, 3, 6, 1, 2, 1, 2, 2, 1, 19]]),
    // dot3InPauseFrames and dot3OutPauseFrames, then their 64-bit forms, which replace them if
    // present.
    (
        Counter::RxPauseFrames,
        &[&[1, 3, 6, 1, 2, 1, 10, 7, 10, 1, 3]],
    ),
    (
        Counter::TxPauseFrames,
        &[&[1, 3, 6, 1, 2, 1, 10, 7, 10, 1, 4]],
    ),
    (
        Counter::RxPauseFrames,
        &[&[1, 3, 6, 1, 2, 1, 10, 7, 10, 1, 5]],
    ),
    (
        Counter::TxPauseFrames,
        &[&[1, 3, 6, 1, 2, 1, 10, 7, 10, 1, 6]],
    ),
];

/// Rows that one request asks for.
const ROWS: u32 = 32;
/// Most interfaces that a switch may show; with more, its agent is taken to repeat itself.
const INTERFACES_MAX: usize = 16_384;
/// Attempts for a request that gets no answer.
const TRIES: usize = 3;
/// Time limit for all requests together, as a multiple of one request's.
const REQUESTS: u32 = 12;

/// Value of a table's cell.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shown {
    /// A 64-bit counter, which never wraps.
    Wide(u64),
    /// A 32-bit counter, which may wrap during a trial.
    Narrow(u32),
    Text(String),
    /// A value with any other type.
    Other,
}

/// Reads the counters of all interfaces.
///
/// # Errors
/// Returns a sentence that says why they could not be read, and what to do.
pub(super) fn read(keys: &SnmpKeys, folder: &Path, timeout: Duration) -> Result<Snapshot, String> {
    let mut agent = Agent {
        open: opener(keys, folder, timeout)?,
        session: None,
        place: format!("SNMP at {}", keys.address),
        until: Instant::now() + timeout * REQUESTS,
    };
    let mut names = BTreeMap::new();
    for column in NAMES {
        for (index, shown) in agent.column(column)? {
            if let Shown::Text(name) = shown {
                names.insert(index, name);
            }
        }
        if !names.is_empty() {
            break;
        }
    }
    if names.is_empty() {
        return Err(format!(
            "{} shows no interfaces; let its view have IF-MIB (1.3.6.1.2.1.2 and 1.3.6.1.2.1.31)",
            agent.place
        ));
    }
    let mut snapshot = Snapshot::default();
    for (counter, columns) in SUMS {
        let cells = columns.iter().map(|column| agent.column(column));
        let cells: Vec<BTreeMap<u64, Shown>> = cells.collect::<Result<_, _>>()?;
        for (index, name) in &names {
            let row: Option<Vec<&Shown>> = cells.iter().map(|column| column.get(index)).collect();
            match row.as_deref() {
                // A 32-bit counter is kept apart: its growth has to allow for a wrap.
                Some([Shown::Narrow(value)]) => snapshot.set_narrow(name, counter, *value),
                Some(row) => {
                    if let Some(sum) = wide_sum(row) {
                        snapshot.set(name, None, counter, sum);
                        // A 64-bit form replaces the 32-bit value, and its wrap.
                        snapshot
                            .0
                            .entry(name.clone())
                            .or_default()
                            .narrow
                            .remove(&counter);
                    }
                }
                None => {}
            }
        }
    }
    Ok(snapshot)
}

fn wide_sum(row: &[&Shown]) -> Option<u64> {
    row.iter().try_fold(0_u64, |sum, cell| match cell {
        Shown::Wide(value) => Some(sum.saturating_add(*value)),
        _ => None,
    })
}

type Opener = Box<dyn Fn() -> Result<SyncSession, String>>;

/// Returns a function that opens sessions with the switch, by version 3 if `keys` name a user.
fn opener(keys: &SnmpKeys, folder: &Path, timeout: Duration) -> Result<Opener, String> {
    let address = keys.address;
    let failed = move |error: std::io::Error| format!("cannot ask {address}: {error}");
    if let Some(user) = &keys.user {
        let named = keys.password_file.as_ref().ok_or(
            "a `user` needs a `password_file`: two lines, for authentication and encryption",
        )?;
        let path = folder.join(named);
        let text = fs::read_to_string(&path)
            .map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
        let mut lines = text.lines().map(str::to_owned);
        let (Some(authentication), Some(encryption)) = (lines.next(), lines.next()) else {
            return Err(format!(
                "`{}` has fewer than two lines: give the passwords for authentication and encryption",
                path.display()
            ));
        };
        return version_3(keys, user, [authentication, encryption], timeout);
    }
    let community = keys.community.clone();
    Ok(Box::new(move || {
        let id = first_request();
        SyncSession::new_v2c(address, community.as_bytes(), Some(timeout), id).map_err(failed)
    }))
}

#[cfg(feature = "snmp-v3")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature it fails")]
fn version_3(
    keys: &SnmpKeys,
    user: &str,
    [authentication, encryption]: [String; 2],
    timeout: Duration,
) -> Result<Opener, String> {
    use snmp2::v3::{Auth, AuthProtocol, Cipher, Security};
    let (address, user) = (keys.address, user.to_owned());
    Ok(Box::new(move || {
        let security = Security::new(user.as_bytes(), authentication.as_bytes())
            .with_auth_protocol(AuthProtocol::Sha256)
            .with_auth(Auth::AuthPriv {
                cipher: Cipher::Aes128,
                privacy_password: encryption.as_bytes().to_vec(),
            });
        let session = SyncSession::new_v3(address, Some(timeout), first_request(), security);
        let mut session = session.map_err(|error| format!("cannot ask {address}: {error}"))?;
        session.init().map_err(|error| {
            format!("{address} does not take user `{user}` ({error}); check the passwords, SHA-256 and AES-128")
        })?;
        Ok(session)
    }))
}

#[cfg(not(feature = "snmp-v3"))]
fn version_3(_: &SnmpKeys, _: &str, _: [String; 2], _: Duration) -> Result<Opener, String> {
    Err("this build of Tenter has no SNMP version 3; build it with `--features snmp-v3`, or use version 2c".to_owned())
}

/// Returns a random number for the first request, so that answers to other requests do not match.
fn first_request() -> i32 {
    let number = crate::control::random_number().unwrap_or(1);
    (number as i32) & 0x3fff_ffff
}

/// A switch's SNMP agent, and the session with it.
struct Agent {
    open: Opener,
    /// The current session; `None` after a failure, so that the next request opens a new one.
    session: Option<SyncSession>,
    /// The agent's name in error messages.
    place: String,
    /// Instant by which everything must have been read.
    until: Instant,
}

impl Agent {
    /// Returns the cells of a column by interface index; empty if the switch lacks the column.
    ///
    /// # Errors
    /// Returns a sentence if the agent does not answer, or repeats itself.
    fn column(&mut self, column: &[u64]) -> Result<BTreeMap<u64, Shown>, String> {
        let mut cells = BTreeMap::new();
        let mut last = column.to_vec();
        loop {
            let rows = self.rows_after(&last)?;
            let mut is_over = rows.is_empty();
            for (oid, shown) in rows {
                let Some([index]) = oid.strip_prefix(column) else {
                    is_over = true;
                    break;
                };
                // A tree is in order; an agent that goes back would be walked for ever.
                if oid <= last || cells.len() >= INTERFACES_MAX {
                    return Err(format!(
                        "{} does not come to an end of {}; its agent is at fault",
                        self.place,
                        dotted(column)
                    ));
                }
                cells.insert(*index, shown);
                last = oid;
            }
            if is_over {
                return Ok(cells);
            }
        }
    }

    /// Returns the objects that follow `oid` in the agent's tree.
    fn rows_after(&mut self, oid: &[u64]) -> Result<Vec<(Vec<u64>, Shown)>, String> {
        let mut why = String::new();
        for _ in 0..TRIES {
            if Instant::now() >= self.until {
                return Err(format!(
                    "{} answers too slowly to be read as a whole; let `timeout` be longer",
                    self.place
                ));
            }
            let mut session = match self.session.take() {
                Some(session) => session,
                None => (self.open)()?,
            };
            match rows_after(&mut session, oid) {
                Ok(rows) => {
                    self.session = Some(session);
                    return Ok(rows);
                }
                // Late answers then reach the old session's socket, and are not taken for answers
                // to the next try.
                Err(error) => why = error,
            }
        }
        Err(format!(
            "{} does not answer ({why}); check address, community and access lists",
            self.place
        ))
    }
}

fn rows_after(session: &mut SyncSession, oid: &[u64]) -> Result<Vec<(Vec<u64>, Shown)>, String> {
    let oid = Oid::from(oid).map_err(|error| format!("{error:?}"))?;
    let answer = session.getbulk(&[&oid], 0, ROWS);
    let answer = answer.map_err(|error| error.to_string())?;
    if answer.error_status != 0 {
        return Err(format!("error status {}", answer.error_status));
    }
    let mut rows = Vec::new();
    for (name, value) in answer.varbinds {
        let shown = match value {
            // The agent has no more objects; it fills the rest of its answer with this value.
            Value::EndOfMibView => break,
            Value::Counter64(value) => Shown::Wide(value),
            Value::Counter32(value) => Shown::Narrow(value),
            Value::OctetString(bytes) => Shown::Text(String::from_utf8_lossy(bytes).into_owned()),
            _ => Shown::Other,
        };
        let name = name.iter().map(Iterator::collect);
        rows.push((name.ok_or("an object without a number")?, shown));
    }
    Ok(rows)
}

fn dotted(oid: &[u64]) -> String {
    let parts: Vec<String> = oid.iter().map(u64::to_string).collect();
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, SocketAddrV4, UdpSocket};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::thread;

    use super::*;

    const SECOND: Duration = Duration::from_millis(300);

    /// A value in the basic encoding rules: tag, length, content.
    fn encoded(tag: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag, 0x82];
        bytes.extend((content.len() as u16).to_be_bytes());
        bytes.extend(content);
        bytes
    }

    fn number(tag: u8, value: u64) -> Vec<u8> {
        let bytes = value.to_be_bytes();
        let skip = bytes.iter().take(7).take_while(|byte| **byte == 0).count();
        let mut content = bytes[skip..].to_vec();
        if content[0] & 0x80 != 0 {
            content.insert(0, 0);
        }
        encoded(tag, &content)
    }

    fn oid(parts: &[u64]) -> Vec<u8> {
        let mut content = vec![(parts[0] * 40 + parts[1]) as u8];
        for &part in &parts[2..] {
            let mut digits = vec![(part & 0x7f) as u8];
            let mut rest = part >> 7;
            while rest > 0 {
                digits.push((rest & 0x7f) as u8 | 0x80);
                rest >>= 7;
            }
            content.extend(digits.iter().rev());
        }
        encoded(6, &content)
    }

    type Tree = BTreeMap<Vec<u64>, Vec<u8>>;

    fn tree() -> Tree {
        let mut tree = Tree::new();
        let mut put = |column: &[u64], index: u64, value: Vec<u8>| {
            let mut name = column.to_vec();
            name.push(index);
            tree.insert(name, value);
        };
        for index in [1, 2, 300] {
            put(
                NAMES[0],
                index,
                encoded(4, format!("Ethernet{index}").as_bytes()),
            );
            for (counter, columns) in SUMS {
                let is_narrow =
                    matches!(counter, Counter::RxDroppedFrames | Counter::DroppedFrames);
                if matches!(counter, Counter::RxPauseFrames | Counter::TxPauseFrames) {
                    continue;
                }
                let tag = if is_narrow { 0x41 } else { 0x46 };
                for (place, column) in (0..).zip(columns) {
                    put(column, index, number(tag, index * 1_000 + place));
                }
            }
        }
        put(&[1, 3, 6, 1, 2, 1, 10, 7, 10, 1, 3], 2, number(0x41, 9));
        put(
            &[1, 3, 6, 1, 2, 1, 10, 7, 10, 1, 5],
            2,
            number(0x46, 1 << 40),
        );
        // Something behind the last column.
        put(&[1, 3, 6, 1, 2, 1, 99, 1], 1, number(0x41, 1));
        tree
    }

    /// An agent on the loopback interface, which loses one of every `loses` requests.
    struct Responder {
        address: SocketAddrV4,
        stop: Arc<AtomicBool>,
        asked: Arc<AtomicU64>,
        thread: Option<thread::JoinHandle<()>>,
    }

    impl Responder {
        fn new(tree: Tree, loses: u64, turns_back: bool) -> Responder {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
            let SocketAddr::V4(address) = socket.local_addr().expect("an address") else {
                panic!("it is of IPv4");
            };
            let timeout = socket.set_read_timeout(Some(Duration::from_millis(20)));
            timeout.expect("it takes a timeout");
            let (stop, asked) = (
                Arc::new(AtomicBool::new(false)),
                Arc::new(AtomicU64::new(0)),
            );
            let (stops, asks) = (Arc::clone(&stop), Arc::clone(&asked));
            let thread = thread::spawn(move || {
                let mut room = vec![0; 65_536];
                while !stops.load(Ordering::Relaxed) {
                    let Ok((length, peer)) = socket.recv_from(&mut room) else {
                        continue;
                    };
                    let number = asks.fetch_add(1, Ordering::Relaxed);
                    if loses > 0 && number % loses == loses - 1 {
                        continue;
                    }
                    if let Some(answer) = answer(&room[..length], &tree, turns_back) {
                        socket.send_to(&answer, peer).expect("it is sent");
                    }
                }
            });
            Responder {
                address,
                stop,
                asked,
                thread: Some(thread),
            }
        }

        fn keys(&self, community: &str) -> SnmpKeys {
            SnmpKeys {
                address: self.address,
                community: community.to_owned(),
                user: None,
                password_file: None,
            }
        }
    }

    impl Drop for Responder {
        fn drop(&mut self) {
            self.stop.store(true, Ordering::Relaxed);
            if let Some(thread) = self.thread.take() {
                thread.join().expect("it ends");
            }
        }
    }

    fn answer(request: &[u8], tree: &Tree, turns_back: bool) -> Option<Vec<u8>> {
        let request = snmp2::Pdu::from_bytes(request).ok()?;
        if request.community != b"public" {
            return None;
        }
        let (name, _) = request.varbinds.clone().next()?;
        let mut after: Vec<u64> = name.iter()?.collect();
        let rows = request.error_index;
        let mut bindings = Vec::new();
        for _ in 0..rows {
            let next = tree
                .range(after.clone()..)
                .find(|(name, _)| turns_back || **name > after);
            let Some((name, value)) = next else {
                let pair = [oid(&after), encoded(0x82, &[])].concat();
                bindings.extend(encoded(0x30, &pair));
                break;
            };
            bindings.extend(encoded(0x30, &[oid(name), value.clone()].concat()));
            after.clone_from(name);
        }
        let pdu = [
            number(2, request.req_id as u64),
            number(2, 0),
            number(2, 0),
            encoded(0x30, &bindings),
        ];
        let message = [
            number(2, 1),
            encoded(4, b"public"),
            encoded(0xa2, &pdu.concat()),
        ];
        Some(encoded(0x30, &message.concat()))
    }

    #[test]
    fn an_agent_is_read_although_some_requests_are_lost() {
        let agent = Responder::new(tree(), 5, false);
        let snapshot = read(&agent.keys("public"), Path::new("."), SECOND).expect("it answers");
        assert_eq!(snapshot.0.len(), 3);
        let interface = &snapshot.0["Ethernet300"];
        assert_eq!(interface.own[&Counter::RxBytes], 300_000);
        assert_eq!(interface.own[&Counter::TxFrames], 900_003);
        assert_eq!(interface.own[&Counter::DroppedFrames], 300_000);
        assert!(interface.narrow.contains(&Counter::DroppedFrames));
        assert_eq!(interface.own.get(&Counter::RxPauseFrames), None);
        // The counter of 64 bits is preferred.
        let other = &snapshot.0["Ethernet2"];
        assert_eq!(other.own[&Counter::RxPauseFrames], 1 << 40);
        assert!(!other.narrow.contains(&Counter::RxPauseFrames));
        assert!(agent.asked.load(Ordering::Relaxed) >= 14);
    }

    #[test]
    fn an_agent_that_does_not_answer_is_named() {
        let agent = Responder::new(tree(), 0, false);
        let short = Duration::from_millis(40);
        let why = read(&agent.keys("wrong"), Path::new("."), short).expect_err("it is silent");
        assert!(why.contains(&agent.address.to_string()), "{why}");
        assert!(why.contains("check address, community"), "{why}");
        let nothing = Responder::new(Tree::new(), 0, false);
        let why = read(&nothing.keys("public"), Path::new("."), SECOND).expect_err("it is empty");
        assert!(why.contains("IF-MIB"), "{why}");
    }

    #[test]
    fn an_agent_that_repeats_itself_ends() {
        let agent = Responder::new(tree(), 0, true);
        let why = read(&agent.keys("public"), Path::new("."), SECOND).expect_err("it is wrong");
        assert!(
            why.contains("its agent is at fault") || why.contains("shows no"),
            "{why}"
        );
    }

    #[cfg(not(feature = "snmp-v3"))]
    #[test]
    fn version_3_needs_its_feature() {
        let folder = std::env::temp_dir();
        let file = format!("tenter-snmp-{}", std::process::id());
        fs::write(folder.join(&file), "one\ntwo\n").expect("it is written");
        let agent = Responder::new(tree(), 0, false);
        let keys = SnmpKeys {
            user: Some("tenter".to_owned()),
            password_file: Some(file.clone()),
            ..agent.keys("public")
        };
        let why = read(&keys, &folder, SECOND).expect_err("it has none");
        fs::remove_file(folder.join(file)).expect("it was there");
        assert!(why.contains("--features snmp-v3"), "{why}");
    }
}
