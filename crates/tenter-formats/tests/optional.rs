//! What a file may leave out: every optional field of every reader is tried absent, zero and at its
//! bound. A reader refuses it, notes it, reads the same as before, or means what is listed here.

mod readings;

use std::fmt::Debug;

use tenter_formats::fabric::FabricReading;
use tenter_formats::{
    ImportError, Imported, Source, aicb, chakra, flight_recorder, flow_list, goal, infragraph,
    kineto, nccl_log, nccl_topo, netbox, ns3_topology, pytorch_et, simai, topo,
};
use tenter_language::units::{Budget, Limits, Rate};
use tenter_workload::spec::{
    FlightRecorderSpec, FlowReading, Gaps, KinetoSpec, NcclLogSpec, PytorchEtSpec, StartUnit,
    TraceReading, Waits,
};

use readings::{aicb_spec, calls, simai_spec};

/// What a file says, and what is noted of it.
type Said = Result<(String, Vec<String>), String>;

/// A reader, and a text with each optional field as `⟦NAME:before⟨VALUE⟩behind⟧`.
struct Tried {
    reader: &'static str,
    text: &'static str,
    read: fn(&str, &Budget) -> Said,
}

/// A field that changes what is read without a word, with the value that does, and what its format
/// or the page of the reader has it mean.
struct Meaning(&'static str, &'static str, &'static str, &'static str);

const ABSENT: &str = "absent";
const ZERO: &str = "0";
/// More than any field may have.
const BOUND: &str = "18446744073709551615";

fn said<T: Debug>(read: Result<(T, Vec<String>), ImportError>) -> Said {
    let said = read.map(|(what, notes)| (format!("{what:?}"), notes));
    said.map_err(|error| error.to_string())
}

fn graph(read: Result<Imported, ImportError>) -> Said {
    said(read.map(|of| (of.graph, of.notes)))
}

/// The file of each of two ranks.
fn both(text: &str) -> [Source<'_>; 2] {
    ["t.0", "t.1"].map(|name| Source {
        name,
        bytes: text.as_bytes(),
    })
}

fn one(text: &str) -> Source<'_> {
    let bytes = text.as_bytes();
    Source { name: "t", bytes }
}

fn fabric(read: Result<tenter_formats::fabric::FabricText, ImportError>) -> Said {
    said(read.map(|of| (of.yaml, of.notes)))
}

fn reading() -> FabricReading {
    FabricReading {
        rate: Some(Rate::from_gbps(100)),
        servers: Some(2),
        ..FabricReading::default()
    }
}

