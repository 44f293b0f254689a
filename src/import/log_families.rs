//! The column families of the target, as commit logs name them.

use std::collections::HashMap;
use std::sync::Arc;

use md5::{Digest, Md5};

use super::inventory::{Selection, is_system, is_wanted};
use super::schema::read_system_rows;
use super::{FamilyName, Inventory};
use crate::compat::features::releases::NEWEST;
use crate::copy::Side;
use crate::marshal::PACKAGE;
use crate::schema::{CfDef, Layout, TableDef};
use crate::sstable::{LogFamily, LogTable};

const NOT_NAMED: &str = "which neither system tables nor directories name; import the whole data directory";

/// A column family of the target.
pub struct Defined {
    pub name: FamilyName,
    pub cf: Arc<CfDef>,
    /// What the readers of commit logs must know of it.
    pub table: Arc<LogTable>,
    /// Whether it is imported. The others are read too, since a write can be of several column families.
    pub is_selected: bool,
}

/// The column families of the target, as commit logs name them.
pub struct LogFamilies {
    by_id: HashMap<[u8; 16], Arc<Defined>>,
    by_number: HashMap<i32, Arc<Defined>>,
    by_name: HashMap<FamilyName, Arc<Defined>>,
    /// Whether the ids and the numbers of all column families are known, so that others are of dropped ones.
    knows_ids: bool,
    knows_numbers: bool,
    selection: Selection,
}

impl LogFamilies {
    pub fn of(to: &Side, inventory: &Inventory) -> LogFamilies {
        let mut families = LogFamilies {
            by_id: HashMap::new(),
            by_number: HashMap::new(),
            by_name: HashMap::new(),
            knows_ids: !inventory.ids.is_empty(),
            knows_numbers: !inventory.number_ids.is_empty(),
            selection: inventory.selection.clone(),
        };
        for keyspace in to.keyspaces() {
            for cf in keyspace.column_families.values() {
                let name = FamilyName::of(cf);
                let defined = Arc::new(Defined {
                    table: Arc::new(table_of(cf)),
                    is_selected: inventory.is_selected(&name),
                    cf: cf.clone(),
                    name: name.clone(),
                });
                families.by_id.insert(id_of_names(&name), defined.clone());
                families.by_name.insert(name, defined);
            }
        }
        // The directory of a table that was dropped may be there still, while the schema has a new one of that name.
        let present = present_ids(inventory);
        let is_present = |id: &[u8; 16], name: &FamilyName| present.get(name).is_none_or(|own| own == id);
        let found = inventory.ids.iter().map(|(id, name)| (*id, name));
        for (id, name) in found.chain(present.iter().map(|(name, id)| (*id, name))) {
            if let Some(defined) = families.by_name.get(name).filter(|_| is_present(&id, name)) {
                families.by_id.insert(id, defined.clone());
            }
        }
        for (number, name) in &inventory.number_ids {
            if let Some(defined) = families.by_name.get(name) {
                families.by_number.insert(*number, defined.clone());
            }
        }
        families
    }

    /// Returns a column family. `None` if the target does not define it.
    pub fn find(&self, family: &LogFamily) -> Option<&Arc<Defined>> {
        match family {
            LogFamily::Id(id) => self.by_id.get(id),
            LogFamily::Numbered { number, .. } => self.by_number.get(number),
            LogFamily::Named { keyspace, name } => {
                self.by_name.get(&FamilyName { keyspace: keyspace.clone(), name: name.clone() })
            }
        }
    }

