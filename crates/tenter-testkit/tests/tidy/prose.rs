//! Doc comments that a reader must read twice.

use crate::repository::{File, Repository};

/// Words that hide the subject when a sentence begins with them.
const HEADLESS: [&str; 8] = [
    "What",
    "Whether",
    "Its",
    "Their",
    "Those",
    "How many",
    "How much",
    "All of these",
];
/// Words that stand for a parameter that has a name.
const UNNAMED: [&str; 2] = ["so many", "so long as"];

/// Such sentences that each crate still has, most of them in answers of the server. These numbers
/// only fall.
const LEFT: [(&str, usize); 4] = [
    ("tenter-language", 11),
    ("tenter-sim", 5),
    ("tenter-app", 79),
    ("tenter", 20),
];

/// Crates with more such sentences than [`LEFT`] allows them, with the places.
pub(crate) fn unclear(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    let mut crates: Vec<&str> = sources(repository).map(crate_of).collect();
    crates.dedup();
    for name in crates {
        let of_crate = sources(repository).filter(|file| crate_of(file) == name);
        let places: Vec<String> = of_crate.flat_map(unclear_sentences).collect();
        let left = LEFT.iter().find(|(known, _)| *known == name);
        let left = left.map_or(0, |(_, count)| *count);
        if places.len() > left {
            findings.push(format!(
                "{name}: {} sentences of docs hide their subject or a parameter, and {left} may; \
                 name the thing first (CONTRIBUTING.md, Comments):\n    {}",
                places.len(),
                places.join("\n    ")
            ));
        }
    }
    findings
}

/// Source files of crates that are not tests.
fn sources(repository: &Repository) -> impl Iterator<Item = &File> {
    repository.with_extension("rs").filter(|file| {
        let is_test = file.path.contains("/tests/") || file.name() == "tests.rs";
        file.path.starts_with("crates/") && file.path.contains("/src/") && !is_test
    })
}

fn crate_of(file: &File) -> &str {
    file.path.split('/').nth(1).unwrap_or_default()
}

/// Places and beginnings of the sentences in a file's doc comments that are unclear.
fn unclear_sentences(file: &File) -> Vec<String> {
    let mut found = Vec::new();
    let mut block = String::new();
    let mut first = 0;
    // A line behind the last one ends the last block.
    for (number, line) in file.text.lines().chain([""]).enumerate() {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or(line.strip_prefix("//!"));
        if let Some(text) = text {
            if block.is_empty() {
                first = number + 1;
            }
            block.push_str(text);
            continue;
        }
        let taken = std::mem::take(&mut block);
        let unclear = sentences(&taken).filter(|sentence| is_unclear(sentence));
        found.extend(unclear.map(|sentence| {
            let beginning: String = sentence.chars().take(60).collect();
            format!("{}:{first}: {beginning}", file.path)
        }));
    }
    found
}

/// Sentences of a block, each from its first word on.
fn sentences(block: &str) -> impl Iterator<Item = &str> {
    block.split_inclusive(". ").map(str::trim)
}

fn is_unclear(sentence: &str) -> bool {
    let begins = |words: &&str| {
        let rest = sentence.strip_prefix(*words);
        rest.is_some_and(|rest| rest.starts_with(' '))
    };
    HEADLESS.iter().any(begins) || UNNAMED.iter().any(|words| sentence.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headless_sentences_and_unnamed_parameters_are_found() {
        let text = "/// Whether senders wait. Set while\n/// a port is held.\nlet a = 1;\n\
                    /// The port of a host.\n/// Ports of a host with so many NPUs.\nlet b = 2;\n";
        let repository = Repository::of(vec![
            File::new("crates/tenter-x/src/a.rs", text),
            File::new("crates/tenter-x/src/tests.rs", text),
        ]);
        let found = unclear(&repository);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("tenter-x: 2 sentences"),
            "{}",
            found[0]
        );
        assert!(found[0].contains("crates/tenter-x/src/a.rs:1: Whether senders"));
    }
}
