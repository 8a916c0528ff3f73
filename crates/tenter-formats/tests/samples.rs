//! Files of others, where they are: counts must be those of a second, simple reading.
//!
//! The folder is `TENTER_SAMPLES`, by default `../shared/reference/formats/samples` beside the
//! repository.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde_json::Value;
use tenter_formats::fabric::FabricReading;
use tenter_formats::{
    Imported, Source, aicb, chakra, flow_list, goal, graph_file, infragraph, kineto, nccl_topo,
    pytorch_et, read_algorithm, simai, topo,
};
use tenter_language::units::Budget;
use tenter_workload::collective::{AlgorithmFiles, CollectiveKind, read_program, write_program};
use tenter_workload::graph::{Algorithms, Operation, OperationKind};
use tenter_workload::spec::{
    AicbSpec, CallReading, FlowReading, Gaps, GatheredSize, KinetoSpec, PytorchEtSpec, SimaiSpec,
    StartUnit, TraceReading, Waits,
};

/// The folder of a format; tells that it is not there.
#[expect(clippy::print_stderr, reason = "what is not tested is said aloud")]
fn samples(of: &str) -> Option<PathBuf> {
    let beside = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/reference/formats/samples"
    );
    let folder =
        std::env::var_os("TENTER_SAMPLES").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let folder = folder.join(of);
    let there = folder.is_dir();
    if !there {
        let shown = folder.display();
        eprintln!("NOT TESTED: there are no samples of {of} in {shown}; set TENTER_SAMPLES");
    }
    there.then_some(folder)
}

/// All files below a folder whose names end so, in order.
fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, suffix));
        } else if path.to_string_lossy().ends_with(suffix) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn count(imported: &Imported, kind: OperationKind) -> u64 {
    imported.graph.counts().get(&kind).copied().unwrap_or(0)
}

fn sent(imported: &Imported) -> u64 {
    imported.graph.sends().map(|(_, _, bytes)| bytes).sum()
}

/// What is read is kept and read again.
fn is_kept(imported: &Imported, path: &Path) {
    let again = graph_file::read(graph_file::write(&imported.graph), &Budget::unlimited());
    let again = again.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(again, imported.graph, "{}", path.display());
}

#[test]
fn goal_texts_have_their_operations_and_waits() {
    let Some(folder) = samples("goal") else {
        return;
    };
    for path in files(&folder, ".goal") {
        let text = fs::read_to_string(&path).expect("a text");
        let read = goal::read(text.as_bytes(), &Budget::unlimited());
        let read = read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // A word that says what an operation is, and one that says what waits.
        let words = || {
            text.lines()
                .map(|line| line.split("//").next().unwrap_or_default())
        };
        let of = |word: &str| {
            let lines = words().flat_map(str::split_whitespace);
            lines.filter(|found| *found == word).count() as u64
        };
        let name = path.display();
        assert_eq!(count(&read, OperationKind::Receive), of("recv"), "{name}");
        assert_eq!(
            read.graph.operations(),
            of("send") + of("recv") + of("calc"),
            "{name}"
        );
        assert_eq!(
            read.graph.edges(),
            of("requires") + of("irequires"),
            "{name}"
        );
        is_kept(&read, &path);
    }
    for path in files(&folder, ".bin") {
        let bytes = fs::read(&path).expect("a file");
        let read = goal::read(&bytes, &Budget::unlimited());
        let read = read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // Each operation takes 39 bytes, each wait 4; a rank has 16 bytes in the head and 8 and 4
        // for each root in its block.
        let ranks = u64::from(read.graph.ranks());
        let roots = (0..read.graph.ranks()).map(|rank| {
            let operations = read.graph.operations_of(rank);
            let mut waits = vec![false; operations as usize];
            for place in 0..operations {
                for (follower, _) in read.graph.followers(rank, place) {
                    waits[follower as usize] = true;
                }
            }
            waits.iter().filter(|waits| !**waits).count() as u64
        });
        let expected = 14
            + 24 * ranks
            + 4 * roots.sum::<u64>()
            + 39 * read.graph.operations()
            + 4 * read.graph.edges();
        assert_eq!(bytes.len() as u64, expected, "{}", path.display());
        is_kept(&read, &path);
    }
}