    /// Returns what names a column family that [`LogFamilies::find`] does not find, if it may be one of a user that exists:
    /// what a server wrote of column families that were dropped later is of no use.
    pub fn unknown(&self, family: &LogFamily) -> Option<String> {
        match family {
            // The ids of 1.2 and 2.0, and those of the servers' own tables, are made of names (version 3).
            LogFamily::Id(id) if !self.knows_ids && id[6] >> 4 == 1 => {
                let id = uuid::Uuid::from_bytes(*id);
                Some(format!("a column family with the id {id}, {NOT_NAMED}"))
            }
            LogFamily::Numbered { keyspace, number } if !self.knows_numbers && !is_system(keyspace) => Some(
                format!("a column family with the number {number} in the keyspace {keyspace}, {NOT_NAMED}"),
            ),
            // Up to 0.6.
            LogFamily::Named { keyspace, name } if !is_system(keyspace) => {
                let name = FamilyName { keyspace: keyspace.clone(), name: name.clone() };
                is_wanted(&self.selection, &name).then(|| format!("{name}, which the target does not define"))
            }
            _ => None,
        }
    }

    /// Returns the name of the column family with an id.
    pub fn name_of(&self, id: [u8; 16]) -> Option<FamilyName> {
        self.by_id.get(&id).map(|defined| defined.name.clone())
    }

    /// Whether one of the selected column families has counters.
    pub fn have_counters(&self) -> bool {
        self.by_name.values().any(|defined| defined.is_selected && defined.cf.is_counter())
    }
}

/// Returns the ids that the schema has, in 2.1 and later. Its damage is reported where the schema is imported.
fn present_ids(inventory: &Inventory) -> HashMap<FamilyName, [u8; 16]> {
    let mut found = HashMap::new();
    for (keyspace, table, column) in
        [("system", "schema_columnfamilies", "cf_id"), ("system_schema", "tables", "id")]
    {
        let name = FamilyName { keyspace: keyspace.to_owned(), name: table.to_owned() };
        let tables = inventory.system.get(&name).map_or(&[][..], Vec::as_slice);
        for row in read_system_rows(tables, 1, false).unwrap_or_default() {
            let id = row.bytes(column).and_then(|id| id.as_ref().try_into().ok());
            if let (Some(id), [table]) = (id, &row.clustering[..]) {
                found.insert(FamilyName { keyspace: row.keyspace.clone(), name: table.clone() }, id);
            }
        }
    }
    found
}

/// Returns how 3.x stores a column family.
fn table_of(cf: &CfDef) -> LogTable {
    let table = TableDef::of(cf, NEWEST);
    let comparator = || vec![cf.comparator.class_name().to_owned()];
    let clustering = match table.layout {
        Layout::Super | Layout::StaticCompact => comparator(),
        _ => table.clustering.iter().map(|column| column.cql_type.class_name()).collect(),
    };
    let value = cf.default_validator.class_name();
    let value = match (table.layout, cf.subcomparator()) {
        (Layout::Sparse, _) => None,
        // The columns of a super column are a map.
        (Layout::Super, Some(names)) => Some(format!("{PACKAGE}MapType({},{value})", names.class_name())),
        _ => Some(value.to_owned()),
    };
    let dropped = table.dropped.iter().map(|(name, column)| (name.clone(), column.cql_type.class_name()));
    // A column that exists again has its present type.
    let others = table.others.values().map(|column| (column.cell_name.clone(), column.cql_type.class_name()));
    LogTable::new(table.layout, clustering, dropped.chain(others), value)
}

/// Returns the id of a column family up to 2.0, and of one that 2.1 took over: the UUID of version 3 of its names.
fn id_of_names(name: &FamilyName) -> [u8; 16] {
    let mut hasher = Md5::new();
    hasher.update(&name.keyspace);
    hasher.update(&name.name);
    let mut id: [u8; 16] = hasher.finalize().into();
    id[6] = id[6] & 0x0f | 0x30;
    id[8] = id[8] & 0x3f | 0x80;
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_old_families_are_those_of_their_names() {
        let name = FamilyName { keyspace: "system".to_owned(), name: "local".to_owned() };
        // As the directories of 2.1 have it.
        assert_eq!(crate::cql::show::hex(&id_of_names(&name)), "7ad54392bcdd35a684174e047860b377");
    }
}
