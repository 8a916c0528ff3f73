//! What each congestion control, transport and load balancer makes of usual traffic with its
//! defaults, as `docs/default-sanity.md` shows it: the share of the ideal time, how even senders
//! are, and what they send again.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tenter_endpoint::congestion_control::{CongestionControl, UetControl};
use tenter_fabric::net::load_balancing::LoadBalancing;

use tenter_testkit::cases;

use crate::trial::Trial;

/// A cell beyond these is out of bounds.
const SHARE_MIN: f64 = 70.0;
const JAIN_MIN: f64 = 0.8;
const RESENT_MAX: f64 = 1.0;
/// So many cells are out of bounds, each with its reason and source on the page. The number falls
/// as defaults are mended, and never rises.
const OUT: usize = 7;

/// Traffic of which the ideal time follows from bytes and rates.
struct Traffic {
    name: String,
    fabric: String,
    endpoint: &'static str,
    job: String,
    /// Payload that the slowest part carries, in bytes, and at which rate, in bits per second.
    payload: f64,
    rate: f64,
    /// Whether that rate is one of payload, not of the wire.
    is_payload_rate: bool,
}

const MIB: f64 = 1024.0 * 1024.0;

fn traffics(on_leaves: bool) -> Vec<Traffic> {
    let mut all = Vec::new();
    if !on_leaves {
        all.push(Traffic {
            name: "one flow".into(),
            ..incast(400, 1, 64.0)
        });
        for gbps in [40, 100, 400] {
            all.extend([2, 4, 8, 15].map(|senders| incast(gbps, senders, 1024.0)));
        }
        all.push(Traffic {
            name: "a NIC at half of PCIe".into(),
            fabric: "kind: single-switch, hosts: 16, rate: 400Gbps".into(),
            endpoint: "nic_impairments: [{host: host3, dma_write: 50%}], ",
            job: "collectives: [{collective: all-to-all, size: 64MiB}]".into(),
            payload: 60.0 * MIB,
            // Generation 5, 16 lanes, packets of 256 bytes with 24 of overhead, half of it.
            rate: 32e9 * 16.0 * 128.0 / 130.0 * 256.0 / 280.0 / 2.0,
            is_payload_rate: true,
        });
    }
    all.push(all_to_all(8, 8, 16));
    // Eight hosts of a leaf send to the 56 of others over two uplinks.
    all.push(Traffic {
        name: "all-to-all over 4:1".into(),
        fabric: leaf_spine(8, 8, 2),
        payload: 4.0 * MIB * 8.0 * 56.0 / 64.0 / 2.0,
        ..all_to_all(8, 8, 4)
    });
    all
}

/// A fabric of two tiers at 400G.
fn leaf_spine(leaves: u32, hosts_per_leaf: u32, spines: u32) -> String {
    format!(
        "kind: leaf-spine, leaves: {leaves}, hosts_per_leaf: {hosts_per_leaf}, spines: {spines}, host_rate: 400Gbps, uplink_rate: 400Gbps"
    )
}

/// An all-to-all without oversubscription, with some mebibytes for each host.
fn all_to_all(leaves: u32, hosts_per_leaf: u32, mib: u32) -> Traffic {
    let hosts = leaves * hosts_per_leaf;
    Traffic {
        name: format!("all-to-all of {hosts}"),
        fabric: leaf_spine(leaves, hosts_per_leaf, hosts_per_leaf),
        endpoint: "",
        job: format!("collectives: [{{collective: all-to-all, size: {mib}MiB}}]"),
        payload: f64::from(mib) * MIB * f64::from(hosts - 1) / f64::from(hosts),
        rate: 400e9,
        is_payload_rate: false,
    }
}

/// Incasts that end before rates have converged.
fn short_incasts() -> Vec<Traffic> {
    [40, 100, 400].map(|gbps| incast(gbps, 8, 128.0)).into()
}

/// An incast of some mebibytes in all at 400G, and in proportion at other rates.
fn incast(gbps: u32, senders: u32, mib: f64) -> Traffic {
    // As long with each number of senders, at each rate.
    let each = (mib * MIB * f64::from(gbps) / 400.0 / f64::from(senders)).floor();
    Traffic {
        name: format!("{senders}:1 at {gbps}G"),
        fabric: format!(
            "kind: single-switch, hosts: {}, rate: {gbps}Gbps",
            senders + 1
        ),
        endpoint: "",
        job: format!(
            "collectives: [{{collective: incast, root: 0, algorithm: parallel, size: {}B}}]",
            each * f64::from(senders + 1)
        ),
        payload: each * f64::from(senders),
        rate: f64::from(gbps) * 1e9,
        is_payload_rate: false,
    }
}

