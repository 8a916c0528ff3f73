//! Charts and drawings that a report makes from a study.

use serde::{Deserialize, Serialize};

use tenter_language::config::Written;

use crate::studies::typed::typed;

/// A report's bar chart: one group with bars for each case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chart {
    /// Title that stands above the chart.
    pub title: String,
    /// Metrics whose values are the bars.
    pub metrics: Vec<String>,
    /// Bars to draw, by name; if empty, all bars that these metrics have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<String>,
    /// Label at the value axis, with the unit.
    pub axis: String,
}

/// A report's drawing: records from some variants' trials on one pair of axes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// Title that stands above the drawing.
    pub title: String,
    /// One or two sentences that tell the reader what to see.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The quantity that is drawn.
    pub shows: Shows,
    /// Variants to draw, with their line names. A variant that a quick run leaves out has no line.
    pub lines: Vec<DrawnVariant>,
    /// Ports whose queues are drawn, with one line for each variant; empty for completion times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortName>,
}

/// Available dash patterns. Colours tell a drawing's ports apart and patterns tell the variants, so
/// a drawing with ports has at most `DASHES` variants.
pub const DASHES: usize = 4;

impl Drawing {
    /// Reads the key `drawings`; `is_known` returns true for a cell's name.
    ///
    /// # Errors
    /// Says what is wrong with the form, or which drawing names a variant or ports that it cannot
    /// have.
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

/// A port, named by the two nodes that its link joins. If several links join the nodes, all their
/// ports are meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortName {
    /// Name of the sending node, which has the queue.
    pub node: String,
    /// Name of the receiving node.
    pub peer: String,
}

/// Quantity that a drawing shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shows {
    /// Highest queue depth at each port between two samples, over time, in the first trial.
    QueueDepth,
    /// Queue depth after each change, in the first trial, if the scenario records changes.
    QueueChanges,
    /// Share of flows that complete within a time (the CDF over completion times), from all trials.
    CompletionTimes,
    /// Share of flows that take longer than a time (the CDF's complement), which shows the tail,
    /// from all trials.
    CompletionTail,
}

impl Shows {
    /// Returns true if the drawing needs ports: a queue is at a port, a completion time is not.
    pub fn is_of_ports(self) -> bool {
        matches!(self, Shows::QueueDepth | Shows::QueueChanges)
    }
}

/// A variant in a drawing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnVariant {
    /// Cell whose trials are drawn.
    pub variant: String,
    /// Line name in the legend.
    pub name: String,
}
