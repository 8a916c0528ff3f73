//! Trials with their names.

use tenter_report::TrialData;

/// A trial that has been read, for a report.
#[derive(Debug)]
pub struct NamedTrial {
    /// What people call it.
    pub name: String,
    /// All of it.
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
