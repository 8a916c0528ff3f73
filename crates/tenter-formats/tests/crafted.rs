//! Files that are made to cost much: short ones that declare much, and long ones whose parts meet
//! each other in pairs. Each is read or refused in seconds, and below a gigabyte.

mod columnar;
mod readings;

use std::alloc::System;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cap::Cap;
use flate2::Compression;
use flate2::write::GzEncoder;
use tenter_formats::fabric::FabricReading;
use tenter_formats::{
    ImportError, Imported, ReadAlgorithm, Source, aicb, chakra, flight_recorder, flow_list, goal,
    graph_file, infragraph, kineto, matrix, nccl_log, nccl_topo, ns3_topology, simai,
};
use tenter_language::units::{Budget, Rate};
use tenter_testkit::{ProcessorTime, cases};
use tenter_workload::spec::{
    FlightRecorderSpec, FlowReading, Gaps, KinetoSpec, NcclLogSpec, StartUnit, TraceReading, Waits,
};

use readings::{aicb_spec, calls, simai_spec};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const BYTES_MAX: usize = 1 << 30;
// The profile of tests leaves the check of algorithms as it is compiled fastest.
const TIME_MAX: Duration = Duration::from_secs(if cfg!(debug_assertions) { 15 } else { 5 });
/// Of files that make as many operations as they may.
const LARGEST: Duration = Duration::from_secs(60);

/// One file after the other, so that the peak of memory is that of one.
static TURN: Mutex<()> = Mutex::new(());

/// Reads a file within the bounds; a refusal as a text, which names the place and the remedy.
fn bounded<T>(
    name: &str,
    bytes: &[u8],
    read: impl FnOnce(&[u8]) -> Result<T, ImportError>,
) -> Result<T, String> {
    bounded_in(TIME_MAX, name, bytes, read)
}

/// The same in another time.
#[expect(clippy::print_stdout, reason = "`--nocapture` shows what files cost")]
fn bounded_in<T>(
    most: Duration,
    name: &str,
    bytes: &[u8],
    read: impl FnOnce(&[u8]) -> Result<T, ImportError>,
) -> Result<T, String> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let began = ProcessorTime::now();
    let read = read(bytes).map_err(|error| error.to_string());
    let took = began.elapsed();
    let peak = ALLOCATOR.max_allocated();
    let length = bytes.len();
    if took > TIME_MAX / 50 {
        println!("{name}: {length} bytes, {took:?}, peak so far {peak}");
    }
    assert!(took < most, "{name}: it took {took:?}");
    assert!(peak < BYTES_MAX, "{name}: {peak} bytes at the peak");
    if let Err(refusal) = &read {
        let has_place = ["line ", "byte ", "row ", "in the JSON"].map(|of| refusal.contains(of));
        let has_place = has_place.contains(&true);
        assert!(has_place && refusal.contains("; "), "{name}: {refusal}");
    }
    read
}

/// A refusal that says something.
fn refused<T>(read: Result<T, String>, what: &str) {
    match read {
        Ok(_) => panic!("it is read, and not refused with `{what}`"),
        Err(refusal) => assert!(refusal.contains(what), "{refusal}"),
    }
}

/// Joins what is written for each number.
fn joined(count: usize, between: &str, one: impl Fn(usize) -> String) -> String {
    let all: Vec<String> = (0..count).map(one).collect();
    all.join(between)
}

/// A plan of two GPUs: the channels of the first to the second, and thread blocks of both.
fn plan(channels: &str, blocks: [&str; 2]) -> String {
    let mut text = String::from(
        r#"{"name": "p", "collective": "allgather", "protocol": "Simple", "inplace": true, "gpus": ["#,
    );
    for (id, blocks) in blocks.into_iter().enumerate() {
        let other = 1 - id;
        let comma = if id == 0 { "," } else { "]}" };
        let _ = write!(
            text,
            r#"{{"id": {id}, "input_chunks": 1, "output_chunks": 2, "channels": [
            {{"channel_type": "memory", "connected_to": [{channels}]}}],
            "remote_buffers": [{{"rank": {other}, "type": "s"}}], "threadblocks": [{blocks}]}}{comma}"#
        );
    }
    text
}

