//! "What held this collective up": the chain of chunks that ends with the last one to arrive.

use super::held_up_facts::Ports;
use super::held_up_pictures::{self, DRAWN, Part, name, parts_of_time};
use super::runs::Run;
use super::text::{add, escape, number, time};
use crate::chain::{Cause, Chain, Link};

/// The most chunks of the chain that are listed.
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
    if let Some(strip) = held_up_pictures::strip(&chain, start, DRAWN) {
        strip.draw(page);
    }
    table(ports, &chain, start, page);
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
    held_up_pictures::parts(chain).draw(page);
    page.push_str("<p class=\"legend\">");
    let share = |part: f64| if total > 0.0 { part / total } else { 0.0 };
    for Part { name, ns, colour } in parts_of_time(chain) {
        add(
            page,
            format_args!(
                "<span><i class=\"k{colour}\" aria-hidden=\"true\"></i>{name} <b>{}</b> ({}%)</span>",
                time(ns),
                number(share(ns) * 100.0, 3)
            ),
        );
    }
    page.push_str("</p>\n");
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
