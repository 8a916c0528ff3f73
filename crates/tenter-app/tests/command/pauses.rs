//! `tenter run` on a fabric with pauses: tables, samples, summary and `--watch`.

use tenter::report::read_rows;
use tenter_results::{PortRow, QueueRow, SampleRow, SwitchRow};

use crate::workplace::Workplace;

/// Two senders and a receiver whose host takes 250 of the 400 Gb/s: its NIC pauses the leaf, and
/// the leaf, which stores 64 KiB for each port, pauses the senders and marks their frames.
const PAUSES: &str = "
name: pauses
fabric:
  kind: single-switch
  hosts: 3
  switch:
    buffer: {size: 4MB}
    classes:
      - {class: 3, limit: 64KiB, lossless: true, ecn: {kmin: 16KiB, kmax: 64KiB, pmax: 0.5}}
endpoint:
  nic: {receive_buffer: {drain_rate: 250Gbps, capacity: 512KiB, xoff: 64KiB, xon: 32KiB}}
jobs: [{collectives: [{collective: incast, root: 0, size: 3MiB}]}]
observe: {sample_interval: 1us}
";

fn workplace(name: &str) -> Workplace {
    let workplace = Workplace::new(name);
    workplace.write("pauses.yaml", PAUSES);
    workplace
}

#[test]
fn each_class_has_its_row_and_a_port_is_their_sum() {
    let workplace = workplace("pauses-tables");
    let answer = workplace.tenter(&["run", "pauses.yaml", "-o", "trial"]);
    answer.expect(0);
    let folder = workplace.path("trial");
    let ports: Vec<PortRow> = read_rows(&folder).expect("ports");
    let queues: Vec<QueueRow> = read_rows(&folder).expect("queues");
    // Three NICs and the three ports of the leaf; the other classes say nothing.
    assert_eq!(queues.len(), 6, "{queues:?}");
    for (port, queue) in ports.iter().zip(&queues) {
        assert_eq!((port.node, port.port), (queue.node, queue.port));
        assert_eq!((queue.class, queue.lossless), (3, true));
        let of_port = [port.rx_xoff_frames, port.tx_xoff_frames, port.marked_frames];
        let of_queue = [
            queue.rx_xoff_frames,
            queue.tx_xoff_frames,
            queue.marked_frames,
        ];
        assert_eq!(of_port, of_queue);
        assert_eq!((port.paused, port.pausing), (queue.paused, queue.pausing));
    }
    let [receiver, sender, _, down, up, _] = &queues[..] else {
        panic!("six rows");
    };
    // Both ends of a cable count the same frames.
    assert!(receiver.tx_xoff_frames > 0 && up.tx_xoff_frames > 0);
    for (one, other) in [(receiver, down), (up, sender)] {
        assert_eq!(one.tx_xoff_frames, other.rx_xoff_frames);
        assert_eq!(one.tx_xon_frames, other.rx_xon_frames);
        assert!(!one.pausing.is_zero() && !other.paused.is_zero());
    }
    assert!(up.headroom_bytes >= up.headroom_high_water_bytes);
    assert!(up.headroom_high_water_bytes > 0 && receiver.headroom_bytes == 0);
    assert!(ports[0].rx_high_water_bytes > 64 << 10 && ports[3].rx_high_water_bytes == 0);

    let switches: Vec<SwitchRow> = read_rows(&folder).expect("switches");
    let headroom: u64 = queues.iter().map(|queue| queue.headroom_bytes).sum();
    let [leaf] = &switches[..] else {
        panic!("one switch");
    };
    assert_eq!((leaf.node, leaf.node_name.as_str()), (3, "leaf0"));
    assert_eq!((leaf.headroom_bytes, leaf.shared_bytes), (headroom, 0));
    assert_eq!((leaf.pools, leaf.fullest_pool), (1, Some(0)));
    // Two senders, each held at its limit.
    let high_water = leaf.pool_high_water_bytes.expect("the pool is limited");
    assert!(high_water > 64 << 10 && high_water <= 128 << 10, "{leaf:?}");
    assert_eq!(leaf.marked_frames, down.marked_frames);
    assert!(leaf.marked_frames > 0);
}

