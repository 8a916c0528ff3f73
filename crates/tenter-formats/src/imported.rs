//! Files that an importer turns into an operation graph, and the graph.

use tenter_language::units::Budget;
use tenter_workload::graph::Graph;

use crate::content::{Content, Form};
use crate::error::ImportError;

/// A file that an importer reads.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// File name, for messages and for formats in which names have a meaning.
    pub name: &'a str,
    /// File content as stored: perhaps compressed.
    pub bytes: &'a [u8],
}

/// Files that an importer reads, as a rule one for each rank. Each is opened when its turn comes.
pub trait RankFiles {
    /// Returns the number of files.
    fn count(&self) -> usize;

    /// Returns the name of file `place`, which counts from 0.
    fn name(&self, place: usize) -> &str;

    /// Opens file `place`.
    ///
    /// # Errors
    /// A file that cannot be opened.
    fn open(&self, place: usize) -> Result<Content<'_>, ImportError>;

    /// Opens file `place` and reads it into memory.
    ///
    /// # Errors
    /// Errors from [`RankFiles::open`] and [`Content::whole`].
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

/// An operation graph that has been read, with notes for the user.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Operations and messages of all ranks.
    pub graph: Graph,
    /// Parts that were left out and facts worth knowing, one sentence each.
    pub notes: Vec<String>,
}
