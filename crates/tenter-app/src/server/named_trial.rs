//! Trials with the names under which reports show them.

use tenter::report::TrialData;

/// A trial read for a report.
#[derive(Debug)]
pub(crate) struct NamedTrial {
    /// Name in headings and legends, [`TrialData::name`] by default.
    pub name: String,
    /// Summary, tables and configuration, as read from the trial folder.
    pub data: TrialData,
}

impl From<TrialData> for NamedTrial {
    fn from(data: TrialData) -> NamedTrial {
        NamedTrial {
            name: data.name(),
            data,
        }
    }
}
