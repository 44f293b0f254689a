//! The expected content of a store, as a map.

use std::collections::BTreeMap;

use base::model::RowColumns;
use base::schema::Catalog;
use bytes::Bytes;
use store::{Store, StoreError};

use super::script::{Edit, FAMILIES, Place, Step};
use crate::store_support as support;

/// Live columns with timestamp and value, and metadata records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    columns: BTreeMap<Place, (i64, Vec<u8>)>,
    records: BTreeMap<String, Vec<u8>>,
}

/// Returns the timestamp of an edit. Later edits have larger timestamps, so a later edit always wins.
pub fn timestamp(step: usize, edit: usize) -> i64 {
    (step * 1000 + edit) as i64
}

/// Returns a value that repeats its timestamp, so that each edit writes another value.
pub fn value(timestamp: i64, length: usize) -> Vec<u8> {
    let text = format!("{timestamp} ");
    text.bytes().cycle().take(length.max(text.len())).collect()
}

pub fn record_name(number: usize) -> String {
    format!("record/{number}")
}

impl Model {
    pub fn apply(&mut self, number: usize, step: &Step) {
        match step {
            Step::Write(edits) | Step::WriteAtZero(edits) => {
                for (at, edit) in edits.iter().enumerate() {
                    self.edit(timestamp(number, at), edit);
                }
            }
            Step::Record { number: record, length } => {
                let name = record_name(*record);
                match length {
                    Some(length) => self.records.insert(name, value(timestamp(number, 0), *length)),
                    None => self.records.remove(&name),
                };
            }
            Step::Truncate(emptied) => self.columns.retain(|(family, ..), _| family != emptied),
            Step::Drop { family: dropped, truncated, record } => {
                self.columns.retain(|(family, ..), _| family != dropped && !truncated.contains(family));
                self.records.remove(&record_name(*record));
            }
            _ => {}
        }
    }

    fn edit(&mut self, timestamp: i64, edit: &Edit) {
        match edit {
            Edit::Put { place, length } => {
                self.columns.insert(*place, (timestamp, value(timestamp, *length)));
            }
            Edit::Delete { place } => {
                self.columns.remove(place);
            }
            Edit::DeleteSuper { family, row, holder } => {
                self.columns.retain(|place, _| (place.0, place.1, place.2) != (*family, *row, Some(*holder)));
            }
            Edit::DeleteRow { family, row } => {
                self.columns.retain(|place, _| (place.0, place.1) != (*family, *row));
            }
        }
    }

    /// Reads the content of a store.
    pub fn of_store(store: &dyn Store, catalog: &Catalog) -> Model {
        let mut model = Model::default();
        let number = |name: &Bytes| support::text(name).parse().unwrap();
        for (family, name) in FAMILIES.iter().enumerate() {
            let Some(cf) = catalog.column_family(support::KEYSPACE, name) else { continue };
            let rows = match support::scan_all(store, cf) {
                // The column family could not be created again because of a disk error.
                Err(StoreError::Mismatch(_)) => Vec::new(),
                rows => rows.unwrap(),
            };
            for row in rows {
                let key = number(&row.key);
                match row.columns {
                    RowColumns::Cells(cells) => model.columns.extend(cells.into_iter().map(|cell| {
                        ((family, key, None, number(&cell.name)), (cell.timestamp, cell.value.to_vec()))
                    })),
                    RowColumns::Supers(supers) => {
                        for found in supers {
                            let holder = Some(number(&found.name));
                            model.columns.extend(found.cells.into_iter().map(|cell| {
                                let place = (family, key, holder, number(&cell.name));
                                (place, (cell.timestamp, cell.value.to_vec()))
                            }));
                        }
                    }
                }
            }
        }
        let records = support::wait(store.records()).unwrap();
        model.records = records.into_iter().map(|(name, value)| (name, value.to_vec())).collect();
        model
    }

    /// Returns the differences to the content of a store, one in a line.
    pub fn differences(&self, found: &Model) -> Vec<String> {
        let mut lines = Vec::new();
        for place in
            self.columns.keys().chain(found.columns.keys().filter(|place| !self.columns.contains_key(place)))
        {
            let show =
                |model: &Model| model.columns.get(place).map(|(timestamp, value)| (*timestamp, value.len()));
            if self.columns.get(place) != found.columns.get(place) {
                lines.push(format!("{place:?}: expected {:?}, found {:?}", show(self), show(found)));
            }
        }
        if self.records != found.records {
            let show = |model: &Model| {
                model.records.iter().map(|(name, value)| (name.clone(), value.len())).collect::<Vec<_>>()
            };
            lines.push(format!("records: expected {:?}, found {:?}", show(self), show(found)));
        }
        lines
    }
}
