//! Numbers of a model and its parallelism that do not fit together.

use crate::graph::GraphError;

/// Why a training or an inference cannot be: the key that is wrong, what is, and what would fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` {what}; {remedy}")]
pub struct Unfit {
    /// The key.
    pub key: String,
    /// What is wrong with it.
    pub what: String,
    /// What would fit.
    pub remedy: String,
}

pub(crate) type Checked<T> = Result<T, Unfit>;

pub(crate) fn wrong<T>(key: &str, what: String, remedy: String) -> Checked<T> {
    let key = key.to_owned();
    Err(Unfit { key, what, remedy })
}

/// A graph of a model that cannot be run: what makes it, and the key with which it would.
pub(crate) fn cannot_run(error: &GraphError, key: &str, makes: &str) -> Unfit {
    let text = error.to_string();
    let (what, remedy) = text.rsplit_once("; ").unwrap_or((&text, ""));
    Unfit {
        key: key.to_owned(),
        what: format!("{makes} that cannot be run: {what}"),
        remedy: remedy.to_owned(),
    }
}

/// Refuses a number that another one does not divide, with divisors of it that are near.
pub(crate) fn divides(key: &str, divisor: u32, of: &str, number: u32) -> Checked<()> {
    if number.is_multiple_of(divisor) {
        return Ok(());
    }
    let what = format!("is {divisor}, which does not divide {of} ({number})");
    wrong(key, what, format!("give {}", near(number, divisor)))
}

/// The divisors of a number next to one that is none.
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
