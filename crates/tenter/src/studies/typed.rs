//! Reading of a description's parts whose form is that of a Rust type.

use serde::de::DeserializeOwned;
use tenter_language::config::Written;

/// Deserialises a written value into a type that serde knows.
///
/// # Errors
/// Says what is wrong, without its place in the text: serde sees values, not lines.
pub(crate) fn typed<T: DeserializeOwned>(written: &Written) -> Result<T, String> {
    let value = serde_json::to_value(written).map_err(|error| error.to_string())?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}
