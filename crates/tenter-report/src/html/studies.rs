//! The report of studies: published values beside measured ones, as drawings and as tables.

use tenter_study::{
    Answers, CaseAnswer, Chart, Gate, Noted, Origin, Pauses, StudyAnswer, Tally, Value, Verdict,
};

use super::bar_chart::{Bar, BarChart, Group};
use super::overview::tile;
use super::page::{Head, page};
use super::text::{add, count, escape, number};
use super::together;
use crate::drawings::Drawn;
use crate::numbers::{band_text, has_lower_end};

/// The title of a chart for a study that has none of its own.
const AGAINST_PUBLISHED: &str = "Measured over published";

/// The report of these studies as the text of an HTML file.
///
/// `drawings` has those of each study, in the same order.
pub fn html_study_report(answers: &Answers, drawings: &[Vec<Drawn>]) -> String {
    let title = match answers.studies.as_slice() {
        [one] => heading(&one.title),
        studies => format!("{} studies", studies.len()),
    };
    let head = Head {
        title: &title,
        remark: "Whiskers reach from the least to the greatest value over the seeds. Published values and bands are those of the tables of the study, which are not edited to fit.",
    };
    page(&head, |page| {
        if answers.studies.len() > 1 {
            contents(&title, answers, page);
        }
        for (number, study) in answers.studies.iter().enumerate() {
            let drawings = drawings.get(number).map_or(&[][..], Vec::as_slice);
            article(number, study, drawings, page);
        }
    })
}

/// The head of a report of several studies: all verdicts in one table.
fn contents(title: &str, answers: &Answers, page: &mut String) {
    add(
        page,
        format_args!(
            "<header class=\"top\"><p class=\"brand\">Tenter report</p><h1>{}</h1></header><section id=\"verdicts\"><h2>Verdicts</h2><div class=\"scroll\"><table><thead><tr><th>study</th><th>comparison</th><th class=\"n\">required rows</th><th class=\"n\">open rows</th><th class=\"n\">for information</th><th>outcome</th></tr></thead><tbody>",
            escape(title)
        ),
    );
    for (number, study) in answers.studies.iter().enumerate() {
        let tally = |gate| tally_text(study.tally(gate));
        add(
            page,
            format_args!(
                "<tr><td><a href=\"#study{number}\">{}</a></td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
                escape(&study.study),
                escape(&study.title),
                tally(Gate::Required),
                tally(Gate::Open),
                count(study.tally(Gate::Info).rows as u64),
                state(study)
            ),
        );
    }
    page.push_str("</tbody></table></div></section>\n");
}

fn tally_text(tally: Tally) -> String {
    if tally.rows == 0 {
        "–".to_owned()
    } else {
        format!("{} of {}", tally.matches, tally.rows)
    }
}

