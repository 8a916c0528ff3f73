//! Telemetry-assisted load balancing: a flow keeps its link until a switch further on reports that
//! its queue is long.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::topology::{HostId, Routing, SwitchId};
use tenter_language::config::{Idle, Reader, choice, component};
use tenter_language::units::{Bytes, Instant, Time};

use crate::net::load_balancing::buckets::Buckets;
use crate::net::load_balancing::flowlet::BUCKETS_MAX;
use crate::net::load_balancing::hash::Ecmp;
use crate::net::load_balancing::quality::QualitySpec;
use crate::net::load_balancing::view::{Balance, Described, SwitchSite, TableSizes, View};
use crate::net::packet::{Notice, Packet, PacketKind, REROUTE_FRAME_BYTES};
use crate::net::signals::{Headers, Sender};

/// Bits for the level in the memory of a notice; the rest has the time until which it counts.
const LEVEL_BITS: u32 = 3;
/// Place that stands for no link yet.
const NO_PLACE: u16 = u16::MAX;

/// Longest time that a scenario may set for any key.
const SECOND: Time = Time::from_us(1_000_000);
/// Accepted thresholds, in frame bytes, up to 1 TiB.
const SIZES: RangeInclusive<Bytes> = Bytes::new(0)..=Bytes::new(1 << 40);
/// Largest `delta`: the levels of the own queue and of a notice add up to 14 at most.
const DELTA_MAX: u8 = 14;

/// Class of notices to hosts: above all others, with a strict queue to itself.
pub(crate) const HOST_NOTICE_CLASS: u8 = 7;

/// Part of the fabric that moves a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notify {
    /// The switch before the long queue, which chooses the least busy of its links.
    Leaf,
    /// The sender's NIC, which gives the flow another source port: the switches, which go by the
    /// hash alone, may then take any of their links for it.
    Host,
}

choice!(Notify {
    "leaf" => Leaf,
    "host" => Host,
});

/// Occasion on which a flow moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// The next packet of the flow.
    AtOnce,
    /// A gap, in which the flow has sent nothing.
    AtGap,
}

choice!(Moves {
    "at-once" => AtOnce,
    "at-gap" => AtGap,
});

component! {
    /// Flows are placed by their hash as in ECMP. A switch whose queue towards another switch is
    /// longer than a threshold tells the switch from which a packet came, and itself where a host
    /// sent it; the packet's flow is then moved to the least busy of its links, as far as is known
    /// there.
    pub struct TelemetryAssisted {
        idle idle;
        /// The part that moves a flow: the switch before the long queue, to the least busy of its
        /// links; or the NIC that sends it, by another UDP source port, for which ECMP may take any
        /// link. Notices to hosts are packets of class 7.
        notify: Notify = "leaf";
        /// A queue towards another switch is long beyond this. If it also grows, the previous
        /// switch is notified, or this one if a host sent the packet.
        threshold: Bytes = "128KiB", in SIZES,
            from "assumed: under three microseconds at 400G, and below the queues at which ECN marks";
        /// A long queue grows when it has this much more than at the last check, or when the sender
        /// has been paused since; a move would not help a queue of constant length.
        growth: Bytes = "16KiB", in SIZES,
            from "assumed: 3 % of what a link of 400G carries in `notice_interval`";
        /// Interval at which a switch checks a port, with at most one notice each time.
        notice_interval: Time = "10us", in Time::ZERO..=SECOND,
            from "assumed: as long as notice and response take, so that one move is seen before the next is asked for";
        /// From the arrival of a notice to the first packet that may take another link, or at the
        /// host to its new source port.
        response: Time = "5us", in Time::ZERO..=SECOND,
            from "assumed: hardware that changes an entry of a table";
        /// Entries of a switch's table of flows; flows of one entry count as one.
        buckets: u32 = "4096", in 1..=BUCKETS_MAX,
            from "assumed: so many that flows of a leaf seldom share one";
        /// A flow that has moved stays where it is for this time.
        hold_down: Time = "100us", in Time::ZERO..=SECOND,
            from "assumed: long enough for the queue that it left to drain";
        /// A notice about the way behind a link counts for this time.
        memory: Time = "100us", in Time::ZERO..=SECOND, from "assumed: as `hold_down`";
        /// The number of levels, of eight, by which another link must be better.
        delta: u8 = "1", in 1..=DELTA_MAX,
            from "the quality delta of dynamic load balancing; its value is assumed";
        /// When a flow moves: with its next packet, which may overtake those before it, or when it
        /// has sent nothing for `gap`.
        moves as "move": Moves = "at-once";
        /// With `move: at-gap`: a flow moves after it has sent nothing for this time.
        gap: Time = "256us", in Time::from_ps(1)..=SECOND,
            from "a common default of the inactivity interval in dynamic load balancing";
        check goes_together;
        ..quality: QualitySpec, "What the switch knows of its ports.";
    }
}

