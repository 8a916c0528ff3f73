//! Headroom in the worst phase: everything that can arrive after an XOFF does.
//!
//! ```text
//!   r ───▶ x ───▶ d     d takes next to nothing and pauses x at once, so x fills with what s
//!          ▲            sends. When the first frame needs headroom, a frame of r has just started
//!   s ─▶ (p)            on the way back to the sender (s, or the switch p), and the pause frame
//!                       waits for it.
//! ```

use crate::trial::Trial;

/// Frames that are a message each: 4,174 bytes, 4,194 on the wire.
const FRAME: u64 = 4_174;
const WIRE: u64 = 4_194;
/// Wire bytes of a pause frame.
const PAUSE: u64 = 84;
/// From the queue pair to the wire, and back; a short cable; half a switch.
const TRANSMIT: u64 = 7_000;
const RECEIVE: u64 = 11_000;
const SHORT: u64 = 25_000;
const HALF: u64 = 300_000;
/// When s starts, in ps.
const START: u64 = 10_000_000;
/// Frames that a group holds before it needs headroom.
const LIMIT: u64 = 10;

/// What sends into x, over what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// Whether the switch p is in between.
    pub(crate) over_a_switch: bool,
    pub(crate) stores: bool,
    pub(crate) gbps: u64,
    /// Rate of the link to d, not less.
    pub(crate) out_gbps: u64,
    /// Delay of the cable into x, in ps.
    pub(crate) cable: u64,
}

/// Quanta within which a port obeys (IEEE 802.3, Annex 31B), times 512 bits.
fn response(gbps: u64) -> u64 {
    let quanta = match gbps {
        25 => 80,
        100 => 394,
        200 => 453,
        _ => 905,
    };
    quanta * 512 * 1_000 / gbps
}

impl Case {
    fn byte(&self) -> u64 {
        8_000 / self.gbps
    }

    /// Wire time of a frame into x.
    pub(crate) fn slot(&self) -> u64 {
        WIRE * self.byte()
    }

    /// What storing a frame adds at a switch.
    fn stored(&self) -> u64 {
        let stores = self.stores || self.out_gbps > self.gbps;
        if stores { self.slot() } else { 0 }
    }

    /// From the start of a frame at the sender to x.
    fn flight(&self) -> u64 {
        let leave = if self.over_a_switch { HALF } else { TRANSMIT };
        leave + self.cable + HALF + self.stored()
    }

    /// From the XOFF to the last instant at which the sender may start a frame: the frame on the
    /// way back, the pause frame, the cable, the response time.
    pub(crate) fn wait(&self) -> u64 {
        (WIRE + PAUSE) * self.byte() + self.cable + response(self.gbps)
    }

    /// Frames that reach x from the XOFF on: those that start in a stretch of flight + wait, both
    /// its ends included.
    fn frames_after(&self) -> u64 {
        (self.flight() + self.wait()) / self.slot() + 1
    }

    /// The headroom of the model: (flight + wait)/slot · frame + frame bytes.
    fn model(&self) -> u64 {
        ((self.flight() + self.wait()) * FRAME).div_ceil(self.slot()) + FRAME
    }

    /// When a frame of s arrives at x that starts at 0.
    fn offset(&self) -> u64 {
        let to_p = if self.over_a_switch {
            TRANSMIT + SHORT + HALF + if self.stores { self.slot() } else { 0 }
        } else {
            0
        };
        to_p + self.flight()
    }

    /// When the first frame arrives at x that needs headroom.
    pub(crate) fn xoff(&self) -> u64 {
        let out = 8_000 / self.out_gbps;
        // The second frame is more than d holds before it pauses x; x obeys at `blocked`, and the
        // next frame is the first to wait.
        let second = START + self.offset() + self.slot();
        let arrived = second + HALF + SHORT + RECEIVE + WIRE * out;
        let blocked = arrived + PAUSE * out + SHORT + response(self.out_gbps);
        let first = (blocked - START - self.offset()) / self.slot() + 1;
        START + self.offset() + (first + LIMIT) * self.slot()
    }

