//! The `faults` section: what breaks and is mended, and when.

use tenter_engine::Stream;
use tenter_topology::Topology;
use tenter_units::{Rate, Time};

use crate::links::{Cable, LinkName, find_host, find_switch};
use tenter_config::Presence::{Default, Depends, Required};
use tenter_config::{KeyTable, Value, key};
use tenter_notation::decode::{Field, Read, Section};
use tenter_notation::diagnostics::Path;
use tenter_plan::{Fault, FaultEvent, FaultPlan, SIMULATED_MAX};

const FAULTS: KeyTable = KeyTable {
    title: "`faults`",
    keys: &[
        key(
            "convergence",
            "time",
            Default("50ms"),
            "How long after a link has gone down or come up routing knows; until then frames for a link that is down are lost",
        )
        .from("what fast reroute is designed for (Fast Convergence, VPP documentation); BGP without it takes up to seconds"),
        key(
            "events",
            "list",
            Default("[]"),
            "What breaks; each names a `link`, a `switch`, a `nic` or `random` ones",
        ),
    ],
};

const EVENT: KeyTable = KeyTable {
    title: "`faults.events[]`",
    keys: &[
        key(
            "link",
            "text",
            Depends("one of the four"),
            "The link between two nodes: `leaf0-spine1`",
        ),
        key(
            "switch",
            "text",
            Depends("one of the four"),
            "A switch: all its links go down, and what it holds is lost",
        ),
        key(
            "nic",
            "text",
            Depends("one of the four"),
            "A host whose NIC pauses its leaf whatever it receives",
        ),
        key(
            "random",
            "`links`, `fabric-links` or `host-links`",
            Depends("one of the four"),
            "Links and times drawn by chance, from a stream of their own: of all links, those between switches, or those of hosts",
        ),
    ],
};

const LINK: KeyTable = KeyTable {
    title: "`faults.events[]` with `link`",
    keys: &[
        key(
            "cable",
            "number, or `all`",
            Default("all"),
            "Which of several parallel cables",
        ),
        key(
            "rate",
            "rate",
            Depends("the line rate"),
            "The rate it is degraded to",
        ),
        key("at", "time", Depends("with `rate`"), "When it is degraded"),
        key(
            "until",
            "time or `none`",
            Default("none"),
            "When the rate is again what it was",
        ),
    ],
};

const DOWN: KeyTable = KeyTable {
    title: "`faults.events[]` with `link` or `switch`, that go down",
    keys: &[
        key(
            "down",
            "time",
            Required,
            "When it goes down for the first time",
        ),
        key(
            "up",
            "time or `none`",
            Default("none"),
            "When it comes up again",
        ),
        key(
            "flap",
            "mapping",
            Depends("it goes down once"),
            "That it goes down again and again; in place of `up`",
        ),
    ],
};

const FLAP: KeyTable = KeyTable {
    title: "`faults.events[].flap`",
    keys: &[
        key(
            "period",
            "time",
            Required,
            "From one time it goes down to the next",
        ),
        key(
            "down_time",
            "time",
            Required,
            "How long it is down each time; shorter than `period`",
        ),
        key("count", "1 to 100000", Required, "How often it goes down"),
    ],
};

const STORM: KeyTable = KeyTable {
    title: "`faults.events[]` with `nic`",
    keys: &[
        key(
            "pause_storm",
            "time",
            Required,
            "When it begins to pause all lossless classes, again and again",
        ),
        key("until", "time", Required, "When it stops doing so"),
    ],
};

const RANDOM: KeyTable = KeyTable {
    title: "`faults.events[]` with `random`",
    keys: &[
        key(
            "count",
            "1 to 100000",
            Required,
            "How many times a link goes down",
        ),
        key(
            "from",
            "time",
            Default("0us"),
            "The first instant at which one may",
        ),
        key("to", "time", Required, "The last instant"),
        key(
            "down_time",
            "time or `none`",
            Required,
            "How long it is down; `none` is for ever",
        ),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 7] = [&FAULTS, &EVENT, &LINK, &DOWN, &FLAP, &STORM, &RANDOM];

/// Events of a scenario: a flap of a wide switch has many.
const EVENTS_MAX: usize = 1 << 22;

/// The section, read; names are looked up when the fabric is known.
pub(crate) struct FaultDraft<'p> {
    convergence: Time,
    events: Vec<EventDraft<'p>>,
    field: Field<'p>,
}

/// What an event is about.
enum Target<'p> {
    Link(LinkName<'p>),
    Switch(Field<'p>),
    Nic(Field<'p>),
    Random(Which),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    Fabric,
    Hosts,
}

/// What happens to it.
enum Course {
    /// From each first instant to each second.
    Down(Vec<(Time, Option<Time>)>),
    Rate(Rate, Time, Option<Time>),
    Storm(Time, Time),
    Random {
        count: u64,
        from: Time,
        to: Time,
        down_time: Option<Time>,
    },
}

struct EventDraft<'p> {
    target: Target<'p>,
    course: Course,
}

/// Reads `faults`.
pub(crate) fn read<'p>(scenario: &mut Section<'p>) -> Read<FaultDraft<'p>> {
    let mut section = scenario.section("faults", &FAULTS)?;
    let convergence = section.time("convergence", Time::ZERO..=SIMULATED_MAX);
    let field = section.take("events");
    let events = field.as_ref().and_then(|field| {
        let (events, node) = field.each(|_, item| {
            let mut section = item.section(&EVENT);
            let event = read_event(&mut section);
            (event, section.finish())
        });
        section.put("events", node);
        events
    });
    scenario.put("faults", section.finish());
    Some(FaultDraft {
        convergence: convergence?,
        events: events?,
        field: field?,
    })
}

