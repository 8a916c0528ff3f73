//! The tables behind pictures.

use super::super::text::{add, count, escape, number};
use crate::sweep_numbers::Numbers;

/// A page has no more rows of a table; the Parquet file has all.
pub(super) const ROWS: usize = 2_000;

/// The head of a column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    name: String,
    is_number: bool,
}

impl Column {
    pub(super) fn of(name: String, unit: &str, is_number: bool) -> Column {
        let name = match unit {
            "" => name,
            unit => format!("{name} ({unit})").trim_start().to_owned(),
        };
        Column { name, is_number }
    }
}

/// A column for each axis.
pub(super) fn axes(numbers: &Numbers<'_>) -> Vec<Column> {
    let axes = numbers.record.axes.iter();
    axes.map(|axis| Column::of(axis.name.clone(), "", false))
        .collect()
}

/// A table behind a click.
pub(super) fn behind(title: &str, columns: &[Column], rows: &[Vec<String>], page: &mut String) {
    add(
        page,
        format_args!(
            "<details><summary>{}: {} rows</summary>",
            escape(title),
            count(rows.len() as u64)
        ),
    );
    table(columns, &rows[..rows.len().min(ROWS)], page);
    if rows.len() > ROWS {
        add(
            page,
            format_args!(
                "<p class=\"lead\">The first {} of {} rows; results.parquet has all.</p>",
                count(ROWS as u64),
                count(rows.len() as u64)
            ),
        );
    }
    page.push_str("</details>\n");
}

/// A table.
pub(super) fn table(columns: &[Column], rows: &[Vec<String>], page: &mut String) {
    let class = |column: &Column| if column.is_number { " class=\"n\"" } else { "" };
    page.push_str("<div class=\"scroll\"><table><thead><tr>");
    for column in columns {
        let name = escape(&column.name);
        add(page, format_args!("<th{}>{name}</th>", class(column)));
    }
    page.push_str("</tr></thead><tbody>");
    for row in rows {
        page.push_str("<tr>");
        for (column, text) in columns.iter().zip(row) {
            add(
                page,
                format_args!("<td{}>{}</td>", class(column), escape(text)),
            );
        }
        page.push_str("</tr>");
    }
    page.push_str("</tbody></table></div>");
}

/// A value as in tables and tips.
pub(super) fn shown(value: f64, factor: f64) -> String {
    number(value / factor, 4)
}
