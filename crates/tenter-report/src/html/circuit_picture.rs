//! The picture of a tree with its circuits: boxes, and links coloured by load.

use std::collections::BTreeMap;

use super::circuit_layout::{Item, Layout};
use super::text::{add, bytes, count, escape, number};
use crate::circuits::{Kind, State, share};

/// Shares of capacity for which the full colour may stand.
const FULL: [f64; 5] = [0.05, 0.1, 0.25, 0.5, 1.0];

/// One state of the circuits, laid out.
pub(super) struct Picture<'a> {
    layout: &'a Layout,
    state: &'a State,
    bundles: Vec<Bundle>,
    /// Links within a box, by box.
    inner: BTreeMap<usize, Bundle>,
}

/// The common scale of adjacent pictures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common {
    /// The share of a link's capacity that has the full colour.
    pub(super) full: f64,
    /// The most links that are drawn as one.
    pub(super) most: u64,
    /// The depth of arcs below the boxes.
    pub(super) depth: f64,
}

/// All links of a kind between two boxes.
#[derive(Clone, Debug)]
struct Bundle {
    ends: (usize, usize),
    kind: Kind,
    count: u64,
    gbps: [f64; 2],
    bytes: [f64; 2],
}

/// The edge of a box to which a link is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Above,
    Below,
    /// To a box of the same row, by an arc below it.
    Beside,
}

impl Common {
    /// The scale that fits all of these pictures.
    pub(super) fn of(pictures: &[Picture<'_>]) -> Common {
        let bundles = || pictures.iter().flat_map(|picture| &picture.bundles);
        let busy = pictures.iter().flat_map(|picture| {
            let all = picture.bundles.iter().chain(picture.inner.values());
            all.filter_map(|bundle| bundle.busy(picture.state.known))
        });
        let busiest = busy.map(|ways| ways[0].max(ways[1])).fold(0.0, f64::max);
        let full = FULL.into_iter().find(|&full| busiest <= full);
        let arcs = pictures.iter().map(Picture::depth);
        Common {
            full: full.unwrap_or(1.0),
            most: bundles().map(|bundle| bundle.count).max().unwrap_or(1),
            depth: arcs.fold(0.0, f64::max),
        }
    }
}

impl Bundle {
    /// The share of its capacity, each way.
    fn busy(&self, known: Option<f64>) -> Option<[f64; 2]> {
        let known = known?;
        let share = |way: usize| share(self.bytes[way], self.gbps[way], known);
        Some([share(0), share(1)])
    }

    fn take(&mut self, count: u64, gbps: [f64; 2], bytes: [f64; 2]) {
        self.count += count;
        for way in 0..2 {
            self.gbps[way] += gbps[way];
            self.bytes[way] += bytes[way];
        }
    }
}

impl<'a> Picture<'a> {
    /// The picture of a state.
    pub(super) fn of(layout: &'a Layout, state: &'a State) -> Picture<'a> {
        let mut bundles: BTreeMap<(usize, usize, Kind), Bundle> = BTreeMap::new();
        let mut inner: BTreeMap<usize, Bundle> = BTreeMap::new();
        for link in &state.links {
            let place = |node| layout.of_node.get(&node).copied();
            let (Some(a), Some(b)) = (place(link.ends.0), place(link.ends.1)) else {
                continue;
            };
            let turned = |both: [f64; 2]| if a <= b { both } else { [both[1], both[0]] };
            let ends = (a.min(b), a.max(b));
            let none = || Bundle {
                ends,
                kind: link.kind,
                count: 0,
                gbps: [0.0; 2],
                bytes: [0.0; 2],
            };
            let bundle = if a == b {
                inner.entry(a).or_insert_with(none)
            } else {
                let key = (ends.0, ends.1, link.kind);
                bundles.entry(key).or_insert_with(none)
            };
            bundle.take(link.count, turned(link.gbps), turned(link.bytes));
        }
        let mut bundles: Vec<Bundle> = bundles.into_values().collect();
        // The busiest last, and so above the others.
        let most = |bundle: &Bundle| {
            let ways = bundle.busy(state.known).unwrap_or_default();
            ways[0].max(ways[1])
        };
        bundles.sort_by(|a, b| most(a).total_cmp(&most(b)));
        Picture {
            layout,
            state,
            bundles,
            inner,
        }
    }

