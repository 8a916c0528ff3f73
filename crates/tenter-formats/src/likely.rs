//! The format that a file's beginning shows, for the error of a reader that was given another one.

/// Bytes at a file's beginning that are enough to tell its format.
pub const LIKELY_HEAD: usize = 1 << 16;

/// Returns the word of `tenter import` for the format that a file's first bytes show, or `None` if
/// they show none for certain.
pub fn likely_format(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"\x93TENTER") {
        return Some("graph");
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let begin = text.chars().next()?;
    match begin {
        '{' | '[' => of_json(text),
        '<' => text.contains("<system").then_some("nccl-topo"),
        _ => of_lines(text),
    }
}

/// Returns the format of a JSON by keys that no other format has.
fn of_json(text: &str) -> Option<&'static str> {
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    let formats = [
        ("kineto", has("traceEvents")),
        ("flight-recorder", has("entries") && has("pg_config")),
        ("pytorch-et", has("nodes") && has("ctrl_deps")),
        ("infragraph", has("instances") && has("devices")),
        (
            "sonic",
            has("BUFFER_PG") || has("DEVICE_METADATA") || has("PORT_QOS_MAP"),
        ),
    ];
    formats
        .into_iter()
        .find(|(_, is)| *is)
        .map(|(word, _)| word)
}

/// Returns the format of a text by its first lines without comments.
fn of_lines(text: &str) -> Option<&'static str> {
    let is_comment = |line: &&str| line.starts_with("//") || line.starts_with('#');
    let lines = text.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !is_comment(line));
    let first = lines.next()?;
    let second = lines.next().unwrap_or_default();
    let lower = first.to_ascii_lowercase();
    let columns: Vec<&str> = lower.split(',').map(str::trim).collect();
    let has = |names: &[&str]| names.iter().any(|name| columns.contains(name));
    let is_whole = |word: &str| word.parse::<u64>().is_ok();
    let words = |line: &str| line.split_whitespace().count();
    let begins = |word: &str| first.starts_with(word);
    if begins("num_ranks ") {
        Some("goal")
    } else if begins("HYBRID_") {
        Some("simai")
    } else if text.contains(" NCCL INFO ") {
        Some("nccl-log")
    } else if columns[0] == "comm_type" {
        Some("aicb")
    } else if has(&["termination a"]) || has(&["device a"]) {
        Some("netbox")
    } else if has(&["src", "source"]) && has(&["dst", "destination"]) && columns.len() > 2 {
        Some("flow-table")
    } else if begins("Nodes ") && second.starts_with("Connections ") {
        Some("htsim")
    } else if begins("Nodes ") && text.contains("\nTiers ") {
        Some("topo")
    } else if is_whole(first) && words(second) >= 5 && second.split_whitespace().all(is_number) {
        Some("ns3")
    } else if words(first) >= 3 && first.split_whitespace().take(3).all(is_whole) {
        Some("ns3-topology")
    } else {
        let has = |key: &str| text.lines().any(|line| line.starts_with(key));
        (has("devices:") && has("instances:")).then_some("infragraph")
    }
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::likely_format;

    #[test]
    fn beginnings_show_their_formats() {
        for (text, format) in [
            ("\u{93}TENTER", None),
            ("// stages\nnum_ranks 3\n", Some("goal")),
            ("{\"schemaVersion\": 1, \"traceEvents\": [", Some("kineto")),
            (
                "{\"schema\": \"1.1.1\", \"nodes\": [{\"ctrl_deps\": 1",
                Some("pytorch-et"),
            ),
            (
                "{\"version\": \"2.4\", \"pg_config\": {}, \"entries\": []",
                Some("flight-recorder"),
            ),
            (
                "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8",
                Some("simai"),
            ),
            (
                "comm_type,comm_group,comm_group_size,msg_size\n",
                Some("aicb"),
            ),
            (
                "h:1:2 [0] NCCL INFO AllReduce: opCount 0\n",
                Some("nccl-log"),
            ),
            ("source,destination,bytes,start\n", Some("flow-table")),
            (
                "Nodes 128\nConnections 128\n0->32 id 1 start 0 size 2\n",
                Some("htsim"),
            ),
            ("Nodes 1024\nTiers 3\nPodsize 64\n", Some("topo")),
            ("2\n0 1 3 100 2000 0.1\n", Some("ns3")),
            ("16 4 2 6 24 H100\n8 9 10\n", Some("ns3-topology")),
            ("name: a\ndevices:\n  x:\ninstances:\n", Some("infragraph")),
            ("<system version=\"1\">", Some("nccl-topo")),
            ("ID,Termination A,Device A\n", Some("netbox")),
            ("{\n  \"BUFFER_PG\": {", Some("sonic")),
            ("fabric: {}\n", None),
            ("", None),
        ] {
            assert_eq!(likely_format(text.as_bytes()), format, "{text}");
        }
        assert_eq!(likely_format(b"\x93TENTER\x02"), Some("graph"));
    }
}
