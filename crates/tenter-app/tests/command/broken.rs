//! Every scenario in `scenarios/broken/` is refused in the words of its `.expected` file, and
//! leaves nothing.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workplace::Workplace;

/// Fewer than this means that the folder was not found.
const SCENARIOS: usize = 10;

fn broken() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/broken");
    let entries = fs::read_dir(folder).expect("scenarios/broken is part of the repository");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml"));
    files.sort();
    files
}

#[test]
fn broken_scenarios_are_refused_in_the_expected_words() {
    let files = broken();
    assert!(files.len() >= SCENARIOS, "{files:?}");
    let workplace = Workplace::new("broken");
    for file in files {
        let name = file
            .file_name()
            .expect("a file has a name")
            .to_string_lossy();
        let path = format!("scenarios/broken/{name}");
        workplace.write(&path, fs::read(&file).expect("a scenario can be read"));
        let expected = fs::read_to_string(file.with_extension("expected"))
            .unwrap_or_else(|error| panic!("{name} lacks its .expected file: {error}"));
        let format = ["--format", "json"];
        for arguments in [
            &["run", &path][..],
            &["run", &path, "-o", "trial"],
            &["run", &path, format[0], format[1], "--threads", "2"],
            &["validate", &path],
        ] {
            let answer = workplace.tenter(arguments).expect(2);
            assert_eq!(answer.stderr, expected, "{arguments:?}");
            if arguments.contains(&"json") {
                // The same, for programs.
                let document: serde_json::Value =
                    serde_json::from_str(&answer.stdout).expect("it is one document");
                let problems = document["error"]["problems"].as_array();
                let count = answer.stderr.matches("error: ").count();
                assert_eq!(problems.map(Vec::len), Some(count), "{path}");
                assert_eq!(document["error"]["exit_code"], 2, "{path}");
            } else {
                assert_eq!(answer.stdout, "", "{arguments:?}");
            }
        }
    }
    assert_eq!(workplace.entries(), ["scenarios"]);
}
