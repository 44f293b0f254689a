//! The column families of the target, as commit logs name them.

use std::collections::HashMap;
use std::sync::Arc;

use md5::{Digest, Md5};

use super::{FamilyName, Inventory};
use crate::copy::Side;
use crate::schema::CfDef;
use crate::sstable::LogFamily;

/// The column families of the target, as commit logs name them.
pub struct LogFamilies {
    by_id: HashMap<[u8; 16], Arc<CfDef>>,
    by_name: HashMap<FamilyName, Arc<CfDef>>,
    /// Those that were not selected are read too, since a write can be of several column families.
    selected: Vec<FamilyName>,
}

impl LogFamilies {
    pub fn of(to: &Side, inventory: &Inventory) -> LogFamilies {
        let mut families =
            LogFamilies { by_id: HashMap::new(), by_name: HashMap::new(), selected: Vec::new() };
        for keyspace in to.keyspaces() {
            for cf in keyspace.column_families.values() {
                let name = FamilyName::of(cf);
                families.by_id.insert(id_of_names(&name), cf.clone());
                if inventory.is_selected(&name) {
                    families.selected.push(name.clone());
                }
                families.by_name.insert(name, cf.clone());
            }
        }
        families.selected.sort();
        for (id, name) in &inventory.ids {
            if let Some(cf) = families.by_name.get(name) {
                families.by_id.insert(*id, cf.clone());
            }
        }
        families
    }

    /// Returns a column family. `None` if the target does not define it.
    pub fn find(&self, family: &LogFamily) -> Option<&Arc<CfDef>> {
        match family {
            LogFamily::Id(id) => self.by_id.get(id),
            LogFamily::Named { keyspace, name } => {
                self.by_name.get(&FamilyName { keyspace: keyspace.clone(), name: name.clone() })
            }
            LogFamily::Numbered { .. } => None,
        }
    }

    /// Returns the name of the column family with an id.
    pub fn name_of(&self, id: [u8; 16]) -> Option<FamilyName> {
        self.by_id.get(&id).map(|cf| FamilyName::of(cf))
    }

    pub fn is_selected(&self, name: &FamilyName) -> bool {
        self.selected.binary_search(name).is_ok()
    }

    /// Whether one of the selected column families has counters.
    pub fn have_counters(&self) -> bool {
        self.selected.iter().any(|name| self.by_name.get(name).is_some_and(|cf| cf.is_counter()))
    }
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