    /// The depth of its arcs below the boxes.
    fn depth(&self) -> f64 {
        if self.layout.ring.is_some() {
            return 0.0;
        }
        let lowest = self.layout.rows - 1;
        let is_arc = |bundle: &&Bundle| {
            let (a, b) = self.ends(bundle);
            a.row == lowest && b.row == lowest
        };
        let arcs = self.bundles.iter().filter(is_arc);
        arcs.map(|bundle| self.reach(bundle)).fold(0.0, f64::max)
    }

    /// The depth of an arc: the longer, the deeper.
    fn reach(&self, bundle: &Bundle) -> f64 {
        let (a, b) = self.ends(bundle);
        let reach = 14.0 + 0.17 * (a.at.0 - b.at.0).abs();
        if a.row + 1 < self.layout.rows {
            reach.min(34.0)
        } else {
            reach
        }
    }

    fn ends(&self, bundle: &Bundle) -> (&'a Item, &'a Item) {
        let items = &self.layout.items;
        (&items[bundle.ends.0], &items[bundle.ends.1])
    }

    /// Adds the drawing.
    pub(super) fn draw(&self, title: &str, common: Common, page: &mut String) {
        // Pictures beside each other are of one height.
        let depth = if self.layout.is_wide() {
            self.depth()
        } else {
            common.depth
        };
        let labels = if depth > 0.0 { 14.0 } else { 2.0 };
        add(
            page,
            format_args!(
                "<svg class=\"tree\" viewBox=\"0 0 {} {:.0}\" role=\"img\" tabindex=\"0\" data-marks aria-label=\"{}\">",
                self.layout.width,
                self.layout.height + depth + labels,
                escape(title)
            ),
        );
        for frame in &self.layout.frames {
            let (left, top, width, height) = frame.place;
            add(
                page,
                format_args!(
                    "<rect class=\"frame\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\"/>"
                ),
            );
        }
        let attached = self.attached();
        for (bundle, ends) in self.bundles.iter().zip(&attached) {
            self.link(bundle, *ends, common, page);
        }
        for (place, item) in self.layout.items.iter().enumerate() {
            self.item(place, item, common, page);
        }
        for frame in &self.layout.frames {
            let (left, top, _, height) = frame.place;
            add(
                page,
                format_args!(
                    "<text class=\"halo\" transform=\"translate({:.1} {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
                    left + 10.0,
                    top + height / 2.0,
                    escape(&frame.name)
                ),
            );
        }
        page.push_str("</svg>\n");
    }

    /// The places of both ends of each bundle on their boxes, from the left of the picture.
    fn attached(&self) -> Vec<[f64; 2]> {
        type Key = (usize, Side, f64);
        let mut ends: Vec<(Key, usize, usize)> = Vec::new();
        for (place, bundle) in self.bundles.iter().enumerate() {
            let (a, b) = self.ends(bundle);
            let both = [(bundle.ends.0, a, b), (bundle.ends.1, b, a)];
            for (end, (own, from, to)) in both.into_iter().enumerate() {
                let by = to.at.0 - from.at.0;
                let key = match from.row.cmp(&to.row) {
                    std::cmp::Ordering::Greater => (own, Side::Above, by),
                    std::cmp::Ordering::Less => (own, Side::Below, by),
                    // Arcs of one box do not cross if the far ones start in its middle: to the
                    // left the near ones first, then the far ones, to the right the other way.
                    std::cmp::Ordering::Equal => (own, Side::Beside, -1.0 / by),
                };
                ends.push((key, place, end));
            }
        }
        ends.sort_by(|a, b| {
            let (one, other) = (&a.0, &b.0);
            let by = one.2.total_cmp(&other.2);
            (one.0, one.1).cmp(&(other.0, other.1)).then(by)
        });
        let mut attached = vec![[0.0; 2]; self.bundles.len()];
        for of_side in ends.chunk_by(|a, b| (a.0.0, a.0.1) == (b.0.0, b.0.1)) {
            let item = &self.layout.items[of_side[0].0.0];
            for (number, &((.., by), bundle, end)) in of_side.iter().enumerate() {
                let share = (number as f64 + 0.5) / of_side.len() as f64 - 0.5;
                attached[bundle][end] = if item.size.0 > 200.0 {
                    // A whole tier: straight above the other end.
                    item.at.0 + by
                } else {
                    item.at.0 + share * 0.76 * item.size.0
                };
            }
        }
        attached
    }

