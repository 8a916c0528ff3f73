//! Studies as text: published and measured values side by side.

use std::fmt::Write as _;

use tenter_report::{TextColumn, TextTable, binary_size, duration_s};
use tenter_study::{Answers, Case, CaseAnswer, Extent, Gate, Study, StudyAnswer, Verdict};

/// Names, titles and sources of the studies.
pub(crate) fn list(studies: &[Study]) -> String {
    let columns = ["study", "what it compares", "source"].map(TextColumn::name);
    let mut table = TextTable::new(columns.to_vec());
    for study in studies {
        table.push(vec![
            study.name.clone(),
            study.title.clone(),
            study.source.clone(),
        ]);
    }
    format!(
        "{table}\n\
         tenter study show NAME          what the source says and what is assumed\n\
         tenter study run NAME… --quick  the smaller cases, in seconds\n"
    )
}

/// The page of a study, its variants and its published rows.
pub(crate) fn show(study: &Study) -> String {
    let mut columns = vec![TextColumn::number("size", "")];
    for metric in &study.metrics {
        let (name, unit) = name_and_unit(&metric.name);
        columns.push(TextColumn::number(&name, unit));
    }
    columns.push(TextColumn::number("band", ""));
    columns.extend(["gate", "reason"].map(TextColumn::name));
    let mut table = TextTable::new(columns);
    for case in &study.cases {
        let mut row = vec![binary_size(case.size.count())];
        let published = case.published.iter().enumerate();
        row.extend(published.map(|(metric, value)| number(*value, decimals(study, metric))));
        row.push(band(case.band));
        row.push(gate(case.gate).to_owned());
        row.push(case.reason.clone());
        table.push(row);
    }
    format!(
        "{}\n\n## What is run\n\n{}\n## Published rows\n\nThe band is that of {}, variant {}.\n\n{table}",
        study.readme.trim_end(),
        variants(study),
        study.judged.metric,
        study.judged.variant
    )
}

fn variants(study: &Study) -> String {
    let mut text = String::new();
    for variant in &study.variants {
        let _ = writeln!(text, "  {}: {}", variant.name, variant.about);
        for fitted in &variant.calibrations {
            let _ = writeln!(
                text,
                "    calibration {}, fitted to {}",
                fitted.set, fitted.fitted_to
            );
        }
    }
    text
}

/// A study's comparison: the judged metric with verdicts, the other metrics, a conclusion.
pub(crate) fn answer(study: &Study, answer: &StudyAnswer, extent: Extent, wall_s: f64) -> String {
    let (judged, others): (Vec<usize>, Vec<usize>) = (0..study.metrics.len())
        .partition(|&metric| study.metrics[metric].name == study.judged.metric);
    let mut text = format!(
        "{}: {}\n{}\n{}",
        study.name,
        study.title,
        study.source,
        variants(study),
    );
    for metric in judged {
        let _ = write!(text, "\n{}", with_verdicts(study, answer, extent, metric));
    }
    if !others.is_empty() {
        let _ = write!(text, "\n{}", side_by_side(study, answer, extent, &others));
    }
    let _ = writeln!(
        text,
        "\n{}\ndigest {}, {} of wall time\n",
        conclusion(study, answer, extent),
        answer.digest,
        duration_s(wall_s)
    );
    text
}

/// The judged metric: each variant with its deviation, then band, gate and verdict.
fn with_verdicts(study: &Study, answer: &StudyAnswer, extent: Extent, metric: usize) -> TextTable {
    let decimals = decimals(study, metric);
    let (name, unit) = name_and_unit(&study.metrics[metric].name);
    let mut columns = vec![
        TextColumn::number("size", ""),
        TextColumn::number(&name, &format!("published {unit}")),
    ];
    for variant in &study.variants {
        columns.push(TextColumn::number(&variant.name, unit));
        columns.push(TextColumn::number("off by", "%"));
    }
    columns.push(TextColumn::number("band", unit));
    columns.extend(["gate", "verdict"].map(TextColumn::name));
    let mut table = TextTable::new(columns);
    for case in study.cases(extent) {
        let rows = rows_of(study, answer, case, metric);
        let published = number(case.published[metric], decimals);
        let mut cells = vec![binary_size(case.size.count()), published];
        for row in &rows {
            cells.push(number(row.measured, decimals + 1));
            cells.push(
                row.deviation_percent()
                    .map_or_else(dash, |percent| format!("{percent:+.1}")),
            );
        }
        let gated = rows.iter().find(|row| row.variant == study.judged.variant);
        cells.push(gated.map_or_else(dash, |row| band(row.band)));
        cells.push(gated.map_or_else(dash, |row| gate(row.gate).to_owned()));
        cells.push(gated.map_or_else(dash, |row| verdict(row)));
        table.push(cells);
    }
    table
}

