//! The record batches of a trial against its rows.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use tenter::{
    Cell, CircuitRow, CollectiveRow, CriticalPathRow, FlowRow, InferencePoolRow, InferenceRow,
    InterferenceRow, JobRow, Kind, OperationRow, PortRow, PowerRow, QueueChangeRow, QueueRow,
    RankTimeRow, ReactionRow, RequestRow, Run, SampleRow, Scenario, SignalRow, SteeringRow,
    SwitchRow, Table, TierRow, TrainingRankRow, TrainingStepRow, Trial,
};

const SCENARIO: &str = "
name: arrow
seed: 18446744073709551615
fabric:
  {kind: leaf-spine, leaves: 2, hosts_per_leaf: 2, spines: 2, power: edr-100g}
jobs:
  - {name: train, collectives: [{collective: all-reduce, size: 1MiB}]}
";

fn trial() -> Trial {
    let plan = Scenario::from_yaml(SCENARIO).resolve().expect("it holds");
    let run = Run::new(&plan).keep_flows().keep_samples();
    run.run().expect("it runs")
}

/// A value of a batch as the cell it was made from.
fn cell(batch: &RecordBatch, column: usize, row: usize, kind: Kind) -> Cell<'_> {
    let array = batch.column(column);
    if array.is_null(row) {
        return Cell::Missing;
    }
    match kind {
        Kind::Integer => Cell::Integer(array.as_primitive::<Int64Type>().value(row)),
        Kind::Float => Cell::Float(array.as_primitive::<Float64Type>().value(row)),
        Kind::Text => Cell::Text(array.as_string::<i32>().value(row)),
        Kind::Flag => Cell::Flag(array.as_boolean().value(row)),
        Kind::Unsigned => panic!("a trial has no such column"),
    }
}

/// Holds every value, name, unit and kind of a table against its batch; returns how many rows there
/// are.
fn holds<R: Table>(trial: &Trial) -> usize {
    let batch = trial.record_batch::<R>().expect("it has all values");
    let (rows, names) = (trial.rows::<R>(), trial.names());
    assert_eq!(batch.num_rows(), rows.len(), "{}", R::TABLE);
    assert_eq!(batch.num_columns(), R::COLUMNS.len(), "{}", R::TABLE);
    let schema = batch.schema();
    for (index, (column, field)) in R::COLUMNS.iter().zip(schema.fields()).enumerate() {
        let place = format!("{}.{}", R::TABLE, column.name);
        assert_eq!(column.name, field.name(), "{place}");
        assert_eq!(column.optional, field.is_nullable(), "{place}");
        let unit = field.metadata().get("tenter.unit");
        assert_eq!(unit.map_or("", String::as_str), column.unit, "{place}");
        for (number, row) in rows.iter().enumerate() {
            let expected = (column.cell)(row, &names);
            let found = cell(&batch, index, number, column.kind);
            assert_eq!(found, expected, "{place} of row {number}");
        }
    }
    rows.len()
}

#[test]
fn every_table_is_a_batch_of_the_same_values() {
    let trial = trial();
    let filled = [
        holds::<JobRow>(&trial),
        holds::<CollectiveRow>(&trial),
        holds::<FlowRow>(&trial),
        holds::<SampleRow>(&trial),
        holds::<PortRow>(&trial),
        holds::<QueueRow>(&trial),
        holds::<SwitchRow>(&trial),
        holds::<TierRow>(&trial),
        holds::<PowerRow>(&trial),
    ];
    assert!(filled.iter().all(|&rows| rows > 0), "{filled:?}");
    let empty = [
        holds::<InterferenceRow>(&trial),
        holds::<SignalRow>(&trial),
        holds::<ReactionRow>(&trial),
        holds::<CircuitRow>(&trial),
        holds::<SteeringRow>(&trial),
        holds::<QueueChangeRow>(&trial),
        holds::<OperationRow>(&trial),
        holds::<RankTimeRow>(&trial),
        holds::<CriticalPathRow>(&trial),
        holds::<TrainingStepRow>(&trial),
        holds::<TrainingRankRow>(&trial),
        holds::<InferenceRow>(&trial),
        holds::<InferencePoolRow>(&trial),
        holds::<RequestRow>(&trial),
    ];
    assert_eq!(empty, [0; 14]);
}

#[test]
fn a_batch_tells_where_it_comes_from() {
    let trial = trial();
    let batch = trial.record_batch::<JobRow>().expect("it has all values");
    let schema = batch.schema();
    assert_eq!(schema.metadata()["tenter.seed"], u64::MAX.to_string());
    assert_eq!(schema.metadata()["tenter.digest"], trial.digest());
    let names = batch.column_by_name("job_name").expect("it is there");
    assert_eq!(names.as_string::<i32>().value(0), "train");
}
