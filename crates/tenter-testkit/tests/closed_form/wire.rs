//! What a request is on the wire, and how long that takes: written down a second time, from the
//! frame formats and not from the code under test.

/// Preamble 8 and inter-frame gap 12 (IEEE 802.3).
pub(crate) const GAP_BYTES: u64 = 20;
/// An acknowledgement: Ethernet 14, IPv4 20, UDP 8, BTH 12, AETH 4, ICRC 4, FCS 4.
pub(crate) const ACK_BYTES: u64 = 66;
/// What an acknowledgement takes on the wire.
pub(crate) const ACK_WIRE: u64 = ACK_BYTES + GAP_BYTES;
/// Full packets at the default MTU on the wire: the first of a message (or its only one), and the
/// others: 4,096 + 62 + 20, and 16 more for the RETH.
pub(crate) const FIRST_WIRE: u64 = 4_194;
pub(crate) const NEXT_WIRE: u64 = 4_178;
/// The default message size in bytes.
pub(crate) const MESSAGE: u64 = 128 << 10;
/// The default MTU in bytes.
pub(crate) const MTU: u64 = 4_096;

/// Frame bytes of every packet of a request, in order.
///
/// A frame is payload + 62 (Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4), and 16 more (RETH)
/// on the first of each message. Payload is filled up to four bytes (the pad count of the BTH). A
/// request without payload is one frame all the same.
pub(crate) fn frames(mut bytes: u64, mtu: u64, message: u64) -> Vec<u64> {
    let mut frames = Vec::new();
    loop {
        let mut of_message = bytes.min(message);
        bytes -= of_message;
        let mut reth = 16;
        loop {
            let payload = of_message.min(mtu);
            of_message -= payload;
            let padding = (4 - payload % 4) % 4;
            frames.push(payload + padding + 62 + reth);
            reth = 0;
            if of_message == 0 {
                break;
            }
        }
        if bytes == 0 {
            return frames;
        }
    }
}

/// Wire bytes of every packet of a request, in order.
pub(crate) fn wire(bytes: u64, mtu: u64, message: u64) -> Vec<u64> {
    let frames = frames(bytes, mtu, message).into_iter();
    frames.map(|frame| frame + GAP_BYTES).collect()
}

/// Wire bytes of a request with the default MTU and message size.
pub(crate) fn default_wire(bytes: u64) -> u64 {
    wire(bytes, MTU, MESSAGE).iter().sum()
}

/// Picoseconds a byte takes at a rate in Gbit/s that divides 8,000.
pub(crate) fn ps_per_byte(gbps: u64) -> u64 {
    assert_eq!(8_000 % gbps, 0, "{gbps} Gbit/s takes no whole ps per byte");
    8_000 / gbps
}

/// When the last bit of the last packet leaves the second of two lines that each send one packet
/// after the other, the second storing each packet before it forwards it.
///
/// Packet n leaves when some packet k was the last that did not have to wait at the second line:
/// max over k of (w(1) + … + w(k))/r₁ + (w(k) + … + w(n))/r₂.
pub(crate) fn store_and_forward(wire: &[u64], first: u64, second: u64) -> u64 {
    let mut behind: u64 = wire.iter().sum();
    let mut before = 0;
    let mut latest = 0;
    for packet in wire {
        before += packet;
        latest = latest.max(before * first + behind * second);
        behind -= packet;
    }
    latest
}

/// The same for cut-through, which a second line no faster than the first allows: packet k may
/// start when its head is there.
///
/// max over k of (w(1) + … + w(k−1))/r₁ + (w(k) + … + w(n))/r₂, and since no packet takes longer on
/// the first line than on the second, k = 1 is the largest: all of them at the rate of the second.
pub(crate) fn cut_through(wire: &[u64], first: u64, second: u64) -> u64 {
    assert!(first <= second, "a faster line would run dry in mid-frame");
    wire.iter().sum::<u64>() * second
}

#[test]
fn published_frames_are_cut_by_hand() {
    // 128 KiB are 32 packets: one of 4,174 bytes, 31 of 4,158.
    assert_eq!(frames(128 << 10, 4096, 128 << 10)[..2], [4_174, 4_158]);
    assert_eq!(frames(128 << 10, 4096, 128 << 10).len(), 32);
    // 10,000-byte messages at MTU 4,096: 4,096 + 4,096 + 1,808, and then 1 byte, filled up to 4.
    assert_eq!(
        frames(10_001, 4096, 10_000),
        [4_174, 4_158, 1_870, 4 + 62 + 16]
    );
    assert_eq!(frames(0, 4096, 10_000), [78]);
}

#[test]
fn two_lines_by_hand() {
    // Packets of 10 and 30 bytes, 1 and 2 ps per byte: the second packet waits for nobody:
    // 40·1 + 30·2 = 100, more than 10·1 + 40·2 = 90.
    assert_eq!(store_and_forward(&[10, 30], 1, 2), 100);
    // The other way round it waits: 30·1 + 40·2 = 110, more than 40·1 + 10·2 = 60.
    assert_eq!(store_and_forward(&[30, 10], 1, 2), 110);
    assert_eq!(cut_through(&[30, 10], 1, 2), 80);
}
