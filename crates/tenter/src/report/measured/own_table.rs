//! Measurements as CSV: a line with column names and units, then a line for each size.

use super::programs::collective_of_program;
use super::rows::{Measured, checked};

/// True if the first line has several columns, and a size among them.
pub(super) fn is_table(text: &str) -> bool {
    head(text).is_some_and(|(_, line)| {
        let names = columns(line);
        names.len() > 1
            && names
                .iter()
                .any(|name| quantity(name) == Some(Quantity::Size))
    })
}

/// Returns the first line that is neither empty nor a comment, with its number from 1.
fn head(text: &str) -> Option<(usize, &str)> {
    let mut lines = (1..).zip(text.lines());
    lines.find(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// Quantity that a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Size,
    Time,
    BusBandwidth,
    Bandwidth,
    Collective,
}

/// Returns a line's separator: the first among `,`, `;` and tab that it contains.
fn separator(line: &str) -> char {
    let found = [',', ';', '\t'].into_iter().find(|&c| line.contains(c));
    found.unwrap_or(',')
}

fn columns(line: &str) -> Vec<&str> {
    let cells = line.split(separator(line));
    cells
        .map(|cell| cell.trim().trim_matches('"').trim())
        .collect()
}

/// Returns the quantity that a column name stands for, by its first word.
fn quantity(name: &str) -> Option<Quantity> {
    let word = name.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    match word.to_ascii_lowercase().as_str() {
        "size" | "bytes" | "message" | "msgsize" => Some(Quantity::Size),
        "time" | "latency" | "duration" => Some(Quantity::Time),
        "busbw" => Some(Quantity::BusBandwidth),
        "algbw" | "bandwidth" | "bw" | "throughput" => Some(Quantity::Bandwidth),
        "collective" | "operation" => Some(Quantity::Collective),
        _ => None,
    }
}

/// Returns the unit in a column name: in brackets, or after the last underscore.
fn unit(name: &str) -> Option<&str> {
    let in_brackets = name
        .split_once(['(', '['])
        .and_then(|(_, rest)| rest.split([')', ']']).next());
    if let Some(unit) = in_brackets {
        return Some(unit.trim());
    }
    // The unit of `busbw_gbytes_per_s` has three words.
    let end = name.strip_suffix("_per_s").unwrap_or(name);
    let start = end.rfind(['_', ' '])? + 1;
    name.get(start..)
}

/// Returns the factor from `unit` to bytes, to µs, or to 10⁹ bytes per second.
fn factor(quantity: Quantity, unit: &str) -> Option<f64> {
    match quantity {
        Quantity::Size => bytes(unit),
        Quantity::Time => microseconds(unit),
        Quantity::BusBandwidth | Quantity::Bandwidth => gbytes_per_s(unit),
        Quantity::Collective => None,
    }
}

fn bytes(unit: &str) -> Option<f64> {
    Some(match unit {
        "B" | "bytes" | "byte" | "b" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" | "kib" => 1024.0,
        "MiB" | "mib" => 1_048_576.0,
        "GiB" | "gib" => 1_073_741_824.0,
        _ => return None,
    })
}

fn microseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ps" => 1e-6,
        "ns" => 1e-3,
        "us" | "µs" | "μs" | "usec" => 1.0,
        "ms" | "msec" => 1e3,
        "s" | "sec" => 1e6,
        _ => return None,
    })
}

fn gbytes_per_s(unit: &str) -> Option<f64> {
    Some(match unit {
        "GB/s" | "GBps" | "gbytes_per_s" => 1.0,
        "MB/s" | "MBps" | "mbytes_per_s" => 1e-3,
        "GiB/s" => 1.073_741_824,
        "MiB/s" => 1.048_576e-3,
        "Gb/s" | "Gbps" | "gbps" | "Gbit/s" | "gbits_per_s" => 0.125,
        "Mb/s" | "Mbps" | "mbps" | "Mbit/s" => 1.25e-4,
        _ => return None,
    })
}

/// A column that is read.
struct Column {
    place: usize,
    quantity: Quantity,
    factor: f64,
}

