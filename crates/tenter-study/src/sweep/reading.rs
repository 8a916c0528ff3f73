//! What a sweep reads of a trial: any column of any table.

use tenter_config::Written;
use tenter_record::{
    Cell, CircuitRow, CollectiveRow, Column, Counts, CriticalPathRow, FlowRow, InferencePoolRow,
    InferenceRow, InterferenceRow, JobRow, Kind, Names, OperationRow, PortRow, PowerRow,
    QueueChangeRow, QueueRow, RankTimeRow, ReactionRow, RequestRow, Row, SampleRow, SignalRow,
    SteeringRow, Summary, SwitchRow, TierRow, TrainingRankRow, TrainingStepRow,
};

use super::keys::ReadingKeys;

/// What a trial has left, as readings see it.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'t> {
    /// Jobs, collectives and what else its summary has.
    pub summary: &'t Summary,
    /// What ports, queues and switches have counted.
    pub counts: &'t Counts,
    /// Its flows, where [`Sweep::needs_flows`](super::Sweep::needs_flows) says so.
    pub flows: &'t [FlowRow],
    /// Its samples, where [`Sweep::needs_samples`](super::Sweep::needs_samples) says so.
    pub samples: &'t [SampleRow],
    /// What its ports and switches come to by tier.
    pub tiers: &'t [TierRow],
    /// The names that rows refer to.
    pub names: &'t Names,
}

/// Calls a function for the table of a name: `$do!(Row type, rows)`.
macro_rules! with_table {
    ($name:expr, $tables:expr, $do:ident, $otherwise:expr) => {{
        let name = $name;
        if name == JobRow::TABLE {
            $do!(JobRow, $tables.summary.jobs.iter().map(|job| &job.job))
        } else if name == CollectiveRow::TABLE {
            $do!(
                CollectiveRow,
                $tables.summary.jobs.iter().flat_map(|job| &job.collectives)
            )
        } else if name == FlowRow::TABLE {
            $do!(FlowRow, $tables.flows.iter())
        } else if name == SampleRow::TABLE {
            $do!(SampleRow, $tables.samples.iter())
        } else if name == TierRow::TABLE {
            $do!(TierRow, $tables.tiers.iter())
        } else if name == QueueChangeRow::TABLE {
            $do!(QueueChangeRow, $tables.counts.queue_changes.iter())
        } else if name == OperationRow::TABLE {
            $do!(OperationRow, $tables.counts.operations.iter())
        } else if name == RankTimeRow::TABLE {
            $do!(RankTimeRow, $tables.counts.rank_times.iter())
        } else if name == CriticalPathRow::TABLE {
            $do!(CriticalPathRow, $tables.counts.critical_path.iter())
        } else if name == TrainingStepRow::TABLE {
            $do!(TrainingStepRow, $tables.summary.training_steps.iter())
        } else if name == TrainingRankRow::TABLE {
            $do!(TrainingRankRow, $tables.counts.training_ranks.iter())
        } else if name == InferenceRow::TABLE {
            $do!(InferenceRow, $tables.summary.inference.iter())
        } else if name == InferencePoolRow::TABLE {
            $do!(InferencePoolRow, $tables.summary.inference_pools.iter())
        } else if name == RequestRow::TABLE {
            $do!(RequestRow, $tables.counts.requests.iter())
        } else if name == PortRow::TABLE {
            $do!(PortRow, $tables.counts.ports.iter())
        } else if name == QueueRow::TABLE {
            $do!(QueueRow, $tables.counts.queues.iter())
        } else if name == SwitchRow::TABLE {
            $do!(SwitchRow, $tables.counts.switches.iter())
        } else if name == SignalRow::TABLE {
            $do!(SignalRow, $tables.counts.signals.iter())
        } else if name == ReactionRow::TABLE {
            $do!(ReactionRow, $tables.counts.reactions.iter())
        } else if name == CircuitRow::TABLE {
            $do!(CircuitRow, $tables.counts.circuits.iter())
        } else if name == SteeringRow::TABLE {
            $do!(SteeringRow, $tables.counts.steering.iter())
        } else if name == InterferenceRow::TABLE {
            $do!(InterferenceRow, $tables.summary.interference.iter())
        } else if name == PowerRow::TABLE {
            $do!(PowerRow, $tables.summary.power.iter())
        } else {
            $otherwise
        }
    }};
}

/// The tables that can be read.
const TABLES: [&str; 23] = [
    JobRow::TABLE,
    CollectiveRow::TABLE,
    FlowRow::TABLE,
    SampleRow::TABLE,
    TierRow::TABLE,
    QueueChangeRow::TABLE,
    OperationRow::TABLE,
    RankTimeRow::TABLE,
    CriticalPathRow::TABLE,
    TrainingStepRow::TABLE,
    TrainingRankRow::TABLE,
    InferenceRow::TABLE,
    InferencePoolRow::TABLE,
    RequestRow::TABLE,
    PortRow::TABLE,
    QueueRow::TABLE,
    SwitchRow::TABLE,
    SignalRow::TABLE,
    ReactionRow::TABLE,
    CircuitRow::TABLE,
    SteeringRow::TABLE,
    InterferenceRow::TABLE,
    PowerRow::TABLE,
];

