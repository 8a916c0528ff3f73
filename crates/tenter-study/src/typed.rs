//! Parts of a description whose form is that of a Rust type.

use serde::de::DeserializeOwned;
use tenter_config::Written;

/// Reads a value as a type that serde knows.
///
/// # Errors
/// What is wrong, without a place.
pub(crate) fn typed<T: DeserializeOwned>(written: &Written) -> Result<T, String> {
    let value = serde_json::to_value(written).map_err(|error| error.to_string())?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}
