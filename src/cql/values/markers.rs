//! What the markers of a statement stand for.

use crate::cql::ColumnSpec;
use crate::schema::{TableColumn, TableDef};

/// A table by its name.
#[derive(Debug)]
pub struct TableOf<'a> {
    pub keyspace: &'a str,
    pub name: &'a str,
    pub def: &'a TableDef,
}

/// What the markers of a statement stand for, as far as it has been looked at.
#[derive(Debug, Clone, Default)]
pub struct Markers {
    pub specs: Vec<Option<ColumnSpec>>,
}

impl Markers {
    /// For a statement with so many markers.
    pub fn new(count: usize) -> Markers {
        Markers { specs: vec![None; count] }
    }

    /// The place of the first marker that no client binds: they come after all others. The statements of a batch have
    /// the same places for theirs, each with values of its own.
    pub fn first_hidden(&self) -> usize {
        self.specs.len()
    }

    /// Says what a marker stands for.
    pub fn set(&mut self, at: usize, spec: ColumnSpec) {
        if let Some(place) = self.specs.get_mut(at) {
            *place = Some(spec);
        }
    }

    /// The places of the markers that are a column's value.
    fn of_column<'m>(&'m self, table: &'m TableOf<'_>, name: &'m str) -> impl Iterator<Item = usize> + 'm {
        let is_of = move |spec: &ColumnSpec| {
            spec.keyspace == table.keyspace && spec.table == table.name && spec.name == name
        };
        let found = self.specs.iter().enumerate();
        found.filter(move |(_, spec)| spec.as_ref().is_some_and(is_of)).map(|(at, _)| at)
    }

    /// For each column of a table's partition key the place of its marker, so that clients find the token of what they
    /// bind. Empty where a column has none, or several in one statement; of a batch's statements the last one's counts,
    /// as in Cassandra 2.2.
    pub fn key_places(&self, table: &TableOf<'_>, is_batch: bool) -> Vec<u16> {
        let place = |column: &TableColumn| {
            let places: Vec<usize> = self.of_column(table, &column.name).collect();
            match &places[..] {
                [place] => u16::try_from(*place).ok(),
                [.., last] if is_batch => u16::try_from(*last).ok(),
                _ => None,
            }
        };
        table.def.partition_key.iter().map(place).collect::<Option<_>>().unwrap_or_default()
    }
}
