//! A discrete-event engine that advances time in windows.
//!
//! A node of the simulated network can affect another node only by sending it an item, and an item
//! takes at least the *lookahead* to arrive. So time is cut into windows no longer than the
//! lookahead. Within a window the nodes are independent: the engine visits each node with work
//! once, the node handles all its arrivals in order, and the items that it sends arrive in a later
//! window. There is no global event queue.
//!
//! ```text
//!    inbox of a node                  visit                       what it sends
//!   (one per bucket of time)                                ┌──▶ inbox of another node
//!   ──▶ ▢▢▢▢▢▢▢▢▢ ──▶ event list: by (time, input) ─────────────┤
//!                     departures, arrivals, timers          └──▶ outbox to another thread
//! ```
//!
//! The engine knows no packets and no switches. It moves items that have an arrival time
//! ([`Arrival`]) between nodes, calls [`Nodes::visit`] for every node with work in a window, and
//! stops at sync points (*edges* in the code), where every node stands at exactly the same instant
//! and one thread may read and change everything.
//!
//! Results depend only on what is simulated: a node's arrivals are ordered by (time, input), never
//! by the order in which threads or nodes happened to be served. A simulation gives the same
//! results on any number of threads, for any window length up to the lookahead, and with [central
//! windows](Windows::Central).

mod arrival;
mod balance;
mod calendar;
mod crew;
mod event_list;
mod home;
mod lane;
mod meeting;
mod pace;
mod parts;
mod prefetch;
mod ring;
mod stream;
mod windowed;

pub use arrival::Arrival;
pub use balance::Balance;
pub use event_list::EventList;
pub use home::{Home, LocalNode};
pub use lane::{Lane, LaneBuilder, LaneLayout, Nodes, Output, UnderWay, Visit};
pub use pace::{Clock, Pace};
pub use parts::{Control, Part, RunOutcome, Windows};
pub use prefetch::{prefetch, prefetch_at, values_per_line};
pub use ring::Ring;
pub use stream::{Draws, Stream, mix64};
pub use windowed::{act_at_edge, run_windowed};
