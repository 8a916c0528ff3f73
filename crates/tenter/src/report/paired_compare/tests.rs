use super::*;
use crate::report::planted;

fn named(name: &str, record: SweepRecord) -> NamedRecord {
    NamedRecord {
        name: name.to_owned(),
        record,
    }
}

const SIZES: &[(&str, &[&str])] = &[("size", &["1MiB", "2MiB"])];

#[test]
fn variants_of_one_sweep_are_compared_with_its_first() {
    // The second takes half of the first's time, whatever the seed.
    let value = |_, variant, seed| 1e6 * seed as f64 / [1.0, 2.0][variant];
    let one = named("one", planted::record(&["a", "b"], SIZES, 1..=6, value));
    let rows = paired_rows(&[one]).expect("two variants");
    assert_eq!(rows.len(), 2);
    let row = &rows[1];
    assert_eq!((row.name.as_str(), row.against.as_str()), ("b", "a"));
    assert_eq!(row.settings, "size=2MiB");
    assert_eq!((row.pairs, row.wins, row.losses), (6, 6, 0));
    assert!((row.ratio.expect("a ratio") - 0.5).abs() < 1e-12);
    // 2 / 64.
    assert!((row.p_value - 0.031_25).abs() < 1e-12);
    let text = paired_table(&rows);
    for part in [
        "time (less is better)",
        "50.0 % less",
        "-50.0 to -50.0 %",
        "6 of 6 seeds",
        "0.031 *",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn statistics_of_no_size_are_not_paired() {
    let value = |_, variant, seed| 1e6 * seed as f64 / [1.0, 2.0][variant];
    let mut record = planted::record(&["a", "b"], SIZES, 1..=6, value);
    record.readings[0].statistic = "stddev".to_owned();
    let error = paired_rows(&[named("one", record)]).expect_err("nothing can be paired");
    assert!(error.contains("another `statistic`"), "{error}");
}

#[test]
fn sweeps_are_paired_by_settings_variants_and_seeds() {
    let one = planted::record(&["a", "b"], SIZES, 1..=4, |point, _, seed| {
        (point + 1) as f64 * seed as f64
    });
    // Other order of points and variants, other words for the same size, other seeds.
    let sizes: &[(&str, &[&str])] = &[("size", &["4MiB", "2048KiB"])];
    let two = planted::record(&["b", "c"], sizes, 3..=8, |_, _, seed| 3.0 * seed as f64);
    let rows = paired_rows(&[named("one", one), named("two", two)]).expect("pairs");
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(row.settings, "size=2MiB");
    assert_eq!(
        (row.name.as_str(), row.against.as_str()),
        ("two: b", "one: b")
    );
    // Seeds 3 and 4: 9 over 6 and 12 over 8.
    assert_eq!((row.pairs, row.losses), (2, 2));
    assert!((row.ratio.expect("a ratio") - 1.5).abs() < 1e-12);
}

#[test]
fn an_axis_of_one_is_a_setting_of_the_other() {
    let one = planted::record(&[""], SIZES, 1..=2, |_, _, _| 1.0);
    let mut two = planted::record(&["x"], &[], 1..=2, |_, _, _| 2.0);
    two.set = vec![("fabric.size".to_owned(), "2MiB".to_owned())];
    let rows = paired_rows(&[named("one", one), named("two", two)]).expect("pairs");
    let settings: Vec<&str> = rows.iter().map(|row| row.settings.as_str()).collect();
    assert_eq!(settings, ["size=2MiB"]);
    assert_eq!(rows[0].name, "two: x");
}

#[test]
fn what_cannot_be_paired_is_refused_with_a_remedy() {
    let base = || planted::record(&["a", "b"], SIZES, 1..=2, |_, _, _| 1.0);
    let refused = |other: SweepRecord| {
        let both = [named("one", base()), named("two", other)];
        paired_rows(&both).expect_err("nothing to pair")
    };
    let seeds = planted::record(&["a"], SIZES, 5..=6, |_, _, _| 1.0);
    let error = refused(seeds);
    assert!(error.contains("(1 to 2 and 5 to 6)"), "{error}");
    assert!(error.contains("--seeds 3"), "{error}");
    let points = planted::record(&["a"], &[("size", &["8MiB"])], 1..=2, |_, _, _| 1.0);
    assert!(refused(points).contains("no settings in common"));
    let variants = planted::record(&["c", "d"], SIZES, 1..=2, |_, _, _| 1.0);
    assert!(refused(variants).contains("no variant of the same name"));
    let mut readings = base();
    readings.readings[0].of = "other".to_owned();
    assert!(refused(readings).contains("have no reading in common"));
    let single = planted::record(&["a"], SIZES, 1..=2, |_, _, _| 1.0);
    let error = paired_rows(&[named("one", single)]).expect_err("one variant");
    assert!(error.contains("name another folder"), "{error}");
}
