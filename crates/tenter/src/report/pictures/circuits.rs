//! Optical circuits, drawn over the tree, state by state.

use std::collections::BTreeMap;

use super::circuit_boxes::Boxes;
use super::plot::{Bundle, Carried, CircuitBox, CircuitPicture, Num, Picture, Plot};
use super::text::{add, count, number, time};
use crate::report::circuits::{Circuits, Kind, State, share};
use crate::report::table::Section;
use crate::report::text_table::{TextColumn, TextTable};
use crate::report::trial_data::TrialData;

/// Loads, as capacity shares, for which the full colour may stand.
const FULL: [f64; 5] = [0.05, 0.1, 0.25, 0.5, 1.0];

/// Heading above the pictures of circuits.
pub(super) const TITLE: &str = "Circuits";

/// Draws several trials in the same colours, if one has optical switches. Trials without them take
/// part if they have the same host and leaf counts.
pub(super) fn together(trials: &[&TrialData], names: &[String]) -> Vec<Picture> {
    if trials.iter().all(|trial| trial.circuits.is_empty()) {
        return Vec::new();
    }
    let size = |drawn: &Drawn| {
        let leaves = drawn.circuits.tree.switches.iter();
        let hosts: u64 = leaves.map(|switch| switch.hosts).sum();
        (hosts, drawn.circuits.tree.count(1))
    };
    let all = trials.iter().zip(names);
    let all: Vec<Drawn> = all
        .map(|(trial, name)| Drawn::of(trial, Some(name.clone())))
        .collect();
    let sizes = all.iter().filter(|drawn| drawn.is_optical).map(size);
    let sizes: Vec<(u64, usize)> = sizes.collect();
    let alike = all.into_iter().filter(|drawn| sizes.contains(&size(drawn)));
    let alike: Vec<Drawn> = alike.collect();
    if alike.len() < 2 {
        return Vec::new();
    }
    explained(&alike)
}

/// A trial to be drawn.
struct Drawn {
    /// Trial name; `None` if it is the only one.
    name: Option<String>,
    circuits: Circuits,
    boxes: Boxes,
    is_optical: bool,
    is_sampled: bool,
}

impl Drawn {
    fn of(trial: &TrialData, name: Option<String>) -> Drawn {
        let circuits = Circuits::of(trial);
        Drawn {
            name,
            boxes: Boxes::of(&circuits.tree),
            circuits,
            is_optical: !trial.circuits.is_empty(),
            is_sampled: !trial.samples.is_empty(),
        }
    }

    /// Returns the name, to start a sentence or title; empty if the trial is the only one.
    fn prefix(&self) -> String {
        let name = self.name.as_ref();
        name.map_or_else(String::new, |name| format!("{name}: "))
    }

    fn bundled(&self) -> Vec<Bundled> {
        let states = self.circuits.states.iter();
        states
            .map(|state| Bundled::of(&self.boxes, state))
            .collect()
    }

    /// Names a state's position in time.
    fn when(&self, place: usize) -> &'static str {
        match (self.circuits.states.len(), place) {
            (1, _) if self.is_optical => "All the time",
            (1, _) => "Without optical switches",
            (_, 0) => "Before the first change",
            (all, last) if last + 1 == all => "After the last change",
            _ => "Between changes",
        }
    }
}

/// A state's links, summed between boxes.
struct Bundled {
    known: Option<f64>,
    /// Links between two boxes, with their kind; the busiest last.
    between: Vec<(usize, usize, Kind, Sum)>,
    /// Links within a box, by box.
    inner: BTreeMap<usize, Sum>,
}

/// All links that join two boxes and have one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    gbps: [f64; 2],
    bytes: [f64; 2],
}

impl Bundled {
    fn of(boxes: &Boxes, state: &State) -> Bundled {
        let mut between: BTreeMap<(usize, usize, Kind), Sum> = BTreeMap::new();
        let mut inner: BTreeMap<usize, Sum> = BTreeMap::new();
        for link in &state.links {
            let place = |node| boxes.of_node.get(&node).copied();
            let (Some(a), Some(b)) = (place(link.ends.0), place(link.ends.1)) else {
                continue;
            };
            // Directions go with the boxes, whose order may be the reverse of that of the nodes.
            let turned = |both: [f64; 2]| if a <= b { both } else { [both[1], both[0]] };
            let sum = if a == b {
                inner.entry(a).or_default()
            } else {
                between.entry((a.min(b), a.max(b), link.kind)).or_default()
            };
            sum.take(link.count, turned(link.gbps), turned(link.bytes));
        }
        let known = state.known;
        let between = between.into_iter();
        let mut between: Vec<_> = between
            .map(|((a, b, kind), sum)| (a, b, kind, sum))
            .collect();
        // Later lines are drawn over earlier ones.
        between.sort_by(|a, b| a.3.busiest(known).total_cmp(&b.3.busiest(known)));
        Bundled {
            known,
            between,
            inner,
        }
    }

    fn sums(&self) -> impl Iterator<Item = &Sum> {
        let between = self.between.iter().map(|(.., sum)| sum);
        between.chain(self.inner.values())
    }
}

