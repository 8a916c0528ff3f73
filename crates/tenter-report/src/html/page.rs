//! The page around the contents of a report.

use super::policy::policy;
use super::text::{add, escape};

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.gen.js");

/// The frame around the contents of a page.
pub(super) struct Head<'a> {
    /// The title of the window.
    pub(super) title: &'a str,
    /// The remark at its end about the numbers.
    pub(super) remark: &'a str,
}

/// A whole page around the contents that `fill` adds.
///
/// It names an icon of nothing: a browser asks the server of a page without one for a file.
pub(super) fn page(head: &Head<'_>, fill: impl FnOnce(&mut String)) -> String {
    let mut page = String::with_capacity(1 << 20);
    add(
        &mut page,
        format_args!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\
             <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">\
             <meta name=\"generator\" content=\"Tenter {}\">\
             <title>{} – Tenter report</title><style>{STYLE}</style></head><body>\
             <a class=\"skip\" href=\"#main\">Skip to the results</a>\n",
            policy(SCRIPT, STYLE),
            env!("CARGO_PKG_VERSION"),
            escape(head.title)
        ),
    );
    page.push_str("<main id=\"main\">");
    fill(&mut page);
    add(
        &mut page,
        format_args!(
            "</main><footer>Made by Tenter {}. {}</footer>\
             <div id=\"tip\" role=\"status\" hidden></div>\n<script>{SCRIPT}</script></body></html>\n",
            env!("CARGO_PKG_VERSION"),
            escape(head.remark)
        ),
    );
    page
}