fn block(id: usize, channels: &str, operations: &str) -> String {
    format!(
        r#"{{"id": {id}, "channels": [{{"channel_type": "memory", "channel_ids": [{channels}]}}],
        "remote_buffer_refs": [{{"access_channel_type": "memory", "remote_buffer_ids": [0]}}],
        "ops": [{operations}]}}"#
    )
}

#[test]
fn plans_do_not_write_out_their_chunks_before_these_are_counted() {
    let put = r#"{"name": "ppkt", "channel_type": "memory",
        "src_buff": [{"type": "i", "index": 0, "size": 65536}],
        "dst_buff": [{"buffer_id": 0, "index": 0, "size": 65536}]}"#;
    let puts = block(0, "0", &joined(1_500, ",", |_| put.to_owned()));
    let text = plan("1", [&puts, ""]);
    let read = bounded("packets", text.as_bytes(), read_algorithm);
    refused(read, "move more than 4194304 chunks");
    let get = r#"{"name": "upkt", "src_buff": [{"type": "s", "index": 0, "size": 4294967295}],
        "dst_buff": [{"type": "o", "index": 0, "size": 4294967295}]}"#;
    let text = plan("1", [&block(0, "0", get), ""]);
    let read = bounded("packets read", text.as_bytes(), read_algorithm);
    refused(read, "operation 0: operations up to here move more");
}

#[test]
fn barriers_and_signals_of_plans_grow_with_their_thread_blocks() {
    // Each block puts, then all meet 20 times.
    let (blocks, barriers) = (800, 20);
    let put = r#"{"name": "put", "channel_type": "memory",
        "src_buff": [{"type": "i", "index": 0, "size": 1}],
        "dst_buff": [{"buffer_id": 0, "index": 0, "size": 1}]}"#;
    let barrier =
        format!(r#"{{"name": "barrier", "barrier_id": 0, "num_threadblocks": {blocks}}}"#);
    let of_block = joined(barriers, ",", |_| barrier.clone());
    let of_block = format!("{put}, {of_block}");
    let all = joined(blocks, ",", |id| block(id, "0", &of_block));
    let text = plan("1", [&all, ""]);
    let read = bounded("barriers", text.as_bytes(), read_algorithm);
    refused(read, "is no all-gather");
    // Blocks that wait while others meet again and again.
    let pair = r#"{"name": "barrier", "barrier_id": 1, "num_threadblocks": 2}"#;
    let pairs = joined(3_000, ",", |_| pair.to_owned());
    let late = barrier.replace("800", "3000");
    let all = joined(3_000, ",", |id| match id {
        0 | 1 => block(id, "0", &format!("{pairs}, {late}")),
        _ => block(id, "0", &late),
    });
    let read = bounded(
        "late blocks",
        plan("1", [&all, ""]).as_bytes(),
        read_algorithm,
    );
    refused(read, "is no all-gather");
    // Signals that vouch for the puts of all.
    let signal = r#"{"name": "signal", "channel_type": "memory", "channel_ids": [0]}"#;
    let signals = joined(10_000, ",", |_| signal.to_owned());
    let all = joined(blocks, ",", |id| match id {
        0 => block(id, "0", &format!("{of_block}, {signals}")),
        _ => block(id, "0", &of_block),
    });
    let read = bounded("signals", plan("1", [&all, ""]).as_bytes(), read_algorithm);
    refused(
        read,
        "waits for signals, barriers and packets up to here are more than 4194304",
    );
}

