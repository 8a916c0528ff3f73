//! Error answers: an HTTP status, a message and a remedy.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tenter::studies::SweepError;
use utoipa::ToSchema;

/// Why a request failed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    error: ErrorText,
}

/// The problem and its remedy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorText {
    /// The problem, in one sentence.
    message: String,
    /// The remedy, where there is one.
    help: Option<String>,
    /// The problems of a scenario, one by one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<ProblemBody>,
}

/// A problem of a scenario; lines and columns count from 1, and the end is behind the last
/// character.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProblemBody {
    /// The problem, in one sentence.
    pub(crate) message: String,
    /// The remedy: a text to write instead.
    pub(crate) help: Option<String>,
    /// Place of the problem, as text.
    pub(crate) place: String,
    /// The line of its first character.
    pub(crate) line: Option<usize>,
    /// The column of its first character.
    pub(crate) column: Option<usize>,
    /// The line behind its last character.
    pub(crate) end_line: Option<usize>,
    /// The column behind its last character.
    pub(crate) end_column: Option<usize>,
}

/// Joins a remedy with one more: `help; way`.
pub(crate) fn one_more(help: Option<String>, way: &str) -> String {
    help.map_or_else(|| way.to_owned(), |help| format!("{help}; {way}"))
}

impl From<&tenter::Problem> for ProblemBody {
    fn from(problem: &tenter::Problem) -> ProblemBody {
        let at = problem.position.as_ref();
        ProblemBody {
            message: problem.message.clone(),
            help: problem.help.clone(),
            place: problem.place.clone(),
            line: at.map(|at| at.start.0),
            column: at.map(|at| at.start.1),
            end_line: at.map(|at| at.end.0),
            end_column: at.map(|at| at.end.1),
        }
    }
}

/// Answer to a request that failed.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    text: ErrorText,
}

impl ApiError {
    /// Makes an error with a status. A message in the form `problem; remedy` is split at the first
    /// semicolon.
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> ApiError {
        let message = message.into();
        // All messages of Tenter have this form, so the page can show the remedy apart.
        let (message, help) = match message.split_once("; ") {
            Some((message, help)) => (message.to_owned(), Some(help.to_owned())),
            None => (message, None),
        };
        ApiError {
            status,
            text: ErrorText {
                message,
                help,
                problems: Vec::new(),
            },
        }
    }

    /// Adds one more remedy, if there is one.
    pub(crate) fn or(mut self, way: Option<&str>) -> ApiError {
        if let Some(way) = way {
            self.text.help = Some(one_more(self.text.help.take(), way));
        }
        self
    }

    /// Makes a 400: the request itself is wrong.
    pub(crate) fn bad(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, message)
    }

    /// Makes a 404: what the request names does not exist.
    pub(crate) fn missing(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, message)
    }

    /// Makes a 409: the request does not fit the current state, for instance of a trial that still
    /// runs.
    pub(crate) fn conflict(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::CONFLICT, message)
    }

    /// Makes a 500: a defect in Tenter, not in the request.
    pub(crate) fn internal(message: &str) -> ApiError {
        ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("internal error: {message}; please report this with the request as a defect"),
        )
    }
}

impl From<tenter::Error> for ApiError {
    fn from(error: tenter::Error) -> ApiError {
        // The name of the trial is cut off to look at the error itself, and goes before the message
        // again.
        let (of, inner) = match &error {
            tenter::Error::Trial { name, source } => (format!("{name}: "), &**source),
            other => (String::new(), other),
        };
        let found = match inner {
            tenter::Error::Scenario(problems) => Some((problems, "scenario")),
            tenter::Error::Sweep(SweepError::Description(problems)) => Some((problems, "sweep")),
            _ => None,
        };
        match found {
            Some((problems, what)) => {
                let problems = problems.problems();
                let count = match problems.len() {
                    1 => "a problem".to_owned(),
                    many => format!("{many} problems"),
                };
                let message = format!("{of}the {what} has {count}");
                let mut of_scenario = ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, message);
                of_scenario.text.problems = problems.iter().map(ProblemBody::from).collect();
                of_scenario
            }
            None if error.is_of_input() => {
                ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
            }
            None => ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }
}

impl From<tenter::report::TrialError> for ApiError {
    fn from(error: tenter::report::TrialError) -> ApiError {
        tenter::Error::from(error).into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(ErrorBody { error: self.text })).into_response()
    }
}
