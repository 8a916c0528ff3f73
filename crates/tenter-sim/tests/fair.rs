//! Rates and ends of flows against textbook cases by hand, and random ones against a reference in
//! exact fractions.

#![allow(missing_docs, reason = "tests")]

mod reference;

use std::collections::BTreeMap;

use num_rational::BigRational;
use proptest::prelude::*;
use tenter_language::units::{Instant, Rate};
use tenter_sim::fluid::{Amount, FlowId, FlowRate, FlowSpec, Fluid, LinkId, Weight};

use reference::{Flow, ends, rates, whole};

fn ps(ps: u64) -> Instant {
    Instant::from_ps(ps)
}

/// 400 Gbit/s are 0.05 bytes per picosecond.
fn line(gbps: u64) -> FlowRate {
    FlowRate::of_line(Rate::from_gbps(gbps))
}

struct Net {
    fluid: Fluid,
    links: Vec<LinkId>,
    free: LinkId,
}

impl Net {
    fn new(gbps: &[u64]) -> Net {
        let mut fluid = Fluid::default();
        let links = gbps
            .iter()
            .map(|&gbps| fluid.add_link(line(gbps)))
            .collect();
        let free = fluid.add_link(line(1_000_000));
        Net { fluid, links, free }
    }

    fn spec(&mut self, over: &[usize], bytes: u64) -> FlowSpec {
        let hops: Vec<_> = over
            .iter()
            .map(|&link| (self.links[link], Weight::WHOLE))
            .collect();
        FlowSpec {
            from: (self.free, Weight::WHOLE),
            route: self.fluid.route(&hops),
            to: self.free,
            limit: FlowRate::UNLIMITED,
            amount: Amount::of_bytes(bytes),
        }
    }

    fn begin(&mut self, over: &[usize], bytes: u64) -> FlowId {
        let spec = self.spec(over, bytes);
        self.fluid.begin(spec)
    }

    /// Runs to the end; when each flow of some ended.
    fn run(&mut self, flows: &[FlowId]) -> Vec<u64> {
        let mut ended = vec![0; flows.len()];
        self.fluid.settle(ps(0));
        self.fluid.check().expect("fair");
        while let Some(at) = self.fluid.next_end() {
            for flow in self.fluid.ending(at) {
                let place = flows
                    .iter()
                    .position(|of| *of == flow)
                    .expect("one of them");
                ended[place] = at.ps();
                self.fluid.withdraw(flow);
            }
            self.fluid.settle(at);
            self.fluid.check().expect("fair");
        }
        ended
    }
}

fn gbps(net: &Net, flows: &[FlowId]) -> Vec<f64> {
    let rates = flows
        .iter()
        .map(|&flow| net.fluid.rate(flow).bits_per_second() / 1e9);
    rates.map(|rate| (rate * 1e6).round() / 1e6).collect()
}

#[test]
fn one_link_is_shared_and_what_is_left_goes_faster() {
    let mut net = Net::new(&[400]);
    let flows = [1_000, 2_000, 3_000].map(|bytes| net.begin(&[0], bytes));
    // Thirds until 60 ns, halves until 100 ns, and the rest alone.
    assert_eq!(net.run(&flows), [60_000, 100_000, 120_000]);
}

#[test]
fn a_parking_lot_gives_the_long_flow_its_share_of_the_worst_link() {
    let mut net = Net::new(&[400, 300, 400]);
    let long = net.begin(&[0, 1, 2], 1 << 20);
    let short = [0, 1, 1, 2].map(|link| net.begin(&[link], 1 << 20));
    net.fluid.settle(ps(0));
    net.fluid.check().expect("fair");
    assert_eq!(gbps(&net, &[long]), [100.0]);
    assert_eq!(gbps(&net, &short), [300.0, 100.0, 100.0, 300.0]);
}

#[test]
fn what_one_cannot_use_the_others_have() {
    let mut net = Net::new(&[400, 50]);
    let slow = net.begin(&[0, 1], 1 << 20);
    let mut limited = net.spec(&[0], 1 << 20);
    limited.limit = line(100);
    let limited = net.fluid.begin(limited);
    let rest = [(); 2].map(|()| net.begin(&[0], 1 << 20));
    net.fluid.settle(ps(0));
    net.fluid.check().expect("fair");
    assert_eq!(gbps(&net, &[slow, limited]), [50.0, 100.0]);
    assert_eq!(gbps(&net, &rest), [125.0, 125.0]);
}

