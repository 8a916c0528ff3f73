//! NSCC and RCCC together: data needs both a window and credit.

use tenter_language::config::component;
use tenter_language::units::{Instant, Time};

use super::credit::CreditRules;
use super::nscc::{Flow, Nscc};
use super::rccc::Rccc;
use super::{Control, Feedback, Link, Trim, Window};

component! {
    /// The parameters of windows and of credit.
    pub struct NsccWithCredit {
        ..windows: Nscc, "The keys of windows.";
        ..credit: Rccc, "The keys of receiver credit.";
    }
}

impl Control for NsccWithCredit {
    type Flow = Flow;
    const FROM_START: bool = true;

    fn credit(&self, link: &Link) -> Option<CreditRules> {
        Some(self.credit.rules(link, true))
    }

    fn on_link(self, link: &Link) -> NsccWithCredit {
        let windows = self.windows.on_link(link);
        NsccWithCredit { windows, ..self }
    }

    fn start(&self, link: &Link, now: Instant) -> Flow {
        self.windows.start(link, now)
    }

    fn window(&self, flow: &Flow, link: &Link) -> Window {
        self.windows.window(flow, link)
    }

    fn delays(&self, flow: &Flow, link: &Link) -> Option<(Time, Time)> {
        self.windows.delays(flow, link)
    }

    fn acknowledged(&self, flow: &mut Flow, link: &Link, feedback: &Feedback<'_>) {
        self.windows.acknowledged(flow, link, feedback);
    }

    fn trimmed(&self, flow: &mut Flow, link: &Link, trim: &Trim) {
        flow.trimmed(self.windows.rules(link, true), trim);
    }

    fn timed_out(&self, flow: &mut Flow, link: &Link, bytes: u64) {
        self.windows.timed_out(flow, link, bytes);
    }
}
