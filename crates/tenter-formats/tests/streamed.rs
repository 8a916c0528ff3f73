//! Files that are far larger than what is read of them: a part of each is in memory at a time.

use std::alloc::System;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use cap::Cap;
use flate2::Compression;
use flate2::write::GzEncoder;
use tenter_formats::{Content, ImportError, Imported, RankFiles, chakra, goal};
use tenter_language::units::Budget;
use tenter_workload::spec::TraceReading;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// The most that reading may take; each file has eight times as much and more.
const BYTES_MAX: usize = 8 << 20;
const PART: usize = 1 << 20;
const PARTS: u32 = 64;

/// A file that is removed when it is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> (Temporary, File) {
        let name = format!("tenter-streamed-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = File::create(&path).expect("it can be written");
        (Temporary(path), file)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl RankFiles for Temporary {
    fn count(&self) -> usize {
        1
    }

    fn name(&self, _: usize) -> &'static str {
        "trace.et"
    }

    fn open(&self, _: usize) -> Result<Content<'_>, ImportError> {
        let file = File::open(&self.0).expect("it was written");
        let length = file.metadata().expect("it is a file").len();
        Ok(Content::new(file, length))
    }
}

/// What is read, and that it takes little memory.
fn read(name: &str, read: impl FnOnce() -> Result<Imported, ImportError>) -> Imported {
    let imported = read().unwrap_or_else(|error| panic!("{name}: {error}"));
    let peak = ALLOCATOR.max_allocated();
    assert!(peak < BYTES_MAX, "{name}: {peak} bytes at the peak");
    imported
}

fn goal_text(of: &mut impl Write, part: &[u8]) -> std::io::Result<()> {
    writeln!(of, "num_ranks {PARTS}")?;
    for rank in 0..PARTS {
        write!(of, "/*")?;
        of.write_all(part)?;
        writeln!(of, "*/ rank {rank} {{ calc 7 }}")?;
    }
    Ok(())
}

/// A Chakra trace of operations that compute, with long names.
fn chakra_trace(of: &mut impl Write, part: &[u8]) -> std::io::Result<()> {
    // What the file is, which says nothing.
    of.write_all(&[0])?;
    for id in 1..=PARTS as u8 {
        // Number, kind (it computes) and duration; then the name, with its length of 2^20 bytes.
        let head = [0x08, id, 0x18, 4, 0x38, 5, 0x12, 0x80, 0x80, 0x40];
        let length = PART + head.len();
        let length = [
            length as u8 | 0x80,
            (length >> 7) as u8 | 0x80,
            (length >> 14) as u8,
        ];
        of.write_all(&length)?;
        of.write_all(&head)?;
        of.write_all(part)?;
    }
    Ok(())
}

/// One test: it counts all memory of its process.
#[test]
fn files_larger_than_memory_are_read_part_by_part() {
    let part = vec![b'x'; PART];
    let (file, mut out) = Temporary::new("ranks.goal");
    goal_text(&mut out, &part).expect("it can be written");
    let content = || file.open(0).expect("it was written");
    let imported = read("GOAL", || goal::read(content(), &Budget::unlimited()));
    assert_eq!(imported.graph.operations(), u64::from(PARTS));

    let reading = TraceReading {
        ranks: Some(2),
        ..TraceReading::default()
    };
    let (file, mut out) = Temporary::new("rank.et");
    chakra_trace(&mut out, &part).expect("it can be written");
    let imported = read("Chakra", || {
        chakra::read(&file, None, &reading, &Budget::unlimited())
    });
    assert_eq!(imported.graph.operations(), 2 * u64::from(PARTS));

    // Names that do not repeat themselves: a file may unpack to a hundred times its size.
    let part: Vec<u8> = (0..PART as u32)
        .map(|at| (at.wrapping_mul(at) >> 7) as u8)
        .collect();
    let (file, out) = Temporary::new("rank.et.gz");
    let mut packed = GzEncoder::new(out, Compression::fast());
    chakra_trace(&mut packed, &part).expect("it can be written");
    packed.finish().expect("it can be written");
    let imported = read("compressed Chakra", || {
        chakra::read(&file, None, &reading, &Budget::unlimited())
    });
    assert_eq!(imported.graph.operations(), 2 * u64::from(PARTS));
}
