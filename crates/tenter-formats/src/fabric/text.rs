//! A fabric as YAML, with notes for the user.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tenter_fabric::topology::{Explicit, ExplicitKind, ExplicitLink, ExplicitNode};
use tenter_language::notation::emit;

/// Sections of a scenario that an importer has made, with notes for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricText {
    /// The sections `fabric:` or `endpoint:` as YAML.
    pub yaml: String,
    /// Parts that were left out and facts worth knowing, one sentence each.
    pub notes: Vec<String>,
}

/// The probability that a frame is lost between two nodes, as the file writes it.
pub(super) struct Loss {
    pub(super) link: String,
    pub(super) chance: String,
}

/// Writes `fabric:` with its nodes and links, one line each.
pub(super) fn fabric(explicit: &Explicit, out: &mut String) {
    out.push_str("fabric:\n  kind: explicit\n  nodes:\n");
    for ExplicitNode { name, kind, tier } in &explicit.nodes {
        out.push_str("    - {name: ");
        scalar(name, out);
        let _ = match kind {
            ExplicitKind::Host => writeln!(out, "}}"),
            ExplicitKind::Switch => writeln!(out, ", kind: switch, tier: {tier}}}"),
        };
    }
    out.push_str("  links:\n");
    for link in &explicit.links {
        let ExplicitLink {
            a,
            b,
            rate,
            delay,
            count,
        } = link;
        out.push_str("    - {a: ");
        scalar(a, out);
        out.push_str(", b: ");
        scalar(b, out);
        let _ = write!(out, ", rate: {rate}, delay: {delay}");
        if *count > 1 {
            let _ = write!(out, ", count: {count}");
        }
        out.push_str("}\n");
    }
}

/// Most entries that `impairments` may have.
const LOSSES_MAX: usize = 10_000;

/// Writes `impairments:` with frame losses: the most frequent probability for all links, then each
/// link that differs.
///
/// # Errors
/// The number of links that differ, if a scenario has no room for them.
pub(super) fn impairments(losses: &[Loss], out: &mut String) -> Result<(), usize> {
    // Sorted, so that a tie between two chances does not depend on hashing.
    let mut often: BTreeMap<&str, usize> = BTreeMap::new();
    for loss in losses {
        *often.entry(&loss.chance).or_default() += 1;
    }
    let most = often.into_iter().max_by_key(|&(_, count)| count);
    let Some((usual, count)) = most.filter(|_| losses.iter().any(|loss| loss.chance != "0")) else {
        return Ok(());
    };
    // One entry for all links keeps the scenario short; only exceptions have their own.
    let others = losses.len() - count;
    if others > LOSSES_MAX {
        return Err(others);
    }
    out.push_str("impairments:\n");
    if usual != "0" {
        let _ = writeln!(out, "  - {{link: all, frame_loss: {usual}}}");
    }
    for loss in losses.iter().filter(|loss| loss.chance != usual) {
        out.push_str("  - {link: ");
        scalar(&loss.link, out);
        let _ = writeln!(out, ", frame_loss: {}}}", loss.chance);
    }
    Ok(())
}

/// Writes a word in a flow mapping.
fn scalar(text: &str, out: &mut String) {
    // YAML would read such a name as a number, a truth value or nothing unless it is quoted.
    let is_number = text.parse::<f64>().is_ok();
    let is_word = ["null", "true", "false"].contains(&text.to_lowercase().as_str());
    emit::scalar(text, is_number || is_word, out);
}
