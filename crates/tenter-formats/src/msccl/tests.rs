//! Files by hand.

use std::fmt::Write as _;

use tenter_language::units::Budget;
use tenter_workload::collective::{AlgorithmFiles, AllReduceRing, CollectiveKind};

use crate::algorithm_file::read;
use crate::error::Place;

/// A ring all-reduce of `ranks` GPUs with a thread block each.
fn ring(ranks: u32) -> String {
    let mut text = format!(
        "<!-- a ring -->\n<algo name=\"ring\" proto=\"Simple\" nchannels=\"1\" \
         nchunksperloop=\"{ranks}\" ngpus=\"{ranks}\" coll=\"allreduce\" inplace=\"1\">\n"
    );
    for rank in 0..ranks {
        let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        let _ = writeln!(
            text,
            "<gpu id=\"{rank}\" i_chunks=\"{ranks}\" o_chunks=\"0\" s_chunks=\"0\">\n\
             <tb id=\"0\" send=\"{next}\" recv=\"{before}\" chan=\"0\">"
        );
        let last = 2 * ranks - 2;
        for step in 0..=last {
            let at = (rank + 2 * ranks - step) % ranks;
            let kind = match step {
                0 => "s",
                of if of < ranks - 1 => "rrs",
                of if of == ranks - 1 => "rrcs",
                of if of < last => "rcs",
                _ => "r",
            };
            let _ = writeln!(
                text,
                "<step s=\"{step}\" type=\"{kind}\" srcbuf=\"i\" srcoff=\"{at}\" dstbuf=\"i\" \
                 dstoff=\"{at}\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>"
            );
        }
        text.push_str("</tb>\n</gpu>\n");
    }
    text + "</algo>\n"
}

#[test]
fn a_ring_of_msccl_is_the_ring() {
    let read = read(ring(4).as_bytes(), &Budget::unlimited()).expect("it is a ring");
    assert_eq!(read.notes, Vec::<String>::new());
    let own = CollectiveKind::FromFile(AlgorithmFiles::of(read.program));
    let (own, of_ring) = (own.schedule(4, 4_096), CollectiveKind::from(AllReduceRing));
    let (own, of_ring) = (own.unwrap(), of_ring.schedule(4, 4_096).unwrap());
    assert_eq!(own.transfer_count(), of_ring.transfer_count());
    for id in 0..own.transfer_count() {
        assert_eq!(own.transfer(id), of_ring.transfer(id));
    }
}

#[test]
fn mistakes_have_their_lines() {
    let good = ring(3);
    for (from, to, line, what) in [
        (
            "type=\"rrs\"",
            "type=\"rcs\"",
            9,
            "chunk 2 of the output of rank 0 lacks chunk 2 of rank 0",
        ),
        ("type=\"rrs\"", "type=\"ra\"", 6, "a step is of type `ra`"),
        ("step s=\"1\"", "step s=\"2\"", 6, "the step is number 1"),
        ("cnt=\"1\"", "cnt=\"x\"", 5, "`cnt` of a `step` is `x`"),
        (
            "cnt=\"1\"",
            "cnt=\"2\"",
            15,
            "it receives 1 chunks, of which rank 0",
        ),
        ("cnt=\"1\"", "cnt=\"0\"", 5, "it moves no chunk"),
        ("recv=\"2\"", "recv=\"-1\"", 6, "whose `recv` is −1"),
        ("srcbuf=\"i\"", "srcbuf=\"x\"", 5, "`srcbuf` is `x`"),
        ("srcbuf=\"i\"", "srcbuf=\"s\"", 5, "the 0 chunks of scratch"),
        ("srcoff=\"0\"", "", 5, "a `step` lacks `srcoff`"),
        (
            "depid=\"-1\" deps=\"-1\"",
            "depid=\"4\" deps=\"0\"",
            5,
            "thread block 4, which",
        ),
        ("<gpu id=\"1\"", "<gpu id=\"0\"", 12, "GPU 0 is there twice"),
        ("ngpus=\"3\"", "ngpus=\"4\"", 2, "there is no GPU 3"),
        (
            "i_chunks=\"3\"",
            "i_chunks=\"4\"",
            3,
            "`i_chunks` is 4, and the collective needs 3",
        ),
        (
            "coll=\"allreduce\"",
            "coll=\"custom\"",
            2,
            "cannot be checked",
        ),
        (
            "proto=\"Simple\"",
            "proto=\"NVLS\"",
            2,
            "the protocol is `NVLS`",
        ),
        ("</algo>", "", 0, "this is no XML"),
        ("<algo ", "<algos ", 0, "this is no XML"),
        ("<tb ", "<block/><tb ", 4, "a `block` stands in a `gpu`"),
    ] {
        assert!(good.contains(from), "{from}");
        let error = read(good.replacen(from, to, 1).as_bytes(), &Budget::unlimited())
            .err()
            .unwrap_or_else(|| panic!("{to}"));
        assert!(error.what.contains(what), "{to}: {error}");
        if line > 0 {
            assert_eq!(error.place, Place::Line(line), "{to}: {error}");
        }
    }
}

#[test]
fn what_is_no_algorithm_is_refused() {
    assert!(
        read(b"<a/>", &Budget::unlimited())
            .unwrap_err()
            .what
            .contains("an algorithm is an `algo`")
    );
    assert!(
        read(b" ", &Budget::unlimited())
            .unwrap_err()
            .what
            .contains("nothing in it")
    );
    assert!(
        read(b"\xFF\xFE<", &Budget::unlimited())
            .unwrap_err()
            .what
            .contains("not UTF-8")
    );
}

#[test]
fn what_means_nothing_is_said() {
    let other = ring(2).replace("inplace=", "colour=\"red\" inplace=");
    let notes = read(other.as_bytes(), &Budget::unlimited())
        .expect("it is a ring")
        .notes;
    assert_eq!(
        notes,
        ["line 2: `colour` of a `algo` has no meaning here and is left out"]
    );
}

/// Older files have `<op step="0">`.
#[test]
fn the_older_dialect_is_read() {
    let other = ring(2).replace("<step s=", "<op step=");
    let own = ring(2);
    let [other, own] =
        [other, own].map(|text| read(text.as_bytes(), &Budget::unlimited()).expect("it is a ring"));
    assert_eq!(other.program, own.program);
}

/// Elements within elements are refused without deep recursion.
#[test]
fn deep_files_are_refused() {
    let deep = "<algo>".repeat(200_000);
    assert!(read(deep.as_bytes(), &Budget::unlimited()).is_err());
}
