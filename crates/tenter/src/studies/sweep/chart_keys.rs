//! Keys of a sweep's charts: which picture shows which readings over which axes.

use tenter_language::config::{choice, component};

use super::limits::WORDS;

component! {
    /// A picture of the page of a sweep.
    pub struct ChartKeys as "`charts[]`", derive(Clone, Debug, PartialEq) {
        /// What stands above it.
        title: String, in 200;
        /// Bars for each point, lines over an axis, a heat map over two axes, or parallel
        /// coordinates over all.
        kind: ChartKind = "bars";
        /// The readings that it shows, by their names, each in a picture of its own; all of them
        /// where none is named.
        readings: Vec<String> = "[]", in 200;
        /// The axis of lines, and that from left to right of a heat map: its path, or the last part
        /// of it.
        x: Option<String> = absent "the first axis of lines, the second one of a heat map", in WORDS;
        /// The axis from top to bottom of a heat map.
        y: Option<String> = absent "the first axis", in WORDS;
        /// What the axis of a study's bars measures, with its unit.
        axis: String = "\"\"", in WORDS;
        /// The bars of a study that are drawn; all of them where none is named.
        bars: Vec<String> = "[]", in 200;
    }
}

/// Kind of picture that shows a sweep's readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartKind {
    /// Bars with whiskers for each point.
    Bars,
    /// Lines over one axis of the sweep.
    Lines,
    /// A heat map over two axes.
    Heat,
    /// Parallel coordinates over all axes.
    Parallel,
}
choice!(ChartKind {
    "bars" => Bars,
    "lines" => Lines,
    "heat" => Heat,
    "parallel" => Parallel,
});

impl ChartKind {
    /// Returns the word by which descriptions name the kind.
    pub(super) fn word(self) -> &'static str {
        match self {
            ChartKind::Bars => "bars",
            ChartKind::Lines => "lines",
            ChartKind::Heat => "heat",
            ChartKind::Parallel => "parallel",
        }
    }

    /// Returns the least number of axes that the kind needs.
    pub(super) fn axes(self) -> usize {
        match self {
            ChartKind::Bars | ChartKind::Parallel => 0,
            ChartKind::Lines => 1,
            ChartKind::Heat => 2,
        }
    }
}
