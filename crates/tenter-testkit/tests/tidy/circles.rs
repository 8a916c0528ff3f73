//! Files that know each other in a circle.
//!
//! Within a crate a file knows another if it names something that the other defines: in a `use`, or
//! by a path that begins with `crate`, `self`, `super` or a module of its own. A name that a file
//! only passes on (`pub use child::Name`) belongs to the file that defines it. So a parent that
//! declares its children and passes their names on knows none of them, and a child that takes a
//! name from its parent knows the file that the name comes from, which may be the parent itself.
//! Methods are not followed: they need no import. Tests do not count.

use std::collections::{BTreeMap, BTreeSet};

use crate::repository::{File, Repository};
use crate::source::{code, tokens};

/// Names that a path leads through are followed up to this depth.
const PASSED_ON_MAX: usize = 9;

/// A module by its path within the crate; one file each.
type Module = Vec<String>;

/// Circles of files.
pub(crate) fn found(repository: &Repository) -> Vec<String> {
    let crates = repository.under("crates/");
    let names = crates.filter_map(|file| file.path.split('/').nth(1));
    let names: BTreeSet<&str> = names.collect();
    let circle = |name: &str| {
        let files = in_circles(&known(repository, name));
        (!files.is_empty()).then(|| {
            let files = files.join(", ");
            format!("crates/{name}: these files know each other in a circle: {files}")
        })
    };
    names.into_iter().filter_map(circle).collect()
}

/// The modules that are left when those that know none of the others, or that none knows, are taken
/// away again and again.
fn in_circles(known: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
    let mut left: BTreeSet<&Module> = known.keys().collect();
    loop {
        let knows = |module: &Module| known[module].iter().any(|other| left.contains(other));
        let is_known = |module: &Module| left.iter().any(|other| known[*other].contains(module));
        let loose = left.iter().copied();
        let loose: Vec<&Module> = loose
            .filter(|module| !knows(module) || !is_known(module))
            .collect();
        if loose.is_empty() {
            return left.iter().map(|module| module.join("/")).collect();
        }
        left.retain(|module| !loose.contains(module));
    }
}

/// What the files of a crate name.
#[derive(Default)]
struct Names {
    /// Paths in code and in imports.
    used: Vec<Module>,
    /// Names passed on, with the paths they are taken from.
    passed_on: BTreeMap<String, Module>,
}

/// For each module of a crate those that it knows.
fn known(repository: &Repository, name: &str) -> BTreeMap<Module, BTreeSet<Module>> {
    let folder = format!("crates/{name}/src/");
    let files = repository.under(&folder);
    let files = files.filter(|file| {
        file.has_extension("rs") && file.name() != "tests.rs" && !file.path.contains("/tests/")
    });
    let texts: Vec<(Module, Vec<String>)> = files
        .map(|file| {
            (
                module(file, &folder),
                tokens(&code_without_tests(&file.text)),
            )
        })
        .collect();
    let modules: BTreeSet<Module> = texts.iter().map(|(module, _)| module.clone()).collect();
    let mut names: BTreeMap<Module, Names> = BTreeMap::new();
    for (module, tokens) in &texts {
        let is_child = |name: &str| modules.contains(&child(module, name));
        read(tokens, is_child, names.entry(module.clone()).or_default());
    }
    let knows = |(module, of): (&Module, &Names)| {
        let passed_on = of.passed_on.values().filter_map(|path| {
            let target = defined_in(&names, module, path)?;
            (!target.starts_with(module)).then_some(target)
        });
        let used = of.used.iter();
        let used = used.filter_map(|path| defined_in(&names, module, path));
        let others = used.chain(passed_on).filter(|other| other != module);
        (module.clone(), others.collect())
    };
    names.iter().map(knows).collect()
}

fn module(file: &File, folder: &str) -> Module {
    let path = file.path[folder.len()..].trim_end_matches(".rs");
    let mut module: Module = path.split('/').map(str::to_owned).collect();
    module.pop_if(|last| ["lib", "main", "mod"].contains(&last.as_str()));
    module
}

fn child(module: &[String], name: &str) -> Module {
    [module, &[name.to_owned()]].concat()
}

/// The module that defines what a path in a module names; none outside of the crate.
fn defined_in(names: &BTreeMap<Module, Names>, from: &Module, path: &Module) -> Option<Module> {
    let (mut base, mut path) = absolute(names, from, path)?;
    for _ in 0..PASSED_ON_MAX {
        while let Some(first) = path.first()
            && names.contains_key(&child(&base, first))
        {
            base.push(path.remove(0));
        }
        let passed_on = path.first().map(|first| names[&base].passed_on.get(first));
        let Some(Some(source)) = passed_on else { break };
        let next = absolute(names, &base, source);
        (base, path) = next.filter(|next| next.1 != path || next.0 != base)?;
    }
    Some(base)
}

