//! The trials of a report side by side, before each has its own part.

use super::overview::answer;
use super::text::{add, escape};
use super::{circuits, together};
use crate::compare::{NamedSummary, comparison_rows, remarks};
use crate::compare_tables::comparison_sections;
use crate::trial_data::TrialData;

/// Adds the table of all trials; differences are against the first.
pub(super) fn section(trials: &[TrialData], page: &mut String) {
    let named: Vec<NamedSummary> = trials.iter().map(NamedSummary::of).collect();
    let rows = comparison_rows(&named);
    page.push_str("<section id=\"comparison\"><h2>Side by side</h2><p class=\"lead\">Differences are in percent of the first trial; times are means over the measured iterations.</p>");
    let remarks = remarks(&named);
    if !remarks.is_empty() {
        page.push_str("<aside class=\"warnings\"><h3>Read this before the numbers</h3><ul>");
        for remark in &remarks {
            add(page, format_args!("<li>{}</li>", escape(remark)));
        }
        page.push_str("</ul></aside>\n");
    }
    for section in comparison_sections(&rows) {
        answer(&section, page);
    }
    together::section(trials, page);
    circuits::together(trials, page);
    page.push_str("</section>\n");
}
