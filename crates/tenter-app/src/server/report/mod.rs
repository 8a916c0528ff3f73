//! Reports: the page of the workspace in one file, with the answers that it asks for.
//!
//! ```text
//!   trials ──▶ workspace in memory ──▶ routes, called in process ──▶ answers by address
//!                                                                        │ compressed
//!   the script of the page (`web/src/report.tsx`) ───────────────▶ one HTML file
//! ```
//!
//! `web/src/views.ts` has the list of addresses, since the page asks for them; its build leaves the
//! list here.

mod asking;
mod document;
mod policy;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use tenter::report::{Beside, Drawn, NamedRecord, TrialData, paired_sections};
use tenter::studies::{Answers, StudyAnswer};
use tenter::{Error, Limits, Workspace};
use tenter_results::{EngineKind, PairedRow};

use crate::server::named_trial::NamedTrial;
use crate::server::options::Options;
use crate::server::routes::measured::MeasuredBody;
use crate::server::routes::studies::{StudyBody, StudyRow};
use crate::server::routes::sweeps::{SweepBody, SweepsTogether};
use crate::server::section_body::SectionBody;
use crate::server::state::App;
use crate::server::sweep_body::SweepRow;
use asking::{Asking, encoded_part};
use document::Document;

pub use document::{LeftOut, Report};

/// Footer for reports with simulated trials.
const REMARK: &str = "Times are simulated; percentiles are by nearest rank; GB are 10⁹ bytes, GiB 2³⁰. Every number is in the trial folder, and its data dictionary says what each column means.";
/// Footer for reports whose trials were all measured in a lab.
const REMARK_OF_LABS: &str = "Times are measured on the hosts of a lab; percentiles are by nearest rank; GB are 10⁹ bytes, GiB 2³⁰. Every number is in the trial folder, and its data dictionary says what each column means.";

const REMARK_OF_SWEEPS: &str = "Times are simulated. Whiskers reach from the least to the greatest value over the seeds. Confidence is paired by seed: the 95 % interval of the geometric mean of ratios by Student's t distribution, and the two-sided sign test.";
const REMARK_OF_STUDIES: &str = "Whiskers reach from the least to the greatest value over the seeds. Published values and bands are those of the tables of the study, which are not edited to fit.";

/// Addresses whose answers a report embeds, the most important first.
#[derive(Deserialize)]
struct Views {
    /// Addresses that concern all trials together.
    workspace: Vec<String>,
    /// Addresses that concern one trial; `{id}` stands for its number.
    trial: Vec<String>,
    /// Addresses that concern several trials; `{ids}` stands for their numbers.
    several: Vec<String>,
}

/// Writes the report on `trials`, for the route that downloads one.
pub(crate) fn report_of(trials: Vec<NamedTrial>) -> Result<String, Error> {
    Ok(report_of_trials(trials, None)?.text)
}

/// Writes the report on `trials`, with measurement files beside them if `beside` is given.
///
/// # Errors
/// If the answers cannot be made because threads or memory are missing.
pub(crate) fn report_of_trials(
    trials: Vec<NamedTrial>,
    beside: Option<&Beside>,
) -> Result<Report, Error> {
    let views: Views = serde_json::from_str(include_str!("report.gen.json"))
        .map_err(|error| Error::Internal(error.to_string()))?;
    let is_measured = |trial: &NamedTrial| trial.data.summary.engine.engine == EngineKind::Lab;
    let remark = if trials.iter().all(is_measured) {
        REMARK_OF_LABS
    } else {
        REMARK
    };
    let title = match trials.as_slice() {
        [one] if one.data.summary.scenario.is_empty() => one.name.clone(),
        [one] => one.data.summary.scenario.clone(),
        several => format!("{} trials", several.len()),
    };
    let names: Vec<String> = trials.iter().map(|trial| trial.name.clone()).collect();
    let asking = Asking::of(reading(trials)?)?;
    let ids: Vec<String> = asking.trials()?.iter().map(i64::to_string).collect();
    let home = match ids.as_slice() {
        _ if beside.is_some() => "#/measured".to_owned(),
        [one] => format!("#/trials/{one}"),
        several => format!("#/compare?ids={}", several.join(",")),
    };
    let mut document = Document::new(title, home, remark, ids.len());
    if let Some(beside) = beside {
        document.add_body("/api/v1/compare/measured", &MeasuredBody::from(beside));
    }
    for address in &views.workspace {
        document.add(address, "", asking.ask(address)?);
    }
    if ids.len() > 1 {
        for address in &views.several {
            let address = address.replace("{ids}", &ids.join(","));
            document.add(&address, "", asking.ask(&address)?);
        }
    }
    // View by view, not trial by trial: when space ends, all trials have the important views.
    for address in &views.trial {
        for (id, name) in ids.iter().zip(&names) {
            let address = address.replace("{id}", id);
            document.add(&address, name, asking.ask(&address)?);
        }
    }
    Ok(document.finish())
}

