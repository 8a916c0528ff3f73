//! Budgets without limits: whoever reads or builds for a request is given one that has some.

use crate::repository::{File, Repository};
use crate::source::code;

/// Where a budget may be without limits, and why.
const WITHOUT: [(&str, &str); 4] = [
    (
        "crates/tenter-fabric/src/topology/routing.rs",
        "routes of a fabric whose table was built within a budget before",
    ),
    (
        "crates/tenter-sim/src/network/build.rs",
        "queue pairs of a plan that was checked within a budget before",
    ),
    (
        "crates/tenter/src/resolve/load.rs",
        "`load`, for texts of the program and of tests",
    ),
    (
        "crates/tenter/src/studies/equipment.rs",
        "files of a study that are in memory",
    ),
];
/// Crates and folders that only tests use.
const OF_TESTS: [&str; 3] = ["/tests/", "/benches/", "crates/tenter-testkit/"];

/// Budgets without limits in the sources of the program, but for one in each file of a list.
pub(crate) fn without_limits(repository: &Repository) -> Vec<String> {
    let call = concat!("Budget::", "unlimited(");
    let mut findings = Vec::new();
    for file in repository.with_extension("rs") {
        let allowed = usize::from(WITHOUT.iter().any(|(path, _)| *path == file.path));
        let found = of_program(file);
        let lines = found.lines().enumerate();
        let places = lines.filter(|(_, line)| line.contains(call));
        findings.extend(places.skip(allowed).map(|(number, _)| {
            let place = format!("{}:{}", file.path, number + 1);
            format!("{place}: a budget without limits; hand one down from the command or request")
        }));
    }
    findings
}

/// The code of a file without its tests.
fn of_program(file: &File) -> String {
    let is_test = file.name() == "tests.rs" || OF_TESTS.iter().any(|of| file.path.contains(of));
    if is_test || !file.path.starts_with("crates/") {
        return String::new();
    }
    let code = code(&file.text);
    let end = code.find("#[cfg(test)]\nmod tests {");
    code[..end.unwrap_or(code.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_without_limits_are_found_outside_tests() {
        let call = concat!("Budget::", "unlimited()");
        let twice = format!("let a = {call};\n// {call}\nlet b = {call};\n");
        let tested = format!("let a = 1;\n#[cfg(test)]\nmod tests {{\n let b = {call};\n}}\n");
        let files = [
            ("crates/tenter/src/a.rs", &twice, 2),
            ("crates/tenter/src/resolve/load.rs", &twice, 1),
            ("crates/tenter/src/a.rs", &tested, 0),
            ("crates/tenter/tests/a.rs", &twice, 0),
            ("crates/tenter/src/a/tests.rs", &twice, 0),
        ];
        for (path, text, expected) in files {
            let found = without_limits(&Repository::of(vec![File::new(path, text)]));
            assert_eq!(found.len(), expected, "{path}: {found:?}");
        }
    }
}
