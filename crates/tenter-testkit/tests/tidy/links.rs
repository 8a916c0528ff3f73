//! Relative links in Markdown pages lead to files and headings that exist.

use crate::repository::{File, Repository};

/// Links that lead nowhere.
pub(crate) fn broken(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    for page in repository.with_extension("md") {
        for (line, target) in links(&page.text) {
            if let Err(reason) = follow(repository, page, &target) {
                findings.push(format!("{}:{line}: {target}: {reason}", page.path));
            }
        }
    }
    findings
}

fn follow(repository: &Repository, page: &File, target: &str) -> Result<(), String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() {
        page.path.clone()
    } else {
        resolve(&page.path, path).ok_or("leads out of the repository")?
    };
    let exists = repository.file(&path).is_some()
        || repository
            .files
            .iter()
            .any(|file| file.path.starts_with(&format!("{path}/")))
        || repository.root.join(&path).exists();
    if !exists {
        return Err(format!("there is no {path}"));
    }
    let missing_anchor = |file: &File| !headings(&file.text).any(|heading| heading == anchor);
    if !anchor.is_empty() && repository.file(&path).is_some_and(missing_anchor) {
        return Err(format!("{path} has no heading #{anchor}"));
    }
    Ok(())
}

/// A path relative to the folder of `page`, from the root of the repository.
fn resolve(page: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The targets of `[text](target)` outside code, each with its line.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_fence = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence {
            let prose = without_code(line);
            for part in prose.split("](").skip(1) {
                if let Some((target, _)) = part.split_once(')') {
                    found.push((number + 1, target.trim().to_owned()));
                }
            }
        }
    }
    found
}

/// A line without the text between backquotes.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// The anchors of a page's headings: lower case, dashes for spaces, punctuation dropped.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let other = File::new("docs/B.md", "# B\n\n## Two words\n");
        broken(&Repository::of(vec![File::new("docs/A.md", text), other]))
    }

    #[test]
    fn good_links_are_followed() {
        let text = "# A\n[b](B.md) [c](../docs/B.md#two-words) [d](#a) [e](https://example.org)\n";
        assert_eq!(findings(text), Vec::<String>::new());
    }

    #[test]
    fn bad_links_are_found_and_code_is_not_read() {
        let absent = ["c", "md"].join(".");
        let text =
            format!("[x]({absent})\n`[y]({absent})`\n```\n[z]({absent})\n```\n[w](B.md#no)\n");
        assert_eq!(findings(&text).len(), 2);
        assert_eq!(findings("[up](../../x)").len(), 1);
    }
}