/// A title as it stands above a page: with a capital letter.
fn heading(title: &str) -> String {
    let mut letters = title.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// The outcome of a study, in words and colour.
pub(super) fn state(study: &StudyAnswer) -> String {
    let required = study.tally(Gate::Required);
    let (class, text) = if study.cases.is_empty() && study.left_out.is_empty() {
        ("verdict info", "not run: no quick form".to_owned())
    } else if required.matches < required.rows {
        let missed = required.rows - required.matches;
        ("state bad", format!("{missed} required missed"))
    } else if required.rows > 0 {
        ("state good", "holds".to_owned())
    } else if study.not_judged() > 0 {
        let why = if study.quick { ": quick form" } else { "" };
        ("verdict info", format!("not judged{why}"))
    } else {
        ("verdict info", "nothing required".to_owned())
    };
    let left_out = match study.left_out.join(", ") {
        names if names.is_empty() => String::new(),
        names => format!("; left out: {}", escape(&names)),
    };
    format!("<span class=\"{class}\">{text}{left_out}</span>")
}

fn article(id: usize, study: &StudyAnswer, drawings: &[Drawn], page: &mut String) {
    let form = if study.quick {
        "quick form"
    } else {
        "full form"
    };
    add(
        page,
        format_args!(
            "<article id=\"study{id}\"><header class=\"top\"><p class=\"brand\">Study {}</p><h1>{}</h1><p>{} <span class=\"folder\">{form}, digest {}</span></p><p class=\"lead\">Source: {}</p></header>\n",
            escape(&study.study),
            escape(&heading(&study.title)),
            state(study),
            escape(&study.digest),
            escape(&study.source)
        ),
    );
    if !study.cases.is_empty() {
        noted(&study.noted(), study.variants.len(), page);
        tiles(study, page);
        charts(id, study, page);
        drawn(id, drawings, page);
        rows(id, study, page);
        pauses(&study.pauses, page);
        variants(study, page);
    }
    page.push_str("</article>\n");
}

fn tiles(study: &StudyAnswer, page: &mut String) {
    page.push_str("<dl class=\"tiles\">");
    let gates = [
        (
            Gate::Required,
            "Required rows that match",
            "a miss fails the study",
        ),
        (Gate::Open, "Open rows that match", "a miss is only shown"),
    ];
    for (gate, name, about) in gates {
        tile(name, &tally_text(study.tally(gate)), about, page);
    }
    let trials: usize = study.variants.iter().map(|variant| variant.trials).sum();
    let seeds = study.variants.iter().map(|variant| variant.trials).max();
    let about = format!(
        "{} variants, {} at most of each",
        study.variants.len(),
        seeds.unwrap_or(0)
    );
    tile("Trials", &count(trials as u64), &about, page);
    let misses = study
        .cases
        .iter()
        .filter(|row| row.verdict == Verdict::Miss);
    let names: Vec<String> = misses.map(name_of).collect();
    let not_judged = study.not_judged();
    let about = if !names.is_empty() {
        names.join("; ")
    } else if not_judged > 0 {
        format!("{not_judged} rows are not judged by the quick form")
    } else {
        "every judged row is inside its band".to_owned()
    };
    tile("Misses", &count(names.len() as u64), &about, page);
    page.push_str("</dl>\n");
}

fn name_of(row: &CaseAnswer) -> String {
    format!("{}, {}", row.case, series_of(row))
}

/// The name of the bar of a row.
fn series_of(row: &CaseAnswer) -> &str {
    row.bar.as_deref().unwrap_or(&row.variant)
}

/// The drawings that the study asks for, or one of the judged rows.
fn charts(id: usize, study: &StudyAnswer, page: &mut String) {
    let mut drawn: Vec<(&Chart, Vec<CaseAnswer>)> = Vec::new();
    let fallback = Chart {
        title: AGAINST_PUBLISHED.to_owned(),
        metrics: Vec::new(),
        bars: Vec::new(),
        axis: "measured, % of published".to_owned(),
    };
    for chart in &study.charts {
        let wanted = |name: &str| chart.bars.is_empty() || chart.bars.iter().any(|bar| bar == name);
        let shown =
            |row: &&CaseAnswer| chart.metrics.contains(&row.metric) && wanted(series_of(row));
        drawn.push((chart, study.cases.iter().filter(shown).cloned().collect()));
    }
    if study.charts.is_empty() {
        drawn.push((&fallback, against_published(&study.cases)));
    }
    drawn.retain(|(_, rows)| rows.iter().any(|row| measured(row).is_some()));
    if drawn.is_empty() {
        return;
    }
    let mut series: Vec<String> = Vec::new();
    for row in drawn.iter().flat_map(|(_, rows)| rows) {
        if !series.iter().any(|known| known == series_of(row)) {
            series.push(series_of(row).to_owned());
        }
    }
    add(
        page,
        format_args!("<section id=\"charts{id}\"><h2>Results</h2>"),
    );
    for (chart, rows) in drawn {
        add(page, format_args!("<h3>{}</h3>", escape(&chart.title)));
        let chart = BarChart {
            title: &chart.title,
            axis: &chart.axis,
            series: &series,
            groups: groups(&rows, &series),
        };
        chart.draw(page);
    }
    page.push_str("</section>\n");
}

/// The records of single trials, as far as the study asks for them.
fn drawn(id: usize, drawings: &[Drawn], page: &mut String) {
    if drawings.is_empty() {
        return;
    }
    add(
        page,
        format_args!("<section id=\"recorded{id}\"><h2>What the trials recorded</h2>"),
    );
    for drawing in drawings {
        together::drawn(drawing, page);
    }
    page.push_str("</section>\n");
}

/// The judged rows with a published number, and the measurements of other variants, in percent of
/// the published value.
fn against_published(cases: &[CaseAnswer]) -> Vec<CaseAnswer> {
    let judged = |row: &CaseAnswer| {
        let same = |other: &&CaseAnswer| (&other.case, &other.metric) == (&row.case, &row.metric);
        let mut others = cases.iter().filter(same);
        others.any(|other| other.gate != Gate::Info)
    };
    let in_percent = |row: &CaseAnswer| {
        let published = row
            .published
            .as_ref()?
            .number()
            .filter(|value| *value > 0.0)?;
        let percent = |value: f64| 100.0 * value / published;
        let mut row = row.clone();
        row.measured = measured(&row).map(|value| Value::Number(percent(value)));
        row.published = Some(Value::Number(100.0));
        row.band = row.band.map(|band| band.map(percent));
        if let Some(spread) = &mut row.spread {
            spread.least = percent(spread.least);
            spread.greatest = percent(spread.greatest);
        }
        Some(row)
    };
    let rows = cases.iter().filter(|row| judged(row));
    rows.filter_map(in_percent).collect()
}

fn measured(row: &CaseAnswer) -> Option<f64> {
    row.measured.as_ref().and_then(Value::number)
}

/// A group for each case, in the order of first appearance.
fn groups(rows: &[CaseAnswer], series: &[String]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for row in rows {
        let place = groups.iter().position(|group| group.name == row.case);
        let place = place.unwrap_or_else(|| {
            groups.push(Group {
                name: row.case.clone(),
                bars: Vec::new(),
            });
            groups.len() - 1
        });
        let own = series.iter().position(|name| name == series_of(row));
        groups[place].bars.push(Bar {
            series: own.unwrap_or(0),
            value: measured(row),
            spread: row.spread.map(|spread| (spread.least, spread.greatest)),
            seeds: Vec::new(),
            published: row.published.as_ref().and_then(Value::number),
            // An axis that reached an open end would show nothing else.
            band: row.band.filter(|&band| has_lower_end(band)),
            text: bar_text(row),
        });
    }
    groups
}

/// The text of a bar under the pointer.
fn bar_text(row: &CaseAnswer) -> String {
    let mut text = format!("{}\n{}", name_of(row), row.metric);
    let value = measured(row).map_or_else(|| "not measured".to_owned(), |value| number(value, 4));
    add(&mut text, format_args!("\nmeasured {value}"));
    if let Some(spread) = &row.spread {
        add(
            &mut text,
            format_args!(
                ", {} to {} over {} seeds",
                number(spread.least, 4),
                number(spread.greatest, 4),
                spread.values
            ),
        );
    }
    if let Some(published) = &row.published {
        let whose = match row.origin {
            Origin::Published => "published",
            Origin::Own => "published or expected",
        };
        add(
            &mut text,
            format_args!("\n{whose} {}", value_text(published)),
        );
    }
    if let Some(band) = row.band {
        let band = band_text(band, |end| number(end, 5));
        add(
            &mut text,
            format_args!("\nband {band}: {}", row.verdict.word()),
        );
    }
    text
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Number(value) => number(*value, 4),
        Value::Text(text) => text.clone(),
    }
}

