//! Every listed member (a load balancer, a collective, a topology) has its page, a scenario and a
//! test.

use crate::repository::{File, Repository};

/// A kind of member: one `enum` that lists them, one folder with one file per member.
struct Kind {
    /// Text that begins the list in the folder's module file: an `enum`, or a macro.
    list: &'static str,
    /// What its pages are called after.
    page_prefix: &'static str,
    /// The folder, ending in a slash.
    folder: &'static str,
    /// Whether scenarios may name the member in two words, `<what>` and `<algorithm>`.
    two_words: bool,
}

const KINDS: [Kind; 6] = [
    Kind {
        list: "pub enum LoadBalancing ",
        page_prefix: "load-balancing",
        folder: "crates/tenter-fabric/src/net/load_balancing/",
        two_words: false,
    },
    Kind {
        list: "controls! ",
        page_prefix: "congestion-control",
        folder: "crates/tenter-endpoint/src/congestion_control/",
        two_words: false,
    },
    Kind {
        list: "pub enum LossRecovery ",
        page_prefix: "loss-recovery",
        folder: "crates/tenter-endpoint/src/loss_recovery/",
        two_words: false,
    },
    Kind {
        list: "pub enum CollectiveKind ",
        page_prefix: "collective",
        folder: "crates/tenter-workload/src/collective/",
        two_words: true,
    },
    Kind {
        list: "pub enum PatternKind ",
        page_prefix: "pattern",
        folder: "crates/tenter-workload/src/pattern/",
        two_words: false,
    },
    Kind {
        list: "pub enum TopologySpec ",
        page_prefix: "topology",
        folder: "crates/tenter-fabric/src/topology/builders/",
        two_words: false,
    },
];

/// The headings of a model page, in this order.
const HEADINGS: [&str; 6] = [
    "## Model",
    "## Source",
    "## Scope and limits",
    "## Parameters",
    "## Validation",
    "## References",
];

/// What members lack, and model pages with other headings.
pub(crate) fn incomplete(repository: &Repository) -> Vec<String> {
    let mut findings = Vec::new();
    for kind in &KINDS {
        let Some(variants) = variants(repository, kind) else {
            findings.push(format!(
                "{}: no module has the list `{}`",
                kind.folder, kind.list
            ));
            continue;
        };
        for (name, variant) in variants {
            findings.extend(lacks(repository, kind, &name, &variant));
        }
    }
    let pages = repository
        .under("docs/models/")
        .filter(|file| file.has_extension("md"));
    findings.extend(pages.filter_map(wrong_headings));
    findings
}

/// Lists the parts that one member lacks; `name` is its word, or its variant with dashes.
fn lacks(repository: &Repository, kind: &Kind, name: &str, variant: &str) -> Vec<String> {
    let member = snake(variant);
    let path = format!("{}{member}.rs", kind.folder);
    let page = name.replace('+', "-and-");
    let page = format!("docs/models/{}-{page}.md", kind.page_prefix);
    let mut findings = Vec::new();
    if repository.file(&path).is_none() {
        findings.push(format!("{path}: write the file of {variant}"));
    }
    if repository.file(&page).is_none() {
        findings.push(format!("{path}: write its page {page}"));
    }
    if !has_scenario(repository, name, kind.two_words) {
        findings.push(format!("{path}: no scenario in scenarios/ uses {name}"));
    }
    if !has_test(repository, kind, &member, variant) {
        findings.push(format!(
            "{path}: no test in it, and none beside it names {variant}"
        ));
    }
    findings
}

/// The names and variants of a kind's list, from the layout that rustfmt gives it.
fn variants(repository: &Repository, kind: &Kind) -> Option<Vec<(String, String)>> {
    let beside = repository.file(&format!("{}.rs", kind.folder.trim_end_matches('/')));
    let module = beside.or_else(|| repository.file(&format!("{}mod.rs", kind.folder)))?;
    let mut lines = module.text.lines();
    // A list of components has the title of its table and what it derives before the bracket.
    let is_head = |line: &&str| line.trim_start().starts_with(kind.list) && line.ends_with('{');
    let first = lines.find(is_head)?;
    let indent = &first[..first.len() - first.trim_start().len()];
    let (end, of_body) = (format!("{indent}}}"), format!("{indent}    "));
    let body = lines
        .take_while(|line| *line != end)
        .filter_map(|line| line.strip_prefix(&of_body));
    // In a list that says what members are called in a scenario, the word comes first.
    let lines = body.map(|line| line.split_once("\" => ").unwrap_or(("", line)));
    let lines = lines.filter(|(_, line)| line.starts_with(|c: char| c.is_ascii_uppercase()));
    let end = |c: char| !c.is_alphanumeric();
    let variants: Vec<_> = lines
        .filter_map(|(word, line)| Some((word, line.split(end).next()?)))
        .map(|(word, variant)| match word.trim_start_matches('"') {
            "" => (snake(variant).replace('_', "-"), variant.to_owned()),
            word => (word.to_owned(), variant.to_owned()),
        })
        .collect();
    (!variants.is_empty()).then_some(variants)
}

