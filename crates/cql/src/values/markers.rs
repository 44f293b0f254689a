//! The receivers of a statement's markers.

use crate::ColumnSpec;
use base::schema::TableDef;

/// A table with its name.
#[derive(Debug)]
pub(crate) struct TableOf<'a> {
    /// The keyspace of the table.
    pub keyspace: &'a str,
    /// The table, without its keyspace.
    pub name: &'a str,
    /// The columns of the table.
    pub def: &'a TableDef,
}

/// The receivers of a statement's markers that have been analyzed so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Markers {
    /// The receiver of each marker in the order of the text; `None` until it is analyzed.
    pub specs: Vec<Option<ColumnSpec>>,
}

impl Markers {
    /// Creates the list for a statement with `count` markers.
    pub(crate) fn new(count: usize) -> Markers {
        Markers { specs: vec![None; count] }
    }

    /// Returns the index of the first hidden marker, which no client binds. Hidden markers come after all others. The
    /// statements of a batch use the same indexes for theirs, each with its own values.
    pub(crate) fn first_hidden(&self) -> usize {
        self.specs.len()
    }

    /// Sets the receiver of a marker.
    pub(crate) fn set(&mut self, at: usize, spec: ColumnSpec) {
        if let Some(place) = self.specs.get_mut(at) {
            *place = Some(spec);
        }
    }

    /// Returns the indexes of the markers whose receiver is a column.
    fn of_column<'m>(&'m self, table: &'m TableOf<'_>, name: &'m str) -> impl Iterator<Item = usize> + 'm {
        let specs = self.specs.iter().enumerate().filter_map(|(at, spec)| Some((at, spec.as_ref()?)));
        let found = specs.filter(move |(_, spec)| {
            spec.keyspace == table.keyspace && spec.table == table.name && spec.name == name
        });
        found.map(|(at, _)| at)
    }

    /// Returns the index of the marker for each partition key column, from which clients compute the token of the
    /// values they bind. Empty if a column has no marker, or several in one statement. In a batch the last statement
    /// counts, as in Cassandra 2.2.
    pub(crate) fn key_places(&self, table: &TableOf<'_>, is_batch: bool) -> Vec<u16> {
        let places = table.def.partition_key.iter().map(|column| {
            let places: Vec<usize> = self.of_column(table, &column.name).collect();
            match &places[..] {
                [place] => u16::try_from(*place).ok(),
                [.., last] if is_batch => u16::try_from(*last).ok(),
                _ => None,
            }
        });
        places.collect::<Option<_>>().unwrap_or_default()
    }
}
