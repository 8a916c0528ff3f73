//! Compares seed folders and sweeps, seed by seed at equal settings.

use crate::studies::{SweepReading, SweepRecord};
use tenter_results::PairedRow;

use crate::report::pairing::{Pairs, SIGNIFICANT, difference};
use crate::report::quantity::is_same_value;
use crate::report::sweep_numbers::{Numbers, paired, point_name, shown_unit};
use crate::report::table::Section;
use crate::report::text_table::{TextColumn, TextTable};

/// A record with its folder's name.
#[derive(Clone, Debug)]
pub struct NamedRecord {
    /// Name in tables; it differs from all other records' names.
    pub name: String,
    /// All trials' readings, with variants, points and settings.
    pub record: SweepRecord,
}

/// A record's variant at a point in its design.
#[derive(Clone, Copy)]
struct Place<'a> {
    record: &'a NamedRecord,
    variant: usize,
    point: usize,
}

/// Compares one record's variants with its first variant, or several records' variants with those
/// in the first record. Each row summarises pairs of values at equal settings with equal seeds.
///
/// # Errors
/// A sentence with the reason why nothing can be paired, and a remedy.
pub fn paired_rows(records: &[NamedRecord]) -> Result<Vec<PairedRow>, String> {
    let (first, others) = match records {
        [] => return Err("there is nothing to compare; name two folders".to_owned()),
        [one] => return within(one),
        [first, others @ ..] => (first, others),
    };
    let mut rows = Vec::new();
    for other in others {
        let found = between(first, other)?;
        if found.is_empty() {
            return Err(nothing_paired(first, other));
        }
        rows.extend(found);
    }
    // `paired_sections` makes a section of adjacent rows, so those of one reading must be together.
    let names: Vec<&str> = first
        .record
        .readings
        .iter()
        .map(|of| of.name.as_str())
        .collect();
    rows.sort_by_key(|row| names.iter().position(|name| *name == row.reading));
    Ok(rows)
}

/// Compares a record's variants with its first.
fn within(one: &NamedRecord) -> Result<Vec<PairedRow>, String> {
    let record = &one.record;
    if record.variants.len() < 2 {
        return Err(format!(
            "{} has one variant and nothing to compare it with; name another folder",
            one.name
        ));
    }
    let mut rows = Vec::new();
    check_statistics(record.readings.iter(), &format!("of {}", one.name))?;
    for reading in 0..record.readings.len() {
        let numbers = Numbers::of(record, reading);
        for point in 0..record.points.len() {
            for variant in 1..record.variants.len() {
                let side = |variant| Side {
                    numbers: &numbers,
                    place: Place {
                        record: one,
                        variant,
                        point,
                    },
                    name: numbers.variant(variant).to_owned(),
                };
                rows.extend(row(side(variant), side(0)));
            }
        }
    }
    if rows.is_empty() {
        return Err(format!(
            "no two variants of {} have a value with the same seed; run `tenter sweep` to its end",
            one.name
        ));
    }
    Ok(rows)
}

/// Refuses readings if none can be paired by seed.
fn check_statistics<'r>(
    mut readings: impl ExactSizeIterator<Item = &'r SweepReading>,
    name: &str,
) -> Result<(), String> {
    if readings.len() == 0 || readings.any(SweepReading::has_a_best) {
        return Ok(());
    }
    Err(format!(
        "the readings {name} have statistics that no pair of seeds has (`stddev`, `range`, `count`); add a reading with another `statistic`, for instance `median`"
    ))
}

/// Compares a record with the first.
fn between(first: &NamedRecord, other: &NamedRecord) -> Result<Vec<PairedRow>, String> {
    let (a, b) = (&first.record, &other.record);
    let readings: Vec<(usize, usize)> = (0..a.readings.len())
        .filter_map(|at| {
            // Readings match by what they read, whatever they are called.
            let mut same = b.readings.iter();
            Some((at, same.position(|of| of.of == a.readings[at].of)?))
        })
        .collect();
    if readings.is_empty() {
        let names = |record: &SweepRecord| {
            let names = record.readings.iter().map(|of| format!("`{}`", of.name));
            names.collect::<Vec<_>>().join(", ")
        };
        return Err(format!(
            "{} and {} have no reading in common ({} and {}); compare folders with the same readings",
            first.name,
            other.name,
            names(a),
            names(b)
        ));
    }
    let common = readings.iter().map(|(at, _)| &a.readings[*at]);
    let names = format!("that {} and {} have in common", first.name, other.name);
    check_statistics(common, &names)?;
    // Points, not trials, are matched: seeds are paired within each.
    let points = equal_points(a, b);
    if points.is_empty() {
        return Err(format!(
            "{} and {} have no settings in common ({} and {}); let their axes share values",
            first.name,
            other.name,
            example(a),
            example(b)
        ));
    }
    let variants = equal_variants(a, b);
    if variants.is_empty() {
        return Err(format!(
            "{} and {} have no variant of the same name ({} and {}); give matching variants the same name",
            first.name,
            other.name,
            a.variants.join(", "),
            b.variants.join(", ")
        ));
    }
    let mut rows = Vec::new();
    for (at, same) in readings {
        let (of_first, of_other) = (Numbers::of(a, at), Numbers::of(b, same));
        for &(point, equal) in &points {
            for &(variant, alike) in &variants {
                let base = Place {
                    record: first,
                    variant,
                    point,
                };
                let own = Place {
                    record: other,
                    variant: alike,
                    point: equal,
                };
                let own = Side::of(&of_other, own);
                rows.extend(row(own, Side::of(&of_first, base)));
            }
        }
    }
    Ok(rows)
}

