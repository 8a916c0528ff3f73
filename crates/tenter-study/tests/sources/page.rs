//! The page `docs/sources.md`.

use std::fmt::Write as _;

use tenter_study::{CaseAnswer, Gate, Origin, Value, Verdict};

use crate::Recorded;
use crate::claims::{Claim, Claims, Rows, Source};
use crate::how::{self, How};

const HEAD: &str = "# Claims of the sources

This page is generated from [`studies/claims.toml`](../studies/claims.toml), from the studies and from their recorded answers, by a test that compares it (`crates/tenter-study/tests/sources`).
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

/// How many claims of each source have which verdict, and how many rows of each gate match.
fn summary(page: &mut String, claims: &Claims, all: &[Recorded]) {
    let words = OUTCOMES.map(|(_, word)| word).join(" | ");
    let _ = writeln!(
        page,
        "\n| source | claims | {words} | required rows that match | open rows that match | rows with an own band that match |"
    );
    page.push_str("|---|---|---|---|---|---|---|---|---|---|---|\n");
    for source in &claims.sources {
        let outcomes: Vec<Outcome> = source.claims.iter().map(|of| outcome(of, all)).collect();
        let _ = write!(page, "| {} | {} |", source.title, outcomes.len());
        for (wanted, _) in OUTCOMES {
            let count = outcomes.iter().filter(|&&of| of == wanted).count();
            let _ = write!(page, " {count} |");
        }
        let published = |gate: Gate| {
            let of = move |_: &Recorded, row: &CaseAnswer| {
                row.origin == Origin::Published && row.gate == gate
            };
            tally(source, all, of)
        };
        let [required, open] = [Gate::Required, Gate::Open].map(published);
        let own = tally(source, all, |_, row| row.origin == Origin::Own);
        let _ = writeln!(page, " {required} | {open} | {own} |");
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
    let chosen = claims.chosen.iter();
    let chosen: Vec<&str> = chosen.map(|chosen| chosen.name.as_str()).collect();
    let _ = writeln!(
        page,
        "| source | nothing fitted | out of sample | fitted | {} |",
        chosen.join(" | ")
    );
    let columns = How::all(claims).count();
    let _ = writeln!(page, "|---|{}", "---|".repeat(columns));
    for source in &claims.sources {
        let _ = write!(page, "| {} |", source.title);
        for how in How::all(claims) {
            let of = |of: &Recorded, row: &CaseAnswer| {
                row.gate != Gate::Info && How::of(claims, of, row) == how
            };
            let _ = write!(page, " {} |", tally(source, all, of));
        }
        page.push('\n');
    }
    page.push('\n');
    for chosen in &claims.chosen {
        let _ = writeln!(page, "- **{}**: {}", chosen.name, chosen.about);
    }
}

/// Of such judged rows that claims of a source name, each once, how many match.
fn tally(
    source: &Source,
    all: &[Recorded],
    is_such: impl Fn(&Recorded, &CaseAnswer) -> bool,
) -> String {
    let lots: Vec<&Rows> = source.claims.iter().flat_map(|claim| &claim.rows).collect();
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
            let meant: Vec<_> = found
                .iter()
                .filter(|row| !any || row.band.is_some())
                .collect();
            let published: Vec<_> = meant
                .iter()
                .filter_map(|row| row.published.as_ref())
                .collect();
            let measured: Vec<_> = meant
                .iter()
                .filter_map(|row| row.measured.as_ref())
                .collect();
            let _ = writeln!(
                page,
                "| {place} | {said} | {}: {label} | {} | {} | {} |",
                link(&rows.study),
                range(&published),
                range(&measured),
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
