//! A digest over records that does not depend on the order in which they are added.

use std::fmt;

use crate::column::{Cell, Row, TakeCell};

/// 128-bit digest over a multiset of records, such as table rows.
///
/// Each record is hashed to two independent 64-bit lanes, and records' lanes are summed. Threads
/// can therefore keep a digest each and [merge](Digest::merge) them at the end. The digest tells
/// accidental differences apart; it is no defence against a deliberate collision. A caller with
/// several kinds of records starts each kind with a distinct word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    lanes: [u64; 2],
}

impl Digest {
    /// Returns the digest for no records.
    pub const fn new() -> Digest {
        Digest { lanes: [0; 2] }
    }

    /// Adds one record; its words count in their order, and their number counts too.
    pub fn add(&mut self, record: &[u64]) {
        // Initial values: the first 128 bits in the fractional part of π.
        let mut first = 0x243F_6A88_85A3_08D3 ^ record.len() as u64;
        let mut second = 0x1319_8A2E_0370_7344 ^ record.len() as u64;
        for word in record {
            first = stafford_mix(first ^ word).wrapping_add(GOLDEN_RATIO);
            second = murmur_mix(second ^ word).wrapping_add(GOLDEN_RATIO);
        }
        self.lanes[0] = self.lanes[0].wrapping_add(first);
        self.lanes[1] = self.lanes[1].wrapping_add(second);
    }

    /// Adds one row's cells as a record of its table.
    #[inline]
    pub fn add_row<R: Row>(&mut self, row: &R) {
        self.add_rows(std::slice::from_ref(row));
    }

    /// Adds all `rows` in one table.
    pub fn add_rows<R: Row>(&mut self, rows: &[R]) {
        // The table's name is hashed once, for all of its rows.
        let table = RowHash::new(R::TABLE);
        for row in rows {
            let mut hash = table;
            row.cells(&mut hash);
            self.merge(hash.finish());
        }
    }

    /// Adds all records in another digest.
    pub fn merge(&mut self, other: Digest) {
        for (lane, added) in self.lanes.iter_mut().zip(other.lanes) {
            *lane = lane.wrapping_add(added);
        }
    }

    /// Returns the digest as 32 hexadecimal digits.
    pub fn to_hex(self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.lanes[0], self.lanes[1])
    }
}

/// Hash over one row, cell by cell.
///
/// There is a row for each flow, and rows have more words than other records. A word therefore
/// costs one multiplication to 128 bits, whose halves are folded, and the mixers run only at the
/// end.
///
/// The lanes are separate fields, and everything but texts is inlined, so that they stay in
/// registers: an array would become a vector in memory that each word waits for.
#[derive(Clone, Copy)]
struct RowHash {
    first: u64,
    second: u64,
}

/// Word that stands for a missing value.
const MISSING: u64 = 0x6d69_7373_696e_6720;
/// The first lane's factor: 64 further bits of π, made odd.
const FIRST_FACTOR: u64 = 0xA409_3822_299F_31D1;
/// The second lane's factor: 64 further bits of π, made odd.
const SECOND_FACTOR: u64 = 0x082E_FA98_EC4E_6C89;

impl RowHash {
    fn new(table: &str) -> RowHash {
        let mut hash = RowHash {
            first: 0x243F_6A88_85A3_08D3,
            second: 0x1319_8A2E_0370_7344,
        };
        hash.add_text(table);
        hash
    }

    #[inline]
    fn add_word(&mut self, word: u64) {
        self.first = folded_product(self.first ^ word, FIRST_FACTOR).wrapping_add(GOLDEN_RATIO);
        self.second = folded_product(self.second ^ word, SECOND_FACTOR).wrapping_add(GOLDEN_RATIO);
    }

    fn add_text(&mut self, text: &str) {
        // With the length in front, texts that differ in trailing zero bytes differ in their words.
        self.add_word(text.len() as u64);
        for chunk in text.as_bytes().chunks(8) {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            self.add_word(u64::from_le_bytes(bytes));
        }
    }

    fn finish(self) -> Digest {
        Digest {
            lanes: [stafford_mix(self.first), murmur_mix(self.second)],
        }
    }
}

impl TakeCell for RowHash {
    #[expect(
        clippy::inline_always,
        reason = "values go through memory where it is called, as it is long for an unknown kind"
    )]
    #[inline(always)]
    fn take(&mut self, cell: Cell<'_>) {
        match cell {
            Cell::Integer(value) => self.add_word(value.cast_unsigned()),
            Cell::Unsigned(value) => self.add_word(value),
            // By bits: floats of equal trials are bit-identical.
            Cell::Float(value) => self.add_word(value.to_bits()),
            Cell::Flag(value) => self.add_word(u64::from(value)),
            Cell::Text(text) => self.add_text(text),
            Cell::Missing => self.add_word(MISSING),
        }
    }
}