    pub(crate) fn scenario(&self, headroom: &str, reverse: bool) -> String {
        let Case {
            gbps,
            out_gbps,
            cable,
            ..
        } = self;
        let short = format!("delay: {SHORT}ps");
        // r has the lowest port number, so at one instant its frame comes before that of s.
        let (nodes, links, back) = if self.over_a_switch {
            let hosts = "{name: r}, {name: q}, {name: s}, {name: d}";
            let switches = "{name: x, kind: switch}, {name: p, kind: switch}";
            let links = format!(
                "{{a: q, b: p, rate: {gbps}Gbps, {short}}}, {{a: s, b: p, rate: {gbps}Gbps, {short}}}, \
                 {{a: p, b: x, rate: {gbps}Gbps, delay: {cable}ps}}"
            );
            (format!("{hosts}, {switches}"), links, "q")
        } else {
            let nodes = "{name: r}, {name: s}, {name: d}, {name: x, kind: switch}";
            let links = format!("{{a: s, b: x, rate: {gbps}Gbps, delay: {cable}ps}}");
            (nodes.to_owned(), links, "s")
        };
        let forwarding = if self.stores {
            "store-and-forward"
        } else {
            "cut-through"
        };
        let reverse_start = self.xoff() - TRANSMIT - SHORT - HALF - self.stored();
        let reverse = if reverse {
            format!(
                "\n  - {{name: back, ranks: [{back}, r], start: {reverse_start}ps, collectives: [{{collective: incast, size: 8KiB}}]}}"
            )
        } else {
            String::new()
        };
        format!(
            "fabric:
  kind: explicit
  nodes: [{nodes}]
  links: [{{a: r, b: x, rate: {gbps}Gbps, {short}}}, {{a: d, b: x, rate: {out_gbps}Gbps, {short}}}, {links}]
  switch:
    forwarding: {forwarding}
    pipeline_latency: {pipeline}ps
    classes: [{{class: 3, limit: {limit}B, lossless: {{headroom: {headroom}}}}}]
endpoint:
  nic:
    message_size: 4KiB
    retransmission_timeout: 1s
    transmit_latency: {TRANSMIT}ps
    receive_latency: {RECEIVE}ps
    receive_buffer: {{drain_rate: 1Mbps, capacity: 2MiB, xoff: {FRAME}B, xon: 0B}}
jobs:
  - {{name: stream, ranks: [d, s], start: {START}ps, collectives: [{{collective: incast, size: 8MiB}}]}}{reverse}
observe: {{samples: false}}
limits: {{time: 60us}}
",
            pipeline = 2 * HALF,
            limit = LIMIT * FRAME,
        )
    }

    /// Frames that x drops.
    fn drops(&self, headroom: &str, reverse: bool) -> u64 {
        self.drops_with(headroom, reverse, &[])
    }

    fn drops_with(&self, headroom: &str, reverse: bool, overrides: &[&str]) -> u64 {
        let trial = Trial::run(&self.scenario(headroom, reverse), overrides);
        let port = trial.port("x", "d");
        // Blocked: what waits, waits to the end.
        assert!(port.queue_high_water_bytes >= LIMIT * FRAME, "{self:?}");
        assert!(
            trial
                .port("x", if self.over_a_switch { "p" } else { "s" })
                .tx_xoff_frames
                > 0
        );
        let totals = &trial.outcome.summary.totals;
        assert_eq!(totals.nic_dropped_frames, 0, "{self:?}");
        assert!(totals.lossless_dropped_frames >= port.dropped_frames);
        port.dropped_frames
    }
}

/// Rates, cables, forwarding and senders.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for over_a_switch in [false, true] {
        for stores in [false, true] {
            for gbps in [25, 100, 200, 400, 800] {
                for cable in [25_000, 40_123, 500_000, 1_515_152] {
                    cases.push(Case {
                        over_a_switch,
                        stores,
                        gbps,
                        out_gbps: gbps,
                        cable,
                    });
                }
            }
        }
    }
    // A faster output makes even a cut-through switch store.
    for (gbps, out_gbps) in [(100, 400), (400, 800)] {
        cases.push(Case {
            over_a_switch: false,
            stores: false,
            gbps,
            out_gbps,
            cable: 200_000,
        });
    }
    cases
}

