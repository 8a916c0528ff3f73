//! The section `endpoint.nic.transport`: the transport by which NICs send.

use std::ops::RangeInclusive;

use tenter_language::config::{Reader, Shape, Value, Written, choice, component};
use tenter_language::units::{Bytes, Time};

use super::entropy::EntropySpec;
use crate::congestion_control::UetControl;

component! {
    /// The transport of Ultra Ethernet. Sizes are those of frames; on the wire each takes 20 bytes
    /// more, as everywhere.
    pub struct UltraEthernet as "`endpoint.nic.transport`, written as a mapping", derive(Clone, Copy, Debug, PartialEq, Eq) {
        /// The transport that has further keys.
        kind: Kind;
        /// Payload bytes of a full packet.
        payload_bytes as "payload": u32 as Bytes = "4096B", in PAYLOADS, from "the largest that usual Ultra Ethernet profiles have";
        /// Frame bytes of a data packet beside its payload.
        header_bytes as "header": u32 as Bytes = "64B", in HEADERS, from "the Ultra Ethernet Consortium's simulator";
        /// Frame bytes of acknowledgements, reports of trimmed packets, grants and requests.
        control_bytes as "control_frame": u32 as Bytes = "64B", in HEADERS, from "the Ultra Ethernet Consortium's simulator";
        /// A receiver acknowledges what it has got after this many bytes; at once where a packet is
        /// marked, the first, a duplicate, or asks for it.
        acknowledge_after: Bytes = "16KiB", in Bytes::new(1)..=Bytes::new(1 << 30), from "the Ultra Ethernet Consortium's simulator";
        /// How senders slow down.
        congestion_control: UetControl = "nscc";
        /// How senders choose paths.
        entropy: EntropySpec = "{}";
        /// How lost packets are noticed, where switches do not trim them.
        loss_detection: LossDetection = "timeout";
        /// Full packets that a new connection may have under way, where windows limit it.
        initial_window: Option<u32> = absent "1.5 times what fills the longest round trip", in 1..=1 << 20;
        /// The longest round trip of the network without load, by which windows are measured.
        round_trip: Option<Time> = absent "that of the fabric, for a full packet and its acknowledgement", in TIMES;
        /// A packet that is not acknowledged for this long is sent again.
        retransmission_timeout: Option<Time> = absent "15 us, and six times what a full queue takes to drain", in TIMES, from "the Ultra Ethernet Consortium's simulator";
        /// A connection gives up when nothing has been acknowledged for this long.
        give_up_after: Time = "100ms", in TIMES, from "assumed";
    }
}

const PAYLOADS: RangeInclusive<Bytes> = Bytes::new(64)..=Bytes::new(9000);
const HEADERS: RangeInclusive<Bytes> = Bytes::new(40)..=Bytes::new(256);
const TIMES: RangeInclusive<Time> = Time::from_us(1)..=Time::from_us(10_000_000);

/// Name for the transport that has keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Ultra Ethernet's transport, the only one with keys.
    #[default]
    UltraEthernet,
}

choice!(Kind { "ultra-ethernet" => UltraEthernet });

/// Detection of losses that no switch has reported by trimming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// Timeouts alone.
    Timeout,
    /// SLEEK: packets that were overtaken by too many others count as lost, and probes ask after a
    /// silence.
    Sleek,
}

choice!(LossDetection { "timeout" => Timeout, "sleek" => Sleek });

/// Transport of all NICs in a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// Reliable connections of `RoCEv2`.
    #[default]
    Roce,
    /// Connections of Ultra Ethernet.
    UltraEthernet(UltraEthernet),
}

impl Transport {
    const WORDS: &'static [&'static str] = &["roce", "ultra-ethernet"];
}

impl Default for UltraEthernet {
    fn default() -> UltraEthernet {
        tenter_language::config::default_with(&[("kind", "ultra-ethernet")])
    }
}

impl Value for Transport {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        let words = Shape::Choice(Transport::WORDS);
        Shape::Either(Box::new(words), Box::new(UltraEthernet::shape(())))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Transport> {
        if reader.is_mapping(key) {
            let read = <UltraEthernet as Value>::read(reader, key, ());
            return read.map(Transport::UltraEthernet);
        }
        let members = [
            Transport::Roce,
            Transport::UltraEthernet(UltraEthernet::default()),
        ];
        Some(members[reader.choice(key, Transport::WORDS)?])
    }

    fn written(&self) -> Written {
        match self {
            Transport::Roce => Written::word("roce"),
            Transport::UltraEthernet(own) => Value::written(own),
        }
    }
}

impl UltraEthernet {
    /// Returns a full packet's frame bytes.
    pub fn full_frame_bytes(&self) -> u32 {
        self.payload_bytes + self.header_bytes
    }

    /// Returns true if receivers grant credit.
    pub fn has_credit(&self) -> bool {
        self.congestion_control.has_credit()
    }
}
