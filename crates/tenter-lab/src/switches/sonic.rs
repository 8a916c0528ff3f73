//! Output from the `show` commands of `SONiC`.
//!
//! A table begins with a line of titles. The dashes below it say where its columns are: blanks
//! cannot, since rates have one between number and unit. Tables with other titles are ignored.

use std::ops::Range;

use serde_json::{Map, Value};
use tenter_sim::real_time::Counter;

use super::fault::{Fault, count};
use super::snapshot::Snapshot;

/// Commands whose output is read, without `show`. The first one must succeed; older switches lack
/// some others.
pub(super) const COMMANDS: [&str; 7] = [
    "interfaces counters",
    "pfc counters",
    "priority-group drop counters",
    "priority-group watermark headroom",
    "queue counters",
    "queue watermark unicast",
    "queue wredcounters",
];

/// Traffic classes that have counters.
const CLASSES: u8 = 8;

/// Content of a `show` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One row for each interface.
    Interfaces,
    /// One row for each interface, with this counter in one column for each class.
    ByClass(Counter),
    /// One row for each queue at each interface.
    Queues,
}

/// A table that is being read.
struct Table {
    kind: Kind,
    titles: Vec<String>,
    /// Byte ranges where columns are, once the line of dashes has been read.
    columns: Option<Vec<Range<usize>>>,
}

/// Reads one or several tables, one below the other.
///
/// # Errors
/// Returns the line that is not understood, or that there is no table of counters.
pub(super) fn tables(text: &str) -> Result<Snapshot, Fault> {
    let mut snapshot = Snapshot::default();
    let mut title = String::new();
    let mut table: Option<Table> = None;
    let mut found = false;
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() {
            table = None;
            continue;
        }
        if let Some(titles) = titles(line) {
            table = kind(&titles, &title).map(|kind| Table {
                kind,
                titles,
                columns: None,
            });
            found |= table.is_some();
            continue;
        }
        let Some(table) = &mut table else {
            // Outside tables, a line may be the heading of the next one.
            line.trim().clone_into(&mut title);
            continue;
        };
        if line.trim().chars().all(|c| c == '-' || c == ' ') {
            table.columns = Some(spans(line));
            continue;
        }
        row(table, line, &mut snapshot).map_err(|what| Fault::at(number, what))?;
    }
    if !found {
        let first = text.lines().next().unwrap_or_default();
        return Err(Fault::at(
            1,
            format!(
                "`{first}` begins no table of counters; give the output of `show {}`",
                COMMANDS.join("`, `show ")
            ),
        ));
    }
    Ok(snapshot)
}

/// Returns the titles in a line; `None` if it has none. PFC tables name the direction, `Rx` or
/// `Tx`, behind `Port`: it becomes part of the first title.
fn titles(line: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    if !matches!(words.first()?.as_str(), "IFACE" | "Port" | "Interface") {
        return None;
    }
    if let Some("Rx" | "Tx") = words.get(1).map(String::as_str) {
        let direction = words.remove(1);
        words[0] = format!("Port {direction}");
    }
    Some(words)
}

fn kind(titles: &[String], above: &str) -> Option<Kind> {
    let has = |title: &str| titles.iter().any(|of| of == title);
    let first = titles.first().map(String::as_str);
    match first {
        Some("Port Rx") => return Some(Kind::ByClass(Counter::RxPauseFrames)),
        Some("Port Tx") => return Some(Kind::ByClass(Counter::TxPauseFrames)),
        _ => {}
    }
    if has("RX_OK") && has("TX_OK") {
        return Some(Kind::Interfaces);
    }
    if has("TxQ") {
        return Some(Kind::Queues);
    }
    // These tables have the same titles, and differ by the heading alone.
    let counter = match above {
        "Ingress PG dropped packets:" => Counter::RxDroppedFrames,
        "Ingress headroom per PG:" => Counter::HeadroomHighWaterBytes,
        "Egress shared pool occupancy per unicast queue:" => Counter::QueueHighWaterBytes,
        _ => return None,
    };
    Some(Kind::ByClass(counter))
}

