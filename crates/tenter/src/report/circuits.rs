//! Optical circuits over time, and the link loads in each state.

use std::collections::{BTreeMap, HashMap, HashSet};

use tenter_results::CircuitRow;

use crate::report::span::Span;
use crate::report::tree::{Place, Tree};
use crate::report::trial_data::{PortSample, TrialData};

/// Maximum number of circuit states that are shown: the first, the last and the longest others.
const STATES: usize = 4;
/// Tolerance for times in ns. Instants are whole picoseconds; a difference below ten picoseconds
/// counts as none.
const CLOSE: f64 = 0.01;

/// A trial's circuits, state by state, over the tree of switches.
#[derive(Clone, Debug)]
pub(crate) struct Circuits {
    /// Switches in their tiers and pods, as cabled.
    pub(crate) tree: Tree,
    /// Shown states in time order: the first and the last lasting state, and the longest others.
    pub(crate) states: Vec<State>,
    /// Lasting states in the trial; states during a reconfiguration do not count.
    pub(crate) lasted: usize,
}

/// Circuits between two changes, and the link loads in that time.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// Start, in ns since the simulation began.
    pub(crate) from: f64,
    /// End, in ns since the simulation began.
    pub(crate) to: f64,
    /// Duration of the part with known traffic, in ns; `None` if no whole sample lies in the state.
    pub(crate) known: Option<f64>,
    /// Links between switches; those to hosts are left out.
    pub(crate) links: Vec<Link>,
    /// Number of ports without a circuit, by switch.
    pub(crate) dark: BTreeMap<u32, u64>,
    /// Mean and maximum load, as capacity shares, on the links between the two highest tiers, or on
    /// all links if there is one tier. Each direction counts by itself.
    pub(crate) upper: Option<(f64, f64)>,
}

/// Kind of a link, by who may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A cable, which no optical switch can move.
    Cable,
    /// A circuit where the standard tree has a cable too, or that has no counterpart there.
    Circuit,
    /// A circuit that leads elsewhere than the tree's cable.
    Moved,
}

/// All links that join the same two switches and have the same kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Link {
    /// Node indices, the lower one first.
    pub(crate) ends: (u32, u32),
    /// Kind that these links share.
    pub(crate) kind: Kind,
    /// Number of parallel links that are drawn as one.
    pub(crate) count: u64,
    /// Total line rate in Gb/s, from the first end to the second and back.
    pub(crate) gbps: [f64; 2],
    /// Frame bytes sent in the known time, from the first end to the second and back.
    pub(crate) bytes: [f64; 2],
}

impl Circuits {
    /// Derives a trial's circuits. A trial without optical switches has one state.
    pub(crate) fn of(trial: &TrialData) -> Circuits {
        let tree = Tree::of(trial);
        let end = trial.summary.engine.simulated_ns;
        let history = History::of(&trial.circuits, end);
        let lasting = history.lasting();
        let shown = chosen(&lasting, &history);
        let sampled = Sampled::of(&trial.samples);
        // With one state, port counters cover all of it, even without samples.
        let whole = history.times.len() <= 1;
        let mut spans: Vec<Span> = Vec::new();
        let mut peers: Vec<HashMap<Place, Option<u32>>> = Vec::new();
        for &number in &shown {
            spans.push(history.span(number));
            peers.push(history.peers(&trial.circuits, number));
        }
        let sent = if whole {
            let all = trial.ports.iter();
            let all = all.map(|port| ((port.node, port.port), port.tx_bytes as f64));
            vec![(end > 0.0).then(|| (end, all.collect()))]
        } else {
            sampled.sent(&trial.samples, &spans)
        };
        let states = spans.iter().zip(&peers).zip(sent);
        let states = states.map(|((&span, peers), sent)| state(trial, &tree, span, peers, sent));
        let states = states.collect();
        Circuits {
            states,
            lasted: lasting.len(),
            tree,
        }
    }
}

/// Duration in ns with known traffic, and the bytes that each port sent in it.
type Sent = Option<(f64, HashMap<Place, f64>)>;

/// Links by ends and kind, with the port count at either end.
type Links = BTreeMap<((u32, u32), Kind), (Link, [u64; 2])>;

