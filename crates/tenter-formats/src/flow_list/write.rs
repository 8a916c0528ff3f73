//! Writers for flows in the formats of simulators, from graphs whose operations are flows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use tenter_language::units::Time;
use tenter_workload::graph::{Graph, Operation};

/// A flow as simulators have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Written {
    src: u32,
    dst: u32,
    bytes: u64,
    start: Time,
    /// Flows that its sender must have sent before, and flows that its sender must have received.
    sent: Vec<u32>,
    received: Vec<u32>,
}

impl Written {
    /// Returns true if the flow waits for other flows.
    fn waits(&self) -> bool {
        !self.sent.is_empty() || !self.received.is_empty()
    }
}

/// Events of a rank that a flow can wait for, by operation: starts, and flows received.
#[derive(Default)]
struct Ended {
    ticks: BTreeMap<u32, Time>,
    received: BTreeMap<u32, u32>,
    /// Operations without duration, which stand for all that they wait for.
    joins: BTreeSet<u32>,
}

impl Ended {
    /// Lets a flow wait for `operation`; `send` is its flow, if it sends one.
    fn add(&self, operation: u32, send: Option<&u32>, flow: &mut Written) {
        if let Some(&tick) = self.ticks.get(&operation) {
            flow.start = flow.start.max(tick);
        } else if let Some(&of) = self.received.get(&operation) {
            flow.received.push(of);
        } else {
            flow.sent.extend(send);
        }
    }

    /// Replaces joins in `own` by the operations that they wait for, and counts these in `pairs`.
    fn without_joins(
        &self,
        own: &[u32],
        waits: &[Vec<u32>],
        pairs: &mut usize,
    ) -> Result<Vec<u32>, String> {
        let mut all = Vec::with_capacity(own.len());
        for &other in own {
            if !self.joins.contains(&other) {
                all.push(other);
                continue;
            }
            let of_join = &waits[other as usize];
            *pairs = pairs.saturating_add(of_join.len());
            if *pairs > PAIRS_MAX {
                return Err(format!(
                    "and those before it wait for more than {PAIRS_MAX} flows together"
                ));
            }
            // One level of joins is resolved; each further one would multiply the pairs.
            if of_join.iter().any(|one| self.joins.contains(one)) {
                return Err(format!(
                    "waits for operation {other}, which takes no time and waits for another such one"
                ));
            }
            all.extend_from_slice(of_join);
        }
        Ok(all)
    }
}

/// Most pairs in which a flow waits for another behind a join, for one rank. The formats have no
/// joins, so flows that wait for the same ones name each.
const PAIRS_MAX: usize = 1 << 23;

/// Flows that a simulator of flows can run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flows {
    ranks: u32,
    list: Vec<Written>,
}

impl Flows {
    /// Makes flows with starts: source, destination, bytes and start.
    pub fn timed(ranks: u32, flows: impl IntoIterator<Item = (u32, u32, u64, Time)>) -> Flows {
        let flow = |(src, dst, bytes, start): (u32, u32, u64, Time)| Written {
            src,
            dst,
            bytes,
            start,
            ..Written::default()
        };
        let list = flows.into_iter().map(flow).collect();
        Flows { ranks, list }
    }

    /// Makes flows from a graph whose sends wait for times, sends and receives.
    ///
    /// # Errors
    /// A sentence about an operation that flows cannot express: computing, collectives, receives
    /// from any rank or with any tag, waits for a start.
    pub fn of(graph: &Graph) -> Result<Flows, String> {
        let mut flows = Flows {
            ranks: graph.ranks(),
            list: Vec::new(),
        };
        let mut of_sends: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        // A receive takes the next send of a rank to another with its tag, so sends are listed in
        // order.
        let mut messages: BTreeMap<(u32, u32, u32), Vec<u32>> = BTreeMap::new();
        for rank in 0..graph.ranks() {
            for place in 0..graph.operations_of(rank) {
                if let Operation::Send { peer, bytes, tag } = graph.operation(rank, place).0 {
                    let number = flows.list.len() as u32;
                    of_sends.insert((rank, place), number);
                    messages.entry((rank, peer, tag)).or_default().push(number);
                    flows.list.push(Written {
                        src: rank,
                        dst: peer,
                        bytes,
                        ..Written::default()
                    });
                }
            }
        }
        for rank in 0..graph.ranks() {
            flows.waits_of(graph, rank, &of_sends, &messages)?;
        }
        Ok(flows)
    }

    /// Finds the flows and times that each flow from `rank` waits for.
    fn waits_of(
        &mut self,
        graph: &Graph,
        rank: u32,
        of_sends: &BTreeMap<(u32, u32), u32>,
        messages: &BTreeMap<(u32, u32, u32), Vec<u32>>,
    ) -> Result<(), String> {
        let count = graph.operations_of(rank);
        let waits = waits_for_ends(graph, rank)?;
        // The time of each stream's clock, and how many messages of each kind have been received.
        let mut clocks: BTreeMap<u32, Time> = BTreeMap::new();
        let mut taken: BTreeMap<(u32, u32, u32), usize> = BTreeMap::new();
        let mut ended = Ended::default();
        for place in 0..count {
            let (operation, stream) = graph.operation(rank, place);
            let is_free = waits[place as usize].is_empty();
            match operation {
                Operation::Wait { time } if is_free => {
                    let clock = clocks.entry(stream).or_default();
                    *clock = clock.saturating_add(time);
                    ended.ticks.insert(place, *clock);
                }
                Operation::Receive {
                    peer: Some(peer),
                    tag: Some(tag),
                    ..
                } if is_free => {
                    // A receive that waits for nothing matches by its order; one that waits could
                    // be overtaken.
                    let way = (peer, rank, tag);
                    let nth = taken.entry(way).or_default();
                    let flow = messages.get(&way).and_then(|list| list.get(*nth));
                    *nth += 1;
                    ended.received.extend(flow.map(|&flow| (place, flow)));
                }
                Operation::Send { .. } => {}
                Operation::Compute { time } if time.is_zero() => {
                    ended.joins.insert(place);
                }
                _ => {
                    return Err(format!(
                        "operation {place} of rank {rank} is neither a send nor something that a flow waits for by itself"
                    ));
                }
            }
        }
        let mut pairs = 0;
        for (place, own) in (0..).zip(&waits) {
            let Some(&flow) = of_sends.get(&(rank, place)) else {
                continue;
            };
            let flow = &mut self.list[flow as usize];
            let own = ended.without_joins(own, &waits, &mut pairs);
            for other in own.map_err(|what| format!("operation {place} of rank {rank} {what}"))? {
                ended.add(other, of_sends.get(&(rank, other)), flow);
            }
            if !flow.start.is_zero() && flow.waits() {
                return Err(format!(
                    "operation {place} of rank {rank} waits for a time and for other operations"
                ));
            }
        }
        Ok(())
    }

