//! The page `docs/sources.md`.

use std::fmt::Write as _;

use tenter::studies::{CaseAnswer, Gate, Origin, Value, Verdict};

use crate::Recorded;
use crate::claims::{Claim, Claims, Miss, Rows, Source};
use crate::how::{self, How};

const HEAD: &str = "# Claims of the sources

This page is generated from [`studies/claims.toml`](../studies/claims.toml), from the studies and from their recorded answers, by a test that compares it (`crates/tenter/tests/sources`).
It has a row for each claim of each source: where it stands, which rows of which study hold it, and what the last recorded full run gave.

| verdict | says |
|---|---|
| match | every judged row is in its band |
| miss | no judged row is in its band |
| partly | some are |
| shown | the rows have no band; published and measured values stand beside each other |
| not run | no full run is recorded for at least one of the rows |
| not covered | no row holds the claim, for the reason given |

Bands and gates are explained in [studies.md](studies.md#gates-and-bands); a band that no source gives is an [expectation of our own](../studies/expectations/README.md).
Where several rows of a metric are meant, the least and the greatest value are given.
Such a row is marked *own band*, and counted apart; its value is the source's where that prints one.
Full runs are recorded with `make record ANSWERS=FOLDER`, FOLDER being what `tenter study run … -o` has left.
";

const HOW: &str = "
## How the rows were obtained

How many of the judged rows of each source match, by how they were obtained.
Rows that a constant was fitted to prove nothing of it; rows out of sample do:

| column | the rows have |
|---|---|
| nothing fitted | the equipment of their source and the defaults of the program |
| out of sample | a constant that was fitted to other rows |
| fitted | a constant that was fitted to these rows |
| others | a setting that was chosen with such results in sight, as said below the table |

";

const MISSES: &str = "
## What misses

Every judged row outside its band, with the cause as far as it is known; the pages of the studies say more.

| study and rows | rows | published or expected | measured | cause |
|---|---|---|---|---|
";

/// How rows compare, taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Match,
    Partly,
    Miss,
    Shown,
    NotRun,
    NotCovered,
}

const OUTCOMES: [(Outcome, &str); 6] = [
    (Outcome::Match, "match"),
    (Outcome::Partly, "partly"),
    (Outcome::Miss, "miss"),
    (Outcome::Shown, "shown"),
    (Outcome::NotRun, "not run"),
    (Outcome::NotCovered, "not covered"),
];

impl Outcome {
    fn of(rows: &[&CaseAnswer]) -> Outcome {
        let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        let not_run = count(Verdict::NotJudged);
        match (not_run, count(Verdict::Match), count(Verdict::Miss)) {
            (1.., _, _) => Outcome::NotRun,
            (0, 0, 0) => Outcome::Shown,
            (0, _, 0) => Outcome::Match,
            (0, 0, _) => Outcome::Miss,
            _ => Outcome::Partly,
        }
    }

    /// That of a claim with several lots of rows.
    fn of_all(outcomes: &[Outcome]) -> Outcome {
        let has = |outcome| outcomes.contains(&outcome);
        match () {
            () if outcomes.is_empty() => Outcome::NotCovered,
            () if has(Outcome::NotRun) => Outcome::NotRun,
            () if has(Outcome::Partly) || (has(Outcome::Match) && has(Outcome::Miss)) => {
                Outcome::Partly
            }
            () if has(Outcome::Miss) => Outcome::Miss,
            () if has(Outcome::Match) => Outcome::Match,
            () => Outcome::Shown,
        }
    }

    fn word(self) -> &'static str {
        let found = OUTCOMES.iter().find(|(outcome, _)| *outcome == self);
        found.map_or("", |(_, word)| word)
    }
}

pub(crate) fn render(claims: &Claims, all: &[Recorded]) -> String {
    let mut page = HEAD.to_owned();
    summary(&mut page, claims, all);
    how_obtained(&mut page, claims, all);
    misses(&mut page, claims, all);
    for source in &claims.sources {
        let _ = write!(page, "\n## {}\n\n{}\n\n", source.title, source.by);
        page.push_str(
            "| where | claim | study and rows | published or expected | measured | verdict |\n",
        );
        page.push_str("|---|---|---|---|---|---|\n");
        for claim in &source.claims {
            lines(&mut page, claim, claims, all);
        }
    }
    page.push_str("\n## Studies of our own\n\nThese hold no claim of a source.\n\n");
    page.push_str("| study | is for |\n|---|---|\n");
    for own in &claims.own {
        let _ = writeln!(page, "| {} | {} |", link(&own.study), own.about);
    }
    page
}

