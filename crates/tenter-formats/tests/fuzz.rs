//! Damaged files: none of them makes an importer panic, hang or take memory without bound, and each
//! refusal names the place and the remedy.
//!
//! A case is made from its number alone; a failure prints the line that runs it again.
//! `TENTER_FUZZ_SECONDS` runs further cases for so long.

mod columnar;
mod readings;

use std::alloc::System;
use std::fmt::Debug;
use std::io::{self, Cursor};
use std::time::Duration;

use cap::Cap;
use tenter_engine::Stream;
use tenter_formats::fabric::FabricReading;
use tenter_formats::{
    Content, ImportError, Imported, RankFiles, Source, aicb, chakra, flight_recorder, flow_list,
    goal, graph_file, infragraph, kineto, matrix, nccl_log, nccl_topo, netbox, ns3_topology,
    pytorch_et, read_algorithm, simai, steps, topo,
};
use tenter_language::units::{Budget, Rate};
use tenter_testkit::ProcessorTime;
use tenter_workload::graph::Graph;
use tenter_workload::spec::{
    AicbSpec, FlightRecorderSpec, FlowReading, Gaps, KinetoSpec, NcclLogSpec, PytorchEtSpec,
    StartUnit, TraceReading, Waits,
};

use readings::{aicb_spec, calls, simai_spec};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Between ten seconds and half a minute in the profile of tests.
const CASES: u64 = 100_000;
/// The files have a few hundred bytes, and may name a million ranks.
const BYTES_MAX: usize = 1 << 30;
const TIME_MAX: Duration = Duration::from_secs(5);

/// What reads a format: a refusal as a text.
type Reader = fn(&[u8]) -> Result<(), String>;

fn told<T>(read: Result<T, ImportError>) -> Result<(), String> {
    read.map(drop).map_err(|error| error.to_string())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read_chakra(bytes: &[u8]) -> Result<(), String> {
    let source = Source {
        name: "t.0.et",
        bytes,
    };
    let reading = TraceReading {
        ranks: Some(3),
        ..TraceReading::default()
    };
    let groups = Source {
        name: "groups.json",
        bytes: b"{\"1\": [0, 1, 2]}",
    };
    let whole = chakra::read(
        [source].as_slice(),
        Some(groups),
        &reading,
        &Budget::unlimited(),
    );
    let parts = chakra::read(
        &Trickle(bytes),
        Some(groups),
        &reading,
        &Budget::unlimited(),
    );
    told(equal(whole.map(graph_of), &parts.map(graph_of)))
}

fn graph_of(imported: Imported) -> (Graph, Vec<String>) {
    (imported.graph, imported.notes)
}

/// A file that is read a few bytes at a time, so that everything in it lies across an end of what
/// is in memory.
struct Trickle<'b>(&'b [u8]);

struct Drops<'b>(Cursor<&'b [u8]>);

impl io::Read for Drops<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = into.len().min(1 + self.0.position() as usize % 7);
        io::Read::read(&mut self.0, &mut into[..count])
    }
}

impl io::Seek for Drops<'_> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

impl<'b> Trickle<'b> {
    fn content(&self) -> Content<'b> {
        Content::new(Drops(Cursor::new(self.0)), self.0.len() as u64)
    }
}

impl RankFiles for Trickle<'_> {
    fn count(&self) -> usize {
        1
    }

    fn name(&self, _: usize) -> &'static str {
        "t.0.et"
    }

    fn open(&self, _: usize) -> Result<Content<'_>, ImportError> {
        Ok(self.content())
    }
}

/// What is read of a whole file, which is the same a few bytes at a time.
fn equal<T: PartialEq + Debug>(
    whole: Result<T, ImportError>,
    parts: &Result<T, ImportError>,
) -> Result<T, ImportError> {
    assert_eq!(*parts, whole);
    whole
}

fn read_goal(bytes: &[u8]) -> Result<(), String> {
    let [whole, parts] = [bytes.into(), Trickle(bytes).content()]
        .map(|content| goal::read(content, &Budget::unlimited()));
    told(equal(whole.map(graph_of), &parts.map(graph_of)))
}

fn read_graph(bytes: &[u8]) -> Result<(), String> {
    let [whole, parts] = [bytes.into(), Trickle(bytes).content()]
        .map(|content| graph_file::read(content, &Budget::unlimited()));
    told(equal(whole, &parts))
}

