//! What each crate may depend on and do, and where it is described.

use crate::repository::Repository;
use crate::source::{code, without_strings};

/// The crates, each allowed to depend on those before it.
const ORDER: [&str; 13] = [
    "tenter-language",
    "tenter-engine",
    "tenter-fabric",
    "tenter-endpoint",
    "tenter-workload",
    "tenter-results",
    "tenter-sim",
    "tenter-formats",
    "tenter",
    "tenter-lab",
    "tenter-app",
    "tenter-python",
    "tenter-testkit",
];

/// The rooms of a crate, each allowed to name those before it; the other files of the crate may
/// name all of them.
const ROOMS: [(&str, &[&str]); 5] = [
    ("tenter-language", &["units", "config", "notation"]),
    ("tenter-fabric", &["topology", "steering", "net"]),
    ("tenter-sim", &["fluid", "plan"]),
    ("tenter", &["resolve", "explain", "studies", "report"]),
    ("tenter-app", &["server", "command"]),
];

/// Folders that read no file, clock or environment.
const CORE: [&str; 11] = [
    "crates/tenter-language/src/",
    "crates/tenter-engine/src/",
    "crates/tenter-fabric/src/",
    "crates/tenter-endpoint/src/",
    "crates/tenter-workload/src/",
    "crates/tenter-results/src/",
    "crates/tenter-sim/src/",
    "crates/tenter-formats/src/",
    "crates/tenter/src/resolve/",
    "crates/tenter/src/explain/",
    "crates/tenter/src/studies/",
];

/// Crates that stand above others and that tests of all may use.
const FOR_TESTS: [&str; 2] = ["tenter", "tenter-testkit"];

/// Lines the page a crate opens with has at least.
const PAGE_LINES: usize = 3;

/// Crates without an opening page, and crates that ARCHITECTURE.md does not name.
pub(crate) fn undescribed(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    let architecture = repository
        .file("ARCHITECTURE.md")
        .map_or("", |file| file.text.as_str());
    for name in names(repository) {
        let roots = ["lib.rs", "main.rs"].map(|file| format!("crates/{name}/src/{file}"));
        match roots.iter().find_map(|path| repository.file(path)) {
            None => findings.push(format!("crates/{name}: no src/lib.rs or src/main.rs")),
            Some(root) => {
                let page = root
                    .text
                    .lines()
                    .take_while(|line| line.starts_with("//!"))
                    .count();
                if page < PAGE_LINES {
                    findings.push(format!(
                        "{}: opens with {page} line(s) of `//!`: say what the crate is",
                        root.path
                    ));
                }
            }
        }
        if !architecture.contains(&format!("`{name}`")) {
            findings.push(format!("ARCHITECTURE.md: does not name `{name}`"));
        }
    }
    findings
}

/// Dependencies that point the wrong way, and crates that do not take the workspace's lints.
pub(crate) fn forbidden_arrows(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    for name in names(repository) {
        let path = format!("crates/{name}/Cargo.toml");
        let manifest = &repository
            .file(&path)
            .expect("crates are found by their manifests")
            .text;
        let Some(rank) = ORDER.iter().position(|other| *other == name) else {
            findings.push(format!(
                "{path}: give {name} a place in the order of crates"
            ));
            continue;
        };
        let arrows = arrows(manifest).into_iter();
        for arrow in arrows.filter(|arrow| is_own(&arrow.to)) {
            let to = arrow.to.as_str();
            let is_for_tests = arrow.only_in_tests && FOR_TESTS.contains(&to);
            if !is_for_tests && !ORDER[..rank].contains(&to) {
                findings.push(format!("{path}: {name} must not depend on {}", arrow.to));
            }
        }
        if !manifest.contains("[lints]\nworkspace = true") {
            findings.push(format!("{path}: inherit the workspace's lints"));
        }
    }
    findings
}

/// Files in a room that name a later room, or what is in no room.
pub(crate) fn forbidden_doors(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, rooms) in ROOMS {
        let root = format!("crates/{name}/src/");
        for (rank, room) in rooms.iter().enumerate() {
            for file in repository.under(&format!("{root}{room}/")) {
                let code = code(&file.text);
                let wrong = code
                    .split("crate::")
                    .skip(1)
                    .map(first_name)
                    .filter(|door| {
                        let is_macro = door.starts_with(|c: char| c.is_lowercase())
                            && repository.under(&format!("{root}{door}")).next().is_none();
                        !is_macro && !rooms[..=rank].contains(door)
                    });
                findings.extend(
                    wrong.map(|door| {
                        format!("{}: room {room} must not name crate::{door}", file.path)
                    }),
                );
            }
        }
    }
    findings
}

/// The name that a path begins with; none if it begins with a list.
fn first_name(path: &str) -> &str {
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_');
    &path[..end.unwrap_or(path.len())]
}