impl ReadingKeys {
    /// Whether it looks at flows one by one.
    pub fn is_of_flows(&self) -> bool {
        self.table == FlowRow::TABLE
    }

    /// Whether it looks at samples.
    pub fn is_of_samples(&self) -> bool {
        self.table == SampleRow::TABLE
    }

    /// Whether the table has such columns, and the one that is read holds numbers.
    pub(super) fn check(&self) -> Result<(), String> {
        let nothing = Nothing::default();
        let tables = nothing.tables();
        macro_rules! columns {
            ($row:ty, $rows:expr) => {{
                let _: Option<&$row> = $rows.next();
                let columns = <$row>::COLUMNS.iter();
                columns
                    .map(|column| (column.name, column.kind))
                    .collect::<Vec<_>>()
            }};
        }
        let name = &self.name;
        let columns = with_table!(self.table.as_str(), tables, columns, {
            let help = tenter_scenario::suggestion(&self.table, TABLES.into_iter());
            return Err(format!(
                "the reading `{name}` is of the table `{}`, which there is not; {help}",
                self.table
            ));
        });
        let known = || columns.iter().map(|(name, _)| *name);
        let unknown = |column: &str| {
            let help = tenter_scenario::suggestion(column, known());
            format!(
                "the reading `{name}` is of the column `{column}`, which the table `{}` does not have; {help}",
                self.table
            )
        };
        let found = columns.iter().find(|(name, _)| *name == self.column);
        let (_, kind) = found.ok_or_else(|| unknown(&self.column))?;
        if *kind == Kind::Text {
            return Err(format!(
                "the reading `{name}` is of the column `{}`, which holds texts; choose one with numbers or flags",
                self.column
            ));
        }
        match self
            .only
            .0
            .iter()
            .find(|(of, _)| !known().any(|name| name == of))
        {
            Some((column, _)) => Err(unknown(column)),
            None => Ok(()),
        }
    }

    /// The unit of its column; empty where it has none.
    pub fn unit(&self) -> &'static str {
        let nothing = Nothing::default();
        let tables = nothing.tables();
        macro_rules! unit {
            ($row:ty, $rows:expr) => {{
                let _: Option<&$row> = $rows.next();
                column::<$row>(&self.column).map_or("", |column| column.unit)
            }};
        }
        with_table!(self.table.as_str(), tables, unit, "")
    }

    /// The value of a trial; nothing where no row has one.
    pub fn read(&self, tables: Tables<'_>) -> Option<f64> {
        macro_rules! values {
            ($row:ty, $rows:expr) => {
                self.values($rows, tables.names)
            };
        }
        let values = with_table!(self.table.as_str(), tables, values, Vec::new());
        self.take.of(values)
    }

    fn values<'t, R: Row + 't>(
        &self,
        rows: impl Iterator<Item = &'t R>,
        names: &Names,
    ) -> Vec<f64> {
        let Some(column) = column::<R>(&self.column) else {
            return Vec::new();
        };
        let only = self.only.0.iter();
        let only: Vec<(&Column<R>, String)> = only
            .filter_map(|(name, value)| Some((self::column::<R>(name)?, plain(value))))
            .collect();
        let counts = |row: &&R| {
            let has =
                |(column, value): &(&Column<R>, String)| text((column.cell)(row, names)) == *value;
            only.iter().all(has)
        };
        numbers_of(column, rows.filter(counts), names)
    }
}

/// The numbers that rows have in a column; a row without one is left out.
pub(crate) fn numbers_of<'t, R: Row>(
    column: &Column<R>,
    rows: impl Iterator<Item = &'t R>,
    names: &Names,
) -> Vec<f64> {
    rows.filter_map(|row| (column.cell)(row, names).number())
        .collect()
}

/// No trial at all, of which tables have no rows.
#[derive(Default)]
struct Nothing {
    summary: Summary,
    counts: Counts,
    names: Names,
}

impl Nothing {
    fn tables(&self) -> Tables<'_> {
        Tables {
            summary: &self.summary,
            counts: &self.counts,
            flows: &[],
            samples: &[],
            tiers: &[],
            names: &self.names,
        }
    }
}

/// The column of a table with a name.
pub(crate) fn column<R: Row>(name: &str) -> Option<&'static Column<R>> {
    R::COLUMNS.iter().find(|column| column.name == name)
}

/// What a cell is compared by.
fn text(cell: Cell<'_>) -> String {
    match cell {
        Cell::Text(text) => text.to_owned(),
        Cell::Flag(flag) => flag.to_string(),
        Cell::Integer(value) => value.to_string(),
        Cell::Unsigned(value) => value.to_string(),
        Cell::Float(value) => value.to_string(),
        Cell::Missing => String::new(),
    }
}

fn plain(value: &Written) -> String {
    match value {
        Written::Word(text) | Written::Text(text) => text.clone(),
        Written::List(_) | Written::Map(_) => value.to_string(),
    }
}