fn read_simai(bytes: &[u8]) -> Result<(), String> {
    told(simai::read(
        &text(bytes),
        &simai_spec(),
        &Budget::unlimited(),
    ))
}

fn read_kineto(bytes: &[u8]) -> Result<(), String> {
    let spec = KinetoSpec {
        file: String::new(),
        groups: None,
        waits: Waits::Recorded,
        gaps: Gaps::Keep,
        calls: calls(),
    };
    let name = "t.json";
    let source = Source { name, bytes };
    told(kineto::read(
        [source].as_slice(),
        None,
        &spec,
        &Budget::unlimited(),
    ))
}

fn read_pytorch(bytes: &[u8]) -> Result<(), String> {
    let spec = PytorchEtSpec {
        file: String::new(),
        groups: None,
        calls: calls(),
    };
    let name = "t.json";
    told(pytorch_et::read(
        [Source { name, bytes }].as_slice(),
        None,
        &spec,
        &Budget::unlimited(),
    ))
}

fn read_dump(bytes: &[u8]) -> Result<(), String> {
    let spec = FlightRecorderSpec {
        file: String::new(),
        groups: None,
        gaps: Gaps::Keep,
        calls: calls(),
    };
    let source = Source {
        name: "dump",
        bytes,
    };
    told(flight_recorder::read(
        [source, source].as_slice(),
        None,
        &spec,
        &Budget::unlimited(),
    ))
}

fn read_log(bytes: &[u8]) -> Result<(), String> {
    let spec = NcclLogSpec {
        file: String::new(),
        calls: calls(),
    };
    let name = "nccl.log";
    told(nccl_log::read(
        [Source { name, bytes }].as_slice(),
        &spec,
        &Budget::unlimited(),
    ))
}

fn read_aicb(bytes: &[u8]) -> Result<(), String> {
    let spec = AicbSpec {
        pipeline: None,
        ..aicb_spec()
    };
    told(aicb::read(&text(bytes), &spec, &Budget::unlimited()))
}

const KINETO: &str = "{\"distributedInfo\": {\"rank\": 1, \"world_size\": 4}, \"traceEvents\": [\n\
    {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": 10.5, \"dur\": 5, \"args\": {\"stream\": 7}},\n\
    {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce\", \"ts\": 16, \"dur\": 9.25, \"args\": \
    {\"stream\": 20, \"Collective name\": \"allreduce\", \"dtype\": \"Float\", \"In msg nelems\": 64, \"Out msg nelems\": 64, \
    \"Group size\": 2, \"Process Group Name\": \"1\", \"Process Group Ranks\": \"[0, 1]\", \"Seq\": 3}},\n\
    {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": 26, \"dur\": 5, \"args\": {\"stream\": 7}}]}";
const PYTORCH: &str = "{\"nodes\": [{\"id\": 3, \"name\": \"## process_group:init ##\", \"inputs\": {\"values\": \
    [\"[{\\\"pg_name\\\": \\\"0\\\", \\\"ranks\\\": [], \\\"group_size\\\": 2}]\"]}},\n{\"id\": 5, \"name\": \
    \"record_param_comms\", \"attrs\": [{\"name\": \"collective_name\", \"value\": \"allreduce\"}, {\"name\": \"dtype\", \
    \"value\": \"Half\"}, {\"name\": \"in_msg_nelems\", \"value\": 9}, {\"name\": \"pg_name\", \"value\": \"0\"}]},\n\
    {\"id\": 6, \"name\": \"record_param_comms\", \"inputs\": {\"values\": [[[1, 2, 0, 8, 4, \"cuda\"]], 1, 7, 0, \"broadcast\", 2]}}]}";
const DUMP: &str = "{\"pg_config\": {\"0\": {\"ranks\": \"[0, 1]\"}}, \"entries\": [\n{\"record_id\": 1, \"process_group\": \
    [\"0\", \"default_pg\"], \"collective_seq_id\": 1, \"profiling_name\": \"nccl:all_reduce\", \"time_created_ns\": 10, \
    \"duration_ms\": 1.5, \"input_sizes\": [[3, 4]], \"input_dtypes\": [\"Float\"]},\n{\"record_id\": 2, \"process_group\": \
    [\"0\", \"default_pg\"], \"collective_seq_id\": 2, \"profiling_name\": \"nccl:barrier\", \"time_created_ns\": 90}]}";