/// Returns the keys without effect, as only leaves use them.
fn idle(spec: &TelemetryAssisted) -> Vec<Idle> {
    if spec.notify == Notify::Leaf {
        return Vec::new();
    }
    let what = "has no effect with `notify: host`: switches go by the hash alone";
    Idle::all(&["buckets", "memory", "delta", "gap"], what, "leave it out")
}

fn goes_together(spec: &TelemetryAssisted, reader: &mut dyn Reader) -> bool {
    let mut holds = true;
    if spec.notify == Notify::Leaf {
        return holds;
    }
    if spec.moves == Moves::AtGap {
        let what = "cannot be `at-gap` with `notify: host`: a NIC changes the source port at once";
        reader.refuse("move", what, "leave `move` out, or use `notify: leaf`");
        holds = false;
    }
    holds
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Arrival of the last packet.
    last: Instant,
    /// Instant from which the flows are to move; [`Instant::NEVER`] without a notice.
    due: Instant,
    /// Instant until which notices do not move the flows.
    held_until: Instant,
    /// Place of their link among the candidates; [`NO_PLACE`] before the first packet.
    place: u16,
}

/// Checks of a port at which queues may become long.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    /// Earliest instant of the next check.
    next: Instant,
    /// Instant of the last check.
    last: Instant,
    /// Frame bytes of the queue at hand in the last check.
    bytes: u64,
    /// True if the last check sent a notice.
    told: bool,
}

/// Queue of a packet, as it is when the packet comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenQueue {
    /// Port that the packet came through.
    pub(crate) input: u16,
    /// Output port of the queue.
    pub(crate) port: u16,
    /// Frame bytes that wait in the queue.
    pub(crate) queue_bytes: u64,
    /// XOFF frames sent through the input so far.
    pub(crate) xoffs: u64,
}

/// Receiver of a notice about a long queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoticeTarget {
    /// None: no notice is due.
    Nobody,
    /// The switch that the packet came from.
    Before,
    /// The switch itself, because a host sent the packet.
    Itself,
    /// The NIC that sent the packet.
    Host,
}

/// State of one switch: placed flows, notices remembered, and checks of its ports.
#[derive(Clone, Debug)]
pub(crate) struct TelemetryTable {
    spec: TelemetryAssisted,
    table: Buckets<Bucket>,
    /// By port and then by leaf: the time until which a notice counts, and its level.
    heard: Vec<u64>,
    /// Checks of the queues at each port.
    looks: Vec<Look>,
    /// By port: XOFF frames sent through it, and the arrival of the packet that found another one.
    xoffs: Vec<(u64, Instant)>,
    /// True for ports with a host; empty until it is first asked for.
    has_host: Vec<bool>,
    /// Notices sent and received through each port.
    notices: Vec<(u64, u64)>,
    moves: u64,
    /// Number of notices sent to hosts.
    host_notices: u64,
    /// Reader of packets' senders, if hosts are notified.
    headers: Option<Arc<dyn Headers>>,
}

