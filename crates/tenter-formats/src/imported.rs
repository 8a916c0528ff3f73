//! Files that make a graph of operations, and the graph that comes of them.

use tenter_units::Budget;
use tenter_workload::graph::Graph;

use crate::content::{Content, Form};
use crate::error::ImportError;

/// A file that an importer reads.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name, for messages and where formats give names a meaning.
    pub name: &'a str,
    /// What it holds, perhaps compressed.
    pub bytes: &'a [u8],
}

/// The files of ranks, in their order, each of which is opened when its turn comes.
pub trait RankFiles {
    /// How many there are.
    fn count(&self) -> usize;

    /// The name of one.
    fn name(&self, place: usize) -> &str;

    /// What one holds.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn open(&self, place: usize) -> Result<Content<'_>, ImportError>;

    /// All that one holds.
    ///
    /// # Errors
    /// Those of [`Content::whole`].
    fn whole(&self, place: usize, form: Form, budget: &Budget) -> Result<Vec<u8>, ImportError> {
        let read = self.open(place)?.whole(form, budget);
        read.map_err(ImportError::unreadable)
    }
}

impl RankFiles for [Source<'_>] {
    fn count(&self) -> usize {
        self.len()
    }

    fn name(&self, place: usize) -> &str {
        self[place].name
    }

    fn open(&self, place: usize) -> Result<Content<'_>, ImportError> {
        Ok(self[place].bytes.into())
    }
}

/// A graph that has been read, and what is to be said of it.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The graph.
    pub graph: Graph,
    /// What was left out or is noteworthy, a sentence each.
    pub notes: Vec<String>,
}