/// Files, clocks and environment in the core.
pub(crate) fn core_side_effects(repository: &Repository) -> Vec<String> {
    let forbidden = [
        "std::fs",
        "std::env",
        "std::process",
        "io::std",
        "TcpStream",
        "UdpSocket",
        "Instant::now",
        "SystemTime",
    ];
    let mut findings = Vec::new();
    for folder in CORE {
        for file in repository
            .under(folder)
            .filter(|file| file.name() != "tests.rs")
        {
            for (number, line) in without_strings(&file.text).lines().enumerate() {
                let code = line.split("//").next().unwrap_or(line);
                if let Some(what) = forbidden.iter().find(|what| code.contains(**what)) {
                    findings.push(format!(
                        "{}:{}: {what} in the core: let the caller hand it in",
                        file.path,
                        number + 1
                    ));
                }
            }
        }
    }
    findings
}

/// Files that a published crate takes from outside its folder, which its package does not hold.
pub(crate) fn unpackaged_files(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    for name in names(repository) {
        for file in repository.under(&format!("crates/{name}/src/")) {
            let depth = file.path.split('/').count() - 3;
            for (number, line) in file.text.lines().enumerate() {
                let includes = line.contains("include_") && line.matches("../").count() > depth;
                if includes || line.contains("\"/../") {
                    findings.push(format!(
                        "{}:{}: a package of {name} lacks this file: link to its folder",
                        file.path,
                        number + 1
                    ));
                }
            }
        }
    }
    findings
}

/// Dependencies of the workspace that docs/dependencies.md does not explain, and the reverse.
pub(crate) fn unexplained_dependencies(repository: &Repository) -> Vec<String> {
    let manifest = repository
        .file("Cargo.toml")
        .map_or("", |file| file.text.as_str());
    let page = repository
        .file("docs/dependencies.md")
        .map_or("", |file| file.text.as_str());
    let crates = section(manifest, "[workspace.dependencies]")
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name.trim())
        .filter(|name| !is_own(name));
    let used: Vec<&str> = crates
        .chain(browser_packages(repository))
        .chain(python_packages(repository))
        .collect();
    let explained: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let missing = used.iter().filter(|name| !explained.contains(name));
    let stale = explained.iter().filter(|name| !used.contains(name));
    missing
        .map(|name| format!("docs/dependencies.md: say why the workspace needs `{name}`"))
        .chain(stale.map(|name| format!("docs/dependencies.md: `{name}` is no longer used")))
        .collect()
}

/// The packages of npm that the page of the workspace and the tests in a browser use.
fn browser_packages(repository: &Repository) -> impl Iterator<Item = &str> {
    let manifests = ["tests/browser/package.json", "web/package.json"];
    let files = manifests
        .into_iter()
        .filter_map(|path| repository.file(path));
    let lists = files.flat_map(|file| file.text.split("ependencies\": {").skip(1));
    let lines = lists.flat_map(|list| list.split('}').next().unwrap_or("").lines());
    lines.filter_map(|line| line.trim().strip_prefix('"')?.split('"').next())
}

/// The packages of Python for the site, the tools and the tests of the Python package.
fn python_packages(repository: &Repository) -> impl Iterator<Item = &str> {
    let lists = [
        "tools/requirements.txt",
        "python/tests/requirements.txt",
        "docs/notebooks/requirements.txt",
    ];
    let files = lists.into_iter().filter_map(|path| repository.file(path));
    let lines = files.flat_map(|file| file.text.lines());
    lines.filter_map(|line| Some(line.split_once("==")?.0))
}

/// Dependencies that a crate names in its manifest and nowhere else, and those of the workspace
/// that no crate names.
pub(crate) fn unused_dependencies(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    let mut used = Vec::new();
    for name in names(repository) {
        let path = format!("crates/{name}/Cargo.toml");
        let manifest = repository.file(&path).map_or("", |file| &file.text);
        for arrow in arrows(manifest) {
            let word = arrow.to.replace('-', "_");
            let folder = format!("crates/{name}/");
            let mut sources = repository
                .under(&folder)
                .filter(|file| file.has_extension("rs"));
            if !sources.any(|file| has_word(&file.text, &word)) {
                findings.push(format!("{path}: `{}` is not used", arrow.to));
            }
            used.push(arrow.to);
        }
    }
    let manifest = repository.file("Cargo.toml").map_or("", |file| &file.text);
    let offered = section(manifest, "[workspace.dependencies]").filter_map(dependency);
    let unused = offered.filter(|name| !used.iter().any(|other| other == name));
    findings.extend(unused.map(|name| format!("Cargo.toml: no crate uses `{name}`")));
    findings
}

fn has_word(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(inside) && !text[at + word.len()..].starts_with(inside)
    })
}

fn names(repository: &Repository) -> Vec<&str> {
    let manifests = repository
        .under("crates/")
        .filter(|file| file.name() == "Cargo.toml");
    manifests
        .filter_map(|file| file.path.split('/').nth(1))
        .collect()
}

/// Whether a dependency is a crate of the workspace.
fn is_own(name: &str) -> bool {
    name == "tenter" || name.starts_with("tenter-")
}