#[test]
fn connection_matrices_have_their_flows_and_bytes() {
    let Some(folder) = samples("htsim") else {
        return;
    };
    for path in files(&folder, ".cm") {
        let text = fs::read_to_string(&path).expect("a text");
        let read = flow_list::read_htsim(
            &text,
            StartUnit::Auto,
            FlowReading::default(),
            &Budget::unlimited(),
        );
        let read = read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let words = |line: &str| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let lines: Vec<Vec<String>> = text
            .lines()
            .filter(|line| line.contains("->"))
            .map(words)
            .collect();
        let behind = |word: &str| {
            let found = lines.iter().filter_map(|line| {
                let place = line.iter().position(|found| found == word)?;
                line.get(place + 1)?.parse::<u64>().ok()
            });
            found.collect::<Vec<_>>()
        };
        let name = path.display();
        assert_eq!(
            count(&read, OperationKind::Send),
            lines.len() as u64,
            "{name}"
        );
        assert_eq!(sent(&read), behind("size").iter().sum::<u64>(), "{name}");
        let timed = behind("start").iter().filter(|&&start| start > 0).count();
        let waits = timed + behind("trigger").len();
        assert_eq!(read.graph.edges(), waits as u64, "{name}");
        is_kept(&read, &path);
    }
}

#[test]
fn traces_of_chakra_have_a_collective_for_each_rank() {
    let Some(folder) = samples("chakra") else {
        return;
    };
    for (prefix, bytes) in [
        ("astra_all_gather_8npus_1MB/all_gather", 8 << 20),
        ("astra_all_reduce_16npus_1MB/all_reduce", 1 << 20),
        ("astra_all_to_all_8npus_1MB/all_to_all", 1 << 20),
        ("astra_reduce_scatter_8npus_1MB/reduce_scatter", 1 << 20),
    ] {
        let (name, _) = prefix.split_once('/').expect("a folder");
        let ranks = files(&folder.join(name), ".et").len();
        let read = |rank| fs::read(folder.join(format!("{prefix}.{rank}.et"))).expect("a file");
        let found: Vec<Vec<u8>> = (0..ranks).map(read).collect();
        let sources = found.iter().map(|bytes| Source { name, bytes });
        let sources: Vec<Source<'_>> = sources.collect();
        let read = chakra::read(
            sources.as_slice(),
            None,
            &TraceReading::default(),
            &Budget::unlimited(),
        );
        let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(count(&read, OperationKind::Collective), ranks as u64);
        assert_eq!(read.graph.collectives().len(), 1);
        assert_eq!(read.graph.collectives().get(0).2, bytes, "{name}");
        is_kept(&read, &folder);
    }
}

#[test]
fn fat_trees_have_all_their_hosts() {
    let Some(folder) = samples("htsim") else {
        return;
    };
    for path in files(&folder, ".topo") {
        let text = fs::read_to_string(&path).expect("a text");
        let (name, bytes) = (path.to_str().expect("a name"), text.as_bytes());
        let fabric = topo::read(Source { name, bytes }, &Budget::unlimited());
        let fabric = fabric.unwrap_or_else(|error| panic!("{error}"));
        let of = |key: &str| {
            let mut lines = fabric.yaml.lines().map(str::trim);
            let value = lines.find_map(|line| line.strip_prefix(key));
            value.map_or(1, |value| value.parse::<u64>().expect("a number"))
        };
        let hosts = of("hosts_per_leaf: ") * of("leaves_per_pod: ") * of("pods: ");
        let nodes = text.lines().find_map(|line| line.strip_prefix("Nodes "));
        let nodes: u64 = nodes.expect("a header").trim().parse().expect("a number");
        assert_eq!(hosts, nodes, "{name}");
    }
}