/// Names one point as an example, or says that nothing is varied.
fn example(record: &SweepRecord) -> String {
    match record.points.first().map(|_| point_name(record, 0)) {
        Some(name) if !name.is_empty() => format!("for instance {name}"),
        _ => "nothing varied".to_owned(),
    }
}

/// Pairs points with equal settings. A path that is an axis in only one record is looked up among
/// the other's fixed settings.
fn equal_points(a: &SweepRecord, b: &SweepRecord) -> Vec<(usize, usize)> {
    // One design, which may have very many points.
    if (&a.axes, &a.set, &a.points) == (&b.axes, &b.set, &b.points) {
        return (0..a.points.len()).map(|point| (point, point)).collect();
    }
    let has_all = |a: &SweepRecord, point: usize, b: &SweepRecord, other: usize| {
        let mut axes = a.axes.iter().zip(&a.points[point]);
        axes.all(|(axis, value)| {
            let found = value_at(b, other, &axis.path);
            found.is_some_and(|found| is_same_value(found, value))
        })
    };
    let mut equal = Vec::new();
    for point in 0..a.points.len() {
        let found = (0..b.points.len())
            .find(|&other| has_all(a, point, b, other) && has_all(b, other, a, point));
        equal.extend(found.map(|other| (point, other)));
    }
    equal
}

fn value_at<'r>(record: &'r SweepRecord, point: usize, path: &str) -> Option<&'r str> {
    let axis = record.axes.iter().position(|axis| axis.path == path);
    if let Some(axis) = axis {
        return Some(&record.points[point][axis]);
    }
    let mut set = record.set.iter();
    set.find(|(of, _)| of == path)
        .map(|(_, value)| value.as_str())
}

/// Pairs variants by name. Two records with a single variant each match whatever the names, and a
/// variant without a name is compared with all in the other record.
fn equal_variants(a: &SweepRecord, b: &SweepRecord) -> Vec<(usize, usize)> {
    if a.variants.len() == 1 && b.variants.len() == 1 {
        return vec![(0, 0)];
    }
    let place = |name: &String| b.variants.iter().position(|other| other == name);
    let names = a.variants.iter().enumerate();
    let named: Vec<(usize, usize)> = names
        .filter_map(|(at, name)| Some((at, place(name)?)))
        .collect();
    match (
        named.as_slice(),
        a.variants.as_slice(),
        b.variants.as_slice(),
    ) {
        // A record without named variants is compared with all variants of the other.
        ([], [only], all) if only.is_empty() => (0..all.len()).map(|of| (0, of)).collect(),
        ([], all, [only]) if only.is_empty() => (0..all.len()).map(|of| (of, 0)).collect(),
        _ => named,
    }
}

/// One side in a comparison.
struct Side<'a> {
    numbers: &'a Numbers<'a>,
    place: Place<'a>,
    name: String,
}

