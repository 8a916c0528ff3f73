//! Sizes as in nccl-tests: their notation, their sequence, and the bytes that ranks get from each.

use super::collectives::Share;

/// Bytes that a rank's share is a multiple of, if each rank has a share.
const ALIGNMENT: u64 = 16;
/// Most rows in a table: more than anyone reads.
const ROWS_MAX: usize = 10_000;

/// Parses a size: a number, with `K`, `M` or `G` for powers of 1024.
///
/// Source: `parsesize` of NVIDIA/nccl-tests. `KiB`, `MiB` and `GiB` are accepted too; `KB` and the
/// like are rejected, since people take them for powers of 1000.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let power = match unit {
        "" | "B" => 0,
        "k" | "K" | "Ki" | "KiB" => 1,
        "m" | "M" | "Mi" | "MiB" => 2,
        "g" | "G" | "Gi" | "GiB" => 3,
        "t" | "T" | "Ti" | "TiB" => 4,
        _ => {
            return Err("write a number with K, M or G (powers of 1024), such as 16M".to_owned());
        }
    };
    let bytes = number
        .parse::<f64>()
        .map(|number| number * 1024_f64.powi(power));
    match bytes {
        // Up to 1 TiB a float holds every whole byte exactly.
        Ok(bytes) if (1.0..=(1_u64 << 40) as f64).contains(&bytes) => Ok(bytes as u64),
        Ok(_) => Err("give a size from 1 byte to 1T".to_owned()),
        Err(_) => Err("write a number with K, M or G (powers of 1024), such as 16M".to_owned()),
    }
}

/// Step from one size to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Factor(u64),
    Bytes(u64),
}

/// Returns the sizes from `min` to `max`.
pub(super) fn scan(min: u64, max: u64, step: Step) -> Result<Vec<u64>, String> {
    if max < min {
        return Err(format!(
            "sizes go from {min} bytes (-b) to {max} bytes (-e), which is less; swap them, or raise -e"
        ));
    }
    let next = |&size: &u64| {
        let next = match step {
            Step::Factor(factor) => size.checked_mul(factor)?,
            Step::Bytes(bytes) => size.checked_add(bytes)?,
        };
        (next <= max).then_some(next)
    };
    // One more than allowed is enough to tell that there are too many.
    let sizes: Vec<u64> = std::iter::successors(Some(min), next)
        .take(ROWS_MAX + 1)
        .collect();
    if sizes.len() > ROWS_MAX {
        return Err(format!(
            "this makes more than {ROWS_MAX} sizes; give a larger step (-i), or a factor (-f 2)"
        ));
    }
    Ok(sizes)
}

/// A size as it is run: the whole buffer's bytes, and elements per rank as nccl-tests counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sized {
    pub(super) bytes: u64,
    pub(super) count: u64,
}

/// Rounds a size as nccl-tests does: to whole elements and, if each rank has a share, to shares of
/// whole 16 bytes. The result may be 0.
///
/// Source: the `*GetCollByteCount` functions of NVIDIA/nccl-tests.
pub(super) fn cut(size: u64, share: Share, ranks: u32, element_bytes: u64) -> Sized {
    let elements = size / element_bytes;
    match share {
        Share::Whole => Sized {
            bytes: elements * element_bytes,
            count: elements,
        },
        Share::PerRank => {
            let ranks = u64::from(ranks);
            // In elements: every element type divides 16 bytes.
            let whole = ALIGNMENT / element_bytes;
            let count = elements / ranks / whole * whole;
            Sized {
                bytes: count * ranks * element_bytes,
                count,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        let cases = [
            ("8", 8),
            ("16M", 16 << 20),
            ("1G", 1 << 30),
            ("1.5k", 1536),
            ("2GiB", 2 << 30),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "M", "-1", "1MB", "1e9", "0", "2T", "1..5", "16 M"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_follow_each_other() {
        assert_eq!(scan(8, 40, Step::Factor(2)), Ok(vec![8, 16, 32]));
        assert_eq!(scan(8, 12, Step::Bytes(2)), Ok(vec![8, 10, 12]));
        assert_eq!(scan(8, 8, Step::Bytes(1 << 20)), Ok(vec![8]));
        assert!(scan(9, 8, Step::Factor(2)).is_err());
        assert!(scan(1, 1 << 20, Step::Bytes(1)).is_err());
    }

    #[test]
    fn shares_are_whole_elements_and_whole_lines() {
        let cut = |size, share, element| {
            let Sized { bytes, count } = cut(size, share, 64, element);
            (bytes, count)
        };
        assert_eq!(cut(8, Share::Whole, 4), (8, 2));
        assert_eq!(cut(7, Share::Whole, 4), (4, 1));
        // 8 bytes among 64 ranks are nothing, and so are 1,008: less than 16 bytes for each.
        assert_eq!(cut(8, Share::PerRank, 4), (0, 0));
        assert_eq!(cut(1_008, Share::PerRank, 4), (0, 0));
        assert_eq!(cut(1_024, Share::PerRank, 4), (1_024, 4));
        // 31 bytes for each rank are one line of 16 single bytes.
        assert_eq!(cut(64 * 31, Share::PerRank, 1), (1_024, 16));
    }
}
