//! The types that keys may have.

use std::ops::RangeInclusive;

use tenter_units::{Bytes, Rate, Time};

use crate::{Reader, Shape, Share, Written};

/// A type that a key may have.
pub trait Value: Sized {
    /// What bounds its values; `()` where nothing does.
    type Bounds;

    /// What may be written.
    fn shape(bounds: Self::Bounds) -> Shape;

    /// Reads the value of a key.
    fn read(reader: &mut dyn Reader, key: &str, bounds: Self::Bounds) -> Option<Self>;

    /// As it is written in a scenario.
    fn written(&self) -> Written;
}

/// Quantities within bounds.
macro_rules! quantities {
    ($($type:ident by $method:ident;)+) => {
        $(impl Value for $type {
            type Bounds = RangeInclusive<$type>;

            fn shape(bounds: RangeInclusive<$type>) -> Shape {
                let (least, most) = bounds.into_inner();
                Shape::$type { least, most }
            }

            fn read(
                reader: &mut dyn Reader,
                key: &str,
                bounds: RangeInclusive<$type>,
            ) -> Option<$type> {
                reader.$method(key, bounds)
            }

            fn written(&self) -> Written {
                Written::Word(self.to_string())
            }
        })+
    };
}

quantities! {
    Time by time;
    Rate by rate;
    Bytes by size;
}

impl Value for bool {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Flag
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<bool> {
        reader.flag(key)
    }

    fn written(&self) -> Written {
        Written::Word(self.to_string())
    }
}

impl Value for Share {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Share
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Share> {
        reader.share(key)
    }

    fn written(&self) -> Written {
        Written::Word(self.to_string())
    }
}

/// Whole numbers of these types.
macro_rules! integers {
    ($($type:ty),+) => {
        $(impl Value for $type {
            type Bounds = RangeInclusive<$type>;

            fn shape(bounds: RangeInclusive<$type>) -> Shape {
                let (least, most) = (u64::from(*bounds.start()), u64::from(*bounds.end()));
                Shape::Integer { least, most }
            }

            fn read(
                reader: &mut dyn Reader,
                key: &str,
                bounds: RangeInclusive<$type>,
            ) -> Option<$type> {
                let range = u64::from(*bounds.start())..=u64::from(*bounds.end());
                reader.integer(key, range)?.try_into().ok()
            }

            fn written(&self) -> Written {
                Written::Word(self.to_string())
            }
        })+
    };
}

integers!(u8, u16, u32, u64);

/// A whole number of per cent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(pub u32);

impl Percent {
    /// In parts per million.
    pub fn ppm(self) -> u32 {
        self.0 * 10_000
    }
}

impl Value for Percent {
    type Bounds = RangeInclusive<u32>;

    fn shape(bounds: RangeInclusive<u32>) -> Shape {
        let (least, most) = (u64::from(*bounds.start()), u64::from(*bounds.end()));
        Shape::Percent { least, most }
    }

    fn read(reader: &mut dyn Reader, key: &str, bounds: RangeInclusive<u32>) -> Option<Percent> {
        u32::read(reader, key, bounds).map(Percent)
    }

    fn written(&self) -> Written {
        Written::Word(self.0.to_string())
    }
}

/// A value, or the word `none`.
impl<T: Value> Value for Option<T> {
    type Bounds = T::Bounds;

    fn shape(bounds: T::Bounds) -> Shape {
        Shape::OrNone(Box::new(T::shape(bounds)))
    }

    fn read(reader: &mut dyn Reader, key: &str, bounds: T::Bounds) -> Option<Option<T>> {
        if reader.is_none(key) {
            return Some(None);
        }
        T::read(reader, key, bounds).map(Some)
    }

    fn written(&self) -> Written {
        let none = || Written::word("none");
        self.as_ref().map_or_else(none, T::written)
    }
}

/// A list.
impl<T: Value<Bounds: Clone>> Value for Vec<T> {
    type Bounds = T::Bounds;

    fn shape(bounds: T::Bounds) -> Shape {
        Shape::List(Box::new(T::shape(bounds)))
    }

    fn read(reader: &mut dyn Reader, key: &str, bounds: T::Bounds) -> Option<Vec<T>> {
        let mut items = Vec::new();
        let mut complete = true;
        let is_list = reader.list(key, &mut |item| match T::read(item, "", bounds.clone()) {
            Some(value) => items.push(value),
            None => complete = false,
        });
        (is_list && complete).then_some(items)
    }

    fn written(&self) -> Written {
        Written::List(self.iter().map(T::written).collect())
    }
}

/// Any value, which something else reads.
impl Value for Written {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        Shape::Any
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Written> {
        reader.any(key)
    }

    fn written(&self) -> Written {
        self.clone()
    }
}

/// Values by names that the user gives them, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T: Value<Bounds: Clone>> Value for Named<T> {
    type Bounds = T::Bounds;

    fn shape(bounds: T::Bounds) -> Shape {
        Shape::Named(Box::new(T::shape(bounds)))
    }

    fn read(reader: &mut dyn Reader, key: &str, bounds: T::Bounds) -> Option<Named<T>> {
        let mut values = Vec::new();
        let mut complete = true;
        let is_mapping = reader.names(key, &mut |name, value| match T::read(
            value,
            "",
            bounds.clone(),
        ) {
            Some(value) => values.push((name.to_owned(), value)),
            None => complete = false,
        });
        (is_mapping && complete).then_some(Named(values))
    }

    fn written(&self) -> Written {
        let values = self.0.iter();
        Written::Map(
            values
                .map(|(name, value)| (name.clone(), value.written()))
                .collect(),
        )
    }
}

/// A text; its bound is the most characters that it may have.
impl Value for String {
    type Bounds = usize;

    fn shape(_: usize) -> Shape {
        Shape::Text
    }

    fn read(reader: &mut dyn Reader, key: &str, longest: usize) -> Option<String> {
        reader.text(key, longest)
    }

    fn written(&self) -> Written {
        Written::Text(self.clone())
    }
}

/// Lets an enum be the value of a key, by the word of each of its members.
#[macro_export]
macro_rules! choice {
    ($type:ident { $($word:literal => $member:ident),+ $(,)? }) => {
        impl $crate::Value for $type {
            type Bounds = ();

            fn shape((): ()) -> $crate::Shape {
                $crate::Shape::Choice(&[$($word),+])
            }

            fn read(reader: &mut dyn $crate::Reader, key: &str, (): ()) -> Option<$type> {
                let place = reader.choice(key, &[$($word),+])?;
                Some([$($type::$member),+][place])
            }

            fn written(&self) -> $crate::Written {
                $crate::Written::word(match self {
                    $($type::$member => $word,)+
                })
            }
        }
    };
}