/// Metrics that are shown for information: published, then each variant.
fn side_by_side(
    study: &Study,
    answer: &StudyAnswer,
    extent: Extent,
    metrics: &[usize],
) -> TextTable {
    let mut columns = vec![TextColumn::number("size", "")];
    for &metric in metrics {
        let (name, unit) = name_and_unit(&study.metrics[metric].name);
        columns.push(TextColumn::number(&format!("{name} {unit}"), "published"));
        for variant in &study.variants {
            columns.push(TextColumn::number("", &variant.name));
        }
    }
    let mut table = TextTable::new(columns);
    for case in study.cases(extent) {
        let mut cells = vec![binary_size(case.size.count())];
        for &metric in metrics {
            let decimals = decimals(study, metric);
            cells.push(number(case.published[metric], decimals));
            let rows = rows_of(study, answer, case, metric).into_iter();
            cells.extend(rows.map(|row| number(row.measured, decimals + 1)));
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
    let misses: Vec<&str> = answer
        .cases
        .iter()
        .filter(|row| row.gate == Gate::Required && row.verdict == Verdict::Miss)
        .map(|row| row.case.as_str())
        .collect();
    if !misses.is_empty() {
        let _ = write!(text, " (missed: {})", misses.join(", "));
    }
    let open = answer.tally(Gate::Open);
    if open.rows > 0 {
        let _ = write!(text, "; open: {} of {} match", open.matches, open.rows);
    }
    let shown = study
        .cases(extent)
        .filter(|case| case.gate == Gate::Info)
        .count();
    if shown > 0 {
        let _ = write!(text, "; {shown} for information only");
    }
    let left_out = study.cases.len() - study.cases(extent).count();
    if left_out > 0 {
        let _ = write!(text, "; {left_out} larger cases not run (--quick)");
    }
    text
}

/// One line per row of the answers, with the names of the JSON and the deviation.
pub(crate) fn csv(answers: &Answers) -> String {
    let mut text = String::from(
        "study,case,metric,variant,published,measured,deviation_percent,band_low,band_high,gate,verdict\n",
    );
    let exact = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for study in &answers.studies {
        for row in &study.cases {
            let fields = [
                study.study.clone(),
                row.case.clone(),
                row.metric.clone(),
                row.variant.clone(),
                exact(row.published),
                exact(row.measured),
                exact(row.deviation_percent()),
                exact(row.band.map(|[low, _]| low)),
                exact(row.band.map(|[_, high]| high)),
                gate(row.gate).to_owned(),
                word(row.verdict).to_owned(),
            ];
            text.push_str(&fields.join(","));
            text.push('\n');
        }
    }
    text
}

/// The rows of a case and metric, one per variant in the study's order.
fn rows_of<'a>(
    study: &Study,
    answer: &'a StudyAnswer,
    case: &Case,
    metric: usize,
) -> Vec<&'a CaseAnswer> {
    let (case, metric) = (case.name(), &study.metrics[metric].name);
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
        "fct" | "p50" | "p95" | "p99" => word.to_uppercase(),
        _ => word.to_owned(),
    });
    (words.collect::<Vec<_>>().join(" "), unit)
}

fn gate(gate: Gate) -> &'static str {
    match gate {
        Gate::Required => "required",
        Gate::Open => "open",
        Gate::Info => "info",
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Match => "match",
        Verdict::Miss => "miss",
        Verdict::Info => "info",
    }
}

/// The verdict; a miss that fails the study stands out.
fn verdict(row: &CaseAnswer) -> String {
    match (row.gate, row.verdict) {
        (_, Verdict::Info) => dash(),
        (Gate::Required, Verdict::Miss) => "MISS".to_owned(),
        (_, verdict) => word(verdict).to_owned(),
    }
}

fn band(band: Option<[f64; 2]>) -> String {
    band.map_or_else(dash, |[low, high]| format!("{low:.4}–{high:.4}"))
}

fn dash() -> String {
    "-".to_owned()
}

/// Decimals of the published values of a metric, by its position in the study.
fn decimals(study: &Study, metric: usize) -> usize {
    let values = study.cases.iter().filter_map(|case| case.published[metric]);
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