#[test]
fn a_part_of_a_flow_takes_a_part_of_a_link() {
    let mut net = Net::new(&[100]);
    let quarter = (net.links[0], Weight::of(1, 4));
    let route = net.fluid.route(&[quarter]);
    let mut spec = net.spec(&[], 1 << 20);
    spec.route = route;
    let spread = [(); 2].map(|()| net.fluid.begin(spec));
    net.fluid.settle(ps(0));
    assert_eq!(gbps(&net, &spread), [200.0, 200.0]);
}

#[test]
fn capacities_may_change() {
    let mut net = Net::new(&[400]);
    let flows = [(); 2].map(|()| net.begin(&[0], 10_000));
    net.fluid.settle(ps(0));
    // 2,500 bytes each in the first 100 ns, then none, then the rest at full rate.
    net.fluid.set_capacity(net.links[0], FlowRate::default());
    net.fluid.settle(ps(100_000));
    assert_eq!(net.fluid.next_end(), None);
    assert_eq!(net.fluid.left(flows[0], ps(500_000)).bytes(), 7_500);
    net.fluid.set_capacity(net.links[0], line(400));
    net.fluid.settle(ps(1_000_000));
    assert_eq!(net.fluid.next_end(), Some(ps(1_300_000)));
}

#[test]
fn a_flow_that_follows_another_has_its_rate_at_once() {
    let mut net = Net::new(&[400, 400]);
    let first = net.begin(&[0], 1_000);
    let other = net.begin(&[0, 1], 4_000);
    net.fluid.settle(ps(0));
    assert_eq!(net.fluid.next_end(), Some(ps(40_000)));
    assert_eq!(net.fluid.ending(ps(40_000)), [first]);
    net.fluid.withdraw(first);
    let spec = net.spec(&[0], 500);
    let next = net.fluid.begin(spec);
    net.fluid.settle(ps(40_000));
    net.fluid.check().expect("fair");
    assert_eq!(gbps(&net, &[next, other]), [200.0, 200.0]);
    assert_eq!(net.fluid.next_end(), Some(ps(60_000)));
}

/// A random network: capacities, and flows with their links, weights, limits and bytes.
#[derive(Clone, Debug)]
struct Case {
    gbps: Vec<u64>,
    flows: Vec<CaseFlow>,
}

#[derive(Clone, Debug)]
struct CaseFlow {
    /// Links, each with which part of the flow it carries.
    hops: Vec<(usize, u64)>,
    limit: Option<u64>,
    bytes: u64,
}

fn case(links: usize, flows: usize) -> impl Strategy<Value = Case> {
    let gbps = prop::collection::vec(prop::sample::select(vec![25_u64, 100, 200, 400]), 1..links);
    gbps.prop_flat_map(move |gbps| {
        let hop = (
            0..gbps.len(),
            prop::sample::select(vec![1_u64, 1, 1, 2, 4, 32]),
        );
        let hops = prop::collection::btree_map(0..gbps.len(), hop, 1..4);
        let hops =
            hops.prop_map(|hops| hops.into_iter().map(|(at, (_, part))| (at, part)).collect());
        let limit = prop::option::weighted(0.2, 1_u64..200);
        let flow = (hops, limit, 1_u64..1 << 20);
        let flow = flow.prop_map(|(hops, limit, bytes)| CaseFlow { hops, limit, bytes });
        (Just(gbps), prop::collection::vec(flow, 1..flows))
    })
    .prop_map(|(gbps, flows)| Case { gbps, flows })
}

fn bytes_per_ps(gbps: u64) -> BigRational {
    whole(gbps) / whole(8_000)
}

/// The links of a flow, with its part of each.
fn parts(links: &[LinkId], flow: &CaseFlow) -> Vec<(LinkId, Weight)> {
    let hops = flow.hops.iter();
    hops.map(|&(link, part)| (links[link], Weight::of(1, part)))
        .collect()
}

fn built(case: &Case) -> (Net, Vec<FlowSpec>, Vec<BigRational>, Vec<Flow>) {
    let mut net = Net::new(&case.gbps);
    let mut specs = Vec::new();
    let mut flows = Vec::new();
    for flow in &case.flows {
        let CaseFlow { hops, limit, bytes } = flow;
        let parts = parts(&net.links, flow);
        specs.push(FlowSpec {
            from: (net.free, Weight::WHOLE),
            route: net.fluid.route(&parts),
            to: net.free,
            limit: limit.map_or(FlowRate::UNLIMITED, line),
            amount: Amount::of_bytes(*bytes),
        });
        let parts = hops
            .iter()
            .map(|&(link, part)| (link, whole(1) / whole(part)));
        flows.push(Flow {
            hops: parts.collect(),
            limit: limit.map(bytes_per_ps),
            left: whole(*bytes),
        });
    }
    let capacities = case.gbps.iter().map(|&gbps| bytes_per_ps(gbps)).collect();
    (net, specs, capacities, flows)
}