#[test]
fn channels_of_plans_are_looked_up_once() {
    let channels = joined(100_000, ",", |_| "1".to_owned());
    let ids = joined(100_000, ",", |id| id.to_string());
    let wait = r#"{"name": "wait", "channel_type": "memory", "channel_ids": [99999]}"#;
    let waits = joined(20_000, ",", |_| wait.to_owned());
    let text = plan(&channels, [&block(0, &ids, &waits), ""]);
    let read = bounded("channels", text.as_bytes(), read_algorithm);
    refused(read, "no send matches it");
    let text = r#"{"gpus": ["#.to_owned() + &joined(6_000_000, ",", |_| "[0]".to_owned());
    let read = bounded("values", (text + "]}").as_bytes(), read_algorithm);
    refused(read, "4194304 values are in front of this");
}

fn read_algorithm(bytes: &[u8]) -> Result<ReadAlgorithm, ImportError> {
    tenter_formats::read_algorithm(bytes, &Budget::unlimited())
}

fn source(bytes: &[u8]) -> Source<'_> {
    Source {
        name: "file",
        bytes,
    }
}

fn read_aicb(bytes: &[u8]) -> Result<Imported, ImportError> {
    aicb::read(
        &String::from_utf8_lossy(bytes),
        &aicb_spec(),
        &Budget::unlimited(),
    )
}

fn table(sections: &str, lines: usize) -> String {
    let line = "CommType.all_reduce,CommGroup.tp_group,2,64,,0.5,1\n";
    format!(
        "{sections}\ncomm_type,comm_group,comm_group_size,msg_size,additional,_elapsed_time,count\n{}",
        line.repeat(lines)
    )
}

#[test]
fn ranks_of_sections_do_not_multiply_lines_without_bound() {
    // 10 million operations, and 16 for each of the 7,900 bytes, are 154 of each rank.
    let some = table("[rank0 ~ rank65535]", 8);
    let read = bounded("aicb, allowed", some.as_bytes(), read_aicb);
    assert_eq!(read.map(|read| read.graph.operations()), Ok(8 << 16));
    // Reading them takes 16 s of these tests, so `make test-all` alone does.
    if cases(0, 1) == 1 {
        let most = table("[rank0 ~ rank65535]", 154);
        let read = bounded_in(LARGEST, "aicb, allowed", most.as_bytes(), read_aicb);
        assert_eq!(read.map(|read| read.graph.operations()), Ok(154 << 16));
    }
    let more = table("[rank0 ~ rank65535]", 155);
    refused(
        bounded("aicb", more.as_bytes(), read_aicb),
        "set `ranks: 65536`",
    );
    let header = table("", 0);
    let section = |_| {
        format!(
            "[rank0 ~ rank65535]{header}{}",
            table("", 1).lines().last().unwrap()
        )
    };
    let many = joined(20_000, "\n", section);
    refused(
        bounded("sections", many.as_bytes(), read_aicb),
        "two sections have rank 0",
    );
    let layer = "layer -1 1 ALLREDUCE 8 1 NONE 0 1 NONE 0 1\n";
    let text = format!(
        "MICRO model_parallel_NPU_group: 2 all_gpus: 65536\n20000\n{}",
        layer.repeat(20_000)
    );
    let read = |bytes: &[u8]| {
        simai::read(
            &String::from_utf8_lossy(bytes),
            &simai_spec(),
            &Budget::unlimited(),
        )
    };
    refused(
        bounded("simai", text.as_bytes(), read),
        "set `ranks: 65536`",
    );
}

fn read_kineto(bytes: &[u8]) -> Result<Imported, ImportError> {
    let spec = KinetoSpec {
        file: String::new(),
        groups: None,
        waits: Waits::Recorded,
        gaps: Gaps::Keep,
        calls: calls(),
    };
    kineto::read(
        [source(bytes)].as_slice(),
        None,
        &spec,
        &Budget::unlimited(),
    )
}

#[test]
fn exponents_of_times_are_not_written_out() {
    for exponent in [i32::MIN, i32::MAX] {
        let took = format!("1e{exponent}");
        let line = table("[rank0 ~ rank1]", 1).replace("0.5", &took);
        refused(bounded("aicb time", line.as_bytes(), read_aicb), &took);
        let event = kernel(0, 1, 7, "").replace("\"ts\": 0", &format!("\"ts\": {took}"));
        refused(
            bounded("ts", trace(2, &event).as_bytes(), read_kineto),
            &took,
        );
    }
}

