//! "What held this collective up": the chain of chunks that ends with the last one to arrive.

use super::held_up_facts::{Ports, name};
use super::line_chart::{labelled, x_axis};
use super::runs::Run;
use super::scale::Scale;
use super::text::{Unit, add, escape, number, time};
use crate::chain::{Cause, Chain, Link};

/// The most chunks of the chain that are drawn, and that are listed.
const DRAWN: usize = 500;
const LISTED: usize = 8;

/// Adds the chain of one iteration.
pub(super) fn draw(ports: &Ports<'_>, run: &Run<'_>, page: &mut String) {
    page.push_str("<h3>What held it up</h3>");
    let chain = run.chain(ports.trial());
    if chain.links.is_empty() {
        page.push_str("<p class=\"empty\">No chunk arrived, so there is nothing to follow.</p>");
        return;
    }
    let start = run.row.start.as_ns();
    let total: f64 = chain.sums().iter().sum();
    sentence(&chain, total, page);
    shares(&chain, total, page);
    if chain.links.len() > 1 {
        strip(&chain, start, page);
    }
    table(ports, &chain, start, page);
}

/// The place of the time held by rates among the parts of a chain's time. Without congestion
/// control it is not shown.
const HELD: usize = 2;

/// The names of the parts of a chain's time.
fn parts(chain: &Chain) -> [&'static str; 5] {
    let alone = if chain.knows_alone {
        "without other traffic"
    } else {
        "at the pace of the fastest chunk"
    };
    [
        "waiting at ranks",
        "waiting in NICs",
        "held by rates",
        alone,
        "lost on the way",
    ]
}

fn sentence(chain: &Chain, total: f64, page: &mut String) {
    let count = chain.links.len();
    let (Some(first), Some(last)) = (chain.links.first(), chain.links.last()) else {
        return;
    };
    let chunks = if count == 1 {
        format!(
            "one chunk, from rank {} to rank {}",
            last.chunk.src_rank, last.chunk.dst_rank
        )
    } else {
        format!(
            "a chain of {count} chunks, from rank {} to rank {}, each posted after the one before",
            first.chunk.src_rank, last.chunk.dst_rank
        )
    };
    let base = if chain.knows_alone {
        "what they take on their paths without other traffic"
    } else {
        "that of the fastest chunk of the same size in this collective"
    };
    let (by_rates, and_that) = if chain.is_held() {
        (
            " Senders were “held by rates” while they had data and an idle port, and congestion control did not let them send.",
            " and that",
        )
    } else {
        ("", "")
    };
    add(
        page,
        format_args!(
            "<p class=\"lead\">The last chunk arrived after {}. Behind it is {chunks}.{by_rates} “Lost on the way” is the time of the chunks beyond {base}{and_that}.</p>",
            time(total)
        ),
    );
}

/// The parts of the whole time, as one bar and as numbers.
fn shares(chain: &Chain, total: f64, page: &mut String) {
    page.push_str("<svg class=\"shares\" viewBox=\"0 0 1100 22\" role=\"img\" tabindex=\"0\" data-marks aria-label=\"Parts of the completion time\">");
    let mut x = 0.0;
    let share = |part: f64| if total > 0.0 { part / total } else { 0.0 };
    let is_shown = |&(index, _): &(usize, f64)| index != HELD || chain.is_held();
    let parts_of_time = || chain.sums().into_iter().enumerate().filter(is_shown);
    for (index, part) in parts_of_time() {
        let width = 1_100.0 * share(part);
        add(
            page,
            format_args!(
                "<rect class=\"m s{index}\" x=\"{x:.1}\" y=\"0\" width=\"{width:.1}\" height=\"22\" data-t=\"{}: {}, {}%\"/>",
                parts(chain)[index],
                time(part),
                number(share(part) * 100.0, 3)
            ),
        );
        x += width;
    }
    page.push_str("</svg><p class=\"legend\">");
    for (index, part) in parts_of_time() {
        add(
            page,
            format_args!(
                "<span><i class=\"s{index}\" aria-hidden=\"true\"></i>{} <b>{}</b> ({}%)</span>",
                parts(chain)[index],
                time(part),
                number(share(part) * 100.0, 3)
            ),
        );
    }
    page.push_str("</p>\n");
}

/// What a chunk took longer than alone once its first bit was sent.
fn slowed(link: &Link) -> f64 {
    link.held[1] + link.excess()
}

