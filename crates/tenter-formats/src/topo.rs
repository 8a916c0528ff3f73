//! Reader and writer for fat trees from htsim (`.topo`) as a scenario's `fabric`.
//!
//! A header has `Nodes`, `Tiers` and `Podsize`; a block for each tier follows.

mod write;

use tenter_language::notation::diagnostics::quote;

use tenter_language::units::Budget;

use crate::error::{ImportError, Place};
use crate::fabric::FabricText;
use crate::imported::Source;
use crate::limits;
use crate::words;

pub use write::write;

type Read<T> = Result<T, ImportError>;

/// Keys in a tier's block, and the block's line for messages.
#[derive(Clone, Copy, Default)]
struct Tier {
    line: usize,
    speed: Option<u64>,
    down: Option<u64>,
    up: Option<u64>,
    latency: Option<u64>,
    bundle: Option<u64>,
}

#[derive(Default)]
/// Content of a file while it is read. `at` is the tier whose block is being read.
struct File {
    nodes: Option<u64>,
    tiers: Option<u64>,
    pod: Option<u64>,
    of_tier: [Tier; 3],
    at: Option<usize>,
    /// Number of values without counterpart in a fabric.
    ignored: u64,
}

/// Largest count in a file.
const COUNT_MAX: u64 = 1 << 20;

fn wrong(line: usize, what: impl Into<String>, remedy: &str) -> ImportError {
    ImportError::new(Place::Line(line), what, remedy)
}

/// Reads a `.topo` file.
///
/// # Errors
/// The first line that violates the format, and counts that make no regular tree.
pub fn read(source: Source<'_>, budget: &Budget) -> Read<FabricText> {
    let read = || {
        limits::text(source.bytes.len(), budget)?;
        let text = words::text(source.bytes)?;
        let mut file = File::default();
        for (line, text) in (1..).zip(text.lines()) {
            file.line(line, text)?;
        }
        file.fabric()
    };
    read().map_err(|error| error.in_file(source.name))
}

impl File {
    /// Reads a line: a key with a whole number, or a comment.
    fn line(&mut self, line: usize, text: &str) -> Read<()> {
        let mut words = text.split_whitespace();
        let Some(key) = words.next().filter(|word| !word.starts_with('#')) else {
            return Ok(());
        };
        let value = words.next().and_then(|word| word.parse().ok());
        let Some(value) = value.filter(|value| *value <= COUNT_MAX * 1_000) else {
            let what = format!("{} has no whole number behind it", quote(key));
            return Err(wrong(line, what, "write one, for example `Tiers 3`"));
        };
        let tier = self.at.map(|at| &mut self.of_tier[at]);
        let slot = match (key.to_ascii_lowercase().as_str(), tier) {
            ("nodes", _) => &mut self.nodes,
            ("tiers", _) => &mut self.tiers,
            ("podsize", _) => &mut self.pod,
            ("tier", _) if value < 3 => {
                self.at = Some(value as usize);
                self.of_tier[value as usize].line = line;
                return Ok(());
            }
            ("downlink_speed_gbps", Some(tier)) => &mut tier.speed,
            ("radix_down", Some(tier)) => &mut tier.down,
            ("radix_up", Some(tier)) => &mut tier.up,
            ("downlink_latency_ns", Some(tier)) => &mut tier.latency,
            ("bundle", Some(tier)) => &mut tier.bundle,
            // The ratio follows from the radices and rates.
            ("oversubscribed", Some(_)) => return Ok(()),
            ("switch_latency_ns" | "queue_up" | "queue_down", Some(_)) => {
                self.ignored += u64::from(value > 0);
                return Ok(());
            }
            _ => {
                let what = format!("{} has no meaning here", quote(&format!("{key} {value}")));
                return Err(wrong(
                    line,
                    what,
                    "leave it out, or put it below its `Tier`",
                ));
            }
        };
        *slot = Some(value);
        Ok(())
    }

    fn need(value: Option<u64>, line: usize, key: &str) -> Read<u64> {
        let value = value.filter(|value| (1..=COUNT_MAX).contains(value));
        value.ok_or_else(|| {
            let what = format!("there is no `{key}` from 1 to {COUNT_MAX}");
            wrong(line.max(1), what, "give it")
        })
    }

    /// Divides `whole` by `part`, and refuses a remainder.
    fn parts(line: usize, whole: u64, of: &str, part: u64, by: &str) -> Read<u64> {
        if part > 0 && whole >= part && whole.is_multiple_of(part) {
            return Ok(whole / part);
        }
        let what = format!("{whole} {of} do not divide by {part} {by}");
        Err(wrong(line.max(1), what, "correct the counts"))
    }

