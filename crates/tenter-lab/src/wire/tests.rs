use super::*;

const FLOW: UdpFlow = UdpFlow {
    source: u32::from_be_bytes([192, 168, 0, 7]),
    destination: u32::from_be_bytes([192, 168, 0, 2]),
    source_port: 4791,
};

/// A datagram with headers, payload and ICRC.
fn datagram(headers: &Headers, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEADERS_MAX];
    let length = headers.write(&mut bytes);
    bytes.truncate(length);
    bytes.extend(payload);
    let crc = icrc(&FLOW, 0, &bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

fn all_bodies() -> Vec<Body> {
    let reth = Some(Reth {
        address: 0x0123_4567_89ab_cdef,
        key: 0xdead_beef,
        bytes: 131_072,
    });
    let write = |position, reth, pads| Body::Write {
        position,
        reth,
        pads,
    };
    vec![
        write(Position::First, reth, 0),
        write(Position::Middle, None, 0),
        write(Position::Last, None, 3),
        write(Position::Only, reth, 1),
        Body::Ack,
        Body::Nak { packets: 0 },
        Body::Nak {
            packets: 0x000a_bcde,
        },
        Body::Notification,
    ]
}

#[test]
fn what_is_written_is_read() {
    for body in all_bodies() {
        for flags in 0..8_u8 {
            let headers = Headers {
                queue_pair: 0x12_3456,
                sequence: 0xff_fffe,
                asks_for_ack: flags & 1 != 0,
                asks_for_report: flags & 2 != 0,
                notifies: flags & 4 != 0 || body == Body::Notification,
                body,
            };
            let payload: &[u8] = if matches!(body, Body::Write { .. }) {
                &[7; 64]
            } else {
                &[]
            };
            let bytes = datagram(&headers, payload);
            assert_eq!(
                Headers::read(&bytes, &FLOW, &mut Icrcs::default()),
                Ok((headers, payload))
            );
        }
    }
}

#[test]
fn the_bytes_are_those_of_the_standard() {
    let headers = Headers {
        queue_pair: 0x00_00d2,
        sequence: 0x00_8c41,
        asks_for_ack: true,
        asks_for_report: false,
        notifies: false,
        body: Body::Ack,
    };
    let mut bytes = [0; HEADERS_MAX];
    assert_eq!(headers.write(&mut bytes), 16);
    // Opcode RC ACKNOWLEDGE; MigReq; partition; queue pair; A and PSN; AETH.
    let due = [
        0x11, 0x40, 0xff, 0xff, 0, 0, 0, 0xd2, 0x80, 0, 0x8c, 0x41, 0x1f, 0, 0, 0,
    ];
    assert_eq!(bytes[..16], due);
}

#[test]
fn switches_may_change_what_the_icrc_leaves_out() {
    let headers = Headers {
        queue_pair: 9,
        sequence: 5,
        asks_for_ack: false,
        asks_for_report: false,
        notifies: false,
        body: all_bodies()[1],
    };
    let bytes = datagram(&headers, &[1; 8]);
    // FECN and BECN.
    let mut marked = bytes.clone();
    marked[4] = 0xc0;
    assert!(Headers::read(&marked, &FLOW, &mut Icrcs::default()).is_ok());
    for place in (0..bytes.len()).filter(|place| *place != 4) {
        for bit in 0..8 {
            let mut broken = bytes.clone();
            broken[place] ^= 1 << bit;
            assert!(
                Headers::read(&broken, &FLOW, &mut Icrcs::default()).is_err(),
                "bit {bit} of byte {place}"
            );
        }
    }
    for other in [
        UdpFlow { source: 1, ..FLOW },
        UdpFlow {
            destination: 1,
            ..FLOW
        },
        UdpFlow {
            source_port: 1,
            ..FLOW
        },
    ] {
        assert_eq!(
            Headers::read(&bytes, &other, &mut Icrcs::default()),
            Err(Malformed::Icrc)
        );
    }
}

#[test]
fn a_known_packet_has_its_icrc() {
    // CRC-32 over nothing but ones and zeros in the places of Annex A17, computed apart from this
    // code, bit by bit.
    let covered = [
        0x11, 0x40, 0xff, 0xff, 0, 0, 0, 0xd2, 0, 0, 0x8c, 0x41, 0x1f, 0, 0, 0,
    ];
    let mut message = vec![0xff; 8];
    message.extend([0x45, 0xff, 0, 48, 0, 0, 0x40, 0, 0xff, 17, 0xff, 0xff]);
    message.extend([192, 168, 0, 7, 192, 168, 0, 2]);
    message.extend([0x12, 0xb7, 0x12, 0xb7, 0, 28, 0xff, 0xff]);
    message.extend(covered);
    message[8 + 28 + 4] = 0xff;
    let mut crc = u32::MAX;
    for byte in message {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ ((crc & 1) * 0xedb8_8320);
        }
    }
    assert_eq!(icrc(&FLOW, 0, &covered), !crc);
}

#[test]
fn noise_is_refused() {
    let mut noise = 1_u64;
    let mut next = || {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        noise
    };
    for _ in 0..20_000 {
        let length = (next() % 96) as usize;
        let bytes: Vec<u8> = (0..length).map(|_| next() as u8).collect();
        assert!(Headers::read(&bytes, &FLOW, &mut Icrcs::default()).is_err());
        // With an ICRC that fits whatever is in it is read without a panic.
        let mut sealed = bytes;
        if sealed.len() > 3 {
            sealed[1] &= 0x70;
            sealed[2..4].fill(0xff);
            sealed[0] = [0x06, 0x07, 0x08, 0x0a, 0x11, 0x81][(next() % 6) as usize];
        }
        let crc = icrc(&FLOW, 0, &sealed);
        sealed.extend(crc.to_le_bytes());
        let _ = Headers::read(&sealed, &FLOW, &mut Icrcs::default());
    }
}

#[test]
fn every_byte_of_a_payload_is_checked() {
    let pattern = Pattern::new(3, 17, 99);
    for length in [0, 4, 8, 12, 16, 20, 100, 4096] {
        let mut payload = vec![0; length];
        pattern.fill(&mut payload, 123_456_789);
        let stamp = (length >= STAMP_BYTES).then_some(123_456_789);
        assert_eq!(pattern.check(&payload), Ok(stamp), "{length} bytes");
        for place in 0..length {
            let mut broken = payload.clone();
            broken[place] ^= 0x10;
            assert!(pattern.check(&broken).is_err(), "byte {place} of {length}");
        }
        if length > 0 {
            assert!(Pattern::new(3, 17, 100).check(&payload).is_err());
        }
    }
}

#[test]
fn identifications_up_to_the_greatest_are_known() {
    let headers = Headers {
        queue_pair: 9,
        sequence: 5,
        asks_for_ack: false,
        asks_for_report: false,
        notifies: false,
        body: all_bodies()[1],
    };
    for identification in 0..16 {
        let mut bytes = datagram(&headers, &[3; 1024]);
        let length = bytes.len() - ICRC_BYTES;
        let crc = icrc(&FLOW, identification, &bytes[..length]);
        bytes[length..].copy_from_slice(&crc.to_le_bytes());
        let mut icrcs = Icrcs::up_to(14);
        let read = Headers::read(&bytes, &FLOW, &mut icrcs);
        assert_eq!(read.is_ok(), identification < 15, "{identification}");
        bytes[20] ^= 1;
        assert!(Headers::read(&bytes, &FLOW, &mut icrcs).is_err());
    }
}