const TRIED: [Tried; 16] = [
    Tried {
        reader: "chakra",
        text: r#"{"nodes": [
            {"id": 1, "type": 4⟦duration: , "duration_micros": ⟨9⟩⟧⟦start: , "start_time_micros": ⟨5⟩⟧},
            {"id": 2, "type": 7⟦data_deps: , "data_deps": [⟨1⟩]⟧⟦ctrl_deps: , "ctrl_deps": [⟨1⟩]⟧, "is_cpu_op": false
             ⟦comm_type: , "comm_type": ⟨2⟩⟧⟦comm_size: , "comm_size": ⟨64⟩⟧⟦pg_name: , "pg_name": "⟨0⟩"⟧
             ⟦stream: , "stream": ⟨3⟩⟧⟦took: , "duration_micros": ⟨30⟩⟧},
            {"id": 3, "type": 4⟦num_ops: , "num_ops": ⟨7000⟩⟧}]}"#,
        read: |text, budget| {
            let reading = TraceReading {
                peak_gflops: Some(1_000),
                ..TraceReading::default()
            };
            graph(chakra::read(both(text).as_slice(), None, &reading, budget))
        },
    },
    Tried {
        reader: "htsim",
        text: "⟦nodes:Nodes ⟨4⟩⟧\n⟦connections:Connections ⟨2⟩⟧\n⟦triggers:Triggers ⟨1⟩⟧\n\
               0->1⟦id: id ⟨1⟩⟧⟦start: start ⟨5⟩⟧⟦size: size ⟨100⟩⟧ send_done_trigger 1⟦prio: prio ⟨2⟩⟧\n\
               0->2⟦second id: id ⟨2⟩⟧⟦trigger: trigger ⟨1⟩⟧ size 7⟦msg: msg ⟨1⟩⟧\n\
               ⟦declaration:trigger id ⟨1⟩ oneshot⟧\n",
        read: |text, budget| {
            let reading = FlowReading::default();
            graph(flow_list::read_htsim(
                text,
                StartUnit::Auto,
                reading,
                budget,
            ))
        },
    },
    Tried {
        reader: "flow-table",
        text: "source,destination,bytes,start,id,after,after_received\n\
               0,1,100,⟦start:⟨3⟩us⟧,⟦id:⟨1⟩⟧,,\n0,2,70,,2,⟦after:⟨1⟩⟧,\n2,1,9,,3,,⟦after_received:⟨2⟩⟧\n",
        read: |text, budget| graph(flow_list::read_table(text, FlowReading::default(), budget)),
    },
    Tried {
        reader: "ns3",
        text: "2\n0 1⟦group: ⟨3⟩⟧⟦port: ⟨100⟩⟧⟦size: ⟨4000⟩⟧⟦start: ⟨2⟩.5⟧\n1 0 3 100 7 3\n",
        read: |text, budget| graph(flow_list::read_ns3(text, FlowReading::default(), budget)),
    },
    Tried {
        reader: "goal",
        text: "num_ranks 2\nrank 0 {\na: calc ⟦time:⟨5⟩⟧\nb: send 9b to 1⟦tag: tag ⟨7⟩⟧⟦cpu: cpu ⟨2⟩⟧⟦nic: nic ⟨1⟩⟧\n\
               ⟦requires:b requires a\n⟨⟩⟧}\nrank 1 {\nrecv 9b from 0⟦its tag: tag ⟨7⟩⟧⟦its cpu: cpu ⟨1⟩⟧\n}\n",
        read: |text, budget| graph(goal::read(text.as_bytes(), budget)),
    },
    Tried {
        reader: "simai",
        text: "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: ⟦tensor:⟨2⟩⟧⟦ep: ep: ⟨2⟩⟧⟦pp: pp: ⟨1⟩⟧\
               ⟦vpp: vpp: ⟨1⟩⟧⟦ga: ga: ⟨1⟩⟧⟦all_gpus: all_gpus: ⟨8⟩⟧⟦checkpoints: checkpoints: ⟨0⟩⟧\n1\n\
               first -1 ⟦forward:⟨100⟩⟧ ALLREDUCE ⟦size:⟨4096⟩⟧ 200 ALLGATHER 8192 300 REDUCESCATTER_DP_EP 1024 ⟦update:⟨10⟩⟧\n",
        read: |text, budget| graph(simai::read(text, &simai_spec(), budget)),
    },
    Tried {
        reader: "aicb",
        text: "[rank0 ~ rank⟦last rank:⟨7⟩⟧]\n\
               comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n\
               CommType.all_gather,CommGroup.tp_group,⟦size of group:⟨2⟩⟧,⟦size:⟨100⟩⟧,⟦stage:⟨1⟩⟧,None,None,,None,⟦algbw:⟨1⟩⟧,None,⟦count:⟨1⟩⟧\n\
               CommType.computation,None,None,\"((4, 8), (8, 2))\",forward,None,None,,⟦time:⟨1⟩⟧,None,None,1\n",
        read: |text, budget| graph(aicb::read(text, &aicb_spec(), budget)),
    },
    Tried {
        reader: "kineto",
        text: r#"{"distributedInfo": {"backend": "nccl"⟦world: , "world_size": ⟨2⟩⟧, "pg_config": [{"pg_name": "0", "ranks": []}]},
            "traceEvents": [
            {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1000⟦dur: , "dur": ⟨10⟩⟧, "args": {⟦its stream:"stream": ⟨7⟩⟧}},
            {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "ts": ⟦ts:⟨1012⟩⟧, "dur": 30, "args": {
             "Collective name": "allreduce", "dtype": "Float"⟦stream: , "stream": ⟨20⟩⟧⟦sent: , "In msg nelems": ⟨1000⟩⟧
             ⟦received: , "Out msg nelems": ⟨1000⟩⟧⟦size: , "Group size": ⟨2⟩⟧⟦group: , "Process Group Name": "⟨0⟩"⟧
             ⟦ranks: , "Process Group Ranks": "[0, ⟨1⟩]"⟧⟦seq: , "Seq": ⟨4⟩⟧}}]}"#,
        read: |text, budget| {
            let spec = KinetoSpec {
                file: String::new(),
                groups: None,
                waits: Waits::Recorded,
                gaps: Gaps::Keep,
                calls: calls(),
            };
            graph(kineto::read(both(text).as_slice(), None, &spec, budget))
        },
    },
    Tried {
        reader: "pytorch-et",
        text: r#"{"schema": "1.1.0-chakra.0.0.4", "nodes": [
            {"id": 30, "name": "record_param_comms", "attrs": [
             {"name": "collective_name", "value": "allreduce"}, {"name": "dtype", "value": "Float"}
             ⟦sent: , {"name": "in_msg_nelems", "value": ⟨100⟩}⟧⟦received: , {"name": "out_msg_nelems", "value": ⟨100⟩}⟧
             ⟦group: , {"name": "pg_name", "value": "⟨0⟩"}⟧⟦size: , {"name": "pg_size", "value": ⟨2⟩}⟧]}]}"#,
        read: |text, budget| {
            let spec = PytorchEtSpec {
                file: String::new(),
                groups: None,
                calls: calls(),
            };
            graph(pytorch_et::read(both(text).as_slice(), None, &spec, budget))
        },
    },
    Tried {
        reader: "flight-recorder",
        text: r#"{"version": "2.10", "pg_config": {"0": {"name": "0", "ranks": "[0, 1]"}}, "entries": [
            {"record_id": 1, "pg_id": 0, "process_group": ["0", "default_pg"]⟦seq: , "collective_seq_id": ⟨3⟩⟧
             ⟦p2p: , "p2p_seq_id": ⟨0⟩⟧, "profiling_name": "nccl:all_reduce"⟦created: , "time_created_ns": ⟨1000⟩⟧
             ⟦duration: , "duration_ms": ⟨2⟩⟧⟦input: , "input_sizes": [[⟨100⟩]]⟧, "input_dtypes": ["Float"]
             ⟦output: , "output_sizes": [[⟨100⟩]]⟧, "output_dtypes": ["Float"], "state": "completed"}]}"#,
        read: |text, budget| {
            let spec = FlightRecorderSpec {
                file: String::new(),
                groups: None,
                gaps: Gaps::Keep,
                calls: calls(),
            };
            graph(flight_recorder::read(
                both(text).as_slice(),
                None,
                &spec,
                budget,
            ))
        },
    },
    Tried {
        reader: "nccl-log",
        text: "h:1:9 [0] NCCL INFO ncclCommInitRank comm 0xa rank ⟦rank:⟨0⟩⟧ nranks ⟦nranks:⟨2⟩⟧ cudaDev 0 commId 0xfeed - Init COMPLETE\n\
               h:2:9 [1] NCCL INFO ncclCommInitRank comm 0xb rank 1 nranks 2 cudaDev 1 commId 0xfeed - Init COMPLETE\n\
               h:1:9 [0] NCCL INFO AllReduce: opCount ⟦opCount:⟨1⟩⟧ sendbuff 0x7 recvbuff 0x8 count ⟦count:⟨100⟩⟧ datatype ⟦datatype:⟨7⟩⟧ op 0 root ⟦root:⟨0⟩⟧ comm 0xa [nranks=⟦size:⟨2⟩⟧] stream 0x5\n\
               h:2:9 [1] NCCL INFO AllReduce: opCount 1 sendbuff 0x7 recvbuff 0x8 count 100 datatype 7 op 0 root 0 comm 0xb [nranks=2] stream 0x5\n",
        read: |text, budget| {
            let spec = NcclLogSpec {
                file: String::new(),
                calls: calls(),
            };
            graph(nccl_log::read([one(text)].as_slice(), &spec, budget))
        },
    },
    Tried {
        reader: "topo",
        text: "Nodes 8\nTiers 3\nPodsize 4\nTier 0\n⟦speed:Downlink_speed_Gbps ⟨200⟩⟧\nRadix_Down 2\n⟦up:Radix_Up ⟨2⟩⟧\n\
               ⟦latency:Downlink_Latency_ns ⟨1000⟩⟧\n⟦switch latency:Switch_Latency_ns ⟨500⟩⟧\n⟦queue:Queue_Down ⟨100⟩⟧\n\
               ⟦oversubscribed:Oversubscribed ⟨1⟩⟧\nTier 1\nDownlink_speed_Gbps 200\n\
               Radix_Down 2\nRadix_Up 4\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\n⟦bundle:Bundle ⟨2⟩⟧\n",
        read: |text, budget| fabric(topo::read(one(text), budget)),
    },
    Tried {
        reader: "ns3-topology",
        text: "3 1 2\n2\n0 2 100Gbps ⟦delay:⟨1000⟩ns⟧⟦loss: ⟨0.001⟩⟧\n1 2 ⟦rate:⟨100⟩Gbps⟧ 1000ns⟦no loss: ⟨0⟩⟧\n",
        read: |text, budget| fabric(ns3_topology::read(one(text), budget)),
    },
    Tried {
        reader: "nccl-topo",
        text: r#"<system version="1"><cpu numaid="0"><pci busid="0000:10:00.0" class="0x060400"⟦slot: link_speed="⟨32.0⟩ GT/s PCIe"⟧⟦width: link_width="⟨16⟩"⟧>
            <pci busid="0000:11:00.0" class="0x030200"><gpu dev="0"⟦sm: sm="⟨90⟩"⟧><nvlink target="0000:c1:00.0"⟦count: count="⟨18⟩"⟧ tclass="0x068000"/></gpu></pci>
            <pci busid="0000:12:00.0" class="0x030200"><gpu dev="1" sm="90"><nvlink target="0000:c1:00.0" count="18" tclass="0x068000"/></gpu></pci>
            <pci busid="0000:13:00.0" class="0x020700"⟦its slot: link_speed="⟨32.0⟩ GT/s PCIe"⟧⟦its width: link_width="⟨16⟩"⟧>
            <nic><net name="mlx5_0"⟦speed: speed="⟨400000⟩"⟧⟦port: port="⟨1⟩"⟧⟦latency: latency="⟨0⟩"⟧/></nic></pci></pci></cpu></system>"#,
        read: |text, budget| {
            let reading = FabricReading {
                servers: Some(2),
                ..FabricReading::default()
            };
            fabric(nccl_topo::read(one(text), &reading, budget))
        },
    },
    Tried {
        reader: "netbox",
        text: "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,length,length_unit,rate\n\
               h0,dcim.interface,p0,sw,dcim.interface,1,⟦length:⟨3⟩⟧,m,⟦rate:⟨400⟩Gbps⟧\n\
               h1,dcim.interface,p0,sw,dcim.interface,2,3,⟦unit:m⟨⟩⟧,100Gbps\n",
        read: |text, budget| {
            let files = netbox::Files {
                cables: one(text),
                devices: None,
                interfaces: None,
            };
            let reading = FabricReading {
                hosts: Some("h*".to_owned()),
                switches: Some("sw".to_owned()),
                ..reading()
            };
            fabric(netbox::read(files, &reading, budget))
        },
    },
    Tried {
        reader: "infragraph",
        text: "name: t\ndevices:\n- {name: h, components: [{name: n, choice: nic⟦nics:, count: ⟨1⟩⟧}, {name: p, choice: port, count: 1}],\n\
               \x20  links: [{name: i}], edges: [{ep1: {component: n}, ep2: {component: p}, scheme: one2one, link: i}]}\n\
               - {name: s, components: [{name: p, choice: port, count: 4}], links: [], edges: []}\n\
               links:\n- name: f\n  physical:\n    ⟦bandwidth:bandwidth: {choice: gigabits_per_second, gigabits_per_second: ⟨400⟩}⟧\n\
               \x20   ⟦latency:latency: {choice: us, us: ⟨0.5⟩}⟧\ninstances:\n- {name: h, device: h⟦hosts:, count: ⟨2⟩⟧}\n- {name: s, device: s, count: 1}\n\
               edges:\n- {ep1: {instance: h, component: 'p'}, ep2: {instance: s, component: 'p[0:2]'}, scheme: one2one, link: f}\n",
        read: |text, budget| fabric(infragraph::read(one(text), None, &reading(), budget)),
    },
];

