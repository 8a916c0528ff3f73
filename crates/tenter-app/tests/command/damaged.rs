//! Trial folders are input: a damaged one is read as far as it goes, or refused with its name and a
//! remedy.

use std::fs;
use std::time::{Duration, Instant};

use crate::workplace::{Workplace, entries};

/// Damages of each file, and the time after which no further ones are made.
const DAMAGES: usize = 12;
const LONGEST: Duration = Duration::from_secs(20);

/// Numbers without any order, the same every time.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// A damaged copy: cut short, a byte changed (near the end, where Parquet keeps what it knows of
/// itself, as often as anywhere), a stretch overwritten or doubled.
fn damaged(content: &[u8], draws: &mut Draws) -> Vec<u8> {
    let mut bytes = content.to_vec();
    let place = draws.below(bytes.len());
    let near_end = bytes.len().saturating_sub(1 + draws.below(400));
    let value = draws.below(256) as u8;
    match draws.below(6) {
        0 => bytes.truncate(place),
        1 => bytes.extend_from_slice(&content[place..]),
        2 => bytes[place..]
            .iter_mut()
            .take(16)
            .for_each(|byte| *byte = value),
        3 => bytes[place] = value,
        _ if bytes.is_empty() => {}
        4 => bytes[near_end] ^= 1 << (value % 8),
        _ => bytes[near_end] = value,
    }
    bytes
}

#[test]
fn damaged_folders_are_read_or_refused_with_a_name() {
    let workplace = Workplace::with_small("damaged");
    workplace.words("run small.yaml -o whole").expect(0);
    workplace.words("run small.yaml -o trial").expect(0);
    let mut draws = Draws(42);
    let begin = Instant::now();
    for round in 0..DAMAGES {
        for file in entries(&workplace.path("trial")) {
            if begin.elapsed() > LONGEST {
                assert!(
                    round > 0,
                    "no file of every kind was damaged in {LONGEST:?}"
                );
                return;
            }
            let path = workplace.path("trial").join(&file);
            let content = fs::read(&path).expect("the file is there");
            let bytes = damaged(&content, &mut draws);
            fs::write(&path, bytes).expect("the file can be written");
            for line in ["report trial -o report.html", "compare whole trial"] {
                let answer = workplace.words(line);
                let text = &answer.stderr;
                assert!(
                    !text.contains("defect of Tenter"),
                    "{line}, {file}, {round}: {text}"
                );
                match answer.code {
                    Some(0) => {}
                    Some(2) => assert!(
                        text.contains("trial") && (text.contains(';') || text.contains(", so ")),
                        "{line}, {file}, {round}: {text}"
                    ),
                    code => panic!("{line}, {file}, {round}: {code:?} {text}"),
                }
            }
            fs::write(&path, content).expect("the file can be written");
        }
    }
}

/// A folder whose name is no text.
#[cfg(unix)]
#[test]
fn paths_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let workplace = Workplace::with_small("not-text");
    let name = OsStr::from_bytes(b"trial-\xff");
    let mut command = workplace.command(&["run", "small.yaml", "-o"]);
    let output = command.arg(name).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(workplace.path("").join(name).join("summary.json").is_file());
    let output = workplace.command(&["report"]).arg(name).output();
    assert_eq!(output.expect("the binary runs").status.code(), Some(0));
}

/// What a scenario says reaches the terminal as text only.
#[test]
fn terminals_are_not_addressed() {
    let workplace = Workplace::new("escapes");
    let fabric = "fabric: {kind: single-switch, hosts: 4, rate: \"\\e[2J400Gbps\"}";
    let jobs = "jobs: [{collectives: [{collective: all-to-all, size: 1KiB}]}]";
    workplace.write(
        "bad.yaml",
        format!("name: \"a\\e]0;x\\ab\\u202ec\"\n{fabric}\n{jobs}\n"),
    );
    for line in ["validate bad.yaml", "run bad.yaml", "explain bad.yaml"] {
        let answer = workplace.words(line).expect(2);
        let said = answer.stdout + &answer.stderr;
        assert!(said.contains("\\u001b[2J"), "{said}");
        assert!(!said.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{said:?}");
    }
}
