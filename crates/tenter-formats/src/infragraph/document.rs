//! Parser for infrastructures as YAML or JSON.

use std::collections::BTreeMap;

use tenter_language::notation::diagnostics::{Location, Problems, Source as Text, quote};
use tenter_language::notation::tree::Node;
use tenter_language::notation::yaml;
use tenter_language::units::Rate;

use super::parts::{
    COUNT_MAX, Component, Device, Edge, Endpoint, Instance, Kind, Link, Rank, Read, Scheme, plain,
};
use crate::decimal;
use crate::error::{ImportError, Place};
use crate::imported::Source;
use crate::words;

#[derive(Default)]
/// An infrastructure as it was written, checked line by line.
pub(super) struct Document {
    pub(super) devices: BTreeMap<String, Device>,
    pub(super) links: BTreeMap<String, Link>,
    pub(super) instances: Vec<Instance>,
    pub(super) edges: Vec<Edge>,
    pub(super) ranks: Vec<Rank>,
    pub(super) notes: Vec<String>,
    /// Last line, for errors about the whole file.
    pub(super) end: usize,
}

/// First byte of each line.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Lines(std::iter::once(0).chain(ends).collect())
    }

    fn place(&self, at: Option<Location>) -> Place {
        let start = at.map_or(0, |at| at.start);
        Place::Line(self.0.partition_point(|line| *line <= start).max(1))
    }
}

fn wrong(at: Place, what: impl Into<String>, remedy: impl Into<String>) -> ImportError {
    ImportError::new(at, what, remedy)
}

/// Parses YAML or JSON into a tree, and finds its lines.
fn tree(bytes: &[u8]) -> Read<(Node, Lines)> {
    let text = words::text(bytes)?;
    let (problems, lines) = (Problems::default(), Lines::of(text));
    let root = yaml::parse(text, 0, 0, &problems);
    if let Some(root) = root.filter(|_| problems.is_empty()) {
        return Ok((root, lines));
    }
    let source = Text {
        name: String::new(),
        text: text.to_owned(),
    };
    let all = problems.into_diagnostics(vec![source]);
    let first = all.problems().first();
    let line = first.and_then(|problem| problem.position.as_ref());
    let place = Place::Line(line.map_or(1, |at| at.start.0.max(1)));
    let what = first.map_or("this is no YAML", |problem| problem.message.as_str());
    let help = first.and_then(|problem| problem.help.clone());
    let remedy = help.unwrap_or_else(|| "give an infrastructure as YAML or JSON".to_owned());
    Err(wrong(place, what, remedy))
}

/// A mapping in the document, with its name for errors.
struct Part<'n> {
    node: &'n Node,
    of: &'static str,
    lines: &'n Lines,
}

impl<'n> Part<'n> {
    fn at(&self) -> Place {
        self.lines.place(self.node.at)
    }

    /// Returns a key's place, or the mapping's if the key is missing.
    fn place(&self, key: &str) -> Place {
        let entry = self.node.entry(key);
        let at = entry.and_then(tenter_language::notation::tree::Entry::place);
        self.lines.place(at.or(self.node.at))
    }