fn trace(world: u32, events: &str) -> String {
    format!(
        "{{\"distributedInfo\": {{\"rank\": 0, \"world_size\": {world}}},\n\"traceEvents\": [\n{events}\n]}}"
    )
}

/// A kernel of NCCL, from its start, duration and stream, and further arguments.
fn kernel(start: usize, took: usize, stream: usize, arguments: &str) -> String {
    format!(
        "{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclKernel\", \"ts\": {start}, \"dur\": {took}, \
         \"args\": {{\"stream\": {stream}{arguments}}}}}"
    )
}

const ALL_REDUCE: &str = ", \"Collective name\": \"allreduce\", \"dtype\": \"Float\", \
    \"In msg nelems\": 4, \"Out msg nelems\": 4";

#[test]
fn streams_and_annotations_of_traces_are_not_walked_over() {
    let many = joined(40_000, ",\n", |at| kernel(at, 9, at, ""));
    let read = bounded("streams", trace(2, &many).as_bytes(), read_kineto);
    refused(read, "one more than 4096 streams");
    // Kernels that end in the opposite order, on as many streams as there may be.
    let nested = joined(80_000, ",\n", |at| {
        kernel(at, 2 * (80_000 - at), at % 4_096, "")
    });
    let read = bounded("nested", trace(2, &nested).as_bytes(), read_kineto);
    assert_eq!(read.map(|read| read.graph.ranks()), Ok(2));
    let annotated = joined(40_000, ",\n", |at| {
        let correlation = format!(", \"correlation\": {at}");
        format!(
            "{},\n{{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"l\", \"ts\": {at}, \"args\": {{\"correlation\": {at}}}}},\n\
             {{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"nccl:all_reduce\", \"ts\": {at}, \"dur\": 0.5, \
             \"args\": {{\"Input Dims\": [[4]], \"Input type\": [\"float\"]}}}}",
            kernel(at, 1, 7, &correlation)
        )
    });
    let read = bounded("annotations", trace(2, &annotated).as_bytes(), read_kineto);
    assert_eq!(read.map(|read| read.graph.collectives().len()), Ok(40_000));
}

#[test]
fn calls_of_traces_pay_for_what_they_stand_for() {
    let repeated = joined(400, ",\n", |at| kernel(at, 1, 7, ALL_REDUCE));
    let read = bounded("world", trace(65_536, &repeated).as_bytes(), read_kineto);
    refused(read, "set `ranks: 65536`");
    let groups = joined(2_000, ",\n", |at| {
        let group = format!(
            "{ALL_REDUCE}, \"Process Group Name\": \"{at}\", \"Global rank start\": 0, \
             \"Global rank stride\": 1, \"Group size\": 65535"
        );
        kernel(at, 1, 7, &group)
    });
    let read = bounded("groups", trace(65_535, &groups).as_bytes(), read_kineto);
    refused(read, "ranks together; give a part of it");
    // All kernels carry out one call with long lists.
    let splits = joined(200_000, ", ", |_| "1".to_owned());
    let call = format!(
        "{{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"record_param_comms\", \"ts\": 0, \"args\": \
         {{\"External id\": 3{}, \"In split size\": \"[{splits}]\"}}}}",
        ALL_REDUCE.replace("allreduce", "all_to_allv")
    );
    let kernels = joined(10_000, ",\n", |at| kernel(at, 1, 7, ", \"External id\": 3"));
    let read = bounded(
        "lists",
        trace(2, &format!("{call},\n{kernels}")).as_bytes(),
        read_kineto,
    );
    refused(
        read,
        "repeats, as those before it, a call with long lists; give a part of the trace",
    );
}