impl TelemetryTable {
    /// Makes the state of a switch with `ports` ports.
    fn new(
        spec: TelemetryAssisted,
        ports: usize,
        headers: Option<Arc<dyn Headers>>,
    ) -> TelemetryTable {
        let empty = Bucket {
            last: Instant::START,
            due: Instant::NEVER,
            held_until: Instant::START,
            place: NO_PLACE,
        };
        TelemetryTable {
            spec,
            table: Buckets::new(spec.buckets, empty),
            heard: Vec::new(),
            has_host: Vec::new(),
            looks: vec![Look::default(); ports],
            xoffs: vec![(0, Instant::START); ports],
            notices: vec![(0, 0); ports],
            moves: 0,
            host_notices: 0,
            headers,
        }
    }

    /// Returns the number of notices sent to hosts.
    pub(crate) fn host_notices(&self) -> u64 {
        self.host_notices
    }

    /// Makes the notice to a packet's sender; `None` if switches are notified, or headers not read.
    pub(crate) fn host_notice(&mut self, packet: &Packet) -> Option<Packet> {
        if self.spec.notify == Notify::Leaf {
            return None;
        }
        let Sender { host, hash, slot } = self.headers.as_ref()?.sender(packet);
        self.host_notices += 1;
        Some(Packet {
            at: packet.at,
            queue_pair: slot.number(),
            sequence: packet.hash,
            destination: host,
            hash,
            sent: 0,
            frame_bytes: REROUTE_FRAME_BYTES,
            kind: PacketKind::Reroute,
            flags: Packet::class_flags(HOST_NOTICE_CLASS),
        })
    }

    /// Returns the notices sent through a port and received through it; zero for a switch without
    /// cables, which has no port.
    pub(crate) fn notices(&self, port: u16) -> (u64, u64) {
        self.notices
            .get(usize::from(port))
            .copied()
            .unwrap_or_default()
    }

    /// Returns how often a bucket has moved to another link.
    pub(crate) fn moves(&self) -> u64 {
        self.moves
    }

    /// Decides who receives a notice about a packet in its queue, and records it. Queues to hosts
    /// cause no notice, as there is no other path.
    pub(crate) fn tells(
        &mut self,
        packet: &Packet,
        seen: SeenQueue,
        switch: SwitchId,
        routing: &Routing,
    ) -> NoticeTarget {
        let SeenQueue {
            input,
            port,
            queue_bytes,
            xoffs,
        } = seen;
        let now = packet.at;
        let paused = &mut self.xoffs[usize::from(input)];
        // The queue has made this switch pause the packet's sender since its last packet.
        if paused.0 != xoffs {
            *paused = (xoffs, now);
        }
        let look = &mut self.looks[usize::from(port)];
        if now < look.next || !packet.kind.is_data() {
            return NoticeTarget::Nobody;
        }
        let before = *look;
        *look = Look {
            next: now + self.spec.notice_interval,
            last: now,
            bytes: queue_bytes,
            told: false,
        };
        let growth = self.spec.growth.count();
        // A queue of constant length is a link that is fully used, which a move would not help.
        let grows = queue_bytes >= before.bytes + growth;
        let is_held = paused.1 > before.last && queue_bytes + growth > before.bytes;
        let is_long = queue_bytes > self.spec.threshold.count();
        // After a notice one check is skipped, so that the move can take effect.
        if before.told || !is_long || !(grows || is_held) {
            return NoticeTarget::Nobody;
        }
        if self.has_host.is_empty() {
            self.has_host = vec![false; self.notices.len()];
            for port in routing.host_ports(switch) {
                self.has_host[usize::from(port)] = true;
            }
        }
        if self.has_host[usize::from(port)] {
            return NoticeTarget::Nobody;
        }
        self.looks[usize::from(port)].told = true;
        if self.spec.notify != Notify::Leaf {
            return NoticeTarget::Host;
        }
        if self.has_host[usize::from(input)] {
            return NoticeTarget::Itself;
        }
        self.notices[usize::from(input)].0 += 1;
        NoticeTarget::Before
    }

