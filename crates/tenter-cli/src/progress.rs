//! The progress line of a long run, and Ctrl-C.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tenter_record::{Control, FlowRow, Progress, SampleRow, Sink, SinkError};
use tenter_report::{duration_s, si};

/// A run shorter than this shows no progress line.
const QUIET_S: f64 = 0.5;

/// Passes rows on to another sink, shows how far the run is, and ends it on Ctrl-C.
pub(crate) struct Watched<'a, S> {
    inner: &'a mut S,
    /// What is run, where a command runs several trials.
    title: String,
    interrupted: Arc<AtomicBool>,
    started: Instant,
    line: Option<ProgressBar>,
}

/// Asks Ctrl-C to end the run at the next edge instead of ending the process.
pub(crate) fn on_interrupt() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    // A second Ctrl-C ends the process at once, for whoever does not want to wait for the partial
    // trial. Where no handler can be set, Ctrl-C ends the process as it always does.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    interrupted
}

impl<'a, S> Watched<'a, S> {
    pub(crate) fn new(inner: &'a mut S, interrupted: Arc<AtomicBool>) -> Self {
        Watched {
            inner,
            title: String::new(),
            interrupted,
            started: Instant::now(),
            line: None,
        }
    }

    /// With the name of this trial before its progress.
    pub(crate) fn titled(mut self, title: &str) -> Self {
        if !title.is_empty() {
            self.title = format!("{title}  ");
        }
        self
    }

    fn show(&mut self, progress: &Progress) {
        let elapsed = self.started.elapsed().as_secs_f64();
        if elapsed < QUIET_S || !std::io::stderr().is_terminal() {
            return;
        }
        let line = self.line.get_or_insert_with(|| {
            let line = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:24} {percent:>3} %  {msg}");
            line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            line
        });
        let (done, total) = (progress.flows_done, progress.flows_total);
        // Of flows for which there is some time nobody knows the number.
        let left = if done == 0 || done > total {
            "?".to_owned()
        } else {
            duration_s(elapsed * (total - done) as f64 / done as f64)
        };
        line.set_length(total.max(done));
        line.set_position(done);
        line.set_message(format!(
            "{}{} simulated, {done} of {total} flows, {} packet-hops/s, about {left} left",
            self.title,
            progress.simulated,
            si(progress.packet_hops as f64 / elapsed),
        ));
    }
}

impl<S> Drop for Watched<'_, S> {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}

impl<S: Sink> Sink for Watched<'_, S> {
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        self.inner.flows(rows)
    }

    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError> {
        self.inner.samples(rows)
    }

    fn progress(&mut self, progress: &Progress) -> Result<Control, SinkError> {
        self.show(progress);
        if self.interrupted.load(Ordering::Relaxed) {
            return Ok(Control::Stop);
        }
        self.inner.progress(progress)
    }
}
