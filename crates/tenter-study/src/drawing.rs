//! Charts and drawings that a report makes of a study.

use serde::{Deserialize, Serialize};

use tenter_config::Written;

use crate::typed::typed;

/// A bar chart of a report: one group of bars for each case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chart {
    /// Title above the chart.
    pub title: String,
    /// Names of the metrics whose values are the bars.
    pub metrics: Vec<String>,
    /// Names of the bars to draw; if empty, all bars of these metrics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<String>,
    /// Label of the value axis, with the unit.
    pub axis: String,
}

/// A drawing of a report: records from the trials of some variants on one pair of axes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// Title above the drawing.
    pub title: String,
    /// One or two sentences that tell the reader what to see.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The quantity that is drawn.
    pub shows: Shows,
    /// Variants to draw, with the names of their lines. A variant that a quick run leaves out has
    /// no line.
    pub lines: Vec<DrawnVariant>,
    /// Ports whose queues are drawn, with one line for each variant; empty for completion times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortName>,
}

/// Number of dash patterns. Colour tells the ports of a drawing apart and the pattern tells the
/// variants, so a drawing of ports has at most `DASHES` variants.
pub const DASHES: usize = 4;

impl Drawing {
    /// Reads the key `drawings`; `is_known` tells whether a name is that of a cell.
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

/// A port, named by the nodes at both ends of its link. If several links join the nodes, all their
/// ports are meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortName {
    /// Name of the sending node, at whose port the queue is.
    pub node: String,
    /// Name of the node at the other end of the link.
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
    /// Share of flows that are complete within a time (the CDF of completion times), over all
    /// trials.
    CompletionTimes,
    /// Share of flows that take longer than a time (the complement of the CDF), which shows the
    /// tail, over all trials.
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
    /// Name of the cell whose trials are drawn.
    pub variant: String,
    /// Name of the line in the legend.
    pub name: String,
}
