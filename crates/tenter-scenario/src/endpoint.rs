//! The `endpoint` section: NIC, host and addresses.

use tenter_endpoint::congestion_control::{CongestionControl, Dcqcn};
use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_endpoint::{AckPolicy, Interleave, NicSpec, ReceiveBufferSpec};
use tenter_units::{Bytes, Rate, Time};

use crate::addresses::Addresses;
use crate::congestion;
use crate::host::Host;
use crate::pcie;
use crate::source_ports::SourcePorts;
use tenter_config::Presence::{Default, Depends, Required};
use tenter_config::{KeyTable, Value as _, key};
use tenter_notation::decode::{Field, Read, Section};
use tenter_notation::tree::{Entry, Node};

const ENDPOINT: KeyTable = KeyTable {
    title: "`endpoint`",
    keys: &[
        key(
            "nic",
            "mapping",
            Default("{}"),
            "The NIC model; all NICs of a trial share it",
        ),
        key(
            "host",
            "",
            Default("{}"),
            "What the host adds to each send",
        )
        .typed(|| Host::shape(())),
        key(
            "nic_impairments",
            "",
            Default("[]"),
            "NICs that cannot use their PCIe to the full; of several entries for one NIC the last holds",
        )
        .typed(|| Vec::<pcie::NicImpairment>::shape(())),
        key(
            "addresses",
            "",
            Default("{}"),
            "Addresses and DSCP of the NICs: the addresses feed the ECMP hash, the DSCP gives the class, prefix and gateway decide who is reachable",
        )
        .typed(|| Addresses::shape(())),
    ],
};

const NIC: KeyTable = KeyTable {
    title: "`endpoint.nic`",
    keys: &[
        key(
            "mtu",
            "256, 512, 1024, 2048 or 4096",
            Depends("`4096`, or by `port_mtu`"),
            "Payload bytes of a full packet (the RoCE path MTU)",
        )
        .from("the largest the InfiniBand architecture has; usual on jumbo-frame Ethernet"),
        key(
            "port_mtu",
            "bytes, 316 to 65535",
            Depends("unset"),
            "Ethernet MTU of the port instead of `mtu`: the largest path MTU that fits with 60 bytes of headers (IPv4, UDP, BTH, RETH, ICRC)",
        ),
        key(
            "message_size",
            "size",
            Default("128KiB"),
            "Payload of one RDMA write message",
        )
        .from("AI Fabric Test Methodology (Keysight), every case with RoCEv2"),
        key(
            "interleave",
            "`packet` or `message`",
            Default("packet"),
            "When the next QP has its turn, where several have something to send: after each packet, or after each message",
        )
        .from("the fairest there is; schedulers of NICs are not published"),
        key(
            "entropy",
            "",
            Default("none"),
            "Whether data packets of a QP differ in their UDP source port, so that switches that hash it spread them",
        )
        .typed(|| Option::<SourcePorts>::shape(())),
        key(
            "acknowledge",
            "`per-message`, `per-packet` or `{every: N}`",
            Default("per-message"),
            "When the receiver acknowledges; `every` counts packets, and the last packet of a message is always acknowledged",
        ),
        key(
            "window",
            "packets or `none`",
            Default("none"),
            "Packets a QP may have unacknowledged",
        ),
        key(
            "outstanding_messages",
            "messages or `none`",
            Default("none"),
            "Messages a QP may have begun that are not acknowledged whole: the depth of its send queue",
        ),
        key(
            "retransmission_timeout",
            "time",
            Default("67.108864ms"),
            "How long the oldest unacknowledged packet may stay so before the QP goes back to it",
        )
        .from("timeout exponent 14 of the InfiniBand Architecture Specification: 4.096 us x 2^14"),
        key(
            "retry_count",
            "count, may be 0",
            Default("7"),
            "Timeouts in a row without progress after which the QP gives up",
        )
        .from("the largest the InfiniBand Architecture Specification allows, and what collective libraries set"),
        key(
            "retry_on_nak",
            "`true` or `false`",
            Default("false"),
            "Whether NAKs of go-back-N use up retries as well: those since the last acknowledgement proper, together with timeouts, as the InfiniBand Architecture Specification has it",
        ),
        key(
            "transmit_latency",
            "time",
            Default("0ns"),
            "From the QP to the wire",
        ),
        key(
            "receive_latency",
            "time",
            Default("0ns"),
            "From the wire to the QP",
        ),
        key(
            "message_gap",
            "time",
            Default("0ns"),
            "Idle wire after the last packet of each message",
        ),
        key(
            "connection_set_up",
            "`true` or `false`",
            Default("false"),
            "Whether one request and its reply cross the fabric before the first packet of each QP",
        ),
        key(
            "start_skew_max",
            "time",
            Default("0ns"),
            "Each rank starts each collective of its job later by a random time up to this",
        ),
        key(
            "clock_offset_max_ppm",
            "parts per million, 0 to 1000",
            Default("0"),
            "Each NIC's clock is off by a random amount of at most this; IEEE 802.3 allows 100",
        ),
        key(
            "control_dscp",
            "0 to 63, or `none`",
            Default("none"),
            "DSCP of acknowledgements and of connection set-up, and with it their class, which is the DSCP shifted right by 3; `none` is that of the data",
        ),
        key(
            "receive_buffer",
            "mapping or `none`",
            Depends("`none`, or `{}` with `pcie`"),
            "A receive side slower than the wire, and the buffer before it; `none` takes whatever arrives",
        ),
        key(
            "pcie",
            "",
            Default("none"),
            "PCIe between the NIC and host memory: the limit of DMA, both ways",
        )
        .typed(|| Option::<pcie::Pcie>::shape(())),
        key(
            "loss_recovery",
            "`go-back-n`, `selective-repeat`, `none` or mapping",
            Default("go-back-n"),
            "What is done about lost packets; `none` sends nothing again and counts what is missing, as a traffic tester does",
        )
        .from("the InfiniBand Architecture Specification"),
        congestion::KEY,
    ],
};

