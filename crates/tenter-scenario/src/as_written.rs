//! A section that is no component yet: a reader of its own takes its keys one by one, and the filled
//! section is held in its written form.

use tenter_config::{Reader, Shape, Value, Written};

use crate::endpoint;

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
