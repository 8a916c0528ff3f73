//! Switch defaults by device and fabric kind: keys are added to the tree beneath those that were
//! written, before anything reads it.
//!
//! ```text
//!   device ──▶ fabric.switch ──▶ fabric.switch.tiers[]
//!                 └─▶ classes[], by whether they are lossless
//! ```

use tenter_language::config::{Component, Key, Presence};
use tenter_language::notation::tree::{Entry, Node, Value};

use crate::resolve::classes::{Class, Lossless};
use crate::resolve::profiles::{self, Profile};
use crate::resolve::switch::{SHARED, SwitchKeys, Tier};
use crate::resolve::switching::Switching;

/// Default queue capacity in a switch without a shared buffer.
const QUEUE_CAPACITY: &str = "64MiB";

/// Adds the keys that a scenario leaves out for its switches.
pub(crate) fn fill_in(scenario: &mut Node) {
    let Some(fabric) = scenario.entry_mut("fabric").filter(|node| node.is_map()) else {
        return;
    };
    let is_controlled = matches!(fabric.word("flow_control"), Some("pfc" | "ecn" | "pfc+ecn"));
    let switching = fabric.entry("switching").map(|entry| &entry.node);
    let kind = switching.and_then(|node| node.word("kind"));
    let kind = kind.unwrap_or_default().to_owned();
    let switch = mapping(fabric, "switch");
    let named = switch.and_then(|switch| profiles::find(switch.word("profile")?));
    // Only a profile that the user named may fill `switching`; the default ones are chosen by it.
    if let Some(profile) = &named {
        fill_switching(fabric, &kind, profile);
    }
    let by_credit = kind == "credit-based";
    if kind != "scheduled"
        && let Some(balancing) = mapping(fabric, "load_balancing")
        && by_credit
    {
        fill_word(balancing, "kind", "destination");
    }
    let Some(switch) = mapping(fabric, "switch") else {
        return;
    };
    // With link credit a frame arrives only if there is room, so output queues have no limit.
    if by_credit && switch.entry("buffer").is_none() {
        fill_word(switch, "queue_capacity", "none");
    }
    let usual = match kind.as_str() {
        _ if !is_controlled => "none",
        "scheduled" => profiles::SCHEDULED,
        _ => profiles::GENERIC,
    };
    fill_word(switch, "profile", usual);
    let profile = profile_of(switch);
    fill_switch(switch, &profile.switch);
    fill_capacity(switch);
    fill_classes(switch, &profile);
    fill_defaults(switch, SwitchKeys::KEYS);
    fill_tiers(switch);
}

/// Returns the mapping under `key`, and adds an empty one if nothing was written.
pub(crate) fn mapping<'n>(fabric: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    fabric.fill(&[Entry::unplaced(key, Node::empty())]);
    let node = fabric.entry_mut(key)?;
    if node.is_null() {
        node.value = Value::Map(Vec::new());
    }
    node.is_map().then_some(node)
}

/// Returns the profile that a mapping names; an unknown or missing name gives an empty one.
fn profile_of(switch: &Node) -> Profile {
    let named = switch.word("profile").and_then(profiles::find);
    named.unwrap_or_default()
}

fn fill_word(node: &mut Node, key: &str, word: &str) {
    node.fill(&[Entry::unplaced(key, Node::plain(word))]);
}

/// Adds the profile's `switching` keys that a fabric of this kind has.
fn fill_switching(fabric: &mut Node, kind: &str, profile: &Profile) {
    let mut members = Switching::VARIANTS.members.iter();
    let found = members.find(|(word, _)| *word == kind);
    if let (Some((_, table)), Some(switching)) = (found, fabric.entry_mut("switching")) {
        let known = profile.switching.iter();
        let known = known.filter(|entry| table.get(&entry.key).is_some());
        switching.fill(&known.cloned().collect::<Vec<_>>());
    }
}

/// Adds missing switch keys. `buffer` and `queue_capacity` exclude each other, so neither is added
/// beside the other.
fn fill_switch(switch: &mut Node, parts: &[Entry]) {
    let buffer = switch.entry("buffer").map(|entry| &entry.node);
    let capacity = switch.entry("queue_capacity").is_some();
    let shared = buffer.is_some_and(Node::is_map);
    let without = capacity && buffer.is_none();
    let parts = parts.iter().filter(|entry| match entry.key.as_str() {
        "buffer" => !without,
        "queue_capacity" => !shared,
        key => key != "profile",
    });
    switch.fill(&parts.cloned().collect::<Vec<_>>());
    if without {
        fill_word(switch, "buffer", "none");
    }
}

