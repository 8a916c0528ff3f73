//! A toy model on the engine: nodes pass tokens on, with delays that depend on what they have seen.
//!
//! What a node has seen must not depend on threads, window lengths or edges.

use tenter_engine::{
    Arrival, Control, EventList, Home, LaneBuilder, LaneLayout, LocalNode, Nodes, Output, Pace,
    Part, RunOutcome, Visit, Windows, mix64, run_windowed,
};
use tenter_language::units::{Instant, Time};

/// More than a word of the calendar has, on each of two threads; a prime, so that each input has
/// one sender.
const NODES: u32 = 131;
const INPUTS: u16 = 3;
const LOOKAHEAD: Time = Time::from_ns(1);
const HOPS: u32 = 200;
/// When each node sends its first token.
const FIRST: Instant = Instant::from_ps(500);

#[derive(Clone, Copy, Debug)]
struct Token {
    at: Instant,
    value: u64,
    hops_left: u32,
}

impl Arrival for Token {
    fn at(&self) -> Instant {
        self.at
    }

    fn set_at(&mut self, at: Instant) {
        self.at = at;
    }
}

/// A node remembers a mix of everything that happened to it, in order.
#[derive(Debug)]
struct Relay {
    number: u32,
    seen: u64,
    timer: Instant,
    /// The last time something was sent through each output: a wire carries one token after the
    /// other.
    last_sent: [Instant; INPUTS as usize],
    outputs: [Output; INPUTS as usize],
}

#[derive(Debug)]
struct Relays(Vec<Relay>);

impl Nodes for Relays {
    type Item = Token;

    fn visit(
        &mut self,
        node: LocalNode,
        arrivals: &EventList<Token>,
        visit: &mut Visit<'_, Token>,
    ) {
        let relay = &mut self.0[node.index()];
        for (token, input) in arrivals.iter() {
            while relay.timer < token.at {
                relay.fire(visit);
            }
            relay.pass_on(*token, input, visit);
        }
        while relay.timer < visit.end() {
            relay.fire(visit);
        }
        visit.wake(relay.timer);
    }
}

impl Relay {
    fn fire(&mut self, visit: &mut Visit<'_, Token>) {
        if self.timer == FIRST {
            let token = Token {
                at: FIRST,
                value: u64::from(self.number),
                hops_left: HOPS,
            };
            self.pass_on(token, 0, visit);
        }
        self.seen = mix64(self.seen ^ self.timer.ps());
        self.timer = if self.timer < Instant::from_ps(300_000) {
            self.timer + Time::from_ps(7_777)
        } else {
            Instant::NEVER
        };
    }

    fn pass_on(&mut self, token: Token, input: u16, visit: &mut Visit<'_, Token>) {
        self.seen = mix64(self.seen ^ token.at.ps() ^ token.value << 20 ^ u64::from(input));
        if token.hops_left == 0 {
            return;
        }
        let choice = (self.seen % u64::from(INPUTS)) as usize;
        // Now and then a flight of many buckets, which inboxes have no slot for.
        let flight = if self.seen.is_multiple_of(31) {
            400_000
        } else {
            self.seen % 3_000
        };
        let at = token.at + LOOKAHEAD + Time::from_ps(flight);
        let at = at.max(self.last_sent[choice] + Time::from_ps(1));
        self.last_sent[choice] = at;
        let value = mix64(token.value ^ u64::from(self.number));
        visit.send(
            self.outputs[choice],
            at,
            &Token {
                at,
                value,
                hops_left: token.hops_left - 1,
            },
        );
    }
}

struct NoControl;

impl Control for NoControl {
    fn edge_after(&self, _: Instant) -> Instant {
        Instant::NEVER
    }
}

/// Runs the relays and returns what each has seen.
fn run(parts: u16, bucket_ps: u64, windows: Windows, edges: &[u64]) -> Vec<u64> {
    let home = |node: u32| Home {
        part: (node % u32::from(parts)) as u16,
        node: LocalNode::new(node / u32::from(parts)),
    };
    let layout = LaneLayout {
        parts,
        bucket_ps,
        flight_ps: 4_000,
        central: windows != Windows::Buckets,
    };
    let mut built: Vec<Part<Relays>> = (0..parts)
        .map(|part| {
            let mut builder = LaneBuilder::default();
            let mut relays = Vec::new();
            for number in (0..NODES).filter(|node| home(*node).part == part) {
                builder.add_node(INPUTS);
                let outputs = std::array::from_fn(|index| {
                    let Home { part, node } = home((number * 5 + index as u32 * 3 + 1) % NODES);
                    // Each input has one sender: the index is the sender's output.
                    Output {
                        part,
                        node,
                        input: index as u16,
                    }
                });
                let last_sent = [Instant::START; INPUTS as usize];
                relays.push(Relay {
                    number,
                    seen: 0,
                    timer: FIRST,
                    last_sent,
                    outputs,
                });
            }
            Part {
                lane: builder.build(part, layout),
                nodes: Relays(relays),
            }
        })
        .collect();
    start(&mut built);
    let mut now = Instant::START;
    let mut pace = Pace::new(None);
    for &edge in edges {
        let edge = Instant::from_ps(edge);
        match run_windowed(&mut built, now, edge, windows, &NoControl, &mut pace) {
            RunOutcome::Edge(at) => now = at,
            RunOutcome::Empty => break,
        }
    }
    assert_eq!(
        run_windowed(
            &mut built,
            now,
            Instant::NEVER,
            windows,
            &NoControl,
            &mut pace
        ),
        RunOutcome::Empty
    );
    let mut seen: Vec<(u32, u64)> = built
        .iter()
        .flat_map(|part| part.nodes.0.iter().map(|relay| (relay.number, relay.seen)))
        .collect();
    seen.sort_unstable();
    seen.into_iter().map(|(_, seen)| seen).collect()
}

/// Wakes every node for its first timer.
fn start(parts: &mut [Part<Relays>]) {
    for part in parts {
        for node in LocalNode::first(part.nodes.0.len()) {
            part.lane.wake(node, FIRST);
        }
    }
}

#[test]
fn what_nodes_see_does_not_depend_on_threads_windows_or_edges() {
    let reference = run(1, LOOKAHEAD.ps(), Windows::Buckets, &[]);
    for parts in 1..=3 {
        for bucket in [LOOKAHEAD.ps(), 700, 333] {
            for edges in [&[][..], &[1_234, 1_235, 50_000], &[300_001]] {
                assert_eq!(run(parts, bucket, Windows::Buckets, edges), reference);
            }
        }
        for lookahead in [LOOKAHEAD.ps(), 100, 7] {
            let windows = Windows::Central(Time::from_ps(lookahead));
            assert_eq!(run(parts, 5_000, windows, &[9_999]), reference);
        }
    }
}