    /// Applies a notice that came through `port`: remembers its level, and lets the flow move.
    pub(crate) fn hear(
        &mut self,
        notice: &Packet,
        port: u16,
        candidates: &[u16],
        routing: &Routing,
    ) {
        let now = notice.at;
        self.notices[usize::from(port)].1 += 1;
        if self.heard.is_empty() {
            // Made with the first notice: it has a word for each port and leaf.
            self.heard = vec![0; self.notices.len() * routing.groups()];
        }
        let way = way(port, notice.destination, routing);
        let until = now + self.spec.memory;
        self.heard[way] = until.ps() << LEVEL_BITS | u64::from(Notice::of(notice).level);
        self.ask(notice, port, candidates);
    }

    /// Lets the flow of a packet that takes `port` move to another link once the response time has
    /// passed.
    pub(crate) fn ask(&mut self, packet: &Packet, port: u16, candidates: &[u16]) {
        if candidates.len() < 2 {
            return;
        }
        let bucket = self.table.of(candidates, packet.hash);
        // The notice means the link that the flow had: if the flow has left that link, it has no
        // effect.
        let is_there = candidates.get(usize::from(bucket.place)) == Some(&port);
        if is_there && bucket.due.is_never() && bucket.held_until <= packet.at {
            bucket.due = packet.at + self.spec.response;
        }
    }
}

/// Returns the place of the memory for the path through a port to a host's leaf.
fn way(port: u16, host: HostId, routing: &Routing) -> usize {
    usize::from(port) * routing.groups() + routing.group(host)
}

/// Returns the level in the last notice about a path, or 0 if the notice counts no more.
fn level_of(heard: &[u64], way: usize, now: Instant) -> u8 {
    let entry = heard.get(way).copied().unwrap_or(0);
    if entry >> LEVEL_BITS > now.ps() {
        (entry & ((1 << LEVEL_BITS) - 1)) as u8
    } else {
        0
    }
}

impl Described for TelemetryAssisted {
    type AtWork = Box<TelemetryTable>;
    const MAY_REORDER: bool = true;

    fn begin(&self, site: &SwitchSite) -> Box<TelemetryTable> {
        let headers = site.headers.clone();
        Box::new(TelemetryTable::new(*self, site.ports, headers))
    }

    fn quality(&self) -> Option<QualitySpec> {
        Some(self.quality)
    }

    fn reorders(&self) -> bool {
        self.moves == Moves::AtOnce
    }

    fn follows_hash(&self) -> bool {
        true
    }

    fn gap(&self) -> Option<Time> {
        (self.moves == Moves::AtGap).then_some(self.gap)
    }

    fn table_bytes(&self, sizes: &TableSizes) -> u64 {
        if self.notify == Notify::Host {
            return 0;
        }
        let heard = sizes.ports * sizes.leaves * size_of::<u64>() as u64;
        heard.saturating_add(Buckets::<Bucket>::bytes(self.buckets, sizes))
    }

    fn order_remedy(&self) -> &'static str {
        match self.notify {
            Notify::Leaf => {
                ", or `move: at-gap` here, so that a flow moves only when it has paused"
            }
            Notify::Host => ", or `notify: leaf` with `move: at-gap` here",
        }
    }
}

impl Balance for Box<TelemetryTable> {
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
        if self.spec.notify != Notify::Leaf {
            return Ecmp::usual().placing().choose(packet, view);
        }
        let now = packet.at;
        let bucket = self.table.of(view.candidates, packet.hash);
        let idle = now - bucket.last;
        bucket.last = now;
        // The first packet of a flow goes by the hash, as with ECMP.
        if bucket.place == NO_PLACE {
            bucket.place = Ecmp::usual().placing().choose(packet, view) as u16;
        }
        let kept = usize::from(bucket.place);
        let gap = self.spec.gap().unwrap_or_default();
        // Without a notice `due` is never.
        if bucket.due > now || idle < gap {
            return kept;
        }
        bucket.due = Instant::NEVER;
        let heard = &self.heard;
        let level = |port: u16| {
            let way = way(port, packet.destination, view.routing);
            view.level(port, now) + level_of(heard, way, now)
        };
        let best = view.least(packet, level);
        if level(view.candidates[best]) + self.spec.delta > level(view.candidates[kept]) {
            return kept;
        }
        bucket.place = best as u16;
        bucket.held_until = now + self.spec.hold_down;
        self.moves += 1;
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::load_balancing::quality::Quality;
    use crate::net::load_balancing::tests::{packet, ports, routing};

