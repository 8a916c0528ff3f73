//! Compares several trials side by side.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter::Scenario;
use tenter::report::{NamedSummary, comparison_groups, comparison_table, read_summary, remarks};
use tenter_results::{Column, ComparisonRow, Names, Row};
use utoipa::{IntoParams, ToSchema};

use super::cdf::{JobCdf, distributions};
use super::tables::{ColumnBody, folder_of};
use super::trials::found;
use crate::server::cells::value;
use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::Asked;
use crate::server::state::{App, Shared, apart};
use crate::server::trial_body::TrialRow;

/// Maximum number of trials in a comparison.
const TRIALS_MAX: usize = 16;

/// Which trials.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CompareQuery {
    /// Numbers of trials, parted by commas; differences are against the first.
    ids: String,
}

impl CompareQuery {
    /// Parses the numbers and checks them as [`checked`] does.
    pub(super) fn ids(&self, app: &App) -> Result<Vec<i64>, ApiError> {
        checked(app, numbers(&self.ids)?)
    }
}

/// Parses numbers with commas between them.
pub(super) fn numbers(ids: &str) -> Result<Vec<i64>, ApiError> {
    let ids = ids.split(',').map(|id| id.trim().parse::<i64>());
    let ids: Result<Vec<i64>, _> = ids.collect();
    ids.map_err(|_| ApiError::bad("`ids` has what is no number; write `ids=1,2`"))
}

/// Refuses duplicates and more than [`TRIALS_MAX`].
pub(super) fn checked(app: &App, ids: Vec<i64>) -> Result<Vec<i64>, ApiError> {
    // A report compares all of its trials, however many they are.
    if ids.len() > TRIALS_MAX && app.read.is_empty() {
        return Err(ApiError::bad(format!(
            "there are {} trials; compare at most {TRIALS_MAX} at once",
            ids.len()
        )));
    }
    let mut all = ids.iter().enumerate();
    match all.find(|(at, id)| ids[..*at].contains(id)) {
        Some((_, id)) => Err(ApiError::bad(format!(
            "trial {id} is named twice; name each once"
        ))),
        None => Ok(ids),
    }
}

/// Names trials for a comparison: one whose name an earlier trial has gets its number, too.
pub(super) fn names_apart(app: &App, ids: &[i64]) -> Result<Vec<String>, ApiError> {
    let mut names: Vec<String> = Vec::new();
    for &id in ids {
        let name = found(app, id)?.name;
        let is_taken = names.contains(&name);
        names.push(if is_taken {
            format!("{name} ({id})")
        } else {
            name
        });
    }
    Ok(names)
}

/// Trials side by side.
#[derive(Serialize, ToSchema)]
pub(crate) struct CompareBody {
    trials: Vec<TrialRow>,
    /// The columns of `rows`.
    columns: Vec<ColumnBody>,
    /// A row for each job, collective and size of each trial, as `tenter compare` has them.
    #[schema(value_type = Vec<Vec<Value>>)]
    rows: Vec<Vec<Value>>,
    /// Whose each of `rows` is, row after row.
    places: Vec<PlaceBody>,
    /// The same as `tenter compare` prints it.
    text: String,
    /// What a reader must know before the numbers, a line for each note.
    remarks: Vec<String>,
    /// Settings that differ.
    config: Vec<SettingBody>,
    /// Completion times of flows.
    cdfs: Vec<TrialCdf>,
}

/// Whose a row is.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlaceBody {
    /// Number of the trial.
    trial: i64,
    /// Which rows it belongs to: rows of one group are of the same job, collective and size, or of
    /// whole trials; a trial has one of them or none.
    group: usize,
}

/// A setting that differs.
#[derive(Serialize, ToSchema)]
pub(crate) struct SettingBody {
    /// Its path in the scenario.
    path: String,
    /// Its value in each trial, as text; missing where a trial has none.
    values: Vec<Option<String>>,
}

/// The distribution of a job in one of the trials.
#[derive(Serialize, ToSchema)]
pub(crate) struct TrialCdf {
    /// Number of the trial.
    trial: i64,
    #[serde(flatten)]
    cdf: JobCdf,
}

