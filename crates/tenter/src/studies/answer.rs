//! Answers of studies and sweeps: each row with its published value, measured value and verdict.

use serde::{Deserialize, Serialize};
use tenter_results::NoteRow;

use crate::studies::drawing::{Chart, Drawing};
use crate::studies::gate::{Gate, Origin};
use crate::studies::pauses::Pauses;
use crate::studies::value::Value;

/// Result of comparing a measured value with its band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The value lies inside the band; both ends belong to the band.
    Match,
    /// The value lies outside the band, or the trials gave no value.
    Miss,
    /// The row has no band, or its gate is [`Gate::Info`].
    Info,
    /// The row has a band, but the trials are not the published experiment: a quick form with other
    /// settings, or a scenario that the user changed.
    #[serde(rename = "not judged")]
    NotJudged,
}

impl Verdict {
    /// Judges a value. A judged row (a gate other than `info`, with a band) without a value is a
    /// miss.
    pub fn of(gate: Gate, band: Option<[f64; 2]>, measured: Option<f64>) -> Verdict {
        match (gate, band) {
            (Gate::Info, _) | (_, None) => Verdict::Info,
            (_, Some([low, high])) => {
                // NaN compares false with both ends, so a value that is no number is a miss, too.
                if measured.is_some_and(|value| low <= value && value <= high) {
                    Verdict::Match
                } else {
                    Verdict::Miss
                }
            }
        }
    }

    /// Returns the verdict as tables and JSON write it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Match => "match",
            Verdict::Miss => "miss",
            Verdict::Info => "info",
            Verdict::NotJudged => "not judged",
        }
    }
}

/// Range that several seeds' values cover.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Seeds that have a value.
    pub values: usize,
    /// Smallest value, in the metric's unit.
    pub least: f64,
    /// Greatest value, in the metric's unit.
    pub greatest: f64,
}

impl Spread {
    /// Returns the range that the numbers among `values` cover, or `None` if no value is a number.
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
    /// Formats the range as a suffix to a statistic's name: `: 5 values from 1.20 to 3.40`.
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

/// One row of an answer: a published value beside the value that one variant measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseAnswer {
    /// Case name, for instance `16MiB`.
    pub case: String,
    /// Bar name within the case, for instance a fabric, if the case has several bars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bar: Option<String>,
    /// Metric name: the published column, or the reading's name. It ends with the unit.
    pub metric: String,
    /// Variant whose trials gave the measured value.
    pub variant: String,
    /// Published value; `None` if the source prints none.
    pub published: Option<Value>,
    /// Tells the source's rows from expectations that the project added.
    #[serde(default)]
    pub origin: Origin,
    /// Measured value; `None` if the trials gave none, for instance because they did not complete.
    pub measured: Option<Value>,
    /// Statistic and seed count behind the measured value, such as `median of 5 seeds`; `None` for
    /// one trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<String>,
    /// Range of the seeds' values; `None` for one trial, or if the statistic is itself a distance
    /// between seeds or a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// Lower and upper end, both inside; `None` if the row has no band, or if another variant is
    /// the judged one.
    pub band: Option<[f64; 2]>,
    /// Consequence of a value outside the band.
    pub gate: Gate,
    /// Verdict on the measured value by band and gate.
    pub verdict: Verdict,
}

impl CaseAnswer {
    /// Returns (measured / published − 1) in percent; `None` if either is missing or no number, or
    /// if the published value is 0.
    pub fn deviation_percent(&self) -> Option<f64> {
        let published = self.published.as_ref()?.number()?;
        let measured = self.measured.as_ref()?.number()?;
        (published != 0.0).then_some((measured / published - 1.0) * 100.0)
    }
}

/// Counts judged rows under one gate, and the matches among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rows whose value lies inside the band.
    pub matches: usize,
    /// All rows under the gate, except those that are not judged.
    pub rows: usize,
}

/// A variant that was run, with its trials and their notes. In a study each entry is a cell: a
/// variant together with the axes' named values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerVariant {
    /// Variant name in the answer's rows.
    pub name: String,
    /// Description in one line; the variant's settings if the study gives none.
    pub about: String,
    /// Trials that were run, one for each seed and, in a sweep, for each point.
    pub trials: usize,
    /// Seeds in ascending order. Empty for a study whose description does not choose seeds, and in
    /// answers that an earlier version wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<u64>,
    /// Notes from the trials, such as settings without effect; equal notes appear once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteRow>,
}

/// The answer to one study or sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyAnswer {
    /// Study name, `<group>/<study>`, or the sweep's name.
    pub study: String,
    /// Title in one line; the description if there is no title.
    pub title: String,
    /// Public title and place of the source; empty for a sweep without one.
    pub source: String,
    /// True if the quick form was run.
    pub quick: bool,
    /// Variants that were run, in the description's order.
    pub variants: Vec<AnswerVariant>,
    /// Cells that the user left out with `--variant`; their rows are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Digest over all variants' trials, in hexadecimal.
    pub digest: String,
    /// Rows, ordered by reading, then by case, then by variant.
    pub cases: Vec<CaseAnswer>,
    /// The NICs' PFC pauses, one entry for each variant in which a NIC was paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Pauses>,
    /// Bar charts that a report draws from the rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<Chart>,
    /// Drawings that a report makes from the trials' records, such as queue depth over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drawings: Vec<Drawing>,
}

impl StudyAnswer {
    /// Counts the rows under `gate`, without those that are not judged.
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

    /// Counts the rows that have a band but are not judged, because the quick form or the user's
    /// settings make another experiment.
    pub fn not_judged(&self) -> usize {
        let rows = self.cases.iter();
        rows.filter(|case| case.verdict == Verdict::NotJudged)
            .count()
    }

    /// Returns true if every judged `required` row matches: then the command exits with code 0.
    pub fn holds(&self) -> bool {
        let required = self.tally(Gate::Required);
        required.matches == required.rows
    }
}

/// Answers to one or more studies; serialised to JSON, they are the output that `tenter study run
/// --format json` prints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// Answers in the order in which the user named the studies.
    pub studies: Vec<StudyAnswer>,
}

impl Answers {
    /// Returns true if every study [holds](StudyAnswer::holds).
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
