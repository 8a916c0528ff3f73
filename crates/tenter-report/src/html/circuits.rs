//! The circuits of optical switches, over the tree: a picture before they changed and one after.

use super::circuit_layout::Layout;
use super::circuit_picture::{Common, Picture};
use super::text::{add, count, escape, number, time};
use crate::circuits::{Circuits, Kind, State};
use crate::trial_data::TrialData;

/// Adds the section of a trial, if it has optical switches.
pub(super) fn section(id: usize, trial: &TrialData, page: &mut String) {
    if trial.circuits.is_empty() {
        return;
    }
    add(
        page,
        format_args!("<section id=\"circuits{id}\"><h2>Circuits</h2>"),
    );
    draw(&[Drawn::of(trial, None)], page);
    page.push_str("</section>\n");
}

/// Adds the pictures of several trials in the same colours, if one has optical switches; of those
/// without, if they have as many hosts and leaves.
pub(super) fn together(trials: &[TrialData], page: &mut String) {
    let optical = |trial: &TrialData| !trial.circuits.is_empty();
    if !trials.iter().any(optical) {
        return;
    }
    let size = |drawn: &Drawn| {
        let leaves = drawn.circuits.tree.switches.iter();
        let hosts: u64 = leaves.map(|switch| switch.hosts).sum();
        (hosts, drawn.circuits.tree.count(1))
    };
    let named = trials
        .iter()
        .map(|trial| Drawn::of(trial, Some(trial.name())));
    let all: Vec<Drawn> = named.collect();
    let sizes = all.iter().filter(|drawn| drawn.is_optical).map(size);
    let sizes: Vec<(u64, usize)> = sizes.collect();
    let alike = all.into_iter().filter(|drawn| sizes.contains(&size(drawn)));
    let alike: Vec<Drawn> = alike.collect();
    if alike.len() > 1 {
        page.push_str("<h3>Circuits of all trials</h3>");
        draw(&alike, page);
    }
}

/// A trial that is drawn.
struct Drawn {
    /// Its name; not needed if it is the only one.
    name: Option<String>,
    circuits: Circuits,
    layout: Layout,
    is_optical: bool,
    is_sampled: bool,
}

impl Drawn {
    fn of(trial: &TrialData, name: Option<String>) -> Drawn {
        let circuits = Circuits::of(trial);
        Drawn {
            name,
            layout: Layout::of(&circuits.tree),
            circuits,
            is_optical: !trial.circuits.is_empty(),
            is_sampled: !trial.samples.is_empty(),
        }
    }

    fn pictures(&self) -> Vec<Picture<'_>> {
        let states = self.circuits.states.iter();
        let pictures = states.map(|state| Picture::of(&self.layout, state));
        pictures.collect()
    }

    /// The time of a state.
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

fn draw(drawn: &[Drawn], page: &mut String) {
    let pictures: Vec<Vec<Picture<'_>>> = drawn.iter().map(Drawn::pictures).collect();
    let mut common = Common::of(&[]);
    for of in &pictures {
        let own = Common::of(of);
        common.full = common.full.max(own.full);
        common.most = common.most.max(own.most);
        common.depth = common.depth.max(own.depth);
    }
    lead(drawn, page);
    legend(drawn, common, page);
    let is_wide = drawn.iter().any(|of| of.layout.is_wide());
    for (of, pictures) in drawn.iter().zip(&pictures) {
        if let Some(name) = &of.name {
            add(page, format_args!("<h4>{}</h4>", escape(name)));
        }
        let class = if is_wide { "pictures wide" } else { "pictures" };
        add(page, format_args!("<div class=\"{class}\">"));
        for (place, (state, picture)) in of.circuits.states.iter().zip(pictures).enumerate() {
            let when = of.when(place);
            let span = format!("{} to {}", time(state.from), time(state.to));
            add(
                page,
                format_args!("<figure><figcaption>{when} <small>{span}</small></figcaption>"),
            );
            let name = of
                .name
                .as_ref()
                .map_or_else(String::new, |name| format!("{name}: "));
            let title = format!("{name}the tree and its circuits, {span}");
            picture.draw(&title, common, page);
            page.push_str("</figure>");
        }
        page.push_str("</div>\n");
    }
    table(drawn, page);
}

/// The drawn and the omitted states.
fn lead(drawn: &[Drawn], page: &mut String) {
    page.push_str("<p class=\"lead\">Switches as they are cabled, with the circuits of optical switches. Parallel links of one kind are one line, thicker for more links");
    page.push_str(if drawn.iter().any(|of| of.layout.is_grouped) {
        "; a box is a pod, or several leaves, and the bar in it stands for the links within."
    } else {
        "; hosts are ticks on their leaf."
    });
    for of in drawn {
        let (shown, lasted) = (of.circuits.states.len(), of.circuits.lasted);
        if shown < lasted {
            let name = of
                .name
                .as_ref()
                .map_or_else(String::new, |name| format!("{name}: "));
            add(
                page,
                format_args!(
                    " {}The circuits were in {} states; the first, the last and the {} longest of the others are drawn.",
                    escape(&name),
                    count(lasted as u64),
                    shown.saturating_sub(2)
                ),
            );
        }
    }
    page.push_str("</p>");
    let unknown = |of: &&Drawn| of.circuits.states.iter().any(|state| state.known.is_none());
    if let Some(of) = drawn.iter().find(unknown) {
        let remedy = if of.is_sampled {
            "no whole sample lies within that time; sample more often with <code>observe.sample_interval</code>"
        } else {
            "the trial was not sampled; switch samples on with <code>observe.samples</code>, or sample more often with <code>observe.sample_interval</code>"
        };
        add(
            page,
            format_args!("<p class=\"lead\">Links without colour: {remedy}.</p>"),
        );
    }
}