fn times() -> std::ops::RangeInclusive<Time> {
    Time::ZERO..=SIMULATED_MAX
}

fn read_event<'p>(section: &mut Section<'p>) -> Option<EventDraft<'p>> {
    let names = ["link", "switch", "nic", "random"];
    let given: Vec<&str> = names.into_iter().filter(|name| section.has(name)).collect();
    let [name] = given.as_slice() else {
        let help = "give it one of `link`, `switch`, `nic` and `random`".to_owned();
        section.problem("does not say what one thing breaks", help);
        for table in [&EVENT, &LINK, &DOWN, &STORM, &RANDOM] {
            section.skip(table);
        }
        return None;
    };
    let field = section.take(name)?;
    match *name {
        "link" => {
            section.extend(&LINK);
            let cable = Cable::read(section, "cable", 0..=65_535)?;
            let mapping = Path::new(section.problems(), section.path());
            let target = LinkName::new(field.word().unwrap_or_default(), cable, &mapping);
            let course = read_link(section);
            Some(EventDraft {
                target: Target::Link(target),
                course: course?,
            })
        }
        "switch" => Some(EventDraft {
            target: Target::Switch(field),
            course: read_down(section)?,
        }),
        "nic" => {
            section.extend(&STORM);
            let from = section.time("pause_storm", times());
            let until = section.take("until")?;
            let to = until.quantity("a time", &times())?;
            if to <= from? {
                until.problem("is no later than `pause_storm`", None);
                return None;
            }
            Some(EventDraft {
                target: Target::Nic(field),
                course: Course::Storm(from?, to),
            })
        }
        _ => read_random(section, &field),
    }
}

fn read_link(section: &mut Section<'_>) -> Option<Course> {
    if !section.has("rate") {
        section.drop_key("until");
        return read_down(section);
    }
    let rates = Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);
    let rate = section.take("rate")?.quantity("a rate", &rates);
    let Some(at) = section.take("at") else {
        section.problem(
            "lacks `at`",
            "say when the link is degraded: `at: 100us`".to_owned(),
        );
        return None;
    };
    let at = at.quantity("a time", &times());
    let until = section.take("until")?;
    let end = until.or_none(|field| field.quantity("a time", &times()));
    let (at, end) = (at?, end?);
    if end.is_some_and(|end| end <= at) {
        until.problem("is no later than `at`", None);
        return None;
    }
    Some(Course::Rate(rate?, at, end))
}

/// When a link or switch is down.
fn read_down(section: &mut Section<'_>) -> Option<Course> {
    section.extend(&DOWN);
    let first = section.time("down", times());
    let both = section.has("up") && section.has("flap");
    let up = section.take("up")?;
    let end = up.or_none(|field| field.quantity("a time", &times()));
    if let Some(flap) = section.take("flap") {
        if both {
            up.problem("and `flap` exclude each other", None);
            return None;
        }
        section.drop_key("up");
        let mut own = flap.section(&FLAP);
        let period = own.time("period", Time::from_ns(1)..=SIMULATED_MAX);
        let down_time = own.take("down_time");
        let count = own.integer::<u64>("count", 1..=100_000);
        let node = own.finish();
        section.put("flap", node);
        let (first, period, down_field) = (first?, period?, down_time?);
        let down_time = down_field.quantity("a time", &(Time::from_ns(1)..=SIMULATED_MAX))?;
        if down_time >= period {
            down_field.problem("is no shorter than `period`", None);
            return None;
        }
        let times = (0..count?).map(|nth| {
            let down = first.ps().saturating_add(period.ps().saturating_mul(nth));
            let up = down.saturating_add(down_time.ps());
            (Time::from_ps(down), Some(Time::from_ps(up)))
        });
        return Some(Course::Down(times.collect()));
    }
    let (first, end) = (first?, end?);
    if end.is_some_and(|end| end <= first) {
        up.problem("is no later than `down`", None);
        return None;
    }
    Some(Course::Down(vec![(first, end)]))
}

