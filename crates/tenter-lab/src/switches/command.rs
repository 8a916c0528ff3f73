//! Programs that read a switch within a time limit.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Most bytes of output that are read; no switch prints as much.
const ANSWER_MAX: u64 = 64 << 20;
/// Interval at which a running program is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Runs a program without a shell, and returns its standard output.
///
/// # Errors
/// Returns a sentence that says why there is no answer, and what to do.
pub(super) fn run(words: &[String], timeout: Duration) -> Result<String, String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err("`command` has no words; name the program".to_owned());
    };
    // Errors end up in trial folders, and arguments may contain passwords, so errors name the
    // program alone.
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| {
        format!("cannot start `{program}`: {error}; install it, or correct `command`")
    })?;
    // Both streams are read while the program runs: it would stop when a pipe is full.
    let out = child.stdout.take().map(gather);
    let said = child.stderr.take().map(gather);
    let status = wait(&mut child, timeout).ok_or_else(|| {
        format!(
            "`{program}` did not end in {} s; is the switch there? `timeout` allows longer",
            timeout.as_secs_f64()
        )
    })?;
    // A process that the program has left behind may keep the output open for ever.
    let text = |of: Option<Receiver<Vec<u8>>>| {
        let bytes = of.and_then(|bytes| bytes.recv_timeout(timeout).ok());
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    };
    let (out, said) = (text(out), text(said));
    if !status.success() {
        let first = said
            .lines()
            .chain(out.lines())
            .find(|line| !line.trim().is_empty());
        return Err(format!(
            "`{program}` failed ({status}): {}",
            first.unwrap_or("it does not say why; run it by hand")
        ));
    }
    Ok(out)
}

fn gather(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // If reading fails, the text is cut, which its reader will notice.
        let _ = from.by_ref().take(ANSWER_MAX).read_to_end(&mut bytes);
        // The receiver may have stopped waiting.
        let _ = sender.send(bytes);
    });
    receiver
}

/// Waits for a program, and returns its status; ends it and returns `None` after `timeout`.
fn wait(child: &mut Child, timeout: Duration) -> Option<std::process::ExitStatus> {
    let until = Instant::now() + timeout;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= until {
            // It may have ended meanwhile, which serves as well.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_program_answers_or_why_not_is_said() {
        let second = Duration::from_secs(1);
        assert_eq!(
            run(&words("echo a b"), second).expect("it answers"),
            "a b\n"
        );
        let failed = run(&words("cat /nothing/here"), second).expect_err("it fails");
        assert!(failed.contains("No such file"), "{failed}");
        let none = run(&words("no-such-program x"), second).expect_err("there is none");
        assert!(none.contains("install it"), "{none}");
        let began = Instant::now();
        let slow = run(&words("sleep 20"), Duration::from_millis(100)).expect_err("it is slow");
        assert!(slow.contains("timeout"), "{slow}");
        let left = ["sh", "-c", "sleep 20 & echo a"].map(str::to_owned);
        let left = run(&left, Duration::from_millis(100));
        assert!(
            left.is_ok(),
            "what a program leaves behind is not waited for"
        );
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}
