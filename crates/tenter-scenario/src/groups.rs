//! Process groups: a collective that each of several groups of ranks runs by itself.

use tenter_workload::collective::{CollectiveKind, Groups};

use tenter_config::Presence::{Default, Required};
use tenter_config::{KeyTable, key};
use tenter_notation::decode::{Read, Section};

const GROUPS: KeyTable = KeyTable {
    title: "`jobs[].collectives[].groups`",
    keys: &[
        key("size", "count, 2 or more", Required, "Ranks of each group"),
        key(
            "stride",
            "count",
            Default("1"),
            "From a rank of a group to the next: with 1 a group are ranks that follow each other; with 8 ranks 0, 8, 16, … are one, ranks 1, 9, 17, … the next",
        ),
    ],
};

/// The tables for the reference.
pub(crate) const TABLES: [&KeyTable; 1] = [&GROUPS];

/// Reads `groups` out of a collective of that kind: the kind that all ranks run together then.
pub(crate) fn read(section: &mut Section<'_>, kind: CollectiveKind) -> Read<CollectiveKind> {
    let field = section.take("groups")?;
    if field.word() == Some("none") {
        return Some(kind);
    }
    let mut own = field.section(&GROUPS);
    let size = own.integer("size", 2..=u64::from(u32::MAX));
    let stride = own.integer("stride", 1..=u64::from(u32::MAX));
    section.put("groups", own.finish());
    Some(CollectiveKind::Grouped {
        groups: Groups {
            size: size?,
            stride: stride?,
        },
        kind: Box::new(kind),
    })
}