#[test]
fn compressed_files_unpack_to_what_traces_do() {
    let events = kernel(1, 1, 7, "") + ",\n";
    let text = trace(2, &(events.repeat(800_000) + &kernel(1, 1, 7, "")));
    let packed = gzip(text.as_bytes());
    refused(
        bounded("gzip", &packed, read_kineto),
        "unpacks to more than",
    );
    let values = gzip(format!("{{\"nodes\": [{}0]}}", "[0],".repeat(12_000_000)).as_bytes());
    let reading = TraceReading::default();
    let read = |bytes: &[u8]| {
        chakra::read(
            [source(bytes)].as_slice(),
            None,
            &reading,
            &Budget::unlimited(),
        )
    };
    refused(bounded("values", &values, read), "unpacks to more than");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

#[test]
fn dumps_and_logs_do_not_multiply_ranks_and_calls() {
    let ranks = joined(65_000, ",", |rank| rank.to_string());
    let entries = joined(5_000, ",\n", |number| {
        format!(
            "{{\"record_id\": {number}, \"process_group\": [\"0\", \"\"], \"collective_seq_id\": {number}, \
             \"profiling_name\": \"nccl:all_reduce\", \"time_created_ns\": {number}, \
             \"input_sizes\": [[3]], \"input_dtypes\": [\"Float\"]}}"
        )
    });
    let dump = format!(
        "{{\"rank\": 0, \"pg_config\": {{\"0\": {{\"ranks\": \"[{ranks}]\"}}}}, \"entries\": [{entries}]}}"
    );
    let spec = FlightRecorderSpec {
        file: String::new(),
        groups: None,
        gaps: Gaps::Keep,
        calls: calls(),
    };
    let read = |bytes: &[u8]| {
        flight_recorder::read(
            [source(bytes)].as_slice(),
            None,
            &spec,
            &Budget::unlimited(),
        )
    };
    refused(bounded("dump", dump.as_bytes(), read), "set `ranks: 65000`");
    let log = joined(60_000, "\n", |at| {
        let comm = at % 30_000;
        format!(
            "h:1:1 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 op 0 root 0 \
             comm 0x{comm:x} [nranks=60000] stream 0x5"
        )
    });
    let spec = NcclLogSpec {
        file: String::new(),
        calls: calls(),
    };
    let read =
        |bytes: &[u8]| nccl_log::read([source(bytes)].as_slice(), &spec, &Budget::unlimited());
    refused(
        bounded("log", log.as_bytes(), read),
        "more than 16777216 ranks together",
    );
}

#[test]
fn flows_do_not_multiply() {
    let (activating, started) = (10_000, 10_000);
    let before = joined(activating, "\n", |at| {
        format!("0->1 id {at} start 0 size 8 recv_done_trigger 1")
    });
    let behind = joined(started, "\n", |at| {
        format!("1->2 id {} trigger 1 size 8", at + activating)
    });
    let text = format!("Nodes 3\n{before}\n{behind}\ntrigger id 1 barrier count {activating}\n");
    let read = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        flow_list::read_htsim(
            &text,
            StartUnit::Auto,
            FlowReading::default(),
            &Budget::unlimited(),
        )
    };
    let edges = bounded("barrier", text.as_bytes(), read).map(|read| read.graph.edges());
    assert_eq!(edges, Ok((activating + started) as u64));
    let read =
        |bytes: &[u8]| flow_list::read_parquet(bytes, FlowReading::default(), &Budget::unlimited());
    let equal = columnar::equal_rows(3_000_000);
    refused(
        bounded("dictionary", &equal, read),
        "the table has 3000000 rows, more than its 24363 bytes",
    );
    let file = columnar::file();
    for place in 0..file.len() {
        // The largest numbers of five bytes, and of ten.
        for number in [
            &b"\xFF\xFF\xFF\xFF\x0F"[..],
            b"\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",
        ] {
            let mut changed = file.clone();
            changed.splice(place..=place, number.iter().copied());
            let _ = bounded("parquet", &changed, read);
        }
    }
}

#[test]
fn graphs_of_many_idle_ranks_are_written_in_the_time_of_their_length() {
    let table = "source,destination,bytes,start\n0,1048575,1000,0us\n1,2,2000,1us\n";
    let read = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        flow_list::read_table(&text, FlowReading::default(), &Budget::unlimited())
            .map(|read| graph_file::write(&read.graph).len())
    };
    let written = bounded("far rank of a table", table.as_bytes(), read);
    assert!(written.is_ok_and(|length| length > 2 << 20));
}

