//! A DCTCP-like window, which grows by one packet per round trip and falls by a third of the marked
//! bytes.
//!
//! Source: the Ultra Ethernet Consortium's reference simulator, where it stands beside NSCC. Unlike
//! DCTCP (RFC 8257), which reacts to the share of marks, it reacts to each mark by itself.

use tenter_config::component;

use super::answer::Answer;
use super::link::Link;

component! {
    /// It has no keys.
    pub struct WindowDctcp;
}

/// Rules for all windows at a NIC, in wire bytes.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    full: u64,
    first: u64,
    most: u64,
}

/// One connection's window, in wire bytes.
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
            // Over a whole window of acknowledged bytes this adds up to one full packet.
            self.0 = (self.0 + answer.news * rules.full / self.0).min(rules.most);
        }
    }

    pub(super) fn lost(&mut self, rules: &Rules, bytes: u64) {
        self.0 = self.0.saturating_sub(bytes).max(rules.full);
    }
}