const LOG: &str = "h:1:1 [0] NCCL INFO comm 0xa rank 0 nranks 2 cudaDev 0 commId 0xf - Init COMPLETE\n\
    h:2:2 [1] NCCL INFO comm 0xb rank 1 nranks 2 cudaDev 1 commId 0xf - Init COMPLETE\n\
    h:1:1 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 op 0 root 0 comm 0xa [nranks=2] stream 0x5\n\
    h:2:2 [1] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 op 0 root 0 comm 0xb [nranks=2] stream 0x5\n\
    h:1:1 [0] NCCL INFO Send: opCount 1 sendbuff 0x1 recvbuff (nil) count 8 datatype 7 op 0 root 1 comm 0xa [nranks=2] stream 0x5\n\
    h:2:2 [1] NCCL INFO Recv: opCount 1 sendbuff (nil) recvbuff 0x1 count 8 datatype 7 op 0 root 0 comm 0xb [nranks=2] stream 0x5\n";
const AICB: &str = "[rank0 ~ rank7]\ncomm_type,comm_group,comm_group_size,msg_size,additional,_elapsed_time,count\n\
    CommType.all_gather,CommGroup.tp_group,2,40,,None,1\nCommType.computation,None,None,x,,0.5,1\n\
    CommType.reduce_scatter,CommGroup.dp_group,4,64,,None,1\nCommType.isend,CommGroup.pp_group,1,5,send_next,None,1\n\
    CommType.epoch_end,None,None,0,,None,1\n";

/// What the command says of a fabric.
fn fabric() -> FabricReading {
    FabricReading {
        rate: Some(Rate::from_gbps(100)),
        servers: Some(2),
        ..FabricReading::default()
    }
}

fn source(bytes: &[u8]) -> Source<'_> {
    Source {
        name: "file",
        bytes,
    }
}

fn read_netbox(bytes: &[u8]) -> Result<(), String> {
    let interfaces = b"device,name,type\nleaf-1,e1,400gbase-x-qsfpdd\n";
    let files = netbox::Files {
        cables: source(bytes),
        devices: None,
        interfaces: Some(source(interfaces)),
    };
    told(netbox::read(files, &fabric(), &Budget::unlimited()))
}

const GOAL: &str = "num_ranks 3\nrank 0 {\na: calc 500 cpu 1\nb: send 1048576b to 1 tag 7\nb requires a\n}\n\
    rank 1 { recv 1048576b from -1 tag 7\nc: send 9b to 2\nc irequires c2\nc2: calc 4 }\nrank 2 { recv 9b from 1 }\n";
const JSON: &str = "{\"nodes\": [{\"id\": 1, \"type\": 4, \"duration_micros\": 120}, {\"id\": 2, \"type\": 7, \
    \"data_deps\": [1], \"comm_type\": 0, \"comm_size\": 4096, \"pg_name\": \"0\"}, {\"id\": 3, \"type\": 4, \
    \"duration_micros\": 40, \"data_deps\": [2], \"ctrl_deps\": [1]}]}";
const TABLE: &str =
    "source,destination,bytes,start,id,after_received\n0,1,1MiB,10us,4,\n1,2,700,,2,4\n";
const MATRIX: &str = "Nodes 4\nConnections 3\nTriggers 1\n0->1 id 1 start 0 size 2000 recv_done_trigger 1\n\
    1->2 id 2 trigger 1 size 1000\n3->2 id 3 start 5 size 10 prio 1\ntrigger id 1 oneshot\n";
const FLOWS: &str = "2\n0 3 3 100 4000 2.000000000001\n1 0 3 100 1 2\n";
const TOPO: &str = "Nodes 8\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\n\
    Tier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 4\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nBundle 2\n";
const SIMAI: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 all_gpus: 8\n1\n\
    layer -1 100 ALLREDUCE 4096 200 ALLGATHER 8192 300 REDUCESCATTER_DP_EP 1024 10\n";
const TOPOLOGY: &str = "8 2 1 3 10 H100\n4 5 6 7\n0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 25ns 0\n\
    0 5 400Gbps 0.0005ms 0\n1 6 400Gbps 500ns 0.001\n2 5 25000000000.0 1us 0\n3 6 400Gbps 1us 0\n\
    5 7 400Gbps 1us 0\n6 7 400Gbps 1us 0\n5 7 400Gbps 1us 0\n6 7 400Gbps 1us 0\n";
