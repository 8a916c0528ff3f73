//! A trial's tables: their list, pages with rows, and whole tables as CSV.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter::report::{TableGroups, TrialTable};
use tenter_results::{ColumnInfo, Filter, Kind, ReadyFilter};
use tokio::sync::OwnedSemaphorePermit;
use utoipa::{IntoParams, ToSchema};

use super::trials::{found, is_descending};
use crate::server::cells::text;
use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::{Asked, At};
use crate::server::parts::in_parts;
use crate::server::rows::{Selection, count, fitting, page, place, ready, selected};
use crate::server::state::{App, Shared, apart};
use crate::server::stored::{named, open};

/// A table of a trial.
#[derive(Serialize, ToSchema)]
pub(crate) struct TableBody {
    /// Its name, which is part of its address.
    name: &'static str,
    /// What one row is.
    about: &'static str,
    /// How many rows it has.
    rows: usize,
    /// Its columns in order.
    columns: Vec<ColumnBody>,
}

/// A column of a table.
#[derive(Serialize, ToSchema)]
pub(crate) struct ColumnBody {
    name: &'static str,
    /// Its unit; empty for a count, an index, a name or a flag.
    unit: &'static str,
    /// What a value is, in a sentence.
    meaning: &'static str,
    kind: KindWord,
    /// Whether a row may have no value here.
    optional: bool,
}

/// What a column holds. Values of `unsigned` are texts, as a browser would round them.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KindWord {
    Integer,
    Unsigned,
    Float,
    Text,
    Flag,
}

impl From<&ColumnInfo> for ColumnBody {
    fn from(column: &ColumnInfo) -> ColumnBody {
        ColumnBody {
            name: column.name,
            unit: column.unit,
            meaning: column.meaning,
            kind: match column.kind {
                Kind::Integer => KindWord::Integer,
                Kind::Unsigned => KindWord::Unsigned,
                Kind::Float => KindWord::Float,
                Kind::Text => KindWord::Text,
                Kind::Flag => KindWord::Flag,
            },
            optional: column.optional,
        }
    }
}

/// Returns a trial's folder, or a 409 that says why it has none.
pub(crate) fn folder_of(app: &App, id: i64) -> Result<PathBuf, ApiError> {
    let trial = found(app, id)?;
    let state = trial.state.word();
    trial.folder.ok_or_else(|| {
        ApiError::conflict(match trial.error {
            _ if trial.sweep.is_some() && trial.headline.digest.is_some() => "the trial has no tables: its sweep keeps summary and readings alone; `keep: tables` in its description keeps tables, too".to_owned(),
            Some(why) => format!("the trial is {state}: {why}"),
            None => format!("the trial is {state} and has no rows yet; wait for its end"),
        })
    })
}

/// The tables of a trial.
#[utoipa::path(get, path = "/trials/{id}/tables", tag = "tables",
    params(
        ("id" = i64, Path, description = "Number of the trial")),
    responses(
        (status = 200, body = Vec<TableBody>),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub(crate) async fn tables(
    State(app): State<Shared>,
    At(id): At<i64>,
) -> Result<Json<Vec<TableBody>>, ApiError> {
    apart(move || {
        let folder = folder_of(&app, id)?;
        let all = TrialTable::all().into_iter();
        let there = all.filter(|table| table.is_in(&folder));
        let body = |table: TrialTable| {
            // A run that is under way, or was killed early, may have unfinished files.
            let groups = table.open(&folder).ok()?;
            Some(TableBody {
                name: table.name,
                about: table.about,
                rows: count(&groups),
                columns: table.columns().iter().map(ColumnBody::from).collect(),
            })
        };
        Ok(Json(there.filter_map(body).collect()))
    })
    .await
}

/// Which rows of a table are asked for.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RowsQuery {
    /// Names of columns, parted by commas; all unless given.
    columns: Option<String>,
    /// A condition as in queries, for instance `fct_ns > 10us and job_name = train`.
    r#where: Option<String>,
    /// The column that rows are in the order of; that of the file unless given.
    sort: Option<String>,
    /// `asc` or `desc`; `asc` unless given.
    order: Option<String>,
    /// How many are passed over.
    offset: Option<usize>,
    /// The most that are given; 100 unless given, and never more than 10,000.
    limit: Option<usize>,
}

/// A page of rows.
#[derive(Serialize, ToSchema)]
pub(crate) struct RowsBody {
    /// How many fit.
    total: usize,
    /// The columns of the rows.
    columns: Vec<ColumnBody>,
    /// A value for each column.
    #[schema(value_type = Vec<Vec<Value>>)]
    rows: Vec<Vec<Value>>,
}

/// Maximum number of rows in a page.
const LIMIT_MAX: usize = 10_000;

