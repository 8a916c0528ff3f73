//! Lists a workspace's trials.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params_from_iter};

use super::trial::{Headline, SweptPlace, TrialState, WorkspaceTrial};
use super::{Workspace, unknown};
use crate::Error;
use crate::sweep::ledger::broken;

/// Filter, order and page of a list; conditions must hold together.
#[derive(Clone, Debug, Default)]
pub struct TrialQuery {
    /// Text that name, note, fabric, collective, digest or a tag must contain, whatever its case;
    /// empty accepts all.
    pub search: String,
    /// Tag that the trial must have.
    pub tag: Option<String>,
    /// State that the trial must be in.
    pub state: Option<TrialState>,
    /// Sort key.
    pub order_by: TrialOrderKey,
    /// With `true`, the greatest key comes first.
    pub descending: bool,
    /// Trials to skip, for paging.
    pub offset: usize,
    /// Most trials to return; `None` returns all.
    pub limit: Option<usize>,
}

/// Sort key for a list; trials without a value come last in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrialOrderKey {
    /// Time at which the trial was queued or found.
    #[default]
    Created,
    /// Time at which the trial ended.
    Ended,
    /// Name, ignoring case.
    Name,
    /// State, by its word.
    State,
    /// Fabric in one line, ignoring case.
    Fabric,
    /// NICs in the fabric.
    Hosts,
    /// Jobs in the scenario.
    Jobs,
    /// Longest completion time among the measured jobs.
    Jct,
    /// Lowest share of the ideal among measured collectives.
    Ideal,
    /// Algorithm bandwidth in the headline.
    Algbw,
    /// Bus bandwidth in the headline.
    Busbw,
    /// Wall time that the simulation took.
    Wall,
}

impl TrialOrderKey {
    /// All sort keys.
    pub const ALL: [TrialOrderKey; 12] = [
        TrialOrderKey::Created,
        TrialOrderKey::Ended,
        TrialOrderKey::Name,
        TrialOrderKey::State,
        TrialOrderKey::Fabric,
        TrialOrderKey::Hosts,
        TrialOrderKey::Jobs,
        TrialOrderKey::Jct,
        TrialOrderKey::Ideal,
        TrialOrderKey::Algbw,
        TrialOrderKey::Busbw,
        TrialOrderKey::Wall,
    ];

    /// Word for the key in the server's requests, which is also the ledger's column.
    pub fn word(self) -> &'static str {
        match self {
            TrialOrderKey::Created => "created",
            TrialOrderKey::Ended => "ended",
            TrialOrderKey::Name => "name",
            TrialOrderKey::State => "state",
            TrialOrderKey::Fabric => "fabric",
            TrialOrderKey::Hosts => "hosts",
            TrialOrderKey::Jobs => "jobs",
            TrialOrderKey::Jct => "jct_ns",
            TrialOrderKey::Ideal => "ideal_percent",
            TrialOrderKey::Algbw => "algbw_gbytes_per_s",
            TrialOrderKey::Busbw => "busbw_gbytes_per_s",
            TrialOrderKey::Wall => "wall_s",
        }
    }

    /// Returns the key for a [word](TrialOrderKey::word).
    pub fn of_word(word: &str) -> Option<TrialOrderKey> {
        TrialOrderKey::ALL
            .into_iter()
            .find(|key| key.word() == word)
    }
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialList {
    /// Trials that fit the query, on all pages.
    pub total: usize,
    /// Trials on this page.
    pub trials: Vec<WorkspaceTrial>,
}

const COLUMNS: &str = "id, name, state, created, started, ended, error, folder, fabric, hosts,
    jobs, jct_ns, headline, ideal_percent, algbw_gbytes_per_s, busbw_gbytes_per_s, digest, seed,
    wall_s, ideals,
    (SELECT group_concat(tag, char(31)) FROM workspace_tags WHERE trial = id),
    (SELECT json_array(sweep, variant, point, json(readings))
        FROM workspace_swept WHERE trial = id), jct_job";

