//! Bars in groups, with error bars, published values and bands, as SVG with a legend.

use super::line_chart::labelled;
use super::scale::Scale;
use super::text::{Unit, add, escape, fixed};

/// Places of a chart in its drawing.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 1_084.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 318.0;
/// A bar is no wider.
const WIDEST: f64 = 52.0;
/// The room between two groups, in bars.
const BETWEEN: f64 = 1.0;
/// A bar that is narrower has a small number above it.
const NUMBER_WIDTH: f64 = 26.0;
/// One that is narrower still has none.
const SMALL_NUMBER_WIDTH: f64 = 20.5;
/// About the width of a letter below the axis.
const LETTER: f64 = 6.4;
/// Lines of a group's name below the axis.
const NAME_LINES: usize = 3;

/// One bar.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    /// Its entry in the legend.
    pub(super) series: usize,
    /// Its height; `None` without a measurement.
    pub(super) value: Option<f64>,
    /// The least and the greatest of the values behind it.
    pub(super) spread: Option<(f64, f64)>,
    /// The value of each seed.
    pub(super) seeds: Vec<f64>,
    /// The published value.
    pub(super) published: Option<f64>,
    /// The lower and the upper end of the band.
    pub(super) band: Option<[f64; 2]>,
    /// The text under the pointer.
    pub(super) text: String,
}

/// Adjacent bars.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The text below them.
    pub(super) name: String,
    /// The bars.
    pub(super) bars: Vec<Bar>,
}

/// Groups of bars that share an axis.
#[derive(Clone, Debug)]
pub(super) struct BarChart<'a> {
    /// A description for readers who do not see it.
    pub(super) title: &'a str,
    /// The quantity of the axis, with the unit.
    pub(super) axis: &'a str,
    /// The names of all series of the page, of which the legend has the present ones.
    pub(super) series: &'a [String],
    /// The groups from left to right.
    pub(super) groups: Vec<Group>,
}