fn state(
    trial: &TrialData,
    tree: &Tree,
    span: Span,
    peers: &HashMap<Place, Option<u32>>,
    sent: Sent,
) -> State {
    let (known, bytes) = match sent {
        Some((known, bytes)) => (Some(known), bytes),
        None => (None, HashMap::new()),
    };
    let top = tree.top();
    let mut dark: BTreeMap<u32, u64> = BTreeMap::new();
    let mut links = Links::new();
    let mut upper: Vec<f64> = Vec::new();
    for port in &trial.ports {
        let place = (port.node, port.port);
        let Some(own) = tree.switch(port.node) else {
            continue;
        };
        let peer = match peers.get(&place) {
            Some(peer) => *peer,
            None => tree.tiers.node(&port.peer_name),
        };
        let Some(peer) = peer else {
            *dark.entry(port.node).or_default() += 1;
            continue;
        };
        let Some(other) = tree.switch(peer).filter(|_| peer != port.node) else {
            continue;
        };
        let kind = match tree.optical.get(&place) {
            None => Kind::Cable,
            Some(Some(home)) if *home != peer => Kind::Moved,
            Some(_) => Kind::Circuit,
        };
        let sent = bytes.get(&place).copied().unwrap_or(0.0);
        // A link is met twice, once from the port at each end; `way` keeps its directions apart.
        let ends = (port.node.min(peer), port.node.max(peer));
        let way = usize::from(port.node > peer);
        let none = || (Link::none(ends, kind), [0; 2]);
        let (link, ports) = links.entry((ends, kind)).or_insert_with(none);
        ports[way] += 1;
        link.gbps[way] += port.rate_gbps;
        link.bytes[way] += sent;
        let is_upper = own.tier.max(other.tier) == top && (own.tier != other.tier || top == 1);
        if let (true, Some(known)) = (is_upper, known) {
            upper.push(share(sent, port.rate_gbps, known));
        }
    }
    // Each link has a port at either end; a dark port makes the counts differ.
    let links = links.into_values().map(|(link, ports)| Link {
        count: ports[0].max(ports[1]),
        ..link
    });
    let mean = upper.iter().sum::<f64>() / upper.len() as f64;
    let greatest = upper.iter().copied().fold(0.0, f64::max);
    State {
        from: span.from,
        to: span.to,
        known,
        links: links.collect(),
        dark,
        upper: (!upper.is_empty()).then_some((mean, greatest)),
    }
}

impl Link {
    fn none(ends: (u32, u32), kind: Kind) -> Link {
        Link {
            ends,
            kind,
            count: 0,
            gbps: [0.0; 2],
            bytes: [0.0; 2],
        }
    }
}

/// Returns `bytes` over what `gbps` carries in `ns`: 8 × bytes per ns are Gb/s. Zero without
/// capacity or time.
pub(crate) fn share(bytes: f64, gbps: f64, ns: f64) -> f64 {
    if gbps > 0.0 && ns > 0.0 {
        bytes * 8.0 / (gbps * ns)
    } else {
        0.0
    }
}

impl State {
    /// Counts the circuits between tiers `one` and `other`, in either direction.
    pub(crate) fn circuits(&self, tree: &Tree, one: u32, other: u32) -> u64 {
        let circuits = self.links.iter().filter(|link| link.kind != Kind::Cable);
        let found = circuits.filter(|link| {
            let ends = (tree.tiers.tier(link.ends.0), tree.tiers.tier(link.ends.1));
            ends == (one, other) || ends == (other, one)
        });
        found.map(|link| link.count).sum()
    }

    /// Counts all circuits, whatever tiers they join.
    pub(crate) fn all_circuits(&self) -> u64 {
        let circuits = self.links.iter().filter(|link| link.kind != Kind::Cable);
        circuits.map(|link| link.count).sum()
    }

    /// Returns the share that went to leaves directly among all bytes sent by leaves to other
    /// switches; `None` if nothing is known.
    pub(crate) fn direct(&self, tree: &Tree) -> Option<f64> {
        self.known?;
        let (mut direct, mut all) = (0.0, 0.0);
        for link in &self.links {
            let is_leaf = |node| tree.tiers.tier(node) == 1;
            let leaves = [is_leaf(link.ends.0), is_leaf(link.ends.1)];
            let of_leaves = (0..2).filter(|&end| leaves[end]);
            let bytes: f64 = of_leaves.map(|end| link.bytes[end]).sum();
            all += bytes;
            if leaves == [true, true] {
                direct += bytes;
            }
        }
        (all > 0.0).then(|| direct / all)
    }
}

