//! Checks a scenario while it is being written.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter::report::explanation_text;
use tenter::{Budget, Error, Plan};
use utoipa::ToSchema;

use crate::server::error::{ApiError, ErrorBody, ProblemBody, one_more};
use crate::server::extract::Body;
use crate::server::resolve::resolve;
use crate::server::state::Shared;
use crate::server::turns::{Client, more_of, whose};

/// A scenario in YAML.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ScenarioText {
    /// The scenario in YAML or JSON; it can name no files.
    pub(crate) text: String,
}

/// What is wrong with a scenario, and what it means.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct CheckBody {
    /// What is wrong; a scenario without problems can be run.
    problems: Vec<ProblemBody>,
    /// What is odd but stops nobody.
    warnings: Vec<ProblemBody>,
    /// Settings without effect and other remarks, each a sentence.
    notes: Vec<String>,
    /// The scenario in YAML with every default filled in.
    effective: Option<String>,
    /// The fabric in one line.
    fabric: Option<String>,
    /// NICs of the fabric.
    hosts: Option<usize>,
    /// The jobs.
    jobs: Vec<JobBody>,
    /// Values that follow from the scenario.
    derived: Vec<DerivedBody>,
    /// The same as `tenter explain` prints them.
    explanation: Option<String>,
    /// What a run is expected to take.
    estimate: Option<EstimateBody>,
}

/// A job of a scenario.
#[derive(Serialize, ToSchema)]
pub(crate) struct JobBody {
    name: String,
    ranks: u32,
    /// Whether it runs in the background of the others.
    background: bool,
    /// Collectives in run order, iterations counted each.
    collectives: usize,
}

/// A value that follows from a scenario.
#[derive(Serialize, ToSchema)]
pub(crate) struct DerivedBody {
    /// Where it stands in the explanation, for instance `switch.headroom_bytes`.
    path: String,
    /// A number, a text or a flag.
    #[schema(value_type = Value)]
    value: Value,
    /// Its unit; empty where it has none.
    unit: &'static str,
}

/// What a run is expected to take.
#[derive(Serialize, ToSchema)]
pub(crate) struct EstimateBody {
    /// Packets carried, counted once per link.
    packet_hops: f64,
    /// Flows.
    flows: u64,
    /// Simulated time at least, in nanoseconds.
    simulated_ns: f64,
    /// Wall time on one thread of the machine of the measured constants, in seconds.
    seconds: f64,
    /// Peak resident memory in bytes.
    memory_bytes: u64,
    /// Whether that is more than there is, so that the trial would be refused.
    exceeds_memory: bool,
    /// Whether every transfer was counted; otherwise some of them stand for all.
    exact: bool,
}

/// Checks a scenario: its problems are data, and no failure.
#[utoipa::path(post, path = "/check", tag = "scenarios", request_body = ScenarioText,
    params(Client),
    responses(
        (status = 200, body = CheckBody),
        (status = 409, body = ErrorBody, description = "a newer request of the client came"),
        (status = 422, body = ErrorBody)))]
pub(crate) async fn check(
    State(app): State<Shared>,
    headers: HeaderMap,
    Body(asked, _held): Body<ScenarioText>,
) -> Result<Json<CheckBody>, ApiError> {
    let work = move |budget: &Budget| Ok(Json(checked(&asked.text, budget)));
    app.turns.take(whose(&headers, "check"), work).await
}

fn checked(text: &str, budget: &Budget) -> CheckBody {
    let checked = resolve(text, budget).and_then(|plan| explained(&plan, budget));
    let mut problems: Vec<ProblemBody> = match checked {
        Ok(body) => return body,
        Err(Error::Scenario(problems)) => {
            problems.problems().iter().map(ProblemBody::from).collect()
        }
        Err(error) => vec![ProblemBody {
            message: error.to_string(),
            help: None,
            place: "scenario".to_owned(),
            line: None,
            column: None,
            end_line: None,
            end_column: None,
        }],
    };
    // The problem that exceeds the budget is the last one, because checking stops there. Its remedy
    // also names the option that raises the budget.
    if let (Some(problem), Some(way)) = (problems.last_mut(), more_of(budget)) {
        problem.help = Some(one_more(problem.help.take(), way));
    }
    CheckBody {
        problems,
        ..CheckBody::default()
    }
}

fn explained(plan: &Plan, budget: &Budget) -> Result<CheckBody, Error> {
    let explanation = plan.explain_within(budget)?;
    let cost = &explanation.cost;
    let available = tenter::report::available_memory_bytes();
    let mut derived = Vec::new();
    // By way of JSON, so that a new value of the explanation appears without a line here.
    if let Ok(value) = serde_json::to_value(&explanation) {
        flatten(String::new(), value, &mut derived);
    }
    let resolved = plan.resolved();
    let jobs = resolved.jobs.iter().map(|job| JobBody {
        name: job.name.clone(),
        ranks: job.ranks(),
        background: job.background,
        collectives: job.sequence.len(),
    });
    Ok(CheckBody {
        problems: Vec::new(),
        warnings: plan
            .warnings()
            .problems()
            .iter()
            .map(ProblemBody::from)
            .collect(),
        notes: explanation.notes.clone(),
        effective: Some(plan.to_yaml().to_owned()),
        fabric: Some(plan.fabric_in_one_line()),
        hosts: Some(resolved.topology.hosts),
        jobs: jobs.collect(),
        derived,
        explanation: Some(explanation_text(&explanation)),
        estimate: Some(EstimateBody {
            packet_hops: cost.packet_hops,
            flows: cost.flows,
            simulated_ns: cost.simulated_ns,
            seconds: cost.wall_s,
            memory_bytes: cost.peak_bytes,
            exceeds_memory: available.is_some_and(|available| cost.peak_bytes > available),
            exact: cost.exact,
        }),
    })
}

/// Flattens `value` into single values with their paths; a name's end gives the unit.
fn flatten(path: String, value: Value, derived: &mut Vec<DerivedBody>) {
    let within = |key: &str| match path.as_str() {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match value {
        // {} =>
        Value::Null => {}
        Value::Object(object) => {
            for (key, value) in object {
                flatten(within(&key), value, derived);
            }
        }
        Value::Array(values) => {
            for (place, value) in values.into_iter().enumerate() {
                flatten(format!("{path}[{place}]"), value, derived);
            }
        }
        value => {
            let unit = unit_of(&path);
            derived.push(DerivedBody { path, value, unit });
        }
    }
}

/// Returns the unit that a name ends with, or an empty string.
fn unit_of(path: &str) -> &'static str {
    const UNITS: [(&str, &str); 10] = [
        ("_bytes", "bytes"),
        ("_gbps", "Gb/s"),
        ("_bps", "bit/s"),
        ("_ns", "ns"),
        ("_ps", "ps"),
        ("_us", "us"),
        ("_percent", "%"),
        ("_watts", "W"),
        ("_w", "W"),
        ("_s", "s"),
    ];
    let known = UNITS.iter().find(|(end, _)| path.ends_with(end));
    known.map_or("", |(_, unit)| unit)
}
