//! Values that are a word or a mapping.

use crate::config::{Reader, Shape, Value, Written};

/// A word, or a mapping that spells everything out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordOr<W, M> {
    /// The word that was written.
    Word(W),
    /// The mapping that was written.
    Mapping(M),
}

impl<W: Value<Bounds = ()>, M: Value<Bounds = ()>> Value for WordOr<W, M> {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Either(Box::new(W::shape(())), Box::new(M::shape(())))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<WordOr<W, M>> {
        if reader.is_mapping(key) {
            M::read(reader, key, ()).map(WordOr::Mapping)
        } else {
            W::read(reader, key, ()).map(WordOr::Word)
        }
    }

    fn written(&self) -> Written {
        match self {
            WordOr::Word(word) => word.written(),
            WordOr::Mapping(mapping) => mapping.written(),
        }
    }
}