#[test]
fn the_worst_phase_fits_to_the_frame() {
    // 400 Gbit/s, a cable of 25 ns, cut-through from a NIC: 7 + 25 + 300 ns of flight, and a wait
    // of 4,278 bytes (85.56 ns), 25 and 1,158.4 ns: 1,600.96 ns, 19 frames of 83.88 ns and a bit.
    // So 20 frames come, and the headroom is 1,600.96/83.88 · 4,174 + 4,174 = 83,840.3 bytes.
    let first = Case {
        over_a_switch: false,
        stores: false,
        gbps: 400,
        out_gbps: 400,
        cable: 25_000,
    };
    assert_eq!((first.frames_after(), first.model()), (20, 83_841));
    for case in cases() {
        let model = case.model();
        // The room is for exactly as many whole frames as come, and one more does not fit.
        assert_eq!(model / FRAME, case.frames_after(), "{case:?}");
        assert_eq!(case.drops("model", true), 0, "{case:?}");
        assert_eq!(case.drops(&format!("{model}B"), true), 0, "{case:?}");
        let less = format!("{}B", model - FRAME);
        assert_eq!(case.drops(&less, true), 1, "one frame less, {case:?}");
        assert_eq!(case.drops("sonic", true), 0, "{case:?}");
    }
}

#[test]
fn the_worst_phase_goes_by_the_response_of_the_nic() {
    for (own, set) in [(0, "0s"), (300_000, "300ns"), (5_000_000, "5us")] {
        let set = format!("endpoint.nic.pause_response={set}");
        let case = Case {
            over_a_switch: false,
            stores: false,
            gbps: 400,
            out_gbps: 400,
            cable: 40_123,
        };
        let stretch = case.flight() + case.wait() - response(400) + own;
        let model = (stretch * FRAME).div_ceil(case.slot()) + FRAME;
        for headroom in ["model".to_owned(), format!("{model}B")] {
            assert_eq!(case.drops_with(&headroom, true, &[&set]), 0, "{set}");
        }
        let less = format!("{}B", model - FRAME);
        assert_eq!(case.drops_with(&less, true, &[&set]), 1, "{set}");
    }
}

#[test]
fn the_worst_phase_is_the_same_whatever_pauses() {
    // A pool of ten frames that is full when a sender has not been paused yet: then the frame that
    // needs headroom pauses it, and from there on it is the same. So it is where what an account
    // may hold falls to ten frames with the fill of a large pool.
    let held = LIMIT * FRAME;
    let small = format!("{{size: 64MB, pools: [{{name: small, size: {held}B}}]}}");
    let large = "{size: 64MB}";
    let by_queue = (&*small, format!("limit: {held}B"), "egress");
    let by_pool = (
        &*small,
        format!("limit: {}B", held - FRAME),
        "pool, scope: hosts",
    );
    let in_levels = format!("levels: [{{above: 0B, limit: {held}B}}]");
    let by_levels = (large, in_levels, "ingress");
    for over_a_switch in [false, true] {
        let case = Case {
            over_a_switch,
            stores: false,
            gbps: 400,
            out_gbps: 400,
            cable: 40_123,
        };
        for (buffer, threshold, trigger) in [&by_queue, &by_pool, &by_levels] {
            if *trigger == "pool, scope: hosts" && !over_a_switch {
                // The host is paused when the pool is beyond its limit, a frame before.
                continue;
            }
            let drops = |headroom: &str| {
                let class = format!(
                    "{{class: 3, {threshold}, lossless: {{headroom: {headroom}, trigger: {trigger}}}}}"
                );
                let buffer = format!("fabric.switch.buffer={buffer}");
                let classes = format!("fabric.switch.classes=[{class}]");
                case.drops_with("model", true, &[&buffer, &classes])
            };
            assert_eq!(drops("model"), 0, "{trigger}, {case:?}");
            let less = format!("{}B", case.model() - FRAME);
            assert_eq!(drops(&less), 1, "one frame less, {trigger}, {case:?}");
        }
    }
}

#[test]
fn without_a_frame_in_the_way_one_less_comes() {
    for case in cases() {
        let less = format!("{}B", case.model() - FRAME);
        assert_eq!(case.drops(&less, false), 0, "{case:?}");
        let less = format!("{}B", case.model() - 2 * FRAME);
        assert_eq!(case.drops(&less, false), 1, "{case:?}");
    }
}

