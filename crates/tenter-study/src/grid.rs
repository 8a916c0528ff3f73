//! A study of a published table whose columns say how each row was run: one variant for all rows
//! that were run alike, made of the values of their columns, and a reading of each row.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::number_query::NumberQuery;
use crate::reading::{Against, Reading, Statistic};
use crate::reading_of_row::ReadingOfRow;
use crate::variant::Variant;

/// How the rows of a table are run and read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    /// The columns whose values name a case, in this order.
    case: Vec<String>,
    /// The columns that say how a row was run.
    axes: Vec<Axis>,
    /// Rows that a quick run has: those with one of these values in each of these columns.
    #[serde(default)]
    quick: BTreeMap<String, Vec<String>>,
    /// Rows that are left out, with what the study says about them: those with one of these values
    /// in the column.
    #[serde(default)]
    left_out: Vec<LeftOut>,
    metrics: Vec<Metric>,
}

/// One or several columns whose values change the scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Axis {
    columns: Vec<String>,
    /// For each value, or values with commas between them, the changes of the scenario.
    values: BTreeMap<String, Vec<String>>,
}

/// Rows that are left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    column: String,
    values: Vec<String>,
    /// Why.
    #[expect(
        dead_code,
        reason = "for the readers of the description, which must give it"
    )]
    because: String,
}

/// What is read of each row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metric {
    /// Columns and values of the rows that have it.
    #[serde(default)]
    rows: BTreeMap<String, String>,
    /// The column with its published value.
    value: String,
    /// What it is called, if not by that column.
    name: Option<String>,
    reading: Reading,
    query: Option<NumberQuery>,
    against: Option<Against>,
    #[serde(default)]
    statistic: Statistic,
    /// Whether rows decide whether the study holds; otherwise they are shown for information.
    #[serde(default = "yes")]
    judged: bool,
}

fn yes() -> bool {
    true
}

impl Grid {
    /// Adds its variants and readings before those that are listed.
    ///
    /// # Errors
    /// Columns that the table lacks, values without changes, and no rows.
    pub(crate) fn expand(
        &self,
        rows: &[BTreeMap<&str, &str>],
        variants: &mut Vec<Variant>,
        readings: &mut Vec<ReadingOfRow>,
    ) -> Result<(), String> {
        let mut own: Vec<Variant> = Vec::new();
        let mut names = BTreeSet::new();
        let mut found = Vec::new();
        for row in rows {
            if self.leaves_out(row)? {
                continue;
            }
            let (name, set) = self.variant(row)?;
            if names.insert(name.clone()) {
                own.push(Variant {
                    about: name.clone(),
                    name: name.clone(),
                    set,
                    quick: self.is_quick(row)?,
                    left_out: false,
                    calibrations: Vec::new(),
                });
            }
            found.extend(self.readings(row, &name)?);
        }
        if found.is_empty() {
            return Err("no row of the table is read; check `grid`".to_owned());
        }
        variants.splice(0..0, own);
        readings.splice(0..0, found);
        Ok(())
    }

    fn leaves_out(&self, row: &BTreeMap<&str, &str>) -> Result<bool, String> {
        let mut out = false;
        for left in &self.left_out {
            let value = value_of(row, &left.column)?;
            out |= left.values.iter().any(|of| of == value);
        }
        Ok(out)
    }

    fn is_quick(&self, row: &BTreeMap<&str, &str>) -> Result<bool, String> {
        let mut quick = true;
        for (column, values) in &self.quick {
            let value = value_of(row, column)?;
            quick &= values.iter().any(|of| of == value);
        }
        Ok(quick)
    }

    /// The columns of all axes, each once.
    fn columns(&self) -> Vec<&String> {
        let mut columns: Vec<&String> = Vec::new();
        for column in self.axes.iter().flat_map(|axis| &axis.columns) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns
    }

    /// The name of the variant of a row, and its changes of the scenario.
    fn variant(&self, row: &BTreeMap<&str, &str>) -> Result<(String, Vec<String>), String> {
        let values = self.columns().into_iter();
        let values = values.map(|column| value_of(row, column));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let mut set = Vec::new();
        for axis in &self.axes {
            let key = axis.columns.iter().map(|column| value_of(row, column));
            let key = key.collect::<Result<Vec<_>, _>>()?.join(",");
            let changes = axis.values.get(&key).ok_or_else(|| {
                let columns = axis.columns.join(",");
                format!("`grid.axes` has no changes for `{columns}` = `{key}`")
            })?;
            set.extend(changes.iter().cloned());
        }
        Ok((name(&values), set))
    }

    fn readings(
        &self,
        row: &BTreeMap<&str, &str>,
        variant: &str,
    ) -> Result<Vec<ReadingOfRow>, String> {
        let case = self.case.iter().map(|column| value_of(row, column));
        let case = case.collect::<Result<Vec<_>, _>>()?.join(", ");
        let mut found = Vec::new();
        for metric in &self.metrics {
            let mut has = true;
            for (column, value) in &metric.rows {
                has &= value_of(row, column)? == value;
            }
            if has {
                found.push(reading(metric, row, &case, variant, self));
            }
        }
        Ok(found)
    }
}

/// A reading of a row by one metric.
fn reading(
    metric: &Metric,
    row: &BTreeMap<&str, &str>,
    case: &str,
    variant: &str,
    grid: &Grid,
) -> ReadingOfRow {
    let columns = grid.columns().into_iter().chain(&grid.case);
    let columns = columns.chain(metric.rows.keys());
    let of = |column: &String| {
        let value = row.get(column.as_str()).copied().unwrap_or_default();
        (column.clone(), value.to_owned())
    };
    let name = metric.name.as_ref().unwrap_or(&metric.value);
    ReadingOfRow {
        tables: Vec::new(),
        row: if metric.judged {
            columns.map(of).collect()
        } else {
            BTreeMap::new()
        },
        metric: (!metric.judged).then(|| name.clone()),
        case: case.to_owned(),
        bar: None,
        reading: metric.reading,
        query: metric.query.clone(),
        against: metric.against.clone(),
        leaf: None,
        job: None,
        port: None,
        statistic: metric.statistic,
        constants: BTreeMap::new(),
        window_us: None,
        variant: variant.to_owned(),
        shown: Some(vec![variant.to_owned()]),
        seeds: None,
        value: metric.judged.then(|| metric.value.clone()),
        band: ["band_low", "band_high"].map(str::to_owned),
        quick_judged: None,
    }
}

fn value_of<'r>(row: &BTreeMap<&str, &'r str>, column: &str) -> Result<&'r str, String> {
    let value = row.get(column).copied();
    value.ok_or_else(|| format!("`grid` names the column `{column}`, which the table lacks"))
}

/// The name of a variant of these values, of which a folder can be made.
fn name(parts: &[&str]) -> String {
    let joined = parts.join("-").to_lowercase();
    let kept = joined.chars().map(|letter| match letter {
        'a'..='z' | '0'..='9' | '-' => letter,
        _ => '-',
    });
    kept.collect()
}