/// Circuit changes over a trial.
struct History {
    /// Instants in ns at which a circuit came or went; each starts an interval.
    times: Vec<f64>,
    end: f64,
    /// Number of reconfigurations under way in each interval.
    under_way: Vec<u32>,
}

impl History {
    fn of(rows: &[CircuitRow], end: f64) -> History {
        let mut times = vec![0.0];
        let mut darkness: Vec<(usize, usize)> = Vec::new();
        let mut dark_since: HashMap<Place, usize> = HashMap::new();
        let mut joined: HashSet<Place> = HashSet::new();
        for row in rows {
            let time = row.time.as_ns();
            if times.last().is_some_and(|&last| time > last) {
                times.push(time);
            }
            let (interval, place) = (times.len() - 1, (row.node, row.port));
            if row.peer_node.is_some() {
                joined.insert(place);
                darkness.extend(dark_since.remove(&place).map(|since| (since, interval)));
            } else if interval > 0 || joined.contains(&place) {
                // A port that is dark from the start has lost nothing, unless it had a circuit at
                // the same instant.
                dark_since.insert(place, interval);
            }
        }
        let mut history = History {
            under_way: vec![0; times.len()],
            times,
            end,
        };
        // All reconfigurations take the same time. A port that is dark for longer was left dark on
        // purpose, so its intervals are states.
        let lasted = |&(from, to): &(usize, usize)| history.times[to] - history.times[from];
        let shortest = darkness.iter().map(lasted).fold(f64::INFINITY, f64::min);
        darkness.retain(|of| lasted(of) <= shortest + CLOSE);
        for (from, to) in darkness {
            history.under_way[from..to]
                .iter_mut()
                .for_each(|count| *count += 1);
        }
        history
    }

    /// Returns an interval's start and end.
    fn span(&self, interval: usize) -> Span {
        let from = self.times[interval];
        let to = self.times.get(interval + 1).copied();
        Span {
            from,
            to: to.unwrap_or(self.end).max(from),
        }
    }

    /// Returns the intervals without a reconfiguration under way.
    fn lasting(&self) -> Vec<usize> {
        let intervals = 0..self.times.len();
        intervals
            .filter(|&interval| self.under_way[interval] == 0)
            .collect()
    }

    /// Returns each electrical switch port's peer in an interval; `None` for a dark port.
    fn peers(&self, rows: &[CircuitRow], interval: usize) -> HashMap<Place, Option<u32>> {
        let from = self.times[interval];
        // Rows are in the order of time, so the last one of a port wins.
        let until = rows.iter().take_while(|row| row.time.as_ns() <= from);
        until
            .map(|row| ((row.node, row.port), row.peer_node))
            .collect()
    }
}

/// Chooses the first interval, the last, and the longest others, in time order.
fn chosen(lasting: &[usize], history: &History) -> Vec<usize> {
    let [first, between @ .., last] = lasting else {
        return lasting.to_vec();
    };
    let lasted = |interval: usize| history.span(interval).length();
    let mut longest = between.to_vec();
    // Ties go to the earlier state.
    longest.sort_by(|&a, &b| lasted(b).total_cmp(&lasted(a)).then(a.cmp(&b)));
    longest.truncate(STATES - 2);
    longest.extend([*first, *last]);
    longest.sort_unstable();
    longest
}

/// Sampling instants in a trial, as its samples show them.
struct Sampled {
    /// Sampling interval in ns; `None` without samples.
    interval: Option<f64>,
    /// Time when the last sample was taken, in ns.
    last: f64,
}

impl Sampled {
    fn of(samples: &[PortSample]) -> Sampled {
        let mut instants: Vec<f64> = samples.iter().map(|sample| sample.time).collect();
        instants.dedup();
        // A sample at time 0 covers no traffic.
        instants.retain(|&instant| instant > 0.0);
        // The last interval may be shorter than the others, because the trial's end is sampled too.
        let regular = &instants[..instants.len().saturating_sub(1)];
        let gaps = regular.windows(2).map(|pair| pair[1] - pair[0]);
        let interval = gaps
            .chain(instants.first().copied())
            .fold(f64::INFINITY, f64::min);
        Sampled {
            interval: (interval.is_finite() && interval > CLOSE).then_some(interval),
            last: instants.last().copied().unwrap_or(0.0),
        }
    }

