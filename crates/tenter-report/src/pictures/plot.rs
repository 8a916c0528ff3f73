//! Drawings as data, which the page of the workspace draws.
//!
//! `web/src/pictures/spec.ts` has these types as the page reads them.

use serde::{Serialize, Serializer};

use super::circuit_boxes::{Shape, SwitchBox};
use super::scale::Scale;

/// A number as drawings have it: seven significant digits, `null` where it is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Num(pub(super) f64);

impl Serialize for Num {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Whole numbers below are exact.
        const WHOLE: f64 = 1e15;
        let short: f64 = format!("{:.6e}", self.0).parse().unwrap_or(self.0);
        if !short.is_finite() {
            serializer.serialize_none()
        } else if short.fract() == 0.0 && short.abs() < WHOLE {
            serializer.serialize_i64(short as i64)
        } else {
            serializer.serialize_f64(short)
        }
    }
}

/// Pairs of numbers.
pub(super) fn pairs(points: &[(f64, f64)]) -> Vec<[Num; 2]> {
    points.iter().map(|&(x, y)| [Num(x), Num(y)]).collect()
}

/// One axis of a drawing.
#[derive(Debug, Serialize)]
pub(super) struct Axis<'a> {
    label: &'a str,
    /// The unit of its data, of which the drawing chooses the shown one.
    unit: &'a str,
    log: bool,
    low: Num,
    high: Num,
}

impl<'a> Axis<'a> {
    /// The axis of these values.
    pub(super) fn of(label: &'a str, scale: &Scale) -> Axis<'a> {
        let unit = match scale.unit.name {
            "ns" | "µs" | "ms" | "s" => "ns",
            "B" | "KiB" | "MiB" | "GiB" | "TiB" => "bytes",
            "GB/s" => "B/s",
            other => other,
        };
        Axis {
            label,
            unit,
            log: scale.log,
            low: Num(scale.domain.0),
            high: Num(scale.domain.1),
        }
    }
}

/// Lines over common axes.
#[derive(Debug, Serialize)]
pub(super) struct Lines<'a> {
    pub(super) title: &'a str,
    pub(super) height: Num,
    pub(super) steps: bool,
    pub(super) x: Axis<'a>,
    pub(super) y: Axis<'a>,
    pub(super) series: Vec<Series<'a>>,
}

/// One line.
#[derive(Debug, Serialize)]
pub(super) struct Series<'a> {
    pub(super) name: &'a str,
    /// Colours are counted through, then with the next dashes.
    pub(super) colour: usize,
    pub(super) points: Vec<[Num; 2]>,
}

/// A cell for each row and each stretch of time.
#[derive(Debug, Serialize)]
pub(super) struct Heat<'a> {
    pub(super) title: &'a str,
    /// Name of the axis of time.
    pub(super) label: &'a str,
    pub(super) rows: Vec<String>,
    /// Where the stretches begin, in ns.
    pub(super) times: Vec<Num>,
    /// Where the last stretch ends, and where the axis ends, which drawings side by side share.
    pub(super) end: Num,
    pub(super) to: Num,
    pub(super) values: Vec<Vec<Num>>,
    pub(super) unit: &'a str,
    /// What has the full colour.
    pub(super) max: Num,
}

/// Bars over time, in lanes below each other.
#[derive(Debug, Serialize)]
pub(super) struct Timeline<'a> {
    pub(super) title: &'a str,
    pub(super) label: &'a str,
    pub(super) from_ns: Num,
    pub(super) to_ns: Num,
    pub(super) lanes: Vec<String>,
    /// Pixels for the names of lanes.
    pub(super) names: u32,
    /// Name and unit of what a bar has beside its lane, times and colour.
    pub(super) columns: &'a [(&'a str, &'a str)],
    /// The column whose bars have an edge that warns, where it is not 0.
    pub(super) marked: Option<usize>,
    pub(super) bars: Vec<Vec<Num>>,
}

/// Rows of cells, which one of several numbers colours at a time.
#[derive(Debug, Serialize)]
pub(super) struct Cells<'a> {
    pub(super) title: &'a str,
    pub(super) metrics: &'a [CellMetric<'a>],
    pub(super) rows: Vec<CellRow>,
}

/// A number that each cell has.
#[derive(Debug, Serialize)]
pub(super) struct CellMetric<'a> {
    /// The word of the button that chooses it.
    pub(super) key: &'a str,
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
    /// The value that has the full colour.
    pub(super) full: Num,
    /// Whether cells where it is not 0 have an edge that warns.
    pub(super) warns: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct CellRow {
    pub(super) name: String,
    pub(super) cells: Vec<Cell>,
}

#[derive(Debug, Serialize)]
pub(super) struct Cell {
    pub(super) name: String,
    pub(super) rate_bps: Num,
    /// In the order of the metrics; no number where nobody has read it.
    pub(super) values: Vec<Num>,
}

