//! Logs of nccl-tests that others have published, where they are: as many rows as a second, simple
//! count finds.
//!
//! The folder is `TENTER_SAMPLES`, by default `../shared/reference/formats/samples` beside the
//! repository.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tenter::report::Measured;

/// The logs; tells that they are not there.
#[expect(clippy::print_stderr, reason = "what is not tested is said aloud")]
fn logs() -> Vec<PathBuf> {
    let beside = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/reference/formats/samples"
    );
    let folder =
        std::env::var_os("TENTER_SAMPLES").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let folder = folder.join("nccl-tests");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        let shown = folder.display();
        eprintln!("NOT TESTED: there are no logs of nccl-tests in {shown}; set TENTER_SAMPLES");
        return Vec::new();
    };
    let mut logs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    logs.sort();
    logs
}

#[test]
fn published_logs_have_the_rows_that_a_simple_count_finds() {
    for path in logs() {
        let text = std::fs::read_to_string(&path).expect("a log");
        let name = path.display().to_string();
        // All of them are of floats, and sizes that repeat count once.
        let sizes: BTreeSet<u64> = text
            .lines()
            .filter_map(|line| line.split_once(" float "))
            .filter_map(|(before, _)| {
                let mut words = before.rsplit([' ', ':']).filter(|word| !word.is_empty());
                words.nth(1)?.parse().ok()
            })
            .filter(|&size| size > 0)
            .collect();
        let read = Measured::parse(&name, &text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let rows: BTreeSet<u64> = read
            .iter()
            .flat_map(|measured| &measured.rows)
            .map(|row| row.size_bytes)
            .collect();
        assert!(!sizes.is_empty(), "{name}");
        assert_eq!(rows, sizes, "{name}");
        let reduces = name.contains("all_reduce");
        assert_eq!(read[0].reduces, Some(reduces), "{name}");
    }
}