/// Rows that the summary counts apart: with a published band of either gate, and with a band of our
/// own.
const COUNTED: [(Origin, Option<Gate>); 3] = [
    (Origin::Published, Some(Gate::Required)),
    (Origin::Published, Some(Gate::Open)),
    (Origin::Own, None),
];

/// The sources one by one, those on fabrics together, and all together, each with its name.
fn lots(claims: &Claims) -> Vec<(String, Vec<&Source>)> {
    let all: Vec<&Source> = claims.sources.iter().collect();
    let on_fabrics: Vec<&Source> = all.iter().copied().filter(|of| of.on_fabrics).collect();
    let mut lots: Vec<_> = all.iter().map(|of| (of.title.clone(), vec![*of])).collect();
    let name = format!("**the first {}, on fabrics**", on_fabrics.len());
    lots.push((name, on_fabrics));
    lots.push(("**all sources**".to_owned(), all));
    lots
}

/// How many claims of each source have which verdict, and how many rows of each gate match.
fn summary(page: &mut String, claims: &Claims, all: &[Recorded]) {
    let words = OUTCOMES.map(|(_, word)| word).join(" | ");
    let _ = writeln!(
        page,
        "\n| source | claims | {words} | required rows that match | open rows that match | rows with an own band that match |"
    );
    page.push_str("|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (name, sources) in lots(claims) {
        let of_all = sources.iter().flat_map(|source| &source.claims);
        let outcomes: Vec<Outcome> = of_all.map(|of| outcome(of, all)).collect();
        let _ = write!(page, "| {name} | {} |", outcomes.len());
        for (wanted, _) in OUTCOMES {
            let count = outcomes.iter().filter(|&&of| of == wanted).count();
            let _ = write!(page, " {count} |");
        }
        for (origin, gate) in COUNTED {
            let count = tally(&sources, all, |_, row| {
                row.origin == origin && gate.is_none_or(|gate| row.gate == gate)
            });
            let _ = write!(page, " {count} |");
        }
        page.push('\n');
    }
}

fn outcome(claim: &Claim, all: &[Recorded]) -> Outcome {
    let outcomes: Vec<Outcome> = claim
        .rows
        .iter()
        .map(|of| Outcome::of(&found(of, all)))
        .collect();
    Outcome::of_all(&outcomes)
}

/// How the judged rows of each source were obtained, and how many of them match.
fn how_obtained(page: &mut String, claims: &Claims, all: &[Recorded]) {
    page.push_str(HOW);
    how_table(page, claims, all, |_| true);
    page.push('\n');
    for chosen in &claims.chosen {
        let _ = writeln!(page, "- **{}**: {}", chosen.name, chosen.about);
    }
    page.push_str("\nThe required rows of published values alone:\n\n");
    how_table(page, claims, all, |row| {
        (row.origin, row.gate) == (Origin::Published, Gate::Required)
    });
    page.push_str("\nThe open rows of published values alone:\n\n");
    how_table(page, claims, all, |row| {
        (row.origin, row.gate) == (Origin::Published, Gate::Open)
    });
}

/// A table of such judged rows of each source, by how they were obtained.
fn how_table(
    page: &mut String,
    claims: &Claims,
    all: &[Recorded],
    is_such: impl Fn(&CaseAnswer) -> bool,
) {
    let chosen = claims.chosen.iter();
    let chosen: Vec<&str> = chosen.map(|chosen| chosen.name.as_str()).collect();
    let _ = writeln!(
        page,
        "| source | nothing fitted | out of sample | fitted | {} |",
        chosen.join(" | ")
    );
    let columns = How::all(claims).count();
    let _ = writeln!(page, "|---|{}", "---|".repeat(columns));
    for (name, sources) in lots(claims) {
        let _ = write!(page, "| {name} |");
        for how in How::all(claims) {
            let of = |of: &Recorded, row: &CaseAnswer| {
                row.gate != Gate::Info && is_such(row) && How::of(claims, of, row) == how
            };
            let _ = write!(page, " {} |", tally(&sources, all, of));
        }
        page.push('\n');
    }
}

