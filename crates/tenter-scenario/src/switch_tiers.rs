//! `fabric.switch.tiers`: switches of one tier that are not like the others.

use tenter_topology::Topology;

use crate::switch::{self, SwitchDraft};
use tenter_config::Presence::{self, Depends, Required};
use tenter_config::{KeyTable, key};
use tenter_notation::decode::{Read, Section};
use tenter_notation::diagnostics::{Location, Problems};
use tenter_notation::tree::{Entry, Node};

const AS_USUAL: Presence = Depends("as in `fabric.switch`");

const TIER: KeyTable = KeyTable {
    title: "`fabric.switch.tiers[]`",
    keys: &[
        key(
            "tier",
            "0 to 254",
            Required,
            "Whose switches are meant: 0 for leaves, 1 for the switches above them, and so on",
        ),
        key(
            "profile",
            "`none`, `tomahawk5`, `tomahawk5-sonic`, `tofino2`, `generic-32mb`, `jericho3-ramon3` or `quantum2`",
            AS_USUAL,
            "Their device; its constants come before those of `fabric.switch`",
        ),
        key(
            "forwarding",
            "`cut-through` or `store-and-forward`",
            AS_USUAL,
            "Whether a frame may leave before all of it has come in",
        ),
        key(
            "pipeline_latency",
            "time",
            AS_USUAL,
            "From the input to the output of an idle switch",
        ),
        key(
            "buffer",
            "mapping or `none`",
            AS_USUAL,
            "The buffer that all ports share; one that is given takes nothing from `fabric.switch`",
        ),
        key(
            "queue_capacity",
            "size or `none`",
            AS_USUAL,
            "Frame bytes one output queue holds before it drops the tail",
        ),
        key(
            "classes",
            "list",
            AS_USUAL,
            "What becomes of each traffic class; the same classes as in `fabric.switch`",
        ),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 1] = [&TIER];

/// The switches of a tier, read.
pub(crate) struct TierDraft {
    pub(crate) tier: u8,
    pub(crate) at: Option<Location>,
    pub(crate) switch: SwitchDraft,
}

impl TierDraft {
    pub(crate) fn parts(self) -> (Option<u8>, SwitchDraft) {
        (Some(self.tier), self.switch)
    }
}

/// Reads `tiers` out of `fabric.switch`, all other keys of which have been read.
pub(crate) fn read(usual: &mut Section<'_>, controls: &switch::Controls) -> Read<Vec<TierDraft>> {
    let from = inherited(usual.so_far());
    let field = usual.take("tiers")?;
    let mut seen = Vec::new();
    let (drafts, node) = field.each(|_, item| {
        let at = item.at;
        let mut section = item.section(&TIER);
        let number = section.take("tier");
        let tier = number.as_ref().and_then(|field| field.integer(0..=254));
        if let (Some(tier), Some(field)) = (tier, &number) {
            if seen.contains(&tier) {
                let help = "describe each tier once".to_owned();
                field.problem("is a tier that was described before", help);
                return (None, section.finish());
            }
            seen.push(tier);
        }
        let switch = switch::read_tier(&mut section, controls, &from);
        let node = section.finish();
        let read = || {
            Some(TierDraft {
                tier: tier?,
                at,
                switch: switch?,
            })
        };
        (read(), node)
    });
    usual.put("tiers", node);
    drafts
}

/// What tiers have where they say nothing.
fn inherited(usual: &[Entry]) -> Vec<Entry> {
    let known = usual.iter().filter(|entry| TIER.get(&entry.key).is_some());
    known.cloned().collect()
}

/// A tier that no switch is of is a slip.
pub(crate) fn check(
    switches: Option<&(SwitchDraft, Vec<TierDraft>)>,
    topology: &Topology,
    problems: &Problems,
) {
    let Some((_, tiers)) = switches else {
        return;
    };
    let top = topology.top_tier();
    let has = |tier: u8| {
        let mut switches = topology.switch_nodes();
        switches.any(|node| topology.tier(node) == Some(tier))
    };
    for of in tiers.iter().filter(|of| !has(of.tier)) {
        let message = format!("no switch of this fabric is of tier {}", of.tier);
        let help = top.map(|top| format!("the highest tier is {top}, and leaves are of tier 0"));
        problems.push(of.at, message, help);
    }
}

/// The section of a model in the effective configuration; `path` is its own.
pub(crate) fn section_of<'n>(effective: &'n mut Node, path: &str) -> Option<&'n mut Node> {
    let switch = effective.entry_mut("fabric")?.entry_mut("switch")?;
    match path.split_once('[') {
        None => Some(switch),
        Some((_, index)) => {
            let index = index.strip_suffix(']')?.parse().ok()?;
            switch.item_mut("tiers", index)
        }
    }
}
