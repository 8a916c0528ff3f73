//! The deepest queues as a colour map: a row for each port, a column for each stretch of time.

use std::collections::HashMap;

use super::plot::{Heat, Num, Picture as Shown, Plot};
use crate::report::trial_data::TrialData;

/// Maximum number of columns; each shows the greatest among its samples.
const COLUMNS: usize = 160;
/// Maximum number of ports that get a row.
const PORTS: usize = 16;

/// Node and port numbers, as tables have them.
type Place = (u32, u16);

/// Draws one picture for each trial, with common ports, colours and time axis; nothing for fewer
/// than two trials with samples.
pub(super) fn pictures(trials: &[&TrialData], names: &[String]) -> Vec<Shown> {
    // Ports are known by the names of both ends: their numbers may differ between fabrics.
    let mut peaks: HashMap<String, u64> = HashMap::new();
    for port in trials.iter().flat_map(|trial| &trial.ports) {
        let peak = peaks.entry(name(&port.node_name, &port.peer_name));
        let peak = peak.or_default();
        *peak = (*peak).max(port.queue_high_water_bytes);
    }
    let mut deepest: Vec<(String, u64)> = peaks.into_iter().filter(|peak| peak.1 > 0).collect();
    deepest.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    deepest.truncate(PORTS);
    let pictures: Vec<(&String, Picture)> = trials
        .iter()
        .zip(names)
        .filter_map(|(trial, called)| {
            // Of parallel cables between two nodes, the first is taken.
            let place = |(wanted, _): &(String, u64)| {
                let mut ports = trial.ports.iter();
                let port = ports.find(|port| name(&port.node_name, &port.peer_name) == *wanted)?;
                Some((wanted.clone(), (port.node, port.port)))
            };
            let ports: Vec<(String, Place)> = deepest.iter().filter_map(place).collect();
            Some((called, Picture::of(trial, &ports)?))
        })
        .collect();
    let most = pictures.iter().map(|picture| picture.1.most());
    let most = most.fold(Most::default(), |all, of| Most {
        queue: all.queue.max(of.queue),
        end: all.end.max(of.end),
    });
    // One trial has its queues as lines; the maps are for comparing trials.
    if pictures.len() < 2 || most.queue == 0.0 {
        return Vec::new();
    }
    let shown = |(called, picture): &(&String, Picture)| {
        let title = format!("Queues by port and time of {called}");
        picture.shown(&title, most)
    };
    pictures.iter().map(shown).collect()
}

fn name(node: &str, peer: &str) -> String {
    format!("{node} → {peer}")
}

/// Cells for one trial's picture.
struct Picture {
    rows: Vec<String>,
    times: Vec<f64>,
    /// End of the last column, in ns.
    end: f64,
    values: Vec<Vec<f64>>,
}

/// Common scale: the queue in bytes with the full colour, and the time axis's end in ns.
#[derive(Clone, Copy, Default)]
struct Most {
    queue: f64,
    end: f64,
}

impl Picture {
    /// Fills the cells for `ports`; `None` without samples, or if no queue ever held a frame.
    fn of(trial: &TrialData, ports: &[(String, Place)]) -> Option<Picture> {
        let mut instants: Vec<f64> = trial.samples.iter().map(|sample| sample.time).collect();
        instants.dedup();
        let together = instants.len().div_ceil(COLUMNS).max(1);
        // A sample covers the time before it, so a column starts where the previous one ends.
        let ends: Vec<f64> = instants
            .chunks(together)
            .filter_map(|part| part.last().copied())
            .collect();
        let begins = std::iter::once(0.0).chain(ends.iter().copied());
        let times: Vec<f64> = begins.take(ends.len()).collect();
        let rows: HashMap<Place, usize> = ports.iter().map(|port| port.1).zip(0..).collect();
        let mut values = vec![vec![0.0; ends.len()]; ports.len()];
        for sample in &trial.samples {
            let Some(&row) = rows.get(&(sample.node, sample.port)) else {
                continue;
            };
            let column = ends.partition_point(|end| *end < sample.time);
            if let Some(value) = values[row].get_mut(column) {
                *value = sample.queue_high_water_bytes.max(*value);
            }
        }
        let has_any = values.iter().flatten().any(|value| *value > 0.0);
        has_any.then(|| Picture {
            rows: ports.iter().map(|port| port.0.clone()).collect(),
            times,
            end: ends.last().copied().unwrap_or_default(),
            values,
        })
    }

    fn most(&self) -> Most {
        Most {
            queue: self.values.iter().flatten().copied().fold(0.0, f64::max),
            end: self.end,
        }
    }

    fn shown(&self, title: &str, most: Most) -> Shown {
        let row = |row: &Vec<f64>| row.iter().map(|&value| Num(value)).collect();
        let heat = Plot::Heat(Heat {
            title,
            label: "Time",
            rows: self.rows.clone(),
            times: self.times.iter().map(|&time| Num(time)).collect(),
            end: Num(self.end),
            to: Num(most.end),
            values: self.values.iter().map(row).collect(),
            unit: "bytes",
            max: Num(most.queue),
        });
        heat.picture(title, "the same ports, colours and axis of time for all trials; each column shows the greatest of its time")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::trial_data::PortSample;

    #[test]
    fn a_column_shows_the_greatest_of_its_time() {
        let sample = |time: u32, node, bytes| PortSample {
            time: f64::from(time),
            node,
            queue_high_water_bytes: bytes,
            ..PortSample::default()
        };
        let trial = TrialData {
            samples: (1..=2 * COLUMNS as u32)
                .map(|time| sample(time * 10, time % 2, f64::from(time)))
                .collect(),
            ..TrialData::empty()
        };
        let ports = [("a".to_owned(), (1, 0))];
        let picture = Picture::of(&trial, &ports).unwrap();
        assert_eq!(picture.times[..3], [0.0, 20.0, 40.0]);
        assert_eq!(picture.values[0][..3], [1.0, 3.0, 5.0]);
        assert_eq!(picture.values[0].len(), COLUMNS);
        assert!((picture.end - f64::from(2 * COLUMNS as u32 * 10)).abs() < 1e-9);
        assert!(Picture::of(&trial, &[("b".to_owned(), (7, 0))]).is_none());
    }

    #[test]
    fn pictures_side_by_side_share_their_axis_of_time() {
        let trial = |count: u32| TrialData {
            samples: (1..=count)
                .map(|time| PortSample {
                    time: f64::from(1_000 * time),
                    queue_high_water_bytes: f64::from(time),
                    ..PortSample::default()
                })
                .collect(),
            ports: vec![tenter_results::PortRow {
                node_name: "a".to_owned(),
                peer_name: "b".to_owned(),
                queue_high_water_bytes: 5,
                ..Default::default()
            }],
            ..TrialData::empty()
        };
        let (short, long) = (trial(2), trial(5));
        let names = ["short".to_owned(), "long".to_owned()];
        let pictures = pictures(&[&short, &long], &names);
        // The first ends at 2 µs and is drawn on an axis to 5 µs, with the colours of the second.
        for (picture, end) in pictures.iter().zip([2_000, 5_000]) {
            let axis = format!("\"end\":{end},\"to\":5000,");
            assert!(picture.plot.contains(&axis), "{}", picture.plot);
            assert!(picture.plot.contains("\"max\":5"), "{}", picture.plot);
        }
    }
}
