//! The twin's tables as text for the terminal.

use std::fmt::Write as _;

use tenter::report::{TextColumn, TextTable, binary_size};
use tenter_language::units::Time;

use super::compare::TOLERANCE_PERCENT;
use super::flows::FlowSpread;
use super::run::Twin;

/// Returns a twin's tables for the terminal: sizes, flows, links and paths.
pub fn twin_text(twin: &Twin) -> String {
    let mut text = sizes(twin);
    let _ = writeln!(text, "\nflows");
    flows(&mut text, "stated constants", &twin.flows.0);
    if let Some(fitted) = &twin.flows.1 {
        flows(&mut text, "fitted constants", fitted);
    }
    let _ = writeln!(
        text,
        "\nlinks between switches (share of what the switch sends by them)"
    );
    for link in &twin.links {
        let _ = writeln!(
            text,
            "  {}: measured {:.1} %, simulated {:.1} %",
            link.name, link.measured.1, link.simulated.1
        );
    }
    if !twin.paths.is_empty() {
        let agree = twin.paths.iter().filter(|path| path.agrees()).count();
        let _ = writeln!(
            text,
            "\npaths: {agree} of {} queue pairs take the same link in both",
            twin.paths.len()
        );
        for path in twin.paths.iter().filter(|path| !path.agrees()) {
            let kernel = path
                .kernel
                .map_or("none".to_owned(), |port| port.to_string());
            let _ = writeln!(
                text,
                "  {} → {} from port {}: simulated {}, kernel {kernel}",
                path.from, path.to, path.source_port, path.simulated
            );
        }
    }
    if let Some(fit) = &twin.calibration {
        let _ = writeln!(
            text,
            "\nfitted: start-up {}, step delay {}, message gap {}, host rate {}",
            fit.start_up, fit.step_delay, fit.message_gap, fit.host_rate
        );
    }
    let _ = writeln!(text, "page     {}", twin.page.display());
    text
}

fn sizes(twin: &Twin) -> String {
    let names = [
        "job",
        "collective",
        "size",
        "measured",
        "stated",
        "off",
        "fitted",
        "off",
        "use",
        "verdict",
    ];
    let left = ["job", "collective", "use", "verdict"];
    let columns = names.map(|name| {
        if left.contains(&name) {
            TextColumn::name(name)
        } else {
            TextColumn::number(name, "")
        }
    });
    let mut table = TextTable::new(columns.to_vec());
    let ms = |time: Time| format!("{:.3} ms", time.as_ms());
    for row in &twin.sizes {
        let off = |percent: f64| format!("{percent:+.1} %");
        let judged = match (twin.calibration.is_some(), row.is_fitted_to) {
            (false, _) => "",
            (true, true) => "fitted to",
            (true, false) => "judged",
        };
        table.push(vec![
            row.job.clone(),
            row.collective.clone(),
            binary_size(row.size_bytes),
            ms(row.measured),
            ms(row.stated),
            off(row.stated_percent()),
            row.fitted.map(ms).unwrap_or_default(),
            row.fitted_percent().map(off).unwrap_or_default(),
            judged.to_owned(),
            if row.matches() { "match" } else { "miss" }.to_owned(),
        ]);
    }
    format!("completion times, medians; a match is within {TOLERANCE_PERCENT} %\n{table}")
}

fn flows(text: &mut String, which: &str, spread: &FlowSpread) {
    let _ = writeln!(
        text,
        "  {which}: {} flows, median {:+.1} %, 90 of 100 within {:.1} %, worst {:+.1} %; sent again {} measured, {} simulated; marked {} and {}",
        spread.flows,
        spread.median_percent,
        spread.p90_percent,
        spread.worst_percent,
        spread.retransmitted.0,
        spread.retransmitted.1,
        spread.marked.0,
        spread.marked.1,
    );
}
