//! Published studies, and the values that each one's last recorded run has measured.

use axum::Json;
use serde::Serialize;
use tenter::report::{Drawn, band_text, has_lower_end, recorded_picture};
use tenter::studies::{
    CaseAnswer, Gate, STUDIES, StudyAnswer, StudyTexts, Value, Verdict, recorded_answer,
};
use utoipa::ToSchema;

use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::At;
use crate::server::picture_body::PictureBody;
use crate::server::state::apart;

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
    /// Rows whose misses are only shown.
    open: usize,
    /// Those of them that match.
    open_matches: usize,
    /// Rows that the quick form cannot judge.
    not_judged: usize,
    /// Whether it was run in its quick form.
    quick: bool,
    /// Names of the variants that were left out.
    left_out: Vec<String>,
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
    /// Charts that the study asks for; without any, its judged rows are drawn over their published
    /// values.
    charts: Vec<StudyChartBody>,
    /// What the trials recorded, as far as the study asks for it and their folders are there.
    recorded: Vec<PictureBody>,
    /// What a reader of the values must know, a line for each note.
    notes: Vec<String>,
    /// Variants in which NICs were paused.
    pauses: Vec<PausesBody>,
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
    /// Trials that were run of it.
    trials: usize,
}

/// A chart with a group of bars for each case.
#[derive(Serialize, ToSchema)]
pub(crate) struct StudyChartBody {
    title: String,
    /// The metrics whose values are its bars.
    metrics: Vec<String>,
    /// Names of its bars; all of these metrics where there is none.
    bars: Vec<String>,
    /// What its axis measures, with the unit.
    axis: String,
}

/// XOFF frames that the NICs of a variant received over all trials, and what a switch had to hold.
#[derive(Serialize, ToSchema)]
pub(crate) struct PausesBody {
    variant: String,
    /// Of the NIC with the fewest, of all NICs in the mean, and of the NIC with the most.
    xoff_min_frames: u64,
    xoff_mean_frames: f64,
    xoff_max_frames: u64,
    /// Jain's index: 1 where each NIC received as many.
    xoff_evenness: f64,
    /// Most bytes in the pools of one switch, in MB; a dash without pools.
    held_text: String,
    /// The switch that held them.
    switch: String,
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
    /// The least and the greatest value over the seeds, and how many there are.
    least: Option<f64>,
    greatest: Option<f64>,
    seeds: Option<usize>,
    band_low: Option<f64>,
    band_high: Option<f64>,
    /// The band in words; one without a lower end has an upper end alone.
    band_text: Option<String>,
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
            least: case.spread.map(|spread| spread.least),
            greatest: case.spread.map(|spread| spread.greatest),
            seeds: case.spread.map(|spread| spread.values),
            // A chart whose axis reached an open end would show nothing else.
            band_low: case
                .band
                .filter(|band| has_lower_end(*band))
                .map(|[low, _]| low),
            band_high: case.band.map(|[_, high]| high),
            band_text: case.band.map(|band| band_text(band, |end| end.to_string())),
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
        let [required, open] = [Gate::Required, Gate::Open].map(|gate| answer.tally(gate));
        StudyRow {
            name: answer.study.clone(),
            title: answer.title.clone(),
            source: answer.source.clone(),
            matches,
            judged: matches + count(Verdict::Miss),
            rows: answer.cases.len(),
            required: required.rows,
            required_matches: required.matches,
            open: open.rows,
            open_matches: open.matches,
            not_judged: answer.not_judged(),
            quick: answer.quick,
            left_out: answer.left_out.clone(),
        }
    }
}

impl StudyBody {
    /// Makes a study's body; `drawn` has the pictures that its trials recorded.
    pub(crate) fn of(answer: &StudyAnswer, drawn: &[Drawn]) -> StudyBody {
        let variants = answer.variants.iter().map(|variant| StudyVariantBody {
            name: variant.name.clone(),
            about: variant.about.clone(),
            trials: variant.trials,
        });
        let charts = answer.charts.iter().map(|chart| StudyChartBody {
            title: chart.title.clone(),
            metrics: chart.metrics.clone(),
            bars: chart.bars.clone(),
            axis: chart.axis.clone(),
        });
        let pauses = answer.pauses.iter().map(|of| PausesBody {
            variant: of.variant.clone(),
            xoff_min_frames: of.nic_xoff_min_frames,
            xoff_mean_frames: of.nic_xoff_mean_frames,
            xoff_max_frames: of.nic_xoff_max_frames,
            xoff_evenness: of.nic_xoff_evenness,
            held_text: of.held(),
            switch: of.switch.clone(),
        });
        let notes = answer.noted();
        let notes = notes.iter().map(|note| note.line(answer.variants.len()));
        let recorded = drawn.iter().map(recorded_picture);
        StudyBody {
            row: StudyRow::from(answer),
            digest: answer.digest.clone(),
            variants: variants.collect(),
            cases: answer.cases.iter().map(StudyCaseBody::from).collect(),
            charts: charts.collect(),
            recorded: recorded
                .map(|picture| PictureBody::from(&picture))
                .collect(),
            notes: notes.collect(),
            pauses: pauses.collect(),
            page: String::new(),
            scenario: String::new(),
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
        Ok(Json(StudyBody {
            page: texts.readme.to_owned(),
            scenario: texts.scenario.to_owned(),
            ..StudyBody::of(&answer, &[])
        }))
    })
    .await
}
