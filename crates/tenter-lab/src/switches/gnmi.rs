//! JSON that `gnmic get` and `gnmic subscribe --mode once` print, in the models of `OpenConfig`.
//!
//! Counters come as single values, or as JSON below any node above them. In both cases the walk
//! ends at leaves, with their whole paths.

use std::collections::BTreeMap;

use serde_json::{Deserializer, Value};
use tenter_sim::real_time::Counter;

use super::fault::Fault;
use super::snapshot::Snapshot;

/// Paths to ask for. Many switches lack the last two.
pub(super) const PATHS: [&str; 3] = [
    "/interfaces/interface/state/counters",
    "/interfaces/interface/ethernet/state/counters",
    "/qos/interfaces/interface/output/queues/queue/state",
];

/// Most nodes in a path; deeper JSON is not looked into.
const DEPTH_MAX: usize = 32;

/// Returns true if a JSON text comes from `gnmic`.
pub(super) fn is_gnmi(text: &str) -> bool {
    text.contains("\"updates\"") || text.contains("\"sync-response\"")
}

/// A node in a path, with its key if it is an item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    name: String,
    key: Option<String>,
}

/// Counters by interface and queue, then by leaf name.
type Leaves = BTreeMap<(String, Option<String>), BTreeMap<String, u64>>;

/// Reads one or several answers, one below the other.
///
/// # Errors
/// Returns the reason why the text is not understood, or that it has no counters.
pub(super) fn read(text: &str) -> Result<Snapshot, Fault> {
    let mut leaves = Leaves::new();
    // gnmic prints one document for each answer, without a list around them.
    for document in Deserializer::from_str(text).into_iter::<Value>() {
        let document = document.map_err(|error| {
            Fault::at(
                error.line(),
                format!("it is no JSON of gnmic ({error}); give the output whole"),
            )
        })?;
        let list = match document {
            Value::Array(list) => list,
            other => vec![other],
        };
        for answer in &list {
            updates(answer, &mut leaves).map_err(|what| Fault { line: None, what })?;
        }
    }
    let snapshot = snapshot(&leaves);
    if snapshot.0.is_empty() {
        return Err(Fault {
            line: None,
            what: format!(
                "no interface in it has counters; ask for `{}`",
                PATHS.join("`, `")
            ),
        });
    }
    Ok(snapshot)
}

fn updates(answer: &Value, leaves: &mut Leaves) -> Result<(), String> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let prefix = text(answer.get("prefix"));
    let Some(Value::Array(updates)) = answer.get("updates") else {
        return Ok(());
    };
    for update in updates {
        let path = text(update.get("Path").or_else(|| update.get("path")));
        let mut nodes = path_nodes(&prefix);
        nodes.extend(path_nodes(&path));
        let Some(Value::Object(values)) = update.get("values") else {
            continue;
        };
        for value in values.values() {
            walk(&mut nodes, value, leaves)?;
        }
    }
    Ok(())
}

/// Splits a path such as `interfaces/interface[name=Ethernet1/1]/state` into nodes.
fn path_nodes(path: &str) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut rest = path.trim_start_matches('/');
    while !rest.is_empty() {
        // An interface name may contain slashes, but only within brackets.
        let end = rest.find(['/', '[']).unwrap_or(rest.len());
        let name = plain(&rest[..end]).to_owned();
        rest = &rest[end..];
        let mut key = None;
        while let Some(inside) = rest.strip_prefix('[') {
            let end = inside.find(']').unwrap_or(inside.len());
            let (_, value) = inside[..end].split_once('=').unwrap_or_default();
            // Lists of these models have a single key.
            key.get_or_insert_with(|| value.to_owned());
            rest = inside.get(end + 1..).unwrap_or_default();
        }
        rest = rest.trim_start_matches('/');
        nodes.push(Node { name, key });
    }
    nodes
}

/// Returns a node's name without the prefix that names its model.
fn plain(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, name)| name)
}

