//! The length of functions, read from the layout that rustfmt gives them.

use crate::repository::Repository;

/// Lines a function may have, from its first line to its closing brace.
const FUNCTION_LINES: usize = 70;

/// Functions that are too long.
pub(crate) fn long_functions(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    for file in repository.with_extension("rs") {
        for function in functions(&file.text) {
            if function.lines > FUNCTION_LINES {
                findings.push(format!(
                    "{}:{}: {} has {} lines, at most {FUNCTION_LINES}: split it",
                    file.path, function.first_line, function.name, function.lines
                ));
            }
        }
    }
    findings
}

struct Function {
    name: String,
    /// Counted from 1.
    first_line: usize,
    lines: usize,
}

fn functions(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines.iter().enumerate();
    starts
        .filter_map(|(first, line)| {
            let name = function_name(line.trim_start())?;
            Some(Function {
                name,
                first_line: first + 1,
                lines: length(&lines[first..], indentation(line)),
            })
        })
        .collect()
}

/// Lines from the first to the one that ends the function; `lines` starts with its first.
fn length(lines: &[&str], indent: usize) -> usize {
    let mut in_body = false;
    for (number, line) in lines.iter().enumerate() {
        let same_level = indentation(line) == indent && !line.trim().is_empty();
        if in_body {
            if same_level && line.trim_end() == format!("{}}}", " ".repeat(indent)) {
                return number + 1;
            }
        } else if line.ends_with(';') || (same_level && line.ends_with('}')) {
            // A declaration in a trait, or a body on the line of the header.
            return number + 1;
        } else if same_level && line.ends_with('{') {
            in_body = true;
        }
    }
    lines.len()
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The name of the function whose header begins here, if one does.
fn function_name(trimmed: &str) -> Option<String> {
    let mut rest = trimmed;
    if let Some(after) = rest.strip_prefix("pub") {
        rest = match after.strip_prefix('(') {
            Some(scope) => scope.split_once(')')?.1,
            None => after,
        };
        rest = rest.strip_prefix(' ')?;
    }
    for word in ["const ", "async ", "unsafe ", "extern \"C\" "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let name = rest.strip_prefix("fn ")?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(name[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(text: &str) -> Vec<(String, usize)> {
        functions(text)
            .into_iter()
            .map(|f| (f.name, f.lines))
            .collect()
    }

    #[test]
    fn headers_are_recognised() {
        for header in [
            "fn a() {",
            "pub fn a<T>(",
            "pub(crate) const unsafe fn a() {",
        ] {
            assert_eq!(function_name(header).as_deref(), Some("a"), "{header}");
        }
        assert_eq!(function_name("pub use fn_table::a;"), None);
        assert_eq!(function_name("let a = fn_of(b);"), None);
    }

    #[test]
    fn a_body_ends_at_the_brace_of_its_own_indentation() {
        let text = "impl A {\n    fn a(\n        b: u8,\n    ) -> u8 {\n        if b {\n        }\n    }\n}\n";
        assert_eq!(measured(text), [("a".to_owned(), 6)]);
    }

    #[test]
    fn declarations_and_one_line_bodies_end_with_their_header() {
        let text = "trait A {\n    fn a(&self);\n    fn b(\n        &self,\n    );\n    fn c() {}\n    \
                    fn d<T>(t: T)\n    where\n        T: B,\n    {\n    }\n}\n";
        let lengths: Vec<usize> = measured(text).into_iter().map(|(_, lines)| lines).collect();
        assert_eq!(lengths, [1, 3, 1, 5]);
    }

    #[test]
    fn a_long_function_is_found() {
        let text = format!("fn a() {{\n{}}}\n", "    b();\n".repeat(69));
        let file = crate::repository::File::new("a.rs", &text);
        let findings = long_functions(&Repository::of(vec![file]));
        assert_eq!(findings, ["a.rs:1: a has 71 lines, at most 70: split it"]);
    }
}
