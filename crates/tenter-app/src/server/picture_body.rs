//! Pictures in the interface's form.

use serde::Serialize;
use serde_json::Value;
use tenter::report::Picture;
use utoipa::ToSchema;

/// A picture with its words.
#[derive(Serialize, ToSchema)]
pub(crate) struct PictureBody {
    /// Title: the subject of the picture.
    title: String,
    /// How to read it; empty where its axes say enough.
    lead: String,
    /// Plot of the picture as a report has it; `kind` says how it is drawn.
    #[schema(value_type = Object)]
    plot: Value,
}

impl From<&Picture> for PictureBody {
    fn from(picture: &Picture) -> PictureBody {
        PictureBody {
            title: picture.title.clone(),
            lead: picture.lead.clone(),
            plot: serde_json::from_str(&picture.plot).unwrap_or_default(),
        }
    }
}