/// The part of a sweep's answer that has bands or published values, if there is any.
pub(super) fn published(answer: &StudyAnswer) -> Option<StudyAnswer> {
    let cases = answer.cases.iter();
    let cases = cases.filter(|row| row.gate != Gate::Info || row.published.is_some());
    let cases: Vec<CaseAnswer> = cases.cloned().collect();
    (!cases.is_empty()).then(|| StudyAnswer {
        cases,
        ..StudyAnswer::default()
    })
}

/// The judged rows, and behind a click the others.
pub(super) fn rows(id: usize, study: &StudyAnswer, page: &mut String) {
    let (judged, shown): (Vec<&CaseAnswer>, Vec<&CaseAnswer>) =
        study.cases.iter().partition(|row| row.gate != Gate::Info);
    add(
        page,
        format_args!("<section id=\"rows{id}\"><h2>Published and measured</h2>"),
    );
    if judged.is_empty() {
        page.push_str("<p class=\"empty\">No row is judged.</p>");
    } else {
        table(&judged, page);
    }
    if !shown.is_empty() {
        add(
            page,
            format_args!(
                "<details><summary>{} rows for information</summary>",
                count(shown.len() as u64)
            ),
        );
        table(&shown, page);
        page.push_str("</details>");
    }
    page.push_str("</section>\n");
}

