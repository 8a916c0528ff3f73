//! What becomes of a `config_db.json`, and what must not be in one.

use serde_json::{Value, json};
use tenter::resolve::{Format, Loaded, load};
use tenter_fabric::net::{
    EcnSpec, Headroom, Limit, LosslessSpec, MarkAt, PfcTrigger, Scheduling, WatchdogAction,
    WatchdogSpec,
};
use tenter_formats::{Fragment, import_sonic};
use tenter_language::units::{Budget, Time};

/// A switch of eight ports at 400G, all alike.
const EXAMPLE: &str = include_str!("../../../scenarios/sonic/config_db.json");
/// The scenario that has its settings.
const SCENARIO: &str = include_str!("../../../scenarios/sonic.yaml");

const EIGHT: &str = "
fabric: {kind: single-switch, hosts: 8}
jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]
";

fn example() -> Value {
    serde_json::from_str(EXAMPLE).expect("the example is JSON")
}

fn import(database: &Value, port: Option<&str>) -> Fragment {
    let text = database.to_string();
    import_sonic(&text, "config_db.json", port, &Budget::unlimited())
        .unwrap_or_else(|errors| panic!("{errors}"))
}

fn refused(database: &Value) -> String {
    let text = format!("{database:#}");
    let errors = import_sonic(&text, "config_db.json", None, &Budget::unlimited())
        .expect_err("it is broken");
    assert!(
        errors
            .problems()
            .iter()
            .all(|problem| problem.help.is_some()),
        "{errors}"
    );
    errors.render()
}

/// A scenario with the fragment as an override.
fn with(fragment: &Fragment) -> Loaded {
    let change = fragment.as_override().trim_end().to_owned();
    let loaded = load(EIGHT, "eight.yaml", Format::Yaml, &[change], None);
    loaded.unwrap_or_else(|errors| panic!("{errors}\n{}", fragment.yaml()))
}

fn warned(fragment: &Fragment, place: &str) -> bool {
    let mut places = fragment.warnings.iter();
    places.any(|line| line.starts_with(&format!("{place}: ")))
}

#[test]
fn the_plan_has_the_values_of_the_file() {
    let switch = with(&import(&example(), None)).plan.switches.usual;
    // egress_lossy_pool and ingress_lossless_pool.
    assert_eq!(switch.pool_bytes, [40_000_000, 48_000_000]);
    let classes: Vec<u8> = switch.classes.iter().map(|class| class.class).collect();
    assert_eq!(classes, [0, 1, 2, 3, 4, 5, 6]);

    let lossless = &switch.classes[3];
    assert_eq!(lossless.pool, 1);
    assert_eq!(lossless.reserved_bytes, 4_608);
    // dynamic_th -2 is alpha 1/4.
    let quarter = Limit::Dynamic {
        numerator: 1,
        denominator: 4,
    };
    assert_eq!(lossless.limit, quarter);
    let pauses = LosslessSpec {
        trigger: PfcTrigger::Ingress,
        xon_offset_bytes: 9_216,
        headroom: Headroom::Bytes(184_320),
        quanta: 65_535,
        refresh_percent: 50,
    };
    assert_eq!(lossless.lossless, Some(pauses));
    let marking = EcnSpec {
        min_bytes: 400_000,
        max_bytes: 1_600_000,
        max_probability_ppm: 50_000,
        scale_from: None,
        mark_at: MarkAt::Enqueue,
        at_hosts: true,
    };
    assert_eq!(lossless.ecn, Some(marking));
    // 15 of the largest frames, of 4,174 bytes.
    let turn = Scheduling::Weighted {
        quantum_bytes: 15 * 4_174,
    };
    assert_eq!(lossless.scheduling, turn);

    let lossy = &switch.classes[6];
    assert_eq!((lossy.pool, lossy.reserved_bytes), (0, 1_792));
    let double = Limit::Dynamic {
        numerator: 2,
        denominator: 1,
    };
    assert_eq!(lossy.limit, double);
    assert_eq!(lossy.scheduling, Scheduling::Strict);
    assert_eq!((&lossy.lossless, lossy.ecn), (&None, None));
}

#[test]
fn the_watchdog_is_in_milliseconds() {
    let loaded = with(&import(&example(), None));
    let expected = WatchdogSpec {
        poll_interval: Time::from_us(200_000),
        detection_time: Time::from_us(400_000),
        restoration_time: Time::from_us(600_000),
        action: WatchdogAction::Drop,
    };
    assert_eq!(loaded.plan.watchdog, Some(expected));
    let mut database = example();
    database["PFC_WD"]["Ethernet0"]["action"] = json!("alert");
    let fragment = import(&database, Some("Ethernet0"));
    assert!(warned(&fragment, "PFC_WD|Ethernet0|action"), "{fragment:?}");
    assert_eq!(with(&fragment).plan.watchdog, None);
}