impl Workspace {
    /// Lists the trials that fit a query.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn trials(&self, query: &TrialQuery) -> Result<TrialList, Error> {
        let (condition, values) = condition(query);
        let key = query.order_by.word();
        let direction = if query.descending { "DESC" } else { "ASC" };
        let collation = match query.order_by {
            TrialOrderKey::Name | TrialOrderKey::Fabric => "COLLATE NOCASE",
            _ => "",
        };
        // For `SQLite` a negative limit is none.
        let limit = query
            .limit
            .map_or(-1, |limit| i64::try_from(limit).unwrap_or(-1));
        // The inner query finds the page by its key alone; tags and other columns are looked up for
        // that page. `created` is never missing, and without the test for NULL its index gives the
        // order.
        let missing_last = if query.order_by == TrialOrderKey::Created {
            String::new()
        } else {
            format!("{key} IS NULL,")
        };
        let order =
            format!("ORDER BY {missing_last} {key} {collation} {direction}, id {direction}");
        let page = format!(
            "SELECT {COLUMNS} FROM workspace_trials WHERE id IN (
                SELECT id FROM workspace_trials {condition} {order}
                LIMIT {limit} OFFSET {}
            ) {order}",
            query.offset.min(i64::MAX as usize)
        );
        let count = format!("SELECT count(*) FROM workspace_trials {condition}");
        let ledger = self.ledger();
        let all = || -> rusqlite::Result<TrialList> {
            let connection = ledger.connection();
            let total: i64 =
                connection.query_row(&count, params_from_iter(&values), |row| row.get(0))?;
            let mut statement = connection.prepare(&page)?;
            let rows = statement.query_map(params_from_iter(&values), |row| self.trial_of(row))?;
            Ok(TrialList {
                total: usize::try_from(total).unwrap_or(0),
                trials: rows.collect::<Result<_, _>>()?,
            })
        };
        all().map_err(broken)
    }

    /// Returns a trial by its number.
    ///
    /// # Errors
    /// When there is no such trial, or the ledger cannot be read.
    pub fn trial(&self, id: i64) -> Result<WorkspaceTrial, Error> {
        let text = format!("SELECT {COLUMNS} FROM workspace_trials WHERE id = ?1");
        let ledger = self.ledger();
        let found = ledger
            .connection()
            .query_row(&text, [id], |row| self.trial_of(row))
            .optional();
        found.map_err(broken)?.ok_or_else(|| unknown(id))
    }

    /// Returns a trial by its number, or else by its name.
    ///
    /// # Errors
    /// When there is none, or several have the name.
    pub fn find_trial(&self, named: &str) -> Result<WorkspaceTrial, Error> {
        if let Ok(id) = named.parse() {
            return self.trial(id);
        }
        let ledger = self.ledger();
        let all = || -> rusqlite::Result<Vec<i64>> {
            let text = "SELECT id FROM workspace_trials WHERE name = ?1 ORDER BY id";
            let mut statement = ledger.connection().prepare(text)?;
            statement.query_map([named], |row| row.get(0))?.collect()
        };
        let found = all().map_err(broken)?;
        drop(ledger);
        match found.as_slice() {
            [] => Err(Error::Asked(format!(
                "there is no trial `{named}`; `tenter trials list` names those that there are"
            ))),
            [id] => self.trial(*id),
            several => Err(Error::Asked(format!(
                "{} trials are called `{named}`; name one by its number: {}",
                several.len(),
                several
                    .iter()
                    .map(i64::to_string)
                    .collect::<Vec<_>>()
                    .join(", ")
            ))),
        }
    }

    /// Lists all tags, each with a count of the trials that have it.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn tags(&self) -> Result<Vec<(String, u64)>, Error> {
        let ledger = self.ledger();
        let all = || -> rusqlite::Result<Vec<(String, u64)>> {
            let text = "SELECT tag, count(*) FROM workspace_tags GROUP BY tag ORDER BY tag";
            let mut statement = ledger.connection().prepare(text)?;
            let rows = statement.query_map([], |row| {
                Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
            })?;
            rows.collect()
        };
        all().map_err(broken)
    }

    fn trial_of(&self, row: &Row<'_>) -> rusqlite::Result<WorkspaceTrial> {
        let count = |index| -> rusqlite::Result<Option<u64>> {
            Ok(row.get::<_, Option<i64>>(index)?.map(i64::unsigned_abs))
        };
        let state: String = row.get(2)?;
        let folder: Option<String> = row.get(7)?;
        let seed: Option<String> = row.get(17)?;
        let ideals: Option<String> = row.get(19)?;
        let tags: Option<String> = row.get(20)?;
        // Names and tags may have any visible character, but not U+001F, which separates them in
        // `COLUMNS`.
        let mut tags: Vec<String> = tags
            .map(|tags| tags.split('\u{1f}').map(str::to_owned).collect())
            .unwrap_or_default();
        tags.sort_unstable();
        let swept: Option<String> = row.get(21)?;
        let (sweep, place) = swept.and_then(|text| place_of(&text)).unzip();
        let (folder, refused) = self.folder_of(folder.as_deref());
        let error: Option<String> = row.get(6)?;
        Ok(WorkspaceTrial {
            id: row.get(0)?,
            name: row.get(1)?,
            // The ledger has no other words.
            state: TrialState::of_word(&state).unwrap_or(TrialState::Failed),
            tags,
            created: row.get(3)?,
            started: row.get(4)?,
            ended: row.get(5)?,
            error: refused.or(error),
            folder,
            sweep,
            place,
            headline: Headline {
                fabric: row.get(8)?,
                hosts: count(9)?,
                jobs: count(10)?,
                jct_ns: row.get(11)?,
                jct_job: row
                    .get::<_, Option<String>>(22)?
                    .filter(|job| !job.is_empty()),
                collective: row.get(12)?,
                ideal_percent: row.get(13)?,
                algbw_gbytes_per_s: row.get(14)?,
                busbw_gbytes_per_s: row.get(15)?,
                digest: row.get(16)?,
                seed: seed.and_then(|seed| seed.parse().ok()),
                wall_s: row.get(18)?,
                ideals: ideals
                    .and_then(|ideals| serde_json::from_str(&ideals).ok())
                    .unwrap_or_default(),
            },
        })
    }
}

