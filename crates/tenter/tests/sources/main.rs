//! `docs/sources.md`: each claim of each source, the study and rows that hold it, and what the
//! last full run of them gave.
//!
//! ```text
//!   studies/claims.toml ─────────────┐
//!   studies (rows, bands, gates) ────┼─▶ docs/sources.md
//!   studies/*/*/recorded.csv ────────┘
//! ```
//!
//! With `UPDATE_EXPECTED=1` in the environment the page is written instead of compared. With
//! `TENTER_ANSWERS` naming a folder that `tenter study run … -o` has left, or its `studies.json`,
//! the full answers in it are recorded first; `make record` does both.

mod claims;
mod how;
mod page;
mod recorded;

use std::fs;
use std::path::{Path, PathBuf};

use tenter::studies::{CaseAnswer, STUDIES, Study, SweepCell, Value, Verdict};

use crate::claims::Claims;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A study and its rows with what was last recorded of them.
struct Recorded {
    study: String,
    cells: Vec<SweepCell>,
    rows: Vec<CaseAnswer>,
}

/// Every row of a full run; no trial has been run, so none has a measured value.
fn declared(study: &Study) -> Vec<CaseAnswer> {
    study.sweep.answer(&[]).cases
}

/// The studies, as the program has them.
fn studies() -> impl Iterator<Item = Study> {
    let read = |texts| Study::embedded(texts).expect("it holds");
    STUDIES.iter().map(read)
}

fn claims() -> Claims {
    let text = fs::read_to_string(root().join("studies/claims.toml")).expect("it is there");
    Claims::read(&text)
}

/// The rows of all studies. Bands and gates are today's, and so are the verdicts.
fn all_rows() -> Vec<Recorded> {
    let read = |study: Study| {
        let recorded = recorded::read(&root(), study.name());
        let mut rows = declared(&study);
        for row in &mut rows {
            row.measured = recorded::value_of(&recorded, row);
            let number = row.measured.as_ref().and_then(Value::number);
            row.verdict = if recorded::has(&recorded, row) {
                Verdict::of(row.gate, row.band, number)
            } else {
                Verdict::NotJudged
            };
        }
        Recorded {
            study: study.name().to_owned(),
            cells: study.sweep.cells().to_vec(),
            rows,
        }
    };
    studies().map(read).collect()
}

#[test]
fn the_page_has_each_claim_with_its_verdict() {
    if let Some(answers) = std::env::var_os("TENTER_ANSWERS") {
        recorded::record(&root(), Path::new(&answers));
    }
    let found = page::render(&claims(), &all_rows());
    let path = root().join("docs/sources.md");
    let asked = ["UPDATE_EXPECTED", "TENTER_ANSWERS"].map(std::env::var_os);
    if asked.iter().any(Option::is_some) {
        fs::write(&path, found).expect("the repository can be written");
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let lines = found.lines().zip(expected.lines());
    let differs = lines
        .into_iter()
        .find(|(found, expected)| found != expected);
    assert!(
        found == expected,
        "docs/sources.md differs, first in {differs:#?}; run with UPDATE_EXPECTED=1 and review"
    );
}

/// A judged row that no claim names would be missing from the page.
#[test]
fn every_judged_row_is_that_of_a_claim() {
    let claims = claims();
    let mut missing = Vec::new();
    for study in studies() {
        let name = study.name();
        if claims.is_our_own(name) {
            continue;
        }
        let rows = declared(&study);
        let judged = rows.iter().filter(|row| row.band.is_some());
        let unnamed = judged.filter(|row| !claims.names(name, row));
        missing.extend(unnamed.map(|row| format!("{name}: {} {}", row.metric, row.case)));
    }
    assert!(
        missing.is_empty(),
        "add to studies/claims.toml: {missing:#?}"
    );
}

#[test]
fn rows_that_are_called_fitted_are() {
    how::check(&claims(), &all_rows());
}

#[test]
fn every_row_that_misses_has_a_cause() {
    page::check_misses(&claims(), &all_rows());
}

/// Two rows of the same name could not be told apart once they are recorded.
#[test]
fn the_rows_of_a_study_have_names_of_their_own() {
    for study in studies() {
        let rows = declared(&study);
        let mut names: Vec<_> = rows.iter().map(recorded::key).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None, "{}", study.name());
    }
}

/// The page of a study tells what its recorded run gave, and not an older one.
#[test]
fn the_page_of_a_study_has_the_digest_of_its_recorded_run() {
    let mut stale = Vec::new();
    for study in studies() {
        let Some(digest) = recorded::digest(&root(), study.name()) else {
            continue;
        };
        if !study.readme.contains(&digest) {
            stale.push(format!("{}: {digest}", study.name()));
        }
    }
    assert!(
        stale.is_empty(),
        "bring README.md to the recorded run and its digest: {stale:#?}"
    );
}
