//! Studies as text: published and measured values side by side.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};
use tenter_report::{TextColumn, TextTable, band_text, binary_size, csv_field, duration_s};
use tenter_study::{
    Answers, Case, CaseAnswer, Comparison, Extent, Gate, Noted, Pauses, ReadingRow, Sizes, Spread,
    Study, StudyAnswer, Value, Variant, Verdict,
};

use crate::text::wrap;

/// So much of a change is shown.
const CHANGE_CHARS: usize = 120;

/// Of 80 columns, behind the margin.
const LIST_WIDTH: usize = 76;

/// Names, titles and sources of the studies.
pub(crate) fn list(studies: &[Study]) -> String {
    let mut text = String::new();
    for study in studies {
        let _ = writeln!(text, "{}", study.name);
        let about = format!("{}. {}", study.title, study.source);
        for line in wrap(&about, LIST_WIDTH) {
            let _ = writeln!(text, "    {line}");
        }
    }
    format!(
        "{text}\n\
         tenter study show NAME          its source, assumptions and published rows\n\
         tenter study run NAME… --quick  the smaller cases, in seconds to minutes\n"
    )
}

/// A study as a program reads it, without its page.
pub(crate) fn document(study: &Study) -> Json {
    let variant = |variant: &Variant| json!({"name": variant.name, "about": variant.about});
    json!({
        "study": study.name,
        "title": study.title,
        "source": study.source,
        "quick": study.has(Extent::Quick),
        "variants": study.kept_variants().map(variant).collect::<Vec<_>>(),
    })
}

/// The page of a study, its variants and its published rows.
pub(crate) fn show(study: &Study) -> String {
    let rows = match &study.comparison {
        Comparison::Sizes(sizes) if sizes.beside.is_empty() => published_sizes(sizes),
        Comparison::Sizes(sizes) => {
            published_sizes(sizes) + "\n" + &published_readings(&sizes.beside)
        }
        Comparison::Readings(rows) => published_readings(rows),
    };
    format!(
        "{}\n\n## What is run\n\n{}\n## Published rows\n\n{rows}",
        study.readme.trim_end(),
        variants(study),
    )
}

fn published_sizes(sizes: &Sizes) -> String {
    let mut columns = vec![TextColumn::number("size", "")];
    for metric in &sizes.metrics {
        let (name, unit) = name_and_unit(&metric.name);
        columns.push(TextColumn::number(&name, unit));
    }
    columns.push(TextColumn::number("band", ""));
    columns.extend(["gate", "reason"].map(TextColumn::name));
    let mut table = TextTable::new(columns);
    for case in &sizes.cases {
        let mut row = vec![binary_size(case.size.count())];
        let published = case.published.iter().enumerate();
        row.extend(published.map(|(metric, value)| number(*value, decimals(sizes, metric))));
        row.push(band(case.band));
        row.push(case.gate.words(sizes.origin));
        row.push(case.reason.clone());
        table.push(row);
    }
    format!(
        "The band is that of {}, variant {}.\n\n{table}",
        sizes.judged.metric, sizes.judged.variant
    )
}

fn published_readings(rows: &[ReadingRow]) -> String {
    let mut columns = ["case", "metric"].map(TextColumn::name).to_vec();
    columns.push(TextColumn::number("published", ""));
    columns.push(TextColumn::number("band", ""));
    columns.extend(["judged", "gate", "reason"].map(TextColumn::name));
    let mut table = TextTable::new(columns);
    for row in rows {
        table.push(vec![
            named(&row.case, row.bar.as_deref()),
            row.metric.clone(),
            value(row.published.as_ref()),
            band(row.band),
            row.variant.clone(),
            row.gate.words(row.origin),
            row.reason.clone(),
        ]);
    }
    table.to_string()
}

fn variants(study: &Study) -> String {
    let mut text = String::new();
    for variant in study.kept_variants() {
        let _ = writeln!(text, "  {}: {}", variant.name, variant.about);
        for set in &variant.set {
            let _ = writeln!(text, "    with {}", clipped(set));
        }
        for fitted in &variant.calibrations {
            let _ = writeln!(
                text,
                "    calibration {}, fitted to {}",
                fitted.set, fitted.fitted_to
            );
        }
    }
    if let Some(seeds) = &study.seeds {
        let _ = writeln!(
            text,
            "  seeds: the first {} of 1 to {} (--quick: {}), {}",
            seeds.runs, seeds.looked_at, seeds.quick_runs, seeds.because
        );
    }
    for set in &study.quick_set {
        let _ = writeln!(text, "  --quick: with {set}");
    }
    text
}