    const CANDIDATES: [u16; 4] = [0, 1, 2, 3];

    fn spec() -> TelemetryAssisted {
        TelemetryAssisted {
            notify: Notify::Leaf,
            quality: QualitySpec {
                refresh: Time::ZERO,
                step: Time::from_ns(100),
            },
            threshold: Bytes::new(10_000),
            growth: Bytes::new(1_000),
            notice_interval: Time::from_us(10),
            response: Time::from_us(5),
            buckets: 1 << 10,
            hold_down: Time::from_us(100),
            memory: Time::from_us(50),
            delta: 1,
            moves: Moves::AtOnce,
            gap: Time::ZERO,
        }
    }

    /// Flow 1 at a switch whose ports are all idle, and the notices that it gets.
    struct Bench {
        table: Box<TelemetryTable>,
        routing: Routing,
    }

    impl Bench {
        fn new(spec: TelemetryAssisted) -> Bench {
            Bench {
                table: Box::new(TelemetryTable::new(spec, 4, None)),
                routing: routing(),
            }
        }

        /// The port of a packet of flow 1 at a time in ns.
        fn port(&mut self, at_ns: u64) -> u16 {
            let quality = Quality::new(Some(self.table.spec.quality), 4);
            let view = View {
                candidates: &CANDIDATES,
                ports: &ports(),
                seed: 7,
                quality: &quality,
                routing: &self.routing,
            };
            let packet = packet(1, at_ns as u32, Instant::from_ps(at_ns * 1_000));
            CANDIDATES[self.table.choose(&packet, &view)]
        }

        fn tell(&mut self, port: u16, at_ns: u64) {
            let queued = packet(1, 0, Instant::START);
            let notice = Packet {
                at: Instant::from_ps(at_ns * 1_000),
                ..Notice::about(&queued, 3)
            };
            self.table.hear(&notice, port, &CANDIDATES, &self.routing);
        }
    }

    #[test]
    fn a_flow_moves_once_the_response_has_passed_and_stays_for_the_hold_down() {
        let mut bench = Bench::new(spec());
        let first = bench.port(0);
        bench.tell(first, 1_000);
        // The notice takes effect from 6 us on.
        assert_eq!(bench.port(5_999), first);
        let second = bench.port(6_000);
        assert_ne!(second, first);
        // Held until 106 us: a notice at 105 us counts for nothing, one at 106 us moves it. By then
        // nothing is remembered of the first link, but of the second it is.
        bench.tell(second, 105_000);
        assert_eq!(bench.port(115_000), second);
        bench.tell(second, 116_000);
        assert_eq!(bench.port(120_999), second);
        assert_ne!(bench.port(121_000), second);
        assert_eq!(bench.table.moves(), 2);
        assert_eq!(
            bench.table.notices(first).1 + bench.table.notices(second).1,
            3
        );
    }

    #[test]
    fn a_notice_about_a_link_that_the_flow_has_left_moves_nothing() {
        let mut bench = Bench::new(spec());
        let first = bench.port(0);
        let other = (first + 1) % 4;
        bench.tell(other, 1_000);
        assert_eq!(bench.port(20_000), first);
        // The notice about the other is still remembered, until 51 us.
        bench.tell(first, 30_000);
        let second = bench.port(35_000);
        assert!(second != first && second != other);
    }

    #[test]
    fn nothing_moves_where_every_link_is_as_bad() {
        let mut bench = Bench::new(spec());
        let first = bench.port(0);
        for port in CANDIDATES {
            bench.tell(port, 1_000);
        }
        assert_eq!(bench.port(10_000), first);
        assert_eq!(bench.table.moves(), 0);
        // Three levels are not better by four.
        let mut bench = Bench::new(TelemetryAssisted { delta: 4, ..spec() });
        let first = bench.port(0);
        bench.tell(first, 1_000);
        assert_eq!(bench.port(10_000), first);
    }