#[test]
fn infrastructures_have_a_cable_for_each_edge() {
    let Some(folder) = samples("infragraph") else {
        return;
    };
    let mut texts = Vec::new();
    for suffix in ["_4servers.yaml", "_4servers.json"] {
        for path in files(&folder, suffix) {
            let text = fs::read_to_string(&path).expect("a text");
            let (name, bytes) = (path.to_str().expect("a name"), text.as_bytes());
            let fabric = infragraph::read(
                Source { name, bytes },
                None,
                &FabricReading::default(),
                &Budget::unlimited(),
            );
            let fabric = fabric.unwrap_or_else(|error| panic!("{error}"));
            // Edges between instances name a server at one end, each with one NIC.
            let edges = text.matches("server[").count();
            let count = |what: &str| fabric.yaml.matches(what).count();
            assert_eq!(count("- {a: "), edges, "{name}");
            assert_eq!(count("{name: server"), edges, "{name}");
            assert_eq!(count("kind: switch"), 1, "{name}");
            assert_eq!(count("rate: 100Gbps, delay: 25ns"), edges, "{name}");
            assert_eq!(count("scale_up: {npus_per_host: 4}"), 1, "{name}");
            texts.push(fabric.yaml);
        }
    }
    assert_eq!(texts.len(), 2);
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn servers_of_nccl_have_their_gpus_and_nics() {
    let Some(folder) = samples("nccl-xml") else {
        return;
    };
    // NICs for GPUs: those of the DGX are without the two ports for storage, which the file has
    // beside the PCIe switches.
    let nics = [
        ("dgx_a100", 8),
        ("ndv4", 8),
        ("ndv2", 1),
        ("p4d", 4),
        ("ncv4-topo", 1),
    ];
    let mut read = 0;
    for path in files(&folder, ".xml") {
        let text = fs::read_to_string(&path).expect("a text");
        let (name, bytes) = (path.to_str().expect("a name"), text.as_bytes());
        let server = nccl_topo::read(
            Source { name, bytes },
            &FabricReading::default(),
            &Budget::unlimited(),
        );
        let gpus = text.matches(" class=\"0x0302").count();
        if gpus == 0 {
            let error = server.expect_err("there are no GPUs in it");
            assert!(error.to_string().contains("line "), "{error}");
            continue;
        }
        let server = server.unwrap_or_else(|error| panic!("{error}"));
        let own = nics.iter().find(|(part, _)| name.contains(part));
        let (_, nics) = own.unwrap_or_else(|| panic!("{name} is new: count its NICs"));
        let domain = format!("npus_per_host: {gpus}");
        assert!(server.yaml.contains(&domain), "{name}\n{}", server.yaml);
        let share = server
            .yaml
            .lines()
            .find_map(|line| line.trim().strip_prefix("npus_per_nic: "));
        let share: usize = share.map_or(1, |share| share.parse().expect("a number"));
        assert_eq!(share * nics, gpus, "{name}");
        read += 1;
    }
    assert_eq!(read, 5);
}

#[test]
fn layers_of_simai_have_their_collectives() {
    let Some(folder) = samples("simai") else {
        return;
    };
    let mut read = 0;
    for path in files(&folder, ".txt") {
        let text = fs::read_to_string(&path).expect("a text");
        // Results of a run have the same suffix.
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let layers: Vec<&Vec<&str>> = lines
            .iter()
            .skip(2)
            .filter(|line| line.len() >= 12)
            .collect();
        if layers.is_empty() {
            continue;
        }
        let tensor = lines[0]
            .iter()
            .position(|word| word.starts_with("model_parallel"));
        let tensor: u32 = tensor.map_or(1, |at| lines[0][at + 1].parse().expect("a number"));
        let ranks = 2 * tensor;
        let spec = SimaiSpec {
            file: String::new(),
            ranks: Some(ranks),
            all_gather_size: GatheredSize::Total,
            algorithms: Algorithms::default(),
            timing: FlowReading::default().timing(),
        };
        let imported = simai::read(&text, &spec, &Budget::unlimited());
        let imported = imported.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let own = layers.iter().flat_map(|line| {
            // Tensor-parallel ones are of one rank where there is one.
            let columns = [(3, tensor), (6, tensor), (9, 2)];
            columns.map(|(at, size)| size > 1 && line[at] != "NONE" && line[at + 1] != "0")
        });
        let of_micro = lines[0][0] == "MICRO";
        let own = if of_micro {
            layers.iter().filter(|line| line[9] != "NONE").count()
        } else {
            own.filter(|counts| *counts).count()
        };
        let name = path.display();
        let found = count(&imported, OperationKind::Collective);
        assert_eq!(found, own as u64 * u64::from(ranks), "{name}");
        let computes = count(&imported, OperationKind::Compute);
        assert_eq!(
            computes,
            4 * layers.len() as u64 * u64::from(ranks),
            "{name}"
        );
        is_kept(&imported, &path);
        read += 1;
    }
    assert!(read > 0);
}

/// How many steps of the types that send there are in an XML of MSCCL, and the chunks of all.
fn sends_of(text: &str) -> (u32, u64) {
    let value = |line: &str, key: &str| {
        let (_, rest) = line.split_once(&format!(" {key}=\""))?;
        rest.split_once('"').map(|(value, _)| value.to_owned())
    };
    let sends = text.lines().filter_map(|line| {
        let kind = value(line, "type")?;
        let sends = ["s", "rcs", "rrs", "rrcs"].contains(&kind.as_str());
        let count = value(line, "cnt")?.parse::<u64>().ok()?;
        sends.then_some(count)
    });
    sends.fold((0, 0), |(steps, chunks), count| (steps + 1, chunks + count))
}

#[test]
fn algorithms_of_msccl_do_what_they_promise() {
    let Some(folder) = samples("msccl") else {
        return;
    };
    for path in files(&folder, ".xml") {
        let text = fs::read_to_string(&path).expect("a text");
        let name = path.display();
        let read = read_algorithm(text.as_bytes(), &Budget::unlimited());
        let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read.notes, Vec::<String>::new(), "{name}");
        let own = write_program(&read.program, '\n');
        assert_eq!(read_program(&own).as_ref(), Ok(&read.program), "{name}");
        let parts = read.program.parts().clone();
        let (ranks, size) = (parts.ranks, u64::from(parts.chunks) * 960);
        let kind = CollectiveKind::FromFile(AlgorithmFiles::of(read.program));
        let schedule = kind.schedule(ranks, size).expect("as many ranks as it has");
        let bytes: u64 = (0..schedule.transfer_count())
            .map(|id| schedule.transfer(id).bytes)
            .sum();
        let (sends, chunks) = sends_of(&text);
        assert_eq!(schedule.transfer_count(), sends, "{name}");
        assert_eq!(bytes, parts.protocol.bytes(chunks * 960), "{name}");
    }
}

