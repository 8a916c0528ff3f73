//! What the kernel says about its routes.

use super::commands::run_with;
use crate::error::LabError;

/// The ports by which a namespace sends packets that `ip route get` is asked about, one question a
/// line.
pub(crate) fn route_answers(
    namespace: &str,
    questions: &str,
) -> Result<Vec<Option<u16>>, LabError> {
    let text = run_with("ip", &["-n", namespace, "-o", "-batch", "-"], questions)?;
    let answers = text.lines().map(|line| {
        let (_, rest) = line.split_once(" dev p")?;
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..end].parse().ok()
    });
    Ok(answers.collect())
}