/// A page of rows of a table; with `Accept: text/csv` all that fit, in the order of the file.
#[utoipa::path(get, path = "/trials/{id}/tables/{table}", tag = "tables",
    params(
        ("id" = i64, Path, description = "Number of the trial"),
        ("table" = String, Path, description = "Name of the table"),
        RowsQuery),
    responses(
        (status = 200, content((RowsBody = "application/json"), (String = "text/csv"))),
        (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub(crate) async fn rows(
    State(app): State<Shared>,
    At((id, name)): At<(i64, String)>,
    Asked(asked): Asked<RowsQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let accepts = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    let as_csv = accepts.is_some_and(|accept| accept.starts_with("text/csv"));
    // Awaited here: within `apart`, the wait would occupy a blocking thread.
    let held = if as_csv {
        Some(app.csv_place().await?)
    } else {
        None
    };
    apart(move || {
        let table = named(&name)?;
        let folder = folder_of(&app, id)?;
        let groups = open(&folder, &table)?;
        let columns = table.columns();
        let shown = shown(asked.columns.as_deref(), &columns)?;
        let filter = Filter::parse(table.name, asked.r#where.as_deref().unwrap_or_default());
        let filter = filter.map_err(|problem| ApiError::bad(problem.line()))?;
        if let Some(held) = held {
            let filter = ready(&filter, &folder)?;
            return Ok(csv(groups, &table, &columns, shown, filter, held));
        }
        let order = asked.sort.as_deref().filter(|name| !name.is_empty());
        let order = order.map(|name| place(&columns, name).ok_or_else(|| no_column(name)));
        let descending = is_descending(asked.order.as_deref(), false)?;
        let selection = Selection {
            filter,
            order: order.transpose()?.map(|column| (column, descending)),
        };
        let all = count(&groups);
        let rows = selected(&folder, &groups, &selection)?;
        let total = rows.as_ref().map_or(all, Vec::len);
        let from = asked.offset.unwrap_or(0).min(total);
        let to = from
            .saturating_add(asked.limit.unwrap_or(100).min(LIMIT_MAX))
            .min(total);
        let rows = rows.map_or_else(
            || (from as u32..to as u32).collect::<Vec<_>>(),
            |rows| rows[from..to].to_vec(),
        );
        let body = RowsBody {
            total,
            columns: shown
                .iter()
                .map(|&place| ColumnBody::from(&columns[place]))
                .collect(),
            rows: page(&groups, &shown, &rows)?,
        };
        Ok(Json(body).into_response())
    })
    .await
}

fn no_column(name: &str) -> ApiError {
    ApiError::bad(format!(
        "the table has no column `{name}`; its address without a query lists them"
    ))
}

/// Resolves a comma-separated list with column names to their indices; all columns without one.
fn shown(asked: Option<&str>, columns: &[ColumnInfo]) -> Result<Vec<usize>, ApiError> {
    match asked.filter(|names| !names.is_empty()) {
        None => Ok((0..columns.len()).collect()),
        Some(names) => {
            let names = names.split(',').map(str::trim);
            names
                .map(|name| place(columns, name).ok_or_else(|| no_column(name)))
                .collect()
        }
    }
}

/// Streams all rows that match as CSV, group by group, with two groups in memory at most. `held`
/// limits the number of such answers and is given back at the end.
fn csv(
    groups: TableGroups,
    table: &TrialTable,
    columns: &[ColumnInfo],
    shown: Vec<usize>,
    filter: Option<ReadyFilter>,
    held: OwnedSemaphorePermit,
) -> Response {
    let names: Vec<&str> = shown.iter().map(|&place| columns[place].name).collect();
    let mut head = Some(names.join(",") + "\n");
    let mut group = 0;
    let part = move || {
        if let Some(head) = head.take() {
            return Ok(Some(head));
        }
        if group == groups.count() {
            return Ok(None);
        }
        let part = csv_part(&groups, group, &shown, filter.as_ref()).map_err(io::Error::other)?;
        group += 1;
        Ok(Some(part))
    };
    let file = format!("attachment; filename=\"{}.csv\"", table.name);
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (CONTENT_DISPOSITION, file),
    ];
    (headers, in_parts(part, Some(held))).into_response()
}

fn csv_part(
    groups: &TableGroups,
    group: usize,
    shown: &[usize],
    filter: Option<&ReadyFilter>,
) -> Result<String, tenter::report::TrialError> {
    let fit = fitting(groups, group, filter)?;
    let columns = shown.iter().map(|&column| groups.column(group, column));
    let columns: Vec<_> = columns.collect::<Result<_, _>>()?;
    let mut part = String::new();
    for row in 0..groups.rows(group) {
        if fit.as_ref().is_some_and(|fit| !fit[row]) {
            continue;
        }
        for (place, column) in columns.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            // Writing to a `String` cannot fail.
            let _ = write!(part, "{comma}{}", text(column.cell(row)));
        }
        part.push('\n');
    }
    Ok(part)
}
