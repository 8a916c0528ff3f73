//! Files that make a graph of operations, and the graph that comes of them.

use tenter_workload::graph::Graph;

/// A file that an importer reads.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name, for messages and where formats give names a meaning.
    pub name: &'a str,
    /// What it holds, perhaps compressed.
    pub bytes: &'a [u8],
}

/// A graph that has been read, and what is to be said of it.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The graph.
    pub graph: Graph,
    /// What was left out or is noteworthy, a sentence each.
    pub notes: Vec<String>,
}
