//! Published studies: their cases, variants, published values, bands and verdicts.
//!
//! ```text
//!   study.toml ┐
//!   published table ├─▶ Study ──trial (per variant)──▶ Plan … simulated by the caller … Summary
//!   scenario.yaml ┤      └──judge──▶ StudyAnswer: published, measured, band, verdict
//!   equipment ┘
//! ```
//!
//! A study is one folder under `studies/`: a page, a description, a scenario. The published values
//! are tables beside them, and switches and NICs are the equipment of a source, which its studies
//! inherit. All are part of the program, so that a study runs from any folder.
//!
//! **Architecture invariant.** Published values, bands and gates are read from the tables and
//! nowhere else; nothing here knows a study by its name; no file, clock or environment is read.
//!
//! ```
//! use tenter_study::{Extent, Study, select};
//! use tenter_units::Limits;
//!
//! let texts = select(["methodology/jct-2"])?[0];
//! let study = Study::embedded(texts)?;
//! let calibrated = study.variant("calibrated").expect("the study has it");
//! let plan = &study.trials(calibrated, Extent::Quick, Limits::NONE)?[0].plan;
//! assert_eq!(plan.jobs[0].ranks(), 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod description;
mod drawing;
mod equipment;
mod error;
mod fct;
mod gate;
mod grid;
mod leaf;
#[cfg(test)]
mod made_up;
mod matrix;
mod noted;
mod number_query;
mod pauses;
mod power;
mod published;
mod reading;
mod reading_of_row;
mod readings;
mod recorded;
mod registry;
mod seeds;
mod sizes;
mod study;
mod sweep;
mod throughput;
mod trial;
mod unknown;
mod value;
mod variant;

pub use answer::{AnswerVariant, Answers, CaseAnswer, Spread, StudyAnswer, Tally, Verdict};
pub use description::Judged;
pub use drawing::{Chart, Drawing, DrawnVariant, Shows};
pub use error::StudyError;
pub use gate::{Gate, Origin};
pub use noted::{Noted, noted};
pub use number_query::NumberQuery;
pub use pauses::Pauses;
pub use published::Case;
pub use reading::{Against, Condition, PortName, Reading, Statistic};
pub use readings::ReadingRow;
pub use recorded::recorded_answer;
pub use registry::{STUDIES, StudyTexts, equipment_text, published_table, select};
pub use seeds::Seeds;
pub use sizes::{Metric, Sizes};
pub use study::{Comparison, DASHES, Study};
pub use sweep::{
    Better, ChartKeys, ChartKind, Design, Keep, Measured, PointValues, PublishedKeys, ReadingKeys,
    SeedOf, Sweep, SweepAxis, SweepChart, SweepError, SweepKeys, SweepReading, SweepRecord,
    SweepTrial, SweepValues, TrialSeed, Winner,
};
pub use trial::Trial;
pub use unknown::{UnknownStudy, UnknownVariant};
pub use value::Value;
pub use variant::{Calibration, Extent, Variant};
