//! Errors for names that no study or variant has.

/// Error: a name is neither a study nor a group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no study `{given}`{}\n{}\n  a group such as `methodology`, or `all`, names several",
    closest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default(), by_group(known))]
pub struct UnknownStudy {
    /// The name as the user gave it.
    pub given: String,
    /// The study most likely meant, if one has a similar name.
    pub closest: Option<&'static str>,
    /// All study names, in listing order.
    pub known: Vec<&'static str>,
}

/// Lists the studies with one line for each group: `  methodology/: jct-1, jct-2`.
fn by_group(known: &[&str]) -> String {
    let mut lines: Vec<(&str, Vec<&str>)> = Vec::new();
    for name in known {
        let (group, study) = name.split_once('/').unwrap_or(("", name));
        match lines.iter_mut().find(|(of, _)| *of == group) {
            Some((_, studies)) => studies.push(study),
            None => lines.push((group, vec![study])),
        }
    }
    let line = |(group, studies): &(&str, Vec<&str>)| format!("  {group}/: {}", studies.join(", "));
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Error: a study has no variant with this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the study `{study}` has no variant `{given}`\n  its variants: {}", known.join(", "))]
pub struct UnknownVariant {
    /// Study in which the variant was looked up.
    pub study: String,
    /// The name as the user gave it.
    pub given: String,
    /// All variant names that the study has.
    pub known: Vec<String>,
}