/// A path as a module that there is, and the rest.
fn absolute(
    names: &BTreeMap<Module, Names>,
    from: &Module,
    path: &Module,
) -> Option<(Module, Module)> {
    let mut base = from.clone();
    let mut rest = path.as_slice();
    match rest.first()?.as_str() {
        "crate" => (base, rest) = (Module::new(), &rest[1..]),
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|first| first == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        first => {
            names.get(&child(&base, first))?;
        }
    }
    Some((base, rest.to_vec()))
}

/// Source without strings, comments and the module of its tests.
fn code_without_tests(text: &str) -> String {
    let text = code(text);
    let lines: Vec<&str> = text.lines().collect();
    let is_tests = |pair: &[&str]| {
        pair[0].trim() == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    };
    let end = lines.windows(2).position(is_tests).unwrap_or(lines.len());
    lines[..end].join("\n")
}

/// Reads the names out of the tokens of a file.
fn read(tokens: &[String], is_child: impl Fn(&str) -> bool, names: &mut Names) {
    let mut at = 0;
    while at < tokens.len() {
        let before = at.checked_sub(1).map_or("", |before| &tokens[before]);
        let begins = !["::", "."].contains(&before);
        if tokens[at] == "use" {
            let end = tokens[at..].iter().position(|token| token == ";");
            let end = at + end.unwrap_or(tokens.len() - at - 1);
            let mut paths = Vec::new();
            tree(&tokens[at + 1..end], &[], &mut paths);
            let is_passed_on = ["pub", ")"].contains(&before);
            for (name, path) in paths {
                if is_passed_on {
                    names.passed_on.insert(name, path);
                } else {
                    names.used.push(path);
                }
            }
            at = end;
        } else if begins
            && tokens.get(at + 1).is_some_and(|next| next == "::")
            && (["crate", "self", "super"].contains(&&*tokens[at]) || is_child(&tokens[at]))
        {
            let mut path = vec![tokens[at].clone()];
            while let [colons, next, ..] = &tokens[at + 1..]
                && colons == "::"
            {
                path.push(next.clone());
                at += 2;
            }
            names.used.push(path);
        }
        at += 1;
    }
}

/// The paths of an import, each with the name that it gets.
fn tree(tokens: &[String], prefix: &[String], paths: &mut Vec<(String, Module)>) {
    let mut path = prefix.to_vec();
    let mut rest = tokens;
    while let [first, next, ..] = rest
        && next == "::"
    {
        path.push(first.clone());
        rest = &rest[2..];
    }
    match rest {
        [first, inner @ .., last] if first == "{" && last == "}" => {
            let mut depth = 0;
            let items = inner.split(|token| {
                depth += i32::from(token == "{") - i32::from(token == "}");
                depth == 0 && token == ","
            });
            for item in items.filter(|item| !item.is_empty()) {
                tree(item, &path, paths);
            }
        }
        [first, ..] => {
            if first != "self" {
                path.push(first.clone());
            }
            // After `as` comes another name.
            let name = rest.last().filter(|last| *last != "self");
            let name = name.or(path.last()).cloned().unwrap_or_default();
            paths.push((name, path));
        }
        [] => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let file =
            |(path, text): &(&str, &str)| File::new(&format!("crates/tenter-x/src/{path}"), text);
        found(&Repository::of(files.iter().map(file).collect()))
    }

    #[test]
    fn files_that_name_each_other_are_found() {
        let found = circles(&[
            ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
            ("a.rs", "use crate::b::{self, B as Other};\n"),
            ("b.rs", "fn f() -> super::a::A { loop {} }\n"),
            ("c.rs", "use crate::a::A;\n"),
        ]);
        let circle = "crates/tenter-x: these files know each other in a circle: a, b";
        assert_eq!(found, [circle]);
    }

    #[test]
    fn a_parent_that_passes_names_on_knows_none() {
        let passed_on = [
            ("lib.rs", "mod a;\npub(crate) use a::x::X;\n"),
            (
                "a/mod.rs",
                "mod x;\nmod y;\npub use x::X;\npub use y::{Y, Z};\n",
            ),
            ("a/x.rs", "pub struct X;\n"),
            ("a/y.rs", "use super::X;\nuse crate::X as Other;\n"),
        ];
        assert!(circles(&passed_on).is_empty());
        // A parent that defines something and knows the child that takes it does not.
        let found = circles(&[
            ("lib.rs", "mod a;\n"),
            ("a.rs", "mod x;\npub struct A;\nfn f() { x::run(); }\n"),
            ("a/x.rs", "use super::A;\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn strings_comments_and_tests_do_not_count() {
        let text = "// crate::b::B\nfn f() { \"crate::b::B\"; }\n\
                    #[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n";
        let files = [
            ("lib.rs", ""),
            ("a.rs", text),
            ("b.rs", "use crate::a::A;\n"),
        ];
        assert!(circles(&files).is_empty());
    }
}
