//! Port samples over time, one port or all.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use tenter::report::{TrialTable, read_rows};
use tenter_results::PortRow;
use utoipa::{IntoParams, ToSchema};

use super::tables::folder_of;
use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::{Asked, At};
use crate::server::series::m4;
use crate::server::state::{App, Shared, apart};
use crate::server::stored::named;

/// What is drawn of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Metric {
    /// Bytes that wait at the sampling instant.
    QueueBytes,
    /// The most bytes that waited since the sample before.
    #[default]
    QueueHighWaterBytes,
    /// Frame bytes sent since the sample before, as a share of what the cable carries.
    Utilisation,
    /// Frame bytes sent since the sample before, per second, in Gb/s.
    TxGbps,
    /// Classes that are paused at the sampling instant, as a number of bits.
    PausedClasses,
}

impl Metric {
    fn column(self) -> &'static str {
        match self {
            Metric::QueueBytes => "queue_bytes",
            Metric::QueueHighWaterBytes => "queue_high_water_bytes",
            Metric::Utilisation | Metric::TxGbps => "tx_bytes",
            Metric::PausedClasses => "paused_classes",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Metric::QueueBytes | Metric::QueueHighWaterBytes => "bytes",
            Metric::TxGbps => "Gb/s",
            Metric::Utilisation | Metric::PausedClasses => "",
        }
    }
}

/// One metric's samples, row by row as in the table `samples`.
pub(crate) struct Samples {
    pub(crate) times: Arc<Vec<f64>>,
    pub(crate) nodes: Arc<Vec<f64>>,
    pub(crate) ports: Arc<Vec<f64>>,
    values: Arc<Vec<f64>>,
    metric: Metric,
    /// Sampling instants in ns, each once, ascending.
    pub(crate) instants: Vec<f64>,
    /// Port rates in Gb/s, by node and port.
    rates: HashMap<(u32, u16), f64>,
}

impl Samples {
    pub(crate) fn read(app: &App, folder: &Path, metric: Metric) -> Result<Samples, ApiError> {
        let table: TrialTable = named("samples")?;
        let names = ["time_ns", "node", "port", metric.column()];
        let [times, nodes, ports, values] = app.cache.columns(folder, &table, names)?;
        let mut instants = times.to_vec();
        instants.dedup();
        Ok(Samples {
            times,
            nodes,
            ports,
            values,
            metric,
            instants,
            rates: rates(app, folder).unwrap_or_default(),
        })
    }

    /// Returns a sample's node and port.
    pub(crate) fn port(&self, row: usize) -> (u32, u16) {
        (self.nodes[row] as u32, self.ports[row] as u16)
    }

    /// Returns a sample's value in the metric's unit.
    pub(crate) fn value(&self, row: usize) -> f64 {
        let value = self.values[row];
        let at = self
            .instants
            .partition_point(|instant| *instant < self.times[row]);
        // Bytes count since the previous instant of the table. Idle ports have no row, so the
        // previous row of the port may be older.
        let before = at.checked_sub(1).map_or(0.0, |at| self.instants[at]);
        let gbps = || value * 8.0 / (self.times[row] - before).max(1e-9);
        match self.metric {
            Metric::TxGbps => gbps(),
            Metric::Utilisation => {
                let rate = self.rates.get(&self.port(row)).copied().unwrap_or(0.0);
                if rate > 0.0 { gbps() / rate } else { 0.0 }
            }
            _ => value,
        }
    }
}

/// Reads a trial's port rates, in Gb/s.
fn rates(app: &App, folder: &Path) -> Result<HashMap<(u32, u16), f64>, ApiError> {
    let table: TrialTable = named("ports")?;
    let names = ["node", "port", "rate_gbps"];
    let [nodes, ports, rates] = app.cache.columns(folder, &table, names)?;
    let of_port = |row: usize| ((nodes[row] as u32, ports[row] as u16), rates[row]);
    Ok((0..rates.len()).map(of_port).collect())
}