const CABLES: &str = "ID,Termination A,Device A,Termination B,Device B,Status,Length\n\
    1,eth0,gpu-2,e2,leaf-1,Connected,5 m\n2,eth0,gpu-3,e3,leaf-1,Connected,3 ft\n\
    3,e1,leaf-1,e1,spine-1,Planned,0.1 km\n";
const INFRASTRUCTURE: &str = "name: t\ndevices:\n- name: s\n  components:\n  - {name: x, choice: xpu, count: 2}\n\
    \x20 - {name: w, choice: switch, count: 1}\n  - {name: c, choice: device, count: 2}\n  links: [{name: l}]\n\
    \x20 edges: [{ep1: {component: x}, ep2: {component: w}, scheme: many2many, link: l}]\n\
    - {name: c, components: [{name: p, choice: nic, count: 1}], links: [], edges: []}\n\
    - {name: b, components: [{name: p, choice: port, count: 8}], links: [], edges: []}\n\
    links:\n- name: f\n  physical:\n    bandwidth: {choice: gigabits_per_second, gigabits_per_second: 400}\n\
    \x20   latency: {choice: ns, ns: 25}\n\
    instances: [{name: h, device: s, count: 2}, {name: t, device: b, count: 1}]\nedges:\n\
    - {ep1: {instance: 'h[0:2]', component: 'c.p[0]'}, ep2: {instance: t, component: 'p[0:4]'}, scheme: one2one, link: f}\n";
const SERVER: &str = "<system version='1'><cpu numaid='0'>\n<pci class='0x060400' link_speed='16 GT/s' link_width='16'>\n\
    <pci busid='a' class='0x030200'><gpu dev='0' sm='80'><nvlink target='b' count='4'/></gpu></pci>\n\
    <pci busid='b' class='0x030200'><gpu dev='1' sm='80'/></pci>\n\
    <pci class='0x020700' link_speed='16 GT/s' link_width='16'><nic><net name='n' speed='200000'/></nic></pci>\n\
    </pci>\n</cpu></system>\n";
const SENDS: &str = "source,destination,bytes\n0,1,500\n1,2,700\n";
const STEPS: &str = "rank,peer,bytes,after\n0,1,500,\n1,2,700,0\n";

const MSCCL: &str = "<algo name=\"a\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" \
    coll=\"allreduce\" inplace=\"1\" minBytes=\"0\" maxBytes=\"99999\">\n\
    <gpu id=\"0\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"1\">\n<tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">\n\
    <step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"2\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n\
    <step s=\"1\" type=\"rrc\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"2\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n\
    </tb></gpu><gpu id=\"1\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"1\"><tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">\n\
    <step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"2\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n\
    <step s=\"1\" type=\"rrc\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" cnt=\"2\" depid=\"0\" deps=\"0\" hasdep=\"0\"/>\n\
    </tb></gpu></algo>\n";
const MSCCLPP: &str = r#"{"name": "p", "collective": "allgather", "protocol": "LL", "inplace": true, "gpus": [
    {"id": 0, "input_chunks": 1, "output_chunks": 2, "channels": [{"channel_type": "memory", "connected_to": [1]}],
    "remote_buffers": [{"rank": 1, "type": "o"}], "threadblocks": [{"id": 0, "channels": [{"channel_type": "memory",
    "channel_ids": [0]}], "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}], "ops": [
    {"name": "pws", "channel_type": "memory", "channel_ids": [0], "src_buff": [{"type": "i", "index": 0, "size": 1}],
    "dst_buff": [{"buffer_id": 0, "index": 0, "size": 1}]}, {"name": "wait", "channel_type": "memory", "channel_ids": [0]}]}]},
    {"id": 1, "input_chunks": 1, "output_chunks": 2, "channels": [{"channel_type": "memory", "connected_to": [0]}],
    "remote_buffers": [{"rank": 0, "type": "o"}], "threadblocks": [{"id": 0, "channels": [{"channel_type": "memory",
    "channel_ids": [0]}], "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}], "ops": [
    {"name": "put", "channel_type": "memory", "src_buff": [{"type": "i", "index": 0, "size": 1}],
    "dst_buff": [{"buffer_id": 0, "index": 1, "size": 1}]}, {"name": "signal", "channel_type": "memory", "channel_ids": [0]},
    {"name": "wait", "channel_type": "memory", "channel_ids": [0]}]}]}]}"#;
