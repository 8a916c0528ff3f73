//! Parallel coordinates: a line for each point and variant over three or more axes.

use super::super::plot::{self, Num, Plot};
use super::super::text::{add, count};
use super::bars::tip;
use super::tables::{Column, axes as axis_columns, behind, shown};
use crate::quantity::quantity;
use crate::sweep_numbers::Numbers;

const HEIGHT: f64 = 360.0;
/// More lines cover each other.
const LINES: usize = 1_500;
/// More texts do not fit beside an axis.
const TEXTS: usize = 14;

/// Axes side by side and lines across them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parallel {
    pub(super) axes: Vec<Axis>,
    /// The worst first, so that the best is drawn over the others.
    pub(super) lines: Vec<Line>,
}

/// One axis: texts at parts of its height, from the bottom.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) texts: Vec<(f64, String)>,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) point: usize,
    pub(super) variant: usize,
    /// Its rank: 1 is the best of all, 0 the worst.
    pub(super) good: f64,
    /// Its crossing of each axis, as a part of its height from the bottom.
    pub(super) places: Vec<f64>,
}

impl Axis {
    /// Of texts in their order; numbers go upwards, by factors where they span more than eight.
    fn of(name: &str, values: &[String]) -> Axis {
        let found: Option<Vec<_>> = values.iter().map(|text| quantity(text)).collect();
        let same = found.filter(|all| all.iter().all(|(_, of)| *of == all[0].1));
        let places: Vec<f64> = if let Some(found) = same {
            let numbers: Vec<f64> = found.into_iter().map(|(value, _)| value).collect();
            parts(&numbers)
        } else {
            let last = (values.len().max(2) - 1) as f64;
            (0..values.len()).map(|at| at as f64 / last).collect()
        };
        Axis {
            name: name.to_owned(),
            texts: places.into_iter().zip(values.iter().cloned()).collect(),
        }
    }

    fn place(&self, text: &str) -> f64 {
        let found = self.texts.iter().find(|(_, of)| of == text);
        found.map_or(0.0, |(place, _)| *place)
    }
}

/// The place of numbers between the least and the greatest of them.
fn parts(numbers: &[f64]) -> Vec<f64> {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log = least > 0.0 && greatest > 8.0 * least;
    let of = |value: f64| if log { value.ln() } else { value };
    let span = of(greatest) - of(least);
    let part = |&value: &f64| {
        if span > 0.0 {
            (of(value) - of(least)) / span
        } else {
            0.5
        }
    };
    numbers.iter().map(part).collect()
}

impl Parallel {
    /// Of a sweep with three axes or more; none for others.
    pub(super) fn of(numbers: &Numbers<'_>) -> Option<Parallel> {
        let record = numbers.record;
        if record.axes.len() < 3 {
            return None;
        }
        let mut axes = Vec::new();
        if record.variants.len() > 1 {
            axes.push(Axis::of("variant", &record.variants));
        }
        for (at, axis) in record.axes.iter().enumerate() {
            let mut values: Vec<String> = Vec::new();
            for point in &record.points {
                if !values.contains(&point[at]) {
                    values.push(point[at].clone());
                }
            }
            axes.push(Axis::of(&axis.name, &values));
        }
        let mut found = Vec::new();
        for point in 0..record.points.len() {
            for variant in 0..record.variants.len() {
                let value = numbers.cell(point, variant).value;
                found.extend(value.map(|value| (point, variant, value)));
            }
        }
        let values: Vec<f64> = found.iter().map(|(.., value)| *value).collect();
        let shares = parts(&values);
        let mut lines: Vec<Line> = found
            .iter()
            .zip(&shares)
            .map(|(&(point, variant, _), &share)| Line {
                point,
                variant,
                good: if numbers.reading.more_is_better {
                    share
                } else {
                    1.0 - share
                },
                places: places(numbers, &axes, point, variant, share),
            })
            .collect();
        lines.sort_by(|a, b| a.good.total_cmp(&b.good));
        axes.push(reading_axis(numbers, &values, &shares));
        Some(Parallel { axes, lines })
    }
}

