//! Recorded answers: measured values from each study's last full run, which `docs/sources.md`
//! shows.

use serde::Deserialize;

use crate::studies::StudyError;
use crate::studies::answer::{StudyAnswer, Verdict};
use crate::studies::registry::{StudyTexts, recorded_table};
use crate::studies::study::Study;
use crate::studies::value::Value;

/// One line in `recorded.csv`.
#[derive(Debug, Deserialize)]
struct Row {
    case: String,
    bar: String,
    metric: String,
    variant: String,
    /// Measured value; empty if the case did not complete.
    measured: String,
    /// Statistic, seed count and spread in words; empty for one trial.
    statistic: String,
}

/// Rebuilds a study's answer from its `recorded.csv` without running a trial. Bands, gates and
/// verdicts are today's; a row that was not recorded is not judged.
///
/// # Errors
/// Fails if the study's files are invalid.
pub fn recorded_answer(texts: &StudyTexts<'_>) -> Result<StudyAnswer, StudyError> {
    let study = Study::embedded(texts)?;
    let table = recorded_table(texts.name).unwrap_or_default();
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(table.as_bytes());
    // A line that does not parse is left out; its row is then not judged.
    let rows: Vec<Row> = reader.deserialize().filter_map(Result::ok).collect();
    // An answer without trials has every row with its published value and band.
    let mut answer = study.sweep.answer(&[]);
    let first = table.lines().next().unwrap_or_default();
    // The run's digest is a comment in the first line.
    let digest = first.strip_prefix("# digest ").unwrap_or_default();
    digest.clone_into(&mut answer.digest);
    for case in &mut answer.cases {
        let bar = case.bar.as_deref().unwrap_or_default();
        let key = [&case.case, bar, &case.metric, &case.variant];
        let found = rows
            .iter()
            .find(|row| [row.case.as_str(), &row.bar, &row.metric, &row.variant] == key);
        let Some(row) = found else {
            case.verdict = Verdict::NotJudged;
            continue;
        };
        case.measured = Value::read(&row.measured);
        case.statistic = (!row.statistic.is_empty()).then(|| row.statistic.clone());
        let number = case.measured.as_ref().and_then(Value::number);
        case.verdict = Verdict::of(case.gate, case.band, number);
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::STUDIES;

    #[test]
    fn every_study_has_a_recorded_answer() {
        for texts in STUDIES {
            let answer = recorded_answer(texts).expect("it holds");
            assert!(
                answer.cases.iter().any(|case| case.measured.is_some()),
                "{}",
                texts.name
            );
        }
    }
}
