//! Names with Python's slices: `nic`, `nic[0]`, `nic[0:4]`, `nic[::-1]`.

use tenter_language::notation::diagnostics::quote;

use super::parts::Read;
use crate::error::{ImportError, Place};

/// Returns the name without its slice.
pub(super) fn name(word: &str) -> &str {
    word.split_once('[').map_or(word, |(name, _)| name).trim()
}

/// Returns the indices that the slice selects among `count` items.
pub(super) fn indexes(word: &str, count: u32, at: Place) -> Read<Vec<u32>> {
    let Some((_, slice)) = word.split_once('[') else {
        return Ok((0..count).collect());
    };
    let wrong = |what: String| {
        let remedy = format!(
            "give an index from 0 to {}, or a slice `[0:2]`",
            i64::from(count) - 1
        );
        ImportError::new(at, what, remedy)
    };
    let Some(slice) = slice.strip_suffix(']') else {
        return Err(wrong(format!("{} is no name with a slice", quote(word))));
    };
    let count = i64::from(count);
    let parts: Result<Vec<Option<i64>>, _> = slice
        .split(':')
        .map(|part| match part.trim() {
            "" => Ok(None),
            // 32 bits suffice for any count, and sums with counts stay within 64.
            part => part.parse::<i32>().map(|number| Some(i64::from(number))),
        })
        .collect();
    let Ok(parts) = parts else {
        return Err(wrong(format!("{} has no whole numbers", quote(word))));
    };
    let (start, stop, step) = match parts[..] {
        [None] => (None, None, 1),
        [Some(one)] => {
            let index = if one < 0 { one + count } else { one };
            if !(0..count).contains(&index) {
                return Err(wrong(format!("there is no {}", quote(word))));
            }
            return Ok(vec![index as u32]);
        }
        [start, stop] => (start, stop, 1),
        [start, stop, step] => (start, stop, step.unwrap_or(1)),
        _ => return Err(wrong(format!("{} has too many colons", quote(word)))),
    };
    if step == 0 {
        return Err(wrong(format!("{} goes nowhere", quote(word))));
    }
    // Python clamps bounds to this range; backwards it ends at -1, in front of the first.
    let (lowest, highest) = if step > 0 {
        (0, count)
    } else {
        (-1, count - 1)
    };
    let bound = |bound: Option<i64>, otherwise: i64| {
        bound.map_or(otherwise, |bound| {
            let bound = if bound < 0 { bound + count } else { bound };
            bound.clamp(lowest, highest)
        })
    };
    let (first, last) = if step > 0 {
        (0, count)
    } else {
        (count - 1, -1)
    };
    let (mut index, stop) = (bound(start, first), bound(stop, last));
    let mut found = Vec::new();
    while (step > 0 && index < stop) || (step < 0 && index > stop) {
        found.push(index as u32);
        index += step;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_those_of_python() {
        let of = |word: &str| indexes(word, 5, Place::Line(1));
        for (word, expected) in [
            ("nic", vec![0, 1, 2, 3, 4]),
            ("nic[]", vec![0, 1, 2, 3, 4]),
            ("nic[3]", vec![3]),
            ("nic[-1]", vec![4]),
            ("nic[1:3]", vec![1, 2]),
            ("nic[3:]", vec![3, 4]),
            ("nic[:-3]", vec![0, 1]),
            ("nic[::2]", vec![0, 2, 4]),
            ("nic[4:0:-2]", vec![4, 2]),
            ("nic[::-1]", vec![4, 3, 2, 1, 0]),
            ("nic[2:99]", vec![2, 3, 4]),
            ("nic[3:1]", vec![]),
        ] {
            assert_eq!(of(word), Ok(expected), "{word}");
        }
        for word in [
            "nic[5]",
            "nic[-6]",
            "nic[a]",
            "nic[0",
            "nic[::0]",
            "nic[0:1:2:3]",
        ] {
            assert!(of(word).is_err(), "{word}");
        }
    }
}
