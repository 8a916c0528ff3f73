//! Prints the data dictionary: `cargo run -p tenter-results --example dictionary >
//! docs/data-dictionary.md`.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(tenter_results::dictionary::markdown().as_bytes())
}
