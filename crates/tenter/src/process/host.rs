//! The program's side: starts a process of trials, orders trials and follows them.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tenter_results::Control;

use super::message::{Asked, Told};
use crate::Error;
use crate::observer::{Expected, Observer, Running};
use crate::sweep::{TrialAnswer, TrialOrder};

/// Interval at which a trial's observer is asked whether to stop it.
const TICK: Duration = Duration::from_millis(50);
/// Time that a trial has to end after a stop; then its process is ended.
const GRACE: Duration = Duration::from_secs(30);
/// A process that has run a trial of more bytes is not used again: allocators keep what they had.
const SHARED_BYTES: u64 = 64 << 20;
/// Bytes that are kept of what a process says on standard error.
const SAID_BYTES: usize = 4 << 10;

/// A program that runs trials for another: it calls
/// [`carry_out_orders`](super::carry_out_orders).
#[derive(Clone, Debug)]
pub struct TrialProgram {
    path: PathBuf,
    arguments: Vec<OsString>,
}

impl TrialProgram {
    /// Names the program's file and its arguments.
    pub fn new(path: impl Into<PathBuf>, arguments: Vec<OsString>) -> TrialProgram {
        TrialProgram {
            path: path.into(),
            arguments,
        }
    }

    /// Names the calling program itself, also if its file is replaced meanwhile.
    ///
    /// # Errors
    /// When the system does not tell its file.
    pub fn own(arguments: Vec<OsString>) -> io::Result<TrialProgram> {
        let link = PathBuf::from("/proc/self/exe");
        let path = if link.exists() {
            link
        } else {
            std::env::current_exe()?
        };
        Ok(TrialProgram::new(path, arguments))
    }
}

/// Runs trials one after the other in a process, and starts another one when it has ended.
#[derive(Debug)]
pub struct TrialProcess {
    program: TrialProgram,
    running: Option<Started>,
}

impl TrialProcess {
    /// Takes a program; the first trial starts it.
    pub fn new(program: TrialProgram) -> TrialProcess {
        TrialProcess {
            program,
            running: None,
        }
    }

    /// Runs a trial on at most `threads` threads; the observer may stop it. A process that ends
    /// before it has answered is a failure of this trial.
    ///
    /// # Errors
    /// When no process can be started.
    pub fn carry_out(
        &mut self,
        order: &TrialOrder,
        threads: u16,
        observer: &mut dyn Observer,
    ) -> Result<TrialAnswer, Error> {
        let mut started = match self.running.take() {
            Some(started) => started,
            None => Started::new(&self.program).map_err(|error| {
                let path = self.program.path.display();
                Error::Asked(format!(
                    "cannot start {path} as a process for trials: {error}; free memory or processes"
                ))
            })?,
        };
        let asked = Asked::Trial {
            order: Box::new(order.clone()),
            threads,
        };
        let mut is_stopped = false;
        let is_asked = started.ask(&asked).is_ok();
        let answer = is_asked.then(|| started.follow(order, observer, &mut is_stopped));
        let Some(answer) = answer.flatten() else {
            return Ok(if is_stopped {
                TrialAnswer::stopped()
            } else {
                TrialAnswer::failed(started.last_words())
            });
        };
        if order.memory_bytes <= SHARED_BYTES {
            self.running = Some(started);
        }
        Ok(answer)
    }
}

/// A process that was started.
#[derive(Debug)]
struct Started {
    process: Child,
    /// Taken when the process shall end.
    input: Option<ChildStdin>,
    told: Receiver<Told>,
    said: Option<JoinHandle<String>>,
}

