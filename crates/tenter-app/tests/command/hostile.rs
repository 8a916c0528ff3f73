//! Files that are no scenarios, or bad ones on purpose: one clear message, at once, and nothing
//! left behind.

use std::fs;
use std::time::{Duration, Instant};

use crate::workplace::{Answer, Workplace, entries};

/// For each file the longest time until its message: none takes a second on a machine that has
/// nothing else to do, and whatever takes much longer grows faster than the file.
const AT_ONCE: Duration = Duration::from_secs(5);

const GOOD: &str = "fabric: {kind: single-switch, hosts: 4}\njobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]\n";

/// A file, and what the message about it must hold.
struct Case {
    name: &'static str,
    content: Vec<u8>,
    says: &'static [&'static str],
}

fn case(name: &'static str, content: impl Into<Vec<u8>>, says: &'static [&'static str]) -> Case {
    let content = content.into();
    Case {
        name,
        content,
        says,
    }
}

/// Bytes without any order, the same every time.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut byte = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    (0..length).map(|_| byte()).collect()
}

/// Bytes that are no text, or too many.
fn no_text() -> Vec<Case> {
    let utf16: Vec<u8> = GOOD.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16 = [&[0xff, 0xfe][..], &utf16].concat();
    let long = "a".repeat(10 << 20);
    vec![
        case("noise", noise(100_000), &["not UTF-8", "with UTF-8"]),
        case("noise-10m", noise(10 << 20), &["more than 8388608 bytes"]),
        case("text-10m", long, &["more than 8388608 bytes"]),
        case("utf-16", utf16, &["not UTF-8"]),
    ]
}

/// Texts that are no YAML, JSON or TOML, or more of it than a scenario needs.
fn no_notation() -> Vec<Case> {
    let laughs = (b'b'..b'k').map(|name| {
        let (name, before) = (char::from(name), char::from(name - 1));
        let many = vec![format!("*{before}"); 9].join(", ");
        format!("{name}: &{name} [{many}]\n")
    });
    let laughs = format!("a: &a [x]\n{}", laughs.collect::<Vec<_>>().concat());
    let tag = format!("{GOOD}name: !!python/name:os.system x\n");
    let two = format!("{GOOD}---\n{GOOD}");
    let deep_toml = format!("a = {}", "[".repeat(100_000));
    vec![
        case("nul", "fabric: \0\n", &["nul:1:", "take the character out"]),
        case("tab", "fabric:\n\tkind: x\n", &["tab:2:", "with spaces"]),
        case("open", "fabric: {kind: x\n", &["open:", "check brackets"]),
        case("cut.json", "{\"fabric\": {\"ki", &["cut.json:1:", "check"]),
        case("cut.toml", "a = {b = \"x\"", &["cut.toml:1:", "check"]),
        case(
            "twice.toml",
            "a = 1\na = 2\n",
            &["twice.toml:2:", "keep one"],
        ),
        case("lists", "[".repeat(100_000), &["lists:1:", "seven levels"]),
        case("maps", "{a: ".repeat(100_000), &["maps:1:", "seven levels"]),
        case("dashes", "- ".repeat(100_000), &["more than 64 deep"]),
        case("deep.toml", deep_toml, &["deep.toml:1:"]),
        case("laughs", laughs, &["laughs:2:", "write the value out"]),
        case("tag", tag, &["tag:3:", "leave the `!…` out"]),
        case("two", two, &["two:3:1", "one scenario per file"]),
    ]
}

/// Texts without a scenario in them.
fn no_scenario() -> Vec<Case> {
    let keys = &["unknown key `k0`", "there are more"];
    let jobs = "{}, ".repeat(20_000);
    let jobs = format!("fabric: {{kind: single-switch, hosts: 4}}\njobs: [{jobs}]\n");
    vec![
        case(
            "empty",
            "",
            &["the scenario is empty", "--> empty", "quickstart"],
        ),
        case("blank", " \n\n \n", &["the scenario is empty"]),
        case("comment", "# to be done\n", &["the scenario is empty"]),
        case("word", "hello\n", &["word:1:1", "not `hello`"]),
        case("list", "- a\n- b\n", &["list:1:1", "not a list"]),
        case("many-keys", many_keys(), keys),
        case("many-jobs", jobs, &["more than 10000 jobs", "spread them"]),
    ]
}

