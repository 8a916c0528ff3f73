//! A fabric as YAML, and what is to be said of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tenter_notation::emit;
use tenter_topology::{Explicit, ExplicitKind, ExplicitLink, ExplicitNode};

/// Sections of a scenario that a file of others makes, and what is to be said of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricText {
    /// `fabric:` or `endpoint:` and what is under them, as YAML.
    pub yaml: String,
    /// What was left out or is noteworthy, a sentence each.
    pub notes: Vec<String>,
}

/// The loss of frames on the cables between two nodes, as it was written.
pub(super) struct Loss {
    pub(super) link: String,
    pub(super) chance: String,
}

/// `fabric:` with nodes and links, a line each.
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

/// The most entries of `impairments`.
const LOSSES_MAX: usize = 10_000;

/// `impairments:` with the loss of frames: the most frequent chance of all links, and those that
/// have another one.
///
/// # Errors
/// More chances that are not the usual one than a scenario has room for: how many.
pub(super) fn impairments(losses: &[Loss], out: &mut String) -> Result<(), usize> {
    let mut often: BTreeMap<&str, usize> = BTreeMap::new();
    for loss in losses {
        *often.entry(&loss.chance).or_default() += 1;
    }
    let most = often.into_iter().max_by_key(|&(_, count)| count);
    let Some((usual, count)) = most.filter(|_| losses.iter().any(|loss| loss.chance != "0")) else {
        return Ok(());
    };
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

/// A word in a flow mapping.
fn scalar(text: &str, out: &mut String) {
    // A number, or what YAML takes for nothing, would not stay a name.
    let is_number = text.parse::<f64>().is_ok();
    let is_word = ["null", "true", "false"].contains(&text.to_lowercase().as_str());
    emit::scalar(text, is_number || is_word, out);
}
