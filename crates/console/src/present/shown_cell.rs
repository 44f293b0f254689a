//! A cell on a page.

use super::shown_bytes::ShownBytes;
use super::time::{ShownTime, countdown, date_of_seconds};
use base::marshal::{AbstractType, CqlType, Native};
use base::model::{Cell, CellKind};
use base::schema::CfDef;
use db::{Database, type_of_value};

/// Whether reads return a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Live,
    /// Live, and expires later.
    Expiring,
    Counter,
    /// A tombstone.
    Deleted,
    /// Its time to live is over.
    Expired,
    /// A deletion of the row, of the super column or of a range hides it.
    Shadowed,
}

impl Standing {
    /// Returns whether reads return the cell.
    pub(crate) fn is_live(self) -> bool {
        matches!(self, Standing::Live | Standing::Expiring | Standing::Counter)
    }

    /// Returns the word that pages show.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Standing::Live => "live",
            Standing::Expiring => "expires",
            Standing::Counter => "counter",
            Standing::Deleted => "deleted",
            Standing::Expired => "expired",
            Standing::Shadowed => "hidden by a deletion",
        }
    }
}

/// The parts of a cell, and the context in which it is shown.
pub(crate) struct CellParts<'a> {
    pub database: &'a Database,
    pub cf: &'a CfDef,
    /// The comparator of its name.
    pub names: &'a dyn AbstractType,
    /// Whether a deletion hides it.
    pub is_shadowed: bool,
}

/// A cell as a page shows it. `present/macros.html` has the HTML.
#[derive(Debug, Clone)]
pub(crate) struct ShownCell {
    /// The id of the cell's element on the page.
    pub anchor: String,
    pub name: ShownBytes,
    /// `None` in a tombstone.
    pub value: Option<ShownBytes>,
    pub standing: Standing,
    pub time: ShownTime,
    /// When it expires, in seconds since 1970, if it has not expired.
    pub expires_at_s: Option<i32>,
    /// The time that is left until then.
    pub left: String,
    /// When it expires, expired or was deleted; empty for other cells.
    pub until: String,
}

impl ShownCell {
    pub(crate) fn of(parts: &CellParts<'_>, cell: &Cell, anchor: String) -> ShownCell {
        let CellParts { database, cf, names, is_shadowed } = *parts;
        let now_s = database.now_s();
        let (standing, until) = match cell.kind {
            CellKind::Live => (Standing::Live, String::new()),
            CellKind::Counter | CellKind::Increment => (Standing::Counter, String::new()),
            CellKind::Expiring { ttl_s, expires_at_s } if expires_at_s > now_s => {
                (Standing::Expiring, format!("{} (TTL {ttl_s} s)", date_of_seconds(expires_at_s)))
            }
            CellKind::Expiring { ttl_s, expires_at_s } => {
                (Standing::Expired, format!("{} (TTL {ttl_s} s)", date_of_seconds(expires_at_s)))
            }
            CellKind::Deleted { local_deletion_time } => {
                (Standing::Deleted, date_of_seconds(local_deletion_time))
            }
        };
        let expires_at_s = match cell.kind {
            CellKind::Expiring { expires_at_s, .. } => Some(expires_at_s).filter(|at| *at > now_s),
            _ => None,
        };
        let left = expires_at_s.map(|at| countdown(i64::from(at) - i64::from(now_s)));
        let standing = if is_shadowed && standing.is_live() { Standing::Shadowed } else { standing };
        let types = database.types();
        let value = match cell.kind {
            CellKind::Deleted { .. } => None,
            CellKind::Counter | CellKind::Increment => {
                Some(ShownBytes::of_type(&CqlType::Native(Native::Counter), &cell.value))
            }
            _ => Some(ShownBytes::of(types, &*type_of_value(cf, &cell.name), &cell.value)),
        };
        ShownCell {
            anchor,
            name: ShownBytes::of(types, names, &cell.name),
            value,
            standing,
            time: ShownTime::of(cell.timestamp),
            expires_at_s,
            left: left.unwrap_or_default(),
            until,
        }
    }
}
