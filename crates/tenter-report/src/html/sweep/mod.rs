//! The report of sweeps and of folders of seeds: for each reading the best variant, pictures, and
//! the table behind each picture.

mod bars;
mod heat;
mod lines;
mod parallel;
mod tables;
#[cfg(test)]
mod tests;

use tenter_record::PairedRow;
use tenter_study::{StudyAnswer, SweepChart, SweepRecord};

use super::overview::tile;
use super::page::{Head, page};
use super::studies::{noted, published, rows, state};
use super::text::{add, count, escape};
use crate::paired_compare::{NamedRecord, paired_cells};
use crate::pairing::SIGNIFICANT;
use crate::sweep_numbers::Numbers;
use tables::{Column, table};

/// The report of these sweeps as the text of an HTML file; `paired` compares them, if there are
/// several, and `answers` has their rows, which may be published ones, in the same order.
pub fn html_sweep_report(
    records: &[NamedRecord],
    paired: &[PairedRow],
    answers: &[Option<StudyAnswer>],
) -> String {
    let title = match records {
        [one] => heading(one),
        _ => format!("{} sweeps", records.len()),
    };
    let head = Head {
        title: &title,
        remark: "Times are simulated. Whiskers reach from the least to the greatest value over the seeds. Confidence is paired by seed: the 95 % interval of the geometric mean of ratios by Student's t distribution, and the two-sided sign test.",
    };
    page(&head, |page| {
        if records.len() > 1 {
            contents(records, paired, page);
        }
        for (id, record) in records.iter().enumerate() {
            let answer = answers.get(id).and_then(Option::as_ref);
            article(id, record, answer.and_then(published).as_ref(), page);
        }
    })
}

fn heading(of: &NamedRecord) -> String {
    let record = &of.record;
    match record.description.as_str() {
        "" if record.name.is_empty() => of.name.clone(),
        "" => record.name.clone(),
        text => text.to_owned(),
    }
}

fn contents(records: &[NamedRecord], paired: &[PairedRow], page: &mut String) {
    add(
        page,
        format_args!(
            "<header class=\"top\"><p class=\"brand\">Tenter report</p><h1>{} sweeps</h1><ol class=\"contents\">",
            records.len()
        ),
    );
    for (id, record) in records.iter().enumerate() {
        add(
            page,
            format_args!(
                "<li><a href=\"#sweep{id}\">{}</a> <small>{}</small></li>",
                escape(&heading(record)),
                escape(&record.name)
            ),
        );
    }
    page.push_str("</ol></header>\n");
    if paired.is_empty() {
        return;
    }
    page.push_str("<section id=\"paired\"><h2>Side by side</h2><p class=\"lead\">What the sweeps have in common, seed by seed at equal settings; differences are against the first.</p>");
    for of_reading in paired.chunk_by(|a, b| a.reading == b.reading) {
        let (name, head, rows) = paired_cells(of_reading);
        add(page, format_args!("<h3>{}</h3>", escape(&name)));
        let columns: Vec<Column> = head
            .into_iter()
            .map(|of| Column::of(of.name, &of.unit, of.align == crate::Align::Right))
            .collect();
        table(&columns, &rows, page);
    }
    page.push_str("</section>\n");
}

/// The article of a sweep; `published` has its rows with bands or published values.
fn article(id: usize, of: &NamedRecord, published: Option<&StudyAnswer>, page: &mut String) {
    let record = &of.record;
    let scenario = match record.scenario.as_str() {
        "" => String::new(),
        name => format!("<p class=\"lead\">Scenario: {}</p>", escape(name)),
    };
    let digest = match record.digest.as_str() {
        "" => String::new(),
        digest => format!(", digest {}", escape(digest)),
    };
    let state = published.map(|rows| state(rows) + " ").unwrap_or_default();
    add(
        page,
        format_args!(
            "<article id=\"sweep{id}\"><header class=\"top\"><p class=\"brand\">Tenter report</p><h1>{}</h1><p>{state}<span class=\"folder\">{}{digest}</span></p>{scenario}<nav aria-label=\"Readings\">",
            escape(&heading(of)),
            escape(&of.name),
        ),
    );
    for (place, reading) in record.readings.iter().enumerate() {
        add(
            page,
            format_args!(
                "<a href=\"#reading{id}-{place}\">{}</a>",
                escape(&reading.name)
            ),
        );
    }
    page.push_str("</nav></header>\n");
    noted(&record.noted(), record.variants.len(), page);
    tiles(of, page);
    if let Some(answer) = published {
        rows(id, answer, page);
    }
    charts(id, record, page);
    for place in 0..record.readings.len() {
        let numbers = Numbers::of(record, place);
        reading(&format!("{id}-{place}"), &numbers, page);
    }
    page.push_str("</article>\n");
}

