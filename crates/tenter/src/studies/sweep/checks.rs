//! Checks that a description's keys fit together: each key alone is checked where it is read.

use std::collections::BTreeSet;

use tenter_language::config::Written;

use super::bundle::Bundle;
use super::keys::{PublishedKeys, ReadingKeys, SweepKeys, is_axis};
use super::seeds::Seeds;
use crate::studies::power;
use crate::studies::read::Word;

/// Checks what no key can check alone: reading names, and the variants and axes that readings and
/// seeds refer to.
pub(super) fn check(keys: &SweepKeys, variants: &[Bundle], seeds: &Seeds) -> Result<(), String> {
    check_study(keys)?;
    let mut names = BTreeSet::new();
    for reading in &keys.readings {
        // Only a sweep identifies a table by its reading's name; a study's rows have a case and a
        // metric.
        let is_named = keys.published.is_none() || is_of_cells(reading);
        if is_named && reading.name.is_empty() {
            return Err("a reading has no `name`; give it one".to_owned());
        }
        if keys.published.is_none() && !names.insert(&reading.name) {
            return Err(format!(
                "two readings are called `{}`; rename one of them",
                reading.name
            ));
        }
        for row in &reading.published {
            check_published(keys, variants, reading, row)?;
        }
    }
    let by = seeds.chosen.as_ref().and_then(|chosen| chosen.by.as_ref());
    let known = |name: &&String| variants.iter().any(|of| of.name == **name);
    match by.filter(|by| !known(by)) {
        Some(by) => Err(format!(
            "`seeds.by` names the variant `{by}`, which there is not; {}",
            tenter_language::units::suggestion(by, variants.iter().map(|of| of.name.as_str()))
        )),
        None => Ok(()),
    }
}

/// Returns true if the reading has a row for each variant at each point.
pub(super) fn is_of_cells(reading: &ReadingKeys) -> bool {
    reading.case.is_empty() && !reading.each_row
}

/// Checks that keys which need a published table have one.
fn check_study(keys: &SweepKeys) -> Result<(), String> {
    if keys.published.is_some() {
        return Ok(());
    }
    // Without a table, the quick form cannot leave out rows, and `tenter sweep` runs no quick form.
    let quick = keys.quick.as_ref();
    let has_quick = quick.is_some_and(|of| !of.set.0.is_empty() || !of.rows.0.is_empty());
    let has_quick = has_quick || quick.is_some_and(|of| of.judged);
    let given = [
        ("varies", !keys.varies.0.is_empty()),
        ("left_out", !keys.left_out.is_empty()),
        ("quick", has_quick),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((key, _)) => Err(format!(
            "`{key}` means nothing without `published`; leave it out, or name the table"
        )),
        None => Ok(()),
    }
}

/// Checks that a published row's variant and axes exist.
fn check_published(
    keys: &SweepKeys,
    variants: &[Bundle],
    reading: &ReadingKeys,
    row: &PublishedKeys,
) -> Result<(), String> {
    let known = || variants.iter().map(|of| of.name.as_str());
    if !row.variant.is_empty() && !known().any(|name| name == row.variant) {
        let help = tenter_language::units::suggestion(&row.variant, known());
        return Err(format!(
            "the reading `{}` has a published value of the variant `{}`, which there is not; {help}",
            reading.name, row.variant
        ));
    }
    let axes = || keys.axes.0.iter().map(|(path, _)| path.as_str());
    let unknown = |path: &&(String, Written)| !axes().any(|axis| is_axis(axis, &path.0));
    match row.at.0.iter().find(unknown) {
        Some((path, _)) => {
            let help = tenter_language::units::suggestion(path, axes());
            Err(format!(
                "the reading `{}` has a published value at `{path}`, which is no axis; {help}",
                reading.name
            ))
        }
        None => Ok(()),
    }
}

/// Checks that a reading's keys fit together.
pub(super) fn check_reading(reading: &ReadingKeys) -> Result<(), String> {
    check_rows(reading)?;
    let Some(of) = reading.of else {
        let read_by_words = !reading.leaf.is_empty()
            || !reading.window_us.is_empty()
            || !reading.constants.0.is_empty();
        return match read_by_words {
            _ if reading.query.is_empty() => {
                Err("it has neither `query` nor `of`; write a `query`".to_owned())
            }
            true => Err("`leaf`, `window_us` and `constants` mean nothing to a query".to_owned()),
            false => Ok(()),
        };
    };
    if !reading.query.is_empty() || reading.pooled {
        return Err("it has `of` beside a query; leave one of them out".to_owned());
    }
    let windowed = matches!(of, Word::AcceptedGbps | Word::AcceptedPercent);
    let is_window = matches!(reading.window_us.as_slice(), [from, to] if from < to);
    if windowed != is_window || !windowed && !reading.window_us.is_empty() {
        return Err(
            "it needs `window_us: [from, to]` if it reads what is accepted, and none otherwise"
                .to_owned(),
        );
    }
    let at_leaf = matches!(of, Word::QpsPerUplink | Word::QpEquivalentsPerUplink);
    if at_leaf == reading.leaf.is_empty() {
        return Err("it needs a `leaf` if it is read at one, and none otherwise".to_owned());
    }
    let of_power = [Word::StaticWPerGbps, Word::DynamicWPerGbps, Word::PjPerBit].contains(&of);
    if !of_power && !reading.constants.0.is_empty() {
        return Err("it has `constants`, which only a reading of power follows from".to_owned());
    }
    power::check(&reading.constants.0.iter().cloned().collect())
}

/// Checks that the reading's keys have a meaning beside `case` and `each_row`, which decide on its
/// rows.
fn check_rows(reading: &ReadingKeys) -> Result<(), String> {
    let of_cells = is_of_cells(reading);
    let has_row = reading.row.is_some() || reading.each_row;
    let misplaced = [
        (
            !has_row && (!reading.value.is_empty() || !reading.tables.is_empty()),
            "`value` and `tables` belong to a reading with `row` or `each_row`",
        ),
        (
            !of_cells && (!reading.at.0.is_empty() || !reading.variants.is_empty()),
            "`at` and `variants` choose among rows for each variant; with `case`, name the variants in `shown`",
        ),
        (
            of_cells && !reading.shown.is_empty(),
            "`shown` belongs to a reading with `case`; name the variants in `variants`",
        ),
        (
            of_cells && !reading.bar.is_empty(),
            "`bar` belongs to a reading with `case`; without it, variants are the bars",
        ),
        (
            !reading.published.is_empty() && (has_row || !of_cells),
            "`published` belongs to a reading without `case`, `row` and `each_row`",
        ),
        (
            reading.each_row && !reading.tables.is_empty(),
            "`each_row` takes the rows of `published.table`; leave `tables` out",
        ),
        (
            has_row && reading.band().is_some(),
            "the band of a published row stands in its table; leave `band` out, or name two columns",
        ),
        (
            reading.completed && (reading.pooled || reading.of.is_some()),
            "`completed` belongs to a query that is not pooled; leave it out",
        ),
    ];
    match misplaced.iter().find(|(is_misplaced, _)| *is_misplaced) {
        Some((_, what)) => Err((*what).to_owned()),
        None => Ok(()),
    }
}
