//! What a report draws of a study.

use serde::{Deserialize, Serialize};

use tenter_config::Written;

use crate::typed::typed;

/// A drawing of a report: bars in groups, a group for each case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The metrics whose values are its bars.
    pub metrics: Vec<String>,
    /// Which bars it has, by their names; all of these metrics where none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<String>,
    /// What its axis measures, with the unit.
    pub axis: String,
}

/// A drawing of a report: what was recorded in the trials of some variants, on one pair of axes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// What it is called.
    pub title: String,
    /// What is to be seen, in a sentence or two.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// What is drawn.
    pub shows: Shows,
    /// The variants that are drawn; one that a quick run leaves out has no line.
    pub lines: Vec<DrawnVariant>,
    /// The ports whose queues are drawn, a line for each variant; none for completion times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortName>,
}

/// Kinds of dashes that tell lines of a colour apart, and so the variants of a port.
pub const DASHES: usize = 4;

impl Drawing {
    /// Those of a description, whose lines are of cells.
    pub(crate) fn read_all(
        written: &Written,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<Vec<Drawing>, String> {
        let drawings: Vec<Drawing> =
            typed(written).map_err(|what| format!("`drawings`: {what}"))?;
        drawings
            .iter()
            .try_for_each(|drawing| drawing.check(&is_known))?;
        Ok(drawings)
    }

    fn check(&self, is_known: &impl Fn(&str) -> bool) -> Result<(), String> {
        let title = &self.title;
        let mut lines = self.lines.iter().map(|line| &line.variant);
        if let Some(variant) = lines.find(|variant| !is_known(variant)) {
            return Err(format!(
                "the drawing `{title}` has the variant `{variant}`, which is not listed"
            ));
        }
        if self.shows.is_of_ports() && self.lines.len() > DASHES {
            return Err(format!(
                "the drawing `{title}` has more than {DASHES} variants for each port, which nobody could tell apart"
            ));
        }
        if self.shows.is_of_ports() == self.ports.is_empty() {
            return Err(format!(
                "the drawing `{title}` must name ports if it shows queues, and none otherwise"
            ));
        }
        Ok(())
    }
}

/// A port by the nodes at both ends; of several links between them, all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortName {
    /// The node that sends.
    pub node: String,
    /// The node that it sends to.
    pub peer: String,
}

/// What a drawing shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shows {
    /// The most that waited at ports between two samples, in the first trial.
    QueueDepth,
    /// What waited at ports after each change, in the first trial, where that was recorded.
    QueueChanges,
    /// The share of flows that are complete within a time, over all trials.
    CompletionTimes,
    /// The share of flows that take longer, so that a tail can be read.
    CompletionTail,
}

impl Shows {
    /// Whether it is drawn of ports.
    pub fn is_of_ports(self) -> bool {
        matches!(self, Shows::QueueDepth | Shows::QueueChanges)
    }
}

/// A variant in a drawing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnVariant {
    /// Its name.
    pub variant: String,
    /// What its line is called.
    pub name: String,
}
