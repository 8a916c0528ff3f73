//! Length, layout and words of the files.

use crate::repository::{File, Repository};

/// Lines a Rust file may have.
const FILE_LINES: usize = 1_000;
/// Characters a line of Rust may have, strings not counted.
const COLUMNS: usize = 100;

/// Rust files that are too long.
pub(crate) fn long_files(repository: &Repository) -> Vec<String> {
    let rust = repository.with_extension("rs");
    rust.filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > FILE_LINES).then(|| {
            format!(
                "{}: {lines} lines, at most {FILE_LINES}: split it",
                file.path
            )
        })
    })
    .collect()
}

/// Lines of Rust that are too wide, and tabs.
pub(crate) fn layout(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    for file in repository.with_extension("rs") {
        let code = without_strings(&file.text);
        for (number, (line, code)) in file.text.lines().zip(code.lines()).enumerate() {
            let place = format!("{}:{}", file.path, number + 1);
            if line.contains('\t') {
                findings.push(format!("{place}: a tab; indent with spaces"));
            }
            // An address cannot be broken, and rustfmt leaves strings alone.
            let columns = code.chars().count();
            if columns > COLUMNS && !line.contains("://") {
                findings.push(format!("{place}: {columns} columns, at most {COLUMNS}"));
            }
        }
    }
    findings
}

/// The binding of a C library, which alone has unsafe code.
const UNSAFE: &str = "crates/tenter-lab/src/agent/rdma/device.rs";

/// Expectations of unsafe code anywhere else; without one the compiler denies it.
pub(crate) fn unsafe_lints(repository: &Repository) -> Vec<String> {
    let lint = concat!("unsafe", "_code");
    let mut findings = Vec::new();
    for file in repository.with_extension("rs") {
        if file.path != UNSAFE {
            let places = places(file, lint);
            findings.extend(places.map(|place| format!("{place}: unsafe code is for {UNSAFE}")));
        }
    }
    findings
}

/// Marks of work left undone.
pub(crate) fn unfinished(repository: &Repository) -> Vec<String> {
    // Written in two parts, so that this file does not hold what it looks for.
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME")];
    let macros = [concat!("unimple", "mented!"), concat!("to", "do!")];
    let mut findings = Vec::new();
    for file in &repository.files {
        let wanted = marks.iter().chain(if file.has_extension("rs") {
            &macros[..]
        } else {
            &[]
        });
        for word in wanted {
            findings.extend(places(file, word).map(|place| format!("{place}: {word}: finish it")));
        }
    }
    findings
}

/// Paths of one machine, and pages named in prose that a reader of the repository does not have.
pub(crate) fn foreign_names(repository: &Repository) -> Vec<String> {
    let machine = [
        concat!("/wo", "rk/"),
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
    ];
    let mut findings = Vec::new();
    for file in &repository.files {
        for path in machine {
            findings.extend(
                places(file, path).map(|place| format!("{place}: {path} exists on one machine")),
            );
        }
        for (number, line) in file.text.lines().enumerate() {
            for page in pages_named(line) {
                if !repository.files.iter().any(|other| other.name() == page) {
                    findings.push(format!(
                        "{}:{}: there is no page {page} in the repository",
                        file.path,
                        number + 1
                    ));
                }
            }
        }
    }
    findings
}

fn places<'a>(file: &'a File, word: &'a str) -> impl Iterator<Item = String> + 'a {
    let lines = file.text.lines().enumerate();
    lines
        .filter(move |(_, line)| line.contains(word))
        .map(|(number, _)| format!("{}:{}", file.path, number + 1))
}

/// The names of Markdown files in a line, without folders.
///
/// Left out are placeholders, web addresses, names in capitals, which other projects have too, and
/// what notebooks call to show prose.
fn pages_named(line: &str) -> Vec<&str> {
    let ends = |c: char| c.is_whitespace() || "()[]\"'`,;:".contains(c);
    let words = line
        .split(ends)
        .map(|word| word.split('#').next().unwrap_or(word));
    words
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| word.ends_with(concat!(".", "md")) && !word.contains("//"))
        .filter(|word| !word.contains(['<', '{', '*', '$', '\\', '…']) && !word.contains("NNNN"))
        .filter_map(|word| word.rsplit('/').next())
        .filter(|name| name.trim_end_matches(".md").contains(char::is_lowercase))
        .filter(|name| *name != concat!("mo.", "md"))
        .collect()
}

/// What the scanner of [`without_strings`] is inside of.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Code,
    LineComment,
    BlockComment,
    /// A string literal; a raw one closes with this many `#`.
    Text {
        raw: Option<usize>,
    },
}

/// Rust source with the contents of its string literals removed and every line kept.
pub(crate) fn without_strings(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut kept = String::with_capacity(text.len());
    let mut inside = Inside::Code;
    let mut at = 0;
    while at < chars.len() {
        let (next, skip, keep) = step(inside, &chars[at..], chars[..at].last());
        for &c in &chars[at..at + skip] {
            if keep || c == '\n' {
                kept.push(c);
            }
        }
        inside = next;
        at += skip;
    }
    kept
}