/// Parses a sweep's number with a trial's place in it.
fn place_of(text: &str) -> Option<(i64, SweptPlace)> {
    type Swept = (i64, usize, usize, Option<Vec<Option<f64>>>);
    let (sweep, variant, point, readings): Swept = serde_json::from_str(text).ok()?;
    let readings = readings.unwrap_or_default();
    Some((
        sweep,
        SweptPlace {
            variant,
            point,
            readings,
        },
    ))
}

/// Builds a query's WHERE clause, and the values for its parameters.
fn condition(query: &TrialQuery) -> (String, Vec<Value>) {
    let (mut parts, mut values) = (Vec::new(), Vec::new());
    let search = query.search.trim();
    if !search.is_empty() {
        // `%` and `_` are wildcards of LIKE, and people mean the characters.
        let escaped = search
            .replace('\\', "\\\\")
            .replace('%', "\\%")
            .replace('_', "\\_");
        values.push(Value::Text(format!("%{escaped}%")));
        let like = "LIKE ?1 ESCAPE '\\'";
        parts.push(format!(
            "(name {like} OR note {like} OR fabric {like} OR headline {like} OR digest {like}
            OR EXISTS (SELECT 1 FROM workspace_tags WHERE trial = id AND tag {like}))"
        ));
    }
    if let Some(tag) = &query.tag {
        values.push(Value::Text(tag.clone()));
        parts.push(format!(
            "EXISTS (SELECT 1 FROM workspace_tags WHERE trial = id AND tag = ?{})",
            values.len()
        ));
    }
    if let Some(state) = query.state {
        values.push(Value::Text(state.word().to_owned()));
        parts.push(format!("state = ?{}", values.len()));
    }
    if parts.is_empty() {
        (String::new(), values)
    } else {
        (format!("WHERE {}", parts.join(" AND ")), values)
    }
}
