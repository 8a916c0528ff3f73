//! Records with planted values, for tests of pictures and comparisons.

use crate::studies::{SweepAxis, SweepReading, SweepRecord, SweepValues};

/// Makes a record with `variants` over the grid that `axes` span. `value` returns the reading, in
/// ns, for a point, a variant and a seed.
pub(crate) fn record(
    variants: &[&str],
    axes: &[(&str, &[&str])],
    seeds: std::ops::RangeInclusive<u64>,
    value: impl Fn(usize, usize, u64) -> f64,
) -> SweepRecord {
    let mut points: Vec<Vec<String>> = vec![Vec::new()];
    for (_, values) in axes {
        let longer = |point: &Vec<String>| {
            let point = point.clone();
            let with = move |value: &&str| [point.clone(), vec![(*value).to_owned()]].concat();
            values.iter().map(with).collect::<Vec<_>>()
        };
        points = points.iter().flat_map(longer).collect();
    }
    let mut trials = Vec::new();
    for point in 0..points.len() {
        for variant in 0..variants.len() {
            for seed in seeds.clone() {
                trials.push(SweepValues {
                    point,
                    variant,
                    seed,
                    digest: format!("{seed:x}"),
                    values: vec![Some(value(point, variant, seed))],
                });
            }
        }
    }
    let axis = |(name, _): &(&str, &[&str])| SweepAxis {
        path: format!("fabric.{name}"),
        name: (*name).to_owned(),
        log: false,
    };
    SweepRecord {
        name: "planted".to_owned(),
        scenario: "s.yaml".to_owned(),
        axes: axes.iter().map(axis).collect(),
        variants: variants.iter().map(|name| (*name).to_owned()).collect(),
        points,
        readings: vec![time()],
        trials,
        ..SweepRecord::default()
    }
}

/// Makes a reading that stands for a completion time.
pub(crate) fn time() -> SweepReading {
    SweepReading {
        name: "time".to_owned(),
        of: "greatest of jobs.jct_ns".to_owned(),
        unit: "ns".to_owned(),
        against: String::new(),
        more_is_better: false,
        statistic: "median".to_owned(),
    }
}
