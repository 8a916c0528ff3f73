//! Small models that tests build.

use tenter_language::config::default_with;

use super::model::Model;

/// Builds a model from `usual` keys, some replaced by `own`.
pub(crate) fn small_model(usual: &[(&str, &str)], own: &[(&str, &str)]) -> Model {
    let is_own = |key: &str| own.iter().any(|(of, _)| *of == key);
    let others = usual.iter().filter(|(key, _)| !is_own(key));
    let keys: Vec<(&str, &str)> = others.chain(own).copied().collect();
    Model::Mapping(default_with(&keys))
}