/// A change of the scenario, without the end of one that lists whole jobs.
fn clipped(set: &str) -> String {
    match set.char_indices().nth(CHANGE_CHARS) {
        Some((end, _)) => format!("{} …", &set[..end]),
        None => set.to_owned(),
    }
}

/// A study's comparison: what is judged with verdicts, what is shown beside it, a conclusion.
pub(crate) fn answer(study: &Study, answer: &StudyAnswer, extent: Extent, wall_s: f64) -> String {
    if !study.has(extent) {
        return format!(
            "{}: {}\nnot run: it has no quick form\n\n",
            study.name, study.title
        );
    }
    let tables = match &study.comparison {
        Comparison::Sizes(sizes) => by_sizes(study, sizes, answer, extent),
        Comparison::Readings(rows) if rows.iter().all(|row| row.shown.len() == 1) => {
            one_by_one(answer).to_string()
        }
        Comparison::Readings(rows) => {
            by_readings(study, rows, answer, extent) + &distributions(answer)
        }
    };
    let pauses = match answer.pauses.as_slice() {
        [] => String::new(),
        of_variants => format!("{}\n", pauses(of_variants)),
    };
    format!(
        "{}: {}\n{}\n{}\n{tables}\n{pauses}{}{}\ndigest {}, {} of wall time\n\n",
        study.name,
        study.title,
        study.source,
        variants(study),
        noted(&answer.noted(), answer.variants.len()),
        conclusion(study, answer, extent),
        answer.digest,
        duration_s(wall_s)
    )
}

