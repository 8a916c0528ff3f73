//! Trial folders written and read back.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter::report::{
    ParquetTable, RunIdentity, TrialFolder, claim_free_folder, read_manifest, read_notes,
    read_rows, read_summary, takes_seeds,
};
use tenter_language::units::Time;
use tenter_results::{
    CircuitRow, CollectiveRow, Counts, EngineStats, FlowRow, JobRow, JobSummary, Names, PortRow,
    QueueRow, Row, SampleRow, Summary, SwitchRow,
};

/// A folder of its own per test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Scratch {
        let path =
            std::env::temp_dir().join(format!("tenter-report-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the system's folder for temporary files");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Flows whose times have odd picoseconds, so that a lost digit shows.
fn flow(n: u32) -> FlowRow {
    let time = |k: u64| Time::from_ps(u64::from(n) * 1_000_003 + k);
    FlowRow {
        job: n % 2,
        collective: 3,
        iteration: 4,
        chunk: n,
        step: 5,
        transfer: n * 7,
        queue_pair: 6,
        src_rank: 8,
        dst_rank: 9,
        src_host: 10,
        dst_host: 11,
        udp_source_port: u16::MAX,
        payload_bytes: 2 << 20,
        posted: time(1),
        first_sent: time(2),
        received: time(3),
        acknowledged: time(4),
        tx_frames: 512,
        tx_bytes: 2_129_152,
        rx_frames: 511,
        rx_bytes: 2_125_000,
        retransmitted_frames: 1,
        rx_marked_frames: 3,
        cnp_frames: 1,
        latency_min: Some(time(5)),
        latency_avg: Some(time(6)),
        latency_max: Some(time(7)),
        held_by_rate: time(8),
        held_before_first: time(9),
    }
}

fn collective(index: u32) -> CollectiveRow {
    CollectiveRow {
        index,
        collective: "all-to-all".to_owned(),
        algorithm: "parallel".to_owned(),
        size_bytes: 16 << 20,
        // Every second one has not ended, so that missing values stand between others.
        end: index.is_multiple_of(2).then(|| Time::from_ps(312_345_679)),
        busbw_gbytes_per_s: index.is_multiple_of(2).then_some(46.912_345_678_9),
        complete: index.is_multiple_of(2),
        ..CollectiveRow::default()
    }
}

fn port(port: u16) -> PortRow {
    PortRow {
        node: 64,
        node_name: "leaf-0 \"ü\"".to_owned(),
        port,
        peer_name: String::new(),
        rate_gbps: 400.0,
        tx_bytes: 1 << 40,
        utilisation: 0.987,
        ..PortRow::default()
    }
}

/// What the nodes have counted: three ports, two classes, and a switch with and one without a pool
/// that can run out.
fn counts() -> Counts {
    let queue = |class| QueueRow {
        node_name: "leaf-0".to_owned(),
        class,
        lossless: class == 3,
        rx_xoff_frames: 17,
        paused: Time::from_ps(1_234_567),
        headroom_bytes: 98_387,
        ..QueueRow::default()
    };
    let switch = |size: Option<u64>| SwitchRow {
        node_name: "leaf-0".to_owned(),
        pools: 2,
        pool_bytes: size,
        pool_high_water_bytes: size.map(|size| size / 2),
        fullest_pool: size.map(|_| 1),
        fullest_pool_percent: size.map(|_| 62.5),
        ..SwitchRow::default()
    };
    Counts {
        ports: (0..3).map(port).collect(),
        queues: [3, 6].map(queue).to_vec(),
        switches: [Some(64 << 20), None].map(switch).to_vec(),
        circuits: vec![CircuitRow::default()],
        ..Counts::default()
    }
}

fn summary(complete: bool) -> Summary {
    let job = JobRow {
        name: "training".to_owned(),
        complete,
        failure: (!complete).then(|| "not finished".to_owned()),
        ..JobRow::default()
    };
    Summary {
        scenario: "quickstart".to_owned(),
        complete,
        stopped: (!complete).then(|| "stopped by Ctrl-C".to_owned()),
        jobs: vec![JobSummary {
            job,
            collectives: (0..5).map(collective).collect(),
        }],
        engine: EngineStats {
            digest: "ab".repeat(16),
            peak_rss_bytes: Some(1 << 26),
            ..EngineStats::default()
        },
        ..Summary::default()
    }
}

fn names() -> Names {
    Names {
        jobs: vec!["training".to_owned(), "other".to_owned()],
        nodes: vec!["nic-0".to_owned()],
    }
}

fn create(path: &Path) -> TrialFolder {
    let run = RunIdentity {
        scenario: "quickstart".to_owned(),
        seed: 7,
        ..RunIdentity::default()
    };
    TrialFolder::create(path, "fabric: {}\n", names(), run).expect("an empty folder")
}

#[test]
fn every_file_comes_back() {
    let scratch = Scratch::new("whole");
    let path = scratch.0.join("deep/er/trial");
    // More than one row group, handed over in uneven pieces.
    let flows: Vec<FlowRow> = (0..70_000).map(flow).collect();
    let samples = vec![SampleRow {
        time: Time::from_us(10),
        queue_bytes: 9,
        ..SampleRow::default()
    }];
    let counts = counts();
    let mut folder = create(&path);
    for piece in flows.chunks(9_999) {
        folder.append_flows(piece).unwrap();
    }
    folder.append_samples(&samples).unwrap();
    let summary = summary(true);
    folder.finish(&summary, &counts).unwrap();

    assert_eq!(read_rows::<FlowRow>(&path).unwrap(), flows);
    assert_eq!(read_rows::<SampleRow>(&path).unwrap(), samples);
    assert_eq!(read_rows::<PortRow>(&path).unwrap(), counts.ports);
    assert_eq!(read_rows::<QueueRow>(&path).unwrap(), counts.queues);
    assert_eq!(read_rows::<SwitchRow>(&path).unwrap(), counts.switches);
    assert_eq!(read_rows::<CircuitRow>(&path).unwrap(), counts.circuits);
    assert_eq!(
        read_rows::<JobRow>(&path).unwrap(),
        [summary.jobs[0].job.clone()]
    );
    assert_eq!(
        read_rows::<CollectiveRow>(&path).unwrap(),
        summary.jobs[0].collectives
    );
    assert_eq!(read_summary(&path).unwrap(), summary);
    let manifest = read_manifest(&path).unwrap();
    assert!(manifest.complete && manifest.stopped.is_none() && manifest.wall_s.is_some());
    assert_eq!(
        (manifest.digest, manifest.run.seed),
        (Some("ab".repeat(16)), 7)
    );
    assert_eq!(
        fs::read_to_string(path.join("config.yaml")).unwrap(),
        "fabric: {}\n"
    );
    let leftovers = fs::read_dir(&path).unwrap().flatten();
    assert_eq!(
        leftovers.count(),
        13,
        "ten tables and three texts, and nothing partial"
    );
}

#[test]
fn columns_are_named_typed_and_joined() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    let scratch = Scratch::new("columns");
    let mut folder = create(&scratch.0.join("trial"));
    folder.append_flows(&[flow(1)]).unwrap();
    folder.finish(&summary(true), &Counts::default()).unwrap();
    let file = fs::File::open(scratch.0.join("trial/flows.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let row = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
    let at = |name: &str| {
        row.get_column_iter()
            .position(|(column, _)| column == name)
            .unwrap()
    };
    assert_eq!(row.get_string(at("job_name")).unwrap(), "other");
    assert_eq!(row.get_long(at("frames_delta")).unwrap(), 1);
    // 1,000,004 ps is 1,000.004 ns; received − posted is 2 ps.
    assert!((row.get_double(at("posted_ns")).unwrap() - 1_000.004).abs() < 1e-12);
    assert!((row.get_double(at("fct_ns")).unwrap() - 0.002).abs() < 1e-12);
}

#[test]
fn a_stopped_trial_is_readable_and_says_so() {
    let scratch = Scratch::new("stopped");
    let path = scratch.0.join("trial");
    let mut folder = create(&path);
    folder.append_flows(&[flow(0), flow(1)]).unwrap();
    folder.finish(&summary(false), &Counts::default()).unwrap();
    let manifest = read_manifest(&path).unwrap();
    assert_eq!(
        (manifest.complete, manifest.stopped.as_deref()),
        (false, Some("stopped by Ctrl-C"))
    );
    assert!(!read_summary(&path).unwrap().complete);
    assert_eq!(read_rows::<FlowRow>(&path).unwrap().len(), 2);
    assert_eq!(read_rows::<PortRow>(&path).unwrap(), []);
}

#[test]
fn an_abandoned_trial_keeps_its_rows_and_its_first_manifest() {
    let scratch = Scratch::new("abandoned");
    let path = scratch.0.join("trial");
    let mut folder = create(&path);
    folder.append_flows(&[flow(0)]).unwrap();
    drop(folder);
    let manifest = read_manifest(&path).unwrap();
    assert!(!manifest.complete && manifest.digest.is_none());
    assert_eq!(
        manifest.stopped.unwrap(),
        "still running, or killed before it could finish"
    );
    assert_eq!(read_rows::<FlowRow>(&path).unwrap(), [flow(0)]);
    let missing = read_summary(&path).unwrap_err().to_string();
    assert!(missing.contains("summary.json"), "{missing}");
}

#[test]
fn a_trial_folder_is_replaced_whole_and_any_other_is_left_alone() {
    let scratch = Scratch::new("replaced");
    let path = scratch.0.join("trial");
    create(&path).finish(&summary(true), &counts()).unwrap();
    drop(create(&path));
    for table in ["ports", "queues", "switches", "tiers", "circuits"] {
        let file = path.join(table).with_extension("parquet");
        assert!(!file.exists(), "{table}, a table of the trial before");
    }
    assert!(!read_manifest(&path).unwrap().complete);

    let other = scratch.0.join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("thesis.tex"), "").unwrap();
    let run = RunIdentity::default();
    let error = TrialFolder::create(&other, "", names(), run.clone())
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("not a trial folder") && error.contains("-o"),
        "{error}"
    );
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);

    let file = other.join("thesis.tex");
    let error = TrialFolder::create(&file, "", names(), run)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("a file is in the way"), "{error}");
}

