//! The `faults` section: links, switches and NICs that fail, with times.

use std::ops::RangeInclusive;

use tenter_engine::Stream;
use tenter_fabric::topology::Topology;
use tenter_language::config::{Idle, Reader, choice, component, default_of, told_apart};
use tenter_language::notation::diagnostics::{Path, Problems};
use tenter_language::units::{Rate, Time};
use tenter_sim::plan::{Fault, FaultEvent, FaultPlan, SIMULATED_MAX};

use crate::resolve::links::{Cable, LinkName, find_host, find_switch};

component! {
    /// Parts that break and are mended, and when.
    pub struct Faults as "`faults`", derive(Clone, Debug, PartialEq) {
        /// Time from a link's failure or repair until routing knows; until then frames for a link
        /// that is down are lost.
        convergence: Time = "50ms", in TIMES, from "what fast reroute is designed for (Fast Convergence, VPP documentation); BGP without it takes up to seconds";
        /// The faults; each names a `link`, a `switch`, a `nic` or `random` ones.
        events: Vec<Event> = "[]";
    }
}

/// No faults, and the default convergence time.
impl Default for Faults {
    fn default() -> Faults {
        default_of()
    }
}

told_apart! {
    /// One fault: the part that breaks, and when.
    pub enum Event as derive(Clone, Debug, PartialEq) {
        "does not say what one thing breaks", "give it one of `link`, `switch`, `nic` and `random`";
        /// A link goes down.
        "link" => Link(LinkDown), with "rate" => SlowLink(SlowLink);
        /// All links of a switch go down.
        "switch" => Switch(SwitchDown), with "rate" => SlowSwitch(SlowSwitch);
        /// A NIC pauses its leaf.
        "nic" => Nic(PauseStorm);
        /// Links go down by chance.
        "random" => Random(Random);
    }
}

component! {
    /// A link that goes down.
    pub struct LinkDown as "`faults.events[]` with `link`", derive(Clone, Debug, PartialEq) {
        /// The link between two nodes that goes down: `leaf0-spine1`.
        link: String, in WORD_MAX;
        /// Which of several parallel cables.
        cable: Cable = "all", in 0..=65_535;
        ..course: Course, "When.";
    }
}

component! {
    /// A link that is degraded.
    pub struct SlowLink as "`faults.events[]` with `link` and `rate`", derive(Clone, Debug, PartialEq) {
        /// The link between two nodes that is degraded: `leaf0-spine1`.
        link: String, in WORD_MAX;
        /// Which of several parallel cables.
        cable: Cable = "all", in 0..=65_535;
        ..degraded: Degraded, "How much, and when.";
    }
}

component! {
    /// A switch all of whose links are degraded.
    pub struct SlowSwitch as "`faults.events[]` with `switch` and `rate`", derive(Clone, Debug, PartialEq) {
        /// A switch: all its links are degraded, but those whose cables are slower.
        switch: String, in WORD_MAX;
        ..degraded: Degraded, "How much, and when.";
    }
}

component! {
    /// A reduced rate, and when it applies.
    pub struct Degraded, derive(Clone, Debug, PartialEq) {
        /// The rate it is degraded to.
        rate: Rate, in RATES;
        /// Instant from which the rate is reduced.
        at: Time, in TIMES;
        /// When the rate is again what it was.
        until: Option<Time> = "none", in TIMES;
        check ends_after_it_begins;
    }
}

component! {
    /// A switch that goes down.
    pub struct SwitchDown as "`faults.events[]` with `switch`", derive(Clone, Debug, PartialEq) {
        /// A switch: all its links go down, and what it holds is lost.
        switch: String, in WORD_MAX;
        ..course: Course, "When.";
    }
}

component! {
    /// Instants at which a part is down.
    pub struct Course, derive(Clone, Debug, PartialEq) {
        idle beside_flap;
        /// When it goes down for the first time.
        down: Time, in TIMES;
        /// When it comes up again.
        up: Option<Time> = "none", in TIMES;
        /// Repetition in place of `up`: it goes down again and again.
        flap: Option<Flap> = absent "it goes down once";
        check comes_up_later;
    }
}

component! {
    /// Going down again and again.
    pub struct Flap as "`faults.events[].flap`", derive(Clone, Debug, PartialEq) {
        /// From one time it goes down to the next.
        period: Time, in LENGTHS;
        /// Time for which it is down each time; shorter than `period`.
        down_time: Time, in LENGTHS;
        /// How often it goes down.
        count: u64, in 1..=COUNT_MAX;
        check is_up_between;
    }
}

component! {
    /// A NIC that pauses its leaf.
    pub struct PauseStorm as "`faults.events[]` with `nic`", derive(Clone, Debug, PartialEq) {
        /// A host whose NIC has a pause storm.
        nic: String, in WORD_MAX;
        /// When the storm starts: the NIC pauses all lossless classes again and again.
        begin as "pause_storm": Time, in TIMES;
        /// Instant at which the storm ends.
        until: Time, in TIMES;
        check stops_after_it_begins;
    }
}

