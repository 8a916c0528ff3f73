//! What is read of a column of a trial's tables.

use std::collections::BTreeSet;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use tenter_record::{
    CollectiveRow, FlowRow, Kind, Names, PortRow, ReactionRow, Row, Totals, TrainingStepRow,
};
use tenter_units::Bytes;

use crate::leaf::Leaf;
use crate::sweep::{Take as Statistic, column, numbers_of};
use crate::trial::{Trial, is_meant};

/// A column of a table, as the data dictionary has it, and what becomes of its rows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnReading {
    /// The table.
    pub table: TableName,
    /// The column; the value is in its unit.
    pub name: String,
    /// What is made of the rows.
    pub take: Take,
    /// Of ports: which; all where it is missing.
    pub at: Option<Place>,
    /// Of flows and collectives: those of collectives of this size; all where it is missing.
    pub size: Option<String>,
    /// Of reactions: those with this cause; all where it is missing.
    pub cause: Option<String>,
    /// Whether it is a time that is told in percent of the trial.
    #[serde(default)]
    pub percent_of_trial: bool,
    /// What is subtracted.
    pub minus: Option<Box<ColumnReading>>,
}

/// A table of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableName {
    /// The flows of the jobs under test, or of the job that is named.
    Flows,
    /// Their collectives, without warm-up.
    Collectives,
    /// Ports of NICs and switches.
    Ports,
    /// How fast senders obeyed signals.
    Reactions,
    /// Steps of trainings, without warm-up.
    TrainingSteps,
    /// Sums over the whole fabric: one row.
    Totals,
}

/// What is made of the rows of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Take {
    /// A statistic of their values, as sweeps have it.
    Statistic(Statistic),
    /// How many rows have at least so much.
    CountFrom(f64),
}

impl<'de> Deserialize<'de> for Take {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Take, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a statistic, or `{ count_from = 1.0 }`")]
        enum Written {
            Word(String),
            CountFrom { count_from: f64 },
        }
        match Written::deserialize(from)? {
            Written::CountFrom { count_from } => Ok(Take::CountFrom(count_from)),
            Written::Word(word) => match word.parse() {
                Ok(statistic) => Ok(Take::Statistic(statistic)),
                Err(()) => Err(D::Error::custom(format!(
                    "`{word}` is no statistic; choose from least, mean, median, p95 or any other percentile, greatest, sum, count, deviation, range"
                ))),
            },
        }
    }
}

/// Where ports are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// At NICs.
    Nics,
    /// At switches, towards NICs.
    ToNics,
    /// At leaves, towards switches.
    Uplinks,
    /// At switches, towards switches.
    BetweenSwitches,
}

impl ColumnReading {
    /// Whether the table has such a column with numbers, and the size is one.
    pub(crate) fn check(&self) -> Result<(), String> {
        let kind = match self.table {
            TableName::Flows => kind::<FlowRow>(&self.name),
            TableName::Collectives => kind::<CollectiveRow>(&self.name),
            TableName::Ports => kind::<PortRow>(&self.name),
            TableName::Reactions => kind::<ReactionRow>(&self.name),
            TableName::TrainingSteps => kind::<TrainingStepRow>(&self.name),
            TableName::Totals => kind::<Totals>(&self.name),
        };
        match kind {
            None => {
                return Err(format!(
                    "the table of a reading has no column `{}`; the data dictionary lists them",
                    self.name
                ));
            }
            Some(Kind::Text) => {
                return Err(format!(
                    "the column `{}` of a reading holds texts; choose one with numbers or flags",
                    self.name
                ));
            }
            Some(_) => {}
        }
        if let Some(minus) = &self.minus {
            minus.check()?;
        }
        if let Some(cause) = &self.cause {
            const CAUSES: [&str; 3] = ["signal", "own-queue", "cache"];
            if self.table != TableName::Reactions || !CAUSES.contains(&cause.as_str()) {
                return Err(format!(
                    "the cause `{cause}` of a reading: reactions have {}",
                    CAUSES.map(|cause| format!("`{cause}`")).join(", ")
                ));
            }
        }
        let size = self.size.as_ref().map(|size| size.parse::<Bytes>());
        match size {
            Some(Err(error)) => Err(format!("the size of a reading: {error}")),
            _ => Ok(()),
        }
    }

    /// What is read of a trial; nothing where no row counts.
    pub(crate) fn read(&self, trial: &Trial, job: Option<&str>) -> Option<f64> {
        let mut value = self.take.of(self.values(trial, job))?;
        if let Some(minus) = &self.minus {
            value -= minus.read(trial, job)?;
        }
        if self.percent_of_trial {
            let ns = trial.summary.engine.simulated_ns;
            return (ns > 0.0).then(|| 100.0 * value / ns);
        }
        Some(value)
    }

