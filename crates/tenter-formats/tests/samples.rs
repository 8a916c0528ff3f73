//! Files of others, where they are: counts must be those of a second, simple reading.
//!
//! The folder is `TENTER_SAMPLES`, by default `../shared/reference/formats/samples` beside the
//! repository.

use std::fs;
use std::path::{Path, PathBuf};

use tenter_formats::fabric::FabricReading;
use tenter_formats::{
    Imported, Source, chakra, flow_list, goal, graph_file, infragraph, nccl_topo, simai, topo,
};
use tenter_workload::graph::Algorithms;
use tenter_workload::graph::OperationKind;
use tenter_workload::spec::{FlowReading, GatheredSize, SimaiSpec, StartUnit, TraceReading};

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
    let again = graph_file::read(&graph_file::write(&imported.graph));
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
        let read = goal::read(text.as_bytes());
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
        let read = goal::read(&bytes);
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
        let read = flow_list::read_htsim(&text, StartUnit::Auto, FlowReading::default());
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
        let read = chakra::read(&sources, None, &TraceReading::default());
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
        let fabric = topo::read(Source { name, bytes });
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
            let fabric = infragraph::read(Source { name, bytes }, None, &FabricReading::default());
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
        let server = nccl_topo::read(Source { name, bytes }, &FabricReading::default());
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
        let imported = simai::read(&text, &spec);
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
