//! The error of flow level on the corpus: the table that trials print, and that of the page.

#![allow(missing_docs, reason = "tests")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tenter::{
    FidelityClass, FidelityRow, LevelErrors, compare_levels, corpus_scenario, fidelity_csv,
    fidelity_rows,
};

/// Scenarios of the corpus that the table is measured on: those with the seeds from 1.
const SCENARIOS: u64 = 200;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The errors of all scenarios, in the order of their seeds.
fn errors() -> Vec<(FidelityClass, LevelErrors)> {
    let next = AtomicU64::new(1);
    let found = Mutex::new(Vec::new());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed > SCENARIOS {
                return;
            }
            let both = compare_levels(&corpus_scenario(seed), 1);
            let both = both.unwrap_or_else(|error| panic!("corpus-{seed}: {error}"));
            let of_seed = (seed, (both.class(), both.errors()));
            found.lock().expect("no thread has panicked").push(of_seed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let mut found = found.into_inner().expect("no thread has panicked");
    found.sort_by_key(|(seed, _)| *seed);
    found.into_iter().map(|(_, errors)| errors).collect()
}

fn markdown(rows: &[FidelityRow]) -> String {
    let mut text = "\n| fabric | load | trials | JCT: bias | mean | P95 | worst | FCT P50: mean | FCT P99: mean |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n".to_owned();
    for FidelityRow {
        class,
        trials,
        jct,
        fct_p50,
        fct_p99,
    } in rows
    {
        let _ = writeln!(
            text,
            "| {} | {} | {trials} | {:+.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
            class.fabric,
            class.load,
            jct.bias,
            jct.mean,
            jct.p95,
            jct.worst,
            fct_p50.mean,
            fct_p99.mean,
        );
    }
    text.push('\n');
    text
}

/// A file with what it should have between two marks, or as a whole.
fn expect(path: &str, text: &str, marks: Option<[&str; 2]>) {
    let file = root().join(path);
    let now = fs::read_to_string(&file).expect("a file of the repository");
    let expected = match marks {
        None => text.to_owned(),
        Some([begin, end]) => {
            let (before, rest) = now.split_once(begin).expect("the mark before the table");
            let (_, after) = rest.split_once(end).expect("the mark behind the table");
            format!("{before}{begin}{text}{end}{after}")
        }
    };
    if now == expected {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_EXPECTED").is_some(),
        "{path} is not what the corpus gives; look at the differences and run with UPDATE_EXPECTED=1:\n{text}"
    );
    fs::write(&file, expected).expect("a file of the repository can be written");
}

#[test]
fn the_table_of_errors_is_that_of_the_corpus() {
    let rows = fidelity_rows(&errors());
    expect(
        "crates/tenter-explain/src/fidelity.csv",
        &fidelity_csv(&rows),
        None,
    );
    let marks = ["<!-- errors -->\n", "<!-- end of errors -->"];
    expect("docs/flow-level.md", &markdown(&rows), Some(marks));
}
