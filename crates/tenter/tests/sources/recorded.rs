//! `recorded.csv` of a study: what its last full run has measured, row by row.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter::studies::{Answers, CaseAnswer, Study, StudyAnswer, Value, select};

use crate::declared;

/// A row that was measured, or ended without a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) bar: String,
    pub(crate) metric: String,
    pub(crate) variant: String,
    /// Empty where the case did not come to its end.
    pub(crate) measured: String,
    /// Of how many seeds it is, and how far apart they are.
    pub(crate) statistic: String,
}

/// What tells the rows of a study apart.
pub(crate) fn key(row: &CaseAnswer) -> [&str; 4] {
    let bar = row.bar.as_deref().unwrap_or_default();
    [&row.case, bar, &row.metric, &row.variant]
}

impl Row {
    fn key(&self) -> [&str; 4] {
        [&self.case, &self.bar, &self.metric, &self.variant]
    }

    fn of(answer: &CaseAnswer) -> Row {
        let [case, bar, metric, variant] = key(answer).map(str::to_owned);
        let measured = match &answer.measured {
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Text(text)) => text.clone(),
            None => String::new(),
        };
        Row {
            case,
            bar,
            metric,
            variant,
            measured,
            statistic: answer.statistic.clone().unwrap_or_default(),
        }
    }
}

fn path(root: &Path, study: &str) -> PathBuf {
    root.join("studies").join(study).join("recorded.csv")
}

/// The digest of the recorded run, where all variants were run at once.
pub(crate) fn digest(root: &Path, study: &str) -> Option<String> {
    let text = fs::read_to_string(path(root, study)).ok()?;
    let digest = text.lines().next()?.strip_prefix("# digest ")?;
    Some(digest.to_owned())
}

/// What was recorded of a study; nothing where it has not been run in full.
pub(crate) fn read(root: &Path, study: &str) -> Vec<Row> {
    let Ok(text) = fs::read_to_string(path(root, study)) else {
        return Vec::new();
    };
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let rows = reader
        .deserialize()
        .map(|row| row.expect("it was written by `make record`"));
    rows.collect()
}

/// Whether a row was recorded.
pub(crate) fn has(recorded: &[Row], row: &CaseAnswer) -> bool {
    recorded.iter().any(|of| of.key() == key(row))
}

/// The value that was recorded of a row.
pub(crate) fn value_of(recorded: &[Row], row: &CaseAnswer) -> Option<Value> {
    let found = recorded.iter().find(|of| of.key() == key(row))?;
    Value::read(&found.measured)
}

/// The rows of an answer, and of an older one those of variants that were not run this time.
fn merged(older: &[Row], answer: &StudyAnswer, declared: &[CaseAnswer]) -> Vec<Row> {
    let new: Vec<Row> = answer.cases.iter().map(Row::of).collect();
    let kept = |of: &&Row| answer.left_out.contains(&of.variant);
    let older: Vec<Row> = older.iter().filter(kept).cloned().collect();
    // In the order of the study; what it no longer asks for is dropped.
    let of = |row: &CaseAnswer| {
        let mut rows = new.iter().chain(&older);
        rows.find(|of| of.key() == key(row)).cloned()
    };
    declared.iter().filter_map(of).collect()
}

/// Writes `recorded.csv` of each study that a folder, or its `studies.json`, has a full answer of.
pub(crate) fn record(root: &Path, answers: &Path) {
    let file = if answers.is_dir() {
        answers.join("studies.json")
    } else {
        answers.to_owned()
    };
    let text = fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}; name what -o has left", file.display()));
    let answers: Answers = serde_json::from_str(&text).expect("written by `tenter study run`");
    for answer in &answers.studies {
        assert!(
            !answer.quick,
            "{} is a quick answer: run it without --quick, for only full runs are recorded",
            answer.study
        );
        let texts = select([&answer.study]).expect("a study of the program")[0];
        let study = Study::embedded(texts).expect("it holds");
        let rows = merged(&read(root, &answer.study), answer, &declared(&study));
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in rows {
            writer.serialize(row).expect("plain text");
        }
        let table = writer.into_inner().expect("memory has room");
        let table = String::from_utf8(table).expect("text");
        let digest = if answer.left_out.is_empty() {
            format!("# digest {}\n", answer.digest)
        } else {
            "# recorded variant by variant\n".to_owned()
        };
        fs::write(path(root, &answer.study), digest + &table).expect("the folder can be written");
    }
}

#[cfg(test)]
mod tests {
    use tenter::studies::{Gate, Origin, Verdict};

    use super::*;

    fn case(case: &str, variant: &str, measured: Option<f64>) -> CaseAnswer {
        CaseAnswer {
            case: case.to_owned(),
            bar: None,
            metric: "m".to_owned(),
            variant: variant.to_owned(),
            published: None,
            origin: Origin::Published,
            measured: measured.map(Value::Number),
            statistic: None,
            spread: None,
            band: None,
            gate: Gate::Info,
            verdict: Verdict::Info,
        }
    }

    fn answer(cases: Vec<CaseAnswer>, left_out: &[&str]) -> StudyAnswer {
        StudyAnswer {
            cases,
            left_out: left_out.iter().map(|&name| name.to_owned()).collect(),
            ..StudyAnswer::default()
        }
    }

    #[test]
    fn a_run_of_some_variants_keeps_what_was_recorded_of_the_others() {
        let declared = [case("a", "v", None), case("a", "w", None)];
        let both = answer(
            vec![case("a", "v", Some(1.5)), case("a", "w", Some(2.0))],
            &[],
        );
        let first = merged(&[], &both, &declared);
        let values = |rows: &[Row]| -> Vec<Option<Value>> {
            declared.iter().map(|row| value_of(rows, row)).collect()
        };
        let numbers = |a, b| vec![Some(Value::Number(a)), Some(Value::Number(b))];
        assert_eq!(values(&first), numbers(1.5, 2.0));
        let some = answer(vec![case("a", "w", Some(3.0))], &["v"]);
        assert_eq!(values(&merged(&first, &some, &declared)), numbers(1.5, 3.0));
    }

    #[test]
    fn what_a_whole_run_no_longer_has_is_dropped() {
        let declared = [case("a", "v", None), case("b", "v", None)];
        let older = merged(
            &[],
            &answer(
                vec![case("a", "v", Some(1.0)), case("b", "v", Some(2.0))],
                &[],
            ),
            &declared,
        );
        let newer = merged(&older, &answer(vec![case("b", "v", None)], &[]), &declared);
        assert!(!has(&newer, &declared[0]));
        // It was run, and did not come to its end.
        assert!(has(&newer, &declared[1]));
        assert_eq!(value_of(&newer, &declared[1]), None);
    }
}