/// The switches of a tree and the links between them, of which optical switches may make circuits.
#[derive(Debug, Serialize)]
pub(super) struct CircuitPicture {
    pub(super) title: String,
    pub(super) shape: Shape,
    pub(super) boxes: Vec<CircuitBox>,
    pub(super) bundles: Vec<Bundle>,
    /// The share of its capacity at which a link has the full colour.
    pub(super) full: Num,
    /// The most links that are drawn as one in any of the pictures side by side.
    pub(super) most: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct CircuitBox {
    #[serde(flatten)]
    pub(super) switches: SwitchBox,
    /// Ports without a circuit.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) dark: u64,
    /// The links between its switches: upwards, and back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inner: Option<Carried>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// All links of a kind between two boxes.
#[derive(Debug, Serialize)]
pub(super) struct Bundle {
    /// Places of the boxes.
    pub(super) ends: [usize; 2],
    /// `cable`, `circuit`, or `moved` for one that is not along a cable of the tree.
    pub(super) kind: &'static str,
    #[serde(flatten)]
    pub(super) carried: Carried,
}

/// What links carry together: from the first end to the second, and back.
#[derive(Debug, Serialize)]
pub(super) struct Carried {
    pub(super) count: u64,
    pub(super) rate_bps: Num,
    /// Shares of capacity, where they are known.
    pub(super) busy: Option<[Num; 2]>,
    pub(super) bytes: [Num; 2],
}

/// Operations of ranks over time, in lanes below each other.
#[derive(Debug, Serialize)]
pub(super) struct Operations<'a> {
    pub(super) title: &'a str,
    pub(super) label: &'a str,
    pub(super) to_ns: Num,
    pub(super) lanes: Vec<OperationLane>,
    /// What each colour stands for.
    pub(super) legend: Vec<(usize, &'a str)>,
    /// Kinds of operations, each once.
    pub(super) kinds: Vec<&'a str>,
    /// Lane, start, duration, how many operations it stands for, and whether it is light. A bar of
    /// one operation goes on with the place of its kind, its number at its rank, its peer, its
    /// bytes, and whether it is on the critical path.
    pub(super) bars: Vec<Vec<Num>>,
}

/// A lane, below those of the same rank.
#[derive(Debug, Serialize)]
pub(super) struct OperationLane {
    pub(super) rank: u32,
    pub(super) name: String,
    pub(super) colour: usize,
}

/// What a whole is made of, as stretches of one bar.
#[derive(Debug, Serialize)]
pub(super) struct Whole<'a> {
    pub(super) title: &'a str,
    pub(super) unit: &'a str,
    /// Name, value and colour.
    pub(super) parts: Vec<(&'a str, Num, usize)>,
}

/// Data chunks one after the other, each of which waited for the one before.
#[derive(Debug, Serialize)]
pub(super) struct ChunkChain<'a> {
    pub(super) title: &'a str,
    pub(super) label: &'a str,
    pub(super) to_ns: Num,
    /// What the colour of a bar is a share of.
    pub(super) shade: &'a str,
    /// What is said of each bar.
    pub(super) names: Vec<String>,
    /// Name and unit of what a bar has beside its times and its colour.
    pub(super) columns: &'a [(&'a str, &'a str)],
    /// Start, end, the share from 0 to 1 that its colour shows, and a number for each column.
    pub(super) bars: Vec<Vec<Num>>,
}

/// A drawing and its data.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Plot<'a> {
    Lines(Lines<'a>),
    Heat(Heat<'a>),
    Timeline(Timeline<'a>),
    Cells(Cells<'a>),
    Circuits(CircuitPicture),
    Operations(Operations<'a>),
    Parts(Whole<'a>),
    Chain(ChunkChain<'a>),
}

impl Plot<'_> {
    /// A picture of it with a heading and how to read it.
    pub(super) fn picture(&self, title: impl Into<String>, lead: impl Into<String>) -> Picture {
        Picture {
            title: title.into(),
            lead: lead.into(),
            plot: serde_json::to_string(self).unwrap_or_default(),
        }
    }
}

/// A drawing with its words.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What it is of, as a heading: of operations the job and the iteration.
    pub title: String,
    /// How to read it, in sentences; empty where its axes say enough.
    pub lead: String,
    /// Its data as JSON, whose `kind` names the function that draws it.
    pub plot: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (1_371_000.0, "1371000"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.3333333"),
            (f64::NAN, "null"),
            (-0.0, "0"),
        ];
        for (value, expected) in cases {
            assert_eq!(serde_json::to_string(&Num(value)).unwrap(), expected);
        }
        let heat = Heat {
            title: "a",
            label: "",
            rows: Vec::new(),
            times: Vec::new(),
            end: Num(0.0),
            to: Num(0.0),
            values: Vec::new(),
            unit: "",
            max: Num(0.0),
        };
        let text = Plot::Heat(heat).picture("a", "").plot;
        assert!(text.starts_with("{\"kind\":\"heat\""), "{text}");
    }
}
