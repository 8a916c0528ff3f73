//! Lines over an axis: one for each variant.

use tenter_study::DASHES;

use super::super::line_chart::LineChart;
use super::super::scale::Scale;
use super::super::text::{Unit, add, escape};
use super::tables::{Column, behind, shown};
use crate::drawings::DrawnLine;
use crate::quantity::{Measure, quantity};
use crate::sweep_numbers::Numbers;

const HEIGHT: f64 = 330.0;
/// More texts do not fit below an axis; it then has round numbers.
const TICKS: usize = 12;
/// The least room between two texts below the axis.
const APART: f64 = 46.0;

/// Lines over an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lines {
    /// The values of the axis in ascending order, in base units, with their texts.
    pub(super) values: Vec<(f64, String)>,
    pub(super) measure: Measure,
    /// Whether the axis is logarithmic.
    pub(super) log: bool,
    pub(super) each: Vec<Line>,
    /// This number of consecutive lines is of one variant.
    pub(super) family: usize,
    /// Whether each value is the median over points that differ in other axes.
    pub(super) over_points: bool,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) marks: Vec<Mark>,
}

/// A point of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) x: f64,
    pub(super) value: f64,
    /// The least and the greatest of the values behind it.
    pub(super) spread: Option<(f64, f64)>,
}

/// The distinct numbers of an axis with their texts; none where it has words, or one value.
fn axis_values(numbers: &Numbers<'_>, axis: usize) -> Option<(Vec<(f64, String)>, Measure)> {
    let mut values: Vec<(f64, String)> = Vec::new();
    let mut measure = None;
    for point in &numbers.record.points {
        let (value, of) = quantity(&point[axis])?;
        // 0 is a number in any unit.
        if value != 0.0 && *measure.get_or_insert(of) != of {
            return None;
        }
        if !values
            .iter()
            .any(|(known, _)| known.total_cmp(&value).is_eq())
        {
            values.push((value, point[axis].clone()));
        }
    }
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    (values.len() > 1).then_some((values, measure?))
}

/// Whether values grow by a factor rather than by a step.
fn is_log(values: &[(f64, String)]) -> bool {
    let [(first, _), .., (last, _)] = values else {
        return false;
    };
    *first > 0.0 && values.len() > 2 && *last >= 8.0 * first
}

impl Lines {
    /// The lines of a reading over one of its axes; none where the axis has no numbers.
    pub(super) fn of(numbers: &Numbers<'_>, axis: usize) -> Option<Lines> {
        let (values, measure) = axis_values(numbers, axis)?;
        let record = numbers.record;
        let log = values[0].0 > 0.0 && (record.axes[axis].log || is_log(&values));
        let other = match record.axes.len() {
            2 => Some(1 - axis),
            _ => None,
        };
        let mut words: Vec<Option<&str>> = Vec::new();
        for point in &record.points {
            let word = other.map(|other| point[other].as_str());
            if !words.contains(&word) {
                words.push(word);
            }
        }
        // More dashes are indistinguishable.
        let several = words.len() <= DASHES;
        let over_points = record.axes.len() > 2 || !several;
        if over_points {
            words = vec![None];
        }
        let mut lines = Vec::new();
        for variant in 0..record.variants.len() {
            for word in &words {
                let is_meant = |point: &&usize| {
                    let point = &record.points[**point];
                    word.is_none_or(|word| other.is_some_and(|other| point[other] == word))
                };
                let all: Vec<usize> = (0..record.points.len()).collect();
                let points: Vec<usize> = all.iter().filter(is_meant).copied().collect();
                let name = match (word, other) {
                    (Some(word), Some(other)) => {
                        let axis = &record.axes[other].name;
                        format!("{}, {axis}={word}", numbers.variant(variant))
                    }
                    _ => numbers.variant(variant).to_owned(),
                };
                lines.push(Line {
                    name,
                    marks: marks(numbers, variant, axis, &points, &values),
                });
            }
        }
        Some(Lines {
            values,
            measure,
            log,
            each: lines,
            family: words.len(),
            over_points,
        })
    }

    fn across(&self) -> Scale {
        let (first, last) = (self.values[0].0, self.values[self.values.len() - 1].0);
        let unit = match self.measure {
            Measure::Plain => Unit::of(""),
            Measure::Percent => Unit::of("%"),
            Measure::Rate => Unit::of("Gb/s"),
            Measure::Time => Unit::time(last),
            Measure::Size => Unit::bytes(last),
        };
        let margin = (last - first) * 0.03;
        let domain = if self.log {
            (first / 1.08, last * 1.08)
        } else {
            (first - margin, last + margin)
        };
        let mut scale = Scale {
            domain,
            range: LineChart::ACROSS,
            log: self.log,
            unit,
            own: Vec::new(),
        };
        if self.values.len() <= TICKS {
            let mut before = f64::NEG_INFINITY;
            let mut own = self.values.clone();
            own.retain(|(value, _)| {
                let at = scale.place(*value);
                let fits = at - before >= APART;
                before = if fits { at } else { before };
                fits
            });
            scale.own = own;
        }
        scale
    }
}

