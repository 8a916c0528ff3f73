//! Device profiles: switch devices' constants, as defaults in the scenario. The folder `profiles/`
//! has the data.

use tenter_language::config::{self as config, Reader, Shape, Written};
use tenter_language::notation::diagnostics::Problems;
use tenter_language::notation::tree::{Entry, Node, Value};
use tenter_language::notation::{decode, yaml};
use tenter_sim::plan::Device;

/// Includes the text of a file in `profiles/`.
macro_rules! text {
    ($file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/", $file))
    };
}
/// Profile names with their texts.
const PROFILES: [(&str, &str); 6] = [
    ("tomahawk5", text!("tomahawk5.yaml")),
    ("tomahawk5-sonic", text!("tomahawk5-sonic.yaml")),
    ("tofino2", text!("tofino2.yaml")),
    ("generic-32mb", text!("generic-32mb.yaml")),
    ("jericho3-ramon3", text!("jericho3-ramon3.yaml")),
    ("quantum2", text!("quantum2.yaml")),
];

/// Profile that flow control assumes if no other is named.
pub(crate) const GENERIC: &str = "generic-32mb";
/// Profile that flow control assumes in a scheduled fabric.
pub(crate) const SCHEDULED: &str = "jericho3-ramon3";

/// All profile names, after `none`.
const NAMES: [&str; PROFILES.len() + 1] = {
    let mut names = ["none"; PROFILES.len() + 1];
    let mut place = 0;
    // Iterators do not run in constants.
    while place < PROFILES.len() {
        names[place + 1] = PROFILES[place].0;
        place += 1;
    }
    names
};

/// A profile's name, or `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileName(&'static str);

impl config::Value for ProfileName {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Choice(&NAMES)
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<ProfileName> {
        let place = reader.choice(key, &NAMES)?;
        Some(ProfileName(NAMES[place]))
    }

    fn written(&self) -> Written {
        Written::word(self.0)
    }
}

impl ProfileName {
    /// Returns the profile; an empty one for `none`.
    pub(crate) fn profile(self) -> Profile {
        find(self.0).unwrap_or_default()
    }
}

/// A device: keys and values that a scenario leaves out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    /// Keys that belong to `fabric.switch`.
    pub(crate) switch: Vec<Entry>,
    /// Keys of `fabric.switching`, applied if it is of the device's kind.
    pub(crate) switching: Vec<Entry>,
    /// Keys for a lossless class.
    pub(crate) lossless: Vec<Entry>,
    /// Keys for a lossy class.
    pub(crate) lossy: Vec<Entry>,
    /// ECN thresholds for the data class, applied if `flow_control` asks for marks.
    pub(crate) ecn: Option<Node>,
    /// The device's ports and power.
    pub(crate) device: Option<Device>,
}

#[cfg(test)]
fn names() -> impl Iterator<Item = &'static str> {
    PROFILES.iter().map(|(name, _)| *name)
}

/// Finds a profile by any word.
pub(crate) fn find(name: &str) -> Option<Profile> {
    PROFILES
        .iter()
        .any(|(known, _)| *known == name)
        .then(|| profile(name))
}

/// Returns the profile with a name from the list; panics for any other.
pub(crate) fn profile(name: &str) -> Profile {
    let found = PROFILES.iter().find(|(known, _)| *known == name);
    let (_, text) = found.expect("the name was chosen from the list");
    let problems = Problems::default();
    // Profiles are part of the program, and tests read each of them.
    let root = yaml::parse(text, 0, 0, &problems).expect("profiles are valid YAML");
    let mut profile = Profile::default();
    for entry in entries(decode::unplaced(root)) {
        match entry.key.as_str() {
            "switch" => profile.switch = entries(entry.node),
            "switching" => profile.switching = entries(entry.node),
            "lossless" => profile.lossless = entries(entry.node),
            "lossy" => profile.lossy = entries(entry.node),
            "ecn" => profile.ecn = Some(entry.node),
            "device" => profile.device = Some(device(name, entry.node)),
            other => unreachable!("profiles have no part `{other}`"),
        }
    }
    profile
}

fn entries(node: Node) -> Vec<Entry> {
    match node.value {
        Value::Map(entries) => entries,
        _ => Vec::new(),
    }
}

/// Reads the part of a profile that changes no result.
fn device(name: &str, node: Node) -> Device {
    let mut device = Device {
        name: name.to_owned(),
        ports: Vec::new(),
        power_watts: None,
    };
    for entry in entries(node) {
        match (entry.key.as_str(), entry.node.value) {
            ("ports", Value::List(items)) => {
                let ports = items.into_iter().map(|item| {
                    let [count, rate] =
                        ["count", "rate"].map(|key| item.word(key).unwrap_or_default());
                    let count = count.parse().expect("a count of ports is a number");
                    (count, rate.parse().expect("a rate has its unit"))
                });
                device.ports = ports.collect();
            }
            ("power_watts", Value::Scalar { text, .. }) => device.power_watts = text.parse().ok(),
            ("ports", _) => {}
            (other, _) => unreachable!("devices have no `{other}`"),
        }
    }
    device
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_has_its_parts() {
        for name in names() {
            let profile = profile(name);
            let has = |entries: &[Entry], key: &str| entries.iter().any(|entry| entry.key == key);
            // Where frames are sent by credit there is nothing to share, to pause or to mark.
            let by_credit = has(&profile.switching, "lane_buffer");
            assert!(has(&profile.switch, "buffer") != by_credit, "{name}");
            assert!(has(&profile.lossless, "alpha") != by_credit, "{name}");
            assert!(has(&profile.lossless, "lossless") != by_credit, "{name}");
            assert!(has(&profile.lossy, "alpha") != by_credit, "{name}");
            // A scheduled fabric marks nothing.
            let scheduled = !profile.switching.is_empty();
            assert!(profile.ecn.is_some() != scheduled, "{name}");
            let device = profile.device.expect("every profile says what it knows");
            assert_eq!(device.name, name);
            assert!(device.power_watts != Some(0), "{name}");
        }
        assert!(names().any(|name| name == GENERIC));
    }

    /// A number without its origin is a guess: every line with one has a comment, or stands below
    /// one.
    #[test]
    fn every_constant_has_an_origin() {
        for (name, text) in PROFILES {
            let mut explained = false;
            for line in text.lines() {
                if line.trim_start().starts_with('#') {
                    explained = true;
                } else if line.contains(" #") || line.is_empty() {
                    explained = false;
                } else if line.contains(|c: char| c.is_ascii_digit()) {
                    assert!(explained, "{name}: {line}");
                }
            }
        }
    }
}