impl Sum {
    fn take(&mut self, count: u64, gbps: [f64; 2], bytes: [f64; 2]) {
        self.count += count;
        for way in 0..2 {
            self.gbps[way] += gbps[way];
            self.bytes[way] += bytes[way];
        }
    }

    /// Returns the load as a capacity share, in each direction.
    fn busy(&self, known: Option<f64>) -> Option<[f64; 2]> {
        let known = known?;
        Some([0, 1].map(|way| share(self.bytes[way], self.gbps[way], known)))
    }

    fn busiest(&self, known: Option<f64>) -> f64 {
        self.busy(known).map_or(0.0, |[one, other]| one.max(other))
    }

    fn carried(&self, known: Option<f64>) -> Carried {
        Carried {
            count: self.count,
            rate_bps: Num(self.gbps[0] * 1e9),
            busy: self.busy(known).map(|busy| busy.map(Num)),
            bytes: self.bytes.map(Num),
        }
    }
}

/// Scale that pictures side by side share.
#[derive(Clone, Copy, Debug)]
struct Common {
    /// Load with the full colour, as a capacity share.
    full: f64,
    /// Maximum number of links that one line stands for.
    most: u64,
}

impl Common {
    fn of(pictures: &[Vec<Bundled>]) -> Common {
        let all = || pictures.iter().flatten();
        let busy = all().flat_map(|of| of.sums().map(|sum| sum.busiest(of.known)));
        let busiest = busy.fold(0.0, f64::max);
        let full = FULL.into_iter().find(|&full| busiest <= full);
        let counts = all().flat_map(|of| of.between.iter().map(|(.., sum)| sum.count));
        Common {
            full: full.unwrap_or(1.0),
            most: counts.max().unwrap_or(1),
        }
    }
}

/// Draws one state with the common scale.
fn picture(of: &Drawn, state: &State, links: &Bundled, common: Common) -> Plot<'static> {
    let mut dark = vec![0; of.boxes.all.len()];
    for (node, ports) in &state.dark {
        if let Some(&place) = of.boxes.of_node.get(node) {
            dark[place] += ports;
        }
    }
    let boxes = of.boxes.all.iter().zip(dark).enumerate();
    let bundles = links.between.iter();
    Plot::Circuits(CircuitPicture {
        title: format!("{}the tree and its circuits, {}", of.prefix(), span(state)),
        shape: of.boxes.shape,
        boxes: boxes
            .map(|(place, (switches, dark))| CircuitBox {
                switches: switches.clone(),
                dark,
                inner: links.inner.get(&place).map(|sum| sum.carried(links.known)),
            })
            .collect(),
        bundles: bundles
            .map(|&(a, b, kind, sum)| Bundle {
                ends: [a, b],
                kind: match kind {
                    Kind::Cable => "cable",
                    Kind::Circuit => "circuit",
                    Kind::Moved => "moved",
                },
                carried: sum.carried(links.known),
            })
            .collect(),
        full: Num(common.full),
        most: common.most,
    })
}

/// Formats a state's start and end.
fn span(state: &State) -> String {
    format!("{} to {}", time(state.from), time(state.to))
}

/// Draws each lasting state of a trial's circuits; nothing without optical switches.
pub(super) fn pictures(trial: &TrialData) -> Vec<Picture> {
    if trial.circuits.is_empty() {
        return Vec::new();
    }
    explained(&[Drawn::of(trial, None)])
}

/// Draws trials in common colours; the first picture explains all.
fn explained(drawn: &[Drawn]) -> Vec<Picture> {
    let mut pictures: Vec<Picture> = side_by_side(drawn).into_iter().flatten().collect();
    if let Some(first) = pictures.first_mut() {
        first.lead = words(drawn).join(" ") + " " + &keys(drawn).join(" ");
    }
    pictures
}

/// Tabulates the states that a trial's circuits were in; nothing without optical switches.
pub(super) fn sections(trial: &TrialData) -> Vec<Section> {
    if trial.circuits.is_empty() {
        return Vec::new();
    }
    let table = table(&Drawn::of(trial, None));
    vec![Section::of_table(
        "States of the circuits".to_owned(),
        table,
    )]
}

/// Draws each trial's states, with titles, in common colours.
fn side_by_side(drawn: &[Drawn]) -> Vec<Vec<Picture>> {
    let bundled: Vec<Vec<Bundled>> = drawn.iter().map(Drawn::bundled).collect();
    let common = Common::of(&bundled);
    let pictures = drawn.iter().zip(&bundled).map(|(of, bundled)| {
        let states = of.circuits.states.iter().zip(bundled).enumerate();
        let picture = |(place, (state, links))| {
            let title = format!("{}{}, {}", of.prefix(), of.when(place), span(state));
            picture(of, state, links, common).picture(title, "")
        };
        states.map(picture).collect()
    });
    pictures.collect()
}