fn reading() -> FabricReading {
    FabricReading {
        rate: Some(Rate::from_gbps(100)),
        servers: Some(2),
        ..FabricReading::default()
    }
}

#[test]
fn fabrics_are_read_in_the_time_of_their_length() {
    let links = 60_000;
    let hosts = 30_000;
    let lines = joined(links, "\n", |at| {
        let node = if at < hosts { at } else { hosts - 1 };
        format!("{node} {hosts} 100Gbps 1us 0")
    });
    let text = format!("{} 1 {links}\n{hosts}\n{lines}\n", hosts + 1);
    let read = |bytes: &[u8]| ns3_topology::read(source(bytes), &Budget::unlimited());
    assert!(bounded("planes", text.as_bytes(), read).is_ok());
    let instances = joined(40_000, "\n", |at| {
        format!("- {{name: i{at}, device: b, count: 1}}")
    });
    let edges = joined(40_000, "\n", |at| {
        format!(
            "- {{ep1: {{instance: i{at}, component: p}}, ep2: {{instance: i39999, component: p}}, \
             scheme: one2one, link: f}}"
        )
    });
    let text = format!(
        "name: t\ndevices:\n- {{name: b, components: [{{name: p, choice: port, count: 1}}], links: [], edges: []}}\n\
         links: [{{name: f}}]\ninstances:\n{instances}\nedges:\n{edges}\n"
    );
    let given = reading();
    let read = |bytes: &[u8]| infragraph::read(source(bytes), None, &given, &Budget::unlimited());
    refused(
        bounded("instances", text.as_bytes(), read),
        "there is no host in it",
    );
    let deep = "name: ".to_owned() + &"[".repeat(200_000);
    refused(
        bounded("deep", deep.as_bytes(), read),
        "recursion limit exceeded",
    );
    let components = joined(12, "\n", |at| {
        format!(
            "- {{name: d{at}, components: [{{name: d{}, choice: device, count: 1048576}}], links: [], edges: []}}",
            at + 1
        )
    });
    let text = format!(
        "devices:\n{components}\n- {{name: d12, components: [{{name: x, choice: xpu, count: 9}}], links: [], edges: []}}\n\
         links: [{{name: f}}]\ninstances: [{{name: a, device: d0, count: 1048576}}]\nedges:\n\
         - {{ep1: {{instance: a, component: d1.d2.d3}}, ep2: {{instance: a, component: d1}}, scheme: many2many, link: f}}\n"
    );
    refused(
        bounded("nested counts", text.as_bytes(), read),
        "the ends of edges stand for more than 16777216 components",
    );
}

#[test]
fn servers_are_read_in_the_time_of_their_length() {
    let given = reading();
    let read = |bytes: &[u8]| nccl_topo::read(source(bytes), &given, &Budget::unlimited());
    let gpus = joined(1_024, "", |at| {
        format!(
            "<pci busid='g{at}' class='0x030200'><gpu dev='{at}' sm='80'><nvlink target='g0'/></gpu></pci>"
        )
    });
    let nics = joined(1_024, "", |at| {
        format!("<pci class='0x020700'><nic><net name='n{at}' speed='100'/></nic></pci>")
    });
    let text = format!("<system version='1'><cpu>{gpus}{nics}</cpu></system>");
    assert!(bounded("server", text.as_bytes(), read).is_ok());
    let more = nics.repeat(40);
    let text = format!("<system version='1'><cpu>{gpus}{more}</cpu></system>");
    refused(
        bounded("nics", text.as_bytes(), read),
        "more than 1024 NICs",
    );
    let within =
        "<pci class='0x020700'>".repeat(60) + &"<net/>".repeat(60_000) + &"</pci>".repeat(60);
    let text = format!("<system version='1'>{gpus}{within}</system>");
    refused(
        bounded("nics in nics", text.as_bytes(), read),
        "more than 1024 NICs",
    );
    let attributes = joined(200_000, " ", |at| format!("a{at}=''"));
    let text = format!("<system version='1' {attributes}></system>");
    refused(
        bounded("attributes", text.as_bytes(), read),
        "more than 64 attributes",
    );
    let deep = "<a>".repeat(200_000);
    refused(
        bounded("elements", deep.as_bytes(), read),
        "more than 64 deep",
    );
}