    fn part(&self, key: &str, of: &'static str) -> Option<Part<'n>> {
        let entry = self.node.entry(key)?;
        let lines = self.lines;
        let node = &entry.node;
        node.is_map().then_some(Part { node, of, lines })
    }

    /// Returns the mappings in a list.
    fn parts(&self, key: &str, of: &'static str) -> Read<Vec<Part<'n>>> {
        let Some(entry) = self.node.entry(key) else {
            return Ok(Vec::new());
        };
        let node = &entry.node;
        let lines = self.lines;
        let items = node.items();
        if items.is_empty() && !node.is_null() && (node.is_map() || self.node.word(key).is_some()) {
            let what = format!("`{key}` of {} is no list", self.of);
            return Err(wrong(self.place(key), what, "give a list of mappings"));
        }
        let mut parts = Vec::with_capacity(items.len());
        for node in items {
            if !node.is_map() {
                let what = format!("{} in `{key}` is no mapping", node.describe());
                let remedy = "write it as InfraGraph 3 has it: a mapping with its keys";
                return Err(wrong(lines.place(node.at), what, remedy));
            }
            parts.push(Part { node, of, lines });
        }
        Ok(parts)
    }

    fn word(&self, key: &str) -> Read<&'n str> {
        let found = self.node.word(key).filter(|word| !word.is_empty());
        found.ok_or_else(|| {
            let what = format!("{} has no `{key}`", self.of);
            wrong(self.place(key), what, format!("add `{key}`"))
        })
    }

    fn count(&self) -> Read<u32> {
        let at = self.place("count");
        let number = words::number(self.word("count")?, "a count", at)?;
        if number > COUNT_MAX {
            let what = format!("a count of {number} is too large");
            return Err(wrong(at, what, "give at most 1048576"));
        }
        Ok(number as u32)
    }

    /// Reads a component's kind, name and count.
    fn component(&self) -> Read<Component> {
        let kind = self.word("choice")?;
        let kind = match kind {
            "device" => Kind::Device,
            "xpu" => Kind::Xpu,
            "nic" => Kind::Nic,
            "cpu" => Kind::Cpu,
            "switch" => Kind::Switch,
            "port" => Kind::Port,
            "memory" => Kind::Memory,
            "custom" => Kind::Custom,
            _ => {
                let what = format!("{} is no choice of a component", quote(kind));
                let remedy = "give device, cpu, xpu, nic, memory, port, switch or custom";
                return Err(wrong(self.place("choice"), what, remedy));
            }
        };
        let (name, count) = (self.word("name")?.to_owned(), self.count()?);
        Ok(Component { name, count, kind })
    }

    /// Reads an end. An edge within a device (`within`) has no instances.
    fn endpoint(&self, key: &'static str, within: bool) -> Read<Endpoint> {
        let Some(end) = self.part(key, "an end of an edge") else {
            let what = format!("an edge has no mapping `{key}`");
            return Err(wrong(
                self.place(key),
                what,
                "name `instance` and `component`",
            ));
        };
        let component = end.word("component")?;
        let (instance, component) = if within {
            let device = end.node.word("device");
            // Within a device an end may name a nested device in front of its component.
            let all = device.map_or(component.to_owned(), |device| {
                format!("{device}.{component}")
            });
            (String::new(), all)
        } else {
            (end.word("instance")?.to_owned(), component.to_owned())
        };
        let at = end.at();
        Ok(Endpoint {
            instance,
            component,
            at,
        })
    }

    /// Reads an edge; `within` is true for those within a device.
    fn edge(&self, within: bool) -> Read<Edge> {
        let scheme = match self.word("scheme")? {
            "one2one" => Scheme::OneToOne,
            "many2many" => Scheme::ManyToMany,
            other => {
                let what = format!("the scheme {} makes no edges", quote(other));
                let remedy = "give one2one or many2many; write a ring as one2one";
                return Err(wrong(self.place("scheme"), what, remedy));
            }
        };
        Ok(Edge {
            ends: [self.endpoint("ep1", within)?, self.endpoint("ep2", within)?],
            scheme,
            link: self.word("link")?.to_owned(),
            at: self.at(),
        })
    }

    /// Returns the key that `choice` names, and the number under it.
    fn chosen(&self) -> Option<(&'n str, &'n str)> {
        let unit = self.node.word("choice")?;
        Some((unit, self.node.word(unit)?))
    }

    /// Reads rate and latency of a link. Counts rates in `transfers` whose unit does not tell them.
    fn link(&self, transfers: &mut u64) -> Read<Link> {
        let mut link = Link::default();
        let Some(physical) = self.part("physical", "`physical` of a link") else {
            return Ok(link);
        };
        if let Some(bandwidth) = physical.part("bandwidth", "`bandwidth` of a link")
            && let Some((unit, number)) = bandwidth.chosen()
        {
            let factor = match unit {
                "gigabits_per_second" => Some(1_000_000_000),
                "gigabytes_per_second" => Some(8_000_000_000),
                "gigatransfers_per_second" => None,
                _ => {
                    let what = format!("{} is no unit of bandwidth", quote(unit));
                    let remedy = "give `gigabits_per_second`, `gigabytes_per_second` or \
                                  `gigatransfers_per_second`";
                    return Err(wrong(bandwidth.place(unit), what, remedy));
                }
            };
            *transfers += u64::from(factor.is_none());
            // Gigatransfers per second do not tell a rate without the number of lanes.
            let rate = factor.map(|factor| {
                let bits = decimal::times(number, factor);
                bits.map(Rate::from_bits_per_second).ok_or_else(|| {
                    let what = format!("{} is no rate", quote(number));
                    wrong(bandwidth.place(unit), what, "give a decimal number")
                })
            });
            link.rate = rate.transpose()?;
        }
        if let Some(latency) = physical.part("latency", "`latency` of a link")
            && let Some((unit, number)) = latency.chosen()
        {
            let at = latency.place(unit);
            let places = match unit {
                "ms" => 9,
                "us" => 6,
                "ns" => 3,
                _ => {
                    let what = format!("{} is no unit of latency", quote(unit));
                    return Err(wrong(at, what, "give `ms`, `us` or `ns`"));
                }
            };
            let (time, is_cut) = words::time(number, "a latency", places, at)?;
            // Rounding would change simulated times unnoticed.
            if is_cut {
                let what = format!("{} has parts of a picosecond", quote(number));
                return Err(wrong(at, what, "give whole picoseconds"));
            }
            link.latency = Some(time);
        }
        Ok(link)
    }

    fn links(&self, transfers: &mut u64) -> Read<BTreeMap<String, Link>> {
        let mut links = BTreeMap::new();
        for part in self.parts("links", "a link")? {
            let link = part.link(transfers)?;
            links.insert(part.word("name")?.to_owned(), link);
        }
        Ok(links)
    }
}

impl Document {
    /// Reads an infrastructure, with ranks from its own annotations and from a further file.
    pub(super) fn read(bytes: &[u8], annotations: Option<Source<'_>>) -> Read<Document> {
        let (root, lines) = tree(bytes)?;
        let root = Part {
            node: &root,
            of: "the document",
            lines: &lines,
        };
        // The InfraGraph service answers with the infrastructure under a key, beside annotations.
        let wrapped = root.part("infrastructure", "the infrastructure");
        let own = wrapped.as_ref().unwrap_or(&root);
        // Other versions share some keys, and would fail later with misleading messages.
        refuse_others(own)?;
        let mut document = Document {
            end: lines.0.len(),
            ..Document::default()
        };
        let mut transfers = 0;
        for part in own.parts("devices", "a device")? {
            let device = device(&part, &mut transfers)?;
            let name = part.word("name")?;
            if document.devices.insert(name.to_owned(), device).is_some() {
                let what = format!("two devices are called {}", quote(name));
                return Err(wrong(part.place("name"), what, "rename one of them"));
            }
        }
        document.links = own.links(&mut transfers)?;
        for part in own.parts("instances", "an instance")? {
            let (name, device) = (
                part.word("name")?.to_owned(),
                part.word("device")?.to_owned(),
            );
            let (count, at) = (part.count()?, part.at());
            // The writer keeps a fabric's name as description if names may not have its characters.
            let known = part.node.word("description");
            let known = known.filter(|known| plain(known) == name.trim_end_matches('_'));
            let shown = known.unwrap_or(&name).to_owned();
            document.instances.push(Instance {
                name,
                shown,
                device,
                count,
                at,
            });
        }
        for part in own.parts("edges", "an edge")? {
            document.edges.push(part.edge(false)?);
        }
        if transfers > 0 {
            document.notes.push(format!(
                "{transfers} link(s) in gigatransfers per second have no rate, which their lanes tell"
            ));
        }
        document.ranks.append(&mut ranks(&root)?);
        if let Some(file) = annotations {
            let of_file = ranks_of(file.bytes).map_err(|error| error.in_file(file.name));
            let of_file = of_file?.into_iter().map(|rank| Rank {
                file: Some(file.name.to_owned()),
                ..rank
            });
            document.ranks.extend(of_file);
        }
        Ok(document)
    }
}

fn device(part: &Part<'_>, transfers: &mut u64) -> Read<Device> {
    let components = part.parts("components", "a component")?;
    let components: Read<Vec<Component>> = components.iter().map(Part::component).collect();
    let edges = part.parts("edges", "an edge")?;
    let edges: Read<Vec<Edge>> = edges.iter().map(|edge| edge.edge(true)).collect();
    Ok(Device {
        components: components?,
        links: part.links(transfers)?,
        edges: edges?,
        at: part.at(),
    })
}

/// Refuses other formats and versions, and says what the file is.
fn refuse_others(root: &Part<'_>) -> Read<()> {
    let stale = "this is InfraGraph 1; write it as version 3 has it, with `edges` of two ends each, \
                 or let its package convert it";
    // Other versions and networkx are told by keys of theirs, so that the remedy fits.
    if root.node.entry("connections").is_some() {
        return Err(wrong(
            root.place("connections"),
            "there are `connections`",
            stale,
        ));
    }
    if let Some(entry) = root.node.entry("devices")
        && entry.node.is_map()
    {
        return Err(wrong(
            root.place("devices"),
            "`devices` is a mapping",
            stale,
        ));
    }
    if root.node.entry("multigraph").is_some() || root.node.entry("nodes").is_some() {
        let what = "this is a graph of networkx, whose devices are taken apart";
        let remedy = "give the infrastructure it was made from: `choice: infragraph`";
        return Err(wrong(root.at(), what, remedy));
    }
    if !root.node.is_map() || root.node.entry("instances").is_none() {
        let what = "there are no `instances` in it";
        let remedy =
            "give an infrastructure of InfraGraph 3, with devices, links, instances and edges";
        return Err(wrong(root.at(), what, remedy));
    }
    Ok(())
}

/// Reads the ranks in a file of annotations.
fn ranks_of(bytes: &[u8]) -> Read<Vec<Rank>> {
    let (root, lines) = tree(bytes)?;
    ranks(&Part {
        node: &root,
        of: "the annotations",
        lines: &lines,
    })
}

/// Reads the attributes `rank` of annotated nodes.
fn ranks(root: &Part<'_>) -> Read<Vec<Rank>> {
    let wrapped = root.part("annotations", "the annotations");
    let own = wrapped.as_ref().unwrap_or(root);
    let mut ranks = Vec::new();
    for node in own.parts("nodes", "an annotated node")? {
        for of in node.parts("attributes", "an attribute")? {
            if of.node.word("attribute") == Some("rank") {
                let at = of.place("value");
                ranks.push(Rank {
                    node: node.word("name")?.to_owned(),
                    value: words::number(of.word("value")?, "a rank", at)?,
                    at,
                    file: None,
                });
            }
        }
    }
    Ok(ranks)
}