/// The rows that miss, with their cause.
fn misses(page: &mut String, claims: &Claims, all: &[Recorded]) {
    page.push_str(MISSES);
    for miss in &claims.misses {
        for rows in &miss.rows {
            let of = study_of(rows, all);
            let missing = found(rows, all).into_iter();
            // A row that two causes name stands at the first.
            let is_here = |row: &CaseAnswer| {
                claims
                    .miss_of(&of.study, row)
                    .is_some_and(|of| std::ptr::eq(of, miss))
            };
            let missing: Vec<&CaseAnswer> = missing
                .filter(|row| row.verdict == Verdict::Miss && is_here(row))
                .collect();
            let [published, measured] = ranges(&missing);
            let mut kinds: Vec<String> = Vec::new();
            for row in &missing {
                let kind = row.gate.words(row.origin);
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            let _ = writeln!(
                page,
                "| {}: {} | {} {} | {} | {} | {} |",
                link(&rows.study),
                rows.label(),
                missing.len(),
                kinds.join(" and "),
                published,
                measured,
                miss.because,
            );
        }
    }
}

/// Every row that misses has a cause, and every cause has a row that misses.
pub(crate) fn check_misses(claims: &Claims, all: &[Recorded]) {
    let mut without = Vec::new();
    for of in all {
        let mut rows: Vec<_> = of.rows.iter().collect();
        rows.retain(|row| row.verdict == Verdict::Miss && claims.names(&of.study, row));
        for row in rows {
            if claims.miss_of(&of.study, row).is_none() {
                without.push(format!(
                    "{}: {} {} {:?} ({}) {:?} {:?}",
                    of.study,
                    row.metric,
                    row.case,
                    row.bar,
                    row.variant,
                    row.published,
                    row.measured
                ));
            }
        }
    }
    assert!(
        without.is_empty(),
        "add a cause to studies/claims.toml: {without:#?}"
    );
    let is_idle = |miss: &&Miss| {
        let mut rows = miss.rows.iter();
        rows.any(|rows| {
            let mut found = found(rows, all).into_iter();
            !found.any(|row| row.verdict == Verdict::Miss)
        })
    };
    let idle: Vec<_> = claims.misses.iter().filter(is_idle).collect();
    assert!(idle.is_empty(), "these rows match now: {idle:#?}");
}

/// Of such judged rows that claims of some sources name, each once, how many match.
fn tally(
    sources: &[&Source],
    all: &[Recorded],
    is_such: impl Fn(&Recorded, &CaseAnswer) -> bool,
) -> String {
    let claims = sources.iter().flat_map(|source| &source.claims);
    let lots: Vec<&Rows> = claims.flat_map(|claim| &claim.rows).collect();
    let rows = all.iter().flat_map(|of| {
        let lots = lots.iter().filter(move |lot| lot.study == of.study);
        let named = move |row: &&CaseAnswer| lots.clone().any(|lot| lot.has(row));
        of.rows.iter().filter(named).map(move |row| (of, row))
    });
    let rows: Vec<&CaseAnswer> = rows
        .filter(|(of, row)| row.band.is_some() && is_such(of, row))
        .map(|(_, row)| row)
        .collect();
    if rows.is_empty() {
        return "–".to_owned();
    }
    let of = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let not_run = match of(Verdict::NotJudged) {
        0 => String::new(),
        count => format!(", {count} not run"),
    };
    format!("{} of {}{not_run}", of(Verdict::Match), rows.len())
}

/// The study that is meant.
fn study_of<'a>(rows: &Rows, all: &'a [Recorded]) -> &'a Recorded {
    let of = all.iter().find(|of| of.study == rows.study);
    of.unwrap_or_else(|| panic!("claims.toml: there is no study `{}`", rows.study))
}

/// The rows that are meant.
fn found<'a>(rows: &Rows, all: &'a [Recorded]) -> Vec<&'a CaseAnswer> {
    let of = study_of(rows, all);
    let found: Vec<&CaseAnswer> = of.rows.iter().filter(|row| rows.has(row)).collect();
    assert!(
        !found.is_empty(),
        "claims.toml: the study has no such row: {rows:?}"
    );
    found
}

/// The ranges of the published and of the measured values.
fn ranges(rows: &[&CaseAnswer]) -> [String; 2] {
    let published: Vec<_> = rows
        .iter()
        .filter_map(|row| row.published.as_ref())
        .collect();
    let measured: Vec<_> = rows
        .iter()
        .filter_map(|row| row.measured.as_ref())
        .collect();
    [range(&published), range(&measured)]
}

fn link(study: &str) -> String {
    format!("[`{study}`](../studies/{study}/README.md)")
}

