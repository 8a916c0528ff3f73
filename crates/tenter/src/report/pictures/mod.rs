//! Pictures that a page cannot draw from a trial's tables alone: data for the drawing script, with
//! the text above them.

mod circuit_boxes;
mod circuits;
mod fct;
mod flow_sizes;
mod group;
mod held_up;
mod held_up_pictures;
mod jobs;
mod line_chart;
mod link_metrics;
mod links;
mod measured;
mod operations;
mod plot;
mod queue_heat;
mod runs;
mod scale;
mod series;
#[cfg(test)]
mod tests;
mod text;
mod together;

use tenter_results::Tiers;

pub use group::PictureGroup;
pub use held_up::{HeldUp, held_up};
pub use measured::measured_group;
pub use plot::Picture;
pub use together::{pictures_together, recorded_picture};

use crate::report::table::Section;
use crate::report::trial_data::TrialData;

type Of = fn(&TrialData) -> Vec<Picture>;
type Answers = fn(&TrialData) -> Vec<Section>;

/// Each group's name, heading, pictures and tables.
const GROUPS: [(&str, &str, Of, Answers); 6] = [
    (
        "operations",
        operations::TITLE,
        operations::pictures,
        operations::sections,
    ),
    ("links", links::TITLE, of_links, |_| Vec::new()),
    (
        "circuits",
        circuits::TITLE,
        circuits::pictures,
        circuits::sections,
    ),
    ("fct", fct::TITLE, fct::pictures, |_| Vec::new()),
    ("jobs", jobs::TITLE, of_jobs, |_| Vec::new()),
    ("time", series::TITLE, series::pictures, |_| Vec::new()),
];

fn of_links(trial: &TrialData) -> Vec<Picture> {
    links::pictures(trial, &Tiers::of(&trial.ports, &trial.switches))
}

fn of_jobs(trial: &TrialData) -> Vec<Picture> {
    jobs::picture(&[trial], &[trial.name()])
        .into_iter()
        .collect()
}

/// Returns a trial's pictures, in one group or in all. Empty groups are left out.
pub fn pictures(trial: &TrialData, group: Option<&str>) -> Vec<PictureGroup> {
    let asked = GROUPS
        .into_iter()
        .filter(|(name, ..)| group.is_none_or(|group| group == *name));
    let groups = asked.map(|(name, title, pictures, sections)| PictureGroup {
        name,
        title,
        pictures: pictures(trial),
        sections: sections(trial),
    });
    let says = |group: &PictureGroup| !group.pictures.is_empty() || !group.sections.is_empty();
    groups.filter(says).collect()
}
