//! The drawings on the pages of patterns are those of their matrices, over 64 ranks.
//!
//! With `UPDATE_EXPECTED=1` in the environment they are written instead of compared; review the
//! diff.

use std::fs;
use std::path::Path;

use tenter_engine::Draws;
use tenter_workload::pattern::{Auto, PatternKind, PatternSchedule};

const BEGIN: &str = "<!-- matrix: drawn by pattern_pages.rs -->\n\n```text\n";
const END: &str = "```\n\n<!-- end of matrix -->";

#[test]
fn every_page_has_the_drawing_of_its_matrix() {
    let draws = Draws::new(1, "job0", "pattern");
    for mut kind in PatternKind::defaults() {
        // Where a default shows nothing over so few ranks.
        match &mut kind {
            PatternKind::Gtc(own) => own.domains = Auto::Given(16),
            PatternKind::DatabasePod(own) => own.rack = 8,
            _ => {}
        }
        let member = kind.member();
        let page = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(member.model_page);
        let text = fs::read_to_string(&page).expect("every pattern has its page");
        let (before, rest) = text.split_once(BEGIN).expect("it has a drawing");
        let (drawing, after) = rest.split_once(END).expect("which ends");
        let schedule = PatternSchedule::new(kind, draws, 64, 0).expect("64 ranks suit all");
        let expected = schedule.matrix().heat_map(64);
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            let text = format!("{before}{BEGIN}{expected}{END}{after}");
            fs::write(&page, text).expect("the repository can be written");
        } else {
            assert_eq!(drawing, expected, "{}", member.model_page);
        }
    }
}