fn lines(page: &mut String, claim: &Claim, claims: &Claims, all: &[Recorded]) {
    let mut place = claim.place.as_str();
    let mut said = claim.says.as_str();
    if let Some(reason) = &claim.not_covered {
        let _ = writeln!(
            page,
            "| {place} | {said} | – | – | – | not covered: {reason} |"
        );
    }
    for rows in &claim.rows {
        let of = study_of(rows, all);
        for (label, found) in by_metric(rows, &found(rows, all)) {
            // Variants that are shown beside the judged one are not what the verdict is about.
            let any = found.iter().any(|row| row.band.is_some());
            let meant: Vec<&CaseAnswer> = found
                .iter()
                .copied()
                .filter(|row| !any || row.band.is_some())
                .collect();
            let [published, measured] = ranges(&meant);
            let _ = writeln!(
                page,
                "| {place} | {said} | {}: {label} | {} | {} | {} |",
                link(&rows.study),
                published,
                measured,
                verdict(&found, &how::in_words(claims, of, &found)),
            );
            (place, said) = ("", "");
        }
    }
}

/// The rows of each metric, with what they are called: values of two metrics have no range.
fn by_metric<'a>(rows: &Rows, found: &[&'a CaseAnswer]) -> Vec<(String, Vec<&'a CaseAnswer>)> {
    let mut metrics: Vec<&str> = Vec::new();
    for row in found {
        if !metrics.contains(&row.metric.as_str()) {
            metrics.push(&row.metric);
        }
    }
    if let [_] = metrics[..] {
        return vec![(rows.label(), found.to_vec())];
    }
    let of = |metric: &str| {
        let of_metric = found.iter().copied().filter(|row| row.metric == metric);
        (rows.label_of(metric), of_metric.collect())
    };
    metrics.into_iter().map(of).collect()
}

/// The verdict in words, with the gates, and with how the rows were obtained.
fn verdict(rows: &[&CaseAnswer], how: &str) -> String {
    let outcome = Outcome::of(rows);
    let of_kind = |(gate, origin): (Gate, Origin)| {
        let word = gate.words(origin);
        let of_kind = || {
            let judged = rows.iter().filter(|row| row.band.is_some());
            judged.filter(move |row| row.gate == gate && row.origin == origin)
        };
        let matching = of_kind()
            .filter(|row| row.verdict == Verdict::Match)
            .count();
        match (of_kind().count(), outcome) {
            (0, _) => None,
            (1, _) => Some(word.clone()),
            (all, Outcome::NotRun) => Some(format!("{all} {word} rows")),
            (all, _) => Some(format!("{matching} of {all} {word} rows")),
        }
    };
    let origins = [Origin::Published, Origin::Own];
    let kinds = origins.map(|origin| [Gate::Required, Gate::Open].map(|gate| (gate, origin)));
    let gates: Vec<String> = kinds.into_iter().flatten().filter_map(of_kind).collect();
    let word = outcome.word();
    if gates.is_empty() {
        return word.to_owned();
    }
    let semicolon = if how.is_empty() { "" } else { "; " };
    format!("{word} ({}{semicolon}{how})", gates.join(", "))
}

/// The least and the greatest of numbers, and texts as they are.
fn range(values: &[&Value]) -> String {
    let mut numbers: Vec<f64> = values.iter().filter_map(|value| value.number()).collect();
    numbers.sort_unstable_by(f64::total_cmp);
    let texts = values.iter().filter_map(|value| match value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(_) => None,
    });
    let mut words: Vec<String> = texts.collect();
    if let (Some(&least), Some(&greatest)) = (numbers.first(), numbers.last()) {
        let (least, greatest) = (number(least), number(greatest));
        words.push(if least == greatest {
            least
        } else {
            format!("{least} to {greatest}")
        });
    }
    if words.is_empty() {
        "–".to_owned()
    } else {
        words.join(", ")
    }
}

/// Four digits at least, without noughts at the end.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = (3.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        let text = text.trim_end_matches('0').trim_end_matches('.');
        return text.to_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(number(1.0), "1");
        assert_eq!(number(0.313_456), "0.3135");
        assert_eq!(number(-73.3), "-73.3");
        assert_eq!(number(310.372), "310.4");
        assert_eq!(number(123_456.7), "123457");
        assert_eq!(
            range(&[&Value::Number(2.0), &Value::Number(1.5)]),
            "1.5 to 2"
        );
        assert_eq!(range(&[]), "–");
    }

    #[test]
    fn a_claim_matches_if_all_its_rows_do() {
        use Outcome::{Match, Miss, NotCovered, NotRun, Partly, Shown};
        assert_eq!(Outcome::of_all(&[Match, Shown]), Match);
        assert_eq!(Outcome::of_all(&[Match, Miss]), Partly);
        assert_eq!(Outcome::of_all(&[Miss, NotRun]), NotRun);
        assert_eq!(Outcome::of_all(&[Shown]), Shown);
        assert_eq!(Outcome::of_all(&[]), NotCovered);
    }
}