fn walk(nodes: &mut Vec<Node>, value: &Value, leaves: &mut Leaves) -> Result<(), String> {
    if nodes.len() > DEPTH_MAX {
        return Ok(());
    }
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                nodes.push(Node {
                    name: plain(name).to_owned(),
                    key: None,
                });
                let walked = walk(nodes, value, leaves);
                nodes.pop();
                walked?;
            }
            Ok(())
        }
        Value::Array(items) => {
            // Each item takes the list's place in the path, with its own key.
            let Some(last) = nodes.last().cloned() else {
                return items.iter().try_for_each(|item| walk(nodes, item, leaves));
            };
            for item in items {
                let key = ["name", "interface-id"]
                    .iter()
                    .find_map(|key| item.get(key));
                let key = key.and_then(Value::as_str).map(str::to_owned);
                nodes.pop();
                nodes.push(Node {
                    key,
                    ..last.clone()
                });
                walk(nodes, item, leaves)?;
            }
            Ok(())
        }
        leaf => take(nodes, leaf, leaves),
    }
}

/// Stores a leaf if it is an interface counter.
fn take(nodes: &[Node], leaf: &Value, leaves: &mut Leaves) -> Result<(), String> {
    // Subinterfaces and queues repeat leaf names, so the whole path behind the interface counts.
    let place = nodes.iter().position(|node| node.name == "interface");
    let Some((place, interface)) = place.and_then(|at| Some((at, nodes[at].key.clone()?))) else {
        return Ok(());
    };
    let behind = &nodes[place + 1..];
    let names: Vec<&str> = behind.iter().map(|node| node.name.as_str()).collect();
    let path = names.join("/");
    let is_counter = path
        .strip_prefix("state/counters/")
        .or_else(|| path.strip_prefix("ethernet/state/counters/"))
        .or_else(|| path.strip_prefix("output/queues/queue/state/"));
    let Some(name) = is_counter.filter(|name| COUNTED.contains(name)) else {
        return Ok(());
    };
    let number = match leaf {
        Value::Number(number) => number.as_u64(),
        // JSON has 64-bit numbers as strings (RFC 7951).
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    let number = number.ok_or_else(|| {
        format!("`{path}` of `{interface}` is {leaf}, which is no count; give the output whole")
    })?;
    let queue = behind.iter().find(|node| node.name == "queue");
    let queue = queue.and_then(|node| node.key.clone());
    let of = leaves.entry((interface, queue)).or_default();
    of.insert(name.to_owned(), number);
    Ok(())
}

/// Leaves that are read; all others are ignored.
const COUNTED: [&str; 17] = [
    "in-pkts",
    "in-unicast-pkts",
    "in-multicast-pkts",
    "in-broadcast-pkts",
    "in-octets",
    "in-discards",
    "out-pkts",
    "out-unicast-pkts",
    "out-multicast-pkts",
    "out-broadcast-pkts",
    "out-octets",
    "out-discards",
    "in-mac-pause-frames",
    "out-mac-pause-frames",
    "dropped-pkts",
    "dropped-octets",
    "max-queue-len",
];

fn snapshot(leaves: &Leaves) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for ((interface, queue), of) in leaves {
        if let Some(queue) = queue {
            add_queue(interface, queue, of, &mut snapshot);
            continue;
        }
        for (leaf, counter) in [
            ("in-octets", Counter::RxBytes),
            ("in-discards", Counter::RxDroppedFrames),
            ("out-octets", Counter::TxBytes),
            ("out-discards", Counter::DroppedFrames),
            ("in-mac-pause-frames", Counter::RxPauseFrames),
            ("out-mac-pause-frames", Counter::TxPauseFrames),
        ] {
            if let Some(&value) = of.get(leaf) {
                snapshot.set(interface, None, counter, value);
            }
        }
        for (way, counter) in [("in", Counter::RxFrames), ("out", Counter::TxFrames)] {
            if let Some(frames) = frames(of, way) {
                snapshot.set(interface, None, counter, frames);
            }
        }
    }
    snapshot
}

/// Returns the frames in direction `way`: the leaf for all of them, or the sum over unicast,
/// multicast and broadcast.
fn frames(of: &BTreeMap<String, u64>, way: &str) -> Option<u64> {
    let leaf = |kind: &str| of.get(&format!("{way}-{kind}pkts")).copied();
    leaf("").or_else(|| {
        let others = leaf("multicast-")?.saturating_add(leaf("broadcast-")?);
        Some(leaf("unicast-")?.saturating_add(others))
    })
}

