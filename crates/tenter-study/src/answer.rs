//! What a study answers.

use serde::{Deserialize, Serialize};
use tenter_record::NoteRow;

use crate::drawing::{Chart, Drawing};
use crate::gate::{Gate, Origin};
use crate::pauses::Pauses;
use crate::value::Value;

/// How a measured value compares with its band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Inside, the ends included.
    Match,
    /// Outside, or not measured.
    Miss,
    /// The row has no band, or is for information only.
    Info,
    /// The row has a band, but the quick form is another experiment than the published one.
    #[serde(rename = "not judged")]
    NotJudged,
}

impl Verdict {
    /// Judges a value.
    pub fn of(gate: Gate, band: Option<[f64; 2]>, measured: Option<f64>) -> Verdict {
        match (gate, band) {
            (Gate::Info, _) | (_, None) => Verdict::Info,
            (_, Some([low, high])) => {
                if measured.is_some_and(|value| low <= value && value <= high) {
                    Verdict::Match
                } else {
                    Verdict::Miss
                }
            }
        }
    }

    /// The word for it, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Match => "match",
            Verdict::Miss => "miss",
            Verdict::Info => "info",
            Verdict::NotJudged => "not judged",
        }
    }
}

/// What several seeds measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many seeds have a value.
    pub values: usize,
    /// The least of the values.
    pub least: f64,
    /// The greatest of the values.
    pub greatest: f64,
}

impl Spread {
    /// Of the numbers among these values; `None` where there is none.
    pub fn of(values: &[Value]) -> Option<Spread> {
        let numbers: Vec<f64> = values.iter().filter_map(Value::number).collect();
        Some(Spread {
            values: numbers.len(),
            least: numbers.iter().copied().min_by(f64::total_cmp)?,
            greatest: numbers.iter().copied().max_by(f64::total_cmp)?,
        })
    }
}

impl Spread {
    /// How many values there are, the least and the greatest, to follow the name of a statistic.
    pub(crate) fn words(self) -> String {
        let text = |value: f64| {
            if value.fract() == 0.0 {
                format!("{value:.0}")
            } else if value < 10.0 {
                format!("{value:.2}")
            } else {
                format!("{value:.1}")
            }
        };
        let (least, greatest) = (text(self.least), text(self.greatest));
        let values = if self.values == 1 { "value" } else { "values" };
        format!(": {} {values} from {least} to {greatest}", self.values)
    }
}

/// One published value beside what one variant measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseAnswer {
    /// The case, for instance `16MiB`.
    pub case: String,
    /// Which of several things of that case it is, for instance a fabric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar: Option<String>,
    /// The published column, which ends with its unit.
    pub metric: String,
    /// The variant that measured.
    pub variant: String,
    /// The published value; missing where none was published.
    pub published: Option<Value>,
    /// Whose the row is.
    #[serde(default)]
    pub origin: Origin,
    /// The measured value; missing when the case did not come to its end.
    pub measured: Option<Value>,
    /// Of which trials the measured value is, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<String>,
    /// How far the values of the seeds are apart, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// Where the value is judged: lower and upper end of its band.
    pub band: Option<[f64; 2]>,
    /// What the band decides.
    pub gate: Gate,
    /// The comparison.
    pub verdict: Verdict,
}

impl CaseAnswer {
    /// Measured over published, less one, in per cent.
    pub fn deviation_percent(&self) -> Option<f64> {
        let published = self.published.as_ref()?.number()?;
        let measured = self.measured.as_ref()?.number()?;
        (published != 0.0).then_some((measured / published - 1.0) * 100.0)
    }
}

/// How many rows of a gate there are, and how many match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rows inside their band.
    pub matches: usize,
    /// All rows.
    pub rows: usize,
}

/// A variant that was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerVariant {
    /// Its name.
    pub name: String,
    /// What it stands for, in a line.
    pub about: String,
    /// Trials with how many seeds.
    pub trials: usize,
    /// The seeds, where the study names some; missing in answers of an earlier version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<u64>,
    /// What a reader of the numbers must know: the notes of its trials, equal ones once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteRow>,
}

/// The answer of one study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyAnswer {
    /// Name of the study.
    pub study: String,
    /// What it is about, in a line.
    pub title: String,
    /// Public title of the source, and where in it.
    pub source: String,
    /// Whether this is its quick form.
    pub quick: bool,
    /// The variants that were run.
    pub variants: Vec<AnswerVariant>,
    /// The names of those that the user has left out; their rows are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Digest of the trials of all variants, in hexadecimal.
    pub digest: String,
    /// Metric by metric, case by case, variant by variant.
    pub cases: Vec<CaseAnswer>,
    /// Who was paused, for each variant in which a NIC was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Pauses>,
    /// What a report draws of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<Chart>,
    /// What it draws of single trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drawings: Vec<Drawing>,
}

impl StudyAnswer {
    /// The rows of a gate, without those that a quick form cannot judge.
    pub fn tally(&self, gate: Gate) -> Tally {
        let judged = |case: &&CaseAnswer| case.verdict != Verdict::NotJudged;
        let rows = self
            .cases
            .iter()
            .filter(|case| case.gate == gate)
            .filter(judged);
        rows.fold(Tally::default(), |tally, case| Tally {
            matches: tally.matches + usize::from(case.verdict == Verdict::Match),
            rows: tally.rows + 1,
        })
    }