    fn values(&self, trial: &Trial, job: Option<&str>) -> Vec<f64> {
        let jobs = trial.summary.jobs.iter();
        let jobs = jobs.filter(|of| is_meant(&of.job, job));
        let size = self
            .size
            .as_ref()
            .and_then(|size| size.parse::<Bytes>().ok());
        let rows: Vec<&CollectiveRow> = jobs
            .flat_map(|job| &job.collectives)
            .filter(|row| !row.warm_up)
            .filter(|row| size.is_none_or(|size| row.size_bytes == size.count()))
            .collect();
        match self.table {
            TableName::Collectives => numbers(rows.into_iter(), &self.name),
            TableName::Flows => {
                let rows = rows.iter();
                let turns: BTreeSet<_> = rows
                    .map(|row| (row.job, row.index, row.iteration))
                    .collect();
                let is_of =
                    |flow: &&FlowRow| turns.contains(&(flow.job, flow.collective, flow.iteration));
                numbers(trial.flows.iter().filter(is_of), &self.name)
            }
            TableName::Ports => {
                let hosts = trial.hosts();
                let is_here = |row: &&PortRow| {
                    self.at
                        .is_none_or(|at| is_at(at, row, hosts, &trial.leaves))
                };
                numbers(trial.counts.ports.iter().filter(is_here), &self.name)
            }
            TableName::Reactions => {
                let cause = self.cause.as_deref();
                let is_meant = |row: &&ReactionRow| cause.is_none_or(|of| row.cause == of);
                numbers(trial.counts.reactions.iter().filter(is_meant), &self.name)
            }
            TableName::TrainingSteps => {
                let is_of = |row: &&TrainingStepRow| {
                    !row.warm_up && job.is_none_or(|job| row.job_name == job)
                };
                let steps = trial.summary.training_steps.iter();
                numbers(steps.filter(is_of), &self.name)
            }
            TableName::Totals => numbers(std::iter::once(&trial.summary.totals), &self.name),
        }
    }
}

impl Take {
    fn of(self, values: Vec<f64>) -> Option<f64> {
        match self {
            Take::Statistic(statistic) => statistic.of(values),
            Take::CountFrom(_) if values.is_empty() => None,
            Take::CountFrom(least) => {
                let from = values.iter().filter(|value| **value >= least);
                Some(from.count() as f64)
            }
        }
    }
}

fn is_at(place: Place, row: &PortRow, hosts: usize, leaves: &[Leaf]) -> bool {
    let is_nic = (row.node as usize) < hosts;
    let leaf = leaves.iter().find(|leaf| leaf.node.number() == row.node);
    let up = leaf.is_some_and(|leaf| leaf.uplinks.contains(&row.port));
    let down = leaf.is_some() && !up;
    match place {
        Place::Nics => is_nic,
        Place::ToNics => down,
        Place::Uplinks => up,
        Place::BetweenSwitches => !is_nic && !down,
    }
}

/// What a column of that name holds, if the table has one.
fn kind<R: Row>(name: &str) -> Option<Kind> {
    column::<R>(name).map(|column| column.kind)
}

/// The numbers that rows have in a column; a row without one is left out.
fn numbers<'t, R: Row>(rows: impl Iterator<Item = &'t R>, name: &str) -> Vec<f64> {
    let names = Names::default();
    column::<R>(name).map_or_else(Vec::new, |column| numbers_of(column, rows, &names))
}

#[cfg(test)]
mod tests {
    use tenter_record::{JobRow, JobSummary};
    use tenter_topology::{HostId, NodeId};
    use tenter_units::Time;

    use super::*;
    use crate::leaf::Leaf;

    fn reading(text: &str) -> ColumnReading {
        toml::from_str(text).expect("a reading")
    }

    /// A job with a collective of 1 KiB and one of 2 KiB, two flows each, and a port of each kind.
    fn trial() -> Trial {
        let row = |index: u32, size_bytes: u64| CollectiveRow {
            index,
            size_bytes,
            ..CollectiveRow::default()
        };
        let flow = |collective: u32, cnp_frames: u64| FlowRow {
            collective,
            cnp_frames,
            ..FlowRow::default()
        };
        let port = |node: u32, port: u16, xoffs: u64| PortRow {
            node,
            port,
            rx_xoff_frames: xoffs,
            paused: Time::from_ps(xoffs * 1_000),
            ..PortRow::default()
        };
        let mut trial = Trial {
            flows: vec![flow(0, 3), flow(0, 5), flow(1, 9), flow(1, 1)],
            leaves: vec![Leaf {
                name: "leaf0".to_owned(),
                node: NodeId::new(2),
                hosts: vec![HostId::new(0), HostId::new(1)],
                uplinks: vec![2],
            }],
            ..Trial::default()
        };
        trial.summary.jobs = vec![JobSummary {
            job: JobRow::default(),
            collectives: vec![row(0, 1024), row(1, 2048)],
        }];
        trial.summary.engine.simulated_ns = 200.0;
        trial.counts.ports = vec![
            port(0, 0, 10),
            port(1, 0, 20),
            port(2, 0, 40),
            port(2, 2, 80),
        ];
        trial
    }