fn legend(drawn: &[Drawn], common: Common, page: &mut String) {
    let states = || drawn.iter().flat_map(|of| &of.circuits.states);
    page.push_str("<p class=\"legend tree-legend\">");
    if states().any(|state| state.known.is_some()) {
        page.push_str("<span>busier direction, mean over the time:</span>");
        for step in 0..=4 {
            let share = f64::from(step) / 4.0;
            add(
                page,
                format_args!(
                    "<span><i style=\"--v:{share}\"></i>{}%</span>",
                    number(share * common.full * 100.0, 3)
                ),
            );
        }
    }
    let key = |drawing: &str, text: &str, page: &mut String| {
        add(
            page,
            format_args!(
                "<span><svg viewBox=\"0 0 26 12\" aria-hidden=\"true\">{drawing}</svg>{text}</span>"
            ),
        );
    };
    if states().any(|state| state.links.iter().any(|link| link.kind == Kind::Moved)) {
        key(
            "<path class=\"plain moved\" d=\"M0 6H26\" style=\"stroke-width:2\"/>",
            "circuit not along a cable of the tree",
            page,
        );
    }
    if states().any(|state| !state.dark.is_empty()) {
        key(
            "<circle class=\"dark\" cx=\"13\" cy=\"6\" r=\"5\"/>",
            "ports without a circuit",
            page,
        );
    }
    page.push_str("</p>");
}

/// A table of the states; empty columns are left out.
fn table(drawn: &[Drawn], page: &mut String) {
    let upper: Vec<String> = drawn.iter().map(upper_links).collect();
    let same = upper.iter().all(|name| *name == upper[0]);
    let upper = if same { &upper[0] } else { "upper links" };
    let (mean, greatest) = (format!("{upper}<br>busy, mean %"), "greatest<br>%");
    let heads = [
        "trial",
        "state",
        "lasted",
        "circuits<br>leaf–leaf",
        "leaf–upper<br>switch",
        "others",
        "dark<br>ports",
        "bytes of leaves over<br>direct circuits, %",
        &mean,
        greatest,
    ];
    let states = drawn.iter().flat_map(|of| {
        let states = of.circuits.states.iter().enumerate();
        states.map(move |(place, state)| cells(of, place, state))
    });
    let rows: Vec<[String; 10]> = states.collect();
    let says = |column: usize| {
        rows.iter()
            .any(|row| !["", "0"].contains(&row[column].as_str()))
    };
    let columns: Vec<usize> = (0..heads.len())
        .filter(|&column| ![0, 4, 5].contains(&column) || says(column))
        .collect();
    let class = |column: usize| if column < 2 { "" } else { " class=\"n\"" };
    page.push_str("<div class=\"scroll\"><table><thead><tr>");
    for &column in &columns {
        add(
            page,
            format_args!("<th{}>{}</th>", class(column), heads[column]),
        );
    }
    page.push_str("</tr></thead><tbody>");
    for row in &rows {
        page.push_str("<tr>");
        for &column in &columns {
            let text = escape(&row[column]);
            add(page, format_args!("<td{}>{text}</td>", class(column)));
        }
        page.push_str("</tr>");
    }
    page.push_str("</tbody></table></div>\n");
}

/// The links between the highest two tiers.
fn upper_links(of: &Drawn) -> String {
    let tree = &of.circuits.tree;
    match tree.top() {
        top @ 2.. => format!("{}–{}", tree.tiers.name(top - 1), tree.tiers.name(top)),
        _ => "circuits".to_owned(),
    }
}

/// A row of the table.
fn cells(of: &Drawn, place: usize, state: &State) -> [String; 10] {
    let tree = &of.circuits.tree;
    let leaves = state.circuits(tree, 1, 1);
    let tiers = 2..=tree.top();
    let up: u64 = tiers.map(|tier| state.circuits(tree, 1, tier)).sum();
    let others = state.all_circuits() - leaves - up;
    let optical = |number: u64| {
        if of.is_optical {
            count(number)
        } else {
            String::new()
        }
    };
    let percent = |share: Option<f64>| {
        let text = |share: f64| number(share * 100.0, 3);
        share.map_or_else(|| "–".to_owned(), text)
    };
    let direct = if of.is_optical {
        percent(state.direct(tree))
    } else {
        String::new()
    };
    [
        of.name.clone().filter(|_| place == 0).unwrap_or_default(),
        of.when(place).to_owned(),
        time(state.to - state.from),
        optical(leaves),
        optical(up),
        optical(others),
        optical(state.dark.values().sum()),
        direct,
        percent(state.upper.map(|of| of.0)),
        percent(state.upper.map(|of| of.1)),
    ]
}
