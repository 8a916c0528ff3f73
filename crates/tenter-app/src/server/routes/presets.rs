//! Scenarios from which to start.

use axum::Json;
use serde::Serialize;
use tenter::resolve::PRESETS;
use tenter::studies::STUDIES;
use utoipa::ToSchema;

use crate::server::error::ApiError;
use crate::server::extract::At;
use crate::server::state::apart;

/// A scenario to begin with.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct PresetBody {
    /// Its name, which is part of its address.
    name: String,
    /// `fabric`: a fabric with a first job; `example`: a scenario that shows one thing; `study`:
    /// what the variants of a published study start from.
    kind: PresetKind,
    /// What it is.
    meaning: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PresetKind {
    Fabric,
    Example,
    Study,
}

/// A scenario to begin with, and its text.
#[derive(Serialize, ToSchema)]
pub(crate) struct PresetText {
    #[serde(flatten)]
    preset: PresetBody,
    /// The scenario in YAML, ready to be changed and run.
    text: String,
}

/// Job that is added to a fabric preset, which has none.
const FIRST_JOBS: &str = "\
jobs:
  - name: train
    collectives:
      - {collective: all-reduce, size: 16MiB}
";

/// Includes an example scenario by name.
macro_rules! example {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/scenarios/",
                $name,
                ".yaml"
            )),
        )
    };
}

/// Examples, one for each feature. They refer to no files, since the server resolves text alone.
const EXAMPLES: [(&str, &str); 10] = [
    example!("quickstart"),
    example!("incast"),
    example!("pfc"),
    example!("dcqcn"),
    example!("adaptive"),
    example!("packet-spray"),
    example!("scheduled-fabric"),
    example!("eight-tenants"),
    example!("training-small"),
    example!("inference-small"),
];

fn all() -> Vec<PresetText> {
    let of = |kind, name: &str, text: &str| PresetText {
        preset: PresetBody {
            name: name.to_owned(),
            kind,
            meaning: description(text),
        },
        text: text.to_owned(),
    };
    let fabrics = PRESETS.iter().map(|preset| PresetText {
        // A fabric alone cannot be run.
        text: format!("{}\n{FIRST_JOBS}", preset.text.trim_end()),
        ..of(PresetKind::Fabric, preset.name, preset.text)
    });
    let examples = EXAMPLES.iter();
    let examples = examples.map(|(name, text)| of(PresetKind::Example, name, text));
    let studies = STUDIES.iter();
    let studies = studies.map(|study| of(PresetKind::Study, study.name, study.scenario));
    fabrics.chain(examples).chain(studies).collect()
}

/// Returns the `description` in a scenario's text, or an empty string.
fn description(text: &str) -> String {
    // The scenario is not parsed: the list is read often, and the line is written by hand in each.
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("description:"));
    let line = line.unwrap_or_default().trim();
    line.trim_matches(['"', '\'']).to_owned()
}

/// Scenarios to begin with: fabrics with a first job, examples, and those of published studies.
#[utoipa::path(get, path = "/presets", tag = "scenarios",
    responses(
        (status = 200, body = Vec<PresetBody>)))]
pub(crate) async fn presets() -> Result<Json<Vec<PresetBody>>, ApiError> {
    apart(|| Ok(Json(all().into_iter().map(|of| of.preset).collect()))).await
}

/// The text of a scenario to begin with.
#[utoipa::path(get, path = "/presets/{name}", tag = "scenarios",
    params(("name" = String, Path, description = "Its name; `/` as `%2F`")),
    responses(
        (status = 200, body = PresetText),
        (status = 404, body = crate::server::error::ErrorBody)))]
pub(crate) async fn preset(At(name): At<String>) -> Result<Json<PresetText>, ApiError> {
    apart(move || {
        let found = all().into_iter().find(|of| of.preset.name == name);
        found
            .map(Json)
            .ok_or_else(|| ApiError::missing("there is no such preset; /api/v1/presets lists them"))
    })
    .await
}
