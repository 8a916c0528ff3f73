//! `observe.capture`: frames of chosen ports, as other programs read them.

use std::collections::BTreeMap;
use std::process::Command;

use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, OptionCode, PcapBlockOwned, PcapNGSlice};
use tenter::report::read_rows;
use tenter_results::PortRow;

use crate::workplace::Workplace;

/// A frame as another reader finds it.
struct Frame {
    port: usize,
    at: u64,
    is_outbound: bool,
    length: u32,
    bytes: Vec<u8>,
    comment: Option<String>,
}

impl Frame {
    fn ethertype(&self) -> u16 {
        u16::from_be_bytes([self.bytes[12], self.bytes[13]])
    }

    /// The opcode of the base transport header, of `RoCEv2` packets.
    fn opcode(&self) -> Option<u8> {
        let is_roce = self.ethertype() == 0x0800 && self.bytes[36..38] == 4_791_u16.to_be_bytes();
        is_roce.then(|| self.bytes[42])
    }
}

/// The names of the ports, and the frames.
fn read(workplace: &Workplace, trial: &str) -> (Vec<String>, Vec<Frame>) {
    let path = workplace.path(trial).join("capture.pcapng");
    let file = std::fs::read(path).expect("a capture");
    let (mut names, mut frames) = (Vec::new(), Vec::new());
    for block in PcapNGSlice::from_slice(&file).expect("a section") {
        match block.expect("a block") {
            PcapBlockOwned::NG(Block::InterfaceDescription(of)) => {
                assert_eq!(of.if_tsresol, 12, "picoseconds");
                let mut options = of.options.iter();
                let name = options.find(|option| option.code == OptionCode::IfName);
                let name = name
                    .expect("ports have names")
                    .as_bytes()
                    .expect("a length");
                names.push(String::from_utf8_lossy(name).into_owned());
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(of)) => {
                let option = |code| of.options.iter().find(|option| option.code == code);
                let flags = option(OptionCode(2)).expect("frames have a direction");
                let comment = option(OptionCode::Comment);
                frames.push(Frame {
                    port: of.if_id as usize,
                    at: u64::from(of.ts_high) << 32 | u64::from(of.ts_low),
                    is_outbound: flags.as_bytes().expect("a length")[0] & 3 == 2,
                    length: of.origlen,
                    bytes: of.packet_data()[..of.caplen as usize].to_vec(),
                    comment: comment.map(|option| {
                        String::from_utf8_lossy(option.as_bytes().expect("a length")).into_owned()
                    }),
                });
            }
            _ => {}
        }
    }
    (names, frames)
}

fn digest(workplace: &Workplace, trial: &str) -> String {
    let summary = workplace.json(&format!("{trial}/summary.json"));
    summary["engine"]["digest"].as_str().expect("it").to_owned()
}