/// What a trial comes to.
#[derive(Clone, Copy)]
struct Cell {
    share: f64,
    jain: f64,
    resent: f64,
}

/// A kind with its defaults.
struct Kind {
    name: String,
    fabric: &'static str,
    nic: String,
    frame_bytes: f64,
    has_pcie: bool,
}

impl Kind {
    fn cell(&self, traffic: &Traffic) -> Option<Cell> {
        if !traffic.endpoint.is_empty() && !self.has_pcie {
            return None;
        }
        let pcie = if traffic.endpoint.is_empty() {
            ""
        } else {
            ", pcie: {generation: 5, lanes: 16, max_payload: 256B, tlp_overhead: 24B}"
        };
        let scenario = format!(
            "fabric: {{{}, {}}}\nendpoint: {{{}nic: {{{}{pcie}}}}}\njobs: [{{{}}}]\nobserve: {{samples: false}}\n",
            traffic.fabric, self.fabric, traffic.endpoint, self.nic, traffic.job
        );
        let trial = Trial::run(&scenario, &[]);
        let overhead = if traffic.is_payload_rate {
            1.0
        } else {
            self.frame_bytes / 4096.0
        };
        let ideal_ps = traffic.payload * 8.0 * overhead / traffic.rate * 1e12;
        let totals = &trial.outcome.summary.totals;
        Some(Cell {
            share: 100.0 * ideal_ps / trial.completion(0) as f64,
            jain: jain(&trial),
            resent: 100.0 * totals.retransmitted_frames as f64 / totals.tx_frames.max(1) as f64,
        })
    }
}

/// Jain's index of the rates of all senders, from their first request to their last
/// acknowledgement.
fn jain(trial: &Trial) -> f64 {
    let mut senders = std::collections::BTreeMap::new();
    for flow in &trial.flows {
        let (bytes, first, last) =
            senders
                .entry(flow.src_rank)
                .or_insert((0, flow.posted, flow.acknowledged));
        *bytes += flow.payload_bytes;
        *first = (*first).min(flow.posted);
        *last = (*last).max(flow.acknowledged);
    }
    let rates: Vec<f64> = senders
        .values()
        .map(|&(bytes, first, last)| bytes as f64 / (last - first).as_ns())
        .collect();
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    sum * sum / (rates.len() as f64 * squares)
}

/// Wire bytes of a full packet of 4,096 bytes.
const ROCE: f64 = 4178.0;
const ULTRA_ETHERNET: f64 = 4180.0;

fn controls() -> Vec<Kind> {
    let roce = |name: &str, fabric, nic: String| Kind {
        name: name.to_owned(),
        fabric,
        nic,
        frame_bytes: ROCE,
        has_pcie: true,
    };
    let mut kinds = vec![roce("none, PFC", "flow_control: pfc", "mtu: 4096".into())];
    for &word in CongestionControl::WORDS {
        let (fabric, answers) = match word {
            "dcqcn" => ("flow_control: pfc+ecn", ""),
            "dctcp" => ("flow_control: pfc+ecn", ", acknowledge: per-packet"),
            _ => ("flow_control: pfc", ", acknowledge: per-packet"),
        };
        kinds.push(roce(
            word,
            fabric,
            format!("congestion_control: {word}{answers}"),
        ));
    }
    kinds
}

fn transports() -> Vec<Kind> {
    // A constant window is the lack of a control.
    let words = UetControl::WORDS.iter().filter(|&&word| word != "constant");
    let kind = |&word: &&str| Kind {
        name: word.to_owned(),
        fabric: "flow_control: trim",
        nic: format!("transport: {{kind: ultra-ethernet, congestion_control: {word}}}"),
        frame_bytes: ULTRA_ETHERNET,
        has_pcie: false,
    };
    words.map(kind).collect()
}

fn balancers() -> Vec<Kind> {
    let words = LoadBalancing::VARIANTS.members.iter().map(|(word, _)| word);
    // Detours need a topology that has regions.
    let words = words.filter(|word| !["valiant", "ugal"].contains(word));
    let kind = |&word: &&str| {
        let fabric = format!("flow_control: pfc, load_balancing: {{kind: {word}}}");
        Kind {
            name: word.to_owned(),
            fabric: fabric.leak(),
            nic: "loss_recovery: {kind: selective-repeat, reorder: 64}".into(),
            frame_bytes: ROCE,
            has_pcie: true,
        }
    };
    words.map(kind).collect()
}

