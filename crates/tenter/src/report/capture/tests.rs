use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, OptionCode, PcapNGSlice};
use tenter_language::units::Time;

use super::*;
use tenter_results::{RoceBody, RocePacket};

fn packet(body: RoceBody) -> RocePacket {
    RocePacket {
        source: 0x0a00_0002,
        destination: 0x0a01_0003,
        dscp: 26,
        ecn: 2,
        source_port: 0xc123,
        queue_pair: 0x12_3456,
        sequence: 0xab_cdef,
        asks_for_ack: true,
        notifies: false,
        body,
        remark: None,
    }
}

fn frame(at: u64, frame_bytes: u16, content: FrameContent) -> CapturedFrame {
    CapturedFrame {
        at: Time::from_ps(at),
        port: 0,
        is_outbound: true,
        frame_bytes,
        sender: [2, 0, 0, 7, 0, 1],
        receiver: [2, 0, 0, 9, 0, 0],
        content,
    }
}

fn capture(frames: Vec<CapturedFrame>, snap_bytes: u32) -> Vec<u8> {
    let capture = Capture {
        snap_bytes,
        ports: vec![CapturedPort {
            name: "leaf0:1".to_owned(),
            bits_per_second: 400_000_000_000,
            address: [2, 0, 0, 7, 0, 1],
            peer: "host1:0".to_owned(),
        }],
        frames,
    };
    let mut bytes = Vec::new();
    write(&mut bytes, &capture).expect("memory takes it");
    bytes
}

#[test]
fn another_reader_finds_ports_times_lengths_and_comments() {
    let write = RoceBody::Write {
        is_first: true,
        is_last: true,
        message_bytes: 100,
    };
    // 100 bytes of payload, 62 of headers, 16 of RETH.
    let frames = vec![
        frame(1, 178, FrameContent::Roce(packet(write))),
        frame(
            5_000_000_000_001,
            64,
            FrameContent::Pause {
                class: 3,
                quanta: 0xffff,
            },
        ),
        frame(
            5_000_000_000_002,
            64,
            FrameContent::Other("congestion signal".to_owned()),
        ),
    ];
    let bytes = capture(frames, 64);
    let blocks = PcapNGSlice::from_slice(&bytes).expect("a section");
    let mut names = Vec::new();
    let mut packets = Vec::new();
    for block in blocks {
        match block.expect("a block") {
            pcap_parser::PcapBlockOwned::NG(Block::InterfaceDescription(of)) => {
                assert_eq!((of.linktype.0, of.snaplen, of.if_tsresol), (1, 64, 12));
                let mut options = of.options.iter();
                let name = options.find(|option| option.code == OptionCode::IfName);
                let name = name.expect("it has a name");
                names
                    .push(String::from_utf8_lossy(name.as_bytes().expect("a length")).into_owned());
            }
            pcap_parser::PcapBlockOwned::NG(Block::EnhancedPacket(of)) => {
                let mut options = of.options.iter();
                let comment = options.find(|option| option.code == OptionCode::Comment);
                let comment = comment.map(|option| {
                    String::from_utf8_lossy(option.as_bytes().expect("a length")).into_owned()
                });
                let at = u64::from(of.ts_high) << 32 | u64::from(of.ts_low);
                let data = of.packet_data().get(..of.caplen as usize);
                packets.push((at, of.origlen, data.map(<[u8]>::len), comment));
            }
            _ => {}
        }
    }
    assert_eq!(names, ["leaf0:1"]);
    let comment = Some("congestion signal".to_owned());
    assert_eq!(
        packets,
        [
            (1, 174, Some(64), None),
            (5_000_000_000_001, 60, Some(60), None),
            (5_000_000_000_002, 60, Some(60), comment),
        ]
    );
}

#[test]
fn headers_are_where_the_specifications_have_them() {
    let write = RoceBody::Write {
        is_first: true,
        is_last: false,
        message_bytes: 131_072,
    };
    let bytes = headers::bytes(&frame(0, 4_174, FrameContent::Roce(packet(write))), 4_170);
    assert_eq!(bytes.len(), 4_170);
    assert_eq!(bytes[12..14], [0x08, 0x00]);
    // DSCP 26 and ECT(0): 26 · 4 + 2; 4,156 bytes of IP, 4,136 of UDP.
    assert_eq!(bytes[15], 106);
    assert_eq!(bytes[16..18], 4_156_u16.to_be_bytes());
    assert_eq!(bytes[34..40], [0xc1, 0x23, 0x12, 0xb7, 0x10, 0x28]);
    let transport = [
        0x06, 0x40, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0xab, 0xcd, 0xef,
    ];
    assert_eq!(bytes[42..54], transport);
    assert_eq!(bytes[66..70], 131_072_u32.to_be_bytes());
    // The sum of all words of a header with its checksum is all ones.
    let words = bytes[14..34].chunks(2);
    let sum: u32 = words
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum();
    assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
}

#[test]
fn the_invariant_crc_is_that_of_another_implementation() {
    // Computed bit by bit, from the polynomial of Ethernet.
    let bytes = headers::bytes(&frame(0, 66, FrameContent::Roce(packet(RoceBody::Ack))), 62);
    let mut covered = vec![0xff; 8];
    covered.extend(&bytes[14..58]);
    for place in [1, 8, 10, 11, 26, 27, 32] {
        covered[8 + place] = 0xff;
    }
    let crc = covered.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            }
        })
    });
    assert_eq!(bytes[58..], (!crc).to_le_bytes());
}

#[test]
fn a_pause_frame_names_its_class() {
    let content = FrameContent::Pause {
        class: 3,
        quanta: 0x1234,
    };
    let bytes = headers::bytes(&frame(0, 64, content), 60);
    assert_eq!(bytes[..6], [0x01, 0x80, 0xc2, 0, 0, 1]);
    assert_eq!(bytes[12..18], [0x88, 0x08, 0x01, 0x01, 0x00, 0x08]);
    assert_eq!(bytes[18..34][6..8], [0x12, 0x34]);
    assert!(bytes[34..].iter().all(|&byte| byte == 0));
}