struct Arrow {
    to: String,
    only_in_tests: bool,
}

fn arrows(manifest: &str) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for header in [
        "[dependencies]",
        "[target.'cfg(target_os = \"linux\")'.dependencies]",
        "[build-dependencies]",
        "[dev-dependencies]",
    ] {
        for line in section(manifest, header) {
            arrows.extend(dependency(line).map(|to| Arrow {
                to: to.to_owned(),
                only_in_tests: header == "[dev-dependencies]",
            }));
        }
    }
    arrows
}

/// The name that a line of a section of dependencies begins with.
fn dependency(line: &str) -> Option<&str> {
    let end = line.find(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
    let name = &line[..end.unwrap_or(line.len())];
    (!name.is_empty()).then_some(name)
}

/// The lines of one section of a manifest.
fn section<'a>(manifest: &'a str, header: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = manifest
        .lines()
        .skip_while(move |line| line.trim() != header)
        .skip(1);
    lines.take_while(|line| !line.starts_with('['))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::File;

    fn crate_with(name: &str, dependencies: &str) -> Repository {
        let manifest = format!("[lints]\nworkspace = true\n\n{dependencies}");
        Repository::of(vec![File::new(
            &format!("crates/{name}/Cargo.toml"),
            &manifest,
        )])
    }

    #[test]
    fn arrows_down_the_list_are_allowed_and_up_are_not() {
        let down = crate_with(
            "tenter-fabric",
            "[dependencies]\ntenter-language.workspace = true\n",
        );
        assert!(forbidden_arrows(&down).is_empty());
        let up = crate_with(
            "tenter-fabric",
            "[dependencies]\ntenter-sim = { path = \"x\" }\n",
        );
        assert_eq!(
            forbidden_arrows(&up),
            ["crates/tenter-fabric/Cargo.toml: tenter-fabric must not depend on tenter-sim"]
        );
    }

    #[test]
    fn only_tests_may_use_the_test_kit() {
        let test = crate_with(
            "tenter-sim",
            "[dev-dependencies]\ntenter-testkit.workspace = true\n",
        );
        assert!(forbidden_arrows(&test).is_empty());
        let plain = crate_with(
            "tenter-sim",
            "[dependencies]\ntenter-testkit.workspace = true\n",
        );
        assert_eq!(forbidden_arrows(&plain).len(), 1);
    }

    #[test]
    fn a_room_names_those_before_it_alone() {
        let files = |text: &str| {
            Repository::of(vec![
                File::new("crates/tenter/src/explain/cost.rs", text),
                File::new("crates/tenter/src/report/mod.rs", ""),
            ])
        };
        let allowed = "use crate::resolve::load;\nuse crate::explain::Cost; // crate::report\n";
        assert!(forbidden_doors(&files(allowed)).is_empty());
        let later = forbidden_doors(&files("use crate::report::csv;\n"));
        let message = "crates/tenter/src/explain/cost.rs: room explain must not name crate::report";
        assert_eq!(later, [message]);
        assert_eq!(forbidden_doors(&files("use crate::{a, b};\n")).len(), 1);
        assert!(forbidden_doors(&files("crate::choice! { A }\n")).is_empty());
    }

    #[test]
    fn an_unknown_crate_needs_a_place() {
        assert_eq!(forbidden_arrows(&crate_with("tenter-other", "")).len(), 1);
    }

    #[test]
    fn input_in_the_core_is_found_and_in_a_comment_is_not() {
        let text = "// std::fs\nlet a = std::fs::read(b);\nlet c = \"std::env\";\n";
        let file = File::new("crates/tenter-fabric/src/net/mod.rs", text);
        assert_eq!(core_side_effects(&Repository::of(vec![file])).len(), 1);
    }

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        let manifest =
            "[workspace.dependencies]\ntenter-fabric = { path = \"x\" }\nserde = \"1\"\n";
        let page = "| `clap` | why |\n";
        let files = vec![
            File::new("Cargo.toml", manifest),
            File::new("docs/dependencies.md", page),
        ];
        assert_eq!(unexplained_dependencies(&Repository::of(files)).len(), 2);
    }

    #[test]
    fn what_is_named_in_a_manifest_is_used() {
        let files = |source: &str| {
            let manifest = "[dependencies]\nrand-core = { workspace = true }\n";
            let offered = "[workspace.dependencies]\nrand-core = \"1\"\nserde = \"1\"\n";
            Repository::of(vec![
                File::new("Cargo.toml", offered),
                File::new("crates/tenter-fabric/Cargo.toml", manifest),
                File::new("crates/tenter-fabric/src/net/mod.rs", source),
            ])
        };
        let serde = "Cargo.toml: no crate uses `serde`";
        assert_eq!(unused_dependencies(&files("use rand_core::Rng;")), [serde]);
        let unused = "crates/tenter-fabric/Cargo.toml: `rand-core` is not used";
        assert_eq!(
            unused_dependencies(&files("use my_rand_core::Rng;")),
            [unused, serde]
        );
    }
}
