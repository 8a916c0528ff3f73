//! Bars with whiskers and a dot for each seed.

use super::super::bar_chart::{Bar, BarChart, Group};
use super::super::text::{add, escape};
use super::tables::{Column, axes, behind, shown};
use crate::sweep_numbers::{Cell, Numbers};

/// More bars are indistinguishable.
const BARS: usize = 60;
/// A bar with more seeds has no dots.
const DOTS: usize = 40;

/// Adds the picture and its table.
pub(super) fn section(numbers: &Numbers<'_>, page: &mut String) {
    let record = numbers.record;
    let (unit, factor) = numbers.unit();
    let bars = record.points.len() * record.variants.len();
    if bars <= BARS {
        page.push_str("<h3>By variant and point</h3>");
        let axes = record.axes.iter().map(|axis| axis.name.as_str());
        let axes = axes.collect::<Vec<_>>().join(", ");
        if !axes.is_empty() {
            add(
                page,
                format_args!("<p class=\"lead\">Groups of bars by {}.</p>", escape(&axes)),
            );
        }
        let names: Vec<String> = (0..record.variants.len())
            .map(|variant| numbers.variant(variant).to_owned())
            .collect();
        let axis = match unit.as_str() {
            "" => numbers.reading.name.clone(),
            unit if !numbers.reading.against.is_empty() => unit.to_owned(),
            unit => format!("{} ({unit})", numbers.reading.name),
        };
        let chart = BarChart {
            title: &numbers.reading.name,
            axis: &axis,
            series: &names,
            groups: groups(numbers),
        };
        chart.draw(page);
    } else {
        add(
            page,
            format_args!(
                "<p class=\"lead\">{bars} bars are too many for a picture; the table has their values.</p>"
            ),
        );
    }
    table(numbers, &unit, factor, page);
}

/// A group for each point, a bar for each variant, in the shown unit.
pub(super) fn groups(numbers: &Numbers<'_>) -> Vec<Group> {
    let record = numbers.record;
    let (unit, factor) = numbers.unit();
    let bar = |point: usize, variant: usize| {
        let cell = numbers.cell(point, variant);
        let seeds: Vec<f64> = cell.seeds.iter().map(|(_, value)| value / factor).collect();
        Bar {
            series: variant,
            value: cell.value.map(|value| value / factor),
            spread: cell
                .spread()
                .map(|(least, greatest)| (least / factor, greatest / factor)),
            seeds: if (2..=DOTS).contains(&seeds.len()) && cell.is_of_size {
                seeds
            } else {
                Vec::new()
            },
            published: None,
            band: None,
            text: tip(numbers, point, variant, cell, &unit, factor),
        }
    };
    (0..record.points.len())
        .map(|point| Group {
            name: record.points[point].join(" "),
            bars: (0..record.variants.len())
                .map(|variant| bar(point, variant))
                .collect(),
        })
        .collect()
}

/// The text of a cell under the pointer.
pub(super) fn tip(
    numbers: &Numbers<'_>,
    point: usize,
    variant: usize,
    cell: &Cell,
    unit: &str,
    factor: f64,
) -> String {
    let mut text = numbers.variant(variant).to_owned();
    let point = numbers.point(point);
    if !point.is_empty() {
        add(&mut text, format_args!("\n{point}"));
    }
    let value = cell.value.map(|value| shown(value, factor));
    let value = value.unwrap_or_else(|| "no value".to_owned());
    add(&mut text, format_args!("\n{value} {unit}"));
    if let Some((least, greatest)) = cell.spread() {
        let (least, greatest) = (shown(least, factor), shown(greatest, factor));
        let seeds = cell.seeds.len();
        add(
            &mut text,
            format_args!(", {least} to {greatest} over {seeds} seeds"),
        );
    }
    text
}

/// The values behind the bars.
pub(super) fn table(numbers: &Numbers<'_>, unit: &str, factor: f64, page: &mut String) {
    let record = numbers.record;
    let mut columns = axes(numbers);
    columns.push(Column::of("variant".to_owned(), "", false));
    for name in [numbers.reading.statistic.as_str(), "least", "greatest"] {
        columns.push(Column::of(name.to_owned(), unit, true));
    }
    columns.push(Column::of("each seed".to_owned(), unit, false));
    let mut rows = Vec::new();
    for point in 0..record.points.len() {
        for variant in 0..record.variants.len() {
            let cell = numbers.cell(point, variant);
            let mut row = record.points[point].clone();
            row.push(numbers.variant(variant).to_owned());
            let ends = cell.spread().map(|(least, greatest)| [least, greatest]);
            let [least, greatest] = ends.map_or([None; 2], |ends| ends.map(Some));
            let texts = [cell.value, least, greatest];
            row.extend(texts.map(|value| value.map_or("–".to_owned(), |of| shown(of, factor))));
            let seeds = cell.seeds.iter();
            let seeds = seeds.map(|(seed, value)| format!("{seed}: {}", shown(*value, factor)));
            row.push(seeds.collect::<Vec<_>>().join(", "));
            rows.push(row);
        }
    }
    behind("Values by variant, point and seed", &columns, &rows, page);
}
