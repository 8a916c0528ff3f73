//! Tables as CSV (RFC 4180, with bare line feeds).

use std::borrow::Cow;

use tenter_results::{Names, Row};

/// Formats rows as CSV: a header line, then a line for each row. A missing value is empty.
pub fn csv<R: Row>(rows: &[R], names: &Names) -> String {
    let header: Vec<&str> = R::COLUMNS.iter().map(|column| column.name).collect();
    let mut text = header.join(",");
    text.push('\n');
    for row in rows {
        for (position, column) in R::COLUMNS.iter().enumerate() {
            if position > 0 {
                text.push(',');
            }
            text.push_str(&csv_field(&(column.cell)(row, names).to_text()));
        }
        text.push('\n');
    }
    text
}

/// Returns `text` as a CSV field, quoted if needed.
pub fn csv_field(text: &str) -> Cow<'_, str> {
    // RFC 4180 asks for quotes around these alone, and doubles quotes within.
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Time;
    use tenter_results::JobRow;

    use super::*;

    #[test]
    fn quotes_and_gaps() {
        let job = JobRow {
            job: 1,
            name: "a, \"b\"".to_owned(),
            ranks: 4,
            start: Some(Time::from_ps(1_500)),
            jct: Some(Time::from_ns(2)),
            complete: true,
            ..JobRow::default()
        };
        let expected = "job,job_name,ranks,background,\
                        leaf_fragmentation,pod_fragmentation,start_ns,end_ns,jct_ns,compute_ns,\
                        exposed_communication_ns,ideal_ratio,rx_bytes,rx_gbps,complete,failure\n\
                        1,\"a, \"\"b\"\"\",4,false,,,1.5,,2,0,,,0,,true,\n";
        assert_eq!(csv(&[job], &Names::default()), expected);
    }
}
