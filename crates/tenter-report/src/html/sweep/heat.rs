//! A heat map over two axes for each variant.

use super::super::heat_map::shortened;
use super::super::rect::Rect;
use super::super::text::{add, escape};
use super::bars::tip;
use super::tables::{Column, behind, shown};
use crate::sweep_numbers::Numbers;

const LEFT: f64 = 120.0;
const WIDTH: f64 = 960.0;
const TOP: f64 = 8.0;
/// More rows or columns are too fine to see.
const SIDE: usize = 64;
/// A cell of this width has its number in it.
const NUMBER_WIDTH: f64 = 44.0;

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

    /// The place of this value on the way from the least to the greatest.
    pub(super) fn share(&self, value: f64) -> f64 {
        let (least, greatest) = self.ends;
        if greatest > least {
            (value - least) / (greatest - least)
        } else {
            0.5
        }
    }
}

/// Adds a picture for each variant, all with the same colours, and their tables.
pub(super) fn section(numbers: &Numbers<'_>, down: usize, across: usize, page: &mut String) {
    let Some(heat) = Heat::of(numbers, down, across) else {
        return;
    };
    let axes = [down, across].map(|axis| numbers.record.axes[axis].name.as_str());
    let (unit, factor) = numbers.unit();
    let (least, greatest) = heat.ends;
    add(
        page,
        format_args!(
            "<h3>Over {} and {}</h3><p class=\"ramp\"><span>{} {unit}</span><i aria-hidden=\"true\"></i><span>{} {unit}</span></p>",
            escape(axes[0]),
            escape(axes[1]),
            shown(least, factor),
            shown(greatest, factor),
            unit = escape(&unit)
        ),
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
    let width = (WIDTH / heat.columns.len() as f64).min(150.0);
    let height = if heat.rows.len() > 24 { 14.0 } else { 26.0 };
    let bottom = TOP + height * heat.rows.len() as f64;
    add(
        page,
        format_args!(
            "<figure class=\"chart\"><svg class=\"heat\" viewBox=\"0 0 1100 {}\" role=\"img\" tabindex=\"0\" data-marks=\"1\" aria-label=\"{}\">",
            bottom + 42.0,
            escape(&format!(
                "{} of {} over {} and {}",
                numbers.reading.name,
                numbers.variant(variant),
                axes[0],
                axes[1]
            ))
        ),
    );
    for (number, (row, points)) in heat.rows.iter().zip(&heat.points).enumerate() {
        let y = TOP + height * number as f64;
        add(
            page,
            format_args!(
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                y + height / 2.0 + 4.0,
                escape(&shortened(row))
            ),
        );
        for (column, point) in points.iter().enumerate() {
            let x = LEFT + width * column as f64;
            if let Some(point) = point {
                let place = Rect {
                    x,
                    y,
                    width,
                    height,
                };
                cell(numbers, heat, *point, variant, place, page);
            }
        }
    }
    labels(heat, axes[0], axes[1], width, bottom, page);
    page.push_str("</svg></figure>\n");
}

/// The values of the second axis below the cells, and the names of both axes.
fn labels(heat: &Heat, down: &str, across: &str, width: f64, bottom: f64, page: &mut String) {
    let every = (50.0 / width).ceil() as usize;
    for (column, text) in heat.columns.iter().enumerate() {
        if column % every == 0 {
            let x = LEFT + width * (column as f64 + 0.5);
            add(
                page,
                format_args!(
                    "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                    bottom + 16.0,
                    escape(&shortened(text))
                ),
            );
        }
    }
    let middle = LEFT + width * heat.columns.len() as f64 / 2.0;
    add(
        page,
        format_args!(
            "<text class=\"label\" x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text><text class=\"label\" transform=\"translate(13 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            bottom + 35.0,
            escape(across),
            f64::midpoint(TOP, bottom),
            escape(down)
        ),
    );
}

fn cell(
    numbers: &Numbers<'_>,
    heat: &Heat,
    point: usize,
    variant: usize,
    place: Rect,
    page: &mut String,
) {
    let cell = numbers.cell(point, variant);
    let (unit, factor) = numbers.unit();
    let text = escape(&tip(numbers, point, variant, cell, &unit, factor));
    let Some(value) = cell.value else {
        return;
    };
    let share = heat.share(value);
    let Rect {
        x,
        y,
        width,
        height,
    } = place;
    add(
        page,
        format_args!(
            "<rect class=\"m\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" style=\"--v:{share:.3}\" data-t=\"{text}\"/>",
            width - 1.5,
            height - 1.5
        ),
    );
    if width >= NUMBER_WIDTH && height >= 20.0 {
        let deep = if share > 0.55 { " deep" } else { "" };
        add(
            page,
            format_args!(
                "<text class=\"over{deep}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x + width / 2.0,
                y + height / 2.0 + 4.0,
                shown(value, factor)
            ),
        );
    }
}
