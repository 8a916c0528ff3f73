use super::*;
use crate::planted;

/// Half of the first variant's time for the second; seeds add a tenth of a percent each.
fn value(point: usize, variant: usize, seed: u64) -> f64 {
    1e6 * (point + 1) as f64 * [1.0, 0.5][variant] * (1.0 + seed as f64 / 1_000.0)
}

#[test]
fn the_winner_is_named_with_its_confidence() {
    let record = planted::record(&["a", "b"], &[], 1..=6, value);
    let numbers = Numbers::of(&record, 0);
    let mut page = String::new();
    winners(&numbers, &mut page);
    let expected = "<b>b</b> is best: 50.0 % less than a (95 % interval -50.0 to -50.0 %, better with 6 of 6 seeds, p = 0.031, significant).";
    assert!(page.contains(expected), "{page}");
    let sizes: &[(&str, &[&str])] = &[("size", &["1MiB", "2MiB"])];
    // The first is better at the second point.
    let turned = |point: usize, variant, seed| value(0, (variant + point) % 2, seed);
    let record = planted::record(&["a", "b"], sizes, 1..=6, turned);
    let of = |variant| Wins {
        variant,
        points: 1,
        significant: 1,
    };
    assert_eq!(wins(&Numbers::of(&record, 0)), [of(0), of(1)]);
}

#[test]
fn bars_have_whiskers_and_a_dot_for_each_seed() {
    let sizes: &[(&str, &[&str])] = &[("size", &["1MiB", "2MiB"])];
    let record = planted::record(&["a", "b"], sizes, 1..=3, value);
    let numbers = Numbers::of(&record, 0);
    let groups = bars::groups(&numbers);
    assert_eq!(groups.len(), 2);
    let bar = &groups[1].bars[0];
    // In ms: 2 times 1.001, 1.002, 1.003, of which the median is the middle one.
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(bar.value.is_some_and(|value| near(value, 2.004)));
    let (least, greatest) = bar.spread.expect("three seeds");
    assert!(near(least, 2.002) && near(greatest, 2.006));
    assert_eq!(bar.seeds.len(), 3);
    let mut page = String::new();
    bars::section(&numbers, &mut page);
    // Dots of four bars, and one in the legend.
    assert_eq!(page.matches("\"dots\":[").count(), 4);
    assert!(page.contains("\"dots\":[2.002,2.004,2.006]"), "{page}");
    assert_eq!(page.matches("class=\"seed\"").count(), 1);
    assert!(page.contains("time (ms)") && page.contains("1: 2.002, 2: 2.004, 3: 2.006"));
}

#[test]
fn lines_are_logarithmic_over_factors_and_linear_over_steps() {
    let sizes: &[(&str, &[&str])] = &[("size", &["4MiB", "1MiB", "16MiB"])];
    let record = planted::record(&["a", "b"], sizes, 1..=1, value);
    let numbers = Numbers::of(&record, 0);
    let lines = lines::Lines::of(&numbers, 0).expect("numbers");
    assert!(lines.log && !lines.over_points);
    let points: Vec<(f64, f64)> = lines.each[1]
        .marks
        .iter()
        .map(|mark| (mark.x / 1_048_576.0, mark.value / 1e6))
        .collect();
    let expected = [(1.0, 1.001), (4.0, 0.5005), (16.0, 1.5015)];
    for (found, expected) in points.iter().zip(expected) {
        assert!((found.0 - expected.0).abs() < 1e-9, "{points:?}");
        assert!((found.1 - expected.1).abs() < 1e-9, "{points:?}");
    }
    let steps: &[(&str, &[&str])] = &[("spines", &["1", "2", "3"])];
    let record = planted::record(&["a"], steps, 1..=2, |point, _, _| point as f64);
    let lines = lines::Lines::of(&Numbers::of(&record, 0), 0).expect("numbers");
    assert!(!lines.log);
    let words: &[(&str, &[&str])] = &[("kind", &["ecmp", "spray"])];
    let record = planted::record(&["a"], words, 1..=2, |point, _, _| point as f64);
    assert_eq!(lines::Lines::of(&Numbers::of(&record, 0), 0), None);
}

