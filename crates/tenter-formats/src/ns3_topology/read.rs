//! Conversion of a topology file into a fabric.

use tenter_language::config::Chance;
use tenter_language::notation::diagnostics::quote;
use tenter_language::units::{Budget, Rate, Time};

use super::servers::{NvLink, server};
use super::units;
use crate::error::{ImportError, Place};
use crate::fabric::{Cable, End, FabricText, Graph};
use crate::imported::Source;
use crate::limits;
use crate::words;

type Read<T> = Result<T, ImportError>;

/// Most nodes in a file.
const NODES_MAX: u64 = 1 << 21;

/// Counts in the first line.
#[derive(Clone, Copy, Default)]
struct Header {
    nodes: u32,
    switches: u32,
    nv_switches: u32,
    links: u64,
    /// GPUs in a server; only `SimAI` has it.
    of_server: Option<u32>,
}

/// The kind of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Host,
    Switch,
    NvSwitch,
}

/// A link, as its line has it.
struct Link {
    ends: [u32; 2],
    rate: Rate,
    delay: Time,
    /// Probability that a packet is lost, as the file writes it; `0` for none.
    loss: String,
    at: Place,
}

/// A file's header, node kinds and links.
struct File {
    header: Header,
    kinds: Vec<Kind>,
    links: Vec<Link>,
    notes: Vec<String>,
    end: Place,
}

/// Reads a file.
///
/// # Errors
/// The first line that violates the format, and nodes that make no fabric.
pub fn read(source: Source<'_>, budget: &Budget) -> Read<FabricText> {
    let allowed = limits::text(source.bytes.len(), budget);
    let text = allowed.and_then(|()| words::text(source.bytes));
    let fabric = text.and_then(|text| File::read(text)?.fabric(budget));
    fabric.map_err(|error| error.in_file(source.name))
}

fn wrong(at: Place, what: impl Into<String>, remedy: &str) -> ImportError {
    ImportError::new(at, what, remedy)
}

impl Header {
    /// Reads the first line. Guess: no line names the dialect, so the number of words tells it, and
    /// a sixth word that is no number.
    fn read(words: &[&str], at: Place) -> Read<Header> {
        let count = |place: usize, of: &str| {
            let word = words.get(place).copied().unwrap_or_default();
            let number = words::number(word, of, at)?;
            if number > NODES_MAX {
                let what = format!("{number} is too large for {of}");
                return Err(wrong(at, what, "give at most 2097152"));
            }
            Ok(number)
        };
        let of = |place, what| count(place, what).map(|number| number as u32);
        // The sixth word is a GPU type in SimAI, and a rate in Reverie.
        let is_simai = words
            .get(5)
            .is_some_and(|word| word.parse::<f64>().is_err());
        if is_simai {
            return Ok(Header {
                nodes: of(0, "the number of nodes")?,
                of_server: Some(of(1, "the number of GPUs of a server")?),
                nv_switches: of(2, "the number of NVSwitches")?,
                switches: of(3, "the number of switches")?,
                links: count(4, "the number of links")?,
            });
        }
        let header = match words.len() {
            3 => Header {
                links: count(2, "the number of links")?,
                ..Header::default()
            },
            // Words for leaves and rates have no meaning for the fabric.
            4..=6 => Header {
                links: count(3, "the number of links")?,
                ..Header::default()
            },
            found => {
                let what = format!("the first line has {found} words");
                let remedy = "give the numbers of nodes, switches and links, as HPCC does, or the \
                              4 to 6 words of PowerTCP, Reverie and SimAI";
                return Err(wrong(at, what, remedy));
            }
        };
        Ok(Header {
            nodes: of(0, "the number of nodes")?,
            switches: of(1, "the number of switches")?,
            ..header
        })
    }

    fn all_switches(self) -> u64 {
        u64::from(self.switches) + u64::from(self.nv_switches)
    }
}

