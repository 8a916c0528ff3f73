//! Assignment of recordings to ranks.

use crate::error::{ImportError, Place};
use crate::limits::{self, DECLARED_MAX};
use crate::trace::Repeats;

/// A recording's own statements about its rank and its job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) file: String,
    pub(crate) rank: Option<u32>,
    /// Ranks that took part in the recorded job.
    pub(crate) world: Option<u32>,
    /// Place for messages about the recording in general.
    pub(crate) at: Place,
    /// File length in bytes, as stored.
    pub(crate) stored: usize,
}

/// A job's ranks, with the recording for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrangement {
    pub(crate) ranks: u32,
    pub(crate) repeats: Repeats,
    /// Indices into the list of recordings, by rank.
    pub(crate) recordings: Vec<usize>,
    /// True if the scenario gives the rank count, or each rank has a file.
    pub(crate) is_given: bool,
    /// The first recording's place for messages, and its stored bytes.
    at: Place,
    stored: usize,
}

impl Arrangement {
    /// Assigns recordings, which are in file order, to ranks; `asked` is the scenario's rank count.
    ///
    /// # Errors
    /// No recordings, another number than asked for, and two for one rank.
    pub(crate) fn of(heads: &[Head], asked: Option<u32>) -> Result<Arrangement, ImportError> {
        let [first, ..] = heads else {
            return Err(ImportError::nothing("give a file for each rank"));
        };
        let wrong = |what: String, remedy: &str| {
            let error = ImportError::new(first.at, what, remedy);
            Err(error.in_file(&first.file))
        };
        let files = heads.len() as u32;
        if files == 1 {
            let Some(ranks) = asked.or(first.world) else {
                let what = "nothing says how many ranks there are".to_owned();
                return wrong(what, "give `ranks`, or the files of all ranks");
            };
            if asked.is_none() && ranks > DECLARED_MAX {
                let what = format!("it says that {ranks} ranks ran");
                return wrong(what, "give `ranks`, if there are so many");
            }
            return Ok(Arrangement {
                ranks,
                repeats: first.rank.map_or(Repeats::Unknown, Repeats::Of),
                recordings: vec![0; ranks as usize],
                is_given: asked.is_some(),
                at: first.at,
                stored: first.stored,
            });
        }
        if asked.is_some_and(|asked| asked != files) {
            let what = format!(
                "there are {files} files, and `ranks` is {}",
                asked.unwrap_or(0)
            );
            return wrong(
                what,
                "leave `ranks` out, or give the file of one rank alone",
            );
        }
        let mut recordings: Vec<usize> = (0..heads.len()).collect();
        // Guess: files that name no rank are in rank order.
        if heads.iter().all(|head| head.rank.is_some()) {
            recordings.sort_by_key(|&place| heads[place].rank);
            // Sorted ranks must be 0, 1, 2 …: the first that differs is missing or there twice.
            let ordered = recordings.iter().map(|&place| heads[place].rank);
            if let Some((number, found)) = (0..).zip(ordered).find(|(rank, of)| Some(*rank) != *of)
            {
                let found = found.unwrap_or(0);
                let what = format!(
                    "there are {files} files, and the one of rank {number} is that of rank {found}"
                );
                return wrong(what, "give a file for each rank, and each once");
            }
        }
        Ok(Arrangement {
            ranks: files,
            repeats: Repeats::No,
            recordings,
            is_given: true,
            at: first.at,
            stored: first.stored,
        })
    }

    /// Refuses a recording with `operations` operations that a number in the file repeats for too
    /// many ranks.
    ///
    /// # Errors
    /// Errors from [`limits::repeated`].
    pub(crate) fn check(&self, operations: usize) -> Result<(), ImportError> {
        let all = (operations as u64).saturating_mul(self.ranks.into());
        if self.is_given {
            return Ok(());
        }
        limits::repeated(all, self.stored, self.ranks, self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(rank: Option<u32>, world: Option<u32>) -> Head {
        Head {
            file: "trace".to_owned(),
            rank,
            world,
            at: Place::Json,
            stored: 100,
        }
    }

    #[test]
    fn recordings_are_put_in_the_order_of_ranks() {
        let of = |heads: &[Head], asked| {
            let found = Arrangement::of(heads, asked).map_err(|error| error.to_string());
            found.map(|of| (of.ranks, of.repeats, of.recordings))
        };
        let two = [head(Some(1), Some(2)), head(Some(0), Some(2))];
        assert_eq!(of(&two, None), Ok((2, Repeats::No, vec![1, 0])));
        let one = [head(Some(1), Some(4))];
        assert_eq!(of(&one, None), Ok((4, Repeats::Of(1), vec![0; 4])));
        assert_eq!(of(&one, Some(2)), Ok((2, Repeats::Of(1), vec![0; 2])));
        let without = [head(None, None), head(None, None)];
        assert_eq!(of(&without, None), Ok((2, Repeats::No, vec![0, 1])));
        for (heads, asked, what) in [
            (
                &[head(None, Some(1 << 17))][..],
                None,
                "in the JSON: it says that",
            ),
            (&[head(None, None)][..], None, "how many ranks"),
            (
                &[head(Some(1), None), head(Some(1), None)][..],
                None,
                "rank 0",
            ),
            (&without[..], Some(3), "2 files"),
            (&[][..], None, "nothing in it"),
        ] {
            let error = of(heads, asked).expect_err(what);
            assert!(error.contains(what) && error.contains("; "), "{error}");
        }
    }
}
