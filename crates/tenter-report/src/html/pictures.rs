//! The pictures of a trial that a page cannot make of its tables: groups of the same data that
//! reports have.

use tenter_record::Tiers;

use super::plot::Picture;
use super::{circuits, heat_map, operations};
use crate::trial_data::TrialData;

/// Pictures of one kind.
#[derive(Clone, Debug)]
pub struct PictureGroup {
    /// A word without spaces, by which a page finds the group.
    pub name: &'static str,
    /// Its heading in a report.
    pub title: &'static str,
    /// The pictures in the order of the report.
    pub pictures: Vec<Picture>,
}

/// The pictures of a trial as its report has them, of one group or of all; groups that have none
/// are left out.
pub fn pictures(trial: &TrialData, group: Option<&str>) -> Vec<PictureGroup> {
    type Of = fn(&TrialData) -> Vec<Picture>;
    let groups: [(&str, &str, Of); 3] = [
        ("operations", operations::TITLE, operations::pictures),
        ("links", heat_map::TITLE, |trial| {
            heat_map::pictures(trial, &Tiers::of(&trial.ports, &trial.switches))
        }),
        ("circuits", circuits::TITLE, circuits::pictures),
    ];
    let asked = groups
        .into_iter()
        .filter(|(name, ..)| group.is_none_or(|group| group == *name));
    let groups = asked.map(|(name, title, pictures)| PictureGroup {
        name,
        title,
        pictures: pictures(trial),
    });
    groups.filter(|group| !group.pictures.is_empty()).collect()
}
