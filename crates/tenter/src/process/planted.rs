//! Faults that tests plant in trials, in builds with debug assertions alone.

use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

/// Names the fault and a part of the name of the trials that have it: `abort@large`.
const VARIABLE: &str = "TENTER_PLANTED_FAULT";

/// Commits the fault that the environment plants in a trial with this name.
pub(super) fn fault(name: &str) {
    let Ok(planted) = std::env::var(VARIABLE) else {
        return;
    };
    let Some((fault, of)) = planted.split_once('@') else {
        return;
    };
    if !name.contains(of) {
        return;
    }
    match fault {
        "abort" => std::process::abort(),
        "memory" => eat(),
        "program" => drop(Command::new("/bin/true").status()),
        "socket" => drop(TcpListener::bind("127.0.0.1:0")),
        "write" => {
            let escaped = std::fs::write("/tmp/tenter-escaped", "");
            assert!(escaped.is_ok(), "the file was refused");
        }
        "sleep" => std::thread::sleep(Duration::from_secs(3_600)),
        "panic" => panic!("a planted panic"),
        other => panic!("there is no fault `{other}`"),
    }
}

/// Takes memory until there is none.
fn eat() {
    let mut eaten: Vec<Vec<u8>> = Vec::new();
    loop {
        eaten.push(vec![1; 16 << 20]);
    }
}
