//! The server: address, threads, shutdown.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tenter::{Error, Workspace};

use crate::server::options::Options;
use crate::server::report::report_of;
use crate::server::state::{App, Shared};
use crate::server::token::{Entry, Role};
use crate::server::{connections, routes, runner, sweep_runner};

/// A server that listens, and answers once it [runs](Server::run).
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: Shared,
}

/// Interval at which a running server checks `stop`.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Time that requests under way get at shutdown.
const PATIENCE: Duration = Duration::from_secs(5);

impl Server {
    /// Opens the workspace and starts to listen.
    ///
    /// # Errors
    /// If the workspace cannot be opened, the port is taken, or a server without a token would
    /// listen beyond this machine.
    pub(crate) fn bind(options: Options) -> Result<Server, Error> {
        let asked = SocketAddr::new(options.address, options.port);
        let listener = TcpListener::bind(asked).map_err(|error| {
            Error::Asked(format!(
                "cannot listen on {asked}: {error}; name another port with `--port`, 0 for any"
            ))
        })?;
        let failed =
            |error: std::io::Error| Error::Asked(format!("cannot listen on {asked}: {error}"));
        let address = listener.local_addr().map_err(failed)?;
        // `tokio` takes over only sockets that do not block.
        listener.set_nonblocking(true).map_err(failed)?;
        let entry = match (options.no_token, address.ip().is_loopback()) {
            (false, _) => Some(Entry::new(address.port())?),
            (true, true) => None,
            (true, false) => {
                return Err(Error::Asked(format!(
                    "without a token every machine that reaches {} could change and remove trials; \
                     leave `--no-token` out, or listen on 127.0.0.1",
                    address.ip()
                )));
            }
        };
        let workspace = Workspace::open(&options.folder)?;
        let hosts = names(address);
        let port_of_any = address.ip().is_unspecified().then_some(address.port());
        let mut app = App::new(workspace, options, entry, hosts, port_of_any);
        app.report_of = Some(report_of);
        Ok(Server {
            listener,
            address,
            app: Arc::new(app),
        })
    }

    /// Returns the page's address on this machine, with the owner's token if one is required.
    pub(crate) fn url(&self) -> String {
        let entry = self.app.entry.as_ref();
        self.address_with(entry.map(|entry| entry.token(Role::Owner)))
    }

    /// Returns the address for those who may read and change nothing; `None` if no token is
    /// required.
    pub(crate) fn url_of_readers(&self) -> Option<String> {
        let entry = self.app.entry.as_ref()?;
        Some(self.address_with(Some(entry.token(Role::Reader))))
    }

    fn address_with(&self, token: Option<&str>) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        match token {
            Some(token) => format!("http://{address}/?token={token}"),
            None => format!("http://{address}/"),
        }
    }

    /// Answers requests and runs queued trials and sweeps until `stop` is set. Trials that run then
    /// are interrupted and keep the rows they have.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub(crate) fn run(self, stop: &AtomicBool) -> Result<(), Error> {
        let internal = |error: std::io::Error| Error::Internal(error.to_string());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(16)
            .thread_name("tenter ui")
            .enable_io()
            .enable_time()
            .build()
            .map_err(internal)?;
        let runners = self.runners()?;
        let app = Arc::clone(&self.app);
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let router = routes::router(Arc::clone(&app));
            let serving = tokio::spawn(connections::serve(listener, router, app.closing()));
            while !stop.load(Ordering::Relaxed) && !serving.is_finished() {
                tokio::time::sleep(LOOK_EVERY).await;
                // The loop that waits for the end is also the clock of the cache.
                app.cache.tidy();
            }
            app.close();
            // Connections that do not end by then are cut.
            let _ = tokio::time::timeout(PATIENCE, serving).await;
            Ok(())
        });
        // Again, for the case that the listener could not be set up: runners wait for it.
        self.app.close();
        for runner in runners {
            let _ = runner.join();
        }
        runtime.shutdown_timeout(Duration::from_millis(200));
        served.map_err(internal)
    }

    fn runners(&self) -> Result<Vec<JoinHandle<()>>, Error> {
        let jobs = self.app.options.jobs.max(1);
        let start = |name: String, work: fn(&Shared)| {
            let app = Arc::clone(&self.app);
            std::thread::Builder::new()
                .name(name)
                .spawn(move || work(&app))
                .map_err(|error| Error::Internal(format!("no thread can be started: {error}")))
        };
        let trials = (0..jobs).map(|number| start(format!("tenter ui run {number}"), runner::run));
        let sweeps = start("tenter ui sweep".to_owned(), sweep_runner::run);
        trials.chain([sweeps]).collect()
    }
}

/// Returns the names that a request may use in `Host`, each with the port.
fn names(address: SocketAddr) -> Vec<String> {
    let port = address.port();
    let mut names = vec![address.to_string()];
    let ip = address.ip();
    if ip.is_loopback() {
        names.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
    }
    if ip.is_unspecified() {
        names.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
        let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        if !own.trim().is_empty() {
            names.push(format!("{}:{port}", own.trim()));
        }
    }
    names
}