/// Returns the rows in the table `ports`, from memory in a report. A trial without that table has
/// none.
pub(super) fn ports_of<'a>(app: &'a App, folder: &Path) -> Cow<'a, [PortRow]> {
    match app.read.get(folder) {
        Some(read) => Cow::Borrowed(&read.ports),
        None => Cow::Owned(read_rows(folder).unwrap_or_default()),
    }
}

/// What of a port, when, and how finely.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SeriesQuery {
    /// What is drawn; `queue_high_water_bytes` unless given.
    metric: Option<Metric>,
    /// From when on, in nanoseconds.
    from: Option<f64>,
    /// Until when, in nanoseconds.
    to: Option<f64>,
    /// Pixel columns; 1,000 unless given.
    width: Option<usize>,
}

/// A series.
#[derive(Serialize, ToSchema)]
pub(crate) struct SeriesBody {
    /// The port, for instance `leaf0:3`.
    port: String,
    metric: Metric,
    /// Unit of the values; empty of a share.
    unit: &'static str,
    /// Time in nanoseconds and value; of each pixel column the first, least, greatest and last.
    #[schema(value_type = Vec<Vec<f64>>)]
    points: Vec<(f64, f64)>,
}

/// What a port has sampled over time.
#[utoipa::path(get, path = "/trials/{id}/ports/{port}", tag = "statistics",
    params(
        ("id" = i64, Path, description = "Number of the trial"),
        ("port" = String, Path, description = "The port, for instance `leaf0:3`; `/` as `%2F`"),
        SeriesQuery),
    responses(
        (status = 200, body = SeriesBody),
        (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub(crate) async fn series(
    State(app): State<Shared>,
    At((id, port)): At<(i64, String)>,
    Asked(asked): Asked<SeriesQuery>,
) -> Result<Json<SeriesBody>, ApiError> {
    apart(move || {
        let folder = folder_of(&app, id)?;
        let metric = asked.metric.unwrap_or_default();
        let of = port_of_name(&ports_of(&app, &folder), &port)?;
        let samples = Samples::read(&app, &folder, metric)?;
        let (from, to) = (
            asked.from.unwrap_or(f64::NEG_INFINITY),
            asked.to.unwrap_or(f64::INFINITY),
        );
        let rows = 0..samples.times.len();
        let points: Vec<(f64, f64)> = rows
            .filter(|&row| samples.port(row) == of && (from..=to).contains(&samples.times[row]))
            .map(|row| (samples.times[row], samples.value(row)))
            .collect();
        let first = points.first().map_or(0.0, |point| point.0);
        let last = points.last().map_or(0.0, |point| point.0);
        let width = asked.width.unwrap_or(1_000).clamp(1, 4_000);
        Ok(Json(SeriesBody {
            port,
            metric,
            unit: metric.unit(),
            points: m4(&points, first, last, width),
        }))
    })
    .await
}

/// Finds node and port by a name such as `leaf0:3`.
fn port_of_name(rows: &[PortRow], name: &str) -> Result<(u32, u16), ApiError> {
    let found = rows
        .iter()
        .find(|row| name_of(row) == name)
        .map(|row| (row.node, row.port));
    found.ok_or_else(|| {
        ApiError::missing("the trial has no such port; its table `ports` lists them, as NODE:PORT")
    })
}

/// Returns a port's name, for instance `leaf0:3`.
pub(crate) fn name_of(row: &PortRow) -> String {
    format!("{}:{}", row.node_name, row.port)
}

/// What of the ports, and how finely.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HeatQuery {
    /// What is drawn; `queue_high_water_bytes` unless given.
    metric: Option<Metric>,
    /// Columns of time at most; 240 unless given.
    columns: Option<usize>,
    /// Ports at most, those with the greatest values; 128 unless given.
    ports: Option<usize>,
    /// From when on, in nanoseconds.
    from: Option<f64>,
    /// Until when, in nanoseconds.
    to: Option<f64>,
}

/// Ports over time.
#[derive(Serialize, ToSchema)]
pub(crate) struct HeatBody {
    metric: Metric,
    /// Unit of the values; empty of a share.
    unit: &'static str,
    /// When each column begins, in nanoseconds.
    times_ns: Vec<f64>,
    /// The ports, in the order of nodes.
    ports: Vec<String>,
    /// Of each port the greatest value in each column; missing where it was not sampled.
    values: Vec<Vec<Option<f64>>>,
    /// The greatest of all.
    max: f64,
    /// Ports that have samples, of which these have the greatest values.
    total: usize,
}

/// Ports over time, as a matrix.
#[utoipa::path(get, path = "/trials/{id}/ports-heat", tag = "statistics",
    params(("id" = i64, Path, description = "Number of the trial"), HeatQuery),
    responses(
        (status = 200, body = HeatBody),
        (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody)))]