#[test]
fn all_three_forms_say_the_same() {
    let fragment = import(&example(), None);
    let fabric = "\nfabric:\n  kind: single-switch\n  hosts: 8\n";
    let jobs = "jobs: [{collectives: [{collective: all-to-all, size: 1MiB}]}]\n";
    let yaml = fragment.yaml().replace("fabric:\n", &fabric[1..]);
    let yaml = load(&format!("{yaml}{jobs}"), "x.yaml", Format::Yaml, &[], None).expect("it is");
    let mut json: Value = serde_json::from_str(&fragment.json()).expect("it is JSON");
    json["fabric"]["kind"] = json!("single-switch");
    json["fabric"]["hosts"] = json!(8);
    json["jobs"] = json!([{"collectives": [{"collective": "all-to-all", "size": "1MiB"}]}]);
    let json = load(&json.to_string(), "x.json", Format::Json, &[], None).expect("it is");
    assert_eq!(
        yaml.plan.switches.usual,
        with(&fragment).plan.switches.usual
    );
    assert_eq!(json.plan.switches.usual, yaml.plan.switches.usual);
}

#[test]
fn the_scenario_beside_it_has_its_settings() {
    let scenario = load(SCENARIO, "sonic.yaml", Format::Yaml, &[], None).expect("it is valid");
    let imported = with(&import(&example(), None)).plan;
    assert_eq!(scenario.plan.switches.usual, imported.switches.usual);
    assert_eq!(scenario.plan.watchdog, imported.watchdog);
}

#[test]
fn every_line_says_where_it_comes_from() {
    let yaml = import(&example(), None).yaml();
    for line in yaml.lines().skip(3) {
        let structure = ["buffer:", "pools:", "classes:"].contains(&line.trim());
        assert!(structure || line.contains("  # "), "{line}");
    }
    let alpha = "alpha: 1/4  # BUFFER_PROFILE|pg_lossless_400000_5m_profile|dynamic_th";
    assert!(yaml.contains(alpha), "{yaml}");
}

#[test]
fn nothing_is_dropped_in_silence() {
    let mut database = example();
    database["SCHEDULER"]["scheduler.0"]["pir"] = json!("1000");
    database["SCHEDULER"]["scheduler.9"] = json!({"type": "STRICT"});
    database["QUEUE"]["Ethernet0|7"] = json!({"scheduler": "scheduler.2"});
    database["PFC_WD"]["GLOBAL"]["BIG_RED_SWITCH"] = json!("enable");
    database["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"]["xon"] = json!("18432");
    let fragment = import(&database, Some("Ethernet0"));
    for place in [
        "SCHEDULER|scheduler.0|pir",
        "SCHEDULER|scheduler.9",
        "QUEUE|Ethernet0|7|scheduler",
        "PFC_WD|GLOBAL|BIG_RED_SWITCH",
        "BUFFER_PROFILE|pg_lossless_400000_5m_profile|xon",
        "BUFFER_PROFILE|ingress_lossy_profile",
        "BUFFER_PROFILE|egress_lossless_profile",
        "BUFFER_POOL|egress_lossless_pool",
        "WRED_PROFILE|AZURE_LOSSLESS|wred_green_enable",
        "DSCP_TO_TC_MAP|AZURE|0-8,16-25,27-33,35-45,47,49-63",
        "CABLE_LENGTH|AZURE",
        "DEVICE_METADATA, PORT",
        // All others lack its queue 7.
        "Ethernet16, Ethernet24, Ethernet32, Ethernet40, Ethernet48, Ethernet56, Ethernet8",
    ] {
        assert!(
            warned(&fragment, place),
            "{place}\n{:#?}",
            fragment.warnings
        );
    }
}

#[test]
fn profiles_that_are_off_for_green_packets_mark_nothing() {
    let place = "WRED_PROFILE|AZURE_LOSSLESS|wred_green_enable";
    let of = |enable: Option<&str>| {
        let mut database = example();
        let profile = &mut database["WRED_PROFILE"]["AZURE_LOSSLESS"];
        match enable {
            Some(word) => profile["wred_green_enable"] = json!(word),
            None => drop(
                profile
                    .as_object_mut()
                    .map(|of| of.remove("wred_green_enable")),
            ),
        }
        database
    };
    let marks = |database: &Value| {
        let fragment = import(database, None);
        assert!(warned(&fragment, place), "{:#?}", fragment.warnings);
        fragment.yaml().contains("kmin")
    };
    assert!(marks(&of(Some("true"))));
    assert!(!marks(&of(Some("false"))));
    assert!(!marks(&of(None)));
    assert!(refused(&of(Some("yes"))).contains("write `true` or `false`"));
}