/// Trials side by side: rows, differences of their configurations, distributions.
#[utoipa::path(get, path = "/compare", tag = "statistics", params(CompareQuery),
    responses(
        (status = 200, body = CompareBody),
        (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub(crate) async fn compare(
    State(app): State<Shared>,
    Asked(asked): Asked<CompareQuery>,
) -> Result<Json<CompareBody>, ApiError> {
    let ids = asked.ids(&app)?;
    apart(move || Ok(Json(compared(&app, &ids)?))).await
}

fn compared(app: &App, ids: &[i64]) -> Result<CompareBody, ApiError> {
    let (mut trials, mut summaries, mut configs, mut cdfs) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for &id in ids {
        let trial = found(app, id)?;
        let folder = folder_of(app, id)?;
        let summary = read_summary(&folder).map_err(|_| {
            ApiError::conflict(format!(
                "trial {id} is {} and has no summary; compare others",
                trial.state.word()
            ))
        })?;
        // Trials may share a name, and rows are told apart by it.
        let name = format!("{} ({id})", trial.name);
        summaries.push(NamedSummary { name, summary });
        // A configuration of another version may not be readable; the results are.
        configs.push(settings(&folder).ok());
        // A trial without flows can still be compared by its rows.
        let of_trial = distributions(app, &folder, None, None, "fct_ns").unwrap_or_default();
        cdfs.extend(of_trial.into_iter().map(|cdf| TrialCdf { trial: id, cdf }));
        trials.push(trial.into());
    }
    let mut remarks = remarks(&summaries);
    let configs: Option<Vec<_>> = configs.into_iter().collect();
    if configs.is_none() {
        let what =
            "the settings of a trial cannot be read by this version, so settings are not compared";
        remarks.push(what.to_owned());
    }
    let (mut rows, mut places) = (Vec::new(), Vec::new());
    for (group, of_group) in comparison_groups(&summaries).into_iter().enumerate() {
        for (place, row) in of_group {
            let trial = ids[place];
            places.push(PlaceBody { trial, group });
            rows.push(row);
        }
    }
    Ok(CompareBody {
        trials,
        columns: columns(),
        text: comparison_table(&rows),
        remarks,
        rows: rows.iter().map(values).collect(),
        places,
        config: differing(&configs.unwrap_or_default()),
        cdfs,
    })
}

fn columns() -> Vec<ColumnBody> {
    let columns = ComparisonRow::COLUMNS.iter().map(Column::info);
    columns.map(|column| ColumnBody::from(&column)).collect()
}

fn values(row: &ComparisonRow) -> Vec<Value> {
    let names = Names::default();
    let cells = ComparisonRow::COLUMNS.iter();
    cells
        .map(|column| value((column.cell)(row, &names)))
        .collect()
}

/// Returns all settings in a trial by their paths.
fn settings(folder: &std::path::Path) -> Result<BTreeMap<String, String>, ApiError> {
    let typed = Scenario::of_trial(folder)?.typed()?;
    let mut settings = BTreeMap::new();
    if let Ok(value) = serde_json::to_value(&typed) {
        flatten(String::new(), value, &mut settings);
    }
    Ok(settings)
}

fn flatten(path: String, value: Value, settings: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => {}
        Value::Object(object) => {
            for (key, value) in object {
                let within = if path.is_empty() {
                    key
                } else {
                    format!("{path}.{key}")
                };
                flatten(within, value, settings);
            }
        }
        // A list of plain values is one setting: shown element by element, each shift would read as
        // many differences.
        Value::Array(values)
            if values
                .iter()
                .any(|value| value.is_object() || value.is_array()) =>
        {
            for (place, value) in values.into_iter().enumerate() {
                flatten(format!("{path}[{place}]"), value, settings);
            }
        }
        Value::String(text) => {
            settings.insert(path, text);
        }
        other => {
            settings.insert(path, other.to_string());
        }
    }
}

fn differing(configs: &[BTreeMap<String, String>]) -> Vec<SettingBody> {
    let mut paths: Vec<&String> = configs.iter().flat_map(BTreeMap::keys).collect();
    paths.sort_unstable();
    paths.dedup();
    let setting = |path: &String| {
        let values: Vec<Option<String>> = configs
            .iter()
            .map(|config| config.get(path).cloned())
            .collect();
        let is_same = values.windows(2).all(|pair| pair[0] == pair[1]);
        (!is_same).then(|| SettingBody {
            path: path.clone(),
            values,
        })
    };
    paths.into_iter().filter_map(setting).collect()
}
