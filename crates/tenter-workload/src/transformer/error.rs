//! Errors in a model's dimensions, its parallelism, or its requests.

use crate::graph::GraphError;

/// A combination that no training or inference can run: the key at fault, the problem, and a
/// remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` {what}; {remedy}")]
pub struct Unfit {
    /// Key in the job's `workload`, such as `tp`.
    pub key: String,
    /// Problem, as a clause that follows the key.
    pub what: String,
    /// Remedy, as an imperative with values that would fit.
    pub remedy: String,
}

/// Result that checks return on keys which depend on each other.
pub(crate) type Checked<T> = Result<T, Unfit>;

pub(crate) fn wrong<T>(key: &str, what: String, remedy: String) -> Checked<T> {
    let key = key.to_owned();
    Err(Unfit { key, what, remedy })
}

/// Turns a graph error into one about `key`. `makes` names what the key produces.
pub(crate) fn cannot_run(error: &GraphError, key: &str, makes: &str) -> Unfit {
    let text = error.to_string();
    // Graph errors end with "; " and their remedy, which becomes the remedy here.
    let (what, remedy) = text.rsplit_once("; ").unwrap_or((&text, ""));
    Unfit {
        key: key.to_owned(),
        what: format!("{makes} that cannot be run: {what}"),
        remedy: remedy.to_owned(),
    }
}

/// Refuses a `divisor` that does not divide `number`, and suggests the nearest divisors.
pub(crate) fn divides(key: &str, divisor: u32, of: &str, number: u32) -> Checked<()> {
    if number.is_multiple_of(divisor) {
        return Ok(());
    }
    let what = format!("is {divisor}, which does not divide {of} ({number})");
    wrong(key, what, format!("give {}", near(number, divisor)))
}

/// Names `number`'s nearest divisors below and above `divisor`.
pub(crate) fn near(number: u32, divisor: u32) -> String {
    let is_divisor = |of: &u32| number.is_multiple_of(*of);
    let below = (1..=number.min(divisor.saturating_sub(1)))
        .rev()
        .find(is_divisor);
    let above = (divisor..=number).find(is_divisor);
    match (below, above) {
        (Some(below), Some(above)) => format!("{below} or {above}"),
        (Some(one), None) | (None, Some(one)) => one.to_string(),
        (None, None) => "1".to_owned(),
    }
}
