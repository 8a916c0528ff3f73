//! The agent's server: it listens for coordinators and serves one at a time.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::eventfd::{EfdFlags, EventFd};
use tenter_fabric::topology::HostId;
use tenter_language::units::Rate;
use tenter_sim::plan::Plan;

use super::places::Places;
use super::receivers::Receivers;
use super::worker::{Wires, Work, Worker, plan_of};
use crate::control::{FromAgent, LocalClock, Opening, Order, Reader, Secret, Writer, accept};
use crate::error::LabError;

/// A coordinator that is silent for this long is taken for lost. It pings every 500 ms.
const SILENCE: Duration = Duration::from_secs(5);

/// Limits that an agent is started with.
#[derive(Clone, Debug)]
pub(super) struct AgentLimits {
    /// Addresses that it sends to.
    pub(super) addresses: BTreeSet<Ipv4Addr>,
    /// Highest rate at which a trial may let it send.
    pub(super) rate: Rate,
    /// Longest trial that it accepts.
    pub(super) time: Duration,
}

/// State that all connections share.
struct Shared {
    secret: Secret,
    limits: AgentLimits,
    clock: LocalClock,
    /// Locked by the session with a coordinator.
    busy: Mutex<()>,
    /// Connections that have not proved yet that they have the secret.
    greeting: Places,
    receivers: Arc<Receivers>,
}

/// Serves coordinators that have the secret, one at a time, until the process ends.
///
/// # Errors
/// Returns an error if the listening socket fails.
pub(super) fn serve(
    listener: &TcpListener,
    secret: Secret,
    limits: AgentLimits,
    receivers: Receivers,
) -> Result<(), LabError> {
    let shared = Arc::new(Shared {
        secret,
        limits,
        clock: LocalClock::start(),
        busy: Mutex::new(()),
        greeting: Places::default(),
        receivers: Arc::new(receivers),
    });
    loop {
        let (stream, _) = match listener.accept() {
            Ok(found) => found,
            Err(error) if is_passing(&error) => continue,
            Err(error) => return Err(LabError::system("cannot listen")(error)),
        };
        // Without a descriptor for the peer it is dropped; the agent itself goes on.
        let Ok(place) = shared.greeting.take(&stream) else {
            continue;
        };
        let shared = Arc::clone(&shared);
        thread::spawn(move || shared.meet(stream, place));
    }
}

/// Returns true if an error from `accept` concerns one connection alone, or will pass.
fn is_passing(error: &std::io::Error) -> bool {
    use nix::errno::Errno;
    use std::io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    // If descriptors or memory are short, the connection stays pending and `accept` would fail
    // again at once: the pause keeps the loop from spinning.
    let short = [Errno::EMFILE, Errno::ENFILE, Errno::ENOBUFS, Errno::ENOMEM];
    let few = short
        .iter()
        .any(|&short| error.raw_os_error() == Some(short as i32));
    if few {
        thread::sleep(Duration::from_millis(100));
    }
    few || matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted
    )
}

impl Shared {
    fn meet(&self, stream: TcpStream, place: u64) {
        let greeted = accept(stream, &self.secret);
        self.greeting.leave(place);
        // A peer without the secret gets no answer.
        let Ok((reader, mut writer)) = greeted else {
            return;
        };
        let _busy = match self.busy.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let why = "another coordinator is using this agent: wait for its end".to_owned();
                let _ = writer.write(&FromAgent::Failed(why));
                return;
            }
        };
        let mut session = Session {
            shared: self,
            writer: Arc::new(Mutex::new(writer)),
            trial: None,
        };
        session.serve(reader);
    }
}

/// A trial that is running.
struct Running {
    orders: Sender<Work>,
    /// Counter that the worker waits on beside its sockets; a write wakes it for orders.
    wake: Arc<EventFd>,
    /// Set to end the trial without a report.
    stop: Arc<AtomicBool>,
    /// The worker, and the thread that writes its messages.
    threads: [JoinHandle<()>; 2],
}

/// The session with one coordinator.
struct Session<'a> {
    shared: &'a Shared,
    writer: Arc<Mutex<Writer>>,
    trial: Option<Running>,
}