impl<'a> Side<'a> {
    /// Makes a side named after its record and variant.
    fn of(numbers: &'a Numbers<'a>, place: Place<'a>) -> Side<'a> {
        Side {
            numbers,
            place,
            name: name_of(place),
        }
    }

    /// Returns seeds with their values.
    fn seeds(&self) -> Vec<(u64, f64)> {
        let cell = self.numbers.raw(self.place.point, self.place.variant);
        cell.seeds.clone()
    }
}

/// Names a side by its record and variant.
fn name_of(place: Place<'_>) -> String {
    let Place {
        record, variant, ..
    } = place;
    match record.record.variants[variant].as_str() {
        name if name.is_empty() || name == record.name => record.name.clone(),
        name => format!("{}: {name}", record.name),
    }
}

/// Compares two sides, if they have values with the same seeds.
fn row(own: Side<'_>, base: Side<'_>) -> Option<PairedRow> {
    let reading = base.numbers.reading;
    // Pairs compare values, seed by seed; a standard deviation, a range or a count exists only over
    // all seeds.
    if !reading.has_a_best() {
        return None;
    }
    let both = paired(&own.seeds(), &base.seeds());
    let pairs = Pairs::of(&both, reading.more_is_better)?;
    let (mine, theirs): (Vec<f64>, Vec<f64>) = both.into_iter().unzip();
    Some(PairedRow {
        reading: reading.name.clone(),
        unit: reading.unit.clone(),
        settings: point_name(&base.place.record.record, base.place.point),
        name: own.name,
        against: base.name,
        value: reading.of_seeds(mine)?,
        against_value: reading.of_seeds(theirs)?,
        pairs: pairs.count as u32,
        wins: pairs.wins as u32,
        losses: pairs.losses as u32,
        ratio: pairs.ratio,
        ratio_low: pairs.interval.map(|(low, _)| low),
        ratio_high: pairs.interval.map(|(_, high)| high),
        p_value: pairs.p_value,
        more_is_better: reading.more_is_better,
    })
}

fn nothing_paired(first: &NamedRecord, other: &NamedRecord) -> String {
    let seeds = |of: &NamedRecord| {
        let mut seeds: Vec<u64> = of.record.trials.iter().map(|trial| trial.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        match seeds.as_slice() {
            [] => "none".to_owned(),
            [one] => one.to_string(),
            [least, .., most] => format!("{least} to {most}"),
        }
    };
    format!(
        "{} and {} have no seed in common with values of both ({} and {}); run one of them again with the seeds of the other: `seeds: [1, 2, 3]` in a sweep, `--seed 1 --seeds 3` of `tenter run`",
        first.name,
        other.name,
        seeds(first),
        seeds(other)
    )
}

/// Returns the tables for people: a section for each reading.
pub fn paired_sections(rows: &[PairedRow]) -> Vec<Section> {
    let of_readings = rows.chunk_by(|a, b| a.reading == b.reading);
    of_readings.map(paired_section).collect()
}

/// Renders [`paired_sections`] as plain text.
pub fn paired_table(rows: &[PairedRow]) -> String {
    let sections = paired_sections(rows).into_iter();
    sections.map(|section| section.to_string()).collect()
}

fn paired_section(rows: &[PairedRow]) -> Section {
    let first = &rows[0];
    let sizes = rows.iter().flat_map(|row| [row.value, row.against_value]);
    // One unit for the whole table, chosen by its greatest value.
    let (unit, factor) = shown_unit(&first.unit, sizes.map(f64::abs).fold(0.0, f64::max));
    let better = if first.more_is_better { "more" } else { "less" };
    let varied = rows.iter().any(|row| !row.settings.is_empty());
    // A single pair says nothing of luck.
    let is_tested = rows.iter().any(|row| row.pairs > 1);
    let mut columns = vec![TextColumn::name("at")];
    columns.retain(|_| varied);
    columns.extend([
        TextColumn::name(""),
        TextColumn::number("", &unit),
        TextColumn::name("against"),
        TextColumn::number("", &unit),
        TextColumn::name("difference"),
    ]);
    if is_tested {
        columns.extend(["95 % interval", "better with", "p"].map(TextColumn::name));
    }
    let mut table = TextTable::new(columns);
    for row in rows {
        let mut cells = cells(row, varied, factor);
        cells.truncate(table.columns().len());
        table.push(cells);
    }
    Section::of_table(format!("{} ({better} is better)", first.reading), table)
}

fn cells(row: &PairedRow, varied: bool, factor: f64) -> Vec<String> {
    let digits = |value: f64| {
        let value = value / factor;
        let decimals = crate::report::numbers::decimals_for(value, 4);
        format!("{value:.decimals$}")
    };
    let interval = row.ratio_low.zip(row.ratio_high).map(|(low, high)| {
        let (low, high) = ((low - 1.0) * 100.0, (high - 1.0) * 100.0);
        format!("{low:+.1} to {high:+.1} %")
    });
    let mark = if row.p_value < SIGNIFICANT { " *" } else { "" };
    let mut cells = vec![row.settings.clone()];
    cells.retain(|_| varied);
    cells.extend([
        row.name.clone(),
        digits(row.value),
        row.against.clone(),
        digits(row.against_value),
        row.ratio.map_or_else(|| "-".to_owned(), difference),
        interval.unwrap_or_else(|| "-".to_owned()),
        format!("{} of {} seeds", row.wins, row.pairs),
        format!("{:.3}{mark}", row.p_value),
    ]);
    cells
}

#[cfg(test)]
mod tests;