#[test]
fn the_summary_names_the_port_that_was_paused_longest() {
    let workplace = workplace("pauses-summary");
    let run = ["run", "pauses.yaml", "-o", "trial"];
    let text = workplace.tenter(&run).expect(0).stdout;
    let json = workplace.json("trial/summary.json");
    let totals = &json["totals"];
    let ports: Vec<PortRow> = read_rows(&workplace.path("trial")).expect("ports");
    let longest = ports.iter().map(|port| port.paused).max();
    let longest = longest.expect("there are ports");
    let port = ports.iter().find(|port| port.paused == longest);
    let port = port.map(|port| format!("{}:{}", port.node_name, port.port));
    assert_eq!(totals["most_paused_port"].as_str(), port.as_deref());
    let ns = |hosts: bool| -> f64 {
        let ports = ports.iter().filter(|port| (port.node < 3) == hosts);
        ports.map(|port| port.paused.as_ns()).sum()
    };
    for (key, hosts) in [("nic_paused_ns", true), ("switch_paused_ns", false)] {
        let found = totals[key].as_f64().expect("a number");
        assert!((found - ns(hosts)).abs() < 1e-6, "{key}: {found}");
    }
    // One switch marks a frame at most once, and nothing is lost or sent again.
    assert_eq!(totals["rx_marked_frames"], totals["marked_frames"]);
    let share = totals["rx_marked_frames"].as_f64().expect("a number")
        / totals["rx_frames"].as_f64().expect("a number");
    let percent = totals["rx_marked_percent"].as_f64().expect("a number");
    assert!((percent - 100.0 * share).abs() < 1e-9 && percent > 0.0);
    for part in ["\npauses   ", ", longest ", "\nmarks    "] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("\nlost "), "{text}");
}

#[test]
fn samples_say_which_classes_are_paused() {
    let workplace = workplace("pauses-samples");
    let run = ["run", "pauses.yaml", "-o", "trial"];
    workplace.tenter(&run).expect(0);
    let samples: Vec<SampleRow> = read_rows(&workplace.path("trial")).expect("samples");
    let seen: std::collections::BTreeSet<u16> =
        samples.iter().map(|row| row.paused_classes).collect();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1 << 3]);
    // A paused sender has a row although it sends nothing; the receiver is never paused.
    let idle = |row: &&SampleRow| row.tx_bytes == 0 && row.queue_bytes == 0;
    assert!(
        samples
            .iter()
            .filter(idle)
            .all(|row| row.paused_classes == 8)
    );
    let receiver = samples.iter().filter(|row| row.node == 0);
    assert_eq!(receiver.map(|row| row.paused_classes).max(), Some(0));
}

#[test]
fn a_watched_port_shows_pauses_sent_arrived_and_obeyed() {
    let workplace = workplace("pauses-watch");
    let watch = |target: &str| {
        let arguments = ["--watch", target, "--watch-limit", "100000"];
        let all = [&["run", "pauses.yaml", "-o", "trial"][..], &arguments].concat();
        let text = workplace.tenter(&all).expect(0).stdout;
        let lines = text.lines().filter(|line| line.contains(" class 3 "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let time = |line: &str| -> f64 {
        let text = line.split_whitespace().next().unwrap_or_default();
        let (number, unit) = text.split_at(text.len() - 2);
        let number: f64 = number.parse().expect("a time begins with a number");
        match unit {
            "ns" => number,
            "us" => number * 1e3,
            other => panic!("{other} in {line}"),
        }
    };
    let [sent, taken] = ["port=leaf0:1", "port=host1:0"].map(watch);
    assert!(sent.iter().all(|line| line.contains(" sent ")), "{sent:?}");
    assert!(sent.len() > 1 && taken.len() == 2 * sent.len());
    assert!(sent[0].contains("XOFF class 3 for 65535 quanta (64 B)"));
    assert!(sent.iter().any(|line| line.contains("XON class 3 (64 B)")));
    // The next frame may arrive before the last one is obeyed.
    let (arrived, obeyed): (Vec<&String>, Vec<&String>) =
        taken.iter().partition(|line| line.contains(" arrives "));
    assert!(obeyed.iter().all(|line| line.contains(" obeyed ")));
    for (sent, (arrived, obeyed)) in sent.iter().zip(arrived.iter().zip(obeyed)) {
        let class = sent.find(" class ").map(|at| &sent[at - 4..]);
        assert!(class.is_some_and(|class| arrived.ends_with(class) && obeyed.ends_with(class)));
        // 905 quanta of 512 bits at 400 Gb/s are 1,158.4 ns.
        let response = time(obeyed) - time(arrived);
        assert!((response - 1_158.4).abs() < 1e-6, "{arrived} {obeyed}");
        // The frame and its overhead are 84 bytes of 20 ps, and the cable takes 25 ns.
        let way = time(arrived) - time(sent);
        assert!((way - 26.68).abs() < 1e-6, "{sent} {arrived}");
    }
}
