//! Drawings as data for the workspace page's script.
//!
//! `web/src/pictures/spec.ts` has the same types in TypeScript.

use serde::{Serialize, Serializer};

use super::circuit_boxes::{Shape, SwitchBox};
use super::scale::Scale;

/// A number with seven significant digits, which keep the JSON small; `null` if it is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Num(pub(super) f64);

impl Serialize for Num {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Floats below this limit represent whole numbers exactly.
        const WHOLE: f64 = 1e15;
        // Rounding by text gives the shortest JSON number; arithmetic would leave digits behind.
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

/// Converts points to number pairs.
pub(super) fn pairs(points: &[(f64, f64)]) -> Vec<[Num; 2]> {
    points.iter().map(|&(x, y)| [Num(x), Num(y)]).collect()
}

/// One axis of a drawing.
#[derive(Debug, Serialize)]
pub(super) struct Axis<'a> {
    label: &'a str,
    /// Unit of the data; the drawing script chooses the unit that is shown.
    unit: &'a str,
    log: bool,
    low: Num,
    high: Num,
}

impl<'a> Axis<'a> {
    /// Makes the axis for a scale.
    pub(super) fn of(label: &'a str, scale: &Scale) -> Axis<'a> {
        let unit = match scale.unit.name {
            "ns" | "µs" | "ms" | "s" => "ns",
            "B" | "KiB" | "MiB" | "GiB" | "TiB" => "bytes",
            "GB/s" => "B/s",
            // Scales know the unit that fits their numbers, drawings the base unit of their data.
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

/// Lines that share a pair of axes.
#[derive(Debug, Serialize)]
pub(super) struct Lines<'a> {
    pub(super) title: &'a str,
    pub(super) height: Num,
    pub(super) steps: bool,
    pub(super) x: Axis<'a>,
    pub(super) y: Axis<'a>,
    pub(super) series: Vec<Series<'a>>,
}

/// One line with its points.
#[derive(Debug, Serialize)]
pub(super) struct Series<'a> {
    pub(super) name: &'a str,
    /// Palette index: through all colours, then through them again with the next dash pattern.
    pub(super) colour: usize,
    pub(super) points: Vec<[Num; 2]>,
}

/// A matrix with a row for each port and a column for each stretch of time.
#[derive(Debug, Serialize)]
pub(super) struct Heat<'a> {
    pub(super) title: &'a str,
    /// Label on the time axis.
    pub(super) label: &'a str,
    pub(super) rows: Vec<String>,
    /// Start of each column, in ns.
    pub(super) times: Vec<Num>,
    /// End of the last column, and end of the axis, which drawings side by side share; in ns.
    pub(super) end: Num,
    pub(super) to: Num,
    pub(super) values: Vec<Vec<Num>>,
    pub(super) unit: &'a str,
    /// Value with the full colour.
    pub(super) max: Num,
}

/// Bars over time, in lanes.
#[derive(Debug, Serialize)]
pub(super) struct Timeline<'a> {
    pub(super) title: &'a str,
    pub(super) label: &'a str,
    pub(super) from_ns: Num,
    pub(super) to_ns: Num,
    pub(super) lanes: Vec<String>,
    /// Width for lane names, in pixels.
    pub(super) names: u32,
    /// Name and unit for each number that a bar has after lane, start, end and colour.
    pub(super) columns: &'a [(&'a str, &'a str)],
    /// Index of the column that gives bars a warning edge where it is not 0.
    pub(super) marked: Option<usize>,
    pub(super) bars: Vec<Vec<Num>>,
}

/// Rows with cells, coloured by one metric at a time.
#[derive(Debug, Serialize)]
pub(super) struct Cells<'a> {
    pub(super) title: &'a str,
    pub(super) metrics: &'a [CellMetric<'a>],
    pub(super) rows: Vec<CellRow>,
}

/// A metric that each cell has.
#[derive(Debug, Serialize)]
pub(super) struct CellMetric<'a> {
    /// Key for the button that selects the metric.
    pub(super) key: &'a str,
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
    /// Value with the full colour.
    pub(super) full: Num,
    /// True if cells with a value other than 0 get a warning edge.
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
    /// Values in metric order; `null` where the counter was not read.
    pub(super) values: Vec<Num>,
}