component! {
    /// Links that go down by chance.
    pub struct Random as "`faults.events[]` with `random`", derive(Clone, Debug, PartialEq) {
        /// Links and times drawn by chance, from a stream of their own: of all links, those between
        /// switches, or those of hosts.
        links as "random": Which;
        /// Number of times that a link goes down.
        count: u64, in 1..=COUNT_MAX;
        /// The first instant at which a link may go down.
        from: Time = "0us", in TIMES;
        /// The last instant at which a link may go down.
        to: Time, in TIMES;
        /// Time for which it is down; `none` is for ever.
        down_time: Option<Time>, in LENGTHS;
        check to_is_not_before_from;
    }
}

/// Links from which a random fault draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All links in the fabric.
    All,
    /// Links from switch to switch.
    Fabric,
    /// Links between hosts and leaves.
    Hosts,
}

choice!(Which { "links" => All, "fabric-links" => Fabric, "host-links" => Hosts });

const TIMES: RangeInclusive<Time> = Time::ZERO..=SIMULATED_MAX;
const LENGTHS: RangeInclusive<Time> = Time::from_ns(1)..=SIMULATED_MAX;
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);
/// Longest name of a link or node, in characters.
const WORD_MAX: usize = 200;
/// Limit for how often one entry may bring a link down.
const COUNT_MAX: u64 = 100_000;
/// Event limit of a scenario: when a switch with many ports flaps, each cable is an event.
const EVENTS_MAX: usize = 1 << 22;

fn ends_after_it_begins(own: &Degraded, reader: &mut dyn Reader) -> bool {
    is_later(reader, "until", own.until, "at", own.at)
}

fn stops_after_it_begins(own: &PauseStorm, reader: &mut dyn Reader) -> bool {
    is_later(reader, "until", Some(own.until), "pause_storm", own.begin)
}

fn comes_up_later(own: &Course, reader: &mut dyn Reader) -> bool {
    own.flap.is_some() || is_later(reader, "up", own.up, "down", own.down)
}

/// Rules out `up` beside `flap`, whose `down_time` says when the link comes up.
fn beside_flap(own: &Course) -> Vec<Idle> {
    let keys: &[&str] = if own.flap.is_some() { &["up"] } else { &[] };
    Idle::all(keys, "and `flap` exclude each other", "keep one of them")
}

fn is_later(
    reader: &mut dyn Reader,
    key: &str,
    end: Option<Time>,
    first: &str,
    begin: Time,
) -> bool {
    let holds = end.is_none_or(|end| end > begin);
    if !holds {
        let what = format!("is no later than `{first}`");
        reader.refuse(key, &what, &format!("give more than {begin}"));
    }
    holds
}

fn is_up_between(own: &Flap, reader: &mut dyn Reader) -> bool {
    let holds = own.down_time < own.period;
    if !holds {
        let help = format!("give less than {}", own.period);
        reader.refuse("down_time", "is no shorter than `period`", &help);
    }
    holds
}

fn to_is_not_before_from(own: &Random, reader: &mut dyn Reader) -> bool {
    let holds = own.to >= own.from;
    if !holds {
        let help = format!("give {} or more", own.from);
        reader.refuse("to", "is before `from`", &help);
    }
    holds
}

impl Faults {
    /// Turns the faults into events on cable and host numbers, in time order.
    pub(crate) fn bind(
        &self,
        topology: &Topology,
        seed: u64,
        problems: &Problems,
    ) -> Option<FaultPlan> {
        let list = Path::new(problems, "faults.events");
        let mut events = Vec::new();
        let mut complete = true;
        for (index, event) in self.events.iter().enumerate() {
            // Entries have random streams of their own: a change to one moves no other's draws.
            let draw = || Stream::new(seed, &format!("faults.events[{index}]"), "random");
            let path = list.item(index);
            complete &= event.bind(topology, &path, draw, &mut events).is_some();
            if events.len() > EVENTS_MAX {
                let help = "let fewer links flap less often";
                list.problem("are more than 4194304 single events", help);
                return None;
            }
        }
        // The sort is stable: events at one instant stay in the order of the list.
        events.sort_by_key(|event| event.at);
        complete.then_some(FaultPlan {
            events,
            convergence: self.convergence,
        })
    }
}

