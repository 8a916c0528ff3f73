//! A path's delays, besides the time that its slowest link takes for all frames.

use crate::plan::unloaded::{Link, frame_time};
use tenter_fabric::net::{ACK_FRAME_BYTES, WIRE_OVERHEAD_BYTES};
use tenter_language::units::{Rate, SerialisationTime, Time};

/// Links on a path and on the path back.
#[derive(Clone, Debug)]
pub(super) struct WayDelays {
    /// From the sending NIC to the receiving one.
    links: Vec<Link>,
    /// Serialisation time on each link.
    per_byte: Box<[SerialisationTime]>,
    /// Time that every message waits before it is sent.
    wait: Time,
    /// Time that an acknowledgement takes.
    pub(super) back: Time,
    /// For each link but the first, the time from when a full frame has been sent to its arrival at
    /// the link.
    until: Box<[Time]>,
}

/// Frames at both ends of a message, in frame bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndFrames {
    pub(super) first: u32,
    /// The frame before the last, if there is one.
    pub(super) before: Option<u32>,
    pub(super) last: u32,
}

impl WayDelays {
    pub(super) fn new(links: Vec<Link>, back: &[Link], full_frame_bytes: u32) -> WayDelays {
        let per_byte = links.iter().map(|link| link.rate.serialisation(0));
        let per_byte: Box<[SerialisationTime]> = per_byte.collect();
        WayDelays {
            until: until_links(&links, &per_byte, full_frame_bytes),
            per_byte,
            links,
            wait: Time::ZERO,
            back: frame_time(back, u32::from(ACK_FRAME_BYTES)),
        }
    }

    /// Returns the delays if every message first waits for `wait`.
    pub(super) fn after(self, wait: Time) -> WayDelays {
        WayDelays { wait, ..self }
    }

    /// Returns a message's time on an idle path besides the time that all its frames take on the
    /// slowest link: from posting until its first frame reaches that link, and from when its last
    /// frame has left that link until it arrives. A frame that arrives whole waits for the one
    /// before it, which may be longer.
    pub(super) fn rest(&self, frames: EndFrames) -> Time {
        let time = |place: usize, frame: u32| {
            let bytes = frame + WIRE_OVERHEAD_BYTES;
            self.per_byte[place].of(bytes, 0).0.ps()
        };
        let at = self.slowest();
        let (ahead, rest) = self.links.split_at(at);
        let Some((slowest, beyond)) = rest.split_first() else {
            return Time::ZERO;
        };
        let mut until = 0;
        for (place, link) in ahead.iter().enumerate() {
            until += link.latency.ps();
            if link.stores {
                until += time(place, frames.first);
            }
        }
        let own = time(at, frames.last);
        let longer = frames.before.unwrap_or(0);
        // `before` and `last` are the times of the last two frames, counted from the begin of the
        // last frame on the slowest link.
        let latency = slowest.latency.ps();
        let mut before = latency;
        let mut last = latency;
        if slowest.stores {
            last += own;
        } else {
            before = before.saturating_sub(time(at, longer));
        }
        for (place, link) in (at + 1..).zip(beyond) {
            let free = match frames.before {
                Some(longer) => before + time(place, longer),
                None => 0,
            };
            let start = last.max(free);
            let latency = link.latency.ps();
            before = if link.stores { free } else { before } + latency;
            last = start + latency;
            if link.stores {
                last += time(place, frames.last);
            }
        }
        self.wait + Time::from_ps((until + last).saturating_sub(own))
    }

    /// Returns the time from when a full frame has been sent to its arrival at the link in a stage
    /// behind the NIC, on an idle path.
    pub(super) fn until_stage(&self, stage: usize) -> Time {
        self.until.get(stage).copied().unwrap_or(Time::ZERO)
    }

    /// Returns the same time for the last link.
    pub(super) fn until_exit(&self) -> Time {
        self.until.last().copied().unwrap_or(Time::ZERO)
    }

    /// Returns the time from a frame's first bit to the end of its acknowledgement, on an idle
    /// path.
    pub(super) fn round_trip(&self, frame_bytes: u32) -> Time {
        self.wait + frame_time(&self.links, frame_bytes) + self.back
    }

    /// Returns the slowest link's rate.
    pub(super) fn slowest_rate(&self) -> Option<Rate> {
        self.links.iter().map(|link| link.rate).min()
    }

    /// Returns the slowest link's index, the first one if several are equal.
    fn slowest(&self) -> usize {
        let places = 0..self.links.len();
        places
            .min_by_key(|&place| self.links[place].rate)
            .unwrap_or(0)
    }
}

/// Returns for each link but the first the time from when a frame has been sent to its arrival
/// there.
fn until_links(links: &[Link], per_byte: &[SerialisationTime], frame_bytes: u32) -> Box<[Time]> {
    let mut at = Time::ZERO;
    let next = per_byte.iter().skip(1);
    let until = links.iter().zip(next).map(|(link, next)| {
        let comes = at + link.latency;
        let bytes = frame_bytes + WIRE_OVERHEAD_BYTES;
        // A switch that stores frames sends the end of this one after the whole frame. One that
        // cuts through has begun before.
        let sending = next.of(bytes, 0).0;
        at = if link.stores { comes + sending } else { comes };
        comes
    });
    until.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::unloaded::request_time;
    use tenter_endpoint::NicSpec;

    #[test]
    fn a_message_alone_takes_what_its_packets_take() {
        let link = |gbps, latency_ns, stores| Link {
            rate: Rate::from_gbps(gbps),
            latency: Time::from_ns(latency_ns),
            stores,
        };
        let nic = NicSpec::default();
        let ways = [
            vec![link(400, 100, false), link(400, 500, true)],
            vec![
                link(400, 100, true),
                link(400, 500, true),
                link(400, 20, true),
            ],
            vec![
                link(400, 100, true),
                link(100, 500, true),
                link(200, 20, true),
            ],
            vec![
                link(100, 100, true),
                link(400, 500, false),
                link(400, 20, true),
            ],
        ];
        for links in ways {
            let slowest = links.iter().map(|link| link.rate).min().expect("links");
            for bytes in [1, 4_096, 100_000, 131_072] {
                let cut = nic.cut();
                let packets = cut.packets(bytes);
                let last = cut.frame_bytes(bytes, packets - 1, packets) as u32;
                let first = cut.frame_bytes(bytes, 0, 1) as u32;
                let wire = cut.request_frame_bytes(bytes, packets) + 20 * packets;
                let sending = slowest.time_of_bits(u128::from(wire) * 8);
                let delays = WayDelays::new(links.clone(), &links, 4_000);
                let before =
                    (packets > 1).then(|| cut.frame_bytes(bytes, packets - 2, packets - 1) as u32);
                let frames = EndFrames {
                    first,
                    before,
                    last,
                };
                let found = sending + delays.rest(frames);
                let expected = request_time(&nic, &links, 1, bytes);
                let off = found.ps().abs_diff(expected.ps());
                // The first frame of a message is 16 bytes longer than others.
                assert!(off <= 16 * 80, "{bytes} bytes take {found}, not {expected}");
            }
        }
    }
}