/// Lists the notes on the trials behind the tables, a line for each.
pub(crate) fn noted(notes: &[Noted<'_>], variants: usize) -> String {
    let lines = notes.iter().map(|note| note.line(variants) + "\n");
    lines.collect()
}

/// Who was paused, and what that took.
fn pauses(of_variants: &[Pauses]) -> TextTable {
    let mut table = TextTable::new(vec![
        TextColumn::name("variant"),
        TextColumn::number("XOFF frames to a NIC", "least"),
        TextColumn::number("", "mean"),
        TextColumn::number("", "most"),
        TextColumn::number("evenness", "Jain"),
        TextColumn::number("held in one switch", "MB"),
        TextColumn::name("switch"),
    ]);
    for of in of_variants {
        table.push(vec![
            of.variant.clone(),
            of.nic_xoff_min_frames.to_string(),
            format!("{:.1}", of.nic_xoff_mean_frames),
            of.nic_xoff_max_frames.to_string(),
            format!("{:.3}", of.nic_xoff_evenness),
            of.held(),
            of.switch.clone(),
        ]);
    }
    table
}

fn by_sizes(study: &Study, sizes: &Sizes, answer: &StudyAnswer, extent: Extent) -> String {
    let (judged, others): (Vec<usize>, Vec<usize>) = (0..sizes.metrics.len())
        .partition(|&metric| sizes.metrics[metric].name == sizes.judged.metric);
    let mut tables: Vec<String> = Vec::new();
    for metric in judged {
        tables.push(with_verdicts(study, sizes, answer, extent, metric).to_string());
    }
    if !others.is_empty() {
        tables.push(side_by_side(study, sizes, answer, extent, &others).to_string());
    }
    if !sizes.beside.is_empty() {
        tables.push(by_readings(study, &sizes.beside, answer, extent));
    }
    tables.join("\n")
}

/// Each answer on a line of its own, where no row is shown for several variants.
fn one_by_one(answer: &StudyAnswer) -> TextTable {
    let mut columns = ["case", "", "metric"].map(TextColumn::name).to_vec();
    let numbers = ["published", "measured", "least", "most", "seeds", "band"];
    columns.extend(numbers.map(|name| TextColumn::number(name, "")));
    columns.extend(["gate", "verdict"].map(TextColumn::name));
    let mut table = TextTable::new(columns);
    for row in &answer.cases {
        let exact = |number: f64| value(Some(&Value::Number(number)));
        let of_spread =
            |text: &dyn Fn(&Spread) -> String| row.spread.as_ref().map_or_else(dash, text);
        table.push(vec![
            row.case.clone(),
            row.bar.clone().unwrap_or_else(|| row.variant.clone()),
            row.metric.clone(),
            value(row.published.as_ref()),
            value(row.measured.as_ref()),
            of_spread(&|spread| exact(spread.least)),
            of_spread(&|spread| exact(spread.greatest)),
            of_spread(&|spread| spread.values.to_string()),
            band(row.band),
            row.gate.words(row.origin),
            verdict(row),
        ]);
    }
    table
}

/// Each row with what was read in each variant that is shown, the judged one first; rows and
/// variants of which a quick run has nothing are only counted.
fn by_readings(study: &Study, rows: &[ReadingRow], answer: &StudyAnswer, extent: Extent) -> String {
    let variants: Vec<&Variant> = study
        .kept_variants()
        .filter(|variant| variant.is_run(extent))
        .collect();
    let mut columns = ["case", "metric"].map(TextColumn::name).to_vec();
    columns.push(TextColumn::number("published", ""));
    let of_variants = variants.iter();
    columns.extend(of_variants.map(|variant| TextColumn::number(&variant.name, "")));
    columns.push(TextColumn::number("band", ""));
    columns.extend(["judged", "gate", "verdict"].map(TextColumn::name));
    let mut table = TextTable::new(columns);
    let mut not_run = 0_u32;
    for row in rows {
        let same = |found: &&CaseAnswer| {
            (&found.case, &found.bar, &found.metric) == (&row.case, &row.bar, &row.metric)
        };
        let found: Vec<&CaseAnswer> = answer.cases.iter().filter(same).collect();
        let runs = |name: &str| variants.iter().any(|variant| variant.name == name);
        let is_run = runs(&row.variant) || row.shown.iter().any(|name| runs(name));
        if !is_run && found.iter().all(|found| found.measured.is_none()) {
            not_run += 1;
            continue;
        }
        let of = |name: &str| found.iter().find(|found| found.variant == name);
        let mut cells = vec![
            named(&row.case, row.bar.as_deref()),
            row.metric.clone(),
            value(row.published.as_ref()),
        ];
        cells.extend(variants.iter().map(|variant| {
            of(&variant.name).map_or_else(dash, |found| value(found.measured.as_ref()))
        }));
        cells.push(band(row.band));
        cells.push(row.variant.clone());
        cells.push(row.gate.words(row.origin));
        cells.push(of(&row.variant).map_or_else(dash, |row| verdict(row)));
        table.push(cells);
    }
    match not_run {
        0 => table.to_string(),
        1 => format!("{table}1 row is not shown: its variant was not run\n"),
        _ => format!("{table}{not_run} rows are not shown: their variants were not run\n"),
    }
}

/// What is behind the medians that are of unequal values.
fn distributions(answer: &StudyAnswer) -> String {
    let mut text = String::new();
    for row in &answer.cases {
        let Some((_, values)) = row.statistic.as_ref().and_then(|of| of.split_once(": ")) else {
            continue;
        };
        let _ = writeln!(
            text,
            "  {}, {}, {}: {values}",
            named(&row.case, row.bar.as_deref()),
            row.metric,
            row.variant
        );
    }
    text
}

/// A case and which of its things is meant.
fn named(case: &str, bar: Option<&str>) -> String {
    bar.map_or_else(|| case.to_owned(), |bar| format!("{case}, {bar}"))
}

/// A value as it is: whole numbers without decimals.
fn value(value: Option<&Value>) -> String {
    match value {
        None => dash(),
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Number(number)) if number.fract() == 0.0 => format!("{number:.0}"),
        Some(Value::Number(number)) => format!("{number:.3}"),
    }
}

