//! Random scenarios as typed values: written in every notation and read again they are the same,
//! and they resolve to the same plan. Plans have the links and the lookahead of the rest of them.

use tenter::resolve::{Format, Input, load, load_overlaid, load_typed, spec};
use tenter_language::units::Budget;
use tenter_testkit::random_scenario;

fn none(_: &str) -> Result<tenter_formats::Content<'static>, String> {
    Err("there are none".to_owned())
}

fn typed(text: &str, format: Format) -> spec::Scenario {
    let read = load_typed(
        Input::Text(text, format),
        "random",
        &[],
        &[],
        &none,
        &Budget::unlimited(),
    );
    read.unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

#[test]
fn random_scenarios_are_the_same_in_every_notation() {
    for seed in 0..300 {
        let random = random_scenario(seed);
        let own = typed(&random.text, Format::Yaml);
        let yaml = own.to_yaml();
        assert_eq!(typed(&yaml, Format::Yaml), own, "seed {seed}");
        assert_eq!(typed(&own.to_toml(), Format::Toml), own, "seed {seed}");
        let json = serde_json::to_string(&own).expect("it is written");
        assert_eq!(typed(&json, Format::Json), own, "seed {seed}");
        let read: spec::Scenario = serde_json::from_str(&json).expect("it is read");
        assert_eq!(read, own, "seed {seed}");
        let plan = |text: &str| {
            let loaded = load(text, "random", Format::Yaml, &[], None);
            loaded
                .unwrap_or_else(|errors| panic!("seed {seed}: {errors}\n{text}"))
                .plan
        };
        let resolved = plan(&yaml);
        assert_eq!(resolved, plan(&random.text), "seed {seed}");
        let direct = load_overlaid(
            Input::Typed(&own),
            "random",
            &[],
            &[],
            None,
            &none,
            &Budget::unlimited(),
        );
        let direct = direct.unwrap_or_else(|errors| panic!("seed {seed}: {errors}\n{yaml}"));
        assert_eq!(direct.plan, resolved, "seed {seed}");
        assert_eq!(resolved.clone().evaluated(), resolved, "seed {seed}");
    }
}
