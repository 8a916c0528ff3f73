//! Published studies and what the last recorded run of each has measured.

use axum::Json;
use serde::Serialize;
use tenter_study::{
    CaseAnswer, Gate, STUDIES, StudyAnswer, StudyTexts, Value, Verdict, recorded_answer,
};
use utoipa::ToSchema;

use crate::error::{ApiError, ErrorBody};
use crate::extract::At;
use crate::state::apart;

/// A study in a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct StudyRow {
    /// Its name, which is part of its address.
    name: String,
    title: String,
    /// Public title of the source, and where in it.
    source: String,
    /// Rows with a verdict `match`, of those that are judged.
    matches: usize,
    judged: usize,
    /// All rows.
    rows: usize,
    /// Rows that must match for the study to hold; none where its bands are open, or for
    /// information.
    required: usize,
    /// Those of them that match.
    required_matches: usize,
}

/// A study with its rows.
#[derive(Serialize, ToSchema)]
pub(crate) struct StudyBody {
    #[serde(flatten)]
    row: StudyRow,
    /// Digest of the recorded run; empty where its variants were run one by one.
    digest: String,
    variants: Vec<StudyVariantBody>,
    cases: Vec<StudyCaseBody>,
    /// The page of the study in Markdown: what the source says, and what is assumed.
    page: String,
    /// The scenario that every variant starts from, in YAML.
    scenario: String,
}

/// A variant of a study.
#[derive(Serialize, ToSchema)]
pub(crate) struct StudyVariantBody {
    name: String,
    /// What it stands for.
    about: String,
}

/// A published value beside what one variant has measured.
#[derive(Serialize, ToSchema)]
pub(crate) struct StudyCaseBody {
    case: String,
    /// Which of several things of that case it is.
    bar: Option<String>,
    /// The published column, which ends with its unit.
    metric: String,
    variant: String,
    published: Option<f64>,
    /// The published value as text; several numbers may be one value.
    published_text: Option<String>,
    measured: Option<f64>,
    measured_text: Option<String>,
    /// Of which trials the measured value is, where there are several.
    statistic: Option<String>,
    band_low: Option<f64>,
    band_high: Option<f64>,
    /// `required`, `open` or `info`.
    gate: &'static str,
    /// Whose the row is: `published` or `own`.
    origin: &'static str,
    /// `match`, `miss`, `info` or `not judged`.
    verdict: &'static str,
    /// Measured over published less one, in per cent.
    deviation_percent: Option<f64>,
}

impl From<&CaseAnswer> for StudyCaseBody {
    fn from(case: &CaseAnswer) -> StudyCaseBody {
        let number = |value: &Option<Value>| value.as_ref().and_then(Value::number);
        let text = |value: &Option<Value>| match value {
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(Value::Text(text)) => Some(text.clone()),
            None => None,
        };
        StudyCaseBody {
            case: case.case.clone(),
            bar: case.bar.clone(),
            metric: case.metric.clone(),
            variant: case.variant.clone(),
            published: number(&case.published),
            published_text: text(&case.published),
            measured: number(&case.measured),
            measured_text: text(&case.measured),
            statistic: case.statistic.clone(),
            band_low: case.band.map(|[low, _]| low),
            band_high: case.band.map(|[_, high]| high),
            gate: case.gate.word(),
            origin: case.origin.word(),
            verdict: case.verdict.word(),
            deviation_percent: case.deviation_percent(),
        }
    }
}

impl From<&StudyAnswer> for StudyRow {
    fn from(answer: &StudyAnswer) -> StudyRow {
        let count = |verdict| {
            answer
                .cases
                .iter()
                .filter(|case| case.verdict == verdict)
                .count()
        };
        let matches = count(Verdict::Match);
        let required = answer.tally(Gate::Required);
        StudyRow {
            name: answer.study.clone(),
            title: answer.title.clone(),
            source: answer.source.clone(),
            matches,
            judged: matches + count(Verdict::Miss),
            rows: answer.cases.len(),
            required: required.rows,
            required_matches: required.matches,
        }
    }
}

fn answer_of(texts: &StudyTexts<'_>) -> Result<StudyAnswer, ApiError> {
    recorded_answer(texts).map_err(|error| tenter::Error::from(error).into())
}

/// The published studies, each with the tally of its last recorded run.
#[utoipa::path(get, path = "/studies", tag = "studies",
    responses(
        (status = 200, body = Vec<StudyRow>)))]
pub(crate) async fn studies() -> Result<Json<Vec<StudyRow>>, ApiError> {
    apart(|| {
        let rows = STUDIES
            .iter()
            .map(|texts| Ok(StudyRow::from(&answer_of(texts)?)));
        rows.collect::<Result<_, ApiError>>().map(Json)
    })
    .await
}

/// One study: published and measured values, bands and verdicts.
#[utoipa::path(get, path = "/studies/{name}", tag = "studies",
    params(("name" = String, Path, description = "Its name; `/` as `%2F`")),
    responses((status = 200, body = StudyBody), (status = 404, body = ErrorBody)))]
pub(crate) async fn study(At(name): At<String>) -> Result<Json<StudyBody>, ApiError> {
    apart(move || {
        let texts = STUDIES.iter().find(|texts| texts.name == name);
        let texts = texts.ok_or_else(|| {
            ApiError::missing("there is no such study; /api/v1/studies lists them")
        })?;
        let answer = answer_of(texts)?;
        let variants = answer.variants.iter().map(|variant| StudyVariantBody {
            name: variant.name.clone(),
            about: variant.about.clone(),
        });
        Ok(Json(StudyBody {
            row: StudyRow::from(&answer),
            variants: variants.collect(),
            cases: answer.cases.iter().map(StudyCaseBody::from).collect(),
            digest: answer.digest,
            page: texts.readme.to_owned(),
            scenario: texts.scenario.to_owned(),
        }))
    })
    .await
}
