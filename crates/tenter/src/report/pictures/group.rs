//! Pictures in groups, as pages show them.

use super::plot::Picture;
use crate::report::table::Section;

/// Pictures that share a heading, with the tables below them.
#[derive(Clone, Debug)]
pub struct PictureGroup {
    /// Identifier that requests name: one word without spaces.
    pub name: &'static str,
    /// Heading that pages show above the pictures.
    pub title: &'static str,
    /// Pictures in the order in which they are shown.
    pub pictures: Vec<Picture>,
    /// Tables that stand below the pictures.
    pub sections: Vec<Section>,
}
