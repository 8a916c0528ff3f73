//! Columns: they turn a row's fields into named, typed values in a file.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tenter_language::units::Time;

use crate::unread::Unread;

/// Type that a column's values have, the same in Parquet, JSON and CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Signed 64-bit integer. Every count, size and index is signed, so that column differences
    /// cannot wrap around.
    Integer,
    /// Unsigned 64-bit integer: a seed, which is no count and may have any 64 bits.
    Unsigned,
    /// 64-bit float: times in nanoseconds, and every ratio.
    Float,
    /// Text of any length, encoded in UTF-8.
    Text,
    /// A flag, true or false.
    Flag,
}

/// Value in one column and row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Value in a column with [`Kind::Integer`].
    Integer(i64),
    /// Value in a column with [`Kind::Unsigned`].
    Unsigned(u64),
    /// Value in a column with [`Kind::Float`].
    Float(f64),
    /// Value in a column with [`Kind::Text`].
    Text(&'a str),
    /// Value in a column with [`Kind::Flag`].
    Flag(bool),
    /// No value, in an optional column.
    Missing,
}

impl Cell<'_> {
    /// Returns the value as a number, a flag as 0 or 1; `None` for texts and missing values.
    pub fn number(self) -> Option<f64> {
        match self {
            Cell::Integer(value) => Some(value as f64),
            // Above 2⁵³ low digits are lost, which no statistic shows.
            Cell::Unsigned(value) => Some(value as f64),
            Cell::Float(value) => Some(value),
            Cell::Flag(value) => Some(f64::from(u8::from(value))),
            Cell::Text(_) | Cell::Missing => None,
        }
    }
}

impl<'a> Cell<'a> {
    /// Returns an integer cell's value.
    pub fn integer(self) -> Option<i64> {
        if let Cell::Integer(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// Returns an unsigned cell's value.
    pub fn unsigned(self) -> Option<u64> {
        if let Cell::Unsigned(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// Returns a float cell's value.
    pub fn float(self) -> Option<f64> {
        if let Cell::Float(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// Returns a text cell's value.
    pub fn text(self) -> Option<&'a str> {
        if let Cell::Text(value) = self {
            Some(value)
        } else {
            None
        }
    }

    /// Returns a flag cell's value.
    pub fn flag(self) -> Option<bool> {
        if let Cell::Flag(value) = self {
            Some(value)
        } else {
            None
        }
    }
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Cell::Integer(value) => serializer.serialize_i64(value),
            Cell::Unsigned(value) => serializer.serialize_u64(value),
            Cell::Float(value) => serializer.serialize_f64(value),
            Cell::Text(value) => serializer.serialize_str(value),
            Cell::Flag(value) => serializer.serialize_bool(value),
            Cell::Missing => serializer.serialize_none(),
        }
    }
}

/// Column in `R`'s table: its entry in the data dictionary, and the function that fills it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property by itself"
)]
pub struct Column<R: 'static> {
    /// Name in every file; ends with the unit, if there is one.
    pub name: &'static str,
    /// Type that the column's values have.
    pub kind: Kind,
    /// True if a row may lack a value here.
    pub optional: bool,
    /// True for a counter that a row may lack, as [`Row::unread`] says; the row's field is then 0.
    pub may_be_unread: bool,
    /// Unit in which values are; empty for a count, an index, a name or a flag.
    pub unit: &'static str,
    /// Meaning in a sentence, for the data dictionary.
    pub meaning: &'static str,
    /// True if trials from earlier versions may lack the column: it was added later, so the digest
    /// does not cover it.
    pub may_be_absent: bool,
    /// True if the value is looked up in [`Names`]; such a column is in tables but not in a row's
    /// JSON.
    pub joined: bool,
    /// Returns the column's value in one row.
    pub cell: for<'a> fn(&'a R, &'a Names) -> Cell<'a>,
}

/// Column without its rows' type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Column name in every file.
    pub name: &'static str,
    /// Type that the column's values have.
    pub kind: Kind,
    /// True if a row may lack a value here.
    pub optional: bool,
    /// Unit in which values are; empty for a count, an index, a name or a flag.
    pub unit: &'static str,
    /// Meaning in a sentence, for the data dictionary.
    pub meaning: &'static str,
    /// True if trials from earlier versions may lack the column.
    pub may_be_absent: bool,
}

