//! JSON Schema for `summary.json`, made from its rows' column declarations.

use tenter_results::{CollectiveRow, EngineStats, JobRow, Kind, NoteRow, Row, Totals};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

/// Stands for `summary.json` in the interface's description.
pub(crate) struct SummaryBody;

impl ToSchema for SummaryBody {
    fn name() -> std::borrow::Cow<'static, str> {
        "Summary".into()
    }
}

impl PartialSchema for SummaryBody {
    fn schema() -> RefOr<Schema> {
        let plain = |kind: Type| ObjectBuilder::new().schema_type(SchemaType::new(kind));
        let optional = |kind: Type| SchemaType::from_iter([kind, Type::Null]);
        let texts = || ArrayBuilder::new().items(plain(Type::String));
        let any = || ArrayBuilder::new().items(ObjectBuilder::new());
        let collectives = ArrayBuilder::new().items(row::<CollectiveRow>());
        let job = row::<JobRow>()
            .property("collectives", collectives)
            .required("collectives");
        let schema = ObjectBuilder::new()
            .property("tenter_version", plain(Type::String))
            .property("scenario", plain(Type::String))
            .property("seed", plain(Type::Integer))
            .property("complete", plain(Type::Boolean))
            .property(
                "stopped",
                ObjectBuilder::new().schema_type(optional(Type::String)),
            )
            .property("stopped_by", plain(Type::String))
            .property("jobs", ArrayBuilder::new().items(job))
            .property("interference", any())
            .property("flow_sizes", any())
            .property("critical_shares", any())
            .property("training_steps", any())
            .property("inference", any())
            .property("inference_pools", any())
            .property("totals", row::<Totals>())
            .property("power", ObjectBuilder::new())
            .property("warnings", texts())
            .property("notes", ArrayBuilder::new().items(row::<NoteRow>()))
            .property("engine", row::<EngineStats>());
        let required = [
            "tenter_version",
            "scenario",
            "seed",
            "complete",
            "jobs",
            "interference",
            "totals",
            "warnings",
            "notes",
            "engine",
        ];
        required
            .into_iter()
            .fold(schema, ObjectBuilder::required)
            .into()
    }
}

/// Returns an object schema with the columns that a row stores itself. Columns that are joined from
/// other tables are not in the file.
fn row<R: Row>() -> ObjectBuilder {
    let own = R::COLUMNS.iter().filter(|column| !column.joined);
    own.fold(ObjectBuilder::new(), |object, column| {
        let kind = match column.kind {
            Kind::Integer | Kind::Unsigned => Type::Integer,
            Kind::Float => Type::Number,
            Kind::Text => Type::String,
            Kind::Flag => Type::Boolean,
        };
        let kinds = if column.optional {
            SchemaType::from_iter([kind, Type::Null])
        } else {
            SchemaType::new(kind)
        };
        let meaning = match column.unit {
            "" => column.meaning.to_owned(),
            unit => format!("{} ({unit})", column.meaning),
        };
        let value = ObjectBuilder::new()
            .schema_type(kinds)
            .description(Some(meaning));
        object.property(column.name, value).required(column.name)
    })
}