impl File {
    /// Reads header, switches and links.
    fn read(text: &str) -> Read<File> {
        let lines = (1..).zip(text.lines());
        let lines = lines.map(|(line, text)| {
            let words: Vec<&str> = text.split_whitespace().collect();
            (Place::Line(line), words)
        });
        let mut lines = lines.filter(|(_, words)| !words.is_empty());
        let Some((at, words)) = lines.next() else {
            let remedy = "begin with the numbers of nodes, switches and links";
            return Err(ImportError::nothing(remedy));
        };
        let header = Header::read(&words, at)?;
        let mut file = File {
            header,
            kinds: vec![Kind::Host; header.nodes as usize],
            links: Vec::new(),
            notes: Vec::new(),
            end: at,
        };
        let mut listed = 0_u64;
        while listed < header.all_switches() {
            let Some((at, words)) = lines.next() else {
                let expected = header.all_switches();
                let what = format!("{listed} of {expected} switches are listed");
                return Err(wrong(file.end, what, "list them all in the second line"));
            };
            file.end = at;
            for word in words {
                file.list(word, listed, at)?;
                listed += 1;
            }
        }
        let mut beyond = 0_u64;
        for (at, words) in lines {
            if file.links.len() as u64 == header.links {
                // ns-3 stops after the declared number, and ignores the lines behind.
                beyond += 1;
                continue;
            }
            let link = file.link(&words, at)?;
            file.links.push(link);
            file.end = at;
        }
        if (file.links.len() as u64) < header.links {
            let (found, expected) = (file.links.len(), header.links);
            let what = format!("there are {found} links, and the first line says {expected}");
            return Err(wrong(
                file.end,
                what,
                "correct the number, or give the whole file",
            ));
        }
        if beyond > 0 {
            file.notes.push(format!(
                "{beyond} lines behind the number of links that the first line says are left out"
            ));
        }
        Ok(file)
    }

    fn node(&self, word: &str, at: Place) -> Read<u32> {
        let number = words::rank(word, "the number of a node", at)?;
        if number >= self.header.nodes {
            let last = i64::from(self.header.nodes) - 1;
            let what = format!("there is no node {number}; nodes are 0 to {last}");
            return Err(wrong(
                at,
                what,
                "name another one, or correct the first line",
            ));
        }
        Ok(number)
    }

    /// Marks a node as a switch. The file lists `NVSwitches` first.
    fn list(&mut self, word: &str, listed: u64, at: Place) -> Read<()> {
        let node = self.node(word, at)?;
        if listed >= self.header.all_switches() {
            let what = format!("{} is one switch too many", quote(word));
            return Err(wrong(
                at,
                what,
                "correct the number of switches in the first line",
            ));
        }
        let kind = &mut self.kinds[node as usize];
        if *kind != Kind::Host {
            let what = format!("the switch {node} is listed twice");
            return Err(wrong(at, what, "list each switch once"));
        }
        let is_nv = listed < u64::from(self.header.nv_switches);
        *kind = if is_nv { Kind::NvSwitch } else { Kind::Switch };
        Ok(())
    }

    /// Reads the words of a link.
    fn link(&mut self, found: &[&str], at: Place) -> Read<Link> {
        let [a, b, rate, delay, loss] = found[..] else {
            let what = format!("a link has 5 words, and there are {}", found.len());
            let remedy = "give two nodes, a rate, a delay and the chance of loss";
            return Err(wrong(at, what, remedy));
        };
        let ends = [self.node(a, at)?, self.node(b, at)?];
        let Some(bits) = units::rate(rate) else {
            let what = format!("{} is not a rate", quote(rate));
            return Err(wrong(at, what, "give one as ns-3 has it: `400Gbps`"));
        };
        let Some((time, cut)) = units::time(delay) else {
            let what = format!("{} is not a delay", quote(delay));
            return Err(wrong(at, what, "give one as ns-3 has it: `1000ns`"));
        };
        // Rounding would change simulated times unnoticed.
        if cut {
            let what = format!("{} has parts of a picosecond", quote(delay));
            return Err(wrong(at, what, "give whole picoseconds"));
        }
        // Files write zero as `0`, `0.0` or `0.000000`, which become one word so that links
        // compare.
        let is_zero = loss.parse::<f64>().is_ok_and(|loss| loss == 0.0);
        if !is_zero && loss.parse::<Chance>().is_err() {
            let what = format!("{} is not a chance of loss", quote(loss));
            return Err(wrong(at, what, "give a number from 0 to 1: `0.001`"));
        }
        let loss = if is_zero { "0" } else { loss };
        Ok(Link {
            ends,
            rate: bits,
            delay: time,
            loss: loss.to_owned(),
            at,
        })
    }

    fn kind(&self, node: u32) -> Kind {
        self.kinds[node as usize]
    }

