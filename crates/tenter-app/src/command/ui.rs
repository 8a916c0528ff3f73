//! `tenter ui`: the workspace in a browser.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use crate::server::{Options, Server, openapi};
use tenter::{Limits, confinement_gaps};

use crate::command::arguments::Ui;
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print, say};
use crate::command::progress::on_interrupt;

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
        no_token: arguments.no_token,
        jobs: usize::from(arguments.jobs),
        threads: arguments.threads.count,
        program: crate::command::orders::program(),
        check: Limits {
            time: arguments.max_time,
            memory: arguments.max_memory,
            ..Limits::NONE
        },
    })?;
    let url = server.url();
    let readers = server.url_of_readers();
    let readers = readers.map_or_else(String::new, |url| format!("readers    {url}\n"));
    print(&format!(
        "workspace  {}\npage       {url}\n{readers}Ctrl-C ends it; a trial that runs then keeps what it has.\n",
        arguments.folder.display()
    ));
    for gap in confinement_gaps() {
        say(&format!("note: {gap}\n"));
    }
    if arguments.listen.is_unspecified() {
        print("From another machine: the same with the name or the address of this one.\n");
    }
    let entrance = (!arguments.no_open).then(|| Entrance::open(arguments, &url));
    let ran = server.run(&stop);
    // The file holds the token, so it goes as soon as the server does, even after an error.
    drop(entrance);
    ran?;
    if stop.load(Ordering::Relaxed) {
        say("\n");
        return Ok(ExitCode::INTERRUPTED);
    }
    Ok(ExitCode::SUCCESS)
}

/// A file that leads the browser to the page. All users of a machine can see the arguments of its
/// processes, the browser's included, so the address with its token must not be one of them. Only
/// this user can read the file.
struct Entrance(Option<PathBuf>);

impl Entrance {
    /// Opens the page in the browser, if there is one.
    fn open(arguments: &Ui, url: &str) -> Entrance {
        let name = format!("tenter-ui-{}.html", std::process::id());
        let file = std::path::absolute(arguments.folder.join(name));
        let page = format!(
            "<!doctype html><meta charset=\"utf-8\"><title>Tenter</title>\
             <meta http-equiv=\"refresh\" content=\"0; url={url}\">\
             <a href=\"{url}\">Open the workspace</a>\n"
        );
        let written = file.and_then(|file| {
            write_own(&file, &page)?;
            Ok(file)
        });
        let written = written.ok();
        if let Some(file) = &written {
            open(file);
        }
        Entrance(written)
    }
}

impl Drop for Entrance {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Writes a new file that only this user can read.
fn write_own(file: &Path, text: &str) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

/// Opens a file with the system's default program.
fn open(file: &Path) {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    let command = command.args(arguments).arg(file);
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Without a browser the user still has the printed address.
    let _ = quiet.spawn();
}