#[test]
fn texts_declare_no_more_than_they_have() {
    let blocks = joined(300_000, "\n", |rank| {
        format!("rank {} {{}}", 299_999 - rank)
    });
    let text = format!("num_ranks 300000\n{blocks}\n");
    refused(
        bounded("ranks", text.as_bytes(), |of: &[u8]| {
            goal::read(of, &Budget::unlimited())
        }),
        "no rank has an operation",
    );
    let far = format!(
        "num_ranks 1048576\nrank 1048575 {{ calc 1 }}\n/*{}*/",
        "*".repeat(20 << 20)
    );
    refused(
        bounded("far rank", far.as_bytes(), |of: &[u8]| {
            goal::read(of, &Budget::unlimited())
        }),
        "no block of rank 0",
    );
    let market = "%%MatrixMarket matrix array integer symmetric\n1048576 1048576\n7\n";
    let read = |bytes: &[u8]| {
        matrix::read(
            "m.mtx",
            &String::from_utf8_lossy(bytes),
            &Budget::unlimited(),
        )
    };
    refused(bounded("matrix", market.as_bytes(), read), "is missing");
}

/// An all-reduce in which rank 0 adds up what all others send, first the even ones and then the odd
/// ones, so that its sums have as many parts as can be.
fn scattered(ranks: usize, chunks: usize) -> String {
    let step = |number: usize, kind: &str, after: Option<(usize, usize)>| {
        let none = || ("-1".to_owned(), "-1".to_owned());
        let (block, other) =
            after.map_or_else(none, |(tb, step)| (tb.to_string(), step.to_string()));
        format!(
            "<step s='{number}' type='{kind}' srcbuf='i' srcoff='0' dstbuf='i' dstoff='0' cnt='{chunks}' \
             depid='{block}' deps='{other}' hasdep='1'/>"
        )
    };
    let ends = |peer: usize, number: usize, steps: &str| {
        format!("<tb id='{number}' send='{peer}' recv='{peer}' chan='0'>{steps}</tb>")
    };
    let mut order: Vec<usize> = (1..ranks).collect();
    order.sort_by_key(|rank| (rank % 2, *rank));
    let last = order.len() - 1;
    let of_root = joined(order.len(), "", |place| {
        let before = place.checked_sub(1).map(|before| (before, 0));
        let steps = step(0, "rrc", before) + &step(1, "s", Some((last, 0)));
        ends(order[place], place, &steps)
    });
    let gpu = |id: usize, blocks: &str| {
        format!("<gpu id='{id}' i_chunks='{chunks}' o_chunks='0' s_chunks='0'>{blocks}</gpu>")
    };
    let others = joined(ranks - 1, "", |before| {
        let steps = step(0, "s", None) + &step(1, "r", None);
        gpu(before + 1, &ends(0, 0, &steps))
    });
    format!(
        "<algo name='a' proto='Simple' nchannels='1' nchunksperloop='{chunks}' ngpus='{ranks}' coll='allreduce' \
         inplace='1' outofplace='0'>{}{others}</algo>",
        gpu(0, &of_root)
    )
}

#[test]
fn the_check_of_algorithms_is_bounded() {
    let most = scattered(2_048, 15);
    let read = bounded("algorithm", most.as_bytes(), read_algorithm);
    assert_eq!(read.map(|read| read.program.ranks()), Ok(2_048));
    let more = scattered(2_048, 18);
    let read = bounded("algorithm, refused", more.as_bytes(), read_algorithm);
    refused(read, "more terms than");
}
