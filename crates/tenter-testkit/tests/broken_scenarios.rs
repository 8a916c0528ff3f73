//! Every scenario in `scenarios/broken/` is refused with one clear error and leaves no trial
//! folder.
//!
//! The first line of such a scenario is a comment, `# error: TEXT`; the message must hold that
//! text.

mod binary;

use std::fs;
use std::path::{Path, PathBuf};

use binary::{Workplace, root, tenter};

/// Fewer than this means that the folder was not found.
const SCENARIOS: usize = 10;

fn broken() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("scenarios/broken")).expect("scenarios/broken exists");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "yaml")
    });
    files.sort();
    files
}

/// What is wrong with how `tenter` answers one scenario.
fn complaints(workplace: &Workplace, binary: &Path, file: &Path) -> Vec<String> {
    let name = file
        .file_name()
        .expect("a file has a name")
        .to_string_lossy()
        .into_owned();
    let text = fs::read_to_string(file).expect("a scenario can be read");
    let Some(expected) = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("# error: "))
    else {
        return vec![format!("{name}: the first line must be `# error: TEXT`")];
    };
    let scenario = format!("scenarios/broken/{name}");
    let mut complaints = Vec::new();
    for arguments in [
        &["run", &scenario, "-o", "trial"][..],
        &["validate", &scenario],
    ] {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let output = workplace.run(binary, &arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        let mut complain = |what: &str| {
            complaints.push(format!("{name}: {} {what}\n{message}", arguments[0]));
        };
        if output.status.code() != Some(2) {
            complain(&format!(
                "ends with {} in place of exit code 2",
                output.status
            ));
        }
        if !message.contains(&name) || !message.contains(expected) {
            complain(&format!("does not name the file and say `{expected}`"));
        }
    }
    if workplace.folder.join("trial").exists() {
        complaints.push(format!("{name}: run left a trial folder"));
    }
    complaints
}

#[test]
fn broken_scenarios_are_refused() {
    let files = broken();
    assert!(
        files.len() >= SCENARIOS,
        "only {} broken scenarios",
        files.len()
    );
    let binary = tenter();
    let workplace = Workplace::new("broken");
    let all: Vec<String> = files
        .iter()
        .flat_map(|file| complaints(&workplace, &binary, file))
        .collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}