fn fill_capacity(switch: &mut Node) {
    if !switch
        .entry("buffer")
        .is_some_and(|entry| entry.node.is_map())
    {
        fill_word(switch, "queue_capacity", QUEUE_CAPACITY);
    }
}

/// Adds to each switch class what its profile says about lossless or lossy classes.
fn fill_classes(switch: &mut Node, profile: &Profile) {
    let buffer = switch.entry("buffer").map(|entry| &entry.node);
    let pool = buffer.filter(|buffer| buffer.is_map()).map(first_pool);
    for class in switch.items_mut("classes") {
        fill_class(class, profile, pool.as_deref());
    }
}

fn first_pool(buffer: &Node) -> String {
    let pools = buffer.entry("pools");
    let first = pools.and_then(|pools| pools.node.items().first());
    first
        .and_then(|pool| pool.word("name"))
        .unwrap_or(SHARED)
        .to_owned()
}

/// Completes one class; `pool` is a shared buffer's first pool.
pub(crate) fn fill_class(class: &mut Node, profile: &Profile, pool: Option<&str>) {
    let lossless = class.entry("lossless").map(|entry| &entry.node);
    let is_lossless = lossless.is_some_and(|node| match &node.value {
        Value::Scalar { text, .. } => text == "true",
        _ => true,
    });
    if let Some(written) = class
        .entry_mut("lossless")
        .filter(|node| is_lossless && !node.is_map())
    {
        // `true` stands for a mapping; filled below with the profile's keys, or empty.
        written.value = Value::Map(Vec::new());
    }
    let template = if is_lossless {
        &profile.lossless
    } else {
        &profile.lossy
    };
    let is_limited = |class: &Node| {
        let mut limits = ["alpha", "limit", "levels"].into_iter();
        limits.any(|key| class.entry(key).is_some())
    };
    let limited = is_limited(class);
    let unshared = ["alpha", "limit", "pool", "reserved"];
    let entries = template.iter().filter(|entry| match entry.key.as_str() {
        "alpha" | "limit" if limited => false,
        key => pool.is_some() || !unshared.contains(&key),
    });
    class.fill(&entries.cloned().collect::<Vec<_>>());
    if let Some(pool) = pool {
        fill_word(class, "pool", pool);
        if !is_limited(class) {
            fill_word(class, "alpha", "1");
        }
    }
    if class.entry("weight").is_none() {
        fill_word(class, "scheduling", "strict");
    }
}

/// Completes the switches in tiers: from the tier's own device, or else from the base model.
fn fill_tiers(switch: &mut Node) {
    let Value::Map(entries) = &switch.value else {
        return;
    };
    let known = entries.iter();
    let known = known.filter(|entry| Tier::TABLE.get(&entry.key).is_some());
    let usual: Vec<Entry> = known.cloned().collect();
    for tier in switch.items_mut("tiers") {
        let has = |tier: &Node, key: &str| tier.entry(key).is_some();
        let own_device = has(tier, "profile");
        let device = usual.iter().filter(|entry| entry.key == "profile");
        tier.fill(&device.cloned().collect::<Vec<_>>());
        let profile = profile_of(tier);
        // A tier's own device comes first; what it leaves open is as in the base model.
        if own_device {
            fill_switch(tier, &profile.switch);
        }
        let (own_classes, own_buffer) = (has(tier, "classes"), has(tier, "buffer"));
        let from = usual.iter();
        // A tier with its own buffer takes nothing from that of the base model.
        let from = from.filter(|entry| !(own_buffer && entry.key == "buffer"));
        fill_switch(tier, &from.cloned().collect::<Vec<_>>());
        fill_capacity(tier);
        if !own_classes {
            // Copied classes keep the base model's defaults, whatever this tier's device says.
            tier.items_mut("classes").iter_mut().for_each(complete);
        }
        fill_classes(tier, &profile);
    }
}

/// Writes out a class's defaults, so that another device's profile does not replace them.
fn complete(class: &mut Node) {
    fill_defaults(class, Class::KEYS);
    if let Some(lossless) = class.entry_mut("lossless") {
        fill_defaults(lossless, Lossless::KEYS);
    }
}

fn fill_defaults(node: &mut Node, keys: &[Key]) {
    for key in keys {
        if let Presence::Default(text) = key.presence {
            fill_word(node, key.name, text);
        }
    }
}