const PROGRAM: &str = "algorithm all-reduce ranks 2 chunks 2 in-place sizes 0 4096\nblock 0 0\nstep 2 of i0 to 1.0\n\
    step 2 from 1.0 of i0 into i0\nblock 1 0\nstep 2 of i0 to 0.0\nstep 2 from 0.0 of i0 into i0 after 0.0\n";

/// The formats, each with a file that it reads.
fn formats() -> Vec<(&'static str, Reader, Vec<u8>)> {
    let graph = goal::read(GOAL.as_bytes(), &Budget::unlimited())
        .expect("it is a graph")
        .graph;
    let json = |bytes: &[u8]| {
        let sources = [Source { name: "t", bytes }; 2];
        chakra::read(
            sources.as_slice(),
            None,
            &TraceReading::default(),
            &Budget::unlimited(),
        )
    };
    let of_json = json(JSON.as_bytes()).expect("it is a trace").graph;
    let trace = chakra::write(&of_json)
        .expect("it can be written")
        .ranks
        .remove(0);
    let of_steps: Reader = |bytes| told(steps::read(&text(bytes), &Budget::unlimited()));
    let of_sends: Reader = |bytes| told(matrix::read("m.csv", &text(bytes), &Budget::unlimited()));
    let of_algorithm: Reader = |bytes| told(read_algorithm(bytes, &Budget::unlimited()));
    vec![
        ("goal", read_goal, GOAL.into()),
        ("graph", read_graph, graph_file::write(&graph)),
        ("graph", read_graph, graph_file::write(&of_json)),
        ("chakra", read_chakra, trace),
        ("chakra", read_chakra, JSON.into()),
        ("simai", read_simai, SIMAI.into()),
        ("kineto", read_kineto, KINETO.into()),
        ("pytorch-et", read_pytorch, PYTORCH.into()),
        ("flight-recorder", read_dump, DUMP.into()),
        ("nccl-log", read_log, LOG.into()),
        ("aicb", read_aicb, AICB.into()),
        (
            "topo",
            |bytes| {
                told(topo::read(
                    Source {
                        name: "t.topo",
                        bytes,
                    },
                    &Budget::unlimited(),
                ))
            },
            TOPO.into(),
        ),
        ("msccl", of_algorithm, MSCCL.into()),
        ("mscclpp", of_algorithm, MSCCLPP.into()),
        ("algorithm", of_algorithm, PROGRAM.into()),
        ("matrix", of_sends, SENDS.into()),
        ("steps", of_steps, STEPS.into()),
    ]
}

/// Lists of flows.
fn flows() -> Vec<(&'static str, Reader, Vec<u8>)> {
    vec![
        (
            "flow-table",
            |bytes| {
                told(flow_list::read_table(
                    &text(bytes),
                    FlowReading::default(),
                    &Budget::unlimited(),
                ))
            },
            TABLE.into(),
        ),
        (
            "htsim",
            |bytes| {
                let reading = FlowReading::default();
                told(flow_list::read_htsim(
                    &text(bytes),
                    StartUnit::Auto,
                    reading,
                    &Budget::unlimited(),
                ))
            },
            MATRIX.into(),
        ),
        (
            "ns3",
            |bytes| {
                told(flow_list::read_ns3(
                    &text(bytes),
                    FlowReading::default(),
                    &Budget::unlimited(),
                ))
            },
            FLOWS.into(),
        ),
        (
            "parquet",
            |bytes| {
                told(flow_list::read_parquet(
                    bytes,
                    FlowReading::default(),
                    &Budget::unlimited(),
                ))
            },
            columnar::file(),
        ),
    ]
}

/// The formats of fabrics.
fn fabrics() -> Vec<(&'static str, Reader, Vec<u8>)> {
    vec![
        (
            "ns3-topology",
            |bytes| told(ns3_topology::read(source(bytes), &Budget::unlimited())),
            TOPOLOGY.into(),
        ),
        (
            "infragraph",
            |bytes| {
                told(infragraph::read(
                    source(bytes),
                    None,
                    &fabric(),
                    &Budget::unlimited(),
                ))
            },
            INFRASTRUCTURE.into(),
        ),
        (
            "nccl-topo",
            |bytes| {
                told(nccl_topo::read(
                    source(bytes),
                    &fabric(),
                    &Budget::unlimited(),
                ))
            },
            SERVER.into(),
        ),
        ("netbox", read_netbox, CABLES.into()),
    ]
}