/// Writes the report on `records`: sweeps, or seed folders. `paired` has their comparison if there
/// are several; `answers` has their rows, published ones among them, in the same order.
pub(crate) fn report_of_sweeps(
    records: &[NamedRecord],
    paired: &[PairedRow],
    answers: &[Option<StudyAnswer>],
) -> Report {
    let heading = |of: &NamedRecord| match of.record.name.as_str() {
        "" => of.name.clone(),
        name => name.to_owned(),
    };
    let ids: Vec<String> = (1..=records.len()).map(|id| id.to_string()).collect();
    let (title, home) = match records {
        [one] => (heading(one), "#/sweeps/1".to_owned()),
        several => (
            format!("{} sweeps", several.len()),
            format!("#/sweeps/together?ids={}", ids.join(",")),
        ),
    };
    let mut document = Document::new(title, home, REMARK_OF_SWEEPS, records.len());
    let mut rows = Vec::new();
    for ((number, of), place) in (1..).zip(records).zip(0..) {
        let answer = answers.get(place).and_then(Option::as_ref);
        let name = match records {
            [_] => heading(of),
            _ => of.name.clone(),
        };
        let row = SweepRow::of_record(number, name, &of.record);
        rows.push(row.clone());
        let body = SweepBody::of(row, &of.record, answer, &BTreeMap::new());
        document.add_body(&format!("/api/v1/sweeps/{number}"), &body);
    }
    document.add_body("/api/v1/sweeps", &rows);
    if records.len() > 1 {
        let sections = paired_sections(paired).into_iter();
        let sections = sections.map(SectionBody::from).collect();
        let address = format!("/api/v1/sweeps-together?ids={}", ids.join(","));
        document.add_body(&address, &SweepsTogether { sections });
    }
    document.finish()
}

/// Writes the report on the studies in `answers`; `drawings` has what each study's trials recorded,
/// in the same order.
pub(crate) fn report_of_studies(answers: &Answers, drawings: &[Vec<Drawn>]) -> Report {
    let studies = answers.studies.as_slice();
    let (title, home) = match studies {
        [one] => (
            one.title.clone(),
            format!("#/studies/{}", encoded_part(&one.study)),
        ),
        several => (format!("{} studies", several.len()), "#/studies".to_owned()),
    };
    let mut document = Document::new(title, home, REMARK_OF_STUDIES, studies.len());
    let mut rows = Vec::new();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for (place, answer) in studies.iter().enumerate() {
        // Folders of several runs may contain the same study; the page finds studies by name.
        let count = names.entry(answer.study.clone()).or_default();
        *count += 1;
        let mut answer = answer.clone();
        if *count > 1 {
            answer.study = format!("{}, no. {count}", answer.study);
        }
        let drawn = drawings.get(place).map_or(&[][..], Vec::as_slice);
        let address = format!("/api/v1/studies/{}", answer.study);
        document.add_body(&address, &StudyBody::of(&answer, drawn));
        rows.push(StudyRow::from(&answer));
    }
    document.add_body("/api/v1/studies", &rows);
    document.finish()
}

/// Makes a workspace in memory from trials that have been read.
fn reading(trials: Vec<NamedTrial>) -> Result<App, Error> {
    let mut read: BTreeMap<PathBuf, Arc<TrialData>> = BTreeMap::new();
    let mut given = Vec::new();
    for NamedTrial { name, data } in trials {
        let folder = data.path.canonicalize();
        let folder = folder.unwrap_or_else(|_| data.path.clone());
        read.insert(folder.clone(), Arc::new(data));
        given.push((name, folder));
    }
    let named = given.iter().map(|(name, folder)| (&**name, &**folder));
    // The limits were applied when the trials were read.
    let workspace = Workspace::of_trials(named, Limits::NONE)?;
    let options = Options {
        check: Limits::NONE,
        ..Options::default()
    };
    let mut app = App::new(workspace, options, None, Vec::new(), None);
    app.read = read;
    Ok(app)
}