fn table(rows: &[&CaseAnswer], page: &mut String) {
    page.push_str("<div class=\"scroll\"><table><thead><tr><th>case</th><th></th><th>metric</th><th class=\"n\">published</th><th class=\"n\">measured</th><th class=\"n\">least to greatest</th><th>of</th><th class=\"n\">band</th><th>gate</th><th>verdict</th></tr></thead><tbody>");
    for row in rows {
        let text = |value: &Option<Value>| value.as_ref().map(value_text).unwrap_or_default();
        let spread = row.spread.map(|spread| {
            let (least, greatest) = (number(spread.least, 4), number(spread.greatest, 4));
            format!("{least} – {greatest}")
        });
        let of = row.statistic.as_deref().unwrap_or("one trial");
        let of = of.split(": ").next().unwrap_or(of);
        let band = row.band.map(|band| band_text(band, |end| number(end, 5)));
        let gate = row.gate.words(row.origin);
        let (class, verdict) = match row.verdict {
            Verdict::Match => ("match", "✓ match"),
            Verdict::Miss => ("miss", "✗ miss"),
            Verdict::Info => ("info", "info"),
            Verdict::NotJudged => ("info", "not judged"),
        };
        add(
            page,
            format_args!(
                "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td><td>{gate}</td><td><span class=\"verdict {class}\">{verdict}</span></td></tr>",
                escape(&row.case),
                escape(series_of(row)),
                escape(&row.metric),
                escape(&text(&row.published)),
                escape(&text(&row.measured)),
                spread.unwrap_or_default(),
                escape(of),
                band.unwrap_or_default()
            ),
        );
    }
    page.push_str("</tbody></table></div>");
}

/// The paused NICs in each variant.
fn pauses(of_variants: &[Pauses], page: &mut String) {
    if of_variants.is_empty() {
        return;
    }
    page.push_str("<section><details><summary>Pauses of NICs, by variant</summary><div class=\"scroll\"><table><thead><tr><th>variant</th><th class=\"n\">least XOFF<br>frames to a NIC</th><th class=\"n\">mean</th><th class=\"n\">most</th><th class=\"n\">evenness<br>(Jain)</th><th class=\"n\">held in one<br>switch, MB</th><th>switch</th></tr></thead><tbody>");
    for of in of_variants {
        add(
            page,
            format_args!(
                "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.3}</td><td class=\"n\">{}</td><td>{}</td></tr>",
                escape(&of.variant),
                count(of.nic_xoff_min_frames),
                number(of.nic_xoff_mean_frames, 4),
                count(of.nic_xoff_max_frames),
                of.nic_xoff_evenness,
                of.held(),
                escape(&of.switch)
            ),
        );
    }
    page.push_str("</tbody></table></div></details></section>\n");
}

/// The variants that were run.
/// What a reader of the numbers must know, of all variants together.
pub(super) fn noted(notes: &[Noted<'_>], variants: usize, page: &mut String) {
    if notes.is_empty() {
        return;
    }
    page.push_str("<aside class=\"warnings\"><h3>Read this before the numbers</h3><ul>");
    for note in notes {
        add(
            page,
            format_args!("<li>{}</li>", escape(&note.line(variants))),
        );
    }
    page.push_str("</ul></aside>\n");
}

fn variants(study: &StudyAnswer, page: &mut String) {
    page.push_str("<section><details><summary>What was run</summary><div class=\"scroll\"><table><thead><tr><th>variant</th><th>meaning</th><th class=\"n\">trials</th></tr></thead><tbody>");
    for variant in &study.variants {
        add(
            page,
            format_args!(
                "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td></tr>",
                escape(&variant.name),
                escape(&variant.about),
                variant.trials
            ),
        );
    }
    page.push_str("</tbody></table></div></details></section>\n");
}