    fn read(text: &str) -> Option<f64> {
        reading(text).read(&trial(), None)
    }

    #[test]
    fn only_columns_with_numbers_can_be_read() {
        let check = |name: &str| {
            let text = format!("table = \"reactions\"\nname = \"{name}\"\ntake = \"sum\"");
            reading(&text).check()
        };
        assert_eq!(check("pauses"), Ok(()));
        assert!(check("cause").is_err_and(|error| error.contains("holds texts")));
        assert!(check("beauty").is_err_and(|error| error.contains("no column `beauty`")));
        let mode = "table = \"flows\"\nname = \"fct_ns\"\ntake = \"mode\"";
        let error = toml::from_str::<ColumnReading>(mode).expect_err("it is no statistic");
        assert!(
            error.to_string().contains("choose from least, mean"),
            "{error}"
        );
    }

    #[test]
    fn flows_are_those_of_the_size() {
        let of = |take: &str, size: &str| {
            read(&format!(
                "table = \"flows\"\nname = \"cnp_frames\"\ntake = {take}\n{size}"
            ))
        };
        assert_eq!(of("\"greatest\"", ""), Some(9.0));
        assert_eq!(of("\"greatest\"", "size = \"1KiB\""), Some(5.0));
        assert_eq!(of("\"least\"", "size = \"2KiB\""), Some(1.0));
        assert_eq!(of("\"mean\"", "size = \"1KiB\""), Some(4.0));
        assert_eq!(of("\"median\"", ""), Some(3.0));
        assert_eq!(of("\"sum\"", ""), Some(18.0));
        assert_eq!(of("\"p75\"", ""), Some(5.0));
        assert_eq!(of("{ count_from = 5.0 }", ""), Some(2.0));
        assert_eq!(of("\"sum\"", "size = \"4KiB\""), None);
    }

    #[test]
    fn ports_are_those_of_the_place() {
        let of = |at: &str| {
            read(&format!(
                "table = \"ports\"\nname = \"rx_xoff_frames\"\ntake = \"sum\"\n{at}"
            ))
        };
        assert_eq!(of(""), Some(150.0));
        assert_eq!(of("at = \"nics\""), Some(30.0));
        assert_eq!(of("at = \"to_nics\""), Some(40.0));
        assert_eq!(of("at = \"between_switches\""), Some(80.0));
        let difference = "table = \"ports\"\nname = \"paused_ns\"\ntake = \"least\"\n\
                          at = \"uplinks\"\nminus = { table = \"ports\", name = \"paused_ns\", \
                          take = \"greatest\", at = \"to_nics\" }";
        assert_eq!(read(difference), Some(40.0));
        // 10 and 20 ns of 200 ns.
        let share = "table = \"ports\"\nname = \"paused_ns\"\ntake = \"mean\"\nat = \"nics\"\n\
                     percent_of_trial = true";
        assert_eq!(read(share), Some(7.5));
    }

    #[test]
    fn reactions_are_those_of_the_cause() {
        let mut trial = trial();
        let row = |cause: &str, ns: u64| ReactionRow {
            cause: cause.to_owned(),
            reaction_max: Time::from_ns(ns),
            ..ReactionRow::default()
        };
        trial.counts.reactions = vec![row("signal", 20), row("signal", 30), row("cache", 50)];
        let of = |cause: &str| {
            let text = "table = \"reactions\"\nname = \"reaction_max_ns\"\ntake = \"greatest\"";
            let reading = reading(&format!("{text}\n{cause}"));
            reading.check().map(|()| reading.read(&trial, None))
        };
        assert_eq!(of(""), Ok(Some(50.0)));
        assert_eq!(of("cause = \"signal\""), Ok(Some(30.0)));
        assert_eq!(of("cause = \"own-queue\""), Ok(None));
        assert!(of("cause = \"fate\"").is_err());
    }

    #[test]
    fn a_column_that_is_not_there_is_refused() {
        let wrong = reading("table = \"ports\"\nname = \"cnp_frames\"\ntake = \"sum\"");
        let message = wrong.check().expect_err("ports have none");
        assert!(message.contains("no column `cnp_frames`"), "{message}");
        let wrong = reading("table = \"flows\"\nname = \"fct_ns\"\ntake = \"sum\"\nsize = \"big\"");
        assert!(wrong.check().is_err());
    }
}