    /// Returns true if any flow waits for others.
    pub(crate) fn wait_for_others(&self) -> bool {
        self.list.iter().any(Written::waits)
    }
}

/// Writes a connection matrix for htsim, with starts in picoseconds.
///
/// # Errors
/// A sentence about a flow whose end starts several sets of flows: a connection has one trigger for
/// its end.
pub fn htsim(flows: &Flows) -> Result<String, String> {
    // One trigger for each set of ends that flows wait for.
    let mut triggers: BTreeMap<(Vec<u32>, Vec<u32>), usize> = BTreeMap::new();
    let mut started_by = vec![None; flows.list.len()];
    let mut activates: BTreeMap<(u32, bool), usize> = BTreeMap::new();
    for (flow, started_by) in flows.list.iter().zip(&mut started_by) {
        if !flow.waits() {
            continue;
        }
        let next = triggers.len() + 1;
        let ends = (sorted(&flow.sent), sorted(&flow.received));
        let trigger = *triggers.entry(ends).or_insert(next);
        *started_by = Some(trigger);
        let sent = flow.sent.iter().map(|&of| (of, false));
        for end in sent.chain(flow.received.iter().map(|&of| (of, true))) {
            let other = *activates.entry(end).or_insert(trigger);
            if other != trigger {
                let of = &flows.list[end.0 as usize];
                return Err(format!(
                    "the end of a flow from rank {} to rank {} starts several sets of flows, each with other ends",
                    of.src, of.dst
                ));
            }
        }
    }
    let (nodes, connections) = (flows.ranks, flows.list.len());
    let mut text = format!("Nodes {nodes}\nConnections {connections}\n");
    if !triggers.is_empty() {
        let _ = writeln!(text, "Triggers {}", triggers.len());
    }
    for ((number, flow), trigger) in (0_u32..).zip(&flows.list).zip(started_by) {
        let (src, dst, id) = (flow.src, flow.dst, number + 1);
        let _ = write!(text, "{src}->{dst} id {id}");
        let _ = match trigger {
            Some(trigger) => write!(text, " trigger {trigger}"),
            None => write!(text, " start {}", flow.start.ps()),
        };
        let _ = write!(text, " size {}", flow.bytes);
        for (received, name) in [(false, "send_done_trigger"), (true, "recv_done_trigger")] {
            if let Some(trigger) = activates.get(&(number, received)) {
                let _ = write!(text, " {name} {trigger}");
            }
        }
        text.push('\n');
    }
    let mut list: Vec<(usize, usize)> = Vec::new();
    for ((sent, received), number) in triggers {
        list.push((number, sent.len() + received.len()));
    }
    list.sort_unstable();
    for (number, ends) in list {
        let _ = match ends {
            1 => writeln!(text, "trigger id {number} oneshot"),
            _ => writeln!(text, "trigger id {number} barrier count {ends}"),
        };
    }
    Ok(text)
}

fn sorted(numbers: &[u32]) -> Vec<u32> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers
}

/// Writes a flow file of ns-3, with starts in seconds.
///
/// # Errors
/// Flows that wait for others, which the format does not have.
pub fn ns3(flows: &Flows) -> Result<String, String> {
    if flows.wait_for_others() {
        return Err("flows wait for others".to_owned());
    }
    // ns-3 reads one flow after the other and schedules the next start, so starts must ascend.
    let mut order: Vec<&Written> = flows.list.iter().collect();
    order.sort_by_key(|flow| flow.start);
    let mut text = format!("{}\n", order.len());
    for flow in order {
        let (seconds, ps) = (
            flow.start.ps() / 1_000_000_000_000,
            flow.start.ps() % 1_000_000_000_000,
        );
        // Priority group 3 and port 100, as the generators of HPCC write them.
        let _ = writeln!(
            text,
            "{} {} 3 100 {} {seconds}.{ps:012}",
            flow.src, flow.dst, flow.bytes
        );
    }
    Ok(text)
}

/// Returns the operations that each operation of a rank waits for, and refuses waits for a start.
fn waits_for_ends(graph: &Graph, rank: u32) -> Result<Vec<Vec<u32>>, String> {
    let count = graph.operations_of(rank);
    let mut waits: Vec<Vec<u32>> = vec![Vec::new(); count as usize];
    for place in 0..count {
        for (follower, on_start) in graph.followers(rank, place) {
            if on_start {
                return Err(format!(
                    "operation {follower} of rank {rank} waits for a start"
                ));
            }
            waits[follower as usize].push(place);
        }
    }
    Ok(waits)
}