impl<R> Column<R> {
    /// Returns the column without its rows' type.
    pub fn info(&self) -> ColumnInfo {
        ColumnInfo {
            name: self.name,
            kind: self.kind,
            optional: self.optional,
            unit: self.unit,
            // The text of a doc comment begins with a blank.
            meaning: self.meaning.trim_ascii(),
            may_be_absent: self.may_be_absent,
        }
    }
}

/// Receiver of a row's values, one by one. A trait instead of a closure, because its method can be
/// inlined for each column, whose kind is then known.
pub trait TakeCell {
    /// Receives the next column's value.
    fn take(&mut self, cell: Cell<'_>);
}

/// A row type: table name, description and columns in order.
pub trait Row: Sized + 'static {
    /// Table name, also the stem of the file name.
    const TABLE: &'static str;
    /// Meaning that one row has, in a sentence.
    const ABOUT: &'static str;
    /// Columns in the file's order, left to right.
    const COLUMNS: &'static [Column<Self>];

    /// Passes the values that the digest covers to `taker`, in column order: the row's own fields
    /// without the `undigested` ones. Other columns follow from these, or are names that are looked
    /// up.
    fn cells(&self, taker: &mut impl TakeCell);

    /// Returns the counters that were not read, if such rows may lack some.
    fn unread(&mut self) -> Option<&mut Unread> {
        None
    }
}

/// Names that rows refer to by index; they are joined in when a table is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Job names by job index.
    pub jobs: Vec<String>,
    /// Node names (NICs first, then switches) by node index.
    pub nodes: Vec<String>,
}

impl Names {
    /// Returns a job's name; empty for an unknown index.
    pub fn job(&self, job: u32) -> &str {
        self.jobs.get(job as usize).map_or("", String::as_str)
    }

    /// Returns a node's name; empty for an unknown index.
    pub fn node(&self, node: u32) -> &str {
        self.nodes.get(node as usize).map_or("", String::as_str)
    }
}

/// A type that a row's field may have.
pub trait Value: Sized {
    /// Column kind that such a field becomes.
    const KIND: Kind;
    /// True if such a value may be missing.
    const OPTIONAL: bool = false;
    /// Returns the value as a cell.
    fn cell(&self) -> Cell<'_>;
    /// Reads a value from the form in which its cell is serialised.
    ///
    /// # Errors
    /// The deserializer's errors: another type, or a number out of range.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

macro_rules! integer_value {
    ($($integer:ty),+) => {$(
        impl Value for $integer {
            const KIND: Kind = Kind::Integer;
            #[inline]
            fn cell(&self) -> Cell<'_> {
                // A count beyond 2⁶³ does not occur in a simulation; saturating keeps the column's
                // sign right all the same.
                Cell::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
            }
            fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::deserialize(deserializer)
            }
        }
    )+};
}
integer_value!(u16, u32, u64, i64);

macro_rules! plain_value {
    ($($type:ty => $kind:ident, $this:ident, $cell:expr);+) => {$(
        impl Value for $type {
            const KIND: Kind = Kind::$kind;
            #[inline]
            fn cell(&self) -> Cell<'_> {
                let $this = self;
                Cell::$kind($cell)
            }
            fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::deserialize(deserializer)
            }
        }
    )+};
}
plain_value!(
    f64 => Float, value, *value;
    bool => Flag, value, *value;
    String => Text, value, value
);

/// A trial's seed, in a column with room for all 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seed(pub u64);

impl Value for Seed {
    const KIND: Kind = Kind::Unsigned;
    #[inline]
    fn cell(&self) -> Cell<'_> {
        Cell::Unsigned(self.0)
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(Seed)
    }
}

