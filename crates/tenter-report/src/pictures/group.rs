//! Pictures that belong together.

use super::plot::Picture;
use crate::table::Section;

/// Pictures of one kind.
#[derive(Clone, Debug)]
pub struct PictureGroup {
    /// A word without spaces, by which a page finds the group.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The pictures in the order in which they are shown.
    pub pictures: Vec<Picture>,
    /// Answers that stand below them.
    pub sections: Vec<Section>,
}