impl BarChart<'_> {
    /// Adds the drawing and its legend.
    pub(super) fn draw(&self, page: &mut String) {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let ends = bars().flat_map(|bar| {
            let spread = bar.spread.map(|(_, greatest)| greatest);
            let band = bar.band.map(|[_, high]| high);
            [bar.value, spread, bar.published, band]
                .into_iter()
                .flatten()
        });
        let scale = Scale::from_zero_close(ends.fold(0.0, f64::max), Unit::of(""), (BOTTOM, TOP));
        let room = RIGHT - LEFT;
        let slots = bars().count() as f64 + BETWEEN * self.groups.len() as f64;
        let slot = (room / slots.max(1.0)).min(WIDEST);
        // The groups are in the middle of equal parts of the rest.
        let spare = (room - slot * slots) / self.groups.len().max(1) as f64;
        let names: Vec<Vec<String>> = self
            .groups
            .iter()
            .map(|group| {
                let width = slot * (group.bars.len() as f64 + BETWEEN) + spare;
                lines(&group.name, (width / LETTER) as usize)
            })
            .collect();
        let deepest = names.iter().map(Vec::len).max().unwrap_or(1) as f64;
        let height = BOTTOM + 10.0 + 15.0 * deepest;
        add(
            page,
            format_args!(
                "<figure class=\"chart\"><svg class=\"bars\" viewBox=\"0 0 1100 {height}\" role=\"img\" tabindex=\"0\" aria-label=\"{}\" data-marks=\"1\">",
                escape(self.title)
            ),
        );
        self.axis(&scale, page);
        let mut left = LEFT;
        for (group, names) in self.groups.iter().zip(&names) {
            let width = slot * (group.bars.len() as f64 + BETWEEN) + spare;
            let mut at = left + 0.5 * (slot * BETWEEN + spare);
            for bar in &group.bars {
                draw_bar(bar, at, slot, &scale, page);
                at += slot;
            }
            let middle = left + width / 2.0;
            for (number, line) in names.iter().enumerate() {
                let below = BOTTOM + 18.0 + 15.0 * number as f64;
                add(
                    page,
                    format_args!(
                        "<text class=\"label\" x=\"{middle:.1}\" y=\"{below}\" text-anchor=\"middle\">{}</text>",
                        escape(line)
                    ),
                );
            }
            left += width;
        }
        page.push_str("</svg>");
        self.legend(page);
        page.push_str("</figure>\n");
    }

    fn axis(&self, scale: &Scale, page: &mut String) {
        page.push_str("<g class=\"axes\">");
        for (value, text) in scale.ticks() {
            let at = scale.place(value);
            let label = at + 4.0;
            let edge = LEFT - 8.0;
            add(
                page,
                format_args!(
                    "<path d=\"M{LEFT} {at:.1}H{RIGHT}\"/><text x=\"{edge}\" y=\"{label:.1}\" text-anchor=\"end\">{text}</text>"
                ),
            );
        }
        add(
            page,
            format_args!(
                "<text class=\"label\" transform=\"translate(13 {}) rotate(-90)\" text-anchor=\"middle\">{}</text></g>",
                f64::midpoint(TOP, BOTTOM),
                labelled(self.axis, scale.unit)
            ),
        );
    }

    fn legend(&self, page: &mut String) {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        page.push_str("<figcaption class=\"legend\">");
        for (number, name) in self.series.iter().enumerate() {
            if bars().any(|bar| bar.series == number) {
                let colour = colour(number);
                add(
                    page,
                    format_args!(
                        "<span><svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect class=\"{colour}\" width=\"12\" height=\"12\" rx=\"2\"/></svg>{}</span>",
                        escape(name)
                    ),
                );
            }
        }
        let marks = [
            (
                bars().any(|bar| bar.spread.is_some()),
                "<path class=\"whisker\" d=\"M3 1H9M6 1V11M3 11H9\"/>",
                "least to greatest over the seeds",
            ),
            (
                bars().any(|bar| !bar.seeds.is_empty()),
                "<circle class=\"seed\" cx=\"6\" cy=\"6\" r=\"3\"/>",
                "a seed",
            ),
            (
                bars().any(|bar| bar.published.is_some()),
                "<path class=\"published\" d=\"M6 1L11 6L6 11L1 6Z\"/>",
                "published or expected",
            ),
            (
                bars().any(|bar| bar.band.is_some()),
                "<rect class=\"band\" x=\"1\" y=\"1\" width=\"10\" height=\"10\"/>",
                "stated band",
            ),
        ];
        for (_, drawing, name) in marks.iter().filter(|(there, _, _)| *there) {
            add(
                page,
                format_args!(
                    "<span><svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">{drawing}</svg>{name}</span>"
                ),
            );
        }
        page.push_str("</figcaption>");
    }
}

/// The colour of a series; beyond the eighth they are lighter with an edge.
fn colour(series: usize) -> String {
    let light = if series >= 8 { " light" } else { "" };
    format!("c{}{light}", series % 8)
}

fn draw_bar(bar: &Bar, left: f64, slot: f64, scale: &Scale, page: &mut String) {
    let middle = left + slot / 2.0;
    let (x, width) = (left + slot * 0.07, slot * 0.86);
    let text = escape(&bar.text);
    let Some(value) = bar.value else {
        let y = BOTTOM - 6.0;
        add(
            page,
            format_args!(
                "<text class=\"m\" data-t=\"{text}\" x=\"{middle:.1}\" y=\"{y}\" text-anchor=\"middle\">–</text>"
            ),
        );
        return;
    };
    let top = scale.place(value).min(BOTTOM - 1.0);
    add(
        page,
        format_args!(
            "<rect class=\"m {}\" data-t=\"{text}\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
            colour(bar.series),
            BOTTOM - top
        ),
    );
    let above = draw_marks(bar, left, slot, scale, page).min(top) - 5.0;
    if slot >= SMALL_NUMBER_WIDTH {
        let size = if slot >= NUMBER_WIDTH { "" } else { " small" };
        add(
            page,
            format_args!(
                "<text class=\"value{size}\" x=\"{middle:.1}\" y=\"{above:.1}\" text-anchor=\"middle\">{}</text>",
                if value == 0.0 {
                    "0".to_owned()
                } else {
                    fixed(value, 3)
                }
            ),
        );
    }
}