/// Scenarios with one value that nobody means.
fn no_meaning() -> Vec<Case> {
    let with = |what: &str, other: &str| {
        assert!(GOOD.contains(what));
        GOOD.replace(what, other)
    };
    let huge = with("4", &"9".repeat(400));
    let tera = with("1MiB", "99999999999999999999TiB");
    let spines = "leaf-spine, leaves: 100000, hosts_per_leaf: 1, spines: 100000";
    let spines = with("single-switch, hosts: 4", spines);
    let ranks = with("{collectives", "{ranks: [0-4294967295], collectives");
    let escape = with("single-switch", "\"\\e[31mred\u{202e}\"");
    let wide = with("single-switch", &"x".repeat(1_000_000));
    let twice = format!("{GOOD}jobs: []\n");
    vec![
        case(
            "twice",
            twice,
            &["twice:3:1", "`jobs` is given twice", "line 2"],
        ),
        case("huge", huge, &["huge:1:38", "outside its range", "1048576"]),
        case("minus", with("4", "-4"), &["minus:1:38", "choose from `1`"]),
        case("float", with("4", "4.5"), &["float:1:38", "in digits"]),
        case(
            "infinite",
            with("4", ".inf"),
            &["infinite:1:38", "in digits"],
        ),
        case("tera", tera, &["tera:2:54", "too large"]),
        case("spines", spines, &["10000100000 cables", "reduce"]),
        case("ranks", ranks, &["ranks:2:17", "hosts are 0 to 3"]),
        case("escape", escape, &["escape:1:16", "choose from"]),
        case("wide", wide, &["wide:1:16", "choose from"]),
    ]
}

/// Scenarios with a quantity that does not fit its key.
fn no_quantity() -> Vec<Case> {
    let size = |size: &str| GOOD.replace("1MiB", size);
    let job = |key: &str| GOOD.replace("{collectives", &format!("{{{key}, collectives"));
    let fabric = |key: &str| GOOD.replace("hosts: 4", &format!("hosts: 4, {key}"));
    let nan = fabric("host_delay: .nan");
    let half = size("0.5B");
    let exponent = size("1e999MiB");
    let json =
        "{\"fabric\": {\"kind\": \"single-switch\", \"hosts\": 4, \"hosts\": 5}, \"jobs\": []}";
    vec![
        case("bare", size("1000"), &["bare:2:54", "unit"]),
        case(
            "rate-as-size",
            size("400Gbps"),
            &["rate-as-size:2:54", "rate"],
        ),
        case(
            "time-as-rate",
            fabric("rate: 5us"),
            &["time-as-rate:1:", "time"],
        ),
        case(
            "size-as-time",
            job("start: 5MiB"),
            &["size-as-time:2:", "size"],
        ),
        case("bits", fabric("rate: 400Gbit"), &["bits:1:", "Gbps"]),
        case("half", half, &["half:2:54", "byte"]),
        case("exponent", exponent, &["exponent:2:54"]),
        case("nothing", size("0B"), &["nothing:2:54", "choose from `1B`"]),
        case("minute", job("start: 99999999999s"), &["minute:2:"]),
        case("tiny", job("gap: 0.0000001ns"), &["tiny:2:", "picosecond"]),
        case("slow", fabric("rate: 1bps"), &["slow:1:"]),
        case("still", fabric("rate: 0Gbps"), &["still:1:"]),
        case("nan", nan, &["nan:1:", "time"]),
        case(
            "many-pairs",
            job("queue_pairs: 65536"),
            &["many-pairs:2:", "4096"],
        ),
        case(
            "yes",
            GOOD.replace("hosts: 4", "hosts: yes"),
            &["yes:1:38", "in digits"],
        ),
        case("null", GOOD.replace("hosts: 4", "hosts: ~"), &["null:1:"]),
        case(
            "map",
            GOOD.replace("hosts: 4", "hosts: {a: 1}"),
            &["map:1:", "mapping"],
        ),
        case(
            "twice.json",
            json,
            &["twice.json:1:", "`hosts` is given twice"],
        ),
    ]
}

