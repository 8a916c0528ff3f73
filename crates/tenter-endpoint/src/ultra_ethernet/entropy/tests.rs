use tenter_units::{Instant, Time};

use super::{Choices, Draws, EntropyKind, EntropySpec, PathNews, Sent};

fn spec(kind: EntropyKind) -> EntropySpec {
    EntropySpec { kind, values: 8 }
}

const NOW: Instant = Instant::from_ps(1_000);

#[test]
fn every_value_has_its_turn_in_each_round() {
    for kind in [EntropyKind::Oblivious, EntropyKind::Bitmap] {
        let mut draws = Draws::new(7);
        let mut choice = spec(kind).start(&mut draws);
        for _ in 0..5 {
            let mut round: Vec<u16> = (0..8).map(|_| choice.next(&mut draws)).collect();
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }
}

#[test]
fn a_value_with_a_penalty_is_passed_over_until_it_is_forgiven() {
    let mut draws = Draws::new(7);
    let mut choice = spec(EntropyKind::Bitmap).start(&mut draws);
    choice.hear(3, PathNews::Trimmed, NOW);
    // Each time it is passed over it loses one of its four.
    let taken: Vec<u16> = (0..4 * 7).map(|_| choice.next(&mut draws)).collect();
    assert!(!taken.contains(&3));
    let taken: Vec<u16> = (0..8).map(|_| choice.next(&mut draws)).collect();
    assert!(taken.contains(&3));
}

#[test]
fn news_of_a_path_is_about_its_plane() {
    let mut draws = Draws::new(7);
    let mut choices = Choices::start(spec(EntropyKind::Bitmap), 2, &mut draws);
    let bad = Sent { value: 3, plane: 1 };
    choices.hear(bad, PathNews::TimedOut, NOW);
    let mut taken = |plane| -> Vec<Sent> {
        let values = (0..8).map(|_| choices.next(plane, &mut draws));
        values.collect()
    };
    let (first, second) = (taken(0), taken(1));
    assert!(first.contains(&Sent { value: 3, plane: 0 }));
    assert!(!second.contains(&bad));
    assert!(second.iter().all(|sent| sent.plane == 1));
}

#[test]
fn what_was_good_is_used_again_once() {
    for kind in [EntropyKind::Reps, EntropyKind::Mixed] {
        let mut draws = Draws::new(7);
        let mut choice = spec(kind).start(&mut draws);
        choice.hear(5, PathNews::Good, NOW);
        choice.hear(2, PathNews::Marked, NOW);
        choice.hear(6, PathNews::Good, NOW);
        assert_eq!([choice.next(&mut draws), choice.next(&mut draws)], [5, 6]);
    }
}

#[test]
fn frozen_recycling_stays_with_what_was_good() {
    let mut draws = Draws::new(7);
    let mut choice = spec(EntropyKind::Reps).start(&mut draws);
    for value in [5, 6, 1] {
        choice.hear(value, PathNews::Good, NOW);
    }
    choice.hear(2, PathNews::TimedOut, NOW);
    let taken: Vec<u16> = (0..6).map(|_| choice.next(&mut draws)).collect();
    assert_eq!(taken, [5, 6, 1, 5, 6, 1]);
    // After 10 ms it explores, and recycles anew.
    let later = NOW + Time::from_us(10_001);
    choice.hear(4, PathNews::Good, later);
    let explored: Vec<u16> = (0..16).map(|_| choice.next(&mut draws)).collect();
    assert!(explored.iter().any(|value| ![5, 6, 1].contains(value)));
    assert_eq!(choice.next(&mut draws), 4);
}