    /// How many rows have a band that this form cannot be held against.
    pub fn not_judged(&self) -> usize {
        let rows = self.cases.iter();
        rows.filter(|case| case.verdict == Verdict::NotJudged)
            .count()
    }

    /// Whether every required row matches.
    pub fn holds(&self) -> bool {
        let required = self.tally(Gate::Required);
        required.matches == required.rows
    }
}

/// The answers of one or more studies; as JSON, what `tenter study run --format json` prints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// In the order in which they were asked for.
    pub studies: Vec<StudyAnswer>,
}

impl Answers {
    /// Whether every required row of every study matches.
    pub fn hold(&self) -> bool {
        self.studies.iter().all(StudyAnswer::holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAND: Option<[f64; 2]> = Some([3.8511, 3.9289]);

    #[test]
    fn the_ends_of_a_band_are_inside() {
        let verdict = |measured| Verdict::of(Gate::Required, BAND, Some(measured));
        assert_eq!(verdict(3.8511), Verdict::Match);
        assert_eq!(verdict(3.9289), Verdict::Match);
        assert_eq!(verdict(3.8510), Verdict::Miss);
        assert_eq!(verdict(3.9290), Verdict::Miss);
        assert_eq!(verdict(f64::NAN), Verdict::Miss);
    }

    #[test]
    fn what_was_not_measured_misses_where_it_is_judged() {
        assert_eq!(Verdict::of(Gate::Required, BAND, None), Verdict::Miss);
        assert_eq!(Verdict::of(Gate::Open, BAND, None), Verdict::Miss);
        assert_eq!(Verdict::of(Gate::Info, BAND, None), Verdict::Info);
    }

    #[test]
    fn information_is_never_judged() {
        assert_eq!(Verdict::of(Gate::Info, BAND, Some(3.9)), Verdict::Info);
        assert_eq!(Verdict::of(Gate::Info, None, Some(3.9)), Verdict::Info);
    }

    fn case(gate: Gate, measured: f64) -> CaseAnswer {
        CaseAnswer {
            case: "16MiB".to_owned(),
            bar: None,
            metric: "completion_time_ms".to_owned(),
            variant: "calibrated".to_owned(),
            published: Some(Value::Number(3.89)),
            origin: Origin::Published,
            measured: Some(Value::Number(measured)),
            statistic: None,
            spread: None,
            band: BAND,
            gate,
            verdict: Verdict::of(gate, BAND, Some(measured)),
        }
    }

    fn answers(cases: Vec<CaseAnswer>) -> Answers {
        Answers {
            studies: vec![StudyAnswer {
                study: "group/name".to_owned(),
                title: "a title".to_owned(),
                digest: "00".to_owned(),
                variants: vec![AnswerVariant {
                    name: "calibrated".to_owned(),
                    about: "one constant fitted".to_owned(),
                    trials: 1,
                    ..AnswerVariant::default()
                }],
                cases,
                ..StudyAnswer::default()
            }],
        }
    }

    #[test]
    fn only_a_required_miss_fails() {
        let held = answers(vec![
            case(Gate::Required, 3.9),
            case(Gate::Open, 5.0),
            case(Gate::Open, 3.9),
            case(Gate::Info, 5.0),
        ]);
        assert!(held.hold());
        let study = &held.studies[0];
        let tally = |matches, rows| Tally { matches, rows };
        assert_eq!(study.tally(Gate::Required), tally(1, 1));
        assert_eq!(study.tally(Gate::Open), tally(1, 2));
        assert_eq!(study.tally(Gate::Info), tally(0, 1));
        assert!(!answers(vec![case(Gate::Required, 5.0)]).hold());
    }

    #[test]
    fn deviation_is_relative_to_the_published_value() {
        // 3.8511 / 3.89 = 0.99
        let deviation = case(Gate::Required, 3.8511).deviation_percent();
        assert!((deviation.expect("both values") + 1.0).abs() < 1e-9);
        let unpublished = CaseAnswer {
            published: None,
            ..case(Gate::Info, 1.0)
        };
        assert_eq!(unpublished.deviation_percent(), None);
    }

    #[test]
    fn json_has_the_documented_shape() {
        let mut open = case(Gate::Info, 3.9);
        open.band = None;
        open.published = None;
        let answers = answers(vec![case(Gate::Required, 3.9), open]);
        let json = serde_json::to_string(&answers).expect("plain data");
        let expected = concat!(
            r#"{"studies":[{"study":"group/name","title":"a title","source":"","quick":false,"#,
            r#""variants":[{"name":"calibrated","about":"one constant fitted","trials":1}],"#,
            r#""digest":"00","cases":["#,
            r#"{"case":"16MiB","metric":"completion_time_ms","variant":"calibrated","published":3.89,"#,
            r#""origin":"published","#,
            r#""measured":3.9,"band":[3.8511,3.9289],"gate":"required","verdict":"match"},"#,
            r#"{"case":"16MiB","metric":"completion_time_ms","variant":"calibrated","published":null,"#,
            r#""origin":"published","#,
            r#""measured":3.9,"band":null,"gate":"info","verdict":"info"}]}]}"#
        );
        assert_eq!(json, expected);
        let read: Answers = serde_json::from_str(&json).expect("what was written");
        assert_eq!(read, answers);
    }
}
