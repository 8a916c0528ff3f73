//! Published studies: their cases, variants, published values, bands and verdicts.
//!
//! ```text
//!   study.yaml ┐
//!   published table ├─▶ Sweep ──trials──▶ settings and seeds … simulated by the caller … Measured
//!                   ┘      └──answer──▶ StudyAnswer: published, measured, band, verdict ◀──┘
//! ```
//!
//! A study is a [sweep](Sweep) whose readings are held against a table of published values: one
//! folder under `studies/` with a page, a description and a scenario. The tables lie beside the
//! folders, and a source's switches and NICs are an equipment file that all its studies inherit.
//! The program embeds all these files, so a study runs from any folder.
//!
//! **Architecture invariant.** Published values, bands and gates are read from the tables and
//! nowhere else; nothing here knows a study by its name; no file, clock or environment is read.
//!
//! ```
//! use tenter::studies::{Study, select};
//!
//! let texts = select(["methodology/jct-2"])?[0];
//! let sweep = Study::embedded(texts)?.sweep.quick();
//! let names: Vec<&str> = sweep.cells().iter().map(|cell| cell.name.as_str()).collect();
//! assert_eq!(names, ["pure", "calibrated"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod against;
mod answer;
mod chosen;
mod drawing;
mod equipment;
mod error;
mod gate;
mod leaf;
mod noted;
mod number_query;
mod pauses;
mod power;
mod read;
mod recorded;
mod registry;
mod study;
mod sweep;
mod throughput;
mod typed;
mod unknown;
mod value;

pub use against::Against;
pub use answer::{AnswerVariant, Answers, CaseAnswer, Spread, StudyAnswer, Tally, Verdict};
pub use chosen::ChosenSeeds;
pub use drawing::{Chart, DASHES, Drawing, DrawnVariant, PortName, Shows};
pub use error::StudyError;
pub use gate::{Gate, Origin};
pub use noted::{Noted, noted};
pub use number_query::NumberQuery;
pub use pauses::{Pauses, TrialPauses};
pub use read::{Ended, Read, Word};
pub use recorded::recorded_answer;
pub use registry::{STUDIES, StudyTexts, equipment_text, published_table, select};
pub use study::Study;
pub use sweep::{
    Better, ChartKeys, ChartKind, Design, Keep, LeftOutKeys, Measured, PointValues, PublishedKeys,
    QuickKeys, ReadingKeys, SeedOf, Sharing, Sweep, SweepAxis, SweepCell, SweepChart, SweepError,
    SweepKeys, SweepReading, SweepRecord, SweepRow, SweepTrial, SweepValues, TableKeys, TableText,
    TrialSeed, Winner,
};
pub use unknown::{UnknownStudy, UnknownVariant};
pub use value::{TrialValue, Value};
