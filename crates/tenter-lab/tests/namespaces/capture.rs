//! Frames as another program sees them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::bench::{Bench, command, complete};

/// `tshark` captures on a leaf; it decodes `RoCEv2`, and the ICRC is what the bytes of the frame
/// give.
pub(crate) fn frames(bench: &Bench) {
    if Command::new("tshark")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        println!("  not tried: `tshark` is missing");
        return;
    }
    let file = bench.folder.join("leaf.pcap");
    let path = file.to_str().expect("a plain path");
    let mut capture = Command::new("ip")
        .args([
            "netns",
            "exec",
            &bench.namespace("leaf0"),
            "tshark",
            "-q",
            "-i",
            "p0",
        ])
        .args(["-F", "pcap", "-w", path, "-a", "duration:20"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("tshark starts");
    thread::sleep(Duration::from_millis(1_500));
    let text = "
name: captured
jobs: [{name: few, collectives: [{collective: all-to-all, size: 100kB}]}]
";
    let (outcome, _, problems) = bench.run(text);
    complete(&outcome.summary, &problems);
    thread::sleep(Duration::from_millis(500));
    capture.kill().expect("tshark is there");
    capture.wait().expect("tshark ends");
    check(&file);
}

/// Holds what `tshark` decodes against the bytes.
fn check(file: &Path) {
    let path = file.to_str().expect("a plain path");
    let fields = [
        "infiniband.bth.opcode",
        "infiniband.bth.destqp",
        "infiniband.bth.psn",
        "infiniband.invariant.crc",
    ];
    let mut words = vec!["tshark", "-r", path, "-Y", "infiniband", "-T", "fields"];
    for field in fields {
        words.extend(["-e", field]);
    }
    let decoded = command(&words);
    let frames = pcap(&fs::read(file).expect("a capture"));
    let roce: Vec<&Vec<u8>> = frames.iter().filter(|frame| is_roce(frame)).collect();
    let lines: Vec<&str> = decoded.lines().collect();
    assert!(roce.len() >= 14, "{} frames", roce.len());
    assert_eq!(lines.len(), roce.len());
    let mut opcodes = Vec::new();
    for (line, frame) in lines.iter().zip(&roce) {
        let words: Vec<&str> = line.split('\t').collect();
        opcodes.push(words[0].to_owned());
        let shown = u32::from_str_radix(words[3].trim_start_matches("0x"), 16).expect("a CRC");
        let (body, tail) = frame.split_at(frame.len() - 4);
        let sent = u32::from_le_bytes(tail.try_into().expect("four bytes"));
        assert_eq!(icrc(&body[14..]), sent, "frame {line}");
        assert!(
            shown == sent || shown.swap_bytes() == sent,
            "{shown:x} {sent:x}"
        );
    }
    // First, last, only of a write, and acknowledgements.
    for opcode in ["6", "8", "17"] {
        assert!(
            opcodes.iter().any(|of| of == opcode),
            "no opcode {opcode} in {opcodes:?}"
        );
    }
}

fn is_roce(frame: &[u8]) -> bool {
    frame.len() > 46 && frame[12..14] == [8, 0] && frame[23] == 17 && frame[36..38] == [0x12, 0xb7]
}

/// The frames of a capture in the format of `tcpdump`.
fn pcap(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut rest = &bytes[24..];
    while rest.len() >= 16 {
        let length = u32::from_le_bytes(rest[8..12].try_into().expect("four bytes")) as usize;
        let Some(frame) = rest.get(16..16 + length) else {
            break;
        };
        frames.push(frame.to_vec());
        rest = &rest[16 + length..];
    }
    frames
}

/// The ICRC of an IPv4 packet as it was captured, bit by bit, by Annex A17.
fn icrc(packet: &[u8]) -> u32 {
    let mut masked = packet.to_vec();
    for place in [1, 8, 10, 11, 26, 27, 32] {
        masked[place] = 0xff;
    }
    let mut crc = u32::MAX;
    for byte in [0xff; 8].into_iter().chain(masked) {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ ((crc & 1) * 0xedb8_8320);
        }
    }
    !crc
}
