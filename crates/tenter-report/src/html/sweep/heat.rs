//! A heat map over two axes for each variant.

use super::super::plot::{Matrix, Num, Plot};
use super::super::text::{add, escape};
use super::bars::tip;
use super::tables::{Column, behind, shown};
use crate::sweep_numbers::Numbers;

/// More rows or columns are too fine to see.
const SIDE: usize = 64;

/// The cells of all variants over two axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heat {
    /// Values of the first axis, from top to bottom.
    pub(super) rows: Vec<String>,
    /// Values of the second axis, from left to right.
    pub(super) columns: Vec<String>,
    /// The point of a row and column, if the design has it.
    pub(super) points: Vec<Vec<Option<usize>>>,
    /// The least and the greatest value of all variants.
    pub(super) ends: (f64, f64),
}

impl Heat {
    /// Of a sweep with two axes; none for others, and if all values are alike in one of them.
    pub(super) fn of(numbers: &Numbers<'_>, down: usize, across: usize) -> Option<Heat> {
        let record = numbers.record;
        if record.axes.len() != 2 {
            return None;
        }
        let distinct = |axis: usize| {
            let mut values: Vec<String> = Vec::new();
            for point in &record.points {
                if !values.contains(&point[axis]) {
                    values.push(point[axis].clone());
                }
            }
            values
        };
        let (rows, columns) = (distinct(down), distinct(across));
        let sides = 2..=SIDE;
        if !sides.contains(&rows.len()) || !sides.contains(&columns.len()) {
            return None;
        }
        let at = |row: &String, column: &String| {
            let mut points = record.points.iter();
            points.position(|point| point[down] == *row && point[across] == *column)
        };
        let line = |row: &String| columns.iter().map(|column| at(row, column)).collect();
        let points = rows.iter().map(line).collect();
        let values = || numbers.cells().filter_map(|cell| cell.value);
        let ends = (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        );
        Some(Heat {
            rows,
            columns,
            points,
            ends,
        })
    }
}

/// Adds a picture for each variant, all with the same colours, and their tables.
pub(super) fn section(numbers: &Numbers<'_>, down: usize, across: usize, page: &mut String) {
    let Some(heat) = Heat::of(numbers, down, across) else {
        return;
    };
    let axes = [down, across].map(|axis| numbers.record.axes[axis].name.as_str());
    let (unit, factor) = numbers.unit();
    add(
        page,
        format_args!("<h3>Over {} and {}</h3>", escape(axes[0]), escape(axes[1])),
    );
    for variant in 0..numbers.record.variants.len() {
        let name = numbers.variant(variant);
        if numbers.record.variants.len() > 1 {
            add(page, format_args!("<h4>{}</h4>", escape(name)));
        }
        draw(numbers, &heat, axes, variant, page);
        let mut columns = vec![Column::of(format!("{} \\ {}", axes[0], axes[1]), "", false)];
        let values = heat.columns.iter();
        columns.extend(values.map(|value| Column::of(value.clone(), &unit, true)));
        let rows = heat.rows.iter().zip(&heat.points).map(|(row, points)| {
            let text = |point: &Option<usize>| {
                let value = point.and_then(|point| numbers.cell(point, variant).value);
                value.map_or_else(|| "–".to_owned(), |value| shown(value, factor))
            };
            let texts = points.iter().map(text);
            std::iter::once(row.clone()).chain(texts).collect()
        });
        let title = format!("{name} over {} and {}", axes[0], axes[1]);
        behind(&title, &columns, &rows.collect::<Vec<_>>(), page);
    }
}

fn draw(numbers: &Numbers<'_>, heat: &Heat, axes: [&str; 2], variant: usize, page: &mut String) {
    let (unit, factor) = numbers.unit();
    let cell = |point: &Option<usize>| point.map(|point| (point, numbers.cell(point, variant)));
    let value = |point: &Option<usize>| {
        let value = cell(point).and_then(|(_, cell)| cell.value);
        value.map(|value| Num(value / factor))
    };
    let say = |point: &Option<usize>| {
        cell(point).map_or_else(String::new, |(point, cell)| {
            tip(numbers, point, variant, cell, &unit, factor)
        })
    };
    let rows = || heat.points.iter();
    let [down, across] = axes;
    let name = &numbers.reading.name;
    Plot::Matrix(Matrix {
        title: &format!(
            "{name} of {} over {down} and {across}",
            numbers.variant(variant)
        ),
        down,
        across,
        rows: &heat.rows,
        columns: &heat.columns,
        values: rows().map(|row| row.iter().map(value).collect()).collect(),
        unit: &unit,
        low: Num(heat.ends.0 / factor),
        high: Num(heat.ends.1 / factor),
        says: rows().map(|row| row.iter().map(say).collect()).collect(),
    })
    .draw(page);
}
