//! The rates by water-filling in exact fractions, in the most obvious way, and what becomes of
//! flows at them.

use num_rational::BigRational;

/// A flow over links, each with the part that it carries, and its limit.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) hops: Vec<(usize, BigRational)>,
    pub(crate) limit: Option<BigRational>,
    pub(crate) left: BigRational,
}

pub(crate) fn whole(number: u64) -> BigRational {
    BigRational::from_integer(number.into())
}

/// The max–min fair rates: all rise alike until a link is full or a limit is reached, where those
/// concerned stop.
pub(crate) fn rates(capacities: &[BigRational], flows: &[Flow]) -> Vec<BigRational> {
    let mut rates: Vec<Option<BigRational>> = vec![None; flows.len()];
    let mut rest = capacities.to_vec();
    while rates.iter().any(Option::is_none) {
        let rising = |place: usize| rates[place].is_none();
        let level_of = |link: usize| {
            let on_it = flows.iter().enumerate().filter(|(place, _)| rising(*place));
            let hops = on_it.flat_map(|(_, flow)| &flow.hops);
            let weights = hops.filter(|(of, _)| *of == link).map(|(_, weight)| weight);
            let weight: BigRational = weights.sum();
            (weight > whole(0)).then(|| &rest[link] / weight)
        };
        let by_link = (0..rest.len()).filter_map(level_of).min();
        let limits = flows.iter().enumerate().filter(|(place, _)| rising(*place));
        let by_limit = limits.filter_map(|(_, flow)| flow.limit.clone()).min();
        let level = by_link
            .into_iter()
            .chain(by_limit)
            .min()
            .expect("a link holds each");
        let stops = |place: &usize| {
            let flow = &flows[*place];
            let at_limit = flow.limit.as_ref() == Some(&level);
            let mut hops = flow.hops.iter();
            at_limit || hops.any(|(link, _)| level_of(*link).as_ref() == Some(&level))
        };
        let stopped = (0..flows.len()).filter(|place| rates[*place].is_none());
        let stopped: Vec<usize> = stopped.filter(stops).collect();
        for place in stopped {
            for (link, weight) in &flows[place].hops {
                rest[*link] -= weight * &level;
            }
            rates[place] = Some(level.clone());
        }
    }
    rates.into_iter().flatten().collect()
}

/// When each of some flows that all begin at 0 ends.
pub(crate) fn ends(capacities: &[BigRational], flows: &[Flow]) -> Vec<BigRational> {
    let mut ends = vec![whole(0); flows.len()];
    let mut going: Vec<(usize, Flow)> = flows.iter().cloned().enumerate().collect();
    let mut now = whole(0);
    while !going.is_empty() {
        let flows: Vec<Flow> = going.iter().map(|(_, flow)| flow.clone()).collect();
        let rates = rates(capacities, &flows);
        let times = going.iter().zip(&rates);
        let times = times.map(|((_, flow), rate)| &flow.left / rate);
        let step = times.min().expect("some are going");
        now += &step;
        for ((place, flow), rate) in going.iter_mut().zip(&rates) {
            flow.left -= rate * &step;
            if flow.left == whole(0) {
                ends[*place] = now.clone();
            }
        }
        going.retain(|(_, flow)| flow.left > whole(0));
    }
    ends
}