/// Stores a queue's counters. A queue belongs to class n if its name ends with that number, 0 to 7.
fn add_queue(interface: &str, queue: &str, of: &BTreeMap<String, u64>, snapshot: &mut Snapshot) {
    let name = queue.trim_end_matches(|c: char| c.is_ascii_digit());
    let class = queue[name.len()..]
        .parse()
        .ok()
        .filter(|&class: &u8| class < 8);
    let Some(class) = class else {
        return;
    };
    for (leaf, counter) in [
        ("dropped-pkts", Counter::DroppedFrames),
        ("dropped-octets", Counter::DroppedBytes),
        ("max-queue-len", Counter::QueueHighWaterBytes),
    ] {
        if let Some(&value) = of.get(leaf) {
            snapshot.set(interface, Some(class), counter, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: &str = r#"[
  {
    "source": "192.0.2.22:57400",
    "timestamp": 1790000000000000000,
    "time": "2026-09-21T13:33:20Z",
    "updates": [
      {
        "Path": "openconfig-interfaces:interfaces",
        "values": {
          "interfaces": {
            "openconfig-interfaces:interface": [
              {
                "name": "Ethernet1/1",
                "state": { "name": "Ethernet1/1", "counters": {
                  "in-octets": "9000000000000000000", "in-unicast-pkts": "10",
                  "in-multicast-pkts": "2", "in-broadcast-pkts": "3",
                  "out-octets": "77", "out-pkts": "5", "out-discards": "4",
                  "last-clear": "0" } },
                "openconfig-if-ethernet:ethernet": { "state": { "counters": {
                  "in-mac-pause-frames": "6" } } },
                "subinterfaces": { "subinterface": [ { "index": 0,
                  "state": { "counters": { "in-octets": "1" } } } ] }
              }
            ]
          }
        }
      }
    ]
  }
]"#;

    const ONCE: &str = r#"{
  "source": "leaf1",
  "subscription-name": "default-1",
  "timestamp": 1790000000000000000,
  "prefix": "interfaces/interface[name=Ethernet1/1]/state/counters",
  "updates": [
    { "Path": "in-octets", "values": { "in-octets": 98093 } },
    { "Path": "out-octets", "values": { "out-octets": 7 } }
  ]
}
{
  "source": "leaf1",
  "prefix": "",
  "updates": [
    { "Path": "qos/interfaces/interface[interface-id=Ethernet1/1]/output/queues/queue[name=UC3]/state/dropped-pkts",
      "values": { "qos/interfaces/interface/output/queues/queue/state/dropped-pkts": 12 } }
  ]
}
{
  "sync-response": true
}
"#;

    #[test]
    fn an_answer_of_one_tree_is_walked_down() {
        let snapshot = read(GET).expect("it is right");
        let own = &snapshot.0["Ethernet1/1"].own;
        assert_eq!(own[&Counter::RxBytes], 9_000_000_000_000_000_000);
        assert_eq!(own[&Counter::RxFrames], 15);
        assert_eq!(
            (own[&Counter::TxFrames], own[&Counter::DroppedFrames]),
            (5, 4)
        );
        assert_eq!(own[&Counter::RxPauseFrames], 6);
        assert_eq!(own.get(&Counter::TxPauseFrames), None);
    }

    #[test]
    fn answers_of_single_values_have_their_prefix() {
        let snapshot = read(ONCE).expect("it is right");
        let interface = &snapshot.0["Ethernet1/1"];
        assert_eq!(interface.own[&Counter::RxBytes], 98_093);
        assert_eq!(interface.own.get(&Counter::RxFrames), None);
        assert_eq!(interface.classes[&3][&Counter::DroppedFrames], 12);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let fault = read(&GET[..400]).expect_err("it is cut");
        assert!(fault.line.is_some(), "{fault:?}");
        let fault = read(&GET.replace("\"77\"", "\"many\"")).expect_err("it is no count");
        assert!(
            fault.what.contains("out-octets` of `Ethernet1/1`"),
            "{fault:?}"
        );
        let fault = read("{\"sync-response\": true}").expect_err("it is empty");
        assert!(fault.what.contains(PATHS[0]), "{fault:?}");
    }

    #[test]
    fn no_text_is_too_strange() {
        let mut state = 7_u64;
        for _ in 0..2_000 {
            let mut text = format!("{GET}\n{ONCE}").into_bytes();
            for _ in 0..4 {
                state = tenter_engine::mix64(state);
                let place = state as usize % text.len();
                text[place] = (state >> 40) as u8;
            }
            let _ = read(&String::from_utf8_lossy(&text));
        }
        for path in ["", "[", "]", "a[b", "a[b=", "/a[b=c]d]/", "::", "a[=]["] {
            let _ = path_nodes(path);
        }
    }
}
