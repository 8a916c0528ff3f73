//! Performs walks of `docs/extending.md` on a copy of the tree: the patches beside the page apply.
//! That the tree compiles then, the scenarios of the new members run, and queries and sweeps know
//! the new table, is left to `make test-all`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a build of the workspace reads.
const PARTS: [&str; 8] = [
    ".cargo",
    "Cargo.toml",
    "Cargo.lock",
    "crates",
    "presets",
    "profiles",
    "scenarios",
    "studies",
];
/// A patch for each walk, and the scenarios that use what it adds.
const WALKS: [(&str, &[&str]); 3] = [
    ("load-balancer", &["let-flow"]),
    // On both transports.
    ("congestion-control", &["vegas", "vegas-ultra-ethernet"]),
    ("table", &["quickstart"]),
];
/// A query of the new table, and one with the same answer of a table that there is.
const OF_NEW_TABLE: &str = "max(iterations.slowest_ns)";
const OF_OLD_TABLE: &str = "max(collectives.completion_time_ns) where not warm_up";
/// Lines of existing files that a walk may touch: one in the list, and what Rust asks for to see a
/// new file.
const LINES: usize = 4;

/// A copy of the tree, removed when dropped.
struct Copy(PathBuf);

impl Copy {
    fn of(root: &Path) -> Copy {
        let folder = std::env::temp_dir().join(format!("tenter-walks-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder can be made");
        let copy = Copy(folder);
        for part in PARTS {
            copy_tree(&root.join(part), &copy.0.join(part));
        }
        copy
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // What a failed clean-up leaves is in the system's temporary folder.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Copies a file or folder; what links lead to is copied in their place.
fn copy_tree(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        return;
    }
    fs::create_dir_all(to).expect("a folder can be made in the temporary one");
    for entry in fs::read_dir(from).expect("a folder of the repository can be read") {
        let name = entry.expect("its entries can be read").file_name();
        copy_tree(&from.join(&name), &to.join(&name));
    }
}

/// Lines that a patch adds to files that there are, by its text.
fn lines_in_existing_files(patch: &str) -> usize {
    let files = patch.split("diff --git ").skip(1);
    let existing = files.filter(|file| !file.contains("\nnew file mode"));
    let added = existing.flat_map(str::lines).filter(|line| {
        let is_head = line.starts_with("+++");
        line.starts_with('+') && !is_head && !line.trim_start_matches('+').trim().starts_with("///")
    });
    added.count()
}

/// The members of the workspace, which are compiled without optimisation: they run for a second.
fn unoptimised(root: &Path) -> Vec<String> {
    let crates = fs::read_dir(root.join("crates")).expect("there are crates");
    let names = crates.map(|entry| entry.expect("it can be read").file_name());
    let setting = |name: String| format!("profile.test.package.{name}.opt-level=0");
    let settings = names.map(|name| setting(name.to_string_lossy().into_owned()));
    settings
        .flat_map(|setting| ["--config".to_owned(), setting])
        .collect()
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the workspace is there")
}

/// A copy of the tree with all patches applied.
fn walked() -> Copy {
    let root = root();
    let copy = Copy::of(&root);
    for (patch, _) in WALKS {
        let file = root.join(format!("docs/extending/{patch}.patch"));
        let text = fs::read_to_string(&file).expect("the patch lies beside the page");
        let lines = lines_in_existing_files(&text);
        assert!(
            lines <= LINES,
            "{patch} adds {lines} lines to what there is"
        );
        let applied = Command::new("git")
            .arg("apply")
            .arg(&file)
            .current_dir(&copy.0)
            .status();
        let applied = applied.expect("git is installed");
        assert!(
            applied.success(),
            "{patch}.patch does not apply: make it anew"
        );
    }
    copy
}

/// Builds the command, with the features of all tests, and returns its path.
fn built(copy: &Copy) -> PathBuf {
    let ran = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--workspace", "--bin", "tenter"])
        .args(["--profile", "test", "--target-dir"])
        .arg(copy.0.join("target"))
        .args(unoptimised(&root()))
        .current_dir(&copy.0)
        .status();
    assert!(ran.expect("cargo runs").success(), "the tree compiles");
    copy.0.join("target/debug/tenter")
}

#[test]
fn the_walks_of_the_guide_apply_and_are_short() {
    drop(walked());
}

#[test]
#[ignore = "compiles the tree; make test-all runs it"]
fn the_walks_of_the_guide_lead_to_members_that_run() {
    let copy = walked();
    let tenter = built(&copy);
    let run = |words: &[&str]| {
        let output = Command::new(&tenter)
            .args(words)
            .current_dir(&copy.0)
            .output();
        let output = output.expect("it was built");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {error}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let runs = WALKS.iter().flat_map(|(walk, scenarios)| {
        let scenario = |scenario| (*walk, scenario);
        scenarios.iter().copied().map(scenario)
    });
    for (walk, scenario) in runs {
        let file = format!("scenarios/{scenario}.yaml");
        let folder = format!("out/{walk}");
        let text = run(&["run", &file, "-o", &folder, "--force"]);
        assert!(text.contains("digest "), "{scenario}: {text}");
    }
    // The new table has a file, and queries, sweeps and reports know it.
    assert!(copy.0.join("out/table/iterations.parquet").is_file());
    let asked = |query| run(&["query", "out/table", query, "--format", "csv"]);
    let value = |query| {
        let answer = asked(query);
        let row = answer.lines().nth(1).expect("a row");
        row.rsplit(',').next().expect("a value").to_owned()
    };
    let slowest: f64 = value(OF_NEW_TABLE).parse().expect("a number");
    assert_eq!(value(OF_NEW_TABLE), value(OF_OLD_TABLE));
    let sweep = format!(
        "scenario: scenarios/quickstart.yaml\nreadings: [{{name: slowest, query: {OF_NEW_TABLE}}}]\n"
    );
    fs::write(copy.0.join("sweep.yaml"), sweep).expect("the copy can be written");
    let swept = run(&["sweep", "sweep.yaml", "-o", "out/sweep", "--format", "csv"]);
    assert!(swept.contains(&slowest.to_string()), "{swept}");
    run(&["report", "out/table", "-o", "out/table.html"]);
}