#[test]
fn one_port_stands_for_those_that_are_alike() {
    let mut database = example();
    database["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = json!("3");
    let fragment = import(&database, None);
    assert!(
        fragment.yaml().contains("as Ethernet16 has them"),
        "{fragment:?}"
    );
    assert!(warned(&fragment, "Ethernet0"), "{:#?}", fragment.warnings);
    let lossless = |fragment: &Fragment| {
        let classes = with(fragment).plan.switches.usual.classes;
        let lossless = classes.iter().filter(|class| class.lossless.is_some());
        lossless.map(|class| class.class).collect::<Vec<_>>()
    };
    assert_eq!(lossless(&fragment), [3, 4]);
    let asked = import(&database, Some("Ethernet0"));
    assert_eq!(lossless(&asked), [3]);
    // Its watchdog is still meant for both.
    assert!(
        warned(&asked, "PORT_QOS_MAP|Ethernet0|pfcwd_sw_enable"),
        "{asked:?}"
    );
}

#[test]
fn headroom_that_the_switch_works_out_is_by_the_formula() {
    let mut database = example();
    let profile = &mut database["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"];
    *profile =
        json!({"pool": "ingress_lossless_pool", "dynamic_th": "0", "headroom_type": "dynamic"});
    let dynamic = import(&database, None);
    database["BUFFER_PG"] = json!({"Ethernet0|3-4": {"profile": "NULL"}});
    database["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = json!({"AZURE": {"default_dynamic_th": "0"}});
    let null = import(&database, Some("Ethernet0"));
    database["BUFFER_PG"] = json!({});
    let missing = import(&database, Some("Ethernet0"));
    assert!(warned(&missing, "BUFFER_PG|Ethernet0|3"), "{missing:?}");
    for fragment in [dynamic, null, missing] {
        let class = &with(&fragment).plan.switches.usual.classes[3];
        let lossless = class.lossless.as_ref().expect("priority 3 is paused");
        assert_eq!(lossless.headroom, Headroom::Sonic, "{fragment:?}");
        let one = Limit::Dynamic {
            numerator: 1,
            denominator: 1,
        };
        assert_eq!((class.limit, class.pool), (one, 1));
    }
}

#[test]
fn a_size_that_holds_the_headroom_reserves_the_rest() {
    let mut database = example();
    let profile = &mut database["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"];
    // 184,320 of headroom and 20,480 beside it.
    profile["size"] = json!("204800");
    let fragment = import(&database, None);
    assert_eq!(
        with(&fragment).plan.switches.usual.classes[3].reserved_bytes,
        20_480
    );
    let place = "BUFFER_PROFILE|pg_lossless_400000_5m_profile|size";
    assert!(warned(&fragment, place), "{fragment:?}");
}

#[test]
fn older_references_newer_thresholds_and_static_limits_are_read() {
    let mut database = example();
    for (key, object) in database["BUFFER_PG"].as_object_mut().expect("a table") {
        if key.ends_with("|3-4") {
            object["profile"] = json!("[BUFFER_PROFILE|pg_lossless_400000_5m_profile]");
        }
    }
    let profile = &mut database["BUFFER_PROFILE"]["egress_lossy_profile"];
    *profile =
        json!({"pool": "[BUFFER_POOL|egress_lossy_pool]", "size": "0", "static_th": "3000000"});
    let wred = &mut database["WRED_PROFILE"]["AZURE_LOSSLESS"];
    wred["ecn_green_min_threshold"] = json!("200000");
    wred["ecn_green_max_threshold"] = json!("900000");
    wred["ecn_green_mark_probability"] = json!("100");
    let fragment = import(&database, None);
    let classes = with(&fragment).plan.switches.usual.classes;
    assert_eq!(classes[0].limit, Limit::Static(3_000_000));
    let marking = classes[3].ecn.expect("it marks");
    assert_eq!((marking.min_bytes, marking.max_bytes), (200_000, 900_000));
    assert_eq!(marking.max_probability_ppm, 1_000_000);
    let place = "WRED_PROFILE|AZURE_LOSSLESS|green_drop_probability, green_max_threshold, green_min_threshold";
    assert!(warned(&fragment, place), "{:#?}", fragment.warnings);
}

#[test]
fn classes_share_the_queue_of_the_one_before() {
    let mut database = example();
    database["TC_TO_QUEUE_MAP"]["AZURE"] = json!({
        "0": "0", "1": "0", "2": "0", "3": "3", "4": "4", "5": "0", "8": "1"
    });
    let fragment = import(&database, None);
    let classes = with(&fragment).plan.switches.usual.classes;
    let classes: Vec<u8> = classes.iter().map(|class| class.class).collect();
    assert_eq!(classes, [0, 3, 4, 5]);
    // 5 has the queue of 0, and gets one of its own; there is no class 8.
    assert!(warned(&fragment, "TC_TO_QUEUE_MAP|AZURE|5"), "{fragment:?}");
    assert!(warned(&fragment, "TC_TO_QUEUE_MAP|AZURE|8"), "{fragment:?}");
}

#[test]
fn traffic_classes_alone_are_enough() {
    let mut database = example();
    let tables = database.as_object_mut().expect("tables");
    tables.retain(|name, _| !name.starts_with("BUFFER"));
    let switch = with(&import(&database, None)).plan.switches.usual;
    assert_eq!(switch.classes.len(), 7);
    let lossless = switch.classes[3].lossless.as_ref();
    assert_eq!(lossless.map(|own| own.headroom), Some(Headroom::Sonic));
}

/// Places, what is put there as JSON, and what is said about it.
const BROKEN: [(&str, &str, &str); 17] = [
    (
        "BUFFER_POOL|egress_lossy_pool|size",
        r#""40 MB""#,
        "write a whole number",
    ),
    (
        "BUFFER_PROFILE|egress_lossy_profile|dynamic_th",
        r#""17""#,
        "from -16 to 16",
    ),
    (
        "BUFFER_PROFILE|egress_lossy_profile|static_th",
        r#""1""#,
        "exclude each other",
    ),
    (
        "BUFFER_PROFILE|egress_lossy_profile|pool",
        r#""egress_losy_pool""#,
        "did you mean `egress_lossy_pool`?",
    ),
    (
        "BUFFER_PG|Ethernet0|3-4|profile",
        r#""x""#,
        "which BUFFER_PROFILE does not have",
    ),
    ("SCHEDULER|scheduler.0|weight", r#""0""#, "from 1 to 100"),
    ("SCHEDULER|scheduler.0|type", r#""FIFO""#, "`DWRR`"),
    (
        "WRED_PROFILE|AZURE_LOSSLESS|green_max_threshold",
        r#""1""#,
        "less than `green_min_threshold`",
    ),
    (
        "WRED_PROFILE|AZURE_LOSSLESS|green_drop_probability",
        r#""101""#,
        "from 0 to 100",
    ),
    ("TC_TO_QUEUE_MAP|AZURE|x", r#""1""#, "no traffic class"),
    ("DSCP_TO_TC_MAP|AZURE|64", r#""1""#, "no DSCP"),
    (
        "PORT_QOS_MAP|Ethernet0|pfc_enable",
        r#""3;4""#,
        "priorities from 0 to 7",
    ),
    (
        "PORT_QOS_MAP|Ethernet0|tc_to_queue_map",
        r#""AZUR""#,
        "did you mean `AZURE`?",
    ),
    (
        "PFC_WD|Ethernet0|detection_time",
        r#""soon""#,
        "write a whole number",
    ),
    ("PFC_WD|Ethernet0|action", r#""ignore""#, "`drop`"),
    ("PFC_WD|GLOBAL|POLL_INTERVAL", r#""0""#, "from 1 to 10000"),
    (
        "PORT_QOS_MAP|Ethernet0|pfc_enable",
        r#"{"3": true}"#,
        "is a text, not a mapping",
    ),
];

#[test]
fn what_is_wrong_is_told_with_table_key_and_field() {
    for (place, value, expected) in BROKEN {
        let mut database = example();
        let (table, rest) = place.split_once('|').expect("a table");
        let (key, field) = rest.rsplit_once('|').expect("a field");
        database[table][key][field] = serde_json::from_str(value).expect("it is JSON");
        // Only the one port has it.
        let tables = database.as_object_mut().expect("tables");
        for (_, objects) in tables {
            let objects = objects.as_object_mut().expect("objects");
            objects.retain(|key, _| !key.starts_with("Ethernet") || key.starts_with("Ethernet0"));
        }
        let text = refused(&database);
        assert!(
            text.contains(place) && text.contains(expected),
            "{place}: {expected}\n{text}"
        );
        // Once, with its line.
        assert_eq!(text.matches("error: ").count(), 1, "{text}");
        assert!(text.contains("--> config_db.json:"), "{text}");
    }
}

#[test]
fn what_is_no_configuration_is_refused() {
    for (text, expected) in [
        ("", "is a mapping of tables, not nothing"),
        ("[]", "is a mapping of tables, not a list"),
        ("{", "not valid JSON"),
        ("{}", "no table of buffers or traffic classes"),
        (
            r#"{"BGP_NEIGHBOR": {}}"#,
            "no table of buffers or traffic classes",
        ),
        (r#"{"QUEUE": []}"#, "`QUEUE` is a table, not a list"),
        (
            r#"{"QUEUE": {"Ethernet0|3": 1}}"#,
            "`QUEUE|Ethernet0|3` has fields, but is `1`",
        ),
        (
            r#"{"QUEUE": {"Ethernet0": {}}}"#,
            "`QUEUE|Ethernet0` is no port with its numbers",
        ),
        (
            r#"{"QUEUE": {"Ethernet0|4-3": {}}}"#,
            "is no port with its numbers",
        ),
        (
            r#"{"QUEUE": {"Ethernet0|3-4": {}, "Ethernet0|3": {}}}"#,
            "lists 3 of `Ethernet0` again",
        ),
        (
            r#"{"SCHEDULER": {"scheduler.0": {}}}"#,
            "no port has buffers",
        ),
    ] {
        let errors = import_sonic(text, "x.json", None, &Budget::unlimited())
            .expect_err(text)
            .render();
        assert!(errors.contains(expected), "{text}\n{errors}");
    }
    let errors = import_sonic(EXAMPLE, "x.json", Some("Ethernet1"), &Budget::unlimited())
        .expect_err("no such port");
    assert!(errors.render().contains("no port `Ethernet1`"), "{errors}");
}

#[test]
fn tabs_comments_of_names_and_lists_do_no_harm() {
    let text = EXAMPLE
        .replace("    ", "\t")
        .replace("\"3,4\"", "[\"3\", \"4\"]");
    let text = text.replace("egress_lossy_pool", "lossy # \\n pool");
    let fragment = import_sonic(&text, "x.json", None, &Budget::unlimited())
        .unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(
        with(&fragment).plan.switches.usual,
        with(&import(&example(), None)).plan.switches.usual
    );
    let yaml = load(
        &format!(
            "{}  kind: single-switch\n  hosts: 8\njobs: [{{collectives: [{{collective: all-to-all, size: 1MiB}}]}}]\n",
            fragment.yaml()
        ),
        "x.yaml",
        Format::Yaml,
        &[],
        None,
    );
    assert_eq!(
        yaml.expect("it is valid").plan.switches.usual,
        with(&fragment).plan.switches.usual
    );
}

/// Every field taken out, or given a value that it may not have: a fragment that loads, or a
/// problem with a remedy.
#[test]
fn any_field_may_be_missing_or_wrong() {
    let mut example = example();
    // The size of the buffer is by the number of ports.
    for (table, objects) in example.as_object_mut().expect("tables") {
        if table == "PORT" {
            continue;
        }
        let objects = objects.as_object_mut().expect("objects");
        objects.retain(|key, _| !key.starts_with("Ethernet") || key.starts_with("Ethernet0"));
    }
    let tables = example.as_object().expect("tables");
    let values = [
        None,
        Some("NULL"),
        Some("-1"),
        Some("99999999999999999999"),
        Some("3,9"),
    ];
    let mut loaded = 0;
    for (table, objects) in tables
        .iter()
        .filter(|(table, _)| *table != "DSCP_TO_TC_MAP")
    {
        for (key, object) in objects.as_object().expect("objects") {
            for field in object.as_object().expect("fields").keys() {
                for value in values {
                    let mut changed = example.clone();
                    let fields = changed[table][key].as_object_mut().expect("fields");
                    match value {
                        None => drop(fields.remove(field)),
                        Some(value) => fields[field] = json!(value),
                    }
                    match import_sonic(
                        &format!("{changed:#}"),
                        "x.json",
                        None,
                        &Budget::unlimited(),
                    ) {
                        Ok(fragment) => {
                            with(&fragment);
                            loaded += 1;
                        }
                        Err(errors) => {
                            let problems = errors.problems();
                            assert!(!problems.is_empty(), "{table}|{key}|{field} {value:?}");
                            assert!(problems.iter().all(|problem| problem.help.is_some()));
                        }
                    }
                }
            }
        }
    }
    assert!(loaded > 100, "{loaded}");
}