    #[test]
    fn a_flow_that_must_keep_its_order_waits_for_a_gap() {
        let (moves, gap) = (Moves::AtGap, Time::from_us(2));
        let mut bench = Bench::new(TelemetryAssisted {
            moves,
            gap,
            ..spec()
        });
        let first = bench.port(0);
        bench.tell(first, 1_000);
        for at in (2_000..20_000).step_by(1_999) {
            assert_eq!(bench.port(at), first);
        }
        // The last packet came at 19,991 ns.
        assert_ne!(bench.port(21_991), first);
    }

    #[test]
    fn with_notices_to_hosts_a_switch_moves_nothing_and_tells_the_sender() {
        let notify = Notify::Host;
        let mut bench = Bench::new(TelemetryAssisted { notify, ..spec() });
        let first = bench.port(0);
        bench.tell(first, 1_000);
        assert_eq!(bench.port(20_000), first);
        let mut spine = TelemetryTable::new(TelemetryAssisted { notify, ..spec() }, 2, None);
        let data = packet(1, 0, Instant::from_ps(10_000_000));
        let told = spine.tells(&data, seen(0, 1, 20_000, 0), SwitchId::new(2), &routing());
        assert_eq!(told, NoticeTarget::Host);
        assert_eq!(spine.notices(0), (0, 0));
    }

    /// The queue at the second of two ports, of a packet that came through the first.
    fn seen(input: u16, port: u16, queue_bytes: u64, xoffs: u64) -> SeenQueue {
        SeenQueue {
            input,
            port,
            queue_bytes,
            xoffs,
        }
    }

    #[test]
    fn a_queue_is_told_of_once_in_an_interval_and_never_to_or_about_hosts() {
        // Leaf 0 has its host at port 0 and four uplinks; the spine (switch 2) has two leaves.
        let routing = routing();
        let mut spine = TelemetryTable::new(spec(), 2, None);
        let mut tells = |at_us: u64, ports: (u16, u16), bytes, xoffs| {
            let packet = packet(1, 0, Instant::from_ps(at_us * 1_000_000));
            let seen = seen(ports.0, ports.1, bytes, xoffs);
            let target = spine.tells(&packet, seen, SwitchId::new(2), &routing);
            target == NoticeTarget::Before
        };
        assert!(!tells(0, (0, 1), 10_000, 0));
        assert!(tells(10, (0, 1), 11_000, 0));
        assert!(!tells(19, (0, 1), 20_000, 0));
        assert!(tells(19, (1, 0), 20_000, 0));
        // The notice is to have its effect before the queue is checked again.
        assert!(!tells(20, (0, 1), 20_000, 0));
        assert!(tells(30, (0, 1), 21_000, 0));
        // An XOFF before the check at 40 us does not count, one at 50 us does, and a queue that
        // only stays constant does not.
        assert!(!tells(39, (0, 1), 21_000, 1));
        assert!(!tells(40, (0, 1), 21_000, 1));
        assert!(!tells(50, (0, 1), 21_999, 1));
        assert!(tells(60, (0, 1), 21_999, 2));
        // One that drains needs no help either.
        assert!(!tells(70, (0, 1), 21_999, 2));
        assert!(!tells(80, (0, 1), 20_999, 3));
        assert!(tells(90, (0, 1), 20_000, 4));
        assert_eq!((spine.notices(0), spine.notices(1)), ((4, 0), (1, 0)));
        let mut leaf = TelemetryTable::new(spec(), 5, None);
        let mut told = |input, port| {
            let packet = packet(1, 0, Instant::START);
            let seen = seen(input, port, 20_000, 0);
            leaf.tells(&packet, seen, SwitchId::new(0), &routing)
        };
        assert_eq!(told(0, 1), NoticeTarget::Itself);
        assert_eq!(told(1, 0), NoticeTarget::Nobody);
        assert_eq!(told(1, 2), NoticeTarget::Before);
    }
}