#[test]
fn a_heat_map_has_a_cell_for_each_pair_of_values() {
    let axes: &[(&str, &[&str])] = &[("spines", &["2", "4"]), ("size", &["1MiB", "2MiB", "4MiB"])];
    let record = planted::record(&["a", "b"], axes, 1..=1, |point, variant, _| {
        (point + 10 * variant) as f64
    });
    let numbers = Numbers::of(&record, 0);
    let heat = heat::Heat::of(&numbers, 0, 1).expect("two axes");
    assert_eq!(heat.rows, ["2", "4"]);
    assert_eq!(heat.columns, ["1MiB", "2MiB", "4MiB"]);
    let points = [0, 3].map(|first| [first, first + 1, first + 2].map(Some).to_vec());
    assert_eq!(heat.points, points);
    assert_eq!(heat.ends, (0.0, 15.0));
    let mut page = String::new();
    heat::section(&numbers, 0, 1, &mut page);
    // A picture for each variant, with the same colours.
    assert_eq!(page.matches("{\"kind\":\"matrix\"").count(), 2);
    for values in ["[[0,1,2],[3,4,5]]", "[[10,11,12],[13,14,15]]"] {
        assert!(page.contains(&format!("\"values\":{values}")), "{page}");
    }
    assert_eq!(page.matches("\"low\":0,\"high\":15").count(), 2);
    assert!(
        page.contains("\"b\\nspines=4, size=4MiB\\n15 ns\""),
        "{page}"
    );
    // Two axes have a line for each variant and value of the other axis, too.
    let lines = lines::Lines::of(&numbers, 1).expect("numbers");
    let names: Vec<&str> = lines.each.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(
        names,
        ["a, spines=2", "a, spines=4", "b, spines=2", "b, spines=4"]
    );
}

#[test]
fn parallel_coordinates_have_a_line_for_each_point_and_the_best_on_top() {
    let axes: &[(&str, &[&str])] = &[
        ("spines", &["2", "4"]),
        ("size", &["1MiB", "4MiB", "16MiB"]),
        ("kind", &["x", "y"]),
    ];
    let record = planted::record(&["a"], axes, 1..=1, |point, _, _| 10.0 + point as f64);
    let numbers = Numbers::of(&record, 0);
    let parallel = parallel::Parallel::of(&numbers).expect("three axes");
    assert_eq!(parallel.axes.len(), 4);
    assert_eq!(parallel.lines.len(), 12);
    let (worst, best) = (&parallel.lines[0], &parallel.lines[11]);
    assert_eq!((worst.point, best.point), (11, 0));
    assert_eq!(best.places, [0.0, 0.0, 0.0, 0.0]);
    assert_eq!(worst.places, [1.0, 1.0, 1.0, 1.0]);
    // 4 MiB is in the middle of 1 and 16 MiB by factors: point 2 is 2 spines, 4 MiB, x.
    let middle = parallel.lines.iter().find(|line| line.point == 2);
    let middle = middle.expect("all points have lines");
    assert!((middle.places[1] - 0.5).abs() < 1e-12);
    let two: &[(&str, &[&str])] = &axes[..2];
    let record = planted::record(&["a"], two, 1..=1, value);
    assert_eq!(parallel::Parallel::of(&Numbers::of(&record, 0)), None);
}

#[test]
fn a_page_is_one_file_and_escapes_what_users_name() {
    let axes: &[(&str, &[&str])] = &[("<axis>", &["1", "2"])];
    let record = planted::record(&["a\"<b>", "c"], axes, 1..=2, value);
    let named = NamedRecord {
        name: "<folder>".to_owned(),
        record,
    };
    let page = html_sweep_report(&[named], &[], &[]);
    let (page, _) = page.split_once("<div id=\"tip\"").expect("a script");
    assert!(!page.contains("<axis>") && !page.contains("<folder>"));
    assert!(!page.contains("a\"<b>") && page.contains("a&quot;&lt;b&gt;"));
    assert!(page.contains("Content-Security-Policy") && !page.contains("NaN"));
    assert!(page.contains("<h3>Over &lt;axis&gt;</h3>"));
}

#[test]
fn published_values_are_beside_the_measured_ones() {
    use serde_json::{from_value, json};
    let record = planted::record(&["a", "c"], &[], 1..=2, value);
    let named = NamedRecord {
        name: "sweep".to_owned(),
        record,
    };
    let row = |metric: &str, gate: &str, published: Option<f64>, verdict: &str| {
        json!({
            "case": "", "metric": metric, "variant": "a", "published": published, "origin": "own",
            "measured": 2.5, "statistic": null, "spread": null, "band": [1.0, 2.0],
            "gate": gate, "verdict": verdict,
        })
    };
    let rows = [
        row("judged", "required", None, "miss"),
        row("shown", "info", Some(7.25), "info"),
        row("plain", "info", None, "info"),
    ];
    let answer = StudyAnswer {
        cases: from_value(json!(rows)).expect("rows"),
        ..StudyAnswer::default()
    };
    let page = html_sweep_report(&[named], &[], &[Some(answer)]);
    for expected in [
        "1 required missed",
        "Published and measured",
        "7.25",
        "✗ miss",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains("<td>plain</td>"));
}
