//! Parameters that are taken apart where they are declared.
//!
//! A function that takes `(a, b): (A, B)` bundles values only at its calls: those that belong
//! together are fields of a struct with a name, and others are parameters of their own. Patterns of
//! closures are left alone, since iterators of pairs need them.

use crate::repository::Repository;
use crate::source::{code, tokens};

/// Functions with parameters that are taken apart.
pub(crate) fn taken_apart(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    for file in repository.with_extension("rs") {
        let tokens = tokens(&code(&file.text));
        for function in functions(&tokens) {
            let apart = function.parameters.iter().filter(|of| is_taken_apart(of));
            findings.extend(apart.map(|parameter| {
                let (path, name, pattern) = (&file.path, function.name, parameter.join(" "));
                format!("{path}: {name} takes {pattern}: name a struct, or take the values apart")
            }));
        }
    }
    findings
}

struct Function<'t> {
    name: &'t str,
    parameters: Vec<&'t [String]>,
}

/// The functions with a name; types of functions have none.
fn functions(tokens: &[String]) -> impl Iterator<Item = Function<'_>> {
    let is_name = |word: &str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let starts =
        (1..tokens.len()).filter(move |&at| tokens[at - 1] == "fn" && is_name(&tokens[at]));
    starts.filter_map(|at| {
        let begin = at + 1 + generics(&tokens[at + 1..]);
        (tokens.get(begin)? == "(").then(|| Function {
            name: &tokens[at],
            parameters: parameters(&tokens[begin + 1..]),
        })
    })
}

/// How many tokens the generic parameters at the start have.
fn generics(tokens: &[String]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "<" => depth += 1,
            ">" if !is_arrow(tokens, at) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if at == 0 { 0 } else { at + 1 };
        }
    }
    tokens.len()
}

/// Whether the `>` at a place is the head of an arrow.
fn is_arrow(tokens: &[String], at: usize) -> bool {
    at > 0 && tokens[at - 1] == "-"
}

/// The parameters up to the closing bracket.
fn parameters(tokens: &[String]) -> Vec<&[String]> {
    let mut found = Vec::new();
    let (mut depth, mut begin) = (0, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" if depth == 0 => {
                found.push(&tokens[begin..at]);
                break;
            }
            ">" if is_arrow(tokens, at) => {}
            ")" | "]" | "}" | ">" => depth -= 1,
            "," if depth == 0 => {
                found.push(&tokens[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// Whether a parameter begins with a pattern of several values. That of a property test is drawn
/// `in` a range and has no caller.
fn is_taken_apart(parameter: &[String]) -> bool {
    let mut pattern = parameter.iter().skip_while(|token| *token == "&");
    let is_tuple = pattern.next().is_some_and(|first| first == "(");
    is_tuple && pattern.next().is_some_and(|next| next != ")") && !parameter.contains(&"in".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::File;

    fn found(text: &str) -> Vec<String> {
        taken_apart(&Repository::of(vec![File::new("a.rs", text)]))
    }

    #[test]
    fn tuples_in_the_place_of_names_are_found() {
        let findings = found(
            "impl A {\n    fn one(&self, (a, b): (u8, u8)) {}\n    \
             fn two<F: Fn(u8) -> Vec<u8>>(f: F, &(a, _): &(u8, u8)) {}\n}\n",
        );
        let expected = ["one takes ( a , b ) : ( u8 , u8 )", "two takes & ( a , _ )"];
        assert_eq!(findings.len(), 2, "{findings:?}");
        for (finding, expected) in findings.iter().zip(expected) {
            assert!(
                finding.starts_with(&format!("a.rs: {expected}")),
                "{finding}"
            );
        }
    }

    #[test]
    fn pairs_with_a_name_units_and_closures_are_left_alone() {
        let text = "fn one(range: (f64, f64), (): (), map: Map<(u8, u8), u8>) {}\n\
                    fn two(f: fn((u8, u8)), g: impl Fn((u8, u8)) -> u8) {}\n\
                    fn three() { list.map(|(a, b)| a + b); }\n\
                    // fn four((a, b): (u8, u8)) {}\n\
                    fn five((a, b) in (0..2, 0..3)) {}\n";
        assert_eq!(found(text), [""; 0]);
    }
}
