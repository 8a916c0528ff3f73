//! Congestion control for Ultra Ethernet: how senders slow down. There is one file per member;
//! [`UetControl`] lists them.
//!
//! A sender has a window, credit from its receiver, or both, and data leaves only if each allows
//! it. [`nscc`] and its relatives compute windows; [`credit`] states what receivers grant.

use tenter_config::variants;
use tenter_units::Time;

mod answer;
mod both;
pub mod constant;
pub mod credit;
pub mod dctcp;
mod delay;
pub mod eqds;
mod link;
pub mod ndp;
pub mod nscc;
pub mod smartt;

pub use both::NsccWithCredit;
pub use constant::ConstantWindow;
pub use credit::Rccc;
pub use dctcp::WindowDctcp;
pub use eqds::Eqds;
pub use ndp::Ndp;
pub use nscc::Nscc;
pub use smartt::Smartt;

pub(crate) use answer::{Answer, Trim};
pub(crate) use link::Link;

use credit::CreditRules;

variants! {
    /// The congestion control of all connections of a trial.
    pub enum UetControl as "`endpoint.nic.transport.congestion_control`, written as a mapping",
    derive(Clone, Copy, Debug, PartialEq, Eq),
    or word of "`endpoint.nic.transport.congestion_control`" {
        /// Which congestion control; the other keys belong to it.
        kind;
        /// Windows of senders follow delays and marks: network signal based congestion control.
        "nscc" => Nscc(Nscc),
        /// Receivers grant credit: receiver credit congestion control.
        "rccc" => Rccc(Rccc),
        /// Both: data need a window and credit.
        "nscc+rccc" => NsccWithCredit(NsccWithCredit),
        /// Windows fall with marks and rise without.
        "dctcp" => Dctcp(WindowDctcp),
        /// Windows that never change.
        "constant" => Constant(ConstantWindow),
        /// Receivers pull packet by packet, from the first small window on.
        "ndp" => Ndp(Ndp),
        /// Receivers grant credit packet by packet.
        "eqds" => Eqds(Eqds),
        /// Windows follow the round-trip time and marks, acknowledgement by acknowledgement.
        "smartt" => Smartt(Smartt),
    }
}

/// Rules for all windows at a NIC.
#[derive(Clone, Debug)]
pub(crate) enum WindowRules {
    Nscc(nscc::Rules),
    Dctcp(dctcp::Rules),
    Constant(u64),
    Smartt(smartt::Rules),
}

/// One connection's window, by member.
#[derive(Clone, Debug)]
pub(crate) enum Window {
    Nscc(nscc::Flow),
    Dctcp(dctcp::Flow),
    Constant(u64),
    Smartt(smartt::Flow),
}

impl UetControl {
    /// Returns the rules for windows, if senders have any.
    pub(crate) fn window_rules(&self, link: &Link) -> Option<WindowRules> {
        Some(match self {
            UetControl::Nscc(own) => WindowRules::Nscc(nscc::Rules::new(own, link, false)),
            UetControl::NsccWithCredit(own) => {
                WindowRules::Nscc(nscc::Rules::new(&own.windows, link, true))
            }
            UetControl::Dctcp(_) => WindowRules::Dctcp(dctcp::Rules::new(link)),
            UetControl::Constant(_) => WindowRules::Constant(link.first_window()),
            UetControl::Smartt(own) => WindowRules::Smartt(smartt::Rules::new(*own, link)),
            UetControl::Rccc(_) | UetControl::Ndp(_) | UetControl::Eqds(_) => return None,
        })
    }

    /// Returns the rules for credit, if receivers grant any.
    pub(crate) fn credit_rules(&self, link: &Link) -> Option<CreditRules> {
        Some(match self {
            UetControl::Rccc(own) => own.rules(link, false),
            UetControl::NsccWithCredit(own) => own.credit.rules(link, true),
            UetControl::Ndp(own) => own.rules(link),
            UetControl::Eqds(own) => own.rules(link),
            UetControl::Nscc(_)
            | UetControl::Dctcp(_)
            | UetControl::Constant(_)
            | UetControl::Smartt(_) => return None,
        })
    }
}

impl WindowRules {
    /// Creates the window for a new connection.
    pub(crate) fn start(&self) -> Window {
        match self {
            WindowRules::Nscc(rules) => Window::Nscc(rules.start()),
            WindowRules::Dctcp(rules) => Window::Dctcp(rules.start()),
            WindowRules::Constant(bytes) => Window::Constant(*bytes),
            WindowRules::Smartt(rules) => Window::Smartt(rules.start()),
        }
    }
}

impl Window {
    /// Returns the wire bytes that may be in flight.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Window::Nscc(flow) => flow.window(),
            Window::Dctcp(flow) => flow.window(),
            Window::Constant(bytes) => *bytes,
            Window::Smartt(flow) => flow.window(),
        }
    }

    /// Handles an acknowledgement for the connection.
    pub(crate) fn answered(&mut self, rules: &WindowRules, answer: &Answer) {
        match (self, rules) {
            (Window::Nscc(flow), WindowRules::Nscc(rules)) => flow.answered(rules, answer),
            (Window::Dctcp(flow), WindowRules::Dctcp(rules)) => flow.answered(rules, answer),
            (Window::Smartt(flow), WindowRules::Smartt(rules)) => flow.answered(rules, answer),
            // Constant windows ignore all events; a window and the rules of another kind never
            // meet.
            _ => {}
        }
    }

    /// Handles the report that a packet was trimmed.
    pub(crate) fn trimmed(&mut self, rules: &WindowRules, trim: &Trim) {
        match (self, rules) {
            (Window::Nscc(flow), WindowRules::Nscc(rules)) => flow.trimmed(rules, trim),
            (Window::Dctcp(flow), WindowRules::Dctcp(rules)) => flow.lost(rules, trim.bytes),
            (Window::Smartt(flow), WindowRules::Smartt(rules)) => flow.trimmed(rules, trim),
            _ => {}
        }
    }

    /// Handles a timeout for a packet with `bytes` wire bytes.
    pub(crate) fn timed_out(&mut self, rules: &WindowRules, bytes: u64) {
        match (self, rules) {
            (Window::Nscc(flow), WindowRules::Nscc(rules)) => flow.timed_out(rules, bytes),
            (Window::Dctcp(flow), WindowRules::Dctcp(rules)) => flow.lost(rules, bytes),
            (Window::Smartt(flow), WindowRules::Smartt(rules)) => flow.timed_out(rules, bytes),
            _ => {}
        }
    }

    /// Returns the round trip without load and the target for the queueing delay, if the member has
    /// both.
    pub(crate) fn delays(&self, rules: &WindowRules) -> Option<(Time, Time)> {
        match (self, rules) {
            (Window::Nscc(flow), WindowRules::Nscc(rules)) => Some(flow.delays(rules)),
            (Window::Smartt(flow), WindowRules::Smartt(rules)) => Some(flow.delays(rules)),
            _ => None,
        }
    }
}
