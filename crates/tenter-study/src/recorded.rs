//! What the last full run of a study has measured.

use serde::Deserialize;

use crate::StudyError;
use crate::answer::{StudyAnswer, Verdict};
use crate::registry::{StudyTexts, recorded_table};
use crate::study::Study;
use crate::value::Value;

/// A row that was measured, or ended without a value.
#[derive(Debug, Deserialize)]
struct Row {
    case: String,
    bar: String,
    metric: String,
    variant: String,
    /// Empty where the case did not come to its end.
    measured: String,
    /// Of how many seeds it is, and how far apart they are.
    statistic: String,
}

/// The answer of the last full run of a study of the program that was recorded; rows that were not
/// run are not judged. Bands and gates are today's, and so are the verdicts.
///
/// # Errors
/// When the study does not hold.
pub fn recorded_answer(texts: &StudyTexts<'_>) -> Result<StudyAnswer, StudyError> {
    let study = Study::embedded(texts)?;
    let table = recorded_table(texts.name).unwrap_or_default();
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(table.as_bytes());
    let rows: Vec<Row> = reader.deserialize().filter_map(Result::ok).collect();
    let mut answer = study.sweep.answer(&[]);
    let first = table.lines().next().unwrap_or_default();
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
    use crate::STUDIES;

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
