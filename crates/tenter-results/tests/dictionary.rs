//! The committed data dictionary says what the code writes.

#[test]
fn the_committed_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/data-dictionary.md");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == tenter_results::dictionary::markdown(),
        "docs/data-dictionary.md is out of date; refresh it with\n    \
         cargo run -p tenter-results --example dictionary > docs/data-dictionary.md"
    );
}