const RECEIVE_BUFFER: KeyTable = KeyTable {
    title: "`endpoint.nic.receive_buffer`",
    keys: &[
        key(
            "drain_rate",
            "rate",
            Depends("by `pcie`"),
            "Frame bytes leave the buffer at this rate, into host memory; with `pcie` payload leaves it by DMA, and NICs whose PCIe keeps up with the wire have no buffer",
        ),
        key(
            "capacity",
            "size",
            Default("2MiB"),
            "Frame bytes it holds; what does not fit is dropped",
        )
        .from("assumed: no vendor publishes the buffers of its NICs"),
        key(
            "xoff",
            "size or `none`",
            Depends("half the capacity"),
            "The NIC pauses the leaf above this many bytes; `none` never pauses it",
        ),
        key(
            "xon",
            "size",
            Depends("half of `xoff`"),
            "The NIC lets the leaf resume at this many bytes or fewer",
        ),
        key(
            "quanta",
            "1 to 65535",
            Default("65535"),
            "Pause time that an XOFF asks for, in units of 512 bit times",
        )
        .from("the largest that IEEE 802.1Qbb has"),
    ],
};

const ACKNOWLEDGE: KeyTable = KeyTable {
    title: "`endpoint.nic.acknowledge`, written as a mapping",
    keys: &[key(
        "every",
        "packets",
        Required,
        "Packets that one acknowledgement covers",
    )],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 4] = [&ENDPOINT, &NIC, &ACKNOWLEDGE, &RECEIVE_BUFFER];

/// IPv4 20, UDP 8, BTH 12, RETH 16 and ICRC 4: what an Ethernet MTU holds beside the payload of the
/// longest packet.
const HEADER_BYTES: u64 = 60;
/// Ethernet header and check sequence, which an Ethernet MTU does not count.
pub(crate) const FRAME_BYTES: u64 = 18;
/// Path MTUs of the InfiniBand architecture.
const PATH_MTUS: [u32; 5] = [256, 512, 1024, 2048, 4096];
/// No NIC has a larger one.
const RECEIVE_BUFFER_MAX: u64 = 1 << 40;
/// No latency of a machine is longer.
const SECOND: Time = Time::from_us(1_000_000);
/// The longest message of the InfiniBand architecture.
const MESSAGE_MAX: u64 = 1 << 31;

/// The `endpoint` section, read.
pub(crate) struct Endpoint {
    pub(crate) nic: NicSpec,
    /// How source ports change, which the NICs' specification gets with the fabric's hash.
    pub(crate) entropy: Option<SourcePorts>,
    pub(crate) addresses: Addresses,
    /// NICs that cannot use their PCIe to the full.
    pub(crate) nic_impairments: Vec<pcie::NicImpairment>,
    pub(crate) host: Host,
}

