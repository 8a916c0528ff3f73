//! Groups of pictures.

use super::plot::Picture;
use crate::table::Section;

/// Pictures of one kind, with the tables below them.
#[derive(Clone, Debug)]
pub struct PictureGroup {
    /// Identifier of the group: one word, which requests name.
    pub name: &'static str,
    /// Heading above the pictures.
    pub title: &'static str,
    /// Pictures in the order in which they are shown.
    pub pictures: Vec<Picture>,
    /// Tables below the pictures.
    pub sections: Vec<Section>,
}