impl Event {
    fn bind(
        &self,
        topology: &Topology,
        path: &Path<'_>,
        draw: impl FnOnce() -> Stream,
        events: &mut Vec<FaultEvent>,
    ) -> Option<()> {
        match self {
            Event::Link(of) => {
                let cables = LinkName::new(&of.link, of.cable, path).cables(topology)?;
                of.course.push(events, &cables);
            }
            Event::Switch(of) => {
                let cables = cables_of_switch(&of.switch, topology, &path.key("switch"))?;
                of.course.push(events, &cables);
            }
            Event::SlowLink(slow) => slow.push(events, topology, path)?,
            Event::SlowSwitch(slow) => {
                let mut cables = cables_of_switch(&slow.switch, topology, &path.key("switch"))?;
                // Cables that are slower already keep their rate.
                cables.retain(|&cable| slow.degraded.rate < topology.cables[cable as usize].rate);
                if cables.is_empty() {
                    let what = "is no slower than any link of the switch";
                    path.key("rate").problem(what, "choose a lower `rate`");
                    return None;
                }
                slow.degraded.push(events, topology, &cables);
            }
            Event::Random(random) => random.push(events, topology, &mut draw()),
            Event::Nic(storm) => {
                let host = find_host(&storm.nic, &path.key("nic"), topology)?;
                push(events, storm.begin, Fault::StormBegins(host));
                push(events, storm.until, Fault::StormEnds(host));
            }
        }
        Some(())
    }
}

fn cables_of_switch(name: &str, topology: &Topology, path: &Path<'_>) -> Option<Vec<u32>> {
    let switch = find_switch(name, path, topology)?;
    let ports = 0..topology.ports(switch);
    let cables = ports.map(|port| topology.cable_number(switch, port));
    let cables: Vec<u32> = cables.collect();
    if cables.iter().any(|&cable| topology.is_fibre(cable)) {
        let what = "has fibres to optical switches, and faults are modelled of other links";
        path.problem(what, "name a switch without any, or links one by one");
        return None;
    }
    Some(cables)
}

impl Course {
    fn push(&self, events: &mut Vec<FaultEvent>, cables: &[u32]) {
        let Some(flap) = &self.flap else {
            go_down(events, cables, self.down, self.up);
            return;
        };
        for nth in 0..flap.count {
            // The list is refused, so nothing more is counted.
            if events.len() > EVENTS_MAX {
                return;
            }
            let after = flap.period.ps().saturating_mul(nth);
            let down = self.down.ps().saturating_add(after);
            let up = Time::from_ps(down.saturating_add(flap.down_time.ps()));
            go_down(events, cables, Time::from_ps(down), Some(up));
        }
    }
}

impl SlowLink {
    fn push(
        &self,
        events: &mut Vec<FaultEvent>,
        topology: &Topology,
        path: &Path<'_>,
    ) -> Option<()> {
        let cables = LinkName::new(&self.link, self.cable, path).cables(topology)?;
        let rates = cables
            .iter()
            .map(|&cable| topology.cables[cable as usize].rate);
        let slowest = rates.min()?;
        if self.degraded.rate > slowest {
            let help = format!("choose a `rate` of at most `{slowest}`");
            path.key("link")
                .problem("cannot become faster than its cable", help);
            return None;
        }
        self.degraded.push(events, topology, &cables);
        Some(())
    }
}

impl Degraded {
    fn push(&self, events: &mut Vec<FaultEvent>, topology: &Topology, cables: &[u32]) {
        for &cable in cables {
            push(events, self.at, Fault::LinkRate(cable, self.rate));
            if let Some(until) = self.until {
                // Degradations that overlap end together: the first `until` restores the full rate.
                let full = topology.cables[cable as usize].rate;
                push(events, until, Fault::LinkRate(cable, full));
            }
        }
    }
}

impl Random {
    fn push(&self, events: &mut Vec<FaultEvent>, topology: &Topology, stream: &mut Stream) {
        let fits = |is_host: bool| match self.links {
            Which::All => true,
            Which::Fabric => !is_host,
            Which::Hosts => is_host,
        };
        let cables = (0..).zip(&topology.cables);
        let cables = cables.filter(|&(number, cable)| {
            // End 0 is at the lower node number, and hosts come first. Fibres carry circuits, which
            // change.
            fits(topology.is_host(cable.ends[0].node)) && !topology.is_fibre(number)
        });
        let cables: Vec<u32> = cables.map(|(number, _)| number).collect();
        if cables.is_empty() {
            return;
        }
        for _ in 0..self.count {
            let cable = cables[stream.below(cables.len() as u64) as usize];
            let at = self.from.ps() + stream.below(self.to.ps() - self.from.ps() + 1);
            let up = |lasts: Time| Time::from_ps(at.saturating_add(lasts.ps()));
            go_down(events, &[cable], Time::from_ps(at), self.down_time.map(up));
        }
    }
}

fn go_down(events: &mut Vec<FaultEvent>, cables: &[u32], down: Time, up: Option<Time>) {
    for &cable in cables {
        push(events, down, Fault::LinkDown(cable));
    }
    if let Some(up) = up {
        for &cable in cables {
            push(events, up, Fault::LinkUp(cable));
        }
    }
}

fn push(events: &mut Vec<FaultEvent>, at: Time, fault: Fault) {
    // An event after the longest simulation never happens; without it the plan is shorter. One more
    // than the limit is enough for a refusal.
    if at <= SIMULATED_MAX && events.len() <= EVENTS_MAX {
        events.push(FaultEvent { at, fault });
    }
}
