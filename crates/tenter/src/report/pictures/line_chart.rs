//! Line charts, as data for the script.

use crate::studies::DASHES;

use super::plot::{Axis, Lines, Num, Picture, Plot, Series, pairs};
use super::scale::Scale;
use crate::report::drawings::DrawnLine;

/// Palette size for lines; each colour may come with one of [`DASHES`] dash patterns.
const COLOURS: usize = 8;

/// Lines that share a pair of axes.
#[derive(Clone, Debug)]
pub(super) struct LineChart<'a> {
    /// Description for readers who cannot see the chart.
    pub(super) title: &'a str,
    /// Quantity of the horizontal axis, without unit.
    pub(super) x_label: &'a str,
    /// Quantity of the vertical axis, without unit.
    pub(super) y_label: &'a str,
    /// Drawing height, in CSS pixels.
    pub(super) height: f64,
    /// True if a line stays at a value until the next point.
    pub(super) steps: bool,
    /// Number of consecutive lines that share a colour and differ by dashes.
    pub(super) family: usize,
    /// Lines, with points in base units.
    pub(super) lines: &'a [DrawnLine],
}

impl LineChart<'_> {
    /// Makes the picture, with the text above it.
    pub(super) fn picture(&self, lead: impl Into<String>, x: &Scale, y: &Scale) -> Picture {
        let series = self.lines.iter().enumerate().map(|(index, line)| Series {
            name: &line.name,
            colour: self.colour(index),
            points: pairs(&line.points),
        });
        Plot::Lines(Lines {
            title: self.title,
            height: Num(self.height),
            steps: self.steps,
            x: Axis::of(self.x_label, x),
            y: Axis::of(self.y_label, y),
            series: series.collect(),
        })
        .picture(self.title, lead)
    }

    /// Returns a line's palette index: colours first, then further dash patterns.
    fn colour(&self, index: usize) -> usize {
        let (family, member) = (index / self.family, index % self.family);
        let dash = (family / COLOURS + member) % DASHES;
        family % COLOURS + COLOURS * dash
    }
}

/// Returns the least and greatest values over all points, horizontally and vertically.
pub(super) fn extent(lines: &[DrawnLine]) -> ((f64, f64), (f64, f64)) {
    // Values are never negative, so 0 is the lowest maximum.
    let none = (f64::INFINITY, 0.0);
    let wider = |(least, most): (f64, f64), value| (f64::min(least, value), f64::max(most, value));
    let points = lines.iter().flat_map(|line| &line.points);
    points.fold((none, none), |(across, upwards), &(x, y)| {
        (wider(across, x), wider(upwards, y))
    })
}
