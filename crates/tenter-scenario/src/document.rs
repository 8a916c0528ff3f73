//! Documents beside scenarios, such as the description of a sweep: read by the keys of a component,
//! with the same notations and the same messages.

use std::rc::Rc;

use tenter_config::Component;
use tenter_notation::decode::Section;
use tenter_notation::diagnostics::{Diagnostics, Problems};

use crate::load::{Format, parse, source};

/// Reads a document that is a component.
///
/// # Errors
/// Every problem of the text, together.
pub fn read_document<T: Component>(
    text: &str,
    source_name: &str,
    format: Format,
) -> Result<T, Diagnostics> {
    let sources = vec![source(text, source_name)?];
    let problems = Problems::default();
    let read = parse(text, format, &problems).and_then(|root| {
        problems.know(&Rc::new(root.clone()));
        let mut section = Section::root(root, &T::TABLE, &problems);
        let read = T::read(&mut section);
        section.finish();
        read
    });
    match read.filter(|_| problems.is_empty()) {
        Some(read) => Ok(read),
        None => Err(problems.into_diagnostics(sources)),
    }
}