/// The judged metric: each variant with its deviation, then band, gate and verdict.
fn with_verdicts(
    study: &Study,
    sizes: &Sizes,
    answer: &StudyAnswer,
    extent: Extent,
    metric: usize,
) -> TextTable {
    let decimals = decimals(sizes, metric);
    let (name, unit) = name_and_unit(&sizes.metrics[metric].name);
    let mut columns = vec![
        TextColumn::number("size", ""),
        TextColumn::number(&name, &format!("published {unit}")),
    ];
    for variant in study.kept_variants() {
        columns.push(TextColumn::number(&variant.name, unit));
        columns.push(TextColumn::number("off by", "%"));
    }
    columns.push(TextColumn::number("band", unit));
    columns.extend(["gate", "verdict"].map(TextColumn::name));
    let mut table = TextTable::new(columns);
    for case in sizes.cases(extent == Extent::Quick) {
        let rows = rows_of(sizes, answer, case, metric);
        let published = number(case.published[metric], decimals);
        let mut cells = vec![binary_size(case.size.count()), published];
        for row in &rows {
            cells.push(number(measured(row), decimals + 1));
            cells.push(
                row.deviation_percent()
                    .map_or_else(dash, |percent| format!("{percent:+.1}")),
            );
        }
        let gated = rows.iter().find(|row| row.variant == sizes.judged.variant);
        cells.push(gated.map_or_else(dash, |row| band(row.band)));
        cells.push(gated.map_or_else(dash, |row| row.gate.words(row.origin)));
        cells.push(gated.map_or_else(dash, |row| verdict(row)));
        table.push(cells);
    }
    table
}

/// Metrics that are shown for information: published, then each variant.
fn side_by_side(
    study: &Study,
    sizes: &Sizes,
    answer: &StudyAnswer,
    extent: Extent,
    metrics: &[usize],
) -> TextTable {
    let mut columns = vec![TextColumn::number("size", "")];
    for &metric in metrics {
        let (name, unit) = name_and_unit(&sizes.metrics[metric].name);
        columns.push(TextColumn::number(&format!("{name} {unit}"), "published"));
        for variant in study.kept_variants() {
            columns.push(TextColumn::number("", &variant.name));
        }
    }
    let mut table = TextTable::new(columns);
    for case in sizes.cases(extent == Extent::Quick) {
        let mut cells = vec![binary_size(case.size.count())];
        for &metric in metrics {
            let decimals = decimals(sizes, metric);
            cells.push(number(case.published[metric], decimals));
            let rows = rows_of(sizes, answer, case, metric).into_iter();
            cells.extend(rows.map(|row| number(measured(row), decimals + 1)));
        }
        table.push(cells);
    }
    table
}

fn conclusion(study: &Study, answer: &StudyAnswer, extent: Extent) -> String {
    let required = answer.tally(Gate::Required);
    let mut text = format!(
        "{} of {} required rows match",
        required.matches, required.rows
    );
    let misses: Vec<String> = answer
        .cases
        .iter()
        .filter(|row| row.gate == Gate::Required && row.verdict == Verdict::Miss)
        .map(|row| named(&row.case, row.bar.as_deref()))
        .collect();
    if !misses.is_empty() {
        let _ = write!(text, " (missed: {})", misses.join("; "));
    }
    let open = answer.tally(Gate::Open);
    if open.rows > 0 {
        let _ = write!(text, "; open: {} of {} match", open.matches, open.rows);
    }
    let not_judged = answer.not_judged();
    if not_judged > 0 {
        let _ = write!(text, "; not judged by the quick form: {not_judged}");
    }
    if !answer.left_out.is_empty() {
        let left_out = answer.left_out.join(", ");
        let _ = write!(text, "; not run (--variant): {left_out}");
    }
    let Comparison::Sizes(sizes) = &study.comparison else {
        return text;
    };
    let run = || sizes.cases(extent == Extent::Quick);
    let shown = run().filter(|case| case.gate == Gate::Info).count();
    if shown > 0 {
        let _ = write!(text, "; {shown} for information only");
    }
    let left_out = sizes.cases.len() - run().count();
    if left_out > 0 {
        let _ = write!(text, "; {left_out} larger cases not run (--quick)");
    }
    text
}