/// Bytes on the wire of the longest frame with payload `mtu`.
fn longest_frame(mtu: u32) -> u64 {
    u64::from(mtu) + HEADER_BYTES + FRAME_BYTES
}

/// Reads `endpoint` out of the scenario.
pub(crate) fn read(scenario: &mut Section<'_>) -> Option<Endpoint> {
    let mut endpoint = scenario.section("endpoint", &ENDPOINT)?;
    let mut entropy = None;
    let nic = endpoint.section("nic", &NIC).map(|mut section| {
        entropy = section.value("entropy");
        let nic = read_nic(&mut section);
        endpoint.put("nic", section.finish());
        nic
    });
    let host: Option<Host> = endpoint.value("host");
    let nic = nic.flatten();
    let pcie = nic.as_ref().and_then(|nic| nic.pcie);
    let nic_impairments = match &nic {
        Some(_) => pcie::read_impairments(&mut endpoint, pcie.as_ref()),
        None => endpoint.take("nic_impairments").and(None),
    };
    let addresses = endpoint.value("addresses");
    scenario.put("endpoint", endpoint.finish());
    let host = host?;
    Some(Endpoint {
        nic: NicSpec {
            step_delay: host.step_delay,
            start_up: host.start_up,
            ..nic?
        },
        entropy: entropy?,
        addresses: addresses?,
        nic_impairments: nic_impairments?,
        host,
    })
}

/// All of [`NicSpec`] but the host's delays.
fn read_nic(section: &mut Section<'_>) -> Option<NicSpec> {
    let mtu_bytes = read_mtu(section);
    let message = section.take("message_size");
    let message_bytes = message
        .as_ref()
        .and_then(|field| field.size(&(1..=MESSAGE_MAX)));
    let turns = [
        ("packet", Interleave::Packet),
        ("message", Interleave::Message),
    ];
    let interleave = section.choice("interleave", &turns);
    let acknowledge = read_acknowledge(section);
    let window_field = section.take("window");
    let window_packets = window_field
        .as_ref()
        .and_then(|field| field.or_none(|field| field.integer(1..=u64::from(u32::MAX))));
    let outstanding = section.take("outstanding_messages");
    let outstanding_messages = outstanding.and_then(|of| of.or_none(|of| of.integer(1..=1 << 20)));
    let retransmission_timeout =
        section.time("retransmission_timeout", Time::from_us(1)..=SECOND * 10);
    let retry_count = section.integer("retry_count", 0..=255);
    let retry_on_nak = section.boolean("retry_on_nak");
    let transmit_latency = section.time("transmit_latency", Time::ZERO..=SECOND);
    let receive_latency = section.time("receive_latency", Time::ZERO..=SECOND);
    let message_gap = section.time("message_gap", Time::ZERO..=SECOND);
    let connection_set_up = section.boolean("connection_set_up");
    let start_skew_max = section.time("start_skew_max", Time::ZERO..=SECOND);
    let clock_offset_max_ppm = section.integer("clock_offset_max_ppm", 0..=1000);
    let control_class = section.take("control_dscp").and_then(|field| {
        let dscp: Option<u8> = field.or_none(|field| field.integer(0..=63))?;
        Some(dscp.map(|dscp| dscp >> 3))
    });
    let loss_recovery = congestion::read_recovery(section);
    let (congestion_control, notification) = congestion::read_control(section).unzip();
    let control: Option<&CongestionControl> = congestion_control.as_ref().and_then(Option::as_ref);
    let telemetry_bytes = control.map_or(0, CongestionControl::telemetry_bytes);
    let longest = longest_frame(mtu_bytes.unwrap_or(0)) + u64::from(telemetry_bytes);
    let pcie = pcie::read(section);
    let has_pcie = pcie.is_none_or(|pcie| pcie.is_some());
    let receive_buffer = read_receive_buffer(section, longest, has_pcie);
    let nic = NicSpec {
        mtu_bytes: mtu_bytes?,
        message_bytes: message_bytes?,
        interleave: interleave?,
        entropy: None,
        reroute: None,
        acknowledge: acknowledge?,
        window_packets: window_packets?,
        outstanding_messages: outstanding_messages?,
        retransmission_timeout: retransmission_timeout?,
        retry_count: retry_count?,
        retry_on_nak: retry_on_nak?,
        transmit_latency: transmit_latency?,
        receive_latency: receive_latency?,
        message_gap: message_gap?,
        step_delay: Time::ZERO,
        start_up: Time::ZERO,
        connection_set_up: connection_set_up?,
        start_skew_max: start_skew_max?,
        clock_offset_max_ppm: clock_offset_max_ppm?,
        control_class: control_class?,
        receive_buffer: receive_buffer?,
        pcie: pcie?,
        loss_recovery: loss_recovery?,
        congestion_control: congestion_control?,
        notification: notification?,
    };
    check_windows(section, &window_field?, &nic);
    Some(nic)
}