/// Changes a file in up to four places.
fn mutated(file: &[u8], draw: &mut Stream) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..=draw.below(4) {
        let at = draw.below(bytes.len() as u64 + 1) as usize;
        let last = at.min(bytes.len().saturating_sub(1));
        match draw.below(8) {
            0 if !bytes.is_empty() => bytes[last] = draw.below(256) as u8,
            1 if !bytes.is_empty() => bytes[last] ^= 1 << draw.below(8),
            2 => bytes.truncate(at),
            3 => bytes.insert(at, draw.below(256) as u8),
            4 => {
                let large: &[u8] = match draw.below(4) {
                    0 => b"99999999999999999999",
                    1 => b"1048576",
                    2 => b"-1",
                    _ => b"\xFF\xFF\xFF\xFF\x7F",
                };
                bytes.splice(at..at, large.iter().copied());
            }
            5 => {
                let end = at + draw.below((bytes.len() - at) as u64 + 1) as usize;
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            6 => {
                let end = at + draw.below((bytes.len() - at) as u64 + 1) as usize;
                bytes.drain(at..end);
            }
            _ => bytes.insert(at, b"\n 0123456789,;:{}"[draw.below(17) as usize]),
        }
    }
    bytes
}

/// Prints how to run a case again when it panics.
struct Replay(u64, &'static str);

impl Drop for Replay {
    #[expect(
        clippy::print_stderr,
        reason = "a failing test says how to run it again"
    )]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Replay(case, format) = self;
            eprintln!(
                "{format}, again: TENTER_FUZZ_CASE={case} cargo test -p tenter-formats --test fuzz"
            );
        }
    }
}

/// The case that took longest so far.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Slowest {
    took: Duration,
    number: u64,
    name: &'static str,
}

/// Runs one case; whether it was a file of its format.
fn survive(
    formats: &[(&'static str, Reader, Vec<u8>)],
    number: u64,
    slowest: &mut Slowest,
) -> bool {
    let (name, read, file) = &formats[(number % formats.len() as u64) as usize];
    let _replay = Replay(number, name);
    let mut draw = Stream::new(number, "fuzz", name);
    let bytes = mutated(file, &mut draw);
    let began = ProcessorTime::now();
    let read = read(&bytes);
    let took = began.elapsed();
    assert!(took < TIME_MAX, "it took {took:?}");
    *slowest = (*slowest).max(Slowest { took, number, name });
    let peak = ALLOCATOR.max_allocated();
    assert!(peak < BYTES_MAX, "{peak} bytes at the peak");
    if let Err(refusal) = &read {
        let has_place = ["line ", "byte ", "row ", "in the JSON"].map(|of| refusal.contains(of));
        let has_place = has_place.contains(&true);
        assert!(has_place && refusal.contains("; "), "{refusal}");
    }
    read.is_ok()
}

#[test]
fn damaged_files_are_refused_or_say_something_else() {
    let mut formats = formats();
    formats.extend(fabrics());
    formats.extend(flows());
    for (name, read, file) in &formats {
        assert_eq!(read(file), Ok(()), "{name}");
    }
    let of_variable = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    if let Some(number) = of_variable("TENTER_FUZZ_CASE") {
        survive(&formats, number, &mut Slowest::default());
        return;
    }
    let mut slowest = Slowest::default();
    let good = (0..CASES).filter(|&number| survive(&formats, number, &mut slowest));
    let good = good.count() as u64;
    // Neither all noise nor all harmless.
    assert!(
        good > CASES / 20 && good < CASES * 19 / 20,
        "{good} of {CASES} are files"
    );
    let more = Duration::from_secs(of_variable("TENTER_FUZZ_SECONDS").unwrap_or(0));
    let began = ProcessorTime::now();
    let mut number = CASES;
    while began.elapsed() < more {
        survive(&formats, number, &mut slowest);
        number += 1;
    }
    say(number, slowest);
}

/// Prints what the cases have cost.
#[expect(clippy::print_stdout, reason = "`--nocapture` shows it")]
fn say(cases: u64, slowest: Slowest) {
    let Slowest { took, number, name } = slowest;
    let peak = ALLOCATOR.max_allocated() >> 20;
    println!("{cases} cases; the slowest, {number} ({name}), took {took:?}; peak {peak} MiB");
}