/// Returns the byte ranges that dashes take in a line.
fn spans(line: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut begin = None;
    for (place, c) in line.char_indices().chain([(line.len(), ' ')]) {
        match (c, begin) {
            ('-', None) => begin = Some(place),
            (' ', Some(first)) => {
                spans.push(first..place);
                begin = None;
            }
            _ => {}
        }
    }
    spans
}

fn row(table: &Table, line: &str, snapshot: &mut Snapshot) -> Result<(), String> {
    let cells: Vec<&str> = match &table.columns {
        Some(columns) => columns
            .iter()
            .map(|span| line.get(span.start..span.end.min(line.len())))
            .map(|cell| cell.unwrap_or_default().trim())
            .collect(),
        None => line.split_whitespace().collect(),
    };
    // A line that is shorter than its table has been cut.
    if cells.len() < table.titles.len() || cells.iter().any(|cell| cell.is_empty()) {
        return Err(format!(
            "it has other columns than the {} titles above it; give the output whole, as the switch prints it",
            table.titles.len()
        ));
    }
    let cell = |title: &str| {
        let place = table.titles.iter().position(|of| of == title)?;
        cells.get(place).copied()
    };
    match table.kind {
        Kind::Interfaces => interface(cells[0], &cell, snapshot),
        Kind::Queues => queue(cells[0], cell("TxQ").unwrap_or_default(), &cell, snapshot),
        Kind::ByClass(counter) => {
            for (title, word) in table.titles.iter().zip(&cells).skip(1) {
                let value = count(word)?;
                if let (Some(class), Some(value)) = (class(title), value) {
                    snapshot.set(cells[0], Some(class), counter, value);
                }
            }
            Ok(())
        }
    }
}

/// Returns the class of a queue or column such as `UC3` or `PG3`; `None` for multicast queues.
fn class(name: &str) -> Option<u8> {
    let digits = ["UC", "PG", "PFC", "ALL"]
        .iter()
        .find_map(|lead| name.strip_prefix(lead))?;
    digits.parse().ok().filter(|&class| class < CLASSES)
}

type CellOf<'a> = dyn Fn(&str) -> Option<&'a str> + 'a;

fn interface(name: &str, cell: &CellOf<'_>, snapshot: &mut Snapshot) -> Result<(), String> {
    for (title, counter) in [
        ("RX_OK", Counter::RxFrames),
        ("TX_OK", Counter::TxFrames),
        ("RX_DRP", Counter::RxDroppedFrames),
        ("TX_DRP", Counter::DroppedFrames),
    ] {
        if let Some(value) = cell(title).map(count).transpose()?.flatten() {
            snapshot.set(name, None, counter, value);
        }
    }
    Ok(())
}

/// Stores a queue's counters. The bytes are added to the interface's, which
/// `show interfaces counters` lacks.
fn queue(
    name: &str,
    queue: &str,
    cell: &CellOf<'_>,
    snapshot: &mut Snapshot,
) -> Result<(), String> {
    for (title, counter) in [
        ("Drop/pkts", Counter::DroppedFrames),
        ("Drop/bytes", Counter::DroppedBytes),
        ("EcnMarked/pkts", Counter::MarkedFrames),
    ] {
        let value = cell(title).map(count).transpose()?.flatten();
        if let (Some(class), Some(value)) = (class(queue), value) {
            snapshot.set(name, Some(class), counter, value);
        }
    }
    if let Some(bytes) = cell("Counter/bytes").map(count).transpose()?.flatten() {
        let own = snapshot.0.entry(name.to_owned()).or_default();
        // The interface sends what all its queues send, those for multicast included.
        let sent = own.own.entry(Counter::TxBytes).or_default();
        *sent = sent.saturating_add(bytes);
    }
    Ok(())
}

