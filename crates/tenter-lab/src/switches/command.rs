//! Programs that read a switch, which may take no longer than they are given.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// No answer of a switch is longer.
const ANSWER_MAX: u64 = 64 << 20;
/// A program is looked at so often.
const LOOK: Duration = Duration::from_millis(5);

/// Runs a program without a shell; what it printed.
///
/// # Errors
/// Why there is no answer, as a sentence with the remedy.
pub(super) fn run(words: &[String], timeout: Duration) -> Result<String, String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err("`command` has no words; name the program".to_owned());
    };
    // Messages go into trial folders, and words may say passwords: they name the program alone.
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| {
        format!("cannot start `{program}`: {error}; install it, or correct `command`")
    })?;
    let out = child.stdout.take().map(gather);
    let said = child.stderr.take().map(gather);
    let status = wait(&mut child, timeout).ok_or_else(|| {
        format!(
            "`{program}` did not end in {} s; is the switch there? `timeout` allows longer",
            timeout.as_secs_f64()
        )
    })?;
    // What it has started may keep its output open for ever.
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
        // What cannot be read is missing, which the text then shows.
        let _ = from.by_ref().take(ANSWER_MAX).read_to_end(&mut bytes);
        // Nobody may wait for it any more.
        let _ = sender.send(bytes);
    });
    receiver
}

/// Waits for a program; one that takes longer is ended.
fn wait(child: &mut Child, timeout: Duration) -> Option<std::process::ExitStatus> {
    let until = Instant::now() + timeout;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= until {
            // It may have ended meanwhile, which is as good.
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
