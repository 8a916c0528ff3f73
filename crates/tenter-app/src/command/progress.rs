//! The progress line in a long run, and Ctrl-C.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tenter::report::{duration_s, si};
use tenter::{Control, Observer, Running, Summary};

use crate::command::failure::{print, say};

/// Seconds before the progress line appears.
const QUIET_S: f64 = 0.5;
/// Seconds between lines if standard error is no terminal.
const LINE_EVERY_S: f64 = 60.0;

/// Shows how far simulations are, and stops them at Ctrl-C.
pub(crate) struct Terminal {
    interrupted: Arc<AtomicBool>,
    /// Printed once the first simulation is built.
    heading: String,
    /// Prints remarks on a trial that has ended.
    remark: fn(&str, &Summary),
    /// Present trial's title, in commands that run several.
    title: String,
    started: Instant,
    /// The simulation's estimated packet-hops. They are computed when a line is first shown, so
    /// short runs do not pay for them.
    foretold: Option<f64>,
    /// Elapsed seconds at which the next line is due, without a terminal.
    next_line_s: f64,
    line: Option<ProgressBar>,
}

/// Makes Ctrl-C stop the run at the next sync point instead of killing the process. The flag is set
/// once it was pressed.
pub(crate) fn on_interrupt() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    // A second Ctrl-C kills the process at once, for users who do not want to wait for the partial
    // trial. If no handler can be set, Ctrl-C always does.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    interrupted
}

impl Terminal {
    /// Creates a terminal, and takes over Ctrl-C until the command ends.
    pub(crate) fn new() -> Terminal {
        Terminal {
            interrupted: on_interrupt(),
            heading: String::new(),
            remark: |_, _| (),
            title: String::new(),
            started: Instant::now(),
            foretold: None,
            next_line_s: LINE_EVERY_S,
            line: None,
        }
    }

    /// Sets a text that is printed once the first simulation is built.
    pub(crate) fn heading(mut self, text: String) -> Terminal {
        self.heading = text;
        self
    }

    /// Sets the remark on each trial that has ended, made from its title and summary.
    pub(crate) fn remark(mut self, remark: fn(&str, &Summary)) -> Terminal {
        self.remark = remark;
        self
    }

    fn show(&mut self, at: &Running<'_>) {
        let elapsed = self.started.elapsed().as_secs_f64();
        let is_terminal = std::io::stderr().is_terminal();
        if elapsed < QUIET_S || (!is_terminal && elapsed < self.next_line_s) {
            return;
        }
        // Counting the hops to come takes time: it happens once, and only in trials that last.
        let foretold = *self
            .foretold
            .get_or_insert_with(|| at.expected_packet_hops());
        let hops = at.progress.packet_hops;
        let done = done(hops, foretold);
        let message = format!(
            "{}{} simulated, {} at {}/s, {}",
            self.title,
            at.progress.simulated.rounded(),
            carried(hops, foretold),
            si(hops as f64 / elapsed),
            left(elapsed, done),
        );
        if is_terminal {
            let line = self.line.get_or_insert_with(bar);
            line.set_position((done.unwrap_or(0.0) * BAR as f64) as u64);
            line.set_message(message);
        } else {
            // A file or a pipe cannot draw a bar anew, so it gets a line now and then.
            let percent = done.map_or_else(|| "?".to_owned(), |done| format!("{:.0}", done * 1e2));
            say(&format!("{percent} %  {message}\n"));
            self.next_line_s = elapsed + LINE_EVERY_S;
        }
    }
}

/// Steps in a full bar.
const BAR: u64 = 1_000;

fn bar() -> ProgressBar {
    let line = ProgressBar::with_draw_target(Some(BAR), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:16} {percent:>3} %  {wide_msg}");
    line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    line
}

/// Returns the share that is done. `None` without an estimate, or if it was too low.
fn done(hops: u64, foretold: f64) -> Option<f64> {
    let share = hops as f64 / foretold;
    // An estimate that has been passed says nothing about the rest.
    (share.is_finite() && share < 1.0).then_some(share)
}

fn carried(hops: u64, foretold: f64) -> String {
    let number = |value| si(value).trim_end().to_owned();
    let hops_text = number(hops as f64);
    match done(hops, foretold) {
        Some(_) => format!("{hops_text} of {} packet-hops", number(foretold)),
        None if foretold.is_finite() => {
            format!(
                "{hops_text} packet-hops, more than the {} estimated",
                number(foretold)
            )
        }
        None => format!("{hops_text} packet-hops"),
    }
}

/// Estimates the remaining time from the pace so far.
fn left(elapsed: f64, done: Option<f64>) -> String {
    match done {
        Some(done) if done > 0.0 => {
            format!("about {} left", duration_s(elapsed * (1.0 - done) / done))
        }
        _ => "about ? left".to_owned(),
    }
}

impl Observer for Terminal {
    fn begins(&mut self, title: &str) {
        // Taken, so that it is printed before the first trial only.
        print(&std::mem::take(&mut self.heading));
        self.title = match title {
            "" => String::new(),
            title => format!("{title}  "),
        };
        self.started = Instant::now();
        self.foretold = None;
        self.next_line_s = LINE_EVERY_S;
    }

    fn progress(&mut self, at: &Running<'_>) -> Control {
        self.show(at);
        if self.interrupted.load(Ordering::Relaxed) {
            Control::Stop
        } else {
            Control::Continue
        }
    }

    fn is_cancelled(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn further_runs(&mut self, count: usize) {
        let (runs, verb) = match count {
            1 => ("run", "shows"),
            _ => ("runs", "show"),
        };
        say(&format!(
            "{count} more {runs} with some of the jobs only {verb} how much jobs slow each other down\n"
        ));
    }

    fn ends(&mut self) {
        if let Some(line) = self.line.take() {
            line.finish_and_clear();
        }
    }

    fn trial(&mut self, title: &str, summary: &Summary) {
        (self.remark)(title, summary);
    }

    fn kept(&mut self, title: &str, folder: &Path) {
        say_kept(title, folder);
    }
}

/// Prints that a finished trial was kept and not run again.
pub(crate) fn say_kept(title: &str, folder: &Path) {
    say(&format!(
        "note: {title} is finished in {} with the same configuration and program, and is kept\n",
        folder.display()
    ));
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.ends();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_its_share_of_the_time_so_far() {
        // A quarter of the packet-hops took 3 s, so three quarters take 9 s.
        assert_eq!(left(3.0, done(250, 1_000.0)), "about 9.0 s left");
        assert_eq!(carried(250, 1_000.0), "250 of 1.00 k packet-hops");
    }

    #[test]
    fn nothing_is_said_to_be_left_where_nothing_is_known() {
        for foretold in [f64::NAN, f64::INFINITY, 0.0, 100.0] {
            assert_eq!(left(3.0, done(250, foretold)), "about ? left");
        }
        assert_eq!(
            carried(250, 100.0),
            "250 packet-hops, more than the 100 estimated"
        );
    }
}