    /// Makes the fabric from the counts, which must fit together.
    fn fabric(&self) -> Read<FabricText> {
        let nodes = File::need(self.nodes, 1, "Nodes")?;
        let tiers = File::need(self.tiers, 1, "Tiers")?;
        if !(2..=3).contains(&tiers) {
            return Err(wrong(1, format!("there are {tiers} tiers"), "give 2 or 3"));
        }
        // The whole tree of two tiers is one pod, whatever `Podsize` says.
        let pod = if tiers == 2 {
            nodes
        } else {
            File::need(self.pod, 1, "Podsize")?
        };
        let [leaf, agg, core] = self.of_tier;
        let hosts = File::need(leaf.down, leaf.line, "Radix_Down")?;
        let up = File::need(leaf.up, leaf.line, "Radix_Up")?;
        let agg_down = File::need(agg.down, agg.line, "Radix_Down")?;
        // Guess: a tier without `Bundle` has single cables, as in htsim.
        let bundle = agg.bundle.unwrap_or(1);
        let leaves = File::parts(leaf.line, pod, "hosts of a pod", hosts, "hosts of a leaf")?;
        let aggs = File::parts(agg.line, up, "uplinks of a leaf", bundle, "of a bundle")?;
        if agg_down != leaves * bundle {
            let what =
                format!("{leaves} leaves with {bundle} cable(s) each are not {agg_down} ports");
            return Err(wrong(agg.line, what, "correct `Radix_Down` or `Bundle`"));
        }
        let rates = [
            File::need(leaf.speed, leaf.line, "Downlink_speed_Gbps")?,
            File::need(agg.speed, agg.line, "Downlink_speed_Gbps")?,
        ];
        // Guess: without a latency in the file the key is left out, and the fabric's own default
        // holds.
        let delay = |key: &str, tier: Tier| {
            let latency = tier.latency;
            latency.map_or_else(String::new, |ns| format!("  {key}: {ns}ns\n"))
        };
        let mut yaml = format!(
            "fabric:\n  kind: fat-tree\n  hosts_per_leaf: {hosts}\n  leaves_per_pod: {leaves}\n  \
             aggs_per_pod: {aggs}\n  links_per_leaf_agg: {bundle}\n  host_rate: {}Gbps\n  \
             leaf_rate: {}Gbps\n{}{}",
            rates[0],
            rates[1],
            delay("host_delay", leaf),
            delay("leaf_delay", agg)
        );
        if tiers == 3 {
            let pods = File::parts(1, nodes, "hosts", pod, "hosts of a pod")?;
            yaml.push_str(&File::core(pods, agg, core)?);
        }
        let mut notes = Vec::new();
        let in_use = self.of_tier.iter().take(tiers as usize);
        let silent = in_use.filter(|tier| tier.latency.is_none()).count();
        if silent > 0 {
            notes.push(format!(
                "{silent} tier(s) have no `Downlink_Latency_ns`, and have the usual delay of a fabric"
            ));
        }
        if self.ignored > 0 {
            notes.push(format!(
                "{} latency(s) of switches or length(s) of queues are ignored; give them under \
                 `fabric.switch`",
                self.ignored
            ));
        }
        Ok(FabricText { yaml, notes })
    }

    /// Makes the keys for the core tier in a tree with three tiers.
    fn core(pods: u64, agg: Tier, core: Tier) -> Read<String> {
        let up = File::need(agg.up, agg.line, "Radix_Up")?;
        let down = File::need(core.down, core.line, "Radix_Down")?;
        // Guess: a tier without `Bundle` has single cables, as in htsim.
        let bundle = core.bundle.unwrap_or(1);
        let cores = File::parts(core.line, up, "uplinks of a switch", bundle, "of a bundle")?;
        if down != pods.saturating_mul(bundle) {
            let what = format!("{pods} pods with {bundle} cable(s) each are not {down} ports");
            return Err(wrong(
                core.line,
                what,
                "give each core one bundle to each pod",
            ));
        }
        let rate = File::need(core.speed, core.line, "Downlink_speed_Gbps")?;
        let delay = core.latency;
        let delay = delay.map_or_else(String::new, |ns| format!("    delay: {ns}ns\n"));
        Ok(format!(
            "  core:\n    pods: {pods}\n    cores_per_agg: {cores}\n    links_per_agg_core: \
             {bundle}\n    rate: {rate}Gbps\n{delay}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "# three tiers\nNodes 8\nTiers 3\nPodsize 4\nTier 0\n\
        Downlink_speed_Gbps 200\n\
        Radix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 200\n\
        Radix_Down 2\nRadix_Up 4\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nBundle 2\n";

    fn import(text: &str) -> Read<FabricText> {
        read(
            Source {
                name: "file",
                bytes: text.as_bytes(),
            },
            &Budget::unlimited(),
        )
    }

    #[test]
    fn trees_are_told_by_their_counts() {
        let yaml = import(TREE).expect("it is a tree").yaml;
        for key in [
            "aggs_per_pod: 2",
            "pods: 2",
            "cores_per_agg: 2",
            "links_per_agg_core: 2",
        ] {
            assert!(yaml.contains(key), "{yaml}");
        }
        for (from, to, line) in [
            ("Radix_Down 4", "Radix_Down 5", 14),
            ("Nodes 8", "Nodes 9", 1),
        ] {
            let error = import(&TREE.replace(from, to)).expect_err(to);
            assert_eq!(error.place, Place::Line(line), "{error}");
        }
        for end in 0..TREE.len() {
            let _ = import(&TREE[..end]);
        }
    }
}
