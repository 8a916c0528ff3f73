//! Guesses the length of a period from repetitions in what one host sends.

use tenter_language::units::Time;

use super::log::Departure;

/// Fewest frames from which a period is guessed.
const FRAMES_MIN: usize = 16;

/// Returns the time after which a host's frames repeat: the shortest one that fits the whole log
/// without its first quarter, and twice at least.
pub(super) fn shortest(departures: &[Departure]) -> Option<Time> {
    // The first quarter may belong to the beginning of transfers.
    let late = &departures[departures.len() / 4..];
    if late.len() < FRAMES_MIN {
        return None;
    }
    let gap = |index: usize| (late[index].0 - late[index - 1].0, late[index].1);
    let repeats = |period: usize| {
        let mut places = period + 1..late.len();
        places.all(|place| gap(place) == gap(place - period))
    };
    // Up to half of the log, so that at least two periods are seen.
    let frames = (1..late.len() / 2).find(|&period| repeats(period))?;
    Some(late[frames].0 - late[0].0)
}

#[cfg(test)]
mod tests {
    use super::shortest;
    use tenter_language::units::{Instant, Time};

    #[test]
    fn messages_of_four_frames_repeat_after_four() {
        let mut departures = Vec::new();
        let mut at = Instant::from_ps(777);
        for frame in 0..40 {
            departures.push((at, u32::from(frame % 4 == 0)));
            at += Time::from_ps(if frame % 4 == 0 { 110 } else { 100 });
        }
        assert_eq!(shortest(&departures), Some(Time::from_ps(410)));
        assert_eq!(shortest(&departures[..12]), None);
        departures[30].0 += Time::from_ps(1);
        assert_eq!(shortest(&departures), None);
    }
}
