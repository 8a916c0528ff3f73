//! Parts that an infrastructure consists of.

use std::collections::BTreeMap;

use tenter_language::units::{Rate, Time};

use crate::error::{ImportError, Place};

pub(super) type Read<T> = Result<T, ImportError>;

/// Most copies that a component or an instance may have.
pub(super) const COUNT_MAX: u64 = 1 << 20;

/// The kind of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Device,
    Xpu,
    Nic,
    Cpu,
    Switch,
    Port,
    Memory,
    Custom,
}

/// Replaces the characters that names in the schema may not have by `_`.
pub(super) fn plain(name: &str) -> String {
    let of = |character: char| match character {
        '-' | '_' => character,
        _ if character.is_ascii_alphanumeric() => character,
        _ => '_',
    };
    name.chars().map(of).collect()
}

/// Copies of a component in a device.
pub(super) struct Component {
    pub(super) name: String,
    pub(super) count: u32,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
/// The rule by which an edge pairs its ends.
pub(super) enum Scheme {
    OneToOne,
    ManyToMany,
}

/// An end of an edge: an instance and a component, each perhaps with a slice.
pub(super) struct Endpoint {
    /// Name with a slice; empty for an edge within a device.
    pub(super) instance: String,
    pub(super) component: String,
    pub(super) at: Place,
}

/// An edge between components of instances, or of one device.
pub(super) struct Edge {
    pub(super) ends: [Endpoint; 2],
    pub(super) scheme: Scheme,
    /// Name of the link, which has rate and latency.
    pub(super) link: String,
    pub(super) at: Place,
}

/// Rate and latency of a link, as far as it has them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    pub(super) rate: Option<Rate>,
    pub(super) latency: Option<Time>,
}

/// A device: its components, and the links and edges between them.
pub(super) struct Device {
    pub(super) components: Vec<Component>,
    pub(super) links: BTreeMap<String, Link>,
    pub(super) edges: Vec<Edge>,
    pub(super) at: Place,
}

/// Copies of a device in the infrastructure.
pub(super) struct Instance {
    pub(super) name: String,
    /// Name that the instance has in the fabric.
    pub(super) shown: String,
    pub(super) device: String,
    pub(super) count: u32,
    pub(super) at: Place,
}

/// The attribute `rank` of an annotated node.
pub(super) struct Rank {
    pub(super) node: String,
    pub(super) value: u64,
    pub(super) at: Place,
    /// The file with the annotations, if they have their own.
    pub(super) file: Option<String>,
}