/// The crossings of a line with the axes, that of the reading last.
fn places(
    numbers: &Numbers<'_>,
    axes: &[Axis],
    point: usize,
    variant: usize,
    share: f64,
) -> Vec<f64> {
    let record = numbers.record;
    let name = (record.variants.len() > 1).then(|| &record.variants[variant]);
    let texts = name.into_iter().chain(&record.points[point]);
    let places = axes.iter().zip(texts).map(|(axis, text)| axis.place(text));
    places.chain(std::iter::once(share)).collect()
}

/// The axis of the reading: texts of some of its values.
fn reading_axis(numbers: &Numbers<'_>, values: &[f64], shares: &[f64]) -> Axis {
    let (unit, factor) = numbers.unit();
    let mut texts: Vec<(f64, String)> = Vec::new();
    let mut all: Vec<(f64, f64)> = shares.iter().copied().zip(values.iter().copied()).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let last = all.last().map_or(1.0, |(share, _)| *share);
    for (share, value) in all {
        let before = texts
            .last()
            .map_or(f64::NEG_INFINITY, |(before, _)| *before);
        // The greatest has its text whatever is below it.
        let is_last = share >= last;
        if share - before >= 0.12 && (is_last || last - share >= 0.06) {
            texts.push((share, shown(value, factor)));
        }
    }
    let name = match unit.as_str() {
        "" => numbers.reading.name.clone(),
        unit => format!("{} ({unit})", numbers.reading.name),
    };
    Axis { name, texts }
}

/// Adds the picture and its table.
pub(super) fn section(numbers: &Numbers<'_>, page: &mut String) {
    let Some(parallel) = Parallel::of(numbers) else {
        return;
    };
    let left_out = parallel.lines.len().saturating_sub(LINES);
    let lead = match left_out {
        0 => String::new(),
        left_out => format!(" The {} worst are left out.", count(left_out as u64)),
    };
    add(
        page,
        format_args!(
            "<h3>All axes</h3><p class=\"lead\">A line for each variant and point.{lead}</p><p class=\"ramp best\"><span>worst</span><i aria-hidden=\"true\"></i><span>best</span></p>"
        ),
    );
    draw(numbers, &parallel, left_out, page);
    let (unit, factor) = numbers.unit();
    let mut columns = axis_columns(numbers);
    columns.push(Column::of("variant".to_owned(), "", false));
    columns.push(Column::of(numbers.reading.name.clone(), &unit, true));
    // The best first.
    let rows = parallel.lines.iter().rev().map(|line| {
        let mut row = numbers.record.points[line.point].clone();
        row.push(numbers.variant(line.variant).to_owned());
        let value = numbers.cell(line.point, line.variant).value;
        row.push(value.map_or_else(String::new, |value| shown(value, factor)));
        row
    });
    behind(
        "All axes, the best first",
        &columns,
        &rows.collect::<Vec<_>>(),
        page,
    );
}

fn draw(numbers: &Numbers<'_>, parallel: &Parallel, left_out: usize, page: &mut String) {
    let (unit, factor) = numbers.unit();
    let axes = parallel.axes.iter().map(|axis| {
        let every = axis.texts.len().div_ceil(TEXTS).max(1);
        let texts = axis.texts.iter().step_by(every);
        plot::ParallelAxis {
            name: &axis.name,
            texts: texts
                .map(|(part, text)| (Num(*part), text.as_str()))
                .collect(),
        }
    });
    let lines = parallel.lines[left_out..].iter().map(|line| {
        let cell = numbers.cell(line.point, line.variant);
        plot::ParallelLine {
            name: tip(numbers, line.point, line.variant, cell, &unit, factor),
            values: line.places.iter().map(|&place| Num(place)).collect(),
            share: Num(line.good),
        }
    });
    Plot::Parallel(plot::Parallel {
        title: &format!("{} over all axes", numbers.reading.name),
        height: Num(HEIGHT),
        axes: axes.collect(),
        lines: lines.collect(),
    })
    .draw(page);
}
