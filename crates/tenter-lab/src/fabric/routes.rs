//! The kernel's own answers about its routes.

use super::commands::run_with;
use crate::error::LabError;

/// Returns the ports by which `namespace` would send; `questions` are lines such as `route get …`
/// for `ip -batch`. An answer is `None` if the packet leaves by no port.
pub(crate) fn route_answers(
    namespace: &str,
    questions: &str,
) -> Result<Vec<Option<u16>>, LabError> {
    let text = run_with("ip", &["-n", namespace, "-o", "-batch", "-"], questions)?;
    // Ports are devices `p0`, `p1`, …
    let answers = text.lines().map(|line| {
        let (_, rest) = line.split_once(" dev p")?;
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..end].parse().ok()
    });
    Ok(answers.collect())
}