/// How many operations of a plan of MSCCL++ there are that move data or signal, by their names.
fn operations_of(text: &str, names: &[&str]) -> usize {
    let count = |name: &&str| text.matches(&format!("\"name\": \"{name}\"")).count();
    names.iter().map(count).sum()
}

#[test]
fn plans_of_mscclpp_do_what_they_promise() {
    let Some(folder) = samples("mscclpp") else {
        return;
    };
    for path in files(&folder, ".json") {
        let text = fs::read_to_string(&path).expect("a text");
        let name = path.display();
        let read = read_algorithm(text.as_bytes(), &Budget::unlimited());
        let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        let own = write_program(&read.program, '\n');
        assert_eq!(read_program(&own).as_ref(), Ok(&read.program), "{name}");
        let ranks = read.program.ranks();
        let kind = CollectiveKind::FromFile(AlgorithmFiles::of(read.program));
        let schedule = kind
            .schedule(ranks, 1 << 20)
            .expect("as many ranks as it has");
        // Each has one chunk on one channel: a message for what is put, two for what is got.
        let one = [
            "signal",
            "rlxsignal",
            "put",
            "ppkt",
            "rppkt",
            "res",
            "respkt",
        ];
        let two = ["get", "rre"];
        let messages = operations_of(&text, &one)
            + 2 * operations_of(&text, &two)
            + 3 * operations_of(&text, &["rres"]);
        assert_eq!(schedule.transfer_count() as usize, messages, "{name}");
    }
}

/// How recordings are read where nothing else is said.
fn calls(ranks: Option<u32>) -> CallReading {
    CallReading {
        ranks,
        algorithms: Algorithms::default(),
        timing: FlowReading::default().timing(),
    }
}

/// A file that gzip has compressed.
fn unpacked(path: &Path) -> Vec<u8> {
    let packed = fs::read(path).expect("a file");
    let mut bytes = Vec::new();
    let read = MultiGzDecoder::new(packed.as_slice()).read_to_end(&mut bytes);
    read.expect("it is compressed");
    bytes
}

