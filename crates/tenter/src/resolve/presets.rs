//! Presets: fabrics by name, each a scenario without jobs. The folder `presets/` has the texts.

/// A fabric with endpoints, to which jobs are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name by which users select it.
    pub name: &'static str,
    /// The file's text: a scenario without `jobs`, in YAML.
    pub text: &'static str,
}

/// Makes a preset from the file with its name.
macro_rules! preset {
    ($name:literal) => {
        Preset {
            name: $name,
            text: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/presets/",
                $name,
                ".yaml"
            )),
        }
    };
}

/// All presets, smaller fabrics first.
pub static PRESETS: [Preset; 16] = [
    preset!("single-switch-8"),
    preset!("l40s-32"),
    preset!("leaf-spine-64"),
    preset!("rail-64"),
    preset!("dgx-a100-64"),
    preset!("dgx-h100-64"),
    preset!("dgx-h200-64"),
    preset!("dgx-b200-64"),
    preset!("dgx-b300-64"),
    preset!("p5-64"),
    preset!("rtx-pro-6000-64"),
    preset!("mi300x-64"),
    preset!("fat-tree-128"),
    preset!("gb200-nvl72-144"),
    preset!("gb300-nvl72-144"),
    preset!("leaf-spine-512"),
];

impl Preset {
    /// Finds a preset by name.
    ///
    /// # Errors
    /// An unknown name; the text suggests the nearest one, or lists all.
    pub fn of_name(name: &str) -> Result<Preset, String> {
        let found = PRESETS.into_iter().find(|preset| preset.name == name);
        found.ok_or_else(|| {
            let names = PRESETS.iter().map(|preset| preset.name);
            tenter_language::units::suggestion(name, names)
        })
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Budget;

    use super::*;
    use crate::resolve::{Format, Input, Overlay, load_overlaid};

    fn no_files(_: &str) -> Result<tenter_formats::Content<'static>, String> {
        Err("none is named".to_owned())
    }

    const JOBS: Overlay<'_> = Overlay {
        source_name: "test",
        text: "jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]",
    };

    #[test]
    fn every_preset_is_a_fabric_of_its_size() {
        for preset in PRESETS {
            let input = Input::Text(preset.text, Format::Yaml);
            let budget = Budget::unlimited();
            let loaded = load_overlaid(input, preset.name, &[JOBS], &[], None, &no_files, &budget)
                .unwrap_or_else(|errors| panic!("{errors}"));
            assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
            let plan = loaded.plan;
            assert_eq!(plan.name, preset.name);
            let size = preset.name.rsplit('-').next().expect("a name has parts");
            assert_eq!(plan.topology.hosts.to_string(), size);
            let lossless = |class: &tenter_fabric::net::ClassSpec| class.lossless.is_some();
            assert!(
                plan.switches.usual.classes.iter().any(lossless),
                "{}",
                preset.name
            );
        }
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        assert_eq!(
            Preset::of_name("rail-64").map(|found| found.name),
            Ok("rail-64")
        );
        assert_eq!(
            Preset::of_name("rail64"),
            Err("did you mean `rail-64`?".to_owned())
        );
    }
}
