//! Studies as text: published and measured values side by side.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};
use tenter::report::{TextColumn, TextTable, band_text, csv_field, duration_s};
use tenter::studies::{
    Answers, CaseAnswer, Gate, Noted, Pauses, Spread, Study, StudyAnswer, Sweep, SweepCell,
    SweepRow, Value, Verdict,
};

use crate::command::text::wrap;

/// Most characters that are shown from one setting.
const CHANGE_CHARS: usize = 120;

/// Text width in a listing: 80 columns less the margin.
const LIST_WIDTH: usize = 76;

/// Lists each study's name, title and source.
pub(crate) fn list<'s>(studies: impl Iterator<Item = &'s Study>) -> String {
    let mut text = String::new();
    for study in studies {
        let keys = &study.sweep.keys;
        let _ = writeln!(text, "{}", keys.name);
        let about = format!("{}. {}", keys.title, keys.source);
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

/// Describes a study as JSON, without its page.
pub(crate) fn document(study: &Study) -> Json {
    let sweep = &study.sweep;
    let variant = |cell: &SweepCell| json!({"name": cell.name, "about": cell.about});
    json!({
        "study": sweep.keys.name,
        "title": sweep.keys.title,
        "source": sweep.keys.source,
        "quick": sweep.has_quick(),
        "variants": sweep.cells().iter().map(variant).collect::<Vec<_>>(),
    })
}

/// Returns a study's page, followed by its variants and its published rows.
pub(crate) fn show(study: &Study) -> String {
    format!(
        "{}\n\n## What is run\n\n{}\n## Published rows\n\n{}",
        study.readme.trim_end(),
        variants(&study.sweep),
        published(&study.sweep),
    )
}

/// Makes a table of the rows with their bands, gates and reasons.
fn published(sweep: &Sweep) -> TextTable {
    let mut columns = ["case", "metric"].map(TextColumn::name).to_vec();
    columns.push(TextColumn::number("published", ""));
    columns.push(TextColumn::number("band", ""));
    columns.extend(["judged", "gate", "reason"].map(TextColumn::name));
    let mut table = TextTable::new(columns);
    for row in sweep.rows() {
        table.push(vec![
            named(&row.case, row.bar.as_deref()),
            row.metric.clone(),
            value(row.published.as_ref()),
            band(row.band),
            judged(sweep, row),
            row.gate.words(row.origin),
            row.reason.clone(),
        ]);
    }
    table
}

/// Returns the name of the cell that a row judges, or a dash.
fn judged(sweep: &Sweep, row: &SweepRow) -> String {
    let cell = row.judged.map(|place| &sweep.cells()[place]);
    cell.map_or_else(dash, |cell| cell.name.clone())
}

/// Returns true if `part` stands in `text` between blanks, commas and its ends.
fn has_part(text: &str, part: &str) -> bool {
    let is_end = |c: char| c == ' ' || c == ',';
    text.match_indices(part).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + part.len()..]);
        (before.is_empty() || before.ends_with(is_end))
            && (behind.is_empty() || behind.starts_with(is_end))
    })
}

/// Lists the settings that all trials have, then each cell with its own settings and calibrations,
/// then the choice of seeds.
fn variants(sweep: &Sweep) -> String {
    let of_all = sweep.settings_of_all();
    let mut text = String::new();
    for set in &of_all {
        let _ = writeln!(text, "  all: with {}", clipped(set));
    }
    let is_kept = |cell: &&SweepCell| !sweep.left_out.contains(&cell.name);
    for cell in sweep.cells().iter().filter(is_kept) {
        let about = Some(cell.about.as_str()).filter(|about| !about.is_empty());
        let about = about.map_or_else(String::new, |about| format!(": {about}"));
        let _ = writeln!(text, "  {}{about}", cell.name);
        let is_fitted = |set: &String| cell.fitted.iter().any(|(of, _)| of == set);
        let own = cell.settings.iter();
        // Settings that all cells have stand above; fitted ones follow as calibrations. A variant
        // that is not described is described by its settings.
        let is_told = |set: &String| of_all.contains(set) || has_part(&cell.about, set);
        for set in own.filter(|set| !is_fitted(set) && !is_told(set)) {
            let _ = writeln!(text, "    with {}", clipped(set));
        }
        for (set, rows) in &cell.fitted {
            let _ = writeln!(text, "    calibration {set}, fitted to {rows}");
        }
    }
    if let Some(seeds) = sweep.chosen_seeds() {
        let _ = writeln!(
            text,
            "  seeds: the first {} of 1 to {} (--quick: {}), {}",
            seeds.runs,
            seeds.candidates().end(),
            seeds.quick_runs.unwrap_or(seeds.runs),
            seeds.because
        );
    }
    // In the quick form its settings already stand among those of all trials.
    let quick = sweep.keys.quick.as_ref().filter(|_| !sweep.is_quick);
    for (path, value) in quick.iter().flat_map(|quick| &quick.set.0) {
        let _ = writeln!(text, "  --quick: with {path}={value}");
    }
    text
}

/// Shortens a setting, because one may list whole jobs.
fn clipped(set: &str) -> String {
    match set.char_indices().nth(CHANGE_CHARS) {
        Some((end, _)) => format!("{} …", &set[..end]),
        None => set.to_owned(),
    }
}

