//! Tables of flows as Parquet.

mod columnar;

use tenter_formats::flow_list;
use tenter_language::units::Budget;
use tenter_workload::spec::FlowReading;

#[test]
fn a_table_says_the_same_as_parquet_and_as_csv() {
    let reading = FlowReading::default();
    let file = columnar::file();
    assert!(flow_list::is_parquet(&file));
    let read =
        flow_list::read_parquet(&file, reading, &Budget::unlimited()).expect("it is a table");
    let expected = flow_list::read_table(columnar::AS_CSV, reading, &Budget::unlimited())
        .expect("it is a table");
    assert_eq!(read.graph, expected.graph);
    assert_eq!(read.notes, expected.notes);
}

#[test]
fn a_damaged_table_is_refused() {
    let file = columnar::file();
    let error = flow_list::read_parquet(
        &file[..file.len() / 2],
        FlowReading::default(),
        &Budget::unlimited(),
    );
    let error = error.expect_err("half of it is missing").to_string();
    assert!(error.contains("does not end with its head"), "{error}");
}