/// Nanoseconds as a float: the nearest double to `ps / 1000`. Rounding restores the picosecond as
/// long as the time is below 2⁵⁰ ps (18 minutes), because division, reading from text and
/// multiplication each lose at most 2⁻⁵³ or 2⁻⁵² of it.
impl Value for Time {
    const KIND: Kind = Kind::Float;
    #[inline]
    fn cell(&self) -> Cell<'_> {
        Cell::Float(self.as_ns())
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(|ns| Time::from_ps((ns * 1e3).round() as u64))
    }
}

/// Carries [`Value::read`] through serde's own handling of missing values.
struct Present<T>(T);

impl<'de, T: Value> Deserialize<'de> for Present<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::read(deserializer).map(Present)
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;
    #[inline]
    fn cell(&self) -> Cell<'_> {
        self.as_ref().map_or(Cell::Missing, T::cell)
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // serde tells null from a value, and `Present` reads the value.
        Ok(Option::<Present<T>>::deserialize(deserializer)?.map(|present| present.0))
    }
}

/// Returns true if a column is marked as one that may lack a value.
pub(crate) const fn is_marked(marks: &[&str]) -> bool {
    !marks.is_empty()
}

/// Returns `value` as the cell in `column`, or a missing one if any of `unread` names the column.
#[inline]
pub(crate) fn cell<'a, T: Value>(unread: &[&Unread], column: &str, value: &'a T) -> Cell<'a> {
    if unread.iter().any(|unread| unread.lacks(column)) {
        return Cell::Missing;
    }
    value.cell()
}