impl Session<'_> {
    fn serve(&mut self, mut reader: Reader) {
        let outcome = reader.wait_at_most(SILENCE);
        if outcome.is_ok() {
            while let Ok(order) = reader.read::<Order>() {
                if let Err(why) = self.obey(order) {
                    self.answer(&FromAgent::Failed(why));
                    break;
                }
            }
        }
        self.end();
    }

    fn answer(&self, answer: &FromAgent) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.write(answer).is_err() {
            // The reader fails, too, once the connection is closed, and ends the session.
            writer.close();
        }
    }

    fn obey(&mut self, order: Order) -> Result<(), String> {
        match order {
            Order::Ping(number) => {
                self.answer(&FromAgent::Pong(number, self.shared.clock.now_ns()));
                Ok(())
            }
            Order::Open(opening) => self.open(&opening),
            Order::Connect(offers) => self.pass_on(Work::Connect(offers)),
            Order::Prepare { job, turn } => self.pass_on(Work::Prepare { job, turn }),
            Order::Start { job, at_ps } => self.pass_on(Work::Start { job, at_ps }),
            Order::Close => self.pass_on(Work::Close),
        }
    }

    fn pass_on(&self, work: Work) -> Result<(), String> {
        let Some(trial) = &self.trial else {
            return Err("no trial has been opened".to_owned());
        };
        // If the worker has failed, it has already sent the reason.
        let _ = trial.orders.send(work);
        let _ = trial.wake.write(1);
        Ok(())
    }

    fn open(&mut self, opening: &Opening) -> Result<(), String> {
        // A coordinator that opens a second trial has given up the first.
        self.end();
        let plan = plan_of(opening)?;
        check(opening, &plan, &self.shared.limits)?;
        let (orders, taken) = channel();
        let (answers, told) = channel();
        let wake = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK);
        let wake = Arc::new(wake.map_err(|error| format!("cannot wait for orders: {error}"))?);
        let stop = Arc::new(AtomicBool::new(false));
        let wires = Wires {
            clock: self.shared.clock,
            orders: taken,
            wake: Arc::clone(&wake),
            answers,
            stop: Arc::clone(&stop),
        };
        let opening = opening.clone();
        let receivers = Arc::clone(&self.shared.receivers);
        let writer = Arc::clone(&self.writer);
        // A second thread writes, so that a slow coordinator does not hold up the worker.
        let threads = [
            thread::spawn(move || work(&opening, &plan, &receivers, wires)),
            thread::spawn(move || hand_on(&told, &writer)),
        ];
        self.trial = Some(Running {
            orders,
            wake,
            stop,
            threads,
        });
        Ok(())
    }

    /// Stops the running trial, if any, and waits for its threads.
    fn end(&mut self) {
        if let Some(trial) = self.trial.take() {
            trial.stop.store(true, Ordering::Release);
            let _ = trial.wake.write(1);
            for thread in trial.threads {
                // The panic hook has printed the message already.
                let _ = thread.join();
            }
        }
    }
}

/// Runs a trial on the thread that owns its sockets.
fn work(opening: &Opening, plan: &Plan, receivers: &Receivers, wires: Wires) {
    let answers = wires.answers.clone();
    match Worker::new(opening, plan, receivers, wires) {
        Ok(worker) => worker.run(),
        Err(why) => {
            // The coordinator may be gone already.
            let _ = answers.send(FromAgent::Failed(why));
        }
    }
}

/// Sends a worker's messages to the coordinator until the worker ends.
fn hand_on(told: &Receiver<FromAgent>, writer: &Mutex<Writer>) {
    while let Ok(answer) = told.recv() {
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.write(&answer).is_err() {
            writer.close();
            return;
        }
    }
}

/// Refuses a trial that exceeds the agent's limits.
fn check(opening: &Opening, plan: &Plan, limits: &AgentLimits) -> Result<(), String> {
    let addresses = opening
        .addresses
        .iter()
        .map(|&address| Ipv4Addr::from(address));
    let mut strangers = addresses.filter(|address| !limits.addresses.contains(address));
    if let Some(stranger) = strangers.next() {
        return Err(format!(
            "{stranger} is not in the lab file of this agent, which sends nowhere else"
        ));
    }
    let host = HostId::new(opening.host);
    if host.index() >= opening.addresses.len() {
        return Err(format!("the scenario has no host {}", opening.host));
    }
    let rate = plan.topology.cable(host, 0).rate;
    if rate > limits.rate {
        return Err(format!(
            "the scenario lets this host send at {rate}, and its agent does at {} at most (`--max-rate`)",
            limits.rate
        ));
    }
    if Duration::from_nanos(opening.time_limit_ns) > limits.time {
        return Err(format!(
            "the trial may take longer than the {} s that its agent allows (`--max-time`)",
            limits.time.as_secs()
        ));
    }
    Ok(())
}