/// Reads a table. One with several collectives yields a [`Measured`] for each.
pub(super) fn parse(text: &str) -> Result<Vec<Measured>, String> {
    let Some((first, line)) = head(text) else {
        return Ok(Vec::new());
    };
    let separator = separator(line);
    let (read, unread) = known(first, line)?;
    let mut all: Vec<Measured> = Vec::new();
    // `first` counts from 1, so this skips the head and all lines before it.
    for (number, line) in (1..).zip(text.lines()).skip(first) {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let cells: Vec<&str> = line
            .split(separator)
            .map(|cell| cell.trim().trim_matches('"').trim())
            .collect();
        let row = values(&read, &cells).map_err(|why| format!("line {number}: {why}"))?;
        let of = all
            .iter()
            .position(|measured| measured.collective == row.collective);
        let place = of.unwrap_or_else(|| {
            all.push(Measured {
                collective: row.collective.clone(),
                ..Measured::default()
            });
            all.len() - 1
        });
        // Without a time, size over bandwidth is the time, in µs.
        let by_rate = |rate: f64| row.size / rate / 1e3;
        // nccl-tests defines algorithm bandwidth as size over time.
        let time = row
            .time
            .or(row.bandwidth.filter(|&rate| rate > 0.0).map(by_rate));
        let sound = checked(row.size.round() as u64, time, row.busbw);
        let sound = sound.map_err(|why| format!("line {number}: {why}"))?;
        if let Some(measured) = all.get_mut(place) {
            measured.rows.extend(sound);
        }
    }
    if let (Some(measured), false) = (all.first_mut(), unread.is_empty()) {
        measured
            .notes
            .push(format!("columns that are not read: {}", unread.join(", ")));
    }
    Ok(all)
}

/// Returns the columns that are read, and the others' names.
fn known(line_number: usize, line: &str) -> Result<(Vec<Column>, Vec<String>), String> {
    let mut read: Vec<Column> = Vec::new();
    let mut unread = Vec::new();
    for (place, name) in columns(line).into_iter().enumerate() {
        let known = quantity(name);
        // Of two columns with one quantity, the first is read.
        let again = read.iter().any(|column| Some(column.quantity) == known);
        let Some(quantity) = known.filter(|_| !again) else {
            unread.push(format!("`{name}`"));
            continue;
        };
        let factor = match (quantity, unit(name)) {
            // A name such as `bytes` is the unit itself.
            (Quantity::Collective, _) | (Quantity::Size, None) => 1.0,
            (_, unit) => unit.and_then(|unit| factor(quantity, unit)).ok_or_else(|| {
                format!(
                    "line {line_number}: the column `{name}` needs a unit: write it in brackets, for instance `time (us)`, `size (KiB)` or `busbw (GB/s)`"
                )
            })?,
        };
        read.push(Column {
            place,
            quantity,
            factor,
        });
    }
    let has = |wanted: Quantity| read.iter().any(|column| column.quantity == wanted);
    if !has(Quantity::Time) && !has(Quantity::BusBandwidth) && !has(Quantity::Bandwidth) {
        return Err(format!(
            "line {line_number}: there is neither a time nor a bandwidth: name a column `time (us)`, `busbw (GB/s)` or `algbw (GB/s)`"
        ));
    }
    Ok((read, unread))
}

/// A line's values, in base units.
#[derive(Default)]
struct Values {
    size: f64,
    time: Option<f64>,
    busbw: Option<f64>,
    bandwidth: Option<f64>,
    collective: Option<String>,
}

fn values(columns: &[Column], cells: &[&str]) -> Result<Values, String> {
    let mut values = Values::default();
    for column in columns {
        let cell = cells.get(column.place).copied().unwrap_or_default();
        if column.quantity == Quantity::Collective {
            let named = collective_of_program(cell).map(str::to_owned);
            values.collective = (!cell.is_empty()).then(|| named.unwrap_or(cell.to_owned()));
            continue;
        }
        let number = match cell {
            "" | "nan" | "NaN" | "N/A" => None,
            _ => Some(cell.parse::<f64>().map_err(|_| {
                format!("`{cell}` is not a number: write it without a unit, with a point")
            })?),
        };
        let number = number.map(|number| number * column.factor);
        match column.quantity {
            Quantity::Size => {
                let size = number.filter(|&size| (0.0..1e18).contains(&size));
                values.size = size.ok_or_else(|| format!("`{cell}` is no size"))?;
            }
            Quantity::Time => values.time = number,
            Quantity::BusBandwidth => values.busbw = number,
            Quantity::Bandwidth => values.bandwidth = number,
            Quantity::Collective => {}
        }
    }
    Ok(values)
}