#[test]
fn one_run_at_a_time_writes_to_a_folder() {
    let scratch = Scratch::new("locked");
    let path = scratch.0.join("trial");
    let first = create(&path);
    let second = || TrialFolder::create(&path, "", names(), RunIdentity::default());
    let error = second().err().expect("it is in use").to_string();
    assert!(error.starts_with("another run writes to"), "{error}");
    assert!(error.contains("started at 20"), "{error}");
    first.finish(&summary(true), &counts()).unwrap();
    assert!(read_manifest(&path).unwrap().complete);
    drop(second().unwrap());
}

#[test]
fn a_manifest_of_another_program_is_left_alone() {
    let scratch = Scratch::new("foreign");
    let text = r#"{"name": "an extension", "manifest_version": 3}"#;
    fs::write(scratch.0.join("manifest.json"), text).unwrap();
    let error = TrialFolder::create(&scratch.0, "", names(), RunIdentity::default());
    let error = error.err().expect("it is no trial").to_string();
    assert!(error.contains("not a trial folder"), "{error}");
    let kept = fs::read_to_string(scratch.0.join("manifest.json")).unwrap();
    assert_eq!(kept, text);
    // Nor is a folder of that name taken for the trial of a seed.
    let seed = scratch.0.join("seeds").join("seed-3");
    fs::create_dir_all(&seed).unwrap();
    fs::write(seed.join("manifest.json"), text).unwrap();
    assert!(!takes_seeds(&scratch.0.join("seeds")).unwrap());
}