/// How much intervals cover together.
fn covered(intervals: impl Iterator<Item = (u64, u64)>) -> u64 {
    let mut longest: BTreeMap<u64, u64> = BTreeMap::new();
    for (start, end) in intervals {
        let until = longest.entry(start).or_insert(end);
        *until = end.max(*until);
    }
    let (mut until, mut covered) = (0, 0);
    for (start, end) in longest {
        covered += end.max(until) - start.max(until);
        until = end.max(until);
    }
    covered
}

#[test]
fn kernels_of_kineto_are_counted() {
    let Some(folder) = samples("kineto") else {
        return;
    };
    let path = folder.join("sampled_rank-0.json.gz");
    let packed = fs::read(&path).expect("a file");
    let spec = KinetoSpec {
        file: String::new(),
        groups: None,
        waits: Waits::Exposed,
        gaps: Gaps::Keep,
        calls: calls(Some(4)),
    };
    let name = "sampled_rank-0.json.gz";
    let bytes = &packed;
    let source = Source { name, bytes };
    let read = kineto::read([source].as_slice(), None, &spec, &Budget::unlimited())
        .expect("it is a trace");
    let parsed: Value = serde_json::from_slice(&unpacked(&path)).expect("it is JSON");
    let events = parsed["traceEvents"].as_array().expect("a list");
    let of = |category: &'static str| {
        let found = events.iter().filter(move |event| event["cat"] == category);
        found.map(|event| {
            let (start, took) = (&event["ts"], &event["dur"]);
            let start = start.as_u64().expect("whole microseconds");
            (
                event,
                start,
                start + took.as_f64().expect("a number") as u64,
            )
        })
    };
    let is_nccl = |event: &Value| event["name"].as_str().expect("a name").contains("nccl");
    // The union of all that computes: every microsecond that is covered.
    let of_device = |event: &Value| {
        let name = event["name"].as_str();
        name.is_some_and(|name| name.contains("DtoD"))
    };
    let copies = of("gpu_memcpy").filter(|(event, ..)| of_device(event));
    let kernels = of("kernel").filter(|(event, ..)| !is_nccl(event));
    let computes = kernels.chain(copies).chain(of("gpu_memset"));
    let busy = covered(computes.map(|(_, start, end)| (start, end)));
    let computed =
        (0..read.graph.operations_of(0)).map(|place| match read.graph.operation(0, place) {
            (Operation::Compute { time }, 0) => time.ps(),
            _ => 0,
        });
    assert_eq!(computed.sum::<u64>(), busy * 1_000_000);
    // Collectives are those kernels that were launched during an annotation.
    let launches: BTreeMap<u64, u64> = of("cuda_runtime")
        .filter_map(|(event, start, _)| Some((event["args"]["correlation"].as_u64()?, start)))
        .collect();
    let during = |event: &Value| {
        let launch = launches.get(&event["args"]["correlation"].as_u64().expect("a number"));
        let mut annotations = of("user_annotation").filter(|(event, ..)| is_nccl(event));
        launch
            .is_some_and(|launch| annotations.any(|(_, start, end)| (start..=end).contains(launch)))
    };
    let nccl: Vec<&Value> = of("kernel")
        .map(|(event, ..)| event)
        .filter(|event| is_nccl(event))
        .collect();
    let known = nccl.iter().filter(|event| during(event)).count() as u64;
    assert_eq!(count(&read, OperationKind::Collective), 4 * known);
    assert!(known > 0 && nccl.len() == 10, "{known} of {}", nccl.len());
    is_kept(&read, &path);
}

/// The JSON file in an archive of `tar`.
fn json_of(archive: &[u8]) -> Vec<u8> {
    let mut rest = archive;
    while rest.len() > 512 {
        let (head, behind) = rest.split_at(512);
        let text = |from: usize, to: usize| {
            let field = String::from_utf8_lossy(&head[from..to]).into_owned();
            field.trim_matches(['\0', ' ']).to_owned()
        };
        let size = usize::from_str_radix(&text(124, 136), 8).expect("an octal number");
        let name = text(0, 100);
        if name.contains(".json") && !name.contains("._") && head[156] == b'0' {
            return behind[..size].to_vec();
        }
        rest = &behind[size.div_ceil(512) * 512..];
    }
    panic!("no file is in it");
}