    /// Returns the part of a span that whole sampling intervals cover.
    fn within(&self, span: Span) -> Option<Span> {
        let interval = self.interval?;
        let from = ((span.from - CLOSE) / interval).ceil().max(0.0) * interval;
        let to = if span.to + CLOSE >= self.last {
            self.last
        } else {
            ((span.to + CLOSE) / interval).floor() * interval
        };
        (to > from + CLOSE).then_some(Span { from, to })
    }

    /// Sums each port's bytes over the samples within each of `spans`, which do not overlap.
    fn sent(&self, samples: &[PortSample], spans: &[Span]) -> Vec<Sent> {
        let parts: Vec<Option<Span>> = spans.iter().map(|&span| self.within(span)).collect();
        let mut sent: Vec<Sent> = parts
            .iter()
            .map(|part| part.map(|part| (part.length(), HashMap::new())))
            .collect();
        for sample in samples {
            // A sample covers the interval before its time. Parts start at a sampling instant, so a
            // sample that ends inside a part also starts inside it.
            let is_in =
                |part: &Span| sample.time > part.from + CLOSE && sample.time <= part.to + CLOSE;
            let place = parts
                .iter()
                .position(|part| part.as_ref().is_some_and(is_in));
            if let Some((_, bytes)) = place.and_then(|place| sent[place].as_mut()) {
                *bytes.entry((sample.node, sample.port)).or_default() += sample.tx_bytes;
            }
        }
        sent
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use tenter_language::units::Time;

    use super::*;
    use crate::report::tree::tests::flexible;

    /// Of the fat tree of two pods: leaf 5 and leaf 6 leave their pods, of which ports 1 and 2 of
    /// the optical switch are, and are joined.
    pub(crate) fn steer(trial: &mut TrialData, dark_us: u64, lit_us: u64) {
        for (port, peer) in [(1, Some((2, 6))), (2, Some((1, 5))), (5, None), (6, None)] {
            let first = trial.circuits[port].clone();
            trial.circuits.push(CircuitRow {
                time: Time::from_ps(dark_us * 1_000_000),
                peer_optical_port: None,
                peer_node: None,
                ..first.clone()
            });
            if let Some((port, node)) = peer {
                trial.circuits.push(CircuitRow {
                    time: Time::from_ps(lit_us * 1_000_000),
                    peer_optical_port: Some(port),
                    peer_node: Some(node),
                    ..first
                });
            }
        }
        trial.circuits.sort_by_key(|row| row.time);
        trial.summary.engine.simulated_ns = 1e6;
    }

    fn sample(time: f64, node: u32, port: u16, tx_bytes: f64) -> PortSample {
        PortSample {
            time,
            node,
            port,
            tx_bytes,
            ..PortSample::default()
        }
    }

    #[test]
    fn a_state_before_and_one_after() {
        let mut trial = flexible();
        steer(&mut trial, 200, 220);
        let circuits = Circuits::of(&trial);
        assert_eq!((circuits.lasted, circuits.states.len()), (2, 2));
        let [before, after] = circuits.states.as_slice() else {
            panic!("two states");
        };
        assert_eq!((before.from, before.to), (0.0, 200_000.0));
        assert_eq!((after.from, after.to), (220_000.0, 1e6));
        let tree = &circuits.tree;
        let kinds =
            |of: &State| [(1, 1), (1, 2), (2, 2)].map(|(one, other)| of.circuits(tree, one, other));
        assert_eq!((kinds(before), before.all_circuits()), ([0, 4, 0], 4));
        assert_eq!((kinds(after), after.all_circuits()), ([1, 2, 0], 3));
        assert!(before.dark.is_empty());
        assert_eq!(after.dark, BTreeMap::from([(8, 1), (9, 1)]));
        let moved = after.links.iter().find(|link| link.kind == Kind::Moved);
        let moved = moved.expect("the direct circuit");
        assert_eq!((moved.ends, moved.count), ((5, 6), 1));
        // Without samples nothing is known of parts of the trial.
        assert_eq!((before.known, before.upper), (None, None));
        assert_eq!(before.direct(tree), None);
    }

    #[test]
    fn loads_are_those_of_whole_samples_within_a_state() {
        let mut trial = flexible();
        steer(&mut trial, 200, 220);
        // Every 100 µs at 100 Gbit/s a link could carry 1.25 MB.
        trial.samples = vec![
            sample(100_000.0, 5, 1, 625_000.0),
            sample(200_000.0, 8, 2, 1_250_000.0),
            // Partly before the new circuits came up.
            sample(300_000.0, 5, 1, 1e9),
            sample(400_000.0, 5, 1, 250_000.0),
            sample(1e6, 4, 1, 750_000.0),
        ];
        let circuits = Circuits::of(&trial);
        let [before, after] = circuits.states.as_slice() else {
            panic!("two states");
        };
        assert_eq!(before.known, Some(200_000.0));
        assert_eq!(after.known, Some(700_000.0), "from 300 µs on");
        let of = |state: &State, ends| {
            let link = state.links.iter().find(|link| link.ends == ends);
            link.map(|link| link.bytes)
        };
        assert_eq!(of(before, (5, 8)), Some([625_000.0, 0.0]));
        assert_eq!(of(after, (5, 6)), Some([250_000.0, 0.0]));
        assert_eq!(before.direct(&circuits.tree), Some(0.0));
        // 250,000 of 1,000,000 bytes that leaves sent.
        assert_eq!(after.direct(&circuits.tree), Some(0.25));
        // 1.25 of 2.5 MB on one of four directions between aggregation and core.
        assert_eq!(before.upper, Some((0.125, 0.5)));
    }

    #[test]
    fn counters_serve_where_nothing_changed() {
        let mut trial = flexible();
        trial.summary.engine.simulated_ns = 100_000.0;
        trial.ports.retain(|port| port.node >= 4);
        let uplink = trial
            .ports
            .iter_mut()
            .find(|port| (port.node, port.port) == (4, 1));
        uplink.expect("an uplink").tx_bytes = 1_250_000;
        trial
            .ports
            .extend(flexible().ports.into_iter().filter(|port| port.node < 4));
        let circuits = Circuits::of(&trial);
        let state = &circuits.states[0];
        assert_eq!((circuits.lasted, state.known), (1, Some(100_000.0)));
        let link = state
            .links
            .iter()
            .find(|link| link.ends == (4, 8))
            .expect("a link");
        assert_eq!((link.kind, link.count), (Kind::Circuit, 1));
        assert!((share(link.bytes[0], link.gbps[0], 100_000.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn of_many_states_the_longest_are_told_of() {
        let mut rows = flexible().circuits;
        let first = rows[0].clone();
        let mut at = |us: u64, lit: bool| {
            rows.push(CircuitRow {
                time: Time::from_ps(us * 1_000_000),
                peer_node: lit.then_some(8),
                ..first.clone()
            });
        };
        // Dark for 10 µs each time, but for 300 µs from 500 µs on, which is a state of its own.
        for (dark, lit) in [(100, 110), (150, 160), (260, 270), (500, 800), (900, 910)] {
            at(dark, false);
            at(lit, true);
        }
        let history = History::of(&rows, 1e6);
        let lasting = history.lasting();
        let spans: Vec<f64> = lasting
            .iter()
            .map(|&at| history.span(at).from / 1e3)
            .collect();
        assert_eq!(spans, [0.0, 110.0, 160.0, 270.0, 500.0, 800.0, 910.0]);
        let shown = chosen(&lasting, &history);
        let spans: Vec<f64> = shown
            .iter()
            .map(|&at| history.span(at).from / 1e3)
            .collect();
        assert_eq!(spans, [0.0, 270.0, 500.0, 910.0]);
    }

    #[test]
    fn circuits_that_go_at_once_are_no_state() {
        let first = flexible().circuits[0].clone();
        let row = |us: u64, lit: bool| CircuitRow {
            time: Time::from_us(us),
            peer_node: lit.then_some(8),
            ..first.clone()
        };
        let lasting = |rows: &[CircuitRow]| History::of(rows, 1e6).lasting();
        assert_eq!(lasting(&[row(0, true), row(0, false), row(20, true)]), [1]);
        // Without a circuit from the beginning, that is the first state.
        assert_eq!(lasting(&[row(0, false), row(20, true)]), [0, 1]);
    }
}