#[test]
fn a_capture_has_what_its_ports_count_and_changes_no_result() {
    let workplace = Workplace::with_small("capture-counts");
    let run = "run small.yaml -o trial --threads 2 --set observe.capture=[host0,leaf0:0]";
    workplace.words(run).expect(0);
    workplace.words("run small.yaml -o plain").expect(0);
    assert_eq!(digest(&workplace, "trial"), digest(&workplace, "plain"));
    let entries = workplace.entries();
    assert!(entries.contains(&"trial".to_owned()), "{entries:?}");
    assert!(!workplace.path("plain/capture.pcapng").exists());
    let (names, frames) = read(&workplace, "trial");
    assert_eq!(names, ["host0:0", "leaf0:0"]);
    let ports: Vec<PortRow> = read_rows(&workplace.path("trial")).expect("ports");
    let count = |name: &str| {
        let port = ports
            .iter()
            .find(|port| port.node_name == name && port.port == 0);
        let port = port.expect("the port");
        (port.tx_frames, port.tx_bytes)
    };
    let seen = |port: usize, is_outbound: bool| -> Vec<&Frame> {
        let of = frames.iter();
        of.filter(|frame| (frame.port, frame.is_outbound) == (port, is_outbound))
            .collect()
    };
    // Captures have no FCS, of 4 bytes, and port counters no preamble and gap.
    let sums = |of: &[&Frame]| {
        let bytes: u64 = of.iter().map(|frame| u64::from(frame.length) + 4).sum();
        (of.len() as u64, bytes)
    };
    let [sent, received] = [seen(0, true), seen(1, false)];
    assert_eq!(sums(&sent), count("host0"));
    assert_eq!(sums(&seen(1, true)), count("leaf0"));
    assert_eq!(sums(&seen(0, false)), count("leaf0"));
    // What the NIC sends the leaf receives, later by the delay of the cable.
    let delay = received[0].at - sent[0].at;
    assert!(delay > 0);
    assert_eq!(sent.len(), received.len());
    for (sent, received) in sent.iter().zip(&received) {
        assert_eq!(sent.at + delay, received.at);
        assert_eq!(sent.bytes, received.bytes);
    }
}

#[test]
fn a_limit_keeps_the_first_frames_on_any_number_of_threads() {
    let workplace = Workplace::with_small("capture-limit");
    let run = |threads: &str| {
        let run = format!(
            "run small.yaml -o {threads} --threads {threads} --set observe.capture=[host0,leaf1:1,spine0:0] --set observe.capture_limit=50 --set observe.capture_from=1us"
        );
        let answer = workplace.words(&run).expect(0);
        assert!(
            answer.stdout.contains("observe.capture_limit"),
            "{}",
            answer.stdout
        );
        std::fs::read(workplace.path(threads).join("capture.pcapng")).expect("a capture")
    };
    assert_eq!(run("1"), run("2"));
    let (_, frames) = read(&workplace, "1");
    assert_eq!(frames.len(), 50);
    assert!(frames.is_sorted_by_key(|frame| frame.at));
    assert!(frames[0].at >= 1_000_000);
}

#[test]
fn lost_frames_leave_the_sender_and_do_not_reach_the_receiver() {
    let workplace = Workplace::with_small("capture-lost");
    let run = "run small.yaml -o trial --set impairments=[{\"link\":\"host0-leaf0\",\"frame_loss\":0.05}] --set observe.capture=[host0,leaf0:0]";
    workplace.words(run).expect(0);
    let (_, frames) = read(&workplace, "trial");
    let seen = |port: usize, is_outbound: bool| {
        let of = frames.iter();
        of.filter(|frame| (frame.port, frame.is_outbound) == (port, is_outbound))
            .count() as u64
    };
    let ports: Vec<PortRow> = read_rows(&workplace.path("trial")).expect("ports");
    let lost: u64 = ports.iter().map(|port| port.lost_frames).sum();
    assert!(lost > 0);
    assert_eq!(
        seen(0, true) - seen(1, false) + seen(1, true) - seen(0, false),
        lost
    );
}

#[test]
fn what_has_no_headers_is_said_in_words() {
    let workplace = Workplace::new("capture-words");
    let scenario = include_str!("../../../../scenarios/scheduled-fabric.yaml");
    workplace.write("scheduled.yaml", scenario);
    let run = "run scheduled.yaml -o trial --set observe.samples=false --set observe.capture=[spine0:0] --set observe.capture_limit=20";
    workplace.words(run).expect(0);
    let (_, frames) = read(&workplace, "trial");
    for frame in &frames {
        let comment = frame.comment.as_deref().expect("there is one");
        assert!(comment.starts_with("cells of a packet of"), "{comment}");
        // The first local experimental ethertype.
        assert_eq!(frame.ethertype(), 0x88b5);
    }
}