pub(crate) async fn heat(
    State(app): State<Shared>,
    At(id): At<i64>,
    Asked(asked): Asked<HeatQuery>,
) -> Result<Json<HeatBody>, ApiError> {
    apart(move || {
        let folder = folder_of(&app, id)?;
        let metric = asked.metric.unwrap_or_default();
        let samples = Samples::read(&app, &folder, metric)?;
        Ok(Json(heat_of(&ports_of(&app, &folder), &samples, &asked)))
    })
    .await
}

/// Greatest value at a port, and its greatest value in each column.
type HeatRow = (f64, Vec<Option<f64>>);

fn heat_of(rows_of_ports: &[PortRow], samples: &Samples, asked: &HeatQuery) -> HeatBody {
    let (from, to) = (
        asked.from.unwrap_or(f64::NEG_INFINITY),
        asked.to.unwrap_or(f64::INFINITY),
    );
    let instants: Vec<f64> = samples
        .instants
        .iter()
        .copied()
        .filter(|instant| (from..=to).contains(instant))
        .collect();
    let columns = asked.columns.unwrap_or(240).clamp(1, 2_000);
    let per_column = instants.len().div_ceil(columns).max(1);
    let times_ns: Vec<f64> = instants.iter().copied().step_by(per_column).collect();
    let mut rows: HashMap<(u32, u16), HeatRow> = HashMap::new();
    for sample in 0..samples.times.len() {
        let time = samples.times[sample];
        let at = instants.partition_point(|instant| *instant < time);
        // The sample lies outside the requested span.
        if instants.get(at) != Some(&time) {
            continue;
        }
        let value = samples.value(sample);
        let row = rows.entry(samples.port(sample));
        let (most, row) = row.or_insert_with(|| (0.0, vec![None; times_ns.len()]));
        *most = most.max(value);
        let cell = &mut row[at / per_column];
        // The greatest value: a mean over a column would hide short queues.
        *cell = Some(cell.map_or(value, |known| known.max(value)));
    }
    let total = rows.len();
    // First the busiest ports, with ties in the order of node and port so that answers repeat; then
    // all kept ones in that order, as neighbours in the fabric are neighbours on the map.
    let mut shown: Vec<((u32, u16), HeatRow)> = rows.into_iter().collect();
    shown.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then(a.0.cmp(&b.0)));
    shown.truncate(asked.ports.unwrap_or(128).clamp(1, 2_048));
    shown.sort_by_key(|row| row.0);
    let names: HashMap<(u32, u16), String> = rows_of_ports
        .iter()
        .map(|row| ((row.node, row.port), name_of(row)))
        .collect();
    let name = |port: &(u32, u16)| {
        let known = names.get(port).cloned();
        known.unwrap_or_else(|| format!("node {}:{}", port.0, port.1))
    };
    HeatBody {
        metric: samples.metric,
        unit: samples.metric.unit(),
        times_ns,
        ports: shown.iter().map(|(port, _)| name(port)).collect(),
        max: shown.iter().fold(0.0, |most, (_, (of, _))| most.max(*of)),
        values: shown.into_iter().map(|(_, (_, values))| values).collect(),
        total,
    }
}
