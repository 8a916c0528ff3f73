//! The same hosts as a lab of machines, with switches that are a script.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::thread;

use tenter::report::read_rows;
use tenter_lab::{LabFile, LabRun};
use tenter_results::PortRow;
use tenter_sim::Outcome;

use crate::bench::{Bench, Quiet};
use crate::hostile::enter;

/// It shows a thousand frames more each time, and 7 pause frames.
const SWITCH: &str = "\
case \"$*\" in
  *'interfaces counters'*)
    frames=$(($(cat frames) + 1000)); echo $frames > frames
    printf 'IFACE RX_OK TX_OK TX_DRP\\nEthernet0 %d %d 5\\nEthernet4 1 2 N/A\\n' $frames $frames;;
  *'pfc counters'*)
    printf 'Port Rx PFC0 PFC3\\nEthernet0 0 %d\\n' $(($(cat frames) * 7 / 1000));;
  *) echo 'no such command' >&2; exit 2;;
esac
";

const SCENARIO: &str = "\
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 2, host_rate: 100Mbps, uplink_rate: 100Mbps}
jobs: [{name: j, collectives: [{collective: all-to-all, size: 256KiB}]}]
";

/// The files of the rack.
struct Rack<'a> {
    bench: &'a Bench,
    folder: PathBuf,
}

impl Rack<'_> {
    fn new(bench: &Bench) -> Rack<'_> {
        let folder = bench.folder.join("rack");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("switch.sh"), SWITCH).expect("a switch");
        fs::write(folder.join("frames"), "0\n").expect("its counter");
        Rack { bench, folder }
    }

    /// Its lab file, with further lines.
    fn lab(&self, more: &str) -> LabFile {
        let secret = self.bench.lab.secret_file();
        let mut text = format!("name: rack\nsecret: {}\nagents:\n", secret.display());
        for agent in self.bench.lab.agents() {
            let _ = writeln!(
                text,
                "- {{control: '{}', address: {}}}",
                agent.control, agent.address
            );
        }
        let folder = self.folder.display();
        let _ = write!(
            text,
            "switches:\n\
             - name: leaf0\n  collect: sonic\n  settle: 0s\n  \
             command: [sh, -c, 'cd {folder} && . ./switch.sh', sh]\n  \
             ports: [Ethernet0, Ethernet4]\n\
             - {{name: leaf1, collect: sonic, settle: 0s, command: ['false'], ports: [Ethernet0]}}\n\
             {more}"
        );
        let path = self.folder.join("rack.yaml");
        fs::write(&path, text).expect("a lab file");
        LabFile::read(&path).unwrap_or_else(|error| panic!("{error}"))
    }

    fn run(&self, lab: &LabFile, name: &str) -> (Outcome, PathBuf, Vec<String>) {
        let path = self.folder.join("scenario.yaml");
        fs::write(&path, SCENARIO).expect("a scenario");
        let trial = tenter_lab::load(lab, &path, &[]).unwrap_or_else(|error| panic!("{error}"));
        let options = LabRun {
            folder: self.folder.join(name),
            command: Vec::new(),
        };
        let mut quiet = Quiet(Vec::new());
        // A lab of machines has no namespace to enter: here they are in one.
        let control = self.bench.namespace("control");
        let outcome = thread::scope(|scope| {
            let run = scope.spawn(|| {
                enter(&control);
                tenter_lab::run(&trial, &options, &mut quiet)
            });
            run.join().expect("no panic")
        });
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
        (outcome, options.folder, quiet.0)
    }
}

/// Counters of switches are in the tables, and what is not known is missing, not 0.
pub(crate) fn switches(bench: &Bench) {
    let rack = Rack::new(bench);
    let (outcome, folder, problems) = rack.run(&rack.lab(""), "measured");
    assert!(outcome.summary.complete, "{problems:?}");
    let warnings: Vec<&str> = outcome.summary.notes.warnings().collect();
    let warnings = warnings.join("\n");
    for part in [
        "switch `leaf0` does not tell marked frames, the longest queue",
        "switch `leaf1` was not read before the trial",
    ] {
        assert!(warnings.contains(part), "{part}: {warnings}");
    }
    let rows: Vec<PortRow> = read_rows(&folder).expect("a table");
    let port = |node: &str, port: u16| {
        let mut rows = rows.iter();
        let row = rows.find(|row| (row.node_name.as_str(), row.port) == (node, port));
        row.unwrap_or_else(|| panic!("{node}:{port}"))
    };
    let first = port("leaf0", 0);
    assert_eq!((first.tx_frames, first.dropped_frames), (1_000, 0));
    assert_eq!(first.rx_xoff_frames, 7);
    assert!(first.unread.lacks("marked_frames") && first.unread.lacks("tx_bytes"));
    assert!(port("leaf0", 1).unread.lacks("dropped_frames"));
    assert!(port("leaf1", 0).unread.lacks("tx_frames"));
    let host = port("host0", 0);
    assert!(host.tx_frames > 0 && !host.unread.lacks("tx_frames"));
    assert!(host.unread.lacks("dropped_frames"));
    let shown = fs::read_to_string(folder.join("switches.json")).expect("both snapshots");
    assert!(
        shown.contains("\"leaf1\"") && shown.contains("\"error\""),
        "{shown}"
    );
    no_rdma(&rack);
}

/// Without a device a trial over RDMA hardware ends with the reason.
fn no_rdma(rack: &Rack) {
    let (outcome, _, problems) = rack.run(&rack.lab("data_path: rdma\n"), "rdma");
    assert!(!outcome.summary.complete);
    let said = problems.join("\n");
    assert!(said.contains("leave `data_path: rdma` out"), "{said}");
}
