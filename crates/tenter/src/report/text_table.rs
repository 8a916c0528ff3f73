//! Text tables with aligned columns.

use std::fmt::{self, Write as _};

/// Alignment of a column's head and cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Flush left, as names are printed.
    Left,
    /// Flush right, as numbers are printed.
    Right,
}

/// Head and alignment for a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextColumn {
    /// First line in the head.
    pub name: String,
    /// Second line in the head, usually the unit; empty without one.
    pub unit: String,
    /// Alignment for head and body.
    pub align: Align,
}

impl TextColumn {
    /// Makes a column for numbers, flush right.
    pub fn number(name: &str, unit: &str) -> TextColumn {
        TextColumn {
            name: name.to_owned(),
            unit: unit.to_owned(),
            align: Align::Right,
        }
    }

    /// Makes a column for names, flush left.
    pub fn name(name: &str) -> TextColumn {
        TextColumn {
            name: name.to_owned(),
            unit: String::new(),
            align: Align::Left,
        }
    }
}

/// A table that is printed with one line per row, up to two head lines, and no rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTable {
    columns: Vec<TextColumn>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Makes a table without rows.
    pub fn new(columns: Vec<TextColumn>) -> TextTable {
        TextTable {
            columns,
            rows: Vec::new(),
        }
    }

    /// Appends a row. Cells beyond the last column are not shown, and missing ones are empty.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Returns the heads, one for each column.
    pub fn columns(&self) -> &[TextColumn] {
        &self.columns
    }

    /// Returns the rows, each a list with a cell per column.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    fn width(&self, column: usize) -> usize {
        let head = [&self.columns[column].name, &self.columns[column].unit];
        let body = self.rows.iter().filter_map(|row| row.get(column));
        head.into_iter()
            .chain(body)
            // Characters, not bytes: `µs` has three bytes and two columns.
            .map(|text| text.chars().count())
            .max()
            .unwrap_or(0)
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.columns.is_empty() {
            return Ok(());
        }
        let widths: Vec<usize> = (0..self.columns.len()).map(|i| self.width(i)).collect();
        let names = self
            .columns
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        let units: Vec<&str> = self
            .columns
            .iter()
            .map(|column| column.unit.as_str())
            .collect();
        let mut lines: Vec<Vec<&str>> = vec![names];
        // Without any unit, the second head line would be empty.
        if units.iter().any(|unit| !unit.is_empty()) {
            lines.push(units);
        }
        lines.extend(
            self.rows
                .iter()
                .map(|row| row.iter().map(String::as_str).collect()),
        );
        for line in lines {
            let mut text = String::new();
            for (i, (column, &width)) in self.columns.iter().zip(&widths).enumerate() {
                let cell = line.get(i).copied().unwrap_or("");
                text.push_str("  ");
                match column.align {
                    Align::Left => write!(text, "{cell:<width$}")?,
                    Align::Right => write!(text, "{cell:>width$}")?,
                }
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_right_names_left() {
        let mut table = TextTable::new(vec![
            TextColumn::name("job"),
            TextColumn::number("JCT", "ms"),
        ]);
        table.push(vec!["a".to_owned(), "1.5".to_owned()]);
        table.push(vec![
            "größer".to_owned(),
            "10.25".to_owned(),
            "not shown".to_owned(),
        ]);
        table.push(vec!["b".to_owned()]);
        let expected = "  job       JCT\n             ms\n  a         1.5\n  größer  10.25\n  b\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn no_units_no_second_line() {
        let table = TextTable::new(vec![TextColumn::number("flows", "")]);
        assert_eq!(table.to_string(), "  flows\n");
    }
}
