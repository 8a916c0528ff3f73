//! The parts of an infrastructure.

use std::collections::BTreeMap;

use tenter_units::{Rate, Time};

use crate::error::{ImportError, Place};

pub(super) type Read<T> = Result<T, ImportError>;

/// No device has more of a component, and no instance more copies.
pub(super) const COUNT_MAX: u64 = 1 << 20;

/// What a component is.
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

/// A name as the schema has names.
pub(super) fn plain(name: &str) -> String {
    let of = |character: char| match character {
        '-' | '_' => character,
        _ if character.is_ascii_alphanumeric() => character,
        _ => '_',
    };
    name.chars().map(of).collect()
}

pub(super) struct Component {
    pub(super) name: String,
    pub(super) count: u32,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    OneToOne,
    ManyToMany,
}

/// An end of an edge: an instance and a component, each with a slice.
pub(super) struct Endpoint {
    /// Empty within a device.
    pub(super) instance: String,
    pub(super) component: String,
    pub(super) at: Place,
}

pub(super) struct Edge {
    pub(super) ends: [Endpoint; 2],
    pub(super) scheme: Scheme,
    pub(super) link: String,
    pub(super) at: Place,
}

/// What a link says of itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    pub(super) rate: Option<Rate>,
    pub(super) latency: Option<Time>,
}

pub(super) struct Device {
    pub(super) components: Vec<Component>,
    pub(super) links: BTreeMap<String, Link>,
    pub(super) edges: Vec<Edge>,
    pub(super) at: Place,
}

pub(super) struct Instance {
    pub(super) name: String,
    /// What it is called in a fabric.
    pub(super) shown: String,
    pub(super) device: String,
    pub(super) count: u32,
    pub(super) at: Place,
}

/// An attribute of a node, of a graph that is annotated.
pub(super) struct Rank {
    pub(super) node: String,
    pub(super) value: u64,
    pub(super) at: Place,
    /// The file of annotations, where they have one of their own.
    pub(super) file: Option<String>,
}