fn tiles(of: &NamedRecord, page: &mut String) {
    let record = &of.record;
    let mut seeds: Vec<u64> = record.trials.iter().map(|trial| trial.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let (least, most) = (seeds.first().copied(), seeds.last().copied());
    let range = format!("{} to {}", least.unwrap_or(0), most.unwrap_or(0));
    let axes: Vec<&str> = record.axes.iter().map(|axis| axis.name.as_str()).collect();
    let of_points = match axes.join(", ") {
        axes if axes.is_empty() => "nothing is varied".to_owned(),
        axes => axes,
    };
    page.push_str("<dl class=\"tiles\">");
    let show = |length: usize| count(length as u64);
    tile("Trials", &show(record.trials.len()), "that have run", page);
    tile("Points", &show(record.points.len()), &of_points, page);
    let names = record.variants.join(", ");
    tile("Variants", &show(record.variants.len()), &names, page);
    tile("Seeds", &show(seeds.len()), &range, page);
    page.push_str("</dl>\n");
}

fn reading(id: &str, numbers: &Numbers<'_>, page: &mut String) {
    let of = numbers.reading;
    // A reading of all rows does not mention rows.
    let what = of.of.trim_end_matches(" where {}");
    add(
        page,
        format_args!(
            "<section id=\"reading{id}\"><h2>{}</h2><p class=\"lead\">{}, {} of the seeds; {} is better.</p>",
            escape(&of.name),
            escape(what),
            escape(&of.statistic),
            if of.more_is_better { "more" } else { "less" }
        ),
    );
    if numbers.cells().all(|cell| cell.value.is_none()) {
        page.push_str("<p class=\"empty\">No trial has a value.</p></section>\n");
        return;
    }
    winners(numbers, page);
    if numbers.record.charts.is_empty() {
        bars::section(numbers, page);
        for axis in 0..numbers.record.axes.len() {
            lines::section(numbers, axis, page);
        }
        heat::section(numbers, 0, 1, page);
        parallel::section(numbers, page);
    } else {
        let (unit, factor) = numbers.unit();
        bars::table(numbers, &unit, factor, page);
    }
    page.push_str("</section>\n");
}

/// Adds the charts that the sweep names.
fn charts(id: usize, record: &SweepRecord, page: &mut String) {
    for (place, chart) in record.charts.iter().enumerate() {
        add(
            page,
            format_args!(
                "<section id=\"chart{id}-{place}\"><h2>{}</h2>",
                escape(&chart.title)
            ),
        );
        for &reading in &chart.readings {
            let numbers = Numbers::of(record, reading);
            if chart.readings.len() > 1 {
                let name = escape(&numbers.reading.name);
                add(page, format_args!("<p class=\"lead\">{name}</p>"));
            }
            picture(&numbers, chart, page);
        }
        page.push_str("</section>\n");
    }
}

fn picture(numbers: &Numbers<'_>, chart: &SweepChart, page: &mut String) {
    let before = page.len();
    match (chart.kind.as_str(), chart.x, chart.y) {
        ("lines", Some(axis), _) => lines::section(numbers, axis, page),
        ("heat", Some(across), Some(down)) => heat::section(numbers, down, across, page),
        ("parallel", _, _) => parallel::section(numbers, page),
        _ => bars::section(numbers, page),
    }
    if page.len() == before {
        page.push_str(
            "<p class=\"empty\">There is nothing to draw: lines need an axis of numbers, heat maps several values on both axes, parallel coordinates two axes.</p>",
        );
    }
}

/// Number of points at which a variant is best, and at which that is significant.
#[derive(Clone, Debug, PartialEq)]
struct Wins {
    variant: usize,
    points: usize,
    significant: usize,
}

/// Variants that are best somewhere, the most frequent first.
fn wins(numbers: &Numbers<'_>) -> Vec<Wins> {
    let mut wins: Vec<Wins> = Vec::new();
    for point in 0..numbers.record.points.len() {
        let Some(best) = numbers.best(point) else {
            continue;
        };
        let significant = usize::from(best.pairs.p_value < SIGNIFICANT);
        match wins.iter_mut().find(|of| of.variant == best.variant) {
            Some(of) => {
                of.points += 1;
                of.significant += significant;
            }
            None => wins.push(Wins {
                variant: best.variant,
                points: 1,
                significant,
            }),
        }
    }
    wins.sort_by_key(|of| (std::cmp::Reverse(of.points), of.variant));
    wins
}

/// Names the best variant, at each point if there are several.
fn winners(numbers: &Numbers<'_>, page: &mut String) {
    let wins = wins(numbers);
    if wins.is_empty() {
        return;
    }
    let points = numbers.record.points.len();
    if points == 1 {
        if let Some(best) = numbers.best(0) {
            add(
                page,
                format_args!(
                    "<p class=\"winner\"><b>{}</b> is best: {} than {} ({}).</p>",
                    escape(numbers.variant(best.variant)),
                    escape(&best.pairs.difference()),
                    escape(numbers.variant(best.runner_up)),
                    escape(&best.pairs.confidence())
                ),
            );
        }
        return;
    }
    for of in &wins {
        add(
            page,
            format_args!(
                "<p class=\"winner\"><b>{}</b> is best at {} of {points} points, significantly at {}.</p>",
                escape(numbers.variant(of.variant)),
                of.points,
                of.significant
            ),
        );
    }
    let mut columns = tables::axes(numbers);
    columns.extend(
        ["best", "next best", "difference", "confidence"]
            .map(|name| Column::of(name.to_owned(), "", false)),
    );
    let rows = (0..points).filter_map(|point| {
        let best = numbers.best(point)?;
        let mut row = numbers.record.points[point].clone();
        row.push(numbers.variant(best.variant).to_owned());
        row.push(numbers.variant(best.runner_up).to_owned());
        row.push(best.pairs.difference());
        row.push(best.pairs.confidence());
        Some(row)
    });
    tables::behind(
        "The best variant at each point",
        &columns,
        &rows.collect::<Vec<_>>(),
        page,
    );
}
