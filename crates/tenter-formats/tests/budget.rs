//! What a request may take: files that never end are refused by their first bytes, and what a file
//! declares is refused before memory is allocated for it.

mod readings;

use std::alloc::System;
use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{self, Read, Seek, Write as _};
use std::rc::Rc;

use cap::Cap;
use flate2::Compression;
use flate2::write::GzEncoder;
use tenter_formats::{
    Content, Form, ImportError, RankFiles, Source, aicb, chakra, flow_list, goal, graph_file,
    pytorch_et, simai,
};
use tenter_language::units::{Budget, Bytes, Limits};
use tenter_workload::spec::{FlowReading, PytorchEtSpec, StartUnit, TraceReading};

use readings::{aicb_spec, calls, simai_spec};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// What a request may hold, in bytes,
const MEMORY: u64 = 32 << 20;
/// and how many ranks it may have.
const RANKS: u64 = 4_096;

fn budget() -> Budget {
    Budget::new(Limits {
        memory: Bytes::new(MEMORY),
        ranks: RANKS,
        ..Limits::NONE
    })
}

/// A file of 8 GiB with the same byte everywhere, which counts what is read of it.
struct Endless {
    byte: u8,
    at: u64,
    taken: Rc<Cell<u64>>,
}

const LENGTH: u64 = 8 << 30;

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = into.len().min((LENGTH - self.at) as usize);
        into[..count].fill(self.byte);
        self.at += count as u64;
        self.taken.set(self.taken.get() + count as u64);
        Ok(count)
    }
}

impl Seek for Endless {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        if let io::SeekFrom::Start(at) = to {
            self.at = at;
        }
        Ok(self.at)
    }
}

struct OneFile(u8, Rc<Cell<u64>>);

impl OneFile {
    fn content(&self) -> Content<'static> {
        let taken = Rc::clone(&self.1);
        let (byte, at) = (self.0, 0);
        Content::new(Endless { byte, at, taken }, LENGTH)
    }
}

impl RankFiles for OneFile {
    fn count(&self) -> usize {
        1
    }

    fn name(&self, _: usize) -> &'static str {
        "endless"
    }

    fn open(&self, _: usize) -> Result<Content<'_>, ImportError> {
        Ok(self.content())
    }
}

#[test]
fn endless_files_are_refused_by_their_first_bytes() {
    for byte in [0, b'a', b'1', 0x93] {
        let file = OneFile(byte, Rc::default());
        let reading = TraceReading {
            ranks: Some(2),
            ..TraceReading::default()
        };
        let told = |error: ImportError| error.to_string();
        let refusals = [
            file.content().whole(Form::Text, &budget()).err(),
            file.content().whole(Form::Json, &budget()).err(),
            goal::read(file.content(), &budget()).err().map(told),
            graph_file::read(file.content(), &budget()).err().map(told),
            chakra::read(&file, None, &reading, &budget())
                .err()
                .map(told),
        ];
        for refusal in refusals {
            let refusal = refusal.unwrap_or_else(|| panic!("{byte} is refused"));
            assert!(refusal.contains("; "), "{refusal}");
        }
        assert!(file.1.get() < 4 << 20, "{byte}: {}", file.1.get());
    }
}

fn read_aicb(text: &str) -> Option<ImportError> {
    aicb::read(text, &aicb_spec(), &budget()).err()
}

fn read_simai(text: &str) -> Option<ImportError> {
    simai::read(text, &simai_spec(), &budget()).err()
}

fn read_et(bytes: &[u8]) -> Option<ImportError> {
    let spec = PytorchEtSpec {
        file: String::new(),
        groups: None,
        calls: calls(),
    };
    let files = [Source { name: "t", bytes }];
    pytorch_et::read(files.as_slice(), None, &spec, &budget()).err()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

#[test]
fn what_a_file_declares_is_refused_before_it_is_allocated() {
    let reading = FlowReading::default();
    let far = |rank: u32| format!("source,destination,bytes\n0,{rank},1\n");
    let graph = [b"\x93TENTER\x02".as_slice(), b"\x80\x80\x40"].concat();
    let row = "CommType.all_reduce,CommGroup.tp_group,2,64,,0.5,1\n";
    let aicb = format!(
        "[rank0 ~ rank8191]\ncomm_type,comm_group,comm_group_size,msg_size,additional,_elapsed_time,count\n{row}"
    );
    let layer = "layer -1 1 ALLREDUCE 8 1 NONE 0 1 NONE 0 1\n";
    let simai = format!("MICRO model_parallel_NPU_group: 2 all_gpus: 8192\n1\n{layer}");
    for (name, error) in [
        (
            "table",
            flow_list::read_table(&far(1_048_575), reading, &budget()).err(),
        ),
        ("htsim", {
            let text = "Nodes 8192\n0->1 start 0 size 1\n";
            flow_list::read_htsim(text, StartUnit::Auto, reading, &budget()).err()
        }),
        (
            "ns3",
            flow_list::read_ns3("1\n0 1048575 3 100 9 0\n", reading, &budget()).err(),
        ),
        ("graph", graph_file::read(&graph, &budget()).err()),
        (
            "goal",
            goal::read("num_ranks 1048576\nrank 0 { calc 1 }".as_bytes(), &budget()).err(),
        ),
        ("aicb", read_aicb(&aicb)),
        ("simai", read_simai(&simai)),
    ] {
        let error = error
            .unwrap_or_else(|| panic!("{name} is refused"))
            .to_string();
        assert!(
            error.contains("ranks, and 4096 are allowed; "),
            "{name}: {error}"
        );
    }
    // A MiB of text and of packed text, whose trees and lists would take more than the budget.
    let values = format!("{{\"nodes\": [{}0]}}", "0,".repeat(1 << 19));
    let mut flows = String::from("source,destination,bytes\n");
    for flow in 0..400_000 {
        let _ = writeln!(flows, "{},{},9", flow % 64, 64 + flow % 64);
    }
    for (name, error) in [
        ("values", read_et(values.as_bytes())),
        ("packed values", read_et(&gzip(values.as_bytes()))),
        (
            "text",
            flow_list::read_table(&flows, reading, &budget()).err(),
        ),
    ] {
        let error = error
            .unwrap_or_else(|| panic!("{name} is refused"))
            .to_string();
        assert!(
            error.contains("of memory") && error.contains("; "),
            "{name}: {error}"
        );
    }
    let members = gzip(b"").repeat(100_000);
    let error = read_et(&members).expect("they are refused").to_string();
    assert!(
        error.contains("compressed members; unpack it first"),
        "{error}"
    );
    let peak = ALLOCATOR.max_allocated();
    assert!((peak as u64) < MEMORY, "{peak} bytes at the peak");
}