    fn link(&self, bundle: &Bundle, [x1, x2]: [f64; 2], common: Common, page: &mut String) {
        let (a, b) = self.ends(bundle);
        let half = |item: &Item| item.size.1 / 2.0;
        let (path, middle) = if let Some(centre) = self.layout.ring {
            // Bent towards the middle, so that it does not pass behind the boxes between; the more
            // the further it goes.
            let far = (a.at.0 - b.at.0).hypot(a.at.1 - b.at.1) / self.layout.height;
            let by = (0.6 * far).min(0.4);
            let bend = |a: f64, b: f64, centre: f64| f64::midpoint(a, b) * (1.0 - by) + centre * by;
            let by = (
                bend(a.at.0, b.at.0, centre.0),
                bend(a.at.1, b.at.1, centre.1),
            );
            let path = format!(
                "M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}",
                a.at.0, a.at.1, by.0, by.1, b.at.0, b.at.1
            );
            (path, by)
        } else if a.row == b.row {
            let (y, reach) = (a.at.1 + half(a), self.reach(bundle));
            // The lowest point of such a curve is at three quarters of its controls.
            let by = y + reach / 0.75;
            let path = format!("M{x1:.1} {y:.1}C{x1:.1} {by:.1} {x2:.1} {by:.1} {x2:.1} {y:.1}");
            (path, (f64::midpoint(x1, x2), y + reach))
        } else {
            let (y1, y2) = if a.row > b.row {
                (a.at.1 - half(a), b.at.1 + half(b))
            } else {
                (a.at.1 + half(a), b.at.1 - half(b))
            };
            let middle = (f64::midpoint(x1, x2), f64::midpoint(y1, y2));
            (format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"), middle)
        };
        let (class, style) = self.colour(bundle, common);
        let moved = if bundle.kind == Kind::Moved {
            " moved"
        } else {
            ""
        };
        let wide = thickness(bundle.count, common.most);
        add(
            page,
            format_args!(
                "<g class=\"m link\" data-t=\"{}\"><path class=\"hit\" d=\"{path}\"/><path class=\"{class}{moved}\" style=\"{style}stroke-width:{wide:.1}\" d=\"{path}\"/>",
                escape(&self.about(bundle))
            ),
        );
        let is_counted = self.layout.ring.is_none() && (a.is_group || b.is_group);
        if is_counted && bundle.count > 1 {
            add(
                page,
                format_args!(
                    "<text class=\"halo\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                    middle.0,
                    middle.1 + 4.0,
                    count(bundle.count)
                ),
            );
        }
        page.push_str("</g>");
    }

    /// The class and the style that colour a link.
    fn colour(&self, bundle: &Bundle, common: Common) -> (&'static str, String) {
        match bundle.busy(self.state.known) {
            Some(ways) => {
                let share = (ways[0].max(ways[1]) / common.full).min(1.0);
                ("load", format!("--v:{share:.3};"))
            }
            None => ("plain", String::new()),
        }
    }

    /// The description of a bundle.
    fn about(&self, bundle: &Bundle) -> String {
        let (a, b) = self.ends(bundle);
        let what = match (bundle.kind, bundle.count) {
            (Kind::Cable, 1) => "cable",
            (Kind::Cable, _) => "cables",
            (_, 1) => "circuit",
            _ => "circuits",
        };
        let elsewhere = if bundle.kind == Kind::Moved {
            ", moved here"
        } else {
            ""
        };
        let mut about = format!(
            "{} – {}\n{} {what}{elsewhere}, {} Gb/s",
            a.names[0],
            b.names[0],
            count(bundle.count),
            number(bundle.gbps[0], 4)
        );
        self.tell_busy(bundle, &a.names[0], &b.names[0], &mut about);
        about
    }

    fn tell_busy(&self, bundle: &Bundle, a: &str, b: &str, about: &mut String) {
        let Some(busy) = bundle.busy(self.state.known) else {
            return;
        };
        for (way, (from, to)) in [(a, b), (b, a)].into_iter().enumerate() {
            add(
                about,
                format_args!(
                    "\n{from} → {to}: {}% busy, {}",
                    number(busy[way] * 100.0, 3),
                    bytes(bundle.bytes[way])
                ),
            );
        }
    }

    fn item(&self, place: usize, item: &Item, common: Common, page: &mut String) {
        let ((x, y), (width, height)) = (item.at, item.size);
        let (left, top) = (x - width / 2.0, y - height / 2.0);
        let mut about = item.about.clone();
        let inner = self.inner.get(&place);
        if let Some(inner) = inner {
            add(
                &mut about,
                format_args!("\n{} links within", count(inner.count)),
            );
            self.tell_busy(inner, "lower", "upper", &mut about);
        }
        add(
            page,
            format_args!(
                "<g class=\"m\" data-t=\"{}\"><rect class=\"box\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"3\"/>",
                escape(&about)
            ),
        );
        // The room for the name above the load or the hosts.
        let mut below = top + height;
        if let Some(inner) = inner {
            let (class, style) = self.colour(inner, common);
            add(
                page,
                format_args!(
                    "<path class=\"{class}\" style=\"{style}stroke-width:6\" d=\"M{:.1} {:.1}H{:.1}\"/>",
                    left + 3.0,
                    below - 6.0,
                    left + width - 3.0
                ),
            );
            below -= 10.0;
        } else if ticks(item, left, below, page) {
            below -= 7.0;
        }
        name(item, x, f64::midpoint(top, below), below - top, page);
        page.push_str("</g>");
        self.dark(place, item, page);
    }

    /// Marks a box whose ports have no circuit.
    fn dark(&self, place: usize, item: &Item, page: &mut String) {
        let here = |node: &u32| self.layout.of_node.get(node) == Some(&place);
        let dark = self.state.dark.iter().filter(|(node, _)| here(node));
        let ports: u64 = dark.map(|of| *of.1).sum();
        if ports == 0 {
            return;
        }
        let text = count(ports);
        let radius = if item.size.0 < 22.0 { 3.0 } else { 6.5 };
        let x = item.at.0 + item.size.0 / 2.0 + 1.0;
        let y = item.at.1 - item.size.1 / 2.0 - 1.0;
        add(
            page,
            format_args!(
                "<g class=\"m\" data-t=\"{}\n{text} dark {}\"><circle class=\"dark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>",
                escape(&item.names[0]),
                if ports == 1 { "port" } else { "ports" }
            ),
        );
        if radius > 5.0 && text.len() < 4 {
            add(
                page,
                format_args!(
                    "<text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
                    y + 3.2
                ),
            );
        }
        page.push_str("</g>");
    }
}

/// A stroke for a number of links, of which the most are `most`.
fn thickness(links: u64, most: u64) -> f64 {
    let more = links.saturating_sub(1) as f64;
    let each = (7.0 / most.saturating_sub(1).max(1) as f64).min(1.1);
    1.6 + more * each
}

/// Adds a tick for each host at the lower edge of a leaf, if they have room there.
fn ticks(item: &Item, left: f64, bottom: f64, page: &mut String) -> bool {
    let room = item.size.0 - 8.0;
    let hosts = item.hosts as f64;
    if hosts < 1.0 || hosts * 2.5 > room {
        return false;
    }
    page.push_str("<path class=\"ticks\" d=\"");
    let apart = (room / hosts).min(6.0);
    let first = left + 4.0 + (room - apart * (hosts - 1.0)) / 2.0;
    for host in 0..item.hosts {
        let x = first + host as f64 * apart;
        add(page, format_args!("M{x:.1} {:.1}v-6", bottom - 2.0));
    }
    page.push_str("\"/>");
    true
}

/// Writes the name of a box around a place, upright if it is too long for the box.
fn name(item: &Item, x: f64, y: f64, height: f64, page: &mut String) {
    let across = fitting(&item.names, item.size.0 - 4.0);
    let (found, turn) = match across {
        Some(found) => (Some(found), ""),
        None => (fitting(&item.names, height - 4.0), " rotate(-90)"),
    };
    if let Some((name, size)) = found {
        add(
            page,
            format_args!(
                "<text transform=\"translate({x:.1} {y:.1}){turn}\" dy=\"0.35em\" text-anchor=\"middle\" style=\"font-size:{size}px\">{}</text>",
                escape(name)
            ),
        );
    }
}

/// The first name that fits a width, and the size of its letters.
fn fitting(names: &[String], width: f64) -> Option<(&str, u32)> {
    // Letters are slightly more than half as wide as they are high.
    let fits =
        |name: &str, size: u32| name.chars().count() as f64 * f64::from(size) * 0.56 <= width;
    let sizes = [12, 11, 10];
    names.iter().find_map(|name| {
        let size = sizes.into_iter().find(|&size| fits(name, size))?;
        Some((name.as_str(), size))
    })
}
