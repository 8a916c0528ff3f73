//! The scenario's section `endpoint`.

use super::draw::Draw;

/// The section, and what other sections depend on.
pub(super) struct Endpoint {
    pub(super) text: String,
    /// Payload bytes in an average packet, if its message is full.
    pub(super) packet_bytes: u64,
    /// Retransmission timeout of the NIC in ns.
    pub(super) timeout_ns: u64,
}

/// Draws a NIC and a host.
pub(super) fn write(draw: &mut Draw) -> Endpoint {
    let mtu = *draw.pick(&[&256, &512, &1024, &2048, &4096, &4096]);
    // Whole packets, a last packet of any length, or messages of about one packet.
    let message = match draw.below(3) {
        0 => mtu * draw.within(1..=16),
        1 => draw.within(mtu..=mtu * 16),
        _ => draw.within(mtu / 2..=mtu * 4),
    };
    let message_packets = message.div_ceil(mtu);
    let (acknowledge, due) = match draw.below(3) {
        0 => ("per-message".to_owned(), message_packets),
        1 => ("per-packet".to_owned(), 1),
        _ => {
            let every = draw.within(1..=12);
            (format!("{{every: {every}}}"), every.min(message_packets))
        }
    };
    // A window below `due` would never open again, and is refused.
    let window = if draw.chance(60) {
        (due + draw.below(24)).to_string()
    } else {
        "none".to_owned()
    };
    let timeout_ns = match draw.below(4) {
        0 => draw.within(2_000..=20_000),
        1 | 2 => draw.within(20_000..=200_000),
        // The default of NICs: 4.096 µs × 2¹⁴.
        _ => 67_108_864,
    };
    let nic = [
        format!("mtu: {mtu}"),
        format!("message_size: {message}B"),
        format!("acknowledge: {acknowledge}"),
        format!("window: {window}"),
        format!("retransmission_timeout: {timeout_ns}ns"),
        format!("retry_count: {}", draw.below(8)),
        format!("retry_on_nak: {}", draw.chance(10)),
        format!("transmit_latency: {}", draw.seldom_time(40, 500)),
        format!("receive_latency: {}", draw.seldom_time(40, 500)),
        format!("message_gap: {}", draw.seldom_time(30, 500)),
        format!("connection_set_up: {}", draw.chance(25)),
        format!("start_skew_max: {}", draw.seldom_time(30, 20_000)),
        format!(
            "clock_offset_max_ppm: {}",
            draw.pick(&["0", "0", "100", "1000"])
        ),
    ];
    let host = [
        format!("step_delay: {}", draw.seldom_time(30, 5_000)),
        format!("start_up: {}", draw.seldom_time(30, 5_000)),
    ];
    let text = format!(
        "  nic:\n    {}\n  host: {{{}}}\n",
        nic.join("\n    "),
        host.join(", ")
    );
    Endpoint {
        text,
        packet_bytes: message / message_packets,
        timeout_ns,
    }
}
