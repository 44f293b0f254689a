//! The names that cells of 3.x have in older releases and in this server.
//!
//! ```text
//!   layout            row of 3.x                          names of cells
//!   CQL table         clustering (c, d), columns v, w     composite(c, d, "") the row marker, composite(c, d, "v"), ...
//!                     static column s                     static prefix, composite("", "", "s")
//!                     element e of the collection m       composite(c, d, "m", e)
//!   static compact    static columns a, b                 a, b
//!                     clustering (x), one column          x
//!   dense             clustering (x), one column          x
//!   composite dense   clustering (x, y), one column       composite(x, y)
//!   super             clustering (s), map x => value      x in the super column s
//! ```

use bytes::Bytes;

use super::super::atom::Atom;
use super::super::statistics::StoredColumn;
use base::marshal::{STATIC_PREFIX, push_component};
use base::model::{DeletionTime, RangeTombstone};
use base::schema::Layout;

/// The end of a bound that comes before, and after, all names that begin with it.
const BEFORE: u8 = 0xFF;
const AFTER: u8 = 0x01;

/// Where a row is in its partition.
#[derive(Debug, Clone)]
pub(super) enum RowPlace {
    /// The static row of a table with so many clustering columns.
    Static { clustering_columns: usize },
    /// The row with these clustering values. A null ends the name.
    Row(Vec<Option<Bytes>>),
}

/// A bound of a range tombstone.
#[derive(Debug, Clone)]
pub(super) struct ClusteringBound {
    /// The first clustering values; none if the range is open.
    pub values: Vec<Option<Bytes>>,
    /// Whether the rows with these values are in the range.
    pub is_inclusive: bool,
}

fn composite(parts: &[Option<Bytes>], end: u8) -> Vec<u8> {
    let mut name = Vec::new();
    for part in parts.iter().map_while(Option::as_ref) {
        push_component(part, 0, &mut name);
    }
    if let Some(last) = name.last_mut() {
        *last = end;
    }
    name
}

impl RowPlace {
    fn first(&self) -> Bytes {
        match self {
            RowPlace::Row(values) => values.first().cloned().flatten().unwrap_or_default(),
            RowPlace::Static { .. } => Bytes::new(),
        }
    }

    /// Returns the part of a composite name that the row's cells share.
    fn prefix(&self) -> Vec<u8> {
        match self {
            RowPlace::Row(values) => composite(values, 0),
            RowPlace::Static { clustering_columns } => {
                let mut name = STATIC_PREFIX.to_vec();
                (0..*clustering_columns).for_each(|_| push_component(b"", 0, &mut name));
                name
            }
        }
    }

    fn is_static(&self) -> bool {
        matches!(self, RowPlace::Static { .. })
    }

    /// Returns the super column and the name of a cell. `path` is its place in a complex column.
    pub(super) fn cell_name(
        &self,
        layout: Layout,
        column: &StoredColumn,
        path: Option<Bytes>,
    ) -> (Option<Bytes>, Bytes) {
        match layout {
            Layout::Sparse => {
                let mut name = self.prefix();
                push_component(&column.name, 0, &mut name);
                if let Some(path) = path {
                    push_component(&path, 0, &mut name);
                }
                (None, name.into())
            }
            Layout::StaticCompact if self.is_static() => (None, column.name.clone()),
            Layout::StaticCompact | Layout::Dense => (None, self.first()),
            Layout::CompositeDense => (None, self.prefix().into()),
            Layout::Super => (Some(self.first()), path.unwrap_or_else(|| column.name.clone())),
        }
    }

    /// Returns the name of the row marker. `None` if rows of the layout have none.
    pub(super) fn marker_name(&self, layout: Layout) -> Option<Bytes> {
        if layout != Layout::Sparse {
            return None;
        }
        let mut name = self.prefix();
        push_component(b"", 0, &mut name);
        Some(name.into())
    }

    /// Returns the deletion of the row.
    pub(super) fn row_deletion(&self, layout: Layout, deletion: DeletionTime) -> Atom {
        let RowPlace::Row(values) = self else {
            // A static row is deleted with all of its cells.
            return Atom::Range(ended(&self.prefix(), deletion));
        };
        match layout {
            Layout::Super => Atom::SuperDeletion { name: self.first(), deletion },
            Layout::StaticCompact | Layout::Dense => {
                let name = self.first();
                Atom::Range(RangeTombstone {
                    super_column: None,
                    start: name.clone(),
                    finish: name,
                    deletion,
                })
            }
            Layout::Sparse | Layout::CompositeDense => Atom::Range(ended(&composite(values, 0), deletion)),
        }
    }

    /// Returns the deletion of a complex column.
    pub(super) fn complex_deletion(
        &self,
        layout: Layout,
        column: &StoredColumn,
        deletion: DeletionTime,
    ) -> Atom {
        if layout == Layout::Super {
            return Atom::SuperDeletion { name: self.first(), deletion };
        }
        let mut name = self.prefix();
        push_component(&column.name, 0, &mut name);
        Atom::Range(ended(&name, deletion))
    }
}

/// Returns the deletion of all names that begin with a name.
fn ended(name: &[u8], deletion: DeletionTime) -> RangeTombstone {
    let bound = |end: u8| {
        let mut bound = name.to_vec();
        if let Some(last) = bound.last_mut() {
            *last = end;
        }
        Bytes::from(bound)
    };
    RangeTombstone { super_column: None, start: bound(BEFORE), finish: bound(AFTER), deletion }
}

/// Returns the range tombstone between two bounds, or why older releases have none for it.
pub(super) fn range_of(
    layout: Layout,
    start: &ClusteringBound,
    finish: &ClusteringBound,
    deletion: DeletionTime,
) -> Result<Atom, &'static str> {
    let bound = |bound: &ClusteringBound, ends: (u8, u8)| -> Result<Bytes, &'static str> {
        let end = if bound.is_inclusive { ends.0 } else { ends.1 };
        match layout {
            Layout::Sparse | Layout::CompositeDense => Ok(composite(&bound.values, end).into()),
            _ => match bound.values.first() {
                None => Ok(Bytes::new()),
                Some(value) if bound.is_inclusive => Ok(value.clone().unwrap_or_default()),
                Some(_) => Err("a range tombstone without its bound, in a dense table"),
            },
        }
    };
    let (start, finish) = (bound(start, (BEFORE, AFTER))?, bound(finish, (AFTER, BEFORE))?);
    Ok(Atom::Range(RangeTombstone { super_column: None, start, finish, deletion }))
}
