//! The divergence finder finds what was hidden, and nothing where engines agree.

use std::cell::Cell;
use std::sync::{Arc, Mutex};

use tenter_fabric::net::{Event, EventKind};
use tenter_language::units::Time;
use tenter_sim::Watcher;
use tenter_sim::plan::Plan;
use tenter_testkit::{Engine, Probe, first_divergence, random_scenario};

/// Takes down every event.
#[derive(Clone, Debug, Default)]
struct Everything(Arc<Mutex<Vec<Event>>>);

impl Watcher for Everything {
    const WATCHED: bool = true;

    fn note(&mut self, event: Event) {
        self.0.lock().expect("no thread panics").push(event);
    }
}

/// Tells the probe of all events but one.
#[derive(Clone, Debug)]
struct Forgetful {
    probe: Probe,
    forgets: Event,
}

impl Watcher for Forgetful {
    const WATCHED: bool = true;

    fn note(&mut self, event: Event) {
        if event != self.forgets {
            self.probe.note(event);
        }
    }
}

const ONE_THREAD: Engine = Engine::windowed(1);
const TWO_THREADS: Engine = Engine::windowed(2);

fn watch<W: Watcher + Clone + 'static>(engine: Engine, plan: &Plan, watcher: &W) {
    if let Err(how) = engine.run_watched(plan, watcher) {
        panic!("{engine}: {how}");
    }
}

fn every_event(plan: &Plan) -> Vec<Event> {
    let everything = Everything::default();
    watch(Engine::Reference, plan, &everything);
    std::mem::take(&mut *everything.0.lock().expect("no thread panics"))
}

#[test]
fn lazy_ports_and_explicit_departures_tell_of_the_same_events() {
    for seed in 0..60 {
        let plan = random_scenario(seed).plan;
        let left = |probe: &Probe| watch(Engine::Reference, &plan, probe);
        for engine in [ONE_THREAD, TWO_THREADS] {
            let right = |probe: &Probe| watch(engine, &plan, probe);
            if let Some(divergence) = first_divergence(&left, &right) {
                panic!(
                    "seed {seed}, {engine}:\n{}",
                    divergence.describe(&plan.topology)
                );
            }
        }
    }
}

/// The cause is 1 ps more on one cable. Its first effect is that the first frame sent over the
/// cable, in either direction, is due 1 ps later at the other end.
#[test]
fn a_longer_cable_shows_in_the_first_frame_sent_over_it() {
    let mut found = 0;
    for seed in 0..60 {
        let plan = random_scenario(seed).plan;
        if plan.scheduled.is_some() || plan.circuits.is_some() {
            // Delays of cables are also those of control links; circuits have delays of their own.
            continue;
        }
        let cable = seed as usize % plan.topology.cables.len();
        let mut longer = plan.clone();
        longer.topology.cables[cable].delay += Time::from_ps(1);
        let ends = plan.topology.cables[cable]
            .ends
            .map(|end| (end.node, end.port));
        let first = every_event(&plan)
            .into_iter()
            .filter(|event| {
                event.kind == EventKind::Sent && ends.contains(&(event.node, event.port))
            })
            .min_by_key(|event| (event.at, event.node));

        let left = |probe: &Probe| watch(Engine::Reference, &plan, probe);
        let right = |probe: &Probe| watch(ONE_THREAD, &longer, probe);
        let divergence = first_divergence(&left, &right);
        assert_eq!(divergence.is_some(), first.is_some(), "seed {seed}");
        let (Some(divergence), Some(mut first)) = (divergence, first) else {
            continue;
        };
        assert_eq!(divergence.left, Some(first), "seed {seed}");
        first.packet.at += Time::from_ps(1);
        assert_eq!(divergence.right, Some(first), "seed {seed}");
        found += 1;
    }
    assert!(found >= 20, "only {found} of 60 cables carried a frame");
}

#[test]
fn an_event_that_is_missing_on_one_side_is_found() {
    for seed in 0..20 {
        let plan = random_scenario(seed).plan;
        let events = every_event(&plan);
        if events.is_empty() {
            // All that is sent stays within hosts.
            continue;
        }
        let forgets = events[events.len() * seed as usize / 20];
        let left = |probe: &Probe| watch(ONE_THREAD, &plan, probe);
        let right = |probe: &Probe| {
            let probe = probe.clone();
            watch(ONE_THREAD, &plan, &Forgetful { probe, forgets });
        };
        let divergence = first_divergence(&left, &right).expect("an event is missing");
        assert_eq!(divergence.left, Some(forgets), "seed {seed}");
        assert_ne!(divergence.right, divergence.left, "seed {seed}");
        assert_eq!(divergence.nodes, [forgets.node], "seed {seed}");
        let text = divergence.describe(&plan.topology);
        let place = plan.topology.port_name(forgets.node, forgets.port);
        let line = format!("  left:  {} {place} ", forgets.at.since_start());
        assert!(text.contains(&line), "{line:?} is not in\n{text}");
    }
}

#[test]
fn a_side_that_does_not_repeat_itself_is_named() {
    let plan = random_scenario(1).plan;
    let forgets = every_event(&plan)[0];
    let first_time = Cell::new(true);
    let left = |probe: &Probe| watch(ONE_THREAD, &plan, probe);
    let right = |probe: &Probe| {
        if first_time.replace(false) {
            let probe = probe.clone();
            watch(ONE_THREAD, &plan, &Forgetful { probe, forgets });
        } else {
            watch(ONE_THREAD, &plan, probe);
        }
    };
    let divergence = first_divergence(&left, &right).expect("an event is missing");
    assert_eq!((divergence.left, divergence.right), (None, None));
    let text = divergence.describe(&plan.topology);
    assert!(text.contains("does not repeat itself"), "{text}");
}