/// A mapping of 200,000 keys, none of which a scenario has.
fn many_keys() -> Vec<u8> {
    let lines: Vec<String> = (0..200_000).map(|number| format!("k{number}: 1")).collect();
    lines.join("\n").into_bytes()
}

#[test]
fn files_made_to_hurt_are_refused_at_once() {
    let workplace = Workplace::new("hostile");
    let all = [
        no_text(),
        no_notation(),
        no_scenario(),
        no_meaning(),
        no_quantity(),
    ];
    let all = all.into_iter().flatten();
    for Case {
        name,
        content,
        says,
    } in all
    {
        workplace.write(name, content);
        let since = Instant::now();
        let answer = workplace.tenter(&["run", name, "-o", "trial"]).expect(2);
        let elapsed = since.elapsed();
        fs::remove_file(workplace.path(name)).expect("it was written");
        let stderr = &answer.stderr;
        assert!(stderr.starts_with("error: "), "{name}: {stderr}");
        for part in [&[name][..], says].concat() {
            assert!(stderr.contains(part), "{name} lacks {part:?}:\n{stderr}");
        }
        assert!(elapsed < AT_ONCE, "{name} took {elapsed:?}");
        assert_eq!(answer.stdout, "", "{name}");
        // Neither terminals nor readers are flooded.
        assert!(stderr.len() < 100_000, "{name}: {} bytes", stderr.len());
        let control = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!stderr.contains(control), "{name}: {stderr:?}");
        assert_eq!(workplace.entries(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn paths_made_to_hurt_are_refused() {
    let workplace = Workplace::new("hostile-paths");
    fs::create_dir(workplace.path("folder.yaml")).expect("a folder can be made");
    let cases: [(&[&str], &str); 5] = [
        (&["run", "folder.yaml"], "it is a folder"),
        (&["run", "no/such/file.yaml"], "check the path"),
        (&["run", ""], "a value is required"),
        (&["run", &"x".repeat(5_000)], "cannot read"),
        (&["validate", "folder.yaml/x"], "cannot read folder.yaml/x"),
    ];
    for (arguments, part) in cases {
        workplace.tenter(arguments).expect_refusal(&[part]);
    }
    assert_eq!(workplace.entries(), ["folder.yaml"]);
}

#[test]
fn overrides_made_to_hurt_are_refused() {
    let workplace = Workplace::new("hostile-set");
    workplace.write("good.yaml", GOOD);
    let long = format!("name={}", "x".repeat(100_000));
    let deep = format!("name={}", "[".repeat(10_000));
    let overrides = [
        "",
        "=",
        "=1",
        "fabric",
        "fabric.=1",
        ".=1",
        "fabric[0]=1",
        "jobs[9].start=1us",
        "jobs[-1].start=1us",
        "jobs[99999999999999999999]=1",
        "fabric.hosts=[",
        "fabric.hosts=",
        "fabric={}",
        "jobs=5",
        "\u{1f9f5}=1",
        &long,
        &deep,
    ];
    for change in overrides {
        let answer = workplace.tenter(&["run", "good.yaml", "-o", "trial", "--set", change]);
        answer.expect_refusal(&[]);
    }
    assert_eq!(workplace.entries(), ["good.yaml"]);
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_are_refused() {
    let workplace = Workplace::new("hostile-links");
    workplace.write("good.yaml", GOOD);
    let link = |from: &str, to: &str| {
        std::os::unix::fs::symlink(from, workplace.path(to)).expect("a link can be made");
    };
    link("there", "here");
    link("here", "there");
    let answer = workplace.tenter(&["run", "here"]);
    answer.expect_refusal(&["cannot read here", "check the path"]);
    let answer = workplace.tenter(&["run", "good.yaml", "-o", "here/trial"]);
    answer.expect_refusal(&["cannot create here/trial", "-o"]);
    assert_eq!(workplace.entries(), ["good.yaml", "here", "there"]);
}

#[cfg(unix)]
#[test]
fn places_that_are_no_folders_are_refused() {
    let workplace = Workplace::new("hostile-places");
    workplace.write("good.yaml", GOOD);
    for place in ["/dev/full", "/dev/null", "good.yaml", "good.yaml/trial"] {
        let answer = workplace.tenter(&["run", "good.yaml", "-o", place]);
        answer.expect_refusal(&["cannot create ", place, "-o"]);
    }
    assert_eq!(workplace.entries(), ["good.yaml"]);
    let text = fs::read_to_string(workplace.path("good.yaml"));
    assert_eq!(text.expect("it is still there"), GOOD);
}

/// A shell that lets files grow to so many blocks of 512 bytes: a full disk for whoever writes
/// more.
#[cfg(unix)]
fn on_a_full_disk(workplace: &Workplace, blocks: u32, arguments: &str) -> Answer {
    let binary = env!("CARGO_BIN_EXE_tenter");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec '{binary}' {arguments}");
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(&workplace.folder)
        .stdin(std::process::Stdio::null())
        .output();
    Answer::of(&output.expect("there is a shell"))
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_folder() {
    let workplace = Workplace::new("hostile-disk");
    workplace.write("good.yaml", GOOD);
    for arguments in [
        "run good.yaml",
        "run good.yaml -o trial",
        "run good.yaml -o a/b/c",
    ] {
        let answer = on_a_full_disk(&workplace, 0, arguments);
        answer.expect_failure(3, &["cannot write", "manifest.json", "free some space"]);
        assert_eq!(workplace.entries(), ["good.yaml"], "{arguments}");
    }
    // What is there already stays, without what could not be written.
    fs::create_dir(workplace.path("empty")).expect("a folder can be made");
    let answer = on_a_full_disk(&workplace, 0, "run good.yaml -o empty");
    answer.expect_failure(3, &["cannot write", "manifest.json"]);
    assert_eq!(entries(&workplace.path("empty")), Vec::<String>::new());
    // A disk that fills up later costs the trial: it says that it is not complete.
    let answer = on_a_full_disk(&workplace, 8, "run good.yaml -o late").expect(3);
    assert!(
        answer.stderr.contains("free some space"),
        "{}",
        answer.stderr
    );
    assert_eq!(workplace.json("late/manifest.json")["complete"], false);
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_a_sweep_as_it_ends_a_run() {
    let workplace = Workplace::new("hostile-sweep-disk");
    workplace.write("good.yaml", GOOD);
    let sweep =
        "scenario: good.yaml\nseeds: 3\nreadings: [{name: time, query: max(jobs.jct_ns)}]\n";
    workplace.write("sweep.yaml", sweep);
    for blocks in [0, 8, 64, 128] {
        let arguments = format!("sweep sweep.yaml -o sweep-{blocks}");
        let answer = on_a_full_disk(&workplace, blocks, &arguments);
        answer.expect_failure(3, &["cannot write", "ledger.sqlite", "check the disk"]);
    }
    on_a_full_disk(&workplace, 1 << 20, "sweep sweep.yaml -o sweep-0").expect(0);
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_nobody_took_is_an_error() {
    let workplace = Workplace::new("hostile-output");
    workplace.write("good.yaml", GOOD);
    for arguments in [&["explain", "good.yaml"][..], &["validate", "good.yaml"]] {
        let full = fs::File::options().write(true).open("/dev/full");
        let mut command = workplace.command(arguments);
        command.stdout(full.expect("Linux has it"));
        let answer = Answer::of(&command.output().expect("the binary runs"));
        // The input is not at fault.
        answer.expect_failure(3, &["cannot write to standard output", "free some space"]);
    }
}