/// Adds the band, the spread and the published value of a bar; the place of their upper end.
fn draw_marks(bar: &Bar, left: f64, slot: f64, scale: &Scale, page: &mut String) -> f64 {
    let middle = left + slot / 2.0;
    let mut above = BOTTOM;
    if let Some([low, high]) = bar.band {
        let (top, bottom) = (scale.place(high), scale.place(low));
        add(
            page,
            format_args!(
                "<rect class=\"band\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{slot:.1}\" height=\"{:.1}\"/>",
                (bottom - top).max(1.0)
            ),
        );
        above = above.min(top);
    }
    if let Some((least, greatest)) = bar.spread {
        let (top, bottom) = (scale.place(greatest), scale.place(least));
        let cap = (slot * 0.22).min(6.0);
        let (from, to) = (middle - cap, middle + cap);
        let way = format!(
            "M{from:.1} {top:.1}H{to:.1}M{middle:.1} {top:.1}V{bottom:.1}M{from:.1} {bottom:.1}H{to:.1}"
        );
        // A dark line on a dark bar needs light on both sides.
        add(
            page,
            format_args!(
                "<path class=\"around\" d=\"{way}\"/><path class=\"whisker\" d=\"{way}\"/>"
            ),
        );
        above = above.min(top);
    }
    draw_seeds(&bar.seeds, left, slot, scale, page);
    if let Some(published) = bar.published {
        let at = scale.place(published);
        let half = (slot * 0.2).min(5.0);
        let (from, to, top, bottom) = (middle - half, middle + half, at - half, at + half);
        add(
            page,
            format_args!(
                "<path class=\"published\" d=\"M{middle:.1} {top:.1}L{to:.1} {at:.1}L{middle:.1} {bottom:.1}L{from:.1} {at:.1}Z\"/>"
            ),
        );
        above = above.min(top);
    }
    above
}

/// Adds a dot for each seed, side by side so that equal values are seen.
fn draw_seeds(seeds: &[f64], left: f64, slot: f64, scale: &Scale, page: &mut String) {
    let step = slot * 0.6 / seeds.len().max(1) as f64;
    let radius = (slot * 0.06).clamp(1.2, 2.6);
    for (number, &value) in seeds.iter().enumerate() {
        let x = left + slot * 0.2 + step * (number as f64 + 0.5);
        let y = scale.place(value);
        add(
            page,
            format_args!("<circle class=\"seed\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>"),
        );
    }
}

/// A name in lines of about this number of letters, cut if there is no room for more.
fn lines(name: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > NAME_LINES {
        lines.truncate(NAME_LINES);
        lines[NAME_LINES - 1].push('…');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_break_between_words() {
        assert_eq!(lines("16 jobs", 20), ["16 jobs"]);
        assert_eq!(lines("three flows, ECMP", 12), ["three flows,", "ECMP"]);
        assert_eq!(lines("a b c d", 1), ["a", "b", "c…"]);
        assert!(lines("", 5).is_empty());
    }

    #[test]
    fn a_bar_stands_where_its_value_is() {
        let bar = Bar {
            series: 9,
            value: Some(1.0),
            spread: Some((0.5, 2.0)),
            seeds: Vec::new(),
            published: Some(1.5),
            band: Some([1.0, 2.0]),
            text: "<one>".to_owned(),
        };
        let missing = Bar {
            value: None,
            spread: None,
            ..bar.clone()
        };
        let names: Vec<String> = (0..10).map(|number| format!("s{number}")).collect();
        let chart = BarChart {
            title: "t",
            axis: "a",
            series: &names,
            groups: vec![Group {
                name: "g".to_owned(),
                bars: vec![bar, missing],
            }],
        };
        let mut page = String::new();
        chart.draw(&mut page);
        // The axis goes from 0 to 2 over 296 units, so 1 is at half of it.
        assert!(
            page.contains("y=\"170.0\" width=\"44.7\" height=\"148.0\""),
            "{page}"
        );
        assert!(
            page.contains("class=\"m c1 light\" data-t=\"&lt;one&gt;\""),
            "{page}"
        );
        assert!(page.contains("s9</span>") && !page.contains("s8"), "{page}");
        assert!(
            page.contains(">–</text>") && !page.contains("NaN"),
            "{page}"
        );
    }
}