fn read_mtu(section: &mut Section<'_>) -> Option<u32> {
    let from_port = section.has("port_mtu");
    let mtu = match section.take_either("mtu", "port_mtu") {
        None => Some(4096),
        Some(field) if from_port && field.path.ends_with("port_mtu") => {
            let port_mtu = field.integer(316..=65_535)?;
            path_mtu(port_mtu)
        }
        Some(field) => {
            let mtu = field.integer(1..=65_535)?;
            if !PATH_MTUS.contains(&mtu) {
                let help = "choose 256, 512, 1024, 2048 or 4096, or give `port_mtu` instead";
                field.problem(&format!("cannot be `{mtu}`"), help.to_owned());
                return None;
            }
            Some(mtu)
        }
    };
    section.drop_key("port_mtu");
    section.put("mtu", Node::plain(mtu?.to_string()));
    mtu
}

/// The largest path MTU that fits an Ethernet MTU.
fn path_mtu(port_mtu: u64) -> Option<u32> {
    let fits = |mtu: &&u32| u64::from(**mtu) + HEADER_BYTES <= port_mtu;
    PATH_MTUS.iter().rev().find(fits).copied()
}

/// The buffer of the receive side, which PCIe drains where there is any.
fn read_receive_buffer(
    section: &mut Section<'_>,
    frame: u64,
    has_pcie: bool,
) -> Read<Option<ReceiveBufferSpec>> {
    if !section.has("receive_buffer") {
        let usual = if has_pcie {
            Node::mapping([])
        } else {
            Node::plain("none")
        };
        section.fill(&[Entry {
            key: "receive_buffer".to_owned(),
            key_at: None,
            node: usual,
        }]);
    }
    let field = section.take("receive_buffer")?;
    if field.word() == Some("none") {
        if has_pcie {
            let help = "leave it out, or give it `capacity`, `xoff` and `xon`";
            field.problem("cannot be `none` with `pcie`", help.to_owned());
            return None;
        }
        return Some(None);
    }
    let mut own = field.section(&RECEIVE_BUFFER);
    let drain_rate = read_drain_rate(&mut own, has_pcie);
    let capacity = own
        .take("capacity")
        .and_then(|field| field.size(&(frame..=RECEIVE_BUFFER_MAX)));
    let (xoff, xon) = read_thresholds(&mut own, capacity).unzip();
    let quanta = own.integer("quanta", 1..=65_535);
    section.put("receive_buffer", own.finish());
    Some(Some(ReceiveBufferSpec {
        drain_rate: drain_rate?,
        capacity_bytes: capacity?,
        xoff_bytes: xoff?,
        xon_bytes: xon?,
        quanta: quanta?,
    }))
}

/// The rate of the buffer; none where PCIe drains it.
fn read_drain_rate(own: &mut Section<'_>, has_pcie: bool) -> Read<Option<Rate>> {
    match own.take("drain_rate") {
        None if has_pcie => Some(None),
        None => {
            let help = "add `drain_rate: 250Gbps`, for example, or give `endpoint.nic.pcie`";
            own.problem("lacks `drain_rate`", help.to_owned());
            None
        }
        Some(field) if has_pcie => {
            let help = "leave it out, or leave `pcie` out";
            field.problem(
                "and `pcie` both say how fast the buffer drains",
                help.to_owned(),
            );
            None
        }
        Some(field) => {
            let rates = Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);
            field.quantity("a rate", &rates).map(Some)
        }
    }
}

