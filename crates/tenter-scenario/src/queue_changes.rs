//! `observe.queue_changes`: ports whose queues are recorded change by change.

use tenter_topology::Topology;

use crate::observe::Observe;
use crate::switching::Switching;
use tenter_notation::decode::{Read, suggestion};
use tenter_notation::diagnostics::{Path, Problems, quote};
use tenter_plan::QueueChanges;

/// The ports in their order, none twice; nothing if none is asked for.
pub(crate) fn bind(
    observe: &Observe,
    (topology, switching): (&Topology, &Switching),
    problems: &Problems,
) -> Read<Option<QueueChanges>> {
    let path = Path::new(problems, "observe.queue_changes");
    if switching.scheduled().is_some() && !observe.queue_changes.is_empty() {
        let what =
            "has no place in a scheduled fabric, whose packets wait in virtual output queues";
        let help = "leave it out; `samples.parquet` has what waits";
        path.item(0).problem(what, help);
        return None;
    }
    let words = observe.queue_changes.iter().enumerate();
    let bound: Vec<_> = words
        .map(|(index, word)| port(word, &path.item(index), topology))
        .collect();
    let mut ports = bound.into_iter().collect::<Option<Vec<(u32, u16)>>>()?;
    ports.sort_unstable();
    ports.dedup();
    Some((!ports.is_empty()).then_some(QueueChanges {
        ports,
        limit: observe.queue_changes_limit,
        from: observe.queue_changes_from,
        to: observe.queue_changes_to,
    }))
}

/// The port that a word names.
fn port(word: &str, path: &Path<'_>, topology: &Topology) -> Read<(u32, u16)> {
    let Some((name, number)) = word.rsplit_once(':') else {
        let what = format!("must be a port, not {}", quote(word));
        path.problem(&what, "write `NODE:PORT`, for example `leaf0:8`");
        return None;
    };
    let switches = &topology.nodes[topology.hosts..];
    let Some(index) = switches.iter().position(|node| node.name == name) else {
        let names = switches.iter().map(|node| node.name.as_str());
        let what = format!("names {}, which is no switch", quote(name));
        path.problem(&what, suggestion(name, names));
        return None;
    };
    let ports = switches[index].ports.len();
    match number.parse::<u16>() {
        Ok(number) if usize::from(number) < ports => {
            Some(((topology.hosts + index) as u32, number))
        }
        _ => {
            let what = format!("names no port of {}", quote(name));
            path.problem(&what, format!("its ports are 0 to {}", ports - 1));
            None
        }
    }
}
