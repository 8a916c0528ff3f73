//! Evaluates a query over a trial's rows.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tenter_language::units::{Budget, OverBudget};

use super::answer::{Answer, AnswerColumn, AnswerRow, KeyCell};
use super::error::{QueryError, take};
use super::expression::Expression;
use super::question::{Aggregate, Query};
use super::reader::Reader;
use super::source::{Held, Source};
use crate::column::Kind;
use crate::column_array::ColumnArray;
use crate::statistic::Statistic;

/// Each aggregate's values, by group.
type Groups = BTreeMap<Vec<KeyCell>, Vec<Values>>;

/// Values that an aggregate has collected in one group.
enum Values {
    Counted(u64),
    Listed(Vec<f64>),
}

/// Memory for each part in a group's key and for each aggregate, beside texts and values.
const PART_BYTES: usize = 128;

impl Query {
    /// Evaluates the query for a trial.
    ///
    /// Without `by` the answer has one row, even if no table row counts.
    ///
    /// # Errors
    /// A trial that cannot be read, or values that do not fit into the budget.
    pub fn ask<S: Source>(
        &self,
        source: &S,
        budget: &Budget,
    ) -> Result<Answer, QueryError<S::Error>> {
        let before = budget.memory().count();
        let answer = self.answer_within(source, Some(budget));
        // The collected values are gone with the groups, so their memory is free again.
        let taken = budget.memory().count().saturating_sub(before);
        budget.give_back(taken);
        answer
    }

    fn answer_within<S: Source>(
        &self,
        source: &S,
        budget: Option<&Budget>,
    ) -> Result<Answer, QueryError<S::Error>> {
        Ok(self.answer(self.groups(source, budget)?))
    }

    fn groups<S: Source>(
        &self,
        source: &S,
        budget: Option<&Budget>,
    ) -> Result<Groups, QueryError<S::Error>> {
        let reader = Reader::new(self.table, &self.columns, source, budget)?;
        let mut groups = Groups::new();
        // A query without `by` has one group, also if no row fits its condition.
        if self.by.is_empty() {
            groups.insert(Vec::new(), self.no_values());
        }
        let mut over = Ok(());
        let read = source.each_group(self.table, reader.places(), &mut |arrays| {
            over = self.take(&reader, arrays, &mut groups, budget);
            if over.is_err() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        read.map_err(QueryError::Source)?;
        over.map_err(QueryError::Budget)?;
        Ok(groups)
    }

    fn no_values(&self) -> Vec<Values> {
        let of = |aggregate: &Aggregate| match aggregate.statistic {
            Statistic::Count => Values::Counted(0),
            _ => Values::Listed(Vec::new()),
        };
        self.aggregates.iter().map(of).collect()
    }

    /// Returns the first value for a trial in memory; `None` if no row has one.
    pub fn number(&self, trial: &Held<'_>) -> Option<f64> {
        // Neither results in memory nor an absent budget can fail.
        let Ok(answer) = self.answer_within(trial, None) else {
            return None;
        };
        *answer.rows.first()?.values.first()?
    }

    /// The statistic that the query is, where it is a single one of an expression of columns: its
    /// values of several trials can be put together.
    pub fn pooled(&self) -> Option<Statistic> {
        let ([value], [aggregate]) = (self.values.as_slice(), self.aggregates.as_slice()) else {
            return None;
        };
        let is_alone = value.value == Expression::Leaf(0) && self.by.is_empty();
        (is_alone && aggregate.of.is_some()).then_some(aggregate.statistic)
    }

    /// The values of which that statistic is made, of a trial in memory.
    pub fn each(&self, trial: &Held<'_>) -> Vec<f64> {
        let groups = self.groups(trial, None).unwrap_or_default();
        let first = groups.into_values().flatten().next();
        match first {
            Some(Values::Listed(values)) => values,
            Some(Values::Counted(_)) | None => Vec::new(),
        }
    }

    fn take(
        &self,
        reader: &Reader,
        arrays: &[ColumnArray],
        groups: &mut Groups,
        budget: Option<&Budget>,
    ) -> Result<(), OverBudget> {
        let count = arrays.first().map_or(0, ColumnArray::len);
        if let Some(budget) = budget {
            budget.work(count as u64)?;
        }
        let mut listed = 0;
        for row in 0..count {
            let row = reader.row(arrays, row);
            let cell = |column: usize| row.cell(column);
            if !self.condition.as_ref().is_none_or(|of| of.holds(&cell)) {
                continue;
            }
            let key: Vec<KeyCell> = self.by.iter().map(|by| KeyCell::of(cell(*by))).collect();
            // Memory is taken before a group is stored, so that a refused query has stored little.
            if !groups.contains_key(&key) {
                let texts = key.iter().map(|part| part.cell().to_text().len());
                let parts = key.len() + self.aggregates.len();
                take(budget, texts.sum::<usize>() + parts * PART_BYTES)?;
            }
            let group = groups.entry(key).or_insert_with(|| self.no_values());
            for (aggregate, values) in self.aggregates.iter().zip(group) {
                let condition = aggregate.condition.as_ref();
                if !condition.is_none_or(|of| of.holds(&cell)) {
                    continue;
                }
                let value = match &aggregate.of {
                    None => Some(1.0),
                    Some(of) => of.value(&|column| cell(column).number()),
                };
                match (values, value) {
                    (Values::Counted(count), Some(_)) => *count += 1,
                    (Values::Listed(values), Some(value)) => {
                        values.push(value);
                        listed += size_of::<f64>();
                    }
                    (_, None) => {}
                }
            }
        }
        // Vectors grow by doubling, so they may hold twice their length.
        take(budget, 2 * listed)
    }

    fn answer(&self, groups: Groups) -> Answer {
        let keys = self.by.iter().map(|by| {
            let info = self.columns[*by].info;
            AnswerColumn {
                name: info.name.to_owned(),
                kind: info.kind,
                unit: info.unit.to_owned(),
            }
        });
        let values = self.values.iter().map(|value| AnswerColumn {
            name: value.text.clone(),
            kind: Kind::Float,
            unit: value.unit.clone(),
        });
        let rows = groups.into_iter().map(|(key, numbers)| {
            let statistics = self.aggregates.iter().zip(numbers);
            let statistics = statistics.map(|(aggregate, values)| match values {
                Values::Counted(count) => Some(count as f64),
                Values::Listed(values) => aggregate.statistic.of(values),
            });
            let statistics: Vec<Option<f64>> = statistics.collect();
            let values = self.values.iter();
            let values = values.map(|value| value.value.value(&|place| statistics[place]));
            AnswerRow {
                key,
                values: values.collect(),
            }
        });
        Answer {
            keys: keys.collect(),
            values: values.collect(),
            rows: rows.collect(),
        }
    }
}