impl Started {
    fn new(program: &TrialProgram) -> io::Result<Started> {
        let mut process = Command::new(&program.path)
            .args(&program.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("its streams are missing");
        let input = process.stdin.take();
        let output = process.stdout.take().ok_or_else(missing)?;
        let errors = process.stderr.take().ok_or_else(missing)?;
        let (teller, told) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                // What is no message comes from a process that is beside itself.
                let Some(message) = line.ok().and_then(|line| serde_json::from_str(&line).ok())
                else {
                    return;
                };
                if teller.send(message).is_err() {
                    return;
                }
            }
        });
        Ok(Started {
            process,
            input,
            told,
            said: Some(std::thread::spawn(move || last_of(errors))),
        })
    }

    fn ask(&mut self, asked: &Asked) -> io::Result<()> {
        let mut line = serde_json::to_vec(asked)?;
        line.push(b'\n');
        match &mut self.input {
            Some(input) => input.write_all(&line).and_then(|()| input.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Passes on what the process tells, until it answers; `None` if it has ended without.
    fn follow(
        &mut self,
        order: &TrialOrder,
        observer: &mut dyn Observer,
        is_stopped: &mut bool,
    ) -> Option<TrialAnswer> {
        let (mut stopped, mut samples) = (None::<Instant>, false);
        loop {
            let told = match self.told.recv_timeout(TICK) {
                Ok(told) => Some(told),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return None,
            };
            let mut stops = observer.is_cancelled();
            match told {
                Some(Told::Answer(answer)) => {
                    if let Some(summary) = answer.summary() {
                        observer.trial(&order.title, summary);
                    }
                    return Some(*answer);
                }
                Some(told) => stops |= pass_on(&told, order, observer),
                None => {}
            }
            if stops && stopped.is_none() {
                (stopped, *is_stopped) = (Some(Instant::now()), true);
                let _ = self.ask(&Asked::Stop);
            }
            if stopped.is_some_and(|stopped| stopped.elapsed() > GRACE) {
                return None;
            }
            if observer.wants_samples() != samples {
                samples = !samples;
                let _ = self.ask(&Asked::Samples(samples));
            }
        }
    }

    /// Ends the process, and says how it ended.
    fn last_words(mut self) -> String {
        let status = self.end();
        let said = self.said.take().and_then(|said| said.join().ok());
        let said = said.unwrap_or_default();
        let why = status.map_or_else(|error| error.to_string(), described);
        let said = said.lines().map(str::trim).find(|line| !line.is_empty());
        let said = said.map_or_else(String::new, |line| format!(" ({line})"));
        format!("the process of this trial {why}{said}; other trials go on")
    }

    /// Ends the process if it does not end by itself.
    fn end(&mut self) -> io::Result<ExitStatus> {
        self.input = None;
        // One whose output has ended is about to end.
        let until = Instant::now() + Duration::from_secs(1);
        while Instant::now() < until {
            if let Some(status) = self.process.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.process.kill()?;
        self.process.wait()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Passes a message on to the observer. Returns true if it wants the trial to stop.
fn pass_on(told: &Told, order: &TrialOrder, observer: &mut dyn Observer) -> bool {
    if let Some(progress) = told.progress() {
        let at = Running {
            expected: Expected::Hops(order.packet_hops),
            progress,
        };
        return observer.progress(&at) == Control::Stop;
    }
    match told {
        Told::Begins(title) => observer.begins(title),
        Told::Samples(rows) => return observer.samples(rows).is_err(),
        Told::FurtherRuns(count) => observer.further_runs(*count),
        Told::Ends => observer.ends(),
        Told::Kept(folder) => observer.kept(&order.title, folder),
        Told::Progress { .. } | Told::Answer(_) => {}
    }
    false
}

/// Says how a process ended, for people.
#[cfg(unix)]
fn described(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;

    match status.signal() {
        Some(6) => "has aborted".to_owned(),
        Some(9) => "was killed, perhaps for lack of memory".to_owned(),
        Some(31) => "has made a system call that no trial may make".to_owned(),
        Some(signal) => format!("was ended by signal {signal}"),
        None => format!("has ended without an answer ({status})"),
    }
}

#[cfg(not(unix))]
fn described(status: ExitStatus) -> String {
    format!("has ended without an answer ({status})")
}

/// Reads to the end, and returns the last part as text.
fn last_of(mut from: impl Read) -> String {
    let mut kept = Vec::new();
    let mut piece = [0; SAID_BYTES];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        kept.extend_from_slice(&piece[..count]);
        let surplus = kept.len().saturating_sub(SAID_BYTES);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}