#[test]
fn ports_that_are_not_there_are_refused() {
    let workplace = Workplace::with_small("capture-refused");
    let cases = [
        ("leaf7:0", "names `leaf7`, which is no node"),
        ("leaf0:99", "names no port of `leaf0`"),
        ("leaf0", "must be a port, not `leaf0`"),
    ];
    for (port, expected) in cases {
        let run = format!("run small.yaml --set observe.capture=[{port}]");
        let answer = workplace.words(&run).expect(2);
        assert!(answer.stderr.contains(expected), "{}", answer.stderr);
    }
    let watched = "run small.yaml --watch port=host0:0 --set observe.capture=[host0]";
    let answer = workplace.words(watched).expect(2);
    assert!(
        answer
            .stderr
            .contains("`observe.capture` do not go together"),
        "{}",
        answer.stderr
    );
}

/// What `tshark` prints of these fields of a capture; tells that it is not there.
#[expect(clippy::print_stderr, reason = "what is not tested is said aloud")]
fn tshark(workplace: &Workplace, trial: &str, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    command.arg("-r");
    command.arg(workplace.path(trial).join("capture.pcapng"));
    command.args(["-T", "fields", "-E", "separator=,"]);
    command.args(fields.iter().flat_map(|field| ["-e", field]));
    let Ok(answer) = command.output() else {
        eprintln!("NOT TESTED: tshark is not installed (Debian: apt-get install tshark)");
        return None;
    };
    assert!(answer.status.success(), "{answer:?}");
    let text = String::from_utf8(answer.stdout).expect("UTF-8");
    let line = |line: &str| line.split(',').map(str::to_owned).collect();
    Some(text.lines().map(line).collect())
}

#[test]
fn wireshark_decodes_data_acknowledgements_notifications_and_pauses() {
    let workplace = Workplace::new("capture-tshark");
    let scenarios = [
        ("dcqcn", include_str!("../../../../scenarios/dcqcn.yaml")),
        ("pfc", include_str!("../../../../scenarios/pfc.yaml")),
    ];
    for (name, scenario) in scenarios {
        workplace.write(&format!("{name}.yaml"), scenario);
        let run = format!(
            "run {name}.yaml -o {name} --set observe.samples=false --set observe.capture=[leaf0:0,leaf0:4] --set observe.capture_limit=4000"
        );
        workplace.words(&run).expect(0);
        let (_, frames) = read(&workplace, name);
        let mut own: BTreeMap<String, usize> = BTreeMap::new();
        for frame in &frames {
            let kind = match frame.opcode() {
                Some(opcode) => opcode.to_string(),
                None => format!("{:#06x}", frame.ethertype()),
            };
            *own.entry(kind).or_default() += 1;
        }
        // 6, 7, 8: write first, middle, last; 17: acknowledge; 129: CNP; 0x8808: MAC control.
        let expected: &[&str] = match name {
            "dcqcn" => &["129", "17", "6", "7", "8"],
            _ => &["0x8808", "17", "6", "7", "8"],
        };
        let kinds: Vec<&str> = own.keys().map(String::as_str).collect();
        let missing = expected.iter().find(|kind| !kinds.contains(kind));
        assert_eq!(missing, None, "{name}: {own:?}");
        let fields = [
            "infiniband.bth.opcode",
            "eth.type",
            "macc.opcode",
            "_ws.malformed",
        ];
        let Some(lines) = tshark(&workplace, name, &fields) else {
            return;
        };
        let mut theirs: BTreeMap<String, usize> = BTreeMap::new();
        for line in &lines {
            let [opcode, kind, control, malformed] = line.as_slice() else {
                panic!("four fields: {line:?}");
            };
            assert_eq!(malformed, "", "{line:?}");
            assert!(control.is_empty() || control == "0x0101", "{line:?}");
            let kind = if opcode.is_empty() { kind } else { opcode };
            *theirs.entry(kind.clone()).or_default() += 1;
        }
        assert_eq!(own, theirs, "{name}");
    }
}