/// Multiplies to 128 bits, and combines the two halves by exclusive or.
#[inline]
const fn folded_product(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// 2⁶⁴ over the golden ratio. It keeps chains of zero words away from zero, the mixers' fixed
/// point.
const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

/// Finaliser from `SplitMix64` (Steele, Lea, Flood 2014; constants "variant 13" by David Stafford).
const fn stafford_mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// 64-bit finaliser from `MurmurHash3` (Austin Appleby, public domain).
const fn murmur_mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    word = (word ^ (word >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    word ^ (word >> 33)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tenter_language::units::Time;

    use super::*;
    use crate::{FlowRow, JobRow, QueueChangeRow, SampleRow};

    fn digest(records: &[&[u64]]) -> Digest {
        let mut digest = Digest::new();
        for record in records {
            digest.add(record);
        }
        digest
    }

    #[test]
    fn pinned_values() {
        // The digest is part of every trial's manifest: changing the function would make old and
        // new trials look different.
        assert_eq!(Digest::new().to_hex(), "00000000000000000000000000000000");
        assert_eq!(digest(&[&[0]]).to_hex(), PINNED_ZERO);
        assert_eq!(digest(&[&[1, 2, 3], &[4]]).to_hex(), PINNED_TWO);
    }
    const PINNED_ZERO: &str = "203bf0edace6bcd55bf1ca270b6d4675";
    const PINNED_TWO: &str = "0f9d15c799d757666d566208f60a09e4";

    #[test]
    fn words_lengths_and_counts_matter() {
        let different = [
            digest(&[]),
            digest(&[&[]]),
            digest(&[&[0]]),
            digest(&[&[0, 0]]),
            digest(&[&[0], &[0]]),
            digest(&[&[1, 2]]),
            digest(&[&[2, 1]]),
            digest(&[&[1], &[2]]),
            digest(&[&[1, 4], &[3, 2]]),
            digest(&[&[1, 2], &[3, 4]]),
        ];
        for (i, a) in different.iter().enumerate() {
            assert!(
                different[..i].iter().all(|b| a != b),
                "case {i} equals an earlier one"
            );
        }
    }

    fn of_rows<R: Row>(rows: &[R]) -> Digest {
        let mut digest = Digest::new();
        digest.add_rows(rows);
        digest
    }

    #[test]
    fn cells_of_a_row_matter() {
        let row = FlowRow::default();
        let base = of_rows(std::slice::from_ref(&row));
        let others = [
            FlowRow {
                cnp_frames: 1,
                ..row.clone()
            },
            FlowRow {
                rx_marked_frames: 1,
                ..row.clone()
            },
            FlowRow {
                posted: Time::from_ps(1),
                ..row.clone()
            },
            FlowRow {
                latency_max: Some(Time::ZERO),
                ..row.clone()
            },
        ];
        let mut digests: Vec<Digest> = others
            .iter()
            .map(|row| of_rows(std::slice::from_ref(row)))
            .collect();
        digests.extend([base, of_rows(&[row.clone(), row]), Digest::new()]);
        for (index, digest) in digests.iter().enumerate() {
            assert!(!digests[..index].contains(digest), "case {index}");
        }
    }

    #[test]
    fn texts_and_tables_matter() {
        let job = |name: &str, failure: Option<&str>| JobRow {
            name: name.to_owned(),
            failure: failure.map(str::to_owned),
            ..JobRow::default()
        };
        let digests = [
            of_rows(&[job("", None)]),
            of_rows(&[job("a", None)]),
            of_rows(&[job("a\0", None)]),
            of_rows(&[job("allreduce", None)]),
            of_rows(&[job("allreducf", None)]),
            of_rows(&[job("a", Some(""))]),
            of_rows(&[job("a", Some("b"))]),
            of_rows(&[job("b", Some("a"))]),
            of_rows(&[SampleRow::default()]),
            of_rows(&[QueueChangeRow::default()]),
        ];
        for (index, digest) in digests.iter().enumerate() {
            assert!(!digests[..index].contains(digest), "case {index}");
        }
        // As that of records: to change it would make old and new trials look different.
        assert_eq!(digests[3].to_hex(), PINNED_ROW);
    }
    const PINNED_ROW: &str = "e1a77713795c8e01f551c6c4a30531c1";

    #[test]
    fn one_bit_flips_half_the_digest() {
        // 128 output bits, each flipping with probability ½: mean 64, standard deviation √32 ≈ 5.7
        // for one flip. The mean over 512 flips is within 64 ± 2 unless mixing is broken.
        let base = digest(&[&[5, 6, 7, 8, 9, 10, 11, 12]]);
        let mut flipped = 0;
        for bit in 0..512 {
            let mut record = [5, 6, 7, 8, 9, 10, 11, 12];
            record[bit / 64] ^= 1 << (bit % 64);
            let other = digest(&[&record]);
            flipped += base
                .lanes
                .iter()
                .zip(other.lanes)
                .map(|(a, b)| (a ^ b).count_ones())
                .sum::<u32>();
        }
        let mean = f64::from(flipped) / 512.0;
        assert!((62.0..66.0).contains(&mean), "mean {mean}");
    }

    proptest! {
        #[test]
        fn order_and_grouping_do_not_matter(
            records in prop::collection::vec(prop::collection::vec(any::<u64>(), 0..6), 0..20),
            split in 0_usize..20,
        ) {
            let forward: Vec<&[u64]> = records.iter().map(Vec::as_slice).collect();
            let backward: Vec<&[u64]> = forward.iter().rev().copied().collect();
            let (left, right) = forward.split_at(split.min(forward.len()));
            let mut merged = digest(right);
            merged.merge(digest(left));
            prop_assert_eq!(digest(&forward), digest(&backward));
            prop_assert_eq!(digest(&forward), merged);
        }
    }
}