    /// Separates links within servers from cables.
    fn nv_links(&mut self) -> Read<Vec<NvLink>> {
        let (mut inner, mut outer) = (Vec::new(), Vec::new());
        for link in std::mem::take(&mut self.links) {
            let [a, b] = link.ends;
            let (gpu, nv_switch) = match [self.kind(a), self.kind(b)] {
                [Kind::Host, Kind::NvSwitch] => (a, b),
                [Kind::NvSwitch, Kind::Host] => (b, a),
                kinds if !kinds.contains(&Kind::NvSwitch) => {
                    outer.push(link);
                    continue;
                }
                _ => {
                    let what = format!("a link leads from node {a} to node {b}, one an NVSwitch");
                    return Err(wrong(link.at, what, "link NVSwitches to GPUs alone"));
                }
            };
            inner.push(NvLink {
                gpu,
                nv_switch,
                rate: link.rate,
                delay: link.delay,
            });
        }
        self.links = outer;
        Ok(inner)
    }

    /// Makes the fabric, with `NVSwitches` as scale-up domain of the servers.
    fn fabric(mut self, budget: &Budget) -> Read<FabricText> {
        let inner = self.nv_links()?;
        let mut graph = Graph::default();
        graph.notes.append(&mut self.notes);
        if let Some(of_server) = self.header.of_server {
            graph.server = server(of_server, &inner, &mut graph.notes);
        }
        let planes = self.planes()?;
        let hosts = self.add_hosts(&planes, &mut graph);
        let mut switches = vec![None; self.kinds.len()];
        for (node, kind) in (0_u32..).zip(&self.kinds) {
            if *kind == Kind::Switch {
                let name = format!("switch{node}");
                switches[node as usize] = Some(graph.switch(name, Place::Line(2)));
            }
        }
        // The n-th link of a node goes to its n-th host.
        let mut used = vec![0_usize; self.kinds.len()];
        for link in &self.links {
            let mut ends = [End::Host(0); 2];
            for (end, &node) in ends.iter_mut().zip(&link.ends) {
                let node = node as usize;
                *end = switches[node].unwrap_or_else(|| {
                    used[node] += 1;
                    let host = hosts[node].get(used[node] - 1);
                    host.copied().unwrap_or(End::Host(0))
                });
            }
            graph.cable(Cable {
                ends,
                rate: link.rate,
                delay: Some(link.delay),
                loss: link.loss.clone(),
                at: link.at,
            });
        }
        graph.notes.push(
            "ns-3 has no latency of switches and stores frames before it forwards them: \
             `fabric.switch: {pipeline_latency: 0ns, forwarding: store-and-forward}`"
                .to_owned(),
        );
        let heading = "The links of a topology file of ns-3.";
        graph.finish(heading, self.end, budget)
    }

    /// Counts the links of each node. Hosts must have one or more.
    fn planes(&self) -> Read<Vec<u32>> {
        let mut of_node = vec![0_u32; self.kinds.len()];
        for link in &self.links {
            for node in link.ends {
                of_node[node as usize] += 1;
            }
        }
        let mut nodes = (0_u32..).zip(&of_node).zip(&self.kinds);
        let alone = nodes.find(|((_, links), kind)| **kind == Kind::Host && **links == 0);
        if let Some(((node, _), _)) = alone {
            let what = format!("no link leads from node {node} to a switch");
            return Err(wrong(self.end, what, "link it, or list it as a switch"));
        }
        Ok(of_node)
    }

    /// Adds a host for each node's link: first the hosts for all first links, in node order, then
    /// those for further links, so that ranks in flow files stay node numbers. Returns hosts by
    /// node and link.
    fn add_hosts(&self, links: &[u32], graph: &mut Graph) -> Vec<Vec<End>> {
        let nodes = || {
            (0_u32..)
                .zip(&self.kinds)
                .filter(|(_, kind)| **kind == Kind::Host)
        };
        let mut hosts: Vec<Vec<End>> = vec![Vec::new(); self.kinds.len()];
        let (mut left, mut most): (Vec<u32>, u32) = (nodes().map(|(node, _)| node).collect(), 0);
        while !left.is_empty() {
            for &node in &left {
                let name = match most {
                    0 => format!("host{node}"),
                    _ => format!("host{node}/nic{most}"),
                };
                hosts[node as usize].push(graph.host(name, self.end));
            }
            most += 1;
            // Nodes with further links get a further host in the next round.
            left.retain(|node| links[*node as usize] > most);
        }
        let first = nodes().count();
        graph.has_planes = most > 1;
        if most > 1 {
            graph.notes.push(format!(
                "nodes with several links have a host for each of them: hosts 0 to {} are the first \
                 links, and the others are behind them",
                first - 1
            ));
        }
        if nodes().zip(0..).any(|((node, _), host)| node != host) {
            graph.notes.push(
                "switches are numbered before hosts in the file, so the ranks of its flow files are \
                 not those of a job on all hosts"
                    .to_owned(),
            );
        }
        hosts
    }
}