/// One line per row of the answers, with the names of the JSON and the deviation.
pub(crate) fn csv(answers: &Answers) -> String {
    let mut text = String::from(
        "study,case,bar,metric,variant,origin,published,measured,least,greatest,deviation_percent,band_low,band_high,gate,verdict\n",
    );
    let exact = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let plain = |value: Option<&Value>| match value {
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Text(text)) => text.clone(),
        None => String::new(),
    };
    for study in &answers.studies {
        for row in &study.cases {
            let fields = [
                study.study.clone(),
                row.case.clone(),
                row.bar.clone().unwrap_or_default(),
                row.metric.clone(),
                row.variant.clone(),
                row.origin.word().to_owned(),
                plain(row.published.as_ref()),
                plain(row.measured.as_ref()),
                exact(row.spread.map(|spread| spread.least)),
                exact(row.spread.map(|spread| spread.greatest)),
                exact(row.deviation_percent()),
                exact(row.band.map(|[low, _]| low)),
                exact(row.band.map(|[_, high]| high)),
                row.gate.word().to_owned(),
                row.verdict.word().to_owned(),
            ];
            let fields = fields.map(|field| csv_field(&field).into_owned());
            text.push_str(&fields.join(","));
            text.push('\n');
        }
    }
    text
}

/// The rows of a case and metric, one per variant in the study's order.
fn rows_of<'a>(
    sizes: &Sizes,
    answer: &'a StudyAnswer,
    case: &Case,
    metric: usize,
) -> Vec<&'a CaseAnswer> {
    let (case, metric) = (case.name(), &sizes.metrics[metric].name);
    let rows = answer.cases.iter();
    rows.filter(|row| row.case == case && row.metric == *metric)
        .collect()
}

/// `fct_p50_ms` as `FCT P50` and `ms`.
fn name_and_unit(metric: &str) -> (String, &str) {
    let (name, unit) = match metric.rsplit_once('_') {
        Some((name, "percent")) => (name, "%"),
        Some((name, unit @ ("ms" | "us" | "ns"))) => (name, unit),
        _ => (metric, ""),
    };
    let words = name.split('_').map(|word| match word {
        "fct" => word.to_uppercase(),
        _ => percentile(word).unwrap_or_else(|| word.to_owned()),
    });
    (words.collect::<Vec<_>>().join(" "), unit)
}

/// `p999` as `P99.9`.
fn percentile(word: &str) -> Option<String> {
    let digits = word.strip_prefix('p')?;
    digits.parse::<u32>().ok()?;
    Some(match digits.split_at_checked(2) {
        Some((whole, parts)) if !parts.is_empty() && digits != "100" => {
            format!("P{whole}.{parts}")
        }
        _ => format!("P{digits}"),
    })
}

/// The verdict; a miss that fails the study stands out.
fn verdict(row: &CaseAnswer) -> String {
    match (row.gate, row.verdict) {
        (_, Verdict::Info) => dash(),
        (Gate::Required, Verdict::Miss) => "MISS".to_owned(),
        (_, verdict) => verdict.word().to_owned(),
    }
}

fn band(band: Option<[f64; 2]>) -> String {
    band.map_or_else(dash, |band| band_text(band, |end| format!("{end:.4}")))
}

fn measured(row: &CaseAnswer) -> Option<f64> {
    row.measured.as_ref().and_then(Value::number)
}

fn dash() -> String {
    "-".to_owned()
}

/// Decimals of the published values of a metric, by its position.
fn decimals(sizes: &Sizes, metric: usize) -> usize {
    let values = sizes.cases.iter().filter_map(|case| case.published[metric]);
    values
        .map(|value| {
            value
                .to_string()
                .split_once('.')
                .map_or(0, |(_, d)| d.len())
        })
        .max()
        .unwrap_or(2)
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(dash, |value| format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_named_as_people_write_them() {
        let named = |metric| name_and_unit(metric).0;
        assert_eq!(named("flow_ideal_ratio_p999"), "flow ideal ratio P99.9");
        assert_eq!(named("fct_p9999_ms"), "FCT P99.99");
        assert_eq!(named("fct_p50_ms"), "FCT P50");
        assert_eq!(named("flow_ideal_ratio_p100"), "flow ideal ratio P100");
        assert_eq!(named("paused_ns"), "paused");
    }
}
