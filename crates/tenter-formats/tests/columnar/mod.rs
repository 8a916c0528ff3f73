//! A table of flows as Parquet.

use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// The flows that the file has, as CSV.
#[allow(dead_code, reason = "one of two tests compares")]
pub(crate) const AS_CSV: &str =
    "source,destination,bytes,start_us,after\n0,1,500,,\n0,2,700,1.25,\n0,1,9,,0;1\n";

const SCHEMA: &str = "message flows {
  required int64 source; required int64 destination; required int64 bytes;
  optional double start_us; required binary after (UTF8);
}";

/// The file.
pub(crate) fn file() -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).expect("it is a schema"));
    let properties = Arc::new(WriterProperties::default());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).expect("it begins");
    let mut group = file.next_row_group().expect("there is room");
    let numbers = [[0, 0, 0], [1, 2, 1], [500, 700, 9]];
    for values in &numbers {
        let mut column = group
            .next_column()
            .expect("it writes")
            .expect("there is one");
        let typed = column.typed::<Int64Type>();
        typed.write_batch(values, None, None).expect("it writes");
        column.close().expect("it writes");
    }
    let mut column = group
        .next_column()
        .expect("it writes")
        .expect("there is one");
    let starts = column.typed::<DoubleType>();
    starts
        .write_batch(&[1.25], Some(&[0, 1, 0]), None)
        .expect("it writes");
    column.close().expect("it writes");
    let mut column = group
        .next_column()
        .expect("it writes")
        .expect("there is one");
    let after = ["", "", "0;1"].map(ByteArray::from);
    let texts = column.typed::<ByteArrayType>();
    texts.write_batch(&after, None, None).expect("it writes");
    column.close().expect("it writes");
    group.close().expect("it ends");
    file.into_inner().expect("it ends")
}

/// A file of so many equal flows, which a dictionary makes of a few bytes.
#[allow(dead_code, reason = "one of the tests reads it")]
pub(crate) fn equal_rows(count: usize) -> Vec<u8> {
    const SCHEMA: &str = "message flows {
      required int64 source; required int64 destination; required int64 bytes;
    }";
    let schema = Arc::new(parse_message_type(SCHEMA).expect("it is a schema"));
    let properties = Arc::new(WriterProperties::default());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).expect("it begins");
    let mut group = file.next_row_group().expect("there is room");
    for value in [0, 1, 500] {
        let mut column = group
            .next_column()
            .expect("it writes")
            .expect("there is one");
        let typed = column.typed::<Int64Type>();
        let values = vec![value; count];
        typed.write_batch(&values, None, None).expect("it writes");
        column.close().expect("it writes");
    }
    group.close().expect("it ends");
    file.into_inner().expect("it ends")
}
