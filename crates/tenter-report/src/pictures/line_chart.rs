//! Lines over axes.

use tenter_study::DASHES;

use super::plot::{Axis, Lines, Num, Picture, Plot, Series, pairs};
use super::scale::Scale;
use crate::drawings::DrawnLine;

/// Colours of lines; there are [`DASHES`] kinds of dashes.
const COLOURS: usize = 8;

/// Lines that share axes.
#[derive(Clone, Debug)]
pub(super) struct LineChart<'a> {
    /// A description for readers who do not see it.
    pub(super) title: &'a str,
    /// The quantities of the axes, without units.
    pub(super) x_label: &'a str,
    /// The same, upwards.
    pub(super) y_label: &'a str,
    /// Height of the drawing.
    pub(super) height: f64,
    /// Whether a line stays at a value until the next point.
    pub(super) steps: bool,
    /// This number of consecutive lines belongs together: they share a colour and differ by dashes.
    pub(super) family: usize,
    /// The lines, their points in base units.
    pub(super) lines: &'a [DrawnLine],
}

impl LineChart<'_> {
    /// The drawing, with how to read it.
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

    /// The colour of a line, counted on through the kinds of dashes.
    fn colour(&self, index: usize) -> usize {
        let (family, member) = (index / self.family, index % self.family);
        let dash = (family / COLOURS + member) % DASHES;
        family % COLOURS + COLOURS * dash
    }
}

/// The least and the greatest value of these lines, across and upwards.
pub(super) fn extent(lines: &[DrawnLine]) -> ((f64, f64), (f64, f64)) {
    let none = (f64::INFINITY, 0.0);
    let wider = |(least, most): (f64, f64), value| (f64::min(least, value), f64::max(most, value));
    let points = lines.iter().flat_map(|line| &line.points);
    points.fold((none, none), |(across, upwards), &(x, y)| {
        (wider(across, x), wider(upwards, y))
    })
}