/// The chunks of the chain one after the other.
fn strip(chain: &Chain, start: f64, page: &mut String) {
    let end = chain.links.last().map_or(start, |link| link.chunk.received);
    let x = Scale {
        unit: Unit::time(end - start),
        ..Scale::span(0.0, end - start, (8.0, 1_092.0))
    };
    page.push_str("<svg class=\"chain\" viewBox=\"0 0 1100 86\" role=\"img\" tabindex=\"0\" data-marks aria-label=\"The chunks of the chain over time\"><g class=\"axes\">");
    x_axis(&x, 4.0, 42.0, page);
    add(
        page,
        format_args!(
            "<text class=\"label\" x=\"550\" y=\"78\" text-anchor=\"middle\">{}</text></g>",
            labelled("time since the collective began", x.unit)
        ),
    );
    // Of a long chain neighbours are drawn as one.
    for links in chain.links.chunks(chain.links.len().div_ceil(DRAWN)) {
        let (first, last) = (&links[0], &links[links.len() - 1]);
        let worst = links
            .iter()
            .max_by(|a, b| slowed(a).total_cmp(&slowed(b)))
            .unwrap_or(first);
        let (left, right) = (
            x.place(first.chunk.posted - start),
            x.place(last.chunk.received - start),
        );
        let slowed: f64 = links.iter().map(slowed).sum();
        let lost: f64 = links.iter().map(Link::excess).sum();
        let held: f64 = links.iter().map(Link::held_by_rate).sum();
        let held = if chain.is_held() {
            format!("\nheld by its rate {}", time(held))
        } else {
            String::new()
        };
        let whole: f64 = links.iter().map(|link| link.transfer).sum();
        add(
            page,
            format_args!(
                "<rect class=\"m h\" x=\"{left:.1}\" y=\"8\" width=\"{:.1}\" height=\"30\" style=\"--v:{:.2}\" data-t=\"{}\"/>",
                (right - left - 0.6).max(0.6),
                0.25 + 0.75 * (slowed / whole.max(1e-3)).clamp(0.0, 1.0),
                escape(&format!(
                    "{}\nlost on the way {}{held}",
                    name(worst),
                    time(lost)
                ))
            ),
        );
    }
    page.push_str("</svg>\n");
}

/// The chunks of the chain that lost most.
fn table(ports: &Ports<'_>, chain: &Chain, start: f64, page: &mut String) {
    let mut worst: Vec<&Link> = chain.links.iter().collect();
    worst.retain(|link| link.loss() > 0.0);
    let lost = worst.len();
    worst.sort_by(|a, b| b.loss().total_cmp(&a.loss()));
    worst.truncate(LISTED);
    worst.sort_by(|a, b| a.chunk.posted.total_cmp(&b.chunk.posted));
    let caption = match (lost, chain.links.len()) {
        (0, _) => {
            page.push_str(
                "<p class=\"empty\">No chunk of the chain waited or lost any time.</p>\n",
            );
            return;
        }
        (lost, _) if lost > worst.len() => {
            format!("The {} chunks of the chain that lost most", worst.len())
        }
        (lost, all) if lost == all => "Every chunk of the chain".to_owned(),
        _ => "The chunks of the chain that waited or lost time".to_owned(),
    };
    let head = if chain.is_held() {
        "<th class=\"n\">held by its rate</th>"
    } else {
        ""
    };
    add(
        page,
        format_args!(
            "<div class=\"scroll\"><table><caption>{caption}</caption><thead><tr><th>chunk</th><th>waited for</th><th class=\"n\">posted</th><th class=\"n\">at the rank</th><th class=\"n\">in the NIC</th>{head}<th class=\"n\">on the way</th><th class=\"n\">of it lost</th><th>ports on it</th></tr></thead><tbody>"
        ),
    );
    for link in worst {
        let cause = match link.cause {
            Cause::Start => "the start",
            Cause::Arrival => "a chunk to arrive",
            Cause::Acknowledgement => "an acknowledgement",
        };
        let held = if chain.is_held() {
            format!("<td class=\"n\">{}</td>", time(link.held_by_rate()))
        } else {
            String::new()
        };
        let findings = ports.findings(link);
        let findings = if findings.is_empty() {
            "no queue or pause seen".to_owned()
        } else {
            findings.join("; ")
        };
        add(
            page,
            format_args!(
                "<tr><td>{}</td><td>{cause}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>{held}<td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
                escape(&name(link)),
                time(link.chunk.posted - start),
                time(link.rank_wait),
                time(link.nic_wait),
                time(link.transfer),
                time(link.excess()),
                escape(&findings),
            ),
        );
    }
    page.push_str("</tbody></table></div>\n");
}