fn as_f64(number: &BigRational) -> f64 {
    let scaled = number * whole(1 << 40);
    scaled
        .to_integer()
        .to_string()
        .parse::<f64>()
        .expect("a number")
        / (1_u64 << 40) as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Flows come and go one by one; after each the rates are those of water-filling.
    #[test]
    fn rates_are_those_of_water_filling(
        case in case(12, 24),
        order in prop::collection::vec(any::<prop::sample::Index>(), 48),
    ) {
        let (mut net, specs, capacities, flows) = built(&case);
        let mut going: Vec<(usize, FlowId)> = Vec::new();
        let mut told: BTreeMap<FlowId, FlowRate> = BTreeMap::new();
        for (step, index) in order.iter().enumerate() {
            let place = index.index(specs.len());
            if let Some(at) = going.iter().position(|(of, _)| *of == place) {
                let (_, id) = going.remove(at);
                prop_assert_eq!(told.remove(&id), Some(net.fluid.rate(id)));
                net.fluid.withdraw(id);
            } else {
                let mut spec = specs[place];
                if step % 2 == 1 {
                    spec.route = net.fluid.own_route(&parts(&net.links, &case.flows[place]));
                }
                going.push((place, net.fluid.begin(spec)));
            }
            net.fluid.settle_and(ps(step as u64), |id, [before, after]| {
                assert_eq!(told.insert(id, after).unwrap_or_default(), before);
            });
            for (_, id) in &going {
                prop_assert_eq!(told.get(id), Some(&net.fluid.rate(*id)));
            }
            net.fluid.check().map_err(TestCaseError::fail)?;
        }
        let now: Vec<Flow> = going.iter().map(|(place, _)| flows[*place].clone()).collect();
        for ((_, id), expected) in going.iter().zip(rates(&capacities, &now)) {
            let found = net.fluid.rate(*id).bits_per_second() / 8e12;
            let expected = as_f64(&expected);
            prop_assert!((found - expected).abs() < 1e-11, "{found} is not {expected}");
        }
    }

    /// Flows end when they do in exact fractions, to a picosecond for each of them.
    #[test]
    fn ends_are_those_of_exact_fractions(case in case(6, 8)) {
        let (mut net, specs, capacities, flows) = built(&case);
        let ids: Vec<FlowId> = specs.iter().map(|spec| net.fluid.begin(*spec)).collect();
        let found = net.run(&ids);
        for (found, expected) in found.iter().zip(ends(&capacities, &flows)) {
            let late = as_f64(&(whole(*found) - &expected));
            prop_assert!((-8.0..8.0).contains(&late), "{found} is {late} ps off");
        }
    }
}

#[test]
fn a_flow_may_end_when_its_link_changes_and_another_take_its_place() {
    let mut net = Net::new(&[400]);
    let flows = [(); 2].map(|()| net.begin(&[0], 10_000));
    net.fluid.settle(ps(0));
    // Half of the rate of the link is left to two when one of them is given up.
    net.fluid.set_capacity(net.links[0], line(200));
    net.fluid.withdraw(flows[0]);
    let spec = net.spec(&[0], 500);
    let next = net.fluid.begin(spec);
    net.fluid.settle(ps(100_000));
    net.fluid.check().expect("fair");
    assert_eq!(gbps(&net, &[next, flows[1]]), [100.0, 100.0]);
}

#[test]
fn a_flow_passes_a_link_twice() {
    let mut net = Net::new(&[400, 150, 1_000]);
    // Others, so that not all is solved for.
    let others = [(); 40].map(|()| net.begin(&[2], 1_000_000));
    let half = Weight::of(1, 2);
    let [shared, own] = [net.links[0], net.links[1]];
    let hops = [(shared, half), (own, Weight::WHOLE), (shared, half)];
    let route = net.fluid.route(&hops);
    let spec = net.spec(&[], 1_000_000);
    let twice = net.fluid.begin(FlowSpec { route, ..spec });
    let [long, first, second] = [1_000_000, 1_000, 1_000].map(|bytes| net.begin(&[0], bytes));
    net.fluid.settle(ps(0));
    net.fluid.check().expect("fair");
    assert_eq!(gbps(&net, &[twice, long]), [100.0, 100.0]);
    for short in [first, second] {
        net.fluid.withdraw(short);
    }
    net.fluid.settle(ps(10));
    net.fluid.check().expect("fair");
    assert_eq!(gbps(&net, &[twice, long, others[0]]), [150.0, 250.0, 25.0]);
}

