//! The report of one or more trials: a single HTML file that needs nothing else.
//!
//! Tables and texts are made here. Most drawings are data (`plot.rs`), which the script draws with
//! the functions that the workspace has, too; pictures that only reports have are SVG made here,
//! coloured by the style sheet.

mod bar_chart;
mod cdf;
mod circuit_boxes;
mod circuits;
mod fabric;
mod flow_sizes;
mod heat_map;
mod held_up;
mod held_up_facts;
mod held_up_pictures;
mod job_timeline;
mod line_chart;
mod measured;
mod operations;
mod overview;
mod page;
mod pictures;
mod plot;
mod policy;
mod queue_heat;
mod runs;
mod scale;
mod series;
mod side_by_side;
mod studies;
mod sweep;
#[cfg(test)]
mod tests;
mod text;
mod timeline;
mod together;

pub use held_up_facts::{HeldUp, held_up};
use page::{Head, page};
pub use pictures::{PictureGroup, pictures};
pub use plot::Picture;
pub use studies::html_study_report;
pub use sweep::html_sweep_report;
use tenter_record::{EngineKind, StopKind};
use text::{add, escape};

use crate::deviations::Beside;
use crate::numbers::binary_size;
use crate::trial_data::TrialData;
use tenter_record::Tiers;

/// The most collectives with a timeline on a page.
const TIMELINES: usize = 24;

/// The report of these trials as the text of an HTML file.
///
/// Nothing in it is fetched from anywhere; names of jobs, nodes and folders appear as they are,
/// whatever characters they have.
pub fn html_report(trials: &[TrialData]) -> String {
    report(trials, None)
}

/// The same of trials beside files of measurements, with the deviations before the trials.
pub fn html_measured_report(trials: &[TrialData], beside: &Beside) -> String {
    report(trials, Some(beside))
}

/// What a reader of simulated trials must know.
const REMARK: &str = "Times are simulated; percentiles are by nearest rank; GB are 10⁹ bytes, GiB 2³⁰. Every number is in the trial folder, and its data dictionary says what each column means.";

/// The same of trials that were measured.
const REMARK_OF_LABS: &str = "Times are measured on the hosts of a lab; percentiles are by nearest rank; GB are 10⁹ bytes, GiB 2³⁰. Every number is in the trial folder, and its data dictionary says what each column means.";

fn report(trials: &[TrialData], beside: Option<&Beside>) -> String {
    let title = match trials {
        [one] => title(one),
        _ => format!("{} trials", trials.len()),
    };
    let is_measured = |trial: &TrialData| trial.summary.engine.engine == EngineKind::Lab;
    let head = Head {
        title: &title,
        remark: if trials.iter().all(is_measured) {
            REMARK_OF_LABS
        } else {
            REMARK
        },
    };
    page(&head, |page| {
        if trials.len() > 1 {
            contents(trials, page);
        }
        if let Some(beside) = beside {
            measured::section(beside, page);
        }
        for (number, trial) in trials.iter().enumerate() {
            article(number, trial, page);
        }
    })
}

fn title(trial: &TrialData) -> String {
    if trial.summary.scenario.is_empty() {
        trial.name()
    } else {
        trial.summary.scenario.clone()
    }
}

/// The head of a report of several trials.
fn contents(trials: &[TrialData], page: &mut String) {
    add(
        page,
        format_args!(
            "<header class=\"top\"><p class=\"brand\">Tenter report</p><h1>{} trials</h1><ol class=\"contents\">",
            trials.len()
        ),
    );
    for (number, trial) in trials.iter().enumerate() {
        add(
            page,
            format_args!(
                "<li><a href=\"#trial{number}\">{}</a> <small>{}</small></li>",
                escape(&title(trial)),
                escape(&trial.name())
            ),
        );
    }
    page.push_str("</ol></header>\n");
    side_by_side::section(trials, page);
}