/// A kill may come between making a folder and its manifest.
#[test]
fn a_folder_that_was_only_just_made_is_taken() {
    let scratch = Scratch::new("just-made");
    let seeds = scratch.0.join("seeds");
    let seed = seeds.join("seed-1");
    fs::create_dir_all(&seed).unwrap();
    assert!(takes_seeds(&seeds).unwrap());
    fs::write(seed.join("manifest.json.partial"), "{\"ten").unwrap();
    assert!(takes_seeds(&seeds).unwrap());
    create(&seed).finish(&summary(true), &counts()).unwrap();
    assert!(read_manifest(&seed).unwrap().complete);
    assert!(!seed.join("manifest.json.partial").exists());
    // Beside anything else it is not Tenter's.
    let other = seeds.join("seed-2");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("manifest.json.partial"), "").unwrap();
    fs::write(other.join("thesis.tex"), "").unwrap();
    let error = TrialFolder::create(&other, "", names(), RunIdentity::default()).err();
    assert!(
        error
            .expect("it holds a thesis")
            .to_string()
            .contains("not a trial folder")
    );
}

#[test]
fn free_folders_are_numbered() {
    let scratch = Scratch::new("numbered");
    let claim = || claim_free_folder(&scratch.0.join("trials"), "quick/start-1").unwrap();
    let paths: Vec<PathBuf> = (0..3).map(|_| claim()).collect();
    let names: Vec<_> = paths
        .iter()
        .map(|p| p.file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["quick-start-1", "quick-start-1-2", "quick-start-1-3"]
    );
    // A claimed folder is empty, so a trial may be created in it.
    create(&paths[1])
        .finish(&summary(true), &Counts::default())
        .unwrap();
}

