//! Pictures of a chain: the parts of its time, and its chunks over time.

use super::plot::{ChunkChain, Num, Picture, Plot, Whole};
use crate::report::chain::{Chain, Link};

/// Maximum number of marks in one chain; in a longer one, neighbours share a mark.
pub(super) const DRAWN: usize = 500;

/// A part of a collective's time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) ns: f64,
    /// Index in the palette of lines.
    pub(super) colour: usize,
}

/// Returns the parts that make up a chain's time, in the order in which a chunk passes them. Time
/// held by rates is included if congestion control held any sender.
pub(super) fn parts_of_time(chain: &Chain) -> impl Iterator<Item = Part> {
    let alone = if chain.knows_alone {
        "without other traffic"
    } else {
        "at the pace of the fastest chunk"
    };
    let [at_rank, in_nic, held, fastest, lost] = chain.sums();
    let parts = [
        (true, "computing or waiting at ranks", at_rank, 4),
        (true, "waiting in NICs", in_nic, 3),
        (chain.is_held(), "held by rates", held, 0),
        (true, alone, fastest, 7),
        (true, "lost on the way", lost, 1),
    ];
    let shown = parts.into_iter().filter(|part| part.0);
    shown.map(|(_, name, ns, colour)| Part { name, ns, colour })
}

/// Draws the whole time's parts as one bar.
pub(super) fn parts(chain: &Chain) -> Picture {
    const TITLE: &str = "Parts of the completion time";
    let parts = parts_of_time(chain).map(|part| (part.name, Num(part.ns), part.colour));
    let plot = Plot::Parts(Whole {
        title: TITLE,
        unit: "ns",
        parts: parts.collect(),
    });
    plot.picture(TITLE, "")
}

/// Names a link's chunk by ranks, step and number.
pub(super) fn name(link: &Link) -> String {
    format!(
        "rank {} → {}, step {}, chunk {}",
        link.chunk.src_rank, link.chunk.dst_rank, link.chunk.step, link.chunk.chunk
    )
}

/// Returns the transfer time beyond `alone`, in ns.
fn slowed(link: &Link) -> f64 {
    link.held[1] + link.excess()
}

/// Draws a chain's chunks one after the other, with at most `most` marks. A single chunk has no
/// picture.
pub(super) fn strip(chain: &Chain, start: f64, most: usize) -> Option<Picture> {
    const TITLE: &str = "The chunks of the chain over time";
    const COLUMNS: [(&str, &str); 2] = [("lost on the way", "ns"), ("held by its rate", "ns")];
    let count = chain.links.len();
    if count < 2 {
        return None;
    }
    let is_held = chain.is_held();
    let (mut names, mut bars) = (Vec::new(), Vec::new());
    for links in chain.links.chunks(count.div_ceil(most.max(1))) {
        let (first, last) = (&links[0], &links[links.len() - 1]);
        let worst = links.iter().max_by(|a, b| slowed(a).total_cmp(&slowed(b)));
        names.push(name(worst.unwrap_or(first)));
        let sum = |of: fn(&Link) -> f64| links.iter().map(of).sum::<f64>();
        let whole = sum(|link| link.transfer);
        let mut bar = vec![
            first.chunk.posted - start,
            last.chunk.received - start,
            (sum(slowed) / whole.max(1e-3)).clamp(0.0, 1.0),
            sum(Link::excess),
        ];
        if is_held {
            bar.push(sum(Link::held_by_rate));
        }
        bars.push(bar.into_iter().map(Num).collect());
    }
    let plot = Plot::Chain(ChunkChain {
        title: TITLE,
        label: "Time since the collective began",
        to_ns: Num(chain.links[count - 1].chunk.received - start),
        shade: if is_held {
            "lost or held by its rate"
        } else {
            "lost on the way"
        },
        names,
        columns: &COLUMNS[..if is_held { 2 } else { 1 }],
        bars,
    });
    Some(plot.picture(TITLE, ""))
}