/// A tree's switches and the links between them, some of which may be circuits.
#[derive(Debug, Serialize)]
pub(super) struct CircuitPicture {
    pub(super) title: String,
    pub(super) shape: Shape,
    pub(super) boxes: Vec<CircuitBox>,
    pub(super) bundles: Vec<Bundle>,
    /// Load with the full colour, as a capacity share.
    pub(super) full: Num,
    /// Maximum number of links that one line stands for, in any picture side by side.
    pub(super) most: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct CircuitBox {
    #[serde(flatten)]
    pub(super) switches: SwitchBox,
    /// Number of ports without a circuit.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) dark: u64,
    /// Links between the box's switches: upwards, and back.
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

/// All links that join two boxes and have one kind.
#[derive(Debug, Serialize)]
pub(super) struct Bundle {
    /// Indices of the boxes at both ends.
    pub(super) ends: [usize; 2],
    /// `cable`, `circuit`, or `moved` for a circuit that does not follow a cable in the tree.
    pub(super) kind: &'static str,
    #[serde(flatten)]
    pub(super) carried: Carried,
}

/// Traffic of links together: from the first end to the second, and back.
#[derive(Debug, Serialize)]
pub(super) struct Carried {
    pub(super) count: u64,
    pub(super) rate_bps: Num,
    /// Loads as capacity shares; `null` if unknown.
    pub(super) busy: Option<[Num; 2]>,
    pub(super) bytes: [Num; 2],
}

/// Operations over time, in lanes by rank.
#[derive(Debug, Serialize)]
pub(super) struct Operations<'a> {
    pub(super) title: &'a str,
    pub(super) label: &'a str,
    pub(super) to_ns: Num,
    pub(super) lanes: Vec<OperationLane>,
    /// Each colour's palette index and meaning.
    pub(super) legend: Vec<(usize, &'a str)>,
    /// Operation kinds, each once; bars refer to them by index.
    pub(super) kinds: Vec<&'a str>,
    /// Per bar: lane, start, duration, operation count, and 1 if it is light. A bar for one
    /// operation continues with the index of its kind, its number at its rank, its peer, its bytes,
    /// and 1 if it is on the critical path. Times are in ns.
    pub(super) bars: Vec<Vec<Num>>,
}

/// A lane; lanes of one rank follow each other.
#[derive(Debug, Serialize)]
pub(super) struct OperationLane {
    pub(super) rank: u32,
    pub(super) name: String,
    pub(super) colour: usize,
}

/// The parts of a whole, as stretches of one bar.
#[derive(Debug, Serialize)]
pub(super) struct Whole<'a> {
    pub(super) title: &'a str,
    pub(super) unit: &'a str,
    /// Each part's name, value and palette index.
    pub(super) parts: Vec<(&'a str, Num, usize)>,
}

/// Chunks in time order, each of which waited for the previous one.
#[derive(Debug, Serialize)]
pub(super) struct ChunkChain<'a> {
    pub(super) title: &'a str,
    pub(super) label: &'a str,
    pub(super) to_ns: Num,
    /// Meaning of a bar's shade.
    pub(super) shade: &'a str,
    /// Text that the page shows for each bar.
    pub(super) names: Vec<String>,
    /// Name and unit for each number that a bar has after its times and shade.
    pub(super) columns: &'a [(&'a str, &'a str)],
    /// Per bar: start, end, shade from 0 to 1, and a number for each column.
    pub(super) bars: Vec<Vec<Num>>,
}

/// A drawing with its data; the JSON's `kind` selects the function that draws it.
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
    /// Makes a picture from the drawing, with a heading and a text above it.
    pub(super) fn picture(&self, title: impl Into<String>, lead: impl Into<String>) -> Picture {
        Picture {
            title: title.into(),
            lead: lead.into(),
            plot: serde_json::to_string(self).unwrap_or_default(),
        }
    }
}

/// A drawing with its texts.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Heading, such as job and iteration.
    pub title: String,
    /// Text that explains how to read the drawing; empty where the axes say enough.
    pub lead: String,
    /// Drawing data as JSON; `kind` names the function that draws it.
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
