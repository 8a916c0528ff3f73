//! A DCTCP-like window, which grows by one packet per round trip and falls by a third of the marked
//! bytes.
//!
//! Source: the Ultra Ethernet Consortium's reference simulator, where it stands beside NSCC. Unlike
//! DCTCP (RFC 8257), which reacts to the share of marks, it reacts to each mark by itself.

use tenter_language::config::component;
use tenter_language::units::{Instant, Time};

use super::{Answers, Control, Feedback, Link, Trim, Window};
use crate::notification::{LimitedBy, NotificationSpec};

component! {
    /// It has no keys.
    pub struct Dctcp;
}

/// One connection's window, in wire bytes.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    window: u64,
    most: u64,
    /// Growth that is less than a byte so far, as the numerator over `window`.
    rest: u64,
}

impl Flow {
    fn fall(&mut self, link: &Link, bytes: u64) {
        self.window = self.window.saturating_sub(bytes).max(link.full);
    }
}

impl Control for Dctcp {
    type Flow = Flow;
    const FROM_START: bool = true;

    /// Windows fall to one packet.
    fn answers(&self) -> Answers {
        Answers::BeforeOnePacketWaits
    }

    /// Each acknowledgement says whether the packet that it answers was marked.
    fn notification(&self) -> Option<NotificationSpec> {
        Some(NotificationSpec {
            interval: Time::ZERO,
            limited_by: LimitedBy::QueuePair,
            in_acknowledgements: true,
            class: 0,
        })
    }

    fn uses_round_trip(&self) -> bool {
        true
    }

    fn start(&self, link: &Link, _: Instant) -> Flow {
        let window = link.first_window();
        Flow {
            window,
            most: window.max(link.max_window(link.round_trip)),
            rest: 0,
        }
    }

    fn window(&self, flow: &Flow, _: &Link) -> Window {
        Window::Bytes(flow.window)
    }

    fn acknowledged(&self, flow: &mut Flow, link: &Link, feedback: &Feedback<'_>) {
        if feedback.marked {
            flow.fall(link, feedback.news / 3);
        } else {
            // Over a whole window of acknowledged bytes this adds up to one full packet.
            let growth = feedback.news * link.full + flow.rest;
            flow.rest = growth % flow.window;
            flow.window = (flow.window + growth / flow.window).min(flow.most);
        }
    }

    fn lost(&self, flow: &mut Flow, link: &Link, _: Instant) {
        flow.fall(link, link.full);
    }

    fn trimmed(&self, flow: &mut Flow, link: &Link, trim: &Trim) {
        flow.fall(link, trim.bytes);
    }

    fn timed_out(&self, flow: &mut Flow, link: &Link, bytes: u64) {
        flow.fall(link, bytes);
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::{Instant, Rate, Time};

    use super::{Control, Dctcp, Feedback, Flow, Link};

    /// 100 Gb/s and 12 us: windows of up to 225,000 bytes, with packets of 4,150 bytes.
    fn start() -> (Link, Flow) {
        let link = Link {
            initial_window: Some(41_500),
            ..Link::new(Rate::from_gbps(100), Time::from_us(12), 4_086, 4_150)
        };
        let flow = Dctcp.start(&link, Instant::START);
        (link, flow)
    }

    fn answer(news: u64, marked: bool) -> Feedback<'static> {
        Feedback {
            marked,
            news,
            ..Feedback::default()
        }
    }

    #[test]
    fn windows_grow_by_a_packet_per_window_however_small_the_packets() {
        let (link, mut flow) = start();
        for _ in 0..10 {
            Dctcp.acknowledged(&mut flow, &link, &answer(4_150, false));
        }
        // The window grows meanwhile, so ten packets are slightly less than one.
        assert!((45_400..45_650).contains(&flow.window), "{}", flow.window);
        let (_, mut flow) = start();
        // Each of these adds a tenth of a byte per byte, and none is lost to rounding.
        for _ in 0..41_500 {
            Dctcp.acknowledged(&mut flow, &link, &answer(1, false));
        }
        assert!((45_400..45_650).contains(&flow.window), "{}", flow.window);
        for _ in 0..100_000 {
            Dctcp.acknowledged(&mut flow, &link, &answer(4_150, false));
        }
        assert_eq!(flow.window, 225_000);
    }

    #[test]
    fn windows_fall_by_a_third_of_what_is_marked_and_by_all_that_is_lost() {
        let (link, mut flow) = start();
        Dctcp.acknowledged(&mut flow, &link, &answer(4_150, true));
        assert_eq!(flow.window, 41_500 - 1_383);
        Dctcp.lost(&mut flow, &link, Instant::START);
        assert_eq!(flow.window, 41_500 - 1_383 - 4_150);
        Dctcp.timed_out(&mut flow, &link, 100_000);
        assert_eq!(flow.window, 4_150);
    }
}
