//! A trial's agents, and the single queue for all their messages.

use std::net::{SocketAddrV4, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::control::{
    ChannelError, ClockEstimate, Exchange, FromAgent, LocalClock, Order, Reader, Secret, Writer,
    connect,
};
use crate::error::LabError;

/// Time limit for a TCP connection to an agent.
const CONNECT_TIME: Duration = Duration::from_secs(3);
/// An agent that is silent for this long is lost. It answers a ping every 500 ms.
const SILENCE: Duration = Duration::from_secs(4);
/// Exchanges that estimate an agent's clock before a trial.
const EXCHANGES: u64 = 32;
/// Interval between pings to all agents.
const PING_EVERY: Duration = Duration::from_millis(500);

/// An event from an agent's connection.
pub(super) enum Said {
    Message(FromAgent),
    Lost(ChannelError),
}

/// An agent, as the coordinator knows it.
pub(super) struct Agent {
    /// Name of the host it runs on.
    pub(super) name: String,
    writer: Writer,
    pub(super) clock: ClockEstimate,
    /// The coordinator's clock when the last ping was sent.
    asked_ns: u64,
    /// Number of the last ping.
    pings: u64,
    /// Reason why the agent can no longer be used; `None` while it can.
    pub(super) lost: Option<String>,
}

/// All agents in a trial, by host.
pub(super) struct Agents {
    pub(super) all: Vec<Agent>,
    said: Receiver<(usize, Said)>,
    /// The coordinator's clock, to which all agents' clocks are compared.
    pub(super) clock: LocalClock,
    /// Time when the last pings were sent.
    pinged: Instant,
}

impl Agents {
    /// Connects to agents, given by host name and control address, and estimates their clocks.
    ///
    /// # Errors
    /// Returns an error if an agent cannot be reached or lacks the secret.
    pub(super) fn connect(
        hosts: &[(String, SocketAddrV4)],
        secret: &Secret,
        clock: LocalClock,
    ) -> Result<Agents, LabError> {
        let (sender, said) = channel();
        let mut all = Vec::new();
        for (index, (name, address)) in hosts.iter().enumerate() {
            let failed = |source| LabError::Agent {
                agent: format!("{name} at {address}"),
                source,
            };
            let stream = TcpStream::connect_timeout(&(*address).into(), CONNECT_TIME);
            let stream = stream.map_err(|error| failed(ChannelError::Io(error)))?;
            let (mut reader, mut writer) = connect(stream, secret).map_err(failed)?;
            let estimate = exchange(&mut reader, &mut writer, &clock).map_err(failed)?;
            reader.wait_at_most(SILENCE).map_err(failed)?;
            let sender = sender.clone();
            thread::spawn(move || listen(index, reader, &sender));
            all.push(Agent {
                name: name.clone(),
                writer,
                clock: estimate,
                asked_ns: 0,
                pings: EXCHANGES,
                lost: None,
            });
        }
        Ok(Agents {
            all,
            said,
            clock,
            pinged: Instant::now(),
        })
    }

    /// Sends an order to an agent. If that fails the agent is marked lost, and later orders are
    /// dropped.
    pub(super) fn order(&mut self, agent: usize, order: &Order) {
        let agent = &mut self.all[agent];
        if agent.lost.is_some() {
            return;
        }
        if let Err(error) = agent.writer.write(order) {
            agent.lost = Some(error.to_string());
        }
    }

    /// Returns the next message from any agent; `None` after `wait`, or if an agent was lost. Pings
    /// are sent and answers to them handled in here.
    pub(super) fn next(&mut self, wait: Duration) -> Option<(usize, FromAgent)> {
        let until = Instant::now() + wait;
        loop {
            if self.pinged.elapsed() >= PING_EVERY {
                self.ping();
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.said.recv_timeout(left.min(PING_EVERY)) {
                Ok((agent, Said::Message(FromAgent::Pong(number, shown)))) => {
                    self.ponged(agent, number, shown);
                }
                Ok((agent, Said::Message(message))) => return Some((agent, message)),
                Ok((agent, Said::Lost(error))) => {
                    self.all[agent].lost.get_or_insert(error.to_string());
                    return None;
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                // All agents are lost; without the pause the caller would spin.
                Err(RecvTimeoutError::Disconnected) => {
                    thread::sleep(left);
                    return None;
                }
            }
        }
    }

    fn ping(&mut self) {
        self.pinged = Instant::now();
        for index in 0..self.all.len() {
            let agent = &mut self.all[index];
            agent.pings += 1;
            agent.asked_ns = self.clock.now_ns();
            let number = agent.pings;
            self.order(index, &Order::Ping(number));
        }
    }

    fn ponged(&mut self, agent: usize, number: u64, agent_ns: u64) {
        let answered_ns = self.clock.now_ns();
        let agent = &mut self.all[agent];
        // A late answer to an earlier ping would make the round trip look short.
        if number != agent.pings {
            return;
        }
        let later = ClockEstimate::of(&[Exchange {
            asked_ns: agent.asked_ns,
            agent_ns,
            answered_ns,
        }]);
        if let Some(later) = later {
            // The first estimate stays the reference: it is the best of many exchanges, this one
            // shows the drift.
            agent.clock = agent.clock.until(&later);
        }
    }

    /// Closes all connections; agents then wait for the next coordinator.
    pub(super) fn close(&self) {
        for agent in &self.all {
            agent.writer.close();
        }
    }
}

/// Estimates an agent's clock by [`EXCHANGES`] exchanges.
fn exchange(
    reader: &mut Reader,
    writer: &mut Writer,
    clock: &LocalClock,
) -> Result<ClockEstimate, ChannelError> {
    let mut exchanges = Vec::new();
    for number in 1..=EXCHANGES {
        let asked_ns = clock.now_ns();
        writer.write(&Order::Ping(number))?;
        match reader.read::<FromAgent>()? {
            FromAgent::Pong(same, agent_ns) if same == number => exchanges.push(Exchange {
                asked_ns,
                agent_ns,
                answered_ns: clock.now_ns(),
            }),
            FromAgent::Failed(why) => return Err(ChannelError::Message(why)),
            _ => return Err(ChannelError::Message("it does not answer".to_owned())),
        }
    }
    ClockEstimate::of(&exchanges).ok_or_else(|| ChannelError::Message("no answer".to_owned()))
}

fn listen(agent: usize, mut reader: Reader, said: &Sender<(usize, Said)>) {
    loop {
        let (message, goes_on) = match reader.read() {
            Ok(message) => (Said::Message(message), true),
            Err(error) => (Said::Lost(error), false),
        };
        if said.send((agent, message)).is_err() || !goes_on {
            return;
        }
    }
}
