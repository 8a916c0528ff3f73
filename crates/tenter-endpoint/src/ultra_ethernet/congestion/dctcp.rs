//! Windows that rise by a packet in a round trip, and fall by a third of what is marked.
//!
//! Source: the Ultra Ethernet Consortium's reference simulator, where it stands beside NSCC. It
//! takes each mark by itself, unlike the DCTCP of RFC 8257, which goes by the share of marks.

use tenter_config::component;

use super::answer::Answer;
use super::link::Link;

component! {
    /// It has no keys.
    pub struct WindowDctcp;
}

/// The rules of all windows of a NIC.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    full: u64,
    first: u64,
    most: u64,
}

/// A window, in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Flow(u64);

impl Rules {
    pub(super) fn new(link: &Link) -> Rules {
        let first = link.first_window();
        Rules {
            full: link.full,
            first,
            most: first.max(link.max_window(link.round_trip)),
        }
    }

    pub(super) fn start(&self) -> Flow {
        Flow(self.first)
    }
}

impl Flow {
    pub(super) fn window(&self) -> u64 {
        self.0
    }

    pub(super) fn answered(&mut self, rules: &Rules, answer: &Answer) {
        if answer.marked {
            self.lost(rules, answer.news / 3);
        } else {
            self.0 = (self.0 + answer.news * rules.full / self.0).min(rules.most);
        }
    }

    pub(super) fn lost(&mut self, rules: &Rules, bytes: u64) {
        self.0 = self.0.saturating_sub(bytes).max(rules.full);
    }
}