#[test]
fn every_table_says_of_what_it_is_and_in_which_units() {
    let scratch = Scratch::new("notes");
    let path = scratch.0.join("trial");
    let folder = create(&path);
    folder.finish(&summary(true), &counts()).unwrap();
    let tables = fs::read_dir(&path).unwrap().flatten();
    let tables = tables.map(|file| file.path());
    let tables = tables.filter(|file| file.extension().is_some_and(|of| of == "parquet"));
    let tables: Vec<PathBuf> = tables.collect();
    assert!(tables.len() >= 8, "{tables:?}");
    for table in tables {
        let notes = read_notes(&table).unwrap();
        let note = |key: &str| notes.get(key).cloned().unwrap_or_default();
        assert_eq!(
            note("tenter.version"),
            env!("CARGO_PKG_VERSION"),
            "{table:?}"
        );
        assert_eq!(note("tenter.seed"), "7", "{table:?}");
        assert_eq!(note("tenter.digest"), "ab".repeat(16), "{table:?}");
    }
    let flows = read_notes(&path.join("flows.parquet")).unwrap();
    let with_unit = FlowRow::COLUMNS.iter().filter(|of| !of.unit.is_empty());
    for column in with_unit.clone() {
        let note = flows.get(&format!("tenter.unit.{}", column.name));
        assert_eq!(note.map(String::as_str), Some(column.unit));
    }
    assert_eq!(flows.len(), 3 + with_unit.count());

    // What was not finished has no digest.
    let path = scratch.0.join("partial");
    drop(create(&path));
    let notes = read_notes(&path.join("flows.parquet")).unwrap();
    assert_eq!(notes["tenter.seed"], "7");
    assert!(!notes.contains_key("tenter.digest"));
}

#[test]
fn a_damaged_table_says_which() {
    let scratch = Scratch::new("damaged");
    fs::write(scratch.0.join("flows.parquet"), "not Parquet").unwrap();
    let error = read_rows::<FlowRow>(&scratch.0).unwrap_err().to_string();
    assert!(
        error.contains("flows.parquet") && error.contains("run the trial again"),
        "{error}"
    );

    // A table of another type under this name lacks the columns.
    let path = scratch.0.join("flows.parquet");
    let mut table = ParquetTable::<PortRow>::create(&path, Arc::default()).unwrap();
    table.append(&[port(0)]).unwrap();
    table.finish().unwrap();
    let error = read_rows::<FlowRow>(&scratch.0).unwrap_err().to_string();
    assert!(error.contains("missing field `job`"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    // /dev/full refuses every write with ENOSPC.
    let path = Path::new("/dev/full");
    let mut table = ParquetTable::<FlowRow>::create(path, Arc::default()).unwrap();
    table.append(&[flow(0)]).unwrap();
    let error = table.finish().unwrap_err().to_string();
    assert!(
        error.contains("/dev/full") && error.contains("free some space"),
        "{error}"
    );
}
