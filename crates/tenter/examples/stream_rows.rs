//! Streams the rows of flows while a trial runs and keeps the slowest alone, so that memory does
//! not grow with the number of flows.
//!
//! ```sh
//! cargo run -p tenter --example stream_rows
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use tenter::{Error, FlowRow, Observer, Run, Scenario, SinkError};

/// The slowest flow so far, and how many there were.
#[derive(Default)]
struct Slowest {
    flow: Option<FlowRow>,
    flows: usize,
}

impl Observer for Slowest {
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        self.flows += rows.len();
        let candidates = rows.iter().chain(&self.flow);
        self.flow = candidates.max_by_key(|flow| flow.fct()).cloned();
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    let plan = Scenario::read("scenarios/quickstart.yaml")?.resolve()?;
    let mut slowest = Slowest::default();
    Run::new(&plan).observe(&mut slowest).run()?;
    if let Some(flow) = &slowest.flow {
        println!(
            "of {} flows the slowest took {}, from host {} to host {}",
            slowest.flows,
            flow.fct(),
            flow.src_host,
            flow.dst_host
        );
    }
    Ok(())
}