/// Flows between the NICs of one switch, drawn by a seed; each NIC has a link from and one to the
/// switch.
fn drawn_over(fluid: &mut Fluid, nics: u64, count: usize, seed: u64) -> Vec<FlowSpec> {
    let links: Vec<LinkId> = (0..2 * nics).map(|_| fluid.add_link(line(400))).collect();
    let route = fluid.route(&[]);
    let mut draw = seed;
    let mut next = |below: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (draw >> 33) % below
    };
    let specs = (0..count).map(|_| FlowSpec {
        from: (links[next(nics) as usize], Weight::WHOLE),
        route,
        to: links[(nics + next(nics)) as usize],
        limit: FlowRate::UNLIMITED,
        amount: Amount::of_bytes(1 + next(1 << 24)),
    });
    specs.collect()
}

/// Runs flows that begin together to the end, with their ends.
fn run_all(fluid: &mut Fluid, specs: &[FlowSpec]) -> Vec<u64> {
    let ids: Vec<FlowId> = specs.iter().map(|spec| fluid.begin(*spec)).collect();
    let places: BTreeMap<FlowId, usize> = ids.iter().copied().zip(0..).collect();
    let mut ended = vec![0; specs.len()];
    fluid.settle(ps(0));
    for step in 0.. {
        let Some(at) = fluid.next_end() else {
            break;
        };
        for id in fluid.ending(at) {
            ended[places[&id]] = at.ps();
            fluid.withdraw(id);
        }
        fluid.settle(at);
        if step % 16 == 0 {
            fluid.check().expect("fair");
        }
    }
    ended
}

#[test]
fn an_end_costs_no_more_than_the_rates_that_it_changes() {
    // Pairs share nothing with each other: the end of one flow changes the rate of one.
    let mut fluid = Fluid::default();
    let pairs: Vec<FlowSpec> = (0..500)
        .flat_map(|bytes| {
            let [from, to] = [(); 2].map(|()| fluid.add_link(line(400)));
            let spec = FlowSpec {
                from: (from, Weight::WHOLE),
                route: fluid.route(&[]),
                to,
                limit: FlowRate::UNLIMITED,
                amount: Amount::of_bytes(1_000 + bytes),
            };
            let amount = Amount::of_bytes(10_000 + bytes);
            [spec, FlowSpec { amount, ..spec }]
        })
        .collect();
    run_all(&mut fluid, &pairs);
    assert_eq!(fluid.refilled(), 1_000 + 500);
    // Among many unequal flows an end changes most rates, but none of them twice.
    let mut fluid = Fluid::default();
    let specs = drawn_over(&mut fluid, 64, 1_024, 1);
    run_all(&mut fluid, &specs);
    let alive: u64 = (1..=1_024).sum();
    assert!(fluid.refilled() < alive / 2, "{}", fluid.refilled());
}

#[test]
fn a_flow_that_takes_the_place_of_another_changes_no_rate() {
    let mut fluid = Fluid::default();
    let specs = drawn_over(&mut fluid, 16, 256, 2);
    let mut ids: Vec<FlowId> = specs.iter().map(|spec| fluid.begin(*spec)).collect();
    fluid.settle(ps(0));
    let before = fluid.refilled();
    for (id, spec) in ids.iter_mut().zip(&specs) {
        let rate = fluid.rate(*id);
        fluid.withdraw(*id);
        *id = fluid.begin(*spec);
        fluid.settle(ps(0));
        assert_eq!(fluid.rate(*id), rate);
    }
    assert_eq!(fluid.refilled(), before + 256);
}

#[test]
fn a_tolerance_saves_work_and_changes_ends_by_little() {
    let mut exact = Fluid::default();
    let specs = drawn_over(&mut exact, 64, 1_024, 3);
    let ends = run_all(&mut exact, &specs);
    let mut near = Fluid::tolerating(1_000);
    let specs = drawn_over(&mut near, 64, 1_024, 3);
    let near_ends = run_all(&mut near, &specs);
    let work = [exact.refilled(), near.refilled()];
    assert!(2 * work[1] < work[0], "{work:?}");
    let off = ends.iter().zip(&near_ends);
    let off = off.map(|(end, near)| (*near as f64 / *end as f64 - 1.0).abs());
    let off: Vec<f64> = off.collect();
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    assert!(mean < 0.000_5, "{mean}");
    assert!(off.iter().all(|off| *off < 0.01));
}
