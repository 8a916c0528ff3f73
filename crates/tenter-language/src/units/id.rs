//! Typed identifiers: a separate integer type for each kind of thing (hosts, switches, ranks …).

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// The number that identifies an item among all of its kind; a type made by
/// [`id!`](crate::units::id!).
pub trait Id: Copy {
    /// Returns the item's index in a list that has all of its kind.
    fn place(self) -> usize;

    /// Makes the identifier for index `place`.
    fn at(place: usize) -> Self;
}

/// A list with one entry for each item of a kind, indexed only by that kind's identifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ById<I, T> {
    entries: Vec<T>,
    // `fn(I)` instead of `I`: the list is `Send` and `Sync` whatever the identifier is.
    ids: PhantomData<fn(I)>,
}

impl<I: Id, T> ById<I, T> {
    /// Iterates over the identifiers in order.
    pub fn ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone + use<I, T> {
        (0..self.entries.len()).map(I::at)
    }

    /// Iterates over identifiers and entries in order, for changes.
    pub fn numbered_mut(&mut self) -> impl Iterator<Item = (I, &mut T)> {
        self.ids().zip(&mut self.entries)
    }

    /// Iterates over identifiers and entries in order.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.ids().zip(&self.entries)
    }
}

impl<I, T> From<Vec<T>> for ById<I, T> {
    fn from(entries: Vec<T>) -> Self {
        ById {
            entries,
            ids: PhantomData,
        }
    }
}

impl<I, T> Default for ById<I, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<I, T> FromIterator<T> for ById<I, T> {
    fn from_iter<E: IntoIterator<Item = T>>(entries: E) -> Self {
        entries.into_iter().collect::<Vec<T>>().into()
    }
}

impl<I, T: PartialEq, const N: usize> PartialEq<[T; N]> for ById<I, T> {
    fn eq(&self, entries: &[T; N]) -> bool {
        self.entries == entries
    }
}

impl<I, T> IntoIterator for ById<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a ById<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut ById<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter_mut()
    }
}

impl<I, T> Deref for ById<I, T> {
    type Target = Vec<T>;

    #[inline]
    fn deref(&self) -> &Vec<T> {
        &self.entries
    }
}

impl<I, T> DerefMut for ById<I, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.entries
    }
}

impl<I: Id, T> Index<I> for ById<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.entries[id.place()]
    }
}

impl<I: Id, T> IndexMut<I> for ById<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.place()]
    }
}

/// Defines an identifier type for one kind of thing, so that numbers of different kinds cannot be
/// confused. A value has the size and the speed of its integer, `u32` or `u16`.
///
/// ```
/// tenter_language::units::id! {
///     /// A shelf, counted from 0.
///     pub struct Shelf(u32);
/// }
/// let shelves: tenter_language::units::ById<Shelf, _> = vec!["cables", "switches"].into();
/// let second = Shelf::new(0).after(1);
/// assert_eq!(shelves[second], "switches");
/// assert_eq!(Shelf::new(4).run(2).map(Shelf::number).collect::<Vec<_>>(), [4, 5]);
/// assert_eq!(second.since(Shelf::new(0)), 1);
/// ```
#[macro_export]
macro_rules! id {
    ($(#[$doc:meta])* $visibility:vis struct $name:ident($int:ident);) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        $visibility struct $name($int);

        #[allow(dead_code, reason = "not every kind of thing needs all of them")]
        impl $name {
            /// Makes the identifier with this number, counted from 0.
            #[inline]
            #[must_use]
            $visibility const fn new(number: $int) -> Self {
                $name(number)
            }

            /// Returns the number, for tables, files and texts.
            #[inline]
            #[must_use]
            $visibility const fn number(self) -> $int {
                self.0
            }

            /// Returns the number as an index into a list that has all of the kind.
            #[inline]
            #[must_use]
            $visibility const fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the identifier `count` further on.
            #[inline]
            #[must_use]
            $visibility const fn after(self, count: $int) -> Self {
                $name(self.0 + count)
            }

            /// Returns the identifier `count` before.
            #[inline]
            #[must_use]
            $visibility const fn before(self, count: $int) -> Self {
                $name(self.0 - count)
            }

            /// Returns the distance from `first`, which must not come later.
            #[inline]
            #[must_use]
            $visibility const fn since(self, first: Self) -> $int {
                self.0 - first.0
            }

            /// Iterates over `count` consecutive identifiers, beginning with this one.
            $visibility fn run(
                self,
                count: $int,
            ) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                (self.0..self.0 + count).map($name)
            }
        }

        impl $crate::units::Id for $name {
            #[inline]
            fn place(self) -> usize {
                self.index()
            }

            #[inline]
            fn at(place: usize) -> Self {
                debug_assert!(place <= $int::MAX as usize);
                $name(place as $int)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }
    };
}
