//! The process of trials: runs one order after the other, each on a thread that is confined to the
//! trial's folder.

use std::io::{self, BufRead as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tenter_results::{Control, SampleRow, SinkError, Summary};

use super::confine;
use super::message::{Asked, Told};
use crate::Error;
use crate::handle::message_of;
use crate::observer::{Observer, Running};
use crate::sweep::{TrialAnswer, TrialOrder};

/// Minimum time between two messages about a trial's progress, or with its samples.
const TELL_EVERY: Duration = Duration::from_millis(50);

/// Runs the trials that standard input orders, and writes progress and answers to standard output.
/// Returns when the input has ended.
///
/// [`TrialProgram`](super::TrialProgram) names the program that calls this. The calling process is
/// confined for good: on Linux it starts no program and opens no socket, and a trial writes to its
/// own folder alone, within the memory that it is expected to take and a half of that more.
///
/// # Errors
/// When the input cannot be read or is no order, or the process cannot be confined.
pub fn carry_out_orders() -> io::Result<()> {
    confine::process()?;
    let asked = Arc::new(Wishes::default());
    for line in io::stdin().lock().lines() {
        match serde_json::from_str(&line?)? {
            Asked::Stop => asked.stop.store(true, Ordering::Relaxed),
            Asked::Samples(wanted) => asked.samples.store(wanted, Ordering::Relaxed),
            Asked::Trial { order, threads } => {
                asked.stop.store(false, Ordering::Relaxed);
                let asked = Arc::clone(&asked);
                let trial = move || tell(&Told::Answer(Box::new(answer(&order, threads, &asked))));
                // On its own thread: this one must hear of a stop. Rules of access bind a thread
                // and those that it starts, so the next trial gets its own.
                std::thread::Builder::new().spawn(trial)?;
            }
        }
    }
    Ok(())
}

/// Requests of the other side about the trial that runs.
#[derive(Debug, Default)]
struct Wishes {
    stop: AtomicBool,
    samples: AtomicBool,
}

fn answer(order: &TrialOrder, threads: u16, asked: &Wishes) -> TrialAnswer {
    let confined = confine::trial(order.folder.as_deref(), order.memory_limit());
    if let Err(error) = confined {
        return TrialAnswer::failed(format!("the trial cannot be confined: {error}"));
    }
    let mut teller = Teller { asked, told: None };
    let run = || {
        #[cfg(debug_assertions)]
        super::planted::fault(&order.name);
        order.carry_out(threads, &mut teller)
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        TrialAnswer::failed(Error::Internal(message_of(&*panic)).to_string())
    })
}

/// Writes a message. One that is lost would leave the other side waiting, so the process ends
/// instead, and its end is the answer.
fn tell(told: &Told) {
    let written = serde_json::to_vec(told).map_err(io::Error::from);
    let written = written.and_then(|mut line| {
        line.push(b'\n');
        let mut output = io::stdout().lock();
        output.write_all(&line).and_then(|()| output.flush())
    });
    if let Err(error) = written {
        // Standard error may have no reader either.
        let _ = writeln!(io::stderr(), "a message cannot be written: {error}");
        std::process::exit(1);
    }
}

/// Tells the other side about the trial that runs.
struct Teller<'a> {
    asked: &'a Wishes,
    /// Time of the last message about progress.
    told: Option<Instant>,
}

impl Observer for Teller<'_> {
    fn begins(&mut self, title: &str) {
        tell(&Told::Begins(title.to_owned()));
    }

    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError> {
        if let Some(last) = rows.last()
            && self.asked.samples.load(Ordering::Relaxed)
        {
            // A batch may cover many instants, and whoever watches sees one.
            let first = rows.partition_point(|row| row.time < last.time);
            tell(&Told::Samples(rows[first..].to_vec()));
        }
        Ok(())
    }

    fn progress(&mut self, at: &Running<'_>) -> Control {
        if self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            self.told = Some(Instant::now());
            tell(&Told::of(&at.progress));
        }
        if self.is_cancelled() {
            Control::Stop
        } else {
            Control::Continue
        }
    }

    fn is_cancelled(&self) -> bool {
        self.asked.stop.load(Ordering::Relaxed)
    }

    fn further_runs(&mut self, count: usize) {
        tell(&Told::FurtherRuns(count));
    }

    fn ends(&mut self) {
        tell(&Told::Ends);
    }

    /// The answer has the summary.
    fn trial(&mut self, _: &str, _: &Summary) {}

    fn kept(&mut self, _: &str, folder: &Path) {
        tell(&Told::Kept(folder.to_owned()));
    }
}
