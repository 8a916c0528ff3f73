//! `tenter ui`: the workspace in a browser.

use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use tenter_server::{Options, Server, openapi};

use crate::arguments::Ui;
use crate::exit::ExitCode;
use crate::failure::{Failure, print, say};
use crate::progress::on_interrupt;

pub(crate) fn ui(arguments: &Ui) -> Result<ExitCode, Failure> {
    if arguments.openapi {
        print(&openapi());
        return Ok(ExitCode::SUCCESS);
    }
    let stop = on_interrupt();
    let server = Server::bind(Options {
        folder: arguments.folder.clone(),
        address: arguments.listen,
        port: arguments.port,
        jobs: usize::from(arguments.jobs),
        threads: arguments.threads.count,
    })?;
    let url = server.url();
    print(&format!(
        "workspace  {}\npage       {url}\nCtrl-C ends it; a trial that runs then keeps what it has.\n",
        arguments.folder.display()
    ));
    if arguments.listen.is_unspecified() {
        print("From another machine: the same with the name or the address of this one.\n");
    }
    if !arguments.no_open {
        open(&url);
    }
    server.run(&stop)?;
    if stop.load(Ordering::Relaxed) {
        say("\n");
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens the page in the browser, where there is a way to.
fn open(url: &str) {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    let command = command.args(arguments).arg(url);
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Where there is no browser, the address is printed.
    let _ = quiet.spawn();
}
