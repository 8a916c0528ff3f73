//! The interface's routes and their `OpenAPI` description.

mod about;
mod cdf;
mod check;
mod compare;
mod events;
mod fabric;
mod files;
mod held_up;
mod live;
pub(crate) mod measured;
pub(crate) mod pictures;
mod ports;
mod presets;
pub(crate) mod studies;
pub(crate) mod sweep_designs;
pub(crate) mod sweeps;
mod tables;
mod timeline;
mod trial_fabric;
mod trials;

use std::collections::BTreeMap;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use utoipa::OpenApi;
use utoipa::openapi::{Content, Ref, RefOr, ResponseBuilder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::server::error::ApiError;
use crate::server::guard::guard;
use crate::server::page;
use crate::server::state::Shared;

/// The interface of a workspace.
#[derive(OpenApi)]
#[openapi(info(
    title = "Tenter workspace",
    description = "The local interface of `tenter ui`: queue, watch, read and compare trials of an AI or HPC network fabric. Times have their unit in their names; rates are bits per second, sizes bytes.",
    license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
))]
struct Description;

fn api() -> OpenApiRouter<Shared> {
    let routes = OpenApiRouter::new()
        .routes(routes!(about::about))
        .routes(routes!(about::schema))
        .routes(routes!(presets::presets))
        .routes(routes!(presets::preset))
        .routes(routes!(check::check))
        .routes(routes!(fabric::fabric))
        .routes(routes!(fabric::mapping))
        .routes(routes!(trials::list, trials::queue))
        .routes(routes!(trials::show, trials::change, trials::remove))
        .routes(routes!(trials::cancel))
        .routes(routes!(trials::tags))
        .routes(routes!(trials::config))
        .routes(routes!(tables::tables))
        .routes(routes!(tables::rows))
        .routes(routes!(cdf::cdf))
        .routes(routes!(timeline::timeline))
        .routes(routes!(ports::series))
        .routes(routes!(ports::heat))
        .routes(routes!(trial_fabric::fabric))
        .routes(routes!(live::live))
        .routes(routes!(held_up::held_up))
        .routes(routes!(pictures::pictures))
        .routes(routes!(compare::compare))
        .routes(routes!(pictures::together))
        .routes(routes!(files::parquet))
        .routes(routes!(files::trace))
        .routes(routes!(files::report))
        .routes(routes!(sweeps::list, sweeps::queue))
        .routes(routes!(sweep_designs::designs))
        .routes(routes!(sweeps::show))
        .routes(routes!(sweeps::cancel))
        .routes(routes!(sweeps::together))
        .routes(routes!(measured::measured))
        .routes(routes!(studies::studies))
        .routes(routes!(studies::study))
        .routes(routes!(events::events));
    OpenApiRouter::with_openapi(Description::openapi()).nest("/api/v1", routes)
}

/// Returns the interface's description as JSON, in `OpenAPI` 3.1.
pub fn openapi() -> String {
    let (_, mut description) = api().split_for_parts();
    env!("CARGO_PKG_VERSION").clone_into(&mut description.info.version);
    // Routes do not list what the guard and the body reader answer before them; it is added here.
    for path in description.paths.paths.values_mut() {
        let changes = [&mut path.post, &mut path.patch, &mut path.delete];
        for operation in changes.into_iter().flatten() {
            let responses = &mut operation.responses.responses;
            add(responses, &OF_CHANGES);
            if operation.request_body.is_some() {
                add(responses, &OF_BODIES);
            }
        }
    }
    let text = description.to_pretty_json();
    text.map_or_else(|error| error.to_string(), |text| text + "\n")
}

/// A status and its meaning.
type Refusal = (&'static str, &'static str);

/// Refusals by the guard, for every request that changes something.
const OF_CHANGES: [Refusal; 2] = [
    ("403", "another site has sent it"),
    ("415", "the body is not said to be JSON"),
];
/// Refusals while a body is read, for every request that has one.
const OF_BODIES: [Refusal; 2] = [
    ("408", "the body does not arrive"),
    ("413", "the body is too long"),
];

/// Adds `refusals` to a route's responses.
fn add(responses: &mut BTreeMap<String, RefOr<utoipa::openapi::Response>>, refusals: &[Refusal]) {
    for (status, meaning) in refusals {
        let body = Content::new(Some(Ref::from_schema_name("ErrorBody")));
        let response = ResponseBuilder::new()
            .description(*meaning)
            .content("application/json", body);
        responses.insert((*status).to_owned(), response.into());
    }
}

/// Returns the routes without guard and page, for calls from this process: reports.
pub(crate) fn unguarded(app: Shared) -> Router {
    let (routes, _) = api().split_for_parts();
    routes.with_state(app)
}

/// Returns all that a server answers: routes, their description, the page, behind the guard.
pub(crate) fn router(app: Shared) -> Router {
    let (routes, _) = api().split_for_parts();
    let description: Router<Shared> = Router::new().route(
        "/api/v1/openapi.json",
        axum::routing::get(|| async {
            (
                [(axum::http::header::CONTENT_TYPE, "application/json")],
                openapi(),
            )
        }),
    );
    routes
        .merge(description)
        .fallback(axum::routing::get(page::file).fallback(no_method))
        .method_not_allowed_fallback(no_method)
        // The guard is the last layer, so it covers the routes above, the page and both fallbacks.
        .layer(from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

async fn no_method() -> Response {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "the route does not take this method; /api/v1/openapi.json lists those that it takes",
    )
    .into_response()
}