/// Reads JSON from `portstat -j` or `show queue counters --json`.
///
/// # Errors
/// Returns the reason why the text is not understood, or that it has no counters.
pub(super) fn json(text: &str) -> Result<Snapshot, Fault> {
    let whole: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
        Fault::at(
            error.line(),
            format!("it is no JSON of counters ({error}); give the output whole"),
        )
    })?;
    let mut snapshot = Snapshot::default();
    for (name, of) in &whole {
        let Value::Object(of) = of else { continue };
        let taken = if of.contains_key("RX_OK") {
            let cell = |title: &str| of.get(title).and_then(Value::as_str);
            interface(name, &cell, &mut snapshot)
        } else {
            queues_of(name, of, &mut snapshot)
        };
        taken.map_err(|what| Fault {
            line: None,
            what: format!("`{name}`: {what}"),
        })?;
    }
    if snapshot.0.is_empty() {
        return Err(Fault {
            line: None,
            what: "no interface in it has counters; give the output of `portstat -j` or `show queue counters --json`"
                .to_owned(),
        });
    }
    Ok(snapshot)
}

fn queues_of(name: &str, of: &Map<String, Value>, snapshot: &mut Snapshot) -> Result<(), String> {
    for (named, counters) in of {
        let Value::Object(counters) = counters else {
            continue;
        };
        let cell = |title: &str| {
            let key = match title {
                "Drop/pkts" => "droppacket",
                "Drop/bytes" => "dropbytes",
                "Counter/bytes" => "totalbytes",
                _ => return None,
            };
            counters.get(key).and_then(Value::as_str)
        };
        queue(name, named, &cell, snapshot)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERFACES: &str = "\
    IFACE    STATE       RX_OK      RX_BPS    RX_UTIL    RX_ERR    RX_DRP    RX_OVR     TX_OK    TX_BPS    TX_UTIL    TX_ERR    TX_DRP    TX_OVR
---------  -------  ----------  ----------  ---------  --------  --------  --------  --------  --------  ---------  --------  --------  --------
Ethernet0        U   1,204,311  31.25 MB/s      0.31%         0        12         0   903,004  0.00 B/s      0.00%         0       N/A         0
Ethernet8        X           0    0.00 B/s      0.00%         0         0         0         0  0.00 B/s      0.00%         0         7         0
";

    const PFC: &str = "\
  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
Ethernet0       0       0       0   4,711       2       0       0       0

  Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
Ethernet0       0       0       0      19       0       0       0       0
";

    const QUEUES: &str = "\
     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet0    UC3           1,000        4,174,000            5        20,870
Ethernet0    MC8               2              200            1           100
Ethernet0   ALL9             N/A              N/A          N/A           N/A
";

    fn own(snapshot: &Snapshot, name: &str, counter: Counter) -> Option<u64> {
        snapshot.0[name].own.get(&counter).copied()
    }

    fn of_class(snapshot: &Snapshot, class: u8, counter: Counter) -> Option<u64> {
        snapshot.0["Ethernet0"]
            .classes
            .get(&class)?
            .get(&counter)
            .copied()
    }

    #[test]
    fn interfaces_have_frames_and_drops() {
        let text = format!("Last cached time was 2026-02-03T10:11:12\n{INTERFACES}");
        let snapshot = tables(&text).expect("it is right");
        assert_eq!(
            own(&snapshot, "Ethernet0", Counter::RxFrames),
            Some(1_204_311)
        );
        assert_eq!(
            own(&snapshot, "Ethernet0", Counter::TxFrames),
            Some(903_004)
        );
        assert_eq!(
            own(&snapshot, "Ethernet0", Counter::RxDroppedFrames),
            Some(12)
        );
        assert_eq!(own(&snapshot, "Ethernet0", Counter::DroppedFrames), None);
        assert_eq!(own(&snapshot, "Ethernet8", Counter::DroppedFrames), Some(7));
        assert_eq!(own(&snapshot, "Ethernet0", Counter::TxBytes), None);
    }

    #[test]
    fn pauses_and_queues_have_classes() {
        let snapshot = tables(PFC).expect("it is right");
        assert_eq!(of_class(&snapshot, 3, Counter::RxPauseFrames), Some(4_711));
        assert_eq!(of_class(&snapshot, 3, Counter::TxPauseFrames), Some(19));
        let snapshot = tables(QUEUES).expect("it is right");
        assert_eq!(of_class(&snapshot, 3, Counter::DroppedBytes), Some(20_870));
        assert_eq!(of_class(&snapshot, 1, Counter::DroppedBytes), None);
        assert_eq!(
            own(&snapshot, "Ethernet0", Counter::TxBytes),
            Some(4_174_200)
        );
    }

    #[test]
    fn tables_by_class_are_told_by_the_line_above() {
        let by_class = |above: &str, lead: &str| {
            let titles: Vec<String> = (0..9).map(|class| format!("{lead}{class}")).collect();
            let text = format!(
                "{above}\n     Port    {}\n---------  {}\nEthernet0    {}\n",
                titles.join("    "),
                ["-----"; 9].join("  "),
                (100..109)
                    .map(|n| n.to_string())
                    .collect::<Vec<_>>()
                    .join("    ")
            );
            tables(&text).expect("it is right")
        };
        let marks = by_class("Egress shared pool occupancy per unicast queue:", "UC");
        assert_eq!(of_class(&marks, 7, Counter::QueueHighWaterBytes), Some(107));
        assert_eq!(of_class(&marks, 8, Counter::QueueHighWaterBytes), None);
        let drops = by_class("Ingress PG dropped packets:", "PG");
        assert_eq!(of_class(&drops, 0, Counter::RxDroppedFrames), Some(100));
        let headroom = by_class("Ingress headroom per PG:", "PG");
        assert_eq!(
            of_class(&headroom, 3, Counter::HeadroomHighWaterBytes),
            Some(103)
        );
    }

    #[test]
    fn marks_are_read_where_the_platform_counts_them() {
        let text = "     Port    TxQ    WredDrp/pkts    WredDrp/bytes    EcnMarked/pkts    EcnMarked/bytes\n\
                    ---------  -----  --------------  ---------------  ----------------  -----------------\n\
                    Ethernet0    UC3             N/A              N/A             8,001          33,396,174\n";
        let snapshot = tables(text).expect("it is right");
        assert_eq!(of_class(&snapshot, 3, Counter::MarkedFrames), Some(8_001));
    }

    #[test]
    fn json_says_the_same() {
        let text =
            r#"{"Ethernet0": {"RX_OK": "1,204,311", "TX_OK": "7", "TX_DRP": "N/A", "STATE": "U"}}"#;
        let snapshot = json(text).expect("it is right");
        assert_eq!(
            own(&snapshot, "Ethernet0", Counter::RxFrames),
            Some(1_204_311)
        );
        let text = r#"{"Ethernet0": {"UC3": {"dropbytes": "9", "droppacket": "1", "totalbytes": "50", "totalpacket": "5"}, "time": "x"}}"#;
        let snapshot = json(text).expect("it is right");
        assert_eq!(of_class(&snapshot, 3, Counter::DroppedFrames), Some(1));
        assert_eq!(own(&snapshot, "Ethernet0", Counter::TxBytes), Some(50));
    }

    #[test]
    fn what_is_wrong_names_its_line() {
        let broken = PFC.replace("4,711", " 4x11");
        let fault = tables(&broken).expect_err("it is wrong");
        assert_eq!(fault.line, Some(3));
        let said = fault.of("leaf0", "show pfc counters");
        assert!(
            said.starts_with("switch `leaf0`, `show pfc counters`, line 3: `4x11`"),
            "{said}"
        );
        let cut = &QUEUES[..QUEUES.len() - 40];
        assert_eq!(tables(cut).expect_err("it is cut").line, Some(5));
        let fault = tables("Permission denied\n").expect_err("it is no table");
        assert!(fault.what.contains("show interfaces counters"), "{fault:?}");
        assert_eq!(json("{\n\"a\": ").expect_err("it is cut").line, Some(2));
        assert!(json("{}").is_err());
    }

    #[test]
    fn no_text_is_too_strange() {
        let mut state = 1_u64;
        for _ in 0..2_000 {
            let mut text =
                format!("{INTERFACES}{PFC}\nIngress PG dropped packets:\n{QUEUES}").into_bytes();
            for _ in 0..8 {
                state = tenter_engine::mix64(state);
                let place = state as usize % text.len();
                text[place] = (state >> 40) as u8;
            }
            let text = String::from_utf8_lossy(&text);
            let _ = tables(&text);
        }
    }
}
