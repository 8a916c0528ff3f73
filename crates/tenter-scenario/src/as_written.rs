//! Sections that are no components yet: readers of their own take their keys one by one, and what
//! these have filled in is held as it is written.

use tenter_config::{Reader, Shape, Value, Written};

use crate::{endpoint, jobs};

/// Without quotation marks, which some notations need around all words.
fn plain(written: &Written) -> String {
    written.to_string().replace('"', "")
}

/// The section `endpoint`.
#[derive(Clone, Debug)]
pub struct EndpointAsWritten(pub Written);

impl PartialEq for EndpointAsWritten {
    fn eq(&self, other: &EndpointAsWritten) -> bool {
        plain(&self.0) == plain(&other.0)
    }
}

/// All keys have their defaults.
impl Default for EndpointAsWritten {
    fn default() -> EndpointAsWritten {
        EndpointAsWritten(Written::Map(Vec::new()))
    }
}

impl Value for EndpointAsWritten {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Mapping(endpoint::TABLES[0])
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<EndpointAsWritten> {
        reader.any(key).map(EndpointAsWritten)
    }

    fn written(&self) -> Written {
        self.0.clone()
    }
}

/// The section `jobs`.
#[derive(Clone, Debug)]
pub struct JobsAsWritten(pub Written);

impl PartialEq for JobsAsWritten {
    fn eq(&self, other: &JobsAsWritten) -> bool {
        plain(&self.0) == plain(&other.0)
    }
}

/// No jobs.
impl Default for JobsAsWritten {
    fn default() -> JobsAsWritten {
        JobsAsWritten(Written::List(Vec::new()))
    }
}

impl Value for JobsAsWritten {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::List(Box::new(Shape::Mapping(jobs::TABLES[0])))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<JobsAsWritten> {
        reader.any(key).map(JobsAsWritten)
    }

    fn written(&self) -> Written {
        self.0.clone()
    }
}
