use tenter_language::units::{Instant, Time};

use super::{Choice, EntropyKind, PathNews, SplitMix};

/// A choice among eight values.
fn start(kind: EntropyKind, random: &mut SplitMix) -> Choice {
    kind.start(8, random)
}

const NOW: Instant = Instant::from_ps(1_000);

#[test]
fn every_value_has_its_turn_in_each_round() {
    for kind in [EntropyKind::Oblivious, EntropyKind::Bitmap] {
        let mut random = SplitMix::new(7);
        let mut choice = start(kind, &mut random);
        for _ in 0..5 {
            let mut round: Vec<u16> = (0..8).map(|_| choice.next(&mut random)).collect();
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }
}

#[test]
fn random_values_are_all_there_are() {
    let mut random = SplitMix::new(7);
    let mut choice = start(EntropyKind::Random, &mut random);
    let mut seen = [0_u32; 8];
    for _ in 0..8_000 {
        seen[usize::from(choice.next(&mut random))] += 1;
    }
    // 1,000 each, give or take 30.
    assert!(
        seen.iter().all(|&times| times.abs_diff(1_000) < 150),
        "{seen:?}"
    );
}

#[test]
fn losses_weigh_as_trims_and_freeze_nothing() {
    let mut random = SplitMix::new(7);
    let mut bitmap = start(EntropyKind::Bitmap, &mut random);
    bitmap.hear(3, PathNews::Lost, NOW);
    let taken: Vec<u16> = (0..4 * 7).map(|_| bitmap.next(&mut random)).collect();
    assert!(!taken.contains(&3));
    let mut reps = start(EntropyKind::Reps, &mut random);
    reps.hear(5, PathNews::Good, NOW);
    reps.hear(2, PathNews::Lost, NOW);
    assert_eq!(reps.next(&mut random), 5);
    // Frozen, it would be 5 for ever.
    let taken: Vec<u16> = (0..16).map(|_| reps.next(&mut random)).collect();
    assert!(taken.iter().any(|&value| value != 5), "{taken:?}");
}

#[test]
fn a_value_with_a_penalty_is_passed_over_until_it_is_forgiven() {
    let mut random = SplitMix::new(7);
    let mut choice = start(EntropyKind::Bitmap, &mut random);
    choice.hear(3, PathNews::Trimmed, NOW);
    // Each time it is passed over it loses one of its four.
    let taken: Vec<u16> = (0..4 * 7).map(|_| choice.next(&mut random)).collect();
    assert!(!taken.contains(&3));
    let taken: Vec<u16> = (0..8).map(|_| choice.next(&mut random)).collect();
    assert!(taken.contains(&3));
}

#[test]
fn what_was_good_is_used_again_once() {
    for kind in [EntropyKind::Reps, EntropyKind::Mixed] {
        let mut random = SplitMix::new(7);
        let mut choice = start(kind, &mut random);
        choice.hear(5, PathNews::Good, NOW);
        choice.hear(2, PathNews::Marked, NOW);
        choice.hear(6, PathNews::Good, NOW);
        assert_eq!([choice.next(&mut random), choice.next(&mut random)], [5, 6]);
    }
}

#[test]
fn frozen_recycling_stays_with_what_was_good() {
    let mut random = SplitMix::new(7);
    let mut choice = start(EntropyKind::Reps, &mut random);
    for value in [5, 6, 1] {
        choice.hear(value, PathNews::Good, NOW);
    }
    choice.hear(2, PathNews::TimedOut, NOW);
    let taken: Vec<u16> = (0..6).map(|_| choice.next(&mut random)).collect();
    assert_eq!(taken, [5, 6, 1, 5, 6, 1]);
    // After 10 ms it explores, and recycles anew.
    let later = NOW + Time::from_us(10_001);
    choice.hear(4, PathNews::Good, later);
    let explored: Vec<u16> = (0..16).map(|_| choice.next(&mut random)).collect();
    assert!(explored.iter().any(|value| ![5, 6, 1].contains(value)));
    assert_eq!(choice.next(&mut random), 4);
}