#[test]
fn host_traces_have_their_collectives() {
    let (Some(kineto), Some(chakra)) = (samples("kineto"), samples("chakra")) else {
        return;
    };
    let older = json_of(&unpacked(&chakra.join("1.0.2-chakra.0.0.4.tgz")));
    let newer = unpacked(&kineto.join("resnet_2gpu_et.json.gz"));
    for (name, bytes) in [("older", older), ("newer", newer)] {
        let spec = PytorchEtSpec {
            file: String::new(),
            groups: None,
            calls: calls(None),
        };
        let source = Source {
            name,
            bytes: &bytes,
        };
        let read = pytorch_et::read([source].as_slice(), None, &spec, &Budget::unlimited());
        let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        // Nodes of NCCL beside those that record calls.
        let parsed: Value = serde_json::from_slice(&bytes).expect("it is JSON");
        let nodes = parsed["nodes"].as_array().expect("a list");
        let of_nccl = nodes.iter().filter(|node| {
            let name = node["name"].as_str().expect("a name");
            name.starts_with("nccl:")
        });
        let of_nccl: Vec<&Value> = of_nccl.collect();
        let collectives = read.graph.collectives();
        assert_eq!(read.graph.ranks(), 2, "{name}");
        assert_eq!(collectives.len(), of_nccl.len(), "{name}");
        assert_eq!(
            count(&read, OperationKind::Collective),
            2 * of_nccl.len() as u64
        );
        // Their first input is a tensor, or a list of one: elements, and bytes of each.
        let bytes = of_nccl.iter().map(|node| {
            let mut tensor = &node["inputs"]["values"][0];
            while tensor[0].is_array() {
                tensor = &tensor[0];
            }
            let own = tensor[3].as_u64().expect("elements") * tensor[4].as_u64().expect("bytes");
            let gathers = node["name"]
                .as_str()
                .is_some_and(|name| name.contains("gather"));
            if gathers { 2 * own } else { own }
        });
        let read_bytes = (0..collectives.len() as u32).map(|number| collectives.get(number).2);
        assert_eq!(read_bytes.sum::<u64>(), bytes.sum::<u64>(), "{name}");
        is_kept(&read, &kineto);
    }
    let without = unpacked(&kineto.join("linear_et.json.gz"));
    let source = Source {
        name: "linear",
        bytes: &without,
    };
    let spec = PytorchEtSpec {
        file: String::new(),
        groups: None,
        calls: calls(Some(2)),
    };
    let error = pytorch_et::read([source].as_slice(), None, &spec, &Budget::unlimited())
        .expect_err("one rank alone");
    assert!(error.to_string().contains("no node records"), "{error}");
}

#[test]
fn tables_of_aicb_have_their_collectives() {
    let Some(folder) = samples("simai") else {
        return;
    };
    let mut read = 0;
    for path in files(&folder, "mbs1.csv") {
        let text = fs::read_to_string(&path).expect("a text");
        let name = path.display();
        let spec = AicbSpec {
            file: String::new(),
            tensor: None,
            expert: None,
            pipeline: None,
            all_gather_size: GatheredSize::Total,
            calls: calls(None),
        };
        let imported = aicb::read(&text, &spec, &Budget::unlimited());
        let imported = imported.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(imported.graph.ranks(), 128, "{name}");
        let rows = text.lines().filter(|line| {
            line.starts_with("CommType.") && !line.starts_with("CommType.epoch_end")
        });
        let rows = rows.map(|line| line.split(',').collect::<Vec<&str>>());
        let has_bytes = |row: &Vec<&str>| row[3] != "0" || row[0].ends_with("barrier");
        let rows: Vec<Vec<&str>> = rows.filter(has_bytes).collect();
        let found = count(&imported, OperationKind::Collective);
        assert_eq!(found, 128 * rows.len() as u64, "{name}");
        // Each group of so many ranks has its own; a barrier has four bytes.
        let collectives = imported.graph.collectives();
        let bytes = rows.iter().map(|row| {
            let number = |at: usize| row[at].parse::<u64>().expect("a number");
            let bytes = if row[0].ends_with("barrier") {
                4
            } else {
                number(3)
            };
            bytes * (128 / number(2))
        });
        let read_bytes = (0..collectives.len() as u32).map(|number| collectives.get(number).2);
        assert_eq!(read_bytes.sum::<u64>(), bytes.sum::<u64>(), "{name}");
        is_kept(&imported, &path);
        read += 1;
    }
    assert_eq!(read, 3);
}