/// Declares a row type once: the struct, its columns, its dictionary entries and its JSON.
///
/// A field's doc comment is its meaning in the data dictionary, so no column can lack one. A row
/// `without` some counters has a field with that name, which lists them; such counters repeat the
/// name after their unit. `undigested` columns are ordinary fields that the digest ignores, so that
/// it stays comparable with versions that had no such column. `derived` columns are computed from
/// the row, and are methods on it; `joined` ones are looked up in [`Names`].
macro_rules! rows {
    (
        $(#[doc = $about:literal])+
        pub struct $Row:ident in $table:literal $(without $kept:ident)? {
            $(
                $(#[doc = $meaning:literal])+
                $field:ident: $type:ty => $column:literal, $unit:literal $(, $unread:ident)?;
            )+
        }
        $( undigested {
            $(
                $(#[doc = $u_meaning:literal])+
                $u_field:ident: $u_type:ty => $u_column:literal, $u_unit:literal
                    $(, $u_unread:ident)?;
            )+
        } )?
        $( derived {
            $( $(#[doc = $d_meaning:literal])+
               $d_field:ident: $d_type:ty => $d_column:literal, $d_unit:literal
                   = |$d_row:ident| $d_value:expr; )+
        } )?
        $( joined {
            $(
                $(#[doc = $j_meaning:literal])+
                $j_column:literal = |$j_row:ident, $j_names:ident| $j_value:expr;
            )+
        } )?
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        pub struct $Row {
            $(
                $(#[doc = $meaning])+
                #[serde(rename = $column, deserialize_with = "crate::column::Value::read")]
                pub $field: $type,
            )+
            $($(
                $(#[doc = $u_meaning])+
                #[serde(
                    rename = $u_column,
                    default,
                    deserialize_with = "crate::column::Value::read"
                )]
                pub $u_field: $u_type,
            )+)?
            $(
                /// Counters that were not read: 0 in this row, and missing in tables.
                #[serde(skip)]
                pub $kept: crate::unread::Unread,
            )?
        }

        $( impl $Row {
            $(
                $(#[doc = $d_meaning])+
                pub fn $d_field(&self) -> $d_type {
                    let $d_row = self;
                    $d_value
                }
            )+
        } )?

        impl crate::column::Row for $Row {
            const TABLE: &'static str = $table;
            const ABOUT: &'static str = concat!($($about),+);
            const COLUMNS: &'static [crate::column::Column<$Row>] = &[
                $( crate::column::Column {
                    name: $column,
                    kind: <$type as crate::column::Value>::KIND,
                    optional: <$type as crate::column::Value>::OPTIONAL
                        || crate::column::is_marked(&[$(stringify!($unread))?]),
                    may_be_unread: crate::column::is_marked(&[$(stringify!($unread))?]),
                    unit: $unit,
                    meaning: concat!($($meaning),+),
                    may_be_absent: false,
                    joined: false,
                    cell: |row, _| {
                        crate::column::cell(&[$(&row.$unread)?], $column, &row.$field)
                    },
                }, )+
                $($( crate::column::Column {
                    name: $u_column,
                    kind: <$u_type as crate::column::Value>::KIND,
                    optional: <$u_type as crate::column::Value>::OPTIONAL
                        || crate::column::is_marked(&[$(stringify!($u_unread))?]),
                    may_be_unread: crate::column::is_marked(&[$(stringify!($u_unread))?]),
                    unit: $u_unit,
                    meaning: concat!($($u_meaning),+),
                    may_be_absent: true,
                    joined: false,
                    cell: |row, _| {
                        crate::column::cell(&[$(&row.$u_unread)?], $u_column, &row.$u_field)
                    },
                }, )+)?
                $($( crate::column::Column {
                    name: $d_column,
                    kind: <$d_type as crate::column::Value>::KIND,
                    optional: <$d_type as crate::column::Value>::OPTIONAL,
                    may_be_unread: false,
                    unit: $d_unit,
                    meaning: concat!($($d_meaning),+),
                    may_be_absent: false,
                    joined: false,
                    cell: |row, _| crate::column::Cell::from(row.$d_field()),
                }, )+)?
                $($( crate::column::Column {
                    name: $j_column,
                    kind: crate::column::Kind::Text,
                    optional: false,
                    may_be_unread: false,
                    unit: "",
                    meaning: concat!($($j_meaning),+),
                    may_be_absent: false,
                    joined: true,
                    cell: |$j_row, $j_names| crate::column::Cell::Text($j_value),
                }, )+)?
            ];

            #[inline]
            fn cells(&self, taker: &mut impl crate::column::TakeCell) {
                $( taker.take(crate::column::cell(&[$(&self.$unread)?], $column, &self.$field)); )+
            }

            $( fn unread(&mut self) -> Option<&mut crate::unread::Unread> {
                Some(&mut self.$kept)
            } )?
        }

        impl serde::Serialize for $Row {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                crate::column::serialise(self, serializer)
            }
        }
    };
}
pub(crate) use rows;

impl From<Time> for Cell<'_> {
    fn from(time: Time) -> Self {
        Cell::Float(time.as_ns())
    }
}

impl From<i64> for Cell<'_> {
    fn from(count: i64) -> Self {
        Cell::Integer(count)
    }
}

/// Writes a row as a map from column name to value, without joined columns.
pub(crate) fn serialise<R: Row, S: Serializer>(row: &R, serializer: S) -> Result<S::Ok, S::Error> {
    // Only joined columns read names, and those are left out.
    let names = Names::default();
    serializer.collect_map(
        R::COLUMNS
            .iter()
            .filter(|c| !c.joined)
            .map(|c| (c.name, (c.cell)(row, &names))),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Held {
        #[serde(deserialize_with = "Value::read")]
        time: Option<Time>,
    }

    proptest! {
        #[test]
        fn a_time_below_two_to_the_50_ps_survives_nanoseconds(ps in 0_u64..1 << 50) {
            let text = serde_json::to_string(&Time::from_ps(ps).cell()).expect("a number");
            let held: Held = serde_json::from_str(&format!("{{\"time\":{text}}}")).expect("own output");
            prop_assert_eq!(held, Held { time: Some(Time::from_ps(ps)) });
        }
    }

    #[test]
    fn a_missing_value_is_null() {
        assert_eq!(None::<Time>.cell(), Cell::Missing);
        assert_eq!(
            serde_json::to_string(&Cell::Missing).expect("a null"),
            "null"
        );
        let held: Held = serde_json::from_str("{\"time\":null}").expect("a null is a missing time");
        assert_eq!(held, Held { time: None });
    }

    #[test]
    fn a_name_out_of_range_is_empty() {
        let names = Names {
            jobs: vec!["a".to_owned()],
            nodes: Vec::new(),
        };
        assert_eq!((names.job(0), names.job(1), names.node(0)), ("a", "", ""));
    }
}
