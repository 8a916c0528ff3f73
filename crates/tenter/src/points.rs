//! Grid folders: a folder for each point, and a file that lists their settings.

use std::fs::{self, File};
use std::path::Path;

use crate::report::{take_folder, takes_seeds, write_whole};
use serde_json::json;

use crate::Error;

/// File that lists each point's folder and settings.
const FILE: &str = "points.json";

/// Names the folder for point `number`, which counts from 0; folders count from 1.
pub(crate) fn name(number: usize) -> String {
    format!("point-{}", number + 1)
}

/// Takes and locks a grid's folder, which must be missing, empty, or a grid's already. Writes the
/// list of points, and removes surplus points that a larger grid has left.
pub(crate) fn begin(folder: &Path, grid: &[Vec<(String, String)>]) -> Result<Option<File>, Error> {
    if !is_free(folder) {
        return Err(Error::Asked(format!(
            "{} holds something else than the points of a grid; name another folder, or an empty one",
            folder.display()
        )));
    }
    let lock = take_folder(folder)?;
    // Points are numbered without gaps, so the first number without one ends the search.
    let mut surplus = grid.len();
    loop {
        let point = folder.join(name(surplus));
        if !point.is_dir() || !takes_seeds(&point)? {
            break;
        }
        // Another process may be running trials of this point.
        let _lock = take_folder(&point)?;
        fs::remove_dir_all(&point).map_err(|error| not_removed(&point, &error))?;
        surplus += 1;
    }
    let point = |(number, settings): (usize, &Vec<(String, String)>)| {
        let settings = settings
            .iter()
            .map(|(path, value)| (path.clone(), json!(value)));
        let settings: serde_json::Map<_, _> = settings.collect();
        json!({"folder": name(number), "settings": settings})
    };
    let points: Vec<_> = grid.iter().enumerate().map(point).collect();
    let text = format!("{:#}\n", json!({ "points": points }));
    write_whole(&folder.join(FILE), &text)?;
    Ok(lock)
}

/// True if the folder is missing, empty, or a grid's.
fn is_free(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else {
        // A folder that cannot be read is made later, or that fails with a better message.
        return true;
    };
    entries.next().is_none() || folder.join(FILE).is_file()
}

fn not_removed(folder: &Path, error: &std::io::Error) -> Error {
    Error::Asked(format!(
        "cannot remove {}, a point of an older grid: {error}; name another folder",
        folder.display()
    ))
}