fn article(number: usize, trial: &TrialData, page: &mut String) {
    let summary = &trial.summary;
    let state = match (&summary.stopped, summary.complete) {
        (_, true) => "<span class=\"state good\">complete</span>".to_owned(),
        (Some(reason), false) => {
            // A trial that its user stopped states it itself.
            let by_user = summary.stopped_by == Some(StopKind::User);
            let head = if by_user { "" } else { "stopped: " };
            format!("<span class=\"state bad\">{head}{}</span>", escape(reason))
        }
        (None, false) => "<span class=\"state bad\">not complete</span>".to_owned(),
    };
    add(
        page,
        format_args!(
            "<article id=\"trial{number}\"><header class=\"top\"><p class=\"brand\">Tenter report</p><h1>{}</h1><p>{state} <span class=\"folder\">trial {}, seed {}</span></p>\
             <nav aria-label=\"Sections\"><a href=\"#results{number}\">Results</a><a href=\"#fct{number}\">Flow completion</a>{}<a href=\"#transfers{number}\">Transfers</a><a href=\"#links{number}\">Links</a>{}<a href=\"#queues{number}\">Queues and pauses</a><a href=\"#settings{number}\">Settings</a></nav></header>\n",
            escape(&title(trial)),
            escape(&trial.name()),
            summary.seed,
            if trial.operations.is_empty() {
                String::new()
            } else {
                format!("<a href=\"#operations{number}\">Operations</a>")
            },
            if trial.circuits.is_empty() {
                String::new()
            } else {
                format!("<a href=\"#circuits{number}\">Circuits</a>")
            }
        ),
    );
    let tiers = Tiers::of(&trial.ports, &trial.switches);
    let chunks = runs::sorted_chunks(trial);
    let runs = runs::runs(trial, &chunks);
    overview::section(number, trial, &tiers, page);
    cdf::section(number, &runs, &summary.flow_sizes, page);
    operations::section(number, trial, page);
    transfers(number, trial, &tiers, &runs, page);
    heat_map::section(number, trial, &tiers, page);
    circuits::section(number, trial, page);
    series::section(number, trial, &tiers, page);
    add(
        page,
        format_args!(
            "<section id=\"settings{number}\"><h2>Settings</h2><p class=\"lead\">The scenario as it ran, with every default filled in. Saved as a file it runs again with the same results.</p><details><summary>config.yaml</summary><pre tabindex=\"0\">{}</pre></details></section></article>\n",
            escape(&trial.config)
        ),
    );
}

/// Timelines and chains, one collective at a time.
fn transfers(
    number: usize,
    trial: &TrialData,
    tiers: &Tiers,
    runs: &[runs::Run<'_>],
    page: &mut String,
) {
    add(
        page,
        format_args!("<section id=\"transfers{number}\"><h2>Collective data transfer</h2>"),
    );
    job_timeline::draw(std::slice::from_ref(trial), page);
    let slowest = runs::slowest(runs);
    let shown: Vec<_> = slowest
        .iter()
        .filter(|run| !run.chunks.is_empty())
        .take(TIMELINES)
        .collect();
    if shown.is_empty() {
        page.push_str("<p class=\"empty\">No chunk was completed in this trial.</p></section>\n");
        return;
    }
    // The first of those that took longest.
    let longest = (0..shown.len()).rev();
    let longest = longest.max_by_key(|&place| shown[place].row.completion_time);
    let longest = longest.unwrap_or(0);
    choice(number, &shown, longest, runs.len() > slowest.len(), page);
    if slowest.len() > shown.len() {
        add(
            page,
            format_args!(
                "<p class=\"lead\">The first {} of {} collectives of this trial.</p>",
                shown.len(),
                slowest.len()
            ),
        );
    }
    let budget = timeline::Budget::of(shown.len());
    let ports = held_up_facts::Ports::of(trial, tiers);
    for (place, run) in shown.iter().enumerate() {
        let hidden = if place == longest { "" } else { " hidden" };
        add(
            page,
            format_args!("<div id=\"panel{number}-{place}\" class=\"panel\"{hidden}>"),
        );
        timeline::draw(trial, run, budget, page);
        held_up::draw(&ports, run, page);
        page.push_str("</div>\n");
    }
    page.push_str("</section>\n");
}

/// The list from which a reader chooses one of the collectives.
fn choice(
    number: usize,
    shown: &[&&runs::Run<'_>],
    chosen: usize,
    iterations: bool,
    page: &mut String,
) {
    add(
        page,
        format_args!(
            "<p class=\"controls\"><label for=\"pick{number}\">Collective</label> <select id=\"pick{number}\" data-panels=\"panel{number}\">"
        ),
    );
    for (place, run) in shown.iter().enumerate() {
        let iteration = if iterations {
            format!(", iteration {}", run.row.iteration)
        } else {
            String::new()
        };
        let size = binary_size(run.row.size_bytes);
        let text = format!("{}, {size}{iteration}", run.operation());
        let selected = if place == chosen { " selected" } else { "" };
        add(
            page,
            format_args!(
                "<option value=\"{place}\"{selected}>{}</option>",
                escape(&text)
            ),
        );
    }
    page.push_str("</select></p>");
}
