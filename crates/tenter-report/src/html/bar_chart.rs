//! Bars in groups, with the seeds and the published values behind them.

use super::plot::{self, Num, Plot};
use super::text::add;

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
    /// Adds the drawing and what its marks mean.
    pub(super) fn draw(&self, page: &mut String) {
        let number = |value: Option<f64>| value.map(Num);
        let mut bars = Vec::new();
        for group in &self.groups {
            bars.extend(group.bars.iter().map(|bar| plot::Bar {
                group: &group.name,
                name: self.series.get(bar.series).map_or("", String::as_str),
                value: number(bar.value),
                colour: bar.series,
                low: number(bar.spread.map(|(least, _)| least)),
                high: number(bar.spread.map(|(_, greatest)| greatest)),
                dots: bar.seeds.iter().map(|&value| Num(value)).collect(),
                published: number(bar.published),
                band: bar.band.map(|ends| ends.map(Num)),
                say: &bar.text,
            }));
        }
        Plot::Bars(plot::BarPlot {
            title: self.title,
            label: self.axis,
            bars,
        })
        .draw(page);
        self.legend(page);
    }

    fn legend(&self, page: &mut String) {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
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
        if marks.iter().all(|(there, _, _)| !there) {
            return;
        }
        page.push_str("<p class=\"legend\">");
        for (_, drawing, name) in marks.iter().filter(|(there, _, _)| *there) {
            add(
                page,
                format_args!(
                    "<span><svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">{drawing}</svg>{name}</span>"
                ),
            );
        }
        page.push_str("</p>\n");
    }
}
