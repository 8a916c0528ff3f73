//! A server of a folder of its own, and a client that says what it likes.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// No step of these tests takes a tenth of this.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder that is removed with its owner.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("tenter-ui-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder for the test");
        Folder(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The command, in a folder.
pub(crate) fn tenter(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tenter"));
    command.args(arguments).current_dir(folder.path());
    command.stdin(Stdio::null());
    command
}

/// What the command prints on standard output.
pub(crate) fn printed(folder: &Folder, arguments: &[&str]) -> String {
    let output = tenter(folder, arguments).output().expect("the binary runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A server that ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    /// The token in the address that it has printed; empty where there is none.
    pub(crate) token: String,
    /// The token of those who may only read.
    pub(crate) readers_token: String,
}

impl Server {
    /// The workspace `trials` of a folder.
    pub(crate) fn start(folder: &Folder, more: &[&str]) -> Server {
        let mut arguments = vec!["ui", "trials", "--port", "0", "--no-open", "--threads", "1"];
        arguments.extend(more);
        Server::of(tenter(folder, &arguments))
    }

    /// A server whose address space is limited.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_within(folder: &Folder, kibibytes: u64, more: &str) -> Server {
        let own = env!("CARGO_BIN_EXE_tenter");
        let line = format!(
            "ulimit -v {kibibytes}; exec {own} ui trials --port 0 --no-open --threads 1 {more}"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &line]).current_dir(folder.path());
        // The C library reserves 64 MB of address space for each thread that allocates, eight for
        // each processor at most: on some machines, that alone would be more than the limit.
        command.env("MALLOC_ARENA_MAX", "2");
        Server::of(command)
    }

    pub(crate) fn of(mut command: Command) -> Server {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it runs");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut url_of = |word: &str| {
            let url = lines.find_map(|line| {
                let line = line.expect("UTF-8");
                Some(line.strip_prefix(word)?.trim().to_owned())
            });
            url.expect("it prints its address")
        };
        let url = url_of("page");
        let token = |url: &str| {
            let token = url.split_once("?token=");
            token.map_or_else(String::new, |(_, token)| token.to_owned())
        };
        let address = url.strip_prefix("http://").expect("HTTP");
        let address = address.split('/').next().expect("a host").to_owned();
        let own_token = token(&url);
        // Without tokens there is no other address.
        let readers_token = if own_token.is_empty() {
            String::new()
        } else {
            token(&url_of("readers"))
        };
        Server {
            child,
            address,
            token: own_token,
            readers_token,
        }
    }

    /// The number of its process.
    #[cfg(target_os = "linux")]
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal, and returns its exit code.
    #[cfg(unix)]
    pub(crate) fn end_by(mut self, signal: &str) -> Option<i32> {
        let number = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &number]).status();
        assert!(sent.expect("kill runs").success());
        self.child.wait().expect("it ends").code()
    }

    /// Says whether the server is still running.
    pub(crate) fn lives(&mut self) -> bool {
        self.child.try_wait().expect("it can be asked").is_none()
    }

    /// The memory that it has now, in bytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.status_bytes("VmRSS:")
    }

    /// The most memory that it has had, in bytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.status_bytes("VmHWM:")
    }

    /// The processor time that it has had.
    #[cfg(target_os = "linux")]
    pub(crate) fn processor_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let stat = stat.expect("it runs");
        // The name, in brackets, may have blanks.
        let (_, fields) = stat.rsplit_once(") ").expect("a name");
        let ticks = fields.split(' ').skip(11).take(2);
        let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 10)
    }

    #[cfg(target_os = "linux")]
    fn status_bytes(&self, key: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        let kibibytes = line.and_then(|text| text.trim().strip_suffix("kB")?.trim().parse().ok());
        kibibytes.map_or(0, |kibibytes: u64| kibibytes << 10)
    }

    /// Kills it outright.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    /// The document of a route.
    pub(crate) fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    /// A request with a body of JSON.
    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        let headers = ["Content-Type: application/json"];
        self.ask(method, path, &headers, &body.to_string())
    }

    /// A request of a program: the route below `/api/v1`, with the right host and the token.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        self.own(&format!("{method} /api/v1{path}"), headers, body)
    }

    /// A request with the right host and the token.
    pub(crate) fn own(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        let own = self.own_headers();
        let mut all: Vec<&str> = own.iter().map(String::as_str).collect();
        all.extend(headers);
        self.raw(line, &all, body.as_bytes())
    }

    /// The headers of a program that knows the server and its token.
    pub(crate) fn own_headers(&self) -> [String; 2] {
        [
            format!("Host: {}", self.address),
            format!("Authorization: Bearer {}", self.token),
        ]
    }

    /// Any request.
    pub(crate) fn raw(&self, line: &str, headers: &[&str], body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let mut head = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        for header in headers {
            let _ = write!(head, "{header}\r\n");
        }
        let _ = write!(head, "Content-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).expect("it is sent");
        // A body that is too long is not read to its end.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::of(&answer)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a time limit");
        stream
    }

    /// Queues a trial and returns its number.
    pub(crate) fn queue(&self, text: &str) -> i64 {
        let answer = self.send("POST", "/trials", &json!({ "text": text }));
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["id"].as_i64().expect("a number")
    }

    /// Waits until a trial has ended, in whatever way.
    pub(crate) fn wait_for_end(&self, path: &str) -> Value {
        let since = Instant::now();
        loop {
            let found = self.json(path);
            if found["state"] != "queued" && found["state"] != "running" {
                return found;
            }
            assert!(since.elapsed() < 3 * PATIENCE, "{path} does not end");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until a trial is in a state.
    pub(crate) fn wait(&self, path: &str, state: &str) -> Value {
        let since = Instant::now();
        loop {
            let found = self.json(path);
            if found["state"] == state {
                return found;
            }
            assert!(since.elapsed() < PATIENCE, "{path} is {}", found["state"]);
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn of(bytes: &[u8]) -> Answer {
        let end = bytes.windows(4).position(|part| part == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut body = bytes[end + 4..].to_vec();
        if head.to_lowercase().contains("transfer-encoding: chunked") {
            body = whole(&body);
        }
        Answer {
            status: status.expect("a status"),
            head,
            body,
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.body
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("JSON: {}", self.text()))
    }
}

/// A body out of its chunks.
fn whole(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = chunks.windows(2).position(|part| part == b"\r\n") {
        let length = String::from_utf8_lossy(&chunks[..end]);
        let length = usize::from_str_radix(length.trim(), 16).expect("a length");
        if length == 0 {
            break;
        }
        body.extend_from_slice(&chunks[end + 2..end + 2 + length]);
        chunks = &chunks[end + 4 + length..];
    }
    body
}