/// Source without strings and comments.
pub(crate) fn code(text: &str) -> String {
    let text = without_strings(text);
    let lines = text.lines();
    let lines: Vec<&str> = lines
        .map(|line| line.split("//").next().unwrap_or(line))
        .collect();
    lines.join("\n")
}

/// Words, `::`, and single characters for all else.
pub(crate) fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() {
            tokens.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    tokens
}

/// One step of the scanner: what follows, how many characters it takes, whether they are kept.
fn step(inside: Inside, rest: &[char], before: Option<&char>) -> (Inside, usize, bool) {
    match inside {
        Inside::Code => step_in_code(rest, before),
        Inside::LineComment if rest[0] == '\n' => (Inside::Code, 1, true),
        Inside::BlockComment if rest.starts_with(&['*', '/']) => (Inside::Code, 2, true),
        Inside::LineComment | Inside::BlockComment => (inside, 1, true),
        Inside::Text { raw: None } if rest[0] == '\\' => (inside, rest.len().min(2), false),
        Inside::Text { raw: None } if rest[0] == '"' => (Inside::Code, 1, true),
        Inside::Text { raw: Some(hashes) } if closes_raw(rest, hashes) => {
            (Inside::Code, 1 + hashes, true)
        }
        Inside::Text { .. } => (inside, 1, false),
    }
}

fn step_in_code(rest: &[char], before: Option<&char>) -> (Inside, usize, bool) {
    if rest.starts_with(&['/', '/']) {
        return (Inside::LineComment, 2, true);
    }
    if rest.starts_with(&['/', '*']) {
        return (Inside::BlockComment, 2, true);
    }
    if rest[0] == '"' {
        return (Inside::Text { raw: None }, 1, true);
    }
    if rest[0] == 'r' && !before.is_some_and(|c| c.is_alphanumeric() && *c != 'b') {
        let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
        if rest.get(1 + hashes) == Some(&'"') {
            return (Inside::Text { raw: Some(hashes) }, 2 + hashes, true);
        }
    }
    // A quote in a character literal opens no string; a lifetime is no literal.
    if rest.starts_with(&['\'', '\\']) && rest.get(3) == Some(&'\'') {
        return (Inside::Code, 4, true);
    }
    if rest[0] == '\'' && rest.get(2) == Some(&'\'') {
        return (Inside::Code, 3, true);
    }
    (Inside::Code, 1, true)
}

fn closes_raw(rest: &[char], hashes: usize) -> bool {
    rest[0] == '"' && rest[1..].iter().take_while(|c| **c == '#').count() >= hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_blanked_and_lines_kept() {
        assert_eq!(
            without_strings("let a = \"x \\\" y\"; // \"z\""),
            "let a = \"\"; // \"z\""
        );
        assert_eq!(
            without_strings("a(r#\"one \" \n two\"#, '\"', b)"),
            "a(r#\"\n\"#, '\"', b)"
        );
        assert_eq!(
            without_strings("fn f<'a>(x: &'a str)"),
            "fn f<'a>(x: &'a str)"
        );
        assert_eq!(without_strings("'\\'' \"in\""), "'\\'' \"\"");
    }

    #[test]
    fn wide_code_is_found_and_a_wide_string_is_not() {
        let wide = format!("// {}\n", "x".repeat(98));
        let string = format!("let a = \"{}\";\n", "x".repeat(200));
        let address = format!("// https://example.org/{}\n", "x".repeat(98));
        let text = format!("{wide}{string}{address}\tlet b = 1;\n");
        let findings = layout(&Repository::of(vec![File::new("a.rs", &text)]));
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings[0].starts_with("a.rs:1: 101 columns"));
        assert!(findings[1].starts_with("a.rs:4: a tab"));
    }

    #[test]
    fn pages_named_in_prose_are_found() {
        let name = |stem: &str| format!("{stem}.{}", "md");
        let line = format!(
            "see {} (and docs/{}#top), <name>.{}.",
            name("A"),
            name("b2"),
            "md"
        );
        assert_eq!(pages_named(&line), [name("b2")]);
        let foreign = Repository::of(vec![File::new("x.rs", &format!("// {}", name("absent")))]);
        assert_eq!(foreign_names(&foreign).len(), 1);
    }

    #[test]
    fn long_files_and_marks_are_found() {
        let long = File::new("a.rs", &"\n".repeat(1_001));
        assert_eq!(long_files(&Repository::of(vec![long])).len(), 1);
        let marked = File::new("A.md", &format!("x\n{}\n", concat!("TO", "DO")));
        assert_eq!(unfinished(&Repository::of(vec![marked])).len(), 1);
    }
}