/// The file name of a variant: `LeafSpine` is `leaf_spine`.
fn snake(variant: &str) -> String {
    let mut name = String::new();
    for c in variant.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

fn wrong_headings(page: &File) -> Option<String> {
    let found: Vec<&str> = page
        .text
        .lines()
        .map(str::trim_end)
        .filter(|line| line.starts_with("## "))
        .collect();
    (found != HEADINGS).then(|| {
        format!(
            "{}: its headings are {found:?}, they must be {HEADINGS:?}",
            page.path
        )
    })
}

/// Whether a scenario names the member, in one word or as a collective and its algorithm.
fn has_scenario(repository: &Repository, name: &str, two_words: bool) -> bool {
    // Other subfolders hold scenarios that do not run.
    let runs = |file: &&File| {
        let path = &file.path;
        let is_near = path.matches('/').count() == 1 || path.starts_with("scenarios/sweeps/");
        file.has_extension("yaml") && is_near
    };
    let scenarios = repository.under("scenarios/").filter(runs);
    scenarios.map(|file| words(&file.text)).any(|words| {
        let has = |word: &str| words.iter().any(|found| found == word);
        let splits = || {
            name.match_indices('-')
                .any(|(at, _)| has(&name[..at]) && has(&name[at + 1..]))
        };
        has(name) || (two_words && splits())
    })
}

/// The words of a YAML text outside comments, with dashes for underscores.
fn words(yaml: &str) -> Vec<String> {
    let lines = yaml.lines().map(|line| match line.find(" #") {
        Some(comment) => &line[..comment],
        None if line.starts_with('#') => "",
        None => line,
    });
    let breaks = |c: char| !c.is_alphanumeric() && !['-', '_', '+'].contains(&c);
    lines
        .flat_map(|line| line.split(breaks))
        .map(|word| word.replace('_', "-"))
        .collect()
}

/// Whether there is a test in the member's own files, or one that names it beside them.
fn has_test(repository: &Repository, kind: &Kind, member: &str, variant: &str) -> bool {
    let (package, _) = kind
        .folder
        .split_once("src/")
        .expect("members are source files");
    let integration = format!("{package}tests/");
    let own = [
        format!("{}{member}.", kind.folder),
        format!("{}{member}/", kind.folder),
    ];
    let mut tests = repository.files.iter().filter(|file| holds_test(file));
    tests.any(|file| {
        let path = &file.path;
        let beside = path.starts_with(kind.folder) || path.starts_with(&integration);
        own.iter().any(|own| path.starts_with(own))
            || (beside
                && [member, variant]
                    .iter()
                    .any(|name| file.text.contains(name)))
    })
}

fn holds_test(file: &File) -> bool {
    file.text.contains("#[test]") || file.text.contains("proptest!")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: &str = "crates/tenter-workload/src/collective/all_reduce_ring.rs";
    const KIND: &Kind = &KINDS[3];

    fn page() -> File {
        File::new(
            "docs/models/collective-all-reduce-ring.md",
            &HEADINGS.join("\n\n"),
        )
    }

    fn ring(files: Vec<File>) -> Vec<String> {
        let name = "all-reduce-ring";
        lacks(&Repository::of(files), KIND, name, "AllReduceRing")
    }

    #[test]
    fn members_are_the_variants_of_the_list() {
        let list = "pub enum Other {\n    A,\n}\n\npub enum CollectiveKind {\n    /// One.\n    \
                    AllReduceRing,\n    Incast {\n        /// Who.\n        root: u32,\n    },\n}\n";
        let path = "crates/tenter-workload/src/collective/mod.rs";
        let repository = Repository::of(vec![File::new(path, list)]);
        assert_eq!(
            variants(&repository, KIND).unwrap(),
            [("all-reduce-ring", "AllReduceRing"), ("incast", "Incast")]
                .map(|(name, variant)| (name.to_owned(), variant.to_owned()))
        );
        assert_eq!(snake("AllReduceRing"), "all_reduce_ring");
        assert!(variants(&Repository::of(vec![]), KIND).is_none());
    }

    #[test]
    fn a_member_with_nothing_lacks_four_things() {
        assert_eq!(ring(vec![]).len(), 4);
    }

    #[test]
    fn a_member_with_everything_lacks_nothing() {
        let scenario = "# comment\njobs:\n  - collective: all-reduce # x\n    algorithm: ring\n";
        let scenario = File::new("scenarios/a.yaml", scenario);
        let files = vec![File::new(RING, "#[test]"), page(), scenario];
        assert_eq!(ring(files), Vec::<String>::new());
    }

    #[test]
    fn a_comment_uses_no_member_and_neither_does_a_broken_scenario() {
        let comments = "# all-reduce-ring\nfabric: x # all-reduce-ring\n";
        let files = vec![
            File::new(RING, "#[test]"),
            page(),
            File::new("scenarios/a.yaml", comments),
            File::new("scenarios/broken/a.yaml", "all-reduce-ring"),
        ];
        assert_eq!(ring(files).len(), 1);
    }

    #[test]
    fn a_shared_test_must_name_the_member() {
        let has = |text: &str| {
            let shared = File::new("crates/tenter-workload/tests/rings.rs", text);
            has_test(
                &Repository::of(vec![shared]),
                KIND,
                "all_reduce_ring",
                "AllReduceRing",
            )
        };
        assert!(!has("#[test] fn other() {}"));
        assert!(has("#[test] fn sums() { run(AllReduceRing) }"));
    }

    #[test]
    fn a_page_with_other_headings_is_found() {
        let page = File::new("docs/models/A.md", "# Engine\n\n## Model\n");
        assert!(wrong_headings(&page).is_some());
    }
}