/// The points of a line, ascending.
fn marks(
    numbers: &Numbers<'_>,
    variant: usize,
    axis: usize,
    points: &[usize],
    values: &[(f64, String)],
) -> Vec<Mark> {
    let at = |x: f64| {
        let here = points.iter().filter(|&&point| {
            let found = quantity(&numbers.record.points[point][axis]);
            found.is_some_and(|(value, _)| value.total_cmp(&x).is_eq())
        });
        let cells: Vec<_> = here.map(|&point| numbers.cell(point, variant)).collect();
        match cells.as_slice() {
            [] => None,
            [one] => Some(Mark {
                x,
                value: one.value?,
                spread: one.spread(),
            }),
            several => {
                let mut found: Vec<f64> = several.iter().filter_map(|cell| cell.value).collect();
                found.sort_by(f64::total_cmp);
                let middle = found.len().checked_sub(1)? / 2;
                Some(Mark {
                    x,
                    value: found[middle],
                    spread: Some((found[0], found[found.len() - 1])),
                })
            }
        }
    };
    values.iter().filter_map(|(x, _)| at(*x)).collect()
}

/// Adds the picture over an axis, where it has numbers, and its table.
pub(super) fn section(numbers: &Numbers<'_>, axis: usize, page: &mut String) {
    let Some(lines) = Lines::of(numbers, axis) else {
        return;
    };
    let name = &numbers.record.axes[axis].name;
    let title = format!("Over {name}");
    let lead = if lines.over_points {
        "; each value is the median over the points with that value, and whiskers reach from the least of them to the greatest"
    } else {
        ""
    };
    let log = if lines.log { ", logarithmic" } else { "" };
    add(
        page,
        format_args!(
            "<h3>{}</h3><p class=\"lead\">{}{log}{lead}</p>",
            escape(&title),
            escape(&numbers.record.axes[axis].path)
        ),
    );
    draw(numbers, &lines, name, page);
    let (unit, factor) = numbers.unit();
    let mut columns = vec![Column::of(name.clone(), "", false)];
    columns.extend(
        lines
            .each
            .iter()
            .map(|line| Column::of(line.name.clone(), &unit, true)),
    );
    let rows = lines.values.iter().map(|(x, text)| {
        let value = |line: &Line| {
            let found = line.marks.iter().find(|mark| mark.x.total_cmp(x).is_eq());
            found.map_or_else(|| "–".to_owned(), |mark| shown(mark.value, factor))
        };
        let values = lines.each.iter().map(value);
        std::iter::once(text.clone()).chain(values).collect()
    });
    behind(&title, &columns, &rows.collect::<Vec<_>>(), page);
}

fn draw(numbers: &Numbers<'_>, lines: &Lines, name: &str, page: &mut String) {
    let (unit, factor) = numbers.unit();
    let drawn: Vec<DrawnLine> = lines
        .each
        .iter()
        .map(|line| DrawnLine {
            name: line.name.clone(),
            points: line
                .marks
                .iter()
                .map(|mark| (mark.x, mark.value / factor))
                .collect(),
        })
        .collect();
    let marks = || lines.each.iter().flat_map(|line| &line.marks);
    let ends = marks().flat_map(|mark| {
        let (least, greatest) = mark.spread.unwrap_or((mark.value, mark.value));
        [
            least.min(mark.value) / factor,
            greatest.max(mark.value) / factor,
        ]
    });
    let ends: Vec<f64> = ends.collect();
    let least = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = ends.iter().copied().fold(0.0, f64::max);
    let upwards = LineChart::upwards(HEIGHT);
    // A quantity that grows with the axis by factors is a straight line only if both are
    // logarithmic.
    let y = if lines.log && least > 0.0 && greatest > 8.0 * least {
        Scale::over(least, greatest, Unit::of(""), upwards)
    } else {
        Scale::from_zero(greatest, Unit::of(""), upwards)
    };
    let x = lines.across();
    let label = match unit.as_str() {
        "" => numbers.reading.name.clone(),
        unit => format!("{} ({unit})", numbers.reading.name),
    };
    let whiskers: Vec<Vec<(f64, f64, f64)>> = lines
        .each
        .iter()
        .map(|line| {
            let spread = |mark: &Mark| {
                let (least, greatest) = mark.spread?;
                Some((mark.x, least / factor, greatest / factor))
            };
            line.marks.iter().filter_map(spread).collect()
        })
        .collect();
    let chart = LineChart {
        title: &format!("{} over {name}", numbers.reading.name),
        x_label: name,
        y_label: &label,
        height: HEIGHT,
        steps: false,
        family: lines.family,
        lines: &drawn,
        whiskers: &whiskers,
    };
    chart.draw(&x, &y, page);
}