/// Frames that a leaf of a scheduled fabric drops of those that host 1 sends to host 2, which takes
/// next to nothing, while host 0 sends to host 1 without a gap, from `start` on.
fn scheduled_drops(headroom: &str, start: u64) -> u64 {
    let scenario = format!(
        "fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 3
  spines: 1
  host_rate: 400Gbps
  uplink_rate: 400Gbps
  host_delay: 40ns
  switching: {{kind: scheduled}}
  switch:
    forwarding: cut-through
    pipeline_latency: 600ns
    classes: [{{class: 3, limit: {limit}B, lossless: {{headroom: {headroom}}}}}]
endpoint:
  nic:
    message_size: 128KiB
    pcie: {{peak: 500Gbps}}
  nic_impairments: [{{host: host2, dma_write: 1%}}]
jobs:
  - {{name: stream, ranks: [2, 1], start: 10us, collectives: [{{collective: incast, size: 8MiB}}]}}
  - {{name: back, ranks: [1, 0], start: {start}ps, collectives: [{{collective: incast, size: 4MiB}}]}}
observe: {{samples: false}}
limits: {{time: 90us}}
",
        limit = LIMIT * FRAME,
    );
    let trial = Trial::run(&scenario, &[]);
    let port = trial.port("leaf0", "host1");
    assert!(port.tx_xoff_frames > 0, "from {start} ps");
    port.dropped_frames
}

#[test]
fn a_scheduled_leaf_has_frames_whole_before_it_pauses() {
    // 40 + 300 ns and a frame of 83.88 ns of flight, and a wait of 85.56 + 40 + 1,158.4 ns, are
    // 1,707.84 ns: 20.36 frames, so in the worst phase 21 come. All but the first of a message have
    // 16 bytes less than the model counts, which is 20.44 frames.
    let model = (1_707_840 * FRAME).div_ceil(83_880) + FRAME;
    assert_eq!((model / FRAME, model / (FRAME - 16)), (21, 21));
    let less = format!("{}B", model - FRAME);
    let mut dropped = 0;
    // Every phase of the frames on the way back, by 4 ns.
    for start in (0..84).step_by(4).map(|phase| 5_000_000 + phase * 1_000) {
        assert_eq!(scheduled_drops("model", start), 0, "from {start} ps");
        let drops = scheduled_drops(&less, start);
        assert!(drops <= 1, "one frame less, from {start} ps");
        dropped += drops;
    }
    assert!(dropped > 0, "no phase was the worst");
}

/// Frames that x drops when `ports` senders of 400 Gbit/s come into it at once and the receiver
/// takes next to nothing, with so many bytes of headroom for all of them.
fn shared_drops(ports: u64, headroom_pool: &str) -> u64 {
    let hosts: Vec<String> = (0..=ports).map(|host| format!("host{host}")).collect();
    let ranks = hosts.join(", ");
    let scenario = format!(
        "fabric:
  kind: single-switch
  hosts: {}
  switch:
    pipeline_latency: {}ps
    buffer: {{size: 64MB, headroom_pool: {headroom_pool}}}
    classes: [{{class: 3, limit: {}B, lossless: true}}]
endpoint:
  nic:
    message_size: 4KiB
    retransmission_timeout: 1s
    receive_buffer: {{drain_rate: 1Mbps, capacity: 2MiB, xoff: {FRAME}B, xon: 0B}}
jobs: [{{ranks: [{ranks}], collectives: [{{collective: incast, size: {}MiB}}]}}]
observe: {{samples: false}}
limits: {{time: 60us}}
",
        ports + 1,
        2 * HALF,
        LIMIT * FRAME,
        2 * (ports + 1),
    );
    Trial::run(&scenario, &[])
        .outcome
        .summary
        .totals
        .dropped_frames
}

#[test]
fn shared_headroom_is_enough_for_as_many_ports_as_it_has_headrooms() {
    // All senders pause within a frame time of each other. Each fills at least all but two frames
    // of its headroom of 83,841 bytes (see above: 20 frames, one less when no frame is in the way),
    // so what suffices for four is too little for eight.
    let each: u64 = 83_841;
    for ports in [2, 4, 8] {
        let own = format!("{}B", ports * each);
        assert_eq!(shared_drops(ports, &own), 0, "{ports} ports");
        assert_eq!(shared_drops(ports, "none"), 0, "{ports} ports");
        let half = format!("{}B", ports * each / 2);
        let drops = shared_drops(ports, &half);
        // Half of the frames that come find no room, but for the ends.
        let most = ports * 20 - (ports * each / 2) / FRAME;
        let least = ports * 17 - (ports * each / 2) / FRAME;
        assert!((least..=most).contains(&drops), "{ports} ports: {drops}");
    }
}
