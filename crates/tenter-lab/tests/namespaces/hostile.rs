//! Peers that mean no good.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream, UdpSocket};
use std::path::Path;
use std::thread;
use std::time::Duration;

use nix::sched::{CloneFlags, setns};

use crate::bench::{Bench, complete};

const PACKETS: usize = 100_000;

/// Noise, packets that are nearly right, wrong greetings: the trial beside them is what it would
/// be, and all agents live.
pub(crate) fn peers(bench: &Bench) {
    let agents = bench.lab.agents();
    let text = "
name: attacked
endpoint: {nic: {acknowledge: {every: 4}, retransmission_timeout: 300ms}}
jobs: [{name: attacked, iterations: 3, collectives: [{collective: all-to-all, size: 2MiB}]}]
";
    let name = bench.namespace("host5");
    let (outcome, folder, problems) = thread::scope(|scope| {
        let run = scope.spawn(|| bench.run(text));
        let attack = scope.spawn(|| {
            enter(&name);
            // From an address of the lab, to hosts behind both leaves.
            fuzz(agents[5].address, &[agents[0].address, agents[6].address]);
        });
        let control = bench.namespace("control");
        let greet = scope.spawn(move || {
            enter(&control);
            greetings(SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, 2), 7471));
        });
        attack.join().expect("no panic");
        greet.join().expect("no panic");
        run.join().expect("no panic")
    });
    complete(&outcome.summary, &problems);
    let mut refused = 0;
    for host in Bench::hosts(&folder) {
        assert_eq!(host["report"]["corrupt_packets"], 0, "{host}");
        refused += host["report"]["refused_packets"].as_u64().expect("a count");
    }
    assert!(refused > 0, "some of it has come while the trial ran");
    // After it all agents serve another.
    let (outcome, _, problems) = bench.run(text);
    complete(&outcome.summary, &problems);
}

/// Lets this thread enter a namespace.
pub(crate) fn enter(namespace: &str) {
    let file = File::open(Path::new("/run/netns").join(namespace)).expect("a namespace");
    setns(file, CloneFlags::CLONE_NEWNET).expect("root may enter it");
}

/// Sends noise, and datagrams that look like packets.
fn fuzz(from: Ipv4Addr, to: &[Ipv4Addr]) {
    let socket = UdpSocket::bind(SocketAddrV4::new(from, 0)).expect("a socket");
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for number in 0..PACKETS {
        let length = (next() % 200) as usize;
        let mut bytes: Vec<u8> = (0..length).map(|_| next() as u8).collect();
        if number % 2 == 0 && length >= 12 {
            bytes[0] = [0x06, 0x07, 0x08, 0x0a, 0x11, 0x81][number / 2 % 6];
            bytes[1] = 0x40;
            bytes[2..4].fill(0xff);
        }
        let to = to[number % to.len()];
        // The queue of the host may be full.
        let _ = socket.send_to(&bytes, (to, 4791));
        if number % 500 == 0 {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Greets an agent wrongly in some ways.
fn greetings(agent: SocketAddrV4) {
    for attempt in 0..20_u8 {
        let Ok(mut stream) = TcpStream::connect_timeout(&agent.into(), Duration::from_secs(1))
        else {
            continue;
        };
        let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
        let mut greeting = b"tenter\x02\x00".to_vec();
        match attempt % 4 {
            0 => greeting = b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            1 => greeting.extend([attempt; 32]),
            2 => greeting.extend([0; 5]),
            _ => greeting = vec![0xff; 10_000],
        }
        let _ = stream.write_all(&greeting);
        let mut answer = [0; 64];
        if attempt % 4 == 1 {
            // It proves itself, and hears a wrong proof.
            stream
                .read_exact(&mut answer)
                .expect("an agent proves itself");
            let _ = stream.write_all(&[attempt; 32]);
            let left = stream.read(&mut answer).unwrap_or(0);
            assert_eq!(left, 0, "nothing is said to whoever lacks the secret");
        }
    }
}