/// A text with one field at a value, and all others as they are.
fn with(text: &str, changed: Option<(&str, &str)>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, field)) = rest.split_once('⟦') {
        out.push_str(before);
        let (field, behind) = field.split_once('⟧').expect("a field ends");
        rest = behind;
        let (name, field) = field.split_once(':').expect("a field has a name");
        let (before, value) = field.split_once('⟨').expect("a field has a value");
        let (value, after) = value.split_once('⟩').expect("a value ends");
        let value = match changed {
            Some((of, ABSENT)) if of == name => continue,
            Some((of, value)) if of == name => value,
            _ => value,
        };
        out.extend([before, value, after]);
    }
    out + rest
}

fn fields(text: &str) -> impl Iterator<Item = &str> {
    let fields = text.split('⟦').skip(1);
    fields.map(|field| field.split(':').next().unwrap_or_default())
}

/// Changes without a word, and what they mean.
const MEANINGS: [Meaning; 32] = [
    Meaning(
        "chakra",
        "start",
        ABSENT,
        "recorded times are drawn in reports",
    ),
    Meaning("chakra", "data_deps", ABSENT, "it waits for nothing"),
    Meaning("chakra", "comm_type", ZERO, "0 is an all-reduce"),
    Meaning(
        "chakra",
        "took",
        ABSENT,
        "recorded times are drawn in reports",
    ),
    Meaning(
        "chakra",
        "took",
        ZERO,
        "recorded times are drawn in reports",
    ),
    Meaning("chakra", "num_ops", BOUND, "divided by `peak_gflops`"),
    Meaning(
        "htsim",
        "nodes",
        ABSENT,
        "as many ranks as the connections name",
    ),
    Meaning("htsim", "start", ZERO, "it starts at once"),
    Meaning("flow-table", "start", ABSENT, "it starts at once"),
    Meaning("flow-table", "start", ZERO, "it starts at once"),
    Meaning("flow-table", "after", ABSENT, "it waits for nothing"),
    Meaning(
        "flow-table",
        "after_received",
        ABSENT,
        "it waits for nothing",
    ),
    Meaning("goal", "time", ZERO, "it takes no time"),
    Meaning("goal", "cpu", ABSENT, "CPU 0, as in the grammar"),
    Meaning("goal", "cpu", ZERO, "CPU 0"),
    Meaning("goal", "requires", ABSENT, "it waits for nothing"),
    Meaning("goal", "its cpu", ABSENT, "CPU 0, as in the grammar"),
    Meaning("goal", "its cpu", ZERO, "CPU 0"),
    Meaning(
        "simai",
        "ep",
        ABSENT,
        "no expert parallelism, as in files of ASTRA-sim 1",
    ),
    Meaning("simai", "forward", ZERO, "it takes no time"),
    Meaning("simai", "update", ZERO, "it takes no time"),
    Meaning("aicb", "time", ZERO, "it takes no time"),
    Meaning("kineto", "dur", ZERO, "it takes no time"),
    Meaning("kineto", "ts", ZERO, "starts are those of the file"),
    Meaning("flight-recorder", "duration", ZERO, "it takes no time"),
    Meaning("topo", "latency", ZERO, "a cable without delay"),
    Meaning("ns3-topology", "delay", ZERO, "a cable without delay"),
    Meaning("ns3-topology", "loss", ZERO, "no loss"),
    Meaning("netbox", "length", ZERO, "a cable without delay"),
    Meaning("netbox", "rate", ABSENT, "`rate` of the command"),
    Meaning("infragraph", "bandwidth", ABSENT, "`rate` of the command"),
    Meaning("infragraph", "latency", ZERO, "a cable without delay"),
];

#[test]
fn optional_fields_are_refused_noted_or_mean_what_is_written() {
    let mut silent: Vec<String> = Vec::new();
    for Tried { reader, text, read } in &TRIED {
        let budget = || Budget::new(Limits::NONE);
        let base = read(&with(text, None), &budget());
        let (base, notes) = base.unwrap_or_else(|error| panic!("{reader}: {error}"));
        for field in fields(text) {
            for value in [ABSENT, ZERO, BOUND] {
                let place = format!("{reader}, {field}, {value}");
                match read(&with(text, Some((field, value))), &budget()) {
                    Err(error) => assert!(error.contains("; "), "{place}: {error}"),
                    Ok((same, _)) if same == base => {}
                    Ok((_, now)) if now.iter().any(|note| !notes.contains(note)) => {}
                    Ok(_) => silent.push(place),
                }
            }
        }
    }
    let known = MEANINGS.iter().map(|of| {
        let Meaning(reader, field, value, meaning) = of;
        assert!(!meaning.is_empty());
        format!("{reader}, {field}, {value}")
    });
    let known: Vec<String> = known.collect();
    assert_eq!(silent, known, "{silent:#?}");
}
