//! Published tables are what they were when they were copied.

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// The digests that the page of the tables lists, as `sha256sum --check` reads them.
#[test]
fn published_tables_have_the_digests_that_their_page_lists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/published");
    let page = std::fs::read_to_string(folder.join("README.md")).expect("the page is there");
    let mut listed: Vec<String> = page
        .lines()
        .filter(|line| {
            line.split_once("  ")
                .is_some_and(|(digest, _)| digest.len() == 64)
        })
        .map(str::to_owned)
        .collect();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("it is readable").path();
        if path.extension().is_some_and(|extension| extension == "csv") {
            let text = std::fs::read(&path).expect("it is readable");
            let name = path.file_name().expect("it has one").to_string_lossy();
            let mut line = String::new();
            for byte in Sha256::digest(&text) {
                write!(line, "{byte:02x}").expect("strings take all");
            }
            found.push(format!("{line}  {name}"));
        }
    }
    listed.sort();
    found.sort();
    assert_eq!(
        listed, found,
        "a published table was edited, added or left out"
    );
}