/// Formats a study's answer: header, variants, tables, notes and a conclusion. `wall_s` is the
/// run's wall time in seconds.
pub(crate) fn answer(sweep: &Sweep, answer: &StudyAnswer, wall_s: f64) -> String {
    let (name, title) = (&sweep.keys.name, &sweep.keys.title);
    if sweep.rows().is_empty() {
        return format!("{name}: {title}\nnot run: it has no quick form\n\n");
    }
    // If each row is shown for one cell only, columns for cells would be almost empty.
    let tables = if sweep.rows().iter().all(|row| row.shown.len() == 1) {
        one_by_one(answer).to_string()
    } else {
        by_readings(sweep, answer) + &distributions(answer)
    };
    let pauses = match answer.pauses.as_slice() {
        [] => String::new(),
        of_variants => format!("{}\n", pauses(of_variants)),
    };
    format!(
        "{name}: {title}\n{}\n{}\n{tables}\n{pauses}{}{}\ndigest {}, {} of wall time\n\n",
        sweep.keys.source,
        variants(sweep),
        noted(&answer.noted(), answer.variants.len()),
        conclusion(answer),
        answer.digest,
        duration_s(wall_s),
    )
}

/// Formats notes with one line each; `variants` is the answer's variant count.
pub(crate) fn noted(notes: &[Noted<'_>], variants: usize) -> String {
    let lines = notes.iter().map(|note| note.line(variants) + "\n");
    lines.collect()
}

/// Makes a table with the NICs' PFC pauses and the buffer that switches needed.
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

/// Makes a table with one line for each answered row, for studies whose rows have one cell each.
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

/// Makes a table with one line for each row and one column for each cell. Rows for which no cell
/// was run are only counted, below the table.
fn by_readings(sweep: &Sweep, answer: &StudyAnswer) -> String {
    let run: Vec<usize> = (0..sweep.cells().len())
        .filter(|place| sweep.cells()[*place].is_run)
        .collect();
    let mut columns = ["case", "metric"].map(TextColumn::name).to_vec();
    columns.push(TextColumn::number("published", ""));
    let names = run.iter().map(|place| sweep.cells()[*place].name.as_str());
    columns.extend(names.map(|name| TextColumn::number(name, "")));
    columns.push(TextColumn::number("off by", "%"));
    columns.push(TextColumn::number("band", ""));
    columns.extend(["judged", "gate", "verdict"].map(TextColumn::name));
    let mut table = TextTable::new(columns);
    let mut not_run = 0_u32;
    let mut cases = answer.cases.iter().zip(sweep.shown_cells()).peekable();
    for (place, row) in sweep.rows().iter().enumerate() {
        // Two rows of a table may have one name, so a case is known by where it comes from.
        let next = || cases.next_if(|(_, (row, _))| *row == place);
        let found: Vec<(&CaseAnswer, usize)> = std::iter::from_fn(next)
            .map(|(case, (_, cell))| (case, cell))
            .collect();
        if found.is_empty() {
            not_run += 1;
            continue;
        }
        let of = |cell: usize| found.iter().find(|of| of.1 == cell).map(|of| of.0);
        let mut cells = vec![
            named(&row.case, row.bar.as_deref()),
            row.metric.clone(),
            value(row.published.as_ref()),
        ];
        let measured = |cell: &usize| of(*cell).map_or_else(dash, |of| value(of.measured.as_ref()));
        cells.extend(run.iter().map(measured));
        let one = row.judged.and_then(of);
        let off = one.and_then(CaseAnswer::deviation_percent);
        cells.push(off.map_or_else(dash, |percent| format!("{percent:+.1}")));
        cells.push(band(row.band));
        cells.push(judged(sweep, row));
        cells.push(row.gate.words(row.origin));
        cells.push(one.map_or_else(dash, verdict));
        table.push(cells);
    }
    match not_run {
        0 => table.to_string(),
        1 => format!("{table}1 row is not shown: its variant was not run\n"),
        _ => format!("{table}{not_run} rows are not shown: their variants were not run\n"),
    }
}

/// Lists count and range for the values behind each statistic over seeds.
fn distributions(answer: &StudyAnswer) -> String {
    let mut text = String::new();
    for row in &answer.cases {
        // The range follows the name of the statistic after a colon (`Spread::words`).
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

/// Joins a case and its bar to one name.
fn named(case: &str, bar: Option<&str>) -> String {
    bar.map_or_else(|| case.to_owned(), |bar| format!("{case}, {bar}"))
}

/// Formats a value with three decimals, or none if it is whole.
fn value(value: Option<&Value>) -> String {
    match value {
        None => dash(),
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Number(number)) if number.fract() == 0.0 => format!("{number:.0}"),
        Some(Value::Number(number)) => format!("{number:.3}"),
    }
}

/// Returns the last line: matches among required and open rows, misses by name, and rows that are
/// not judged or not run.
fn conclusion(answer: &StudyAnswer) -> String {
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
        let _ = write!(text, "; not judged by this form: {not_judged}");
    }
    if !answer.left_out.is_empty() {
        let left_out = answer.left_out.join(", ");
        let _ = write!(text, "; not run (--variant): {left_out}");
    }
    text
}

/// Writes all answers' rows as CSV, with the column names that JSON has, and the deviation.
pub(crate) fn csv(answers: &Answers) -> String {
    let mut text = String::from(
        "study,case,bar,metric,variant,origin,published,measured,least,greatest,deviation_percent,band_low,band_high,gate,verdict\n",
    );
    // Numbers have all their digits here: programs read them.
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

/// Formats a verdict; a miss that fails the study stands out in capitals.
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

fn dash() -> String {
    "-".to_owned()
}