/// Where pauses begin and end; `xon` means nothing where they never begin.
fn read_thresholds(own: &mut Section<'_>, capacity: Option<u64>) -> Option<(Option<u64>, u64)> {
    let xoff_field = own.take("xoff");
    let xon_field = own.take("xon");
    let capacity = capacity?;
    let written = |bytes| Node::plain(Bytes::new(bytes).to_string());
    let xoff = match xoff_field {
        Some(field) => field.or_none(|field| field.size(&(0..=capacity)))?,
        None => Some(capacity / 2),
    };
    own.put("xoff", xoff.map_or_else(|| Node::plain("none"), written));
    let Some(xoff) = xoff else {
        if let Some(field) = xon_field {
            let help = "leave it out, or give `xoff`".to_owned();
            field.problem("means nothing where the leaf is never paused", help);
            return None;
        }
        return Some((None, 0));
    };
    let xon = match xon_field {
        Some(field) => field.size(&(0..=xoff))?,
        None => xoff / 2,
    };
    own.put("xon", written(xon));
    Some((Some(xoff), xon))
}

fn read_acknowledge(section: &mut Section<'_>) -> Option<AckPolicy> {
    let field = section.take("acknowledge")?;
    if field.word().is_some() {
        let per_packet = AckPolicy::EveryPackets(1);
        return field.choice(&[
            ("per-message", AckPolicy::PerMessage),
            ("per-packet", per_packet),
        ]);
    }
    let mut mapping = field.section(&ACKNOWLEDGE);
    let every = mapping.integer("every", 1..=u64::from(u32::MAX));
    section.put("acknowledge", mapping.finish());
    every.map(AckPolicy::EveryPackets)
}

/// A window that closes before the first acknowledgement is due never opens again.
fn check_windows(section: &Section<'_>, field: &Field<'_>, nic: &NicSpec) {
    let due = first_acknowledgement(nic);
    let what = |window: u32| {
        format!(
            "is {window} packets, but the first acknowledgement comes after {due}: every QP would wait for ever"
        )
    };
    if let Some(window) = nic.window_packets
        && u64::from(window) < due
    {
        let help = format!("give a window of at least {due}, or set `acknowledge: per-packet`");
        field.problem(&what(window), help);
    }
    if let LossRecovery::SelectiveRepeat(repeat) = nic.loss_recovery
        && u64::from(repeat.window) < due
    {
        let of = "has a window in `loss_recovery` that ";
        let help = format!("let it have at least {due}, or set `acknowledge: per-packet`");
        section.problem(&format!("{of}{}", what(repeat.window)), help);
    }
    // A fixed one is compared with the lines, where these are known.
    let windowed = |control: &Dcqcn| control.window.is_some_and(|window| window.scaled);
    if matches!(&nic.congestion_control, Some(CongestionControl::Dcqcn(own)) if windowed(own))
        && due > 1
    {
        let what = format!(
            "has windows that may be of one packet under `dcqcn`, but the first acknowledgement comes after {due}: QPs would wait for timeouts"
        );
        section.problem(&what, "set `acknowledge: per-packet`".to_owned());
    }
    if matches!(nic.congestion_control, Some(CongestionControl::Swift(_))) && due > 1 {
        let what = format!(
            "has windows of one packet under `swift`, but the first acknowledgement comes after {due}: QPs would wait for timeouts"
        );
        section.problem(&what, "set `acknowledge: per-packet`".to_owned());
    }
    let hpcc = matches!(nic.congestion_control, Some(CongestionControl::Hpcc(_)));
    if hpcc && nic.acknowledge != AckPolicy::EveryPackets(1) {
        let what = "does not answer every packet, but under `hpcc` each has telemetry to return";
        section.problem(what, "set `acknowledge: per-packet`".to_owned());
    }
}

/// After so many packets of a message comes an acknowledgement.
pub(crate) fn first_acknowledgement(nic: &NicSpec) -> u64 {
    let message_packets = nic.message_bytes.div_ceil(u64::from(nic.mtu_bytes));
    match nic.acknowledge {
        AckPolicy::PerMessage => message_packets,
        AckPolicy::EveryPackets(every) => message_packets.min(u64::from(every)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_mtu_follows_the_published_table() {
        // AI Fabric Test Methodology (Keysight) pairs these port MTUs and path MTUs.
        for (port, path) in [(1500, 1024), (2200, 2048), (4200, 4096), (8192, 4096)] {
            assert_eq!(path_mtu(port), Some(path));
        }
        // 256 + 60 is the smallest, one byte less than 512 + 60 does not hold 512.
        assert_eq!(
            (path_mtu(316), path_mtu(315), path_mtu(571)),
            (Some(256), None, Some(256))
        );
    }

    #[test]
    fn the_longest_frame_is_the_first_of_a_message() {
        // 4,158 bytes for a middle packet of 4,096, and 16 more for the RETH of the first.
        assert_eq!(longest_frame(4096), 4158 + 16);
    }
}