/// Explains what is drawn, which states are left out, and why links may have no colour.
fn words(drawn: &[Drawn]) -> Vec<String> {
    let mut text = "Switches as they are cabled, with the circuits of optical switches. Parallel links of one kind are one line, thicker for more links".to_owned();
    text.push_str(if drawn.iter().any(|of| of.boxes.is_grouped) {
        "; a box is a pod, or several leaves, and the bar in it stands for the links within."
    } else {
        "; hosts are ticks on their leaf."
    });
    for of in drawn {
        let (shown, lasted) = (of.circuits.states.len(), of.circuits.lasted);
        if shown < lasted {
            add(
                &mut text,
                format_args!(
                    " {}The circuits were in {} states; the first, the last and the {} longest of the others are drawn.",
                    of.prefix(),
                    count(lasted as u64),
                    shown.saturating_sub(2)
                ),
            );
        }
    }
    let mut words = vec![text];
    let unknown = |of: &&Drawn| of.circuits.states.iter().any(|state| state.known.is_none());
    if let Some(of) = drawn.iter().find(unknown) {
        let remedy = if of.is_sampled {
            "no whole sample lies within that time; sample more often with `observe.sample_interval`"
        } else {
            "the trial was not sampled; switch samples on with `observe.samples`, or sample more often with `observe.sample_interval`"
        };
        words.push(format!("Links without colour: {remedy}."));
    }
    words
}

/// Marks in the pictures that need an explanation.
struct Marked {
    /// Some links are coloured by load.
    loads: bool,
    /// Some circuits do not follow a cable in the tree.
    moved: bool,
    /// Some ports have no circuit.
    dark: bool,
}

impl Marked {
    fn of(drawn: &[Drawn]) -> Marked {
        let states = || drawn.iter().flat_map(|of| &of.circuits.states);
        let is_moved = |state: &State| state.links.iter().any(|link| link.kind == Kind::Moved);
        Marked {
            loads: states().any(|state| state.known.is_some()),
            moved: states().any(is_moved),
            dark: states().any(|state| !state.dark.is_empty()),
        }
    }
}

/// Explains colours, dashes and circles, if there are any.
fn keys(drawn: &[Drawn]) -> Vec<&'static str> {
    let Marked { loads, moved, dark } = Marked::of(drawn);
    let keys = [
        (
            loads,
            "The colour is the load of the busier direction, as a mean over the time.",
        ),
        (
            moved,
            "A dashed line is a circuit not along a cable of the tree.",
        ),
        (dark, "A circle counts ports without a circuit."),
    ];
    let shown = keys.into_iter().filter(|(is_there, _)| *is_there);
    shown.map(|(_, words)| words).collect()
}

/// Tabulates a trial's states. Circuit counts that are zero in every state are left out.
fn table(of: &Drawn) -> TextTable {
    let upper = upper_links(of);
    let heads = [
        TextColumn::name("state"),
        TextColumn::number("lasted", ""),
        TextColumn::number("circuits leaf–leaf", ""),
        TextColumn::number("leaf–upper switch", ""),
        TextColumn::number("others", ""),
        TextColumn::number("dark ports", ""),
        TextColumn::number("bytes of leaves over direct circuits", "%"),
        TextColumn::number(&format!("{upper} busy, mean"), "%"),
        TextColumn::number("greatest", "%"),
    ];
    let states = of.circuits.states.iter().enumerate();
    let rows: Vec<[String; 9]> = states
        .map(|(place, state)| cells(of, place, state))
        .collect();
    let says = |column: usize| {
        rows.iter()
            .any(|row| !["", "0"].contains(&row[column].as_str()))
    };
    // Columns 3 and 4 count circuits that not every fabric has.
    let columns: Vec<usize> = (0..heads.len())
        .filter(|&column| ![3, 4].contains(&column) || says(column))
        .collect();
    let mut table = TextTable::new(columns.iter().map(|&at| heads[at].clone()).collect());
    for row in &rows {
        table.push(columns.iter().map(|&at| row[at].clone()).collect());
    }
    table
}

/// Names the links between the two highest tiers.
fn upper_links(of: &Drawn) -> String {
    let tree = &of.circuits.tree;
    match tree.top() {
        top @ 2.. => format!("{}–{}", tree.tiers.name(top - 1), tree.tiers.name(top)),
        _ => "circuits".to_owned(),
    }
}

/// Returns a state's row in the table.
fn cells(of: &Drawn, place: usize, state: &State) -> [String; 9] {
    let tree = &of.circuits.tree;
    let leaves = state.circuits(tree, 1, 1);
    let tiers = 2..=tree.top();
    let up: u64 = tiers.map(|tier| state.circuits(tree, 1, tier)).sum();
    let others = state.all_circuits() - leaves - up;
    let percent = |share: Option<f64>| {
        let text = |share: f64| number(share * 100.0, 3);
        share.map_or_else(|| "–".to_owned(), text)
    };
    [
        of.when(place).to_owned(),
        time(state.to - state.from),
        count(leaves),
        count(up),
        count(others),
        count(state.dark.values().sum()),
        percent(state.direct(tree)),
        percent(state.upper.map(|of| of.0)),
        percent(state.upper.map(|of| of.1)),
    ]
}
