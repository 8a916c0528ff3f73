//! Sizes with which a collective is run.

use tenter_language::config::{Reader, Shape, Value, Written, component, told_apart};
use tenter_language::units::Bytes;

use super::limits::{SEQUENCE_MAX, SIZES};

component! {
    /// Sizes from one to another, each a multiple of the one before: the `-b`, `-f` and `-e` of
    /// nccl-tests.
    pub struct SizeRange as "`jobs[].collectives[].sizes`, written as a range" {
        /// The first size, and the smallest.
        start: Bytes, in SIZES;
        /// Factor from one size to the next.
        multiplier: u64 = "2", in 2..=SIZES.end().count();
        /// No size is larger than this; the last one when the multiplication hits it.
        end: Bytes, in SIZES;
        check ascends;
    }
}

component! {
    /// Sizes that are drawn each time, every number of bytes equally likely.
    pub struct DrawnSizes as "`jobs[].collectives[].sizes` of a background job, to be drawn each time" {
        /// No size is smaller than this.
        least: Bytes, in SIZES;
        /// No size is larger than this.
        most: Bytes, in SIZES;
        /// Number of sizes drawn each time.
        count: u32 = "1", in 1..=SEQUENCE_MAX;
        check in_order;
    }
}

told_apart! {
    /// Several sizes without a list of them.
    pub enum SizesBy as derive(Clone, Copy, Debug, PartialEq, Eq) {
        "is neither a range of sizes nor sizes to be drawn", "give `start` and `end`, or `least` and `most`";
        /// From one to another by a factor.
        "start" => Range(SizeRange);
        /// Sizes that are drawn each time.
        "least" => Drawn(DrawnSizes);
    }
}

/// Checks that a range's end is not before its start.
fn ascends(range: &SizeRange, reader: &mut dyn Reader) -> bool {
    let ascends = range.start <= range.end;
    if !ascends {
        let what = format!("is `{}`, before the start of `{}`", range.end, range.start);
        reader.refuse("end", &what, "swap the two, or raise the end");
    }
    ascends
}

/// Checks that `most` is at least `least`.
fn in_order(sizes: &DrawnSizes, reader: &mut dyn Reader) -> bool {
    let in_order = sizes.least <= sizes.most;
    if !in_order {
        let remedy = "swap the two, or raise `most`";
        reader.refuse("most", "is less than `least`", remedy);
    }
    in_order
}

impl SizeRange {
    /// Lists the sizes in bytes; stops where 64 bits would overflow.
    fn expand(self) -> Vec<u64> {
        let (end, multiplier) = (self.end.count(), self.multiplier);
        let next = |&size: &u64| size.checked_mul(multiplier).filter(|&size| size <= end);
        std::iter::successors(Some(self.start.count()), next).collect()
    }
}

/// Sizes with which a collective is run, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// A single size, written without a list.
    One(Bytes),
    /// Explicit sizes in the order in which they are run.
    List(Vec<Bytes>),
    /// A range, or sizes drawn for each run.
    By(SizesBy),
}

impl Sizes {
    /// Lists the sizes in bytes. Sizes that are drawn for each run appear as the largest one.
    pub(super) fn expand(&self) -> Vec<u64> {
        match self {
            Sizes::One(size) => vec![size.count()],
            Sizes::List(sizes) => sizes.iter().map(|size| size.count()).collect(),
            Sizes::By(SizesBy::Range(range)) => range.expand(),
            Sizes::By(SizesBy::Drawn(drawn)) => vec![drawn.most.count(); drawn.count as usize],
        }
    }

    /// Counts the sizes without listing drawn ones.
    pub(super) fn count(&self) -> usize {
        match self {
            // Counted without `expand`, which would allocate them.
            Sizes::By(SizesBy::Drawn(drawn)) => drawn.count as usize,
            _ => self.expand().len(),
        }
    }

    /// Returns the least size, in bytes, if sizes are drawn for each run.
    pub(super) fn drawn_from(&self) -> Option<u64> {
        match self {
            Sizes::By(SizesBy::Drawn(drawn)) => Some(drawn.least.count()),
            _ => None,
        }
    }
}

impl Value for Sizes {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        let list = Vec::<Bytes>::shape(SIZES);
        Shape::Either(Box::new(list), Box::new(SizesBy::shape(())))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Sizes> {
        if reader.is_mapping(key) {
            return SizesBy::read(reader, key, ()).map(Sizes::By);
        }
        if !matches!(reader.peek(key), Some(Written::List(_))) {
            return Bytes::read(reader, key, SIZES).map(Sizes::One);
        }
        let sizes = Vec::read(reader, key, SIZES)?;
        if sizes.is_empty() {
            reader.refuse(key, "is empty: there is no size", "give at least one");
            return None;
        }
        Some(Sizes::List(sizes))
    }

    fn written(&self) -> Written {
        match self {
            Sizes::One(size) => size.written(),
            Sizes::List(sizes) => sizes.written(),
            Sizes::By(by) => by.written(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, multiplier: u64, end: u64) -> Vec<u64> {
        let range = SizeRange {
            start: Bytes::new(start),
            multiplier,
            end: Bytes::new(end),
        };
        range.expand()
    }

    #[test]
    fn ranges_include_their_end_when_they_hit_it() {
        let mebi = |sizes: &[u64]| sizes.iter().map(|size| size << 20).collect::<Vec<_>>();
        let doubled = mebi(&[16, 32, 64, 128, 256]);
        assert_eq!(range(16 << 20, 2, 256 << 20), doubled);
        assert_eq!(range(16 << 20, 4, 250 << 20), mebi(&[16, 64]));
        assert_eq!(range(5, 2, 5), [5]);
    }

    #[test]
    fn ranges_stop_where_64_bits_do() {
        let sizes = range(1, 2, u64::MAX);
        assert_eq!((sizes.len(), sizes[63]), (64, 1 << 63));
    }
}