/// A table of kinds against traffic, and the cells that are out of bounds.
fn table(title: &str, kinds: &[Kind], traffics: &[Traffic], page: &mut String) -> Vec<[String; 2]> {
    let mut out = Vec::new();
    let names: Vec<&str> = kinds.iter().map(|kind| &*kind.name).collect();
    let _ = writeln!(page, "\n## {title}\n\n| traffic | {} |", names.join(" | "));
    let _ = writeln!(page, "|---|{}", "---|".repeat(kinds.len()));
    for traffic in traffics {
        let _ = write!(page, "| {} |", traffic.name);
        for kind in kinds {
            let Some(cell) = kind.cell(traffic) else {
                page.push_str(" – |");
                continue;
            };
            let holds =
                cell.share >= SHARE_MIN && cell.jain >= JAIN_MIN && cell.resent <= RESENT_MAX;
            let mark = if holds { "" } else { " *" };
            let _ = write!(
                page,
                " {:.1} · {:.2} · {:.2}{mark} |",
                cell.share, cell.jain, cell.resent
            );
            if !holds {
                out.push([kind.name.clone(), traffic.name.clone()]);
            }
        }
        page.push('\n');
    }
    out
}

const HEAD: &str = "# Defaults on usual traffic

Each congestion control, transport and load balancer runs with its defaults; one kind varies at a time.
A cell has the share of the ideal time in per cent, Jain's index of the rates of senders, and the share of data frames that were sent again, in per cent.
The ideal time is that of the wire bytes at the slowest link, without latency.
Incasts have 1 GiB at 400G, and less in proportion at slower lines: 21 ms, in which controls converge; shorter ones are below, without a judgement.
A test writes this page and holds it. A cell below 70 % of the ideal, below 0.8 of Jain's index or above 1 % sent again has a star, and a reason here.

- All of Ultra Ethernet in the all-to-all over 4:1: 224 connections share an uplink, and a window is no smaller than a packet (the Ultra Ethernet Consortium's simulator: `_min_cwnd` is one MTU), while the queue holds 100 packets; the rest is trimmed and sent again. Receivers of NDP and EQDS grant at the rate of their line whatever the core carries (NDP, 2017): three of four packets are trimmed.
- `flowlet` in an all-to-all of 512, which tests of all cases judge by the same bounds: 67 % of the ideal. The 7,680 flows of a leaf share 256 entries, a common default of switch chips (Juniper's guide), and none is idle for the gap of 256 µs, so entries keep their links. All others have 72 % at least there.

RoCE has PFC, with marks under DCQCN, and an acknowledgement for each packet where a congestion control needs it; Ultra Ethernet has `flow_control: trim`.
";

const SHORT: &str = "
Incasts of 2.7 ms end before rates have converged: the timer of NVIDIA's preset of DCQCN raises them each 300 µs, and the delays of TIMELY were measured at 10G, as a warning says. Stars here are not counted.
";

#[test]
fn defaults_do_what_their_page_says() {
    let mut page = HEAD.to_owned();
    let (switch, leaves) = (traffics(false), traffics(true));
    let mut out = table(
        "Congestion control of RoCE",
        &controls(),
        &switch,
        &mut page,
    );
    out.extend(table("Ultra Ethernet", &transports(), &switch, &mut page));
    out.extend(table("Load balancing", &balancers(), &leaves, &mut page));
    let short = table("Short incasts", &controls(), &short_incasts(), &mut page);
    page.push_str(SHORT);
    assert!(short.len() < 6, "{short:?}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/default-sanity.md");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&path, &page).expect("the repository can be written");
    }
    assert_eq!(out.len(), OUT, "{out:?}");
    let committed = fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == page,
        "docs/default-sanity.md differs; run with UPDATE_EXPECTED=1 and review"
    );
}

/// The same of 512 hosts, which takes minutes: with all cases alone.
#[test]
fn all_to_alls_of_512_keep_the_bounds() {
    if cases(0, 1) == 0 {
        return;
    }
    let traffic = [all_to_all(32, 16, 8)];
    let mut page = String::new();
    let mut out = table("RoCE", &controls(), &traffic, &mut page);
    out.extend(table("Ultra Ethernet", &transports(), &traffic, &mut page));
    out.extend(table("Balancers", &balancers(), &traffic, &mut page));
    assert_eq!(out, [["flowlet", "all-to-all of 512"]], "{page}");
}