fn read_random<'p>(section: &mut Section<'p>, field: &Field<'p>) -> Option<EventDraft<'p>> {
    section.extend(&RANDOM);
    let which = field.choice(&[
        ("links", Which::All),
        ("fabric-links", Which::Fabric),
        ("host-links", Which::Hosts),
    ]);
    let count = section.integer("count", 1..=100_000);
    let from = section.time("from", times());
    let to_field = section.take("to");
    let to = to_field
        .as_ref()
        .and_then(|to| to.quantity("a time", &times()));
    let down_time = section.take("down_time").and_then(|field| {
        field.or_none(|field| field.quantity("a time", &(Time::from_ns(1)..=SIMULATED_MAX)))
    });
    let (from, to) = (from?, to?);
    if to < from {
        to_field?.problem("is before `from`", None);
        return None;
    }
    Some(EventDraft {
        target: Target::Random(which?),
        course: Course::Random {
            count: count?,
            from,
            to,
            down_time: down_time?,
        },
    })
}

impl FaultDraft<'_> {
    /// The events by the numbers of a fabric, in the order of time.
    pub(crate) fn bind(self, topology: &Topology, seed: u64) -> Option<FaultPlan> {
        let mut events = Vec::new();
        let mut complete = true;
        for (index, event) in self.events.iter().enumerate() {
            complete &= event.bind(topology, (seed, index), &mut events).is_some();
            if events.len() > EVENTS_MAX {
                let help = "let fewer links flap less often".to_owned();
                self.field
                    .problem("are more than 4194304 single events", help);
                return None;
            }
        }
        events.sort_by_key(|event| event.at);
        complete.then_some(FaultPlan {
            events,
            convergence: self.convergence,
        })
    }
}

impl EventDraft<'_> {
    fn bind(
        &self,
        topology: &Topology,
        (seed, index): (u64, usize),
        events: &mut Vec<FaultEvent>,
    ) -> Option<()> {
        let cables = self.cables(topology)?;
        match &self.course {
            Course::Down(times) => {
                for &(down, up) in times {
                    go_down(events, &cables, down, up);
                }
            }
            Course::Rate(rate, at, until) => {
                for &cable in &cables {
                    let full = topology.cables[cable as usize].rate;
                    if *rate > full {
                        self.too_fast(full);
                        return None;
                    }
                    push(events, *at, Fault::LinkRate(cable, *rate));
                    if let Some(until) = until {
                        push(events, *until, Fault::LinkRate(cable, full));
                    }
                }
            }
            Course::Random {
                count,
                from,
                to,
                down_time,
            } => {
                let mut stream = Stream::new(seed, &format!("faults.events[{index}]"), "random");
                for _ in 0..*count {
                    if cables.is_empty() {
                        break;
                    }
                    let cable = cables[stream.below(cables.len() as u64) as usize];
                    let at = from.ps() + stream.below(to.ps() - from.ps() + 1);
                    let up = down_time.map(|lasts| Time::from_ps(at.saturating_add(lasts.ps())));
                    go_down(events, &[cable], Time::from_ps(at), up);
                }
            }
            Course::Storm(from, to) => {
                if let Target::Nic(field) = &self.target {
                    let host =
                        find_host(field.word().unwrap_or_default(), &field.to_path(), topology)?;
                    push(events, *from, Fault::StormBegins(host));
                    push(events, *to, Fault::StormEnds(host));
                }
            }
        }
        Some(())
    }

    /// The cables it is about.
    fn cables(&self, topology: &Topology) -> Option<Vec<u32>> {
        Some(match &self.target {
            Target::Link(name) => name.cables(topology)?,
            Target::Switch(field) => {
                let switch =
                    find_switch(field.word().unwrap_or_default(), &field.to_path(), topology)?;
                let ports = 0..topology.nodes[switch as usize].ports.len() as u16;
                let cables = ports.map(|port| topology.cable_number(switch, port));
                let cables: Vec<u32> = cables.collect();
                if cables.iter().any(|&cable| topology.is_fibre(cable)) {
                    let what =
                        "has fibres to optical switches, and faults are modelled of other links";
                    let help = "name a switch without any, or links one by one".to_owned();
                    field.problem(what, help);
                    return None;
                }
                cables
            }
            Target::Nic(_) => Vec::new(),
            Target::Random(which) => {
                let cables = (0..).zip(&topology.cables);
                let fits = |is_host: bool| match which {
                    Which::All => true,
                    Which::Fabric => !is_host,
                    Which::Hosts => is_host,
                };
                let cables = cables.filter(|&(number, cable)| {
                    fits(topology.is_host(cable.ends[0].node)) && !topology.is_fibre(number)
                });
                cables.map(|(number, _)| number).collect()
            }
        })
    }

    fn too_fast(&self, full: Rate) {
        if let Target::Link(name) = &self.target {
            name.problem(
                "cannot become faster than its cable",
                format!("choose a `rate` of at most `{full}`"),
            );
        }
    }
}

fn go_down(events: &mut Vec<FaultEvent>, cables: &[u32], down: Time, up: Option<Time>) {
    for &cable in cables {
        push(events, down, Fault::LinkDown(cable));
    }
    for (&cable, up) in cables.iter().zip(std::iter::repeat(up)) {
        if let Some(up) = up {
            push(events, up, Fault::LinkUp(cable));
        }
    }
}

fn push(events: &mut Vec<FaultEvent>, at: Time, fault: Fault) {
    // What lies beyond the longest simulation never happens.
    if at <= SIMULATED_MAX {
        events.push(FaultEvent { at, fault });
    }
}
