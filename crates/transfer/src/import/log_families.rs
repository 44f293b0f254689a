//! The column families of the target, as commit logs name them.

use std::collections::HashMap;
use std::sync::Arc;

use super::old_names::{OldNames, id_of_names};
use super::schema::{VectorClasses, vector_classes};
use super::unfound::Unfound;
use super::{FamilyName, Inventory};
use crate::endpoint::Endpoint;
use base::compat::features::releases::NEWEST;
use base::marshal::PACKAGE;
use base::schema::{CfDef, Layout, TableColumn, TableDef};
use sstable::{LogFamily, LogTable};

/// A column family of the target.
pub(super) struct Defined {
    pub name: FamilyName,
    pub cf: Arc<CfDef>,
    /// The definition that the readers of commit logs need.
    pub table: Arc<LogTable>,
    /// Whether it is imported. The others are read too, since a write can be of several column families.
    pub is_selected: bool,
}

/// The column families of the target, as commit logs name them.
pub(super) struct LogFamilies {
    by_id: HashMap<[u8; 16], Arc<Defined>>,
    by_number: HashMap<i32, Arc<Defined>>,
    by_name: HashMap<FamilyName, Arc<Defined>>,
    old_names: OldNames,
}

impl LogFamilies {
    pub(super) fn of(to: &Endpoint, inventory: &Inventory) -> LogFamilies {
        let (mut by_id, mut by_number) = (HashMap::new(), HashMap::new());
        let mut by_name: HashMap<FamilyName, Arc<Defined>> = HashMap::new();
        // Damage of these tables is reported when the schema is read.
        let vectors = vector_classes(&inventory.system).unwrap_or_default();
        for keyspace in to.keyspaces() {
            for cf in keyspace.column_families.values() {
                let name = FamilyName::of(cf);
                let defined = Arc::new(Defined {
                    table: Arc::new(table_of(cf, &vectors)),
                    is_selected: inventory.is_selected(&name),
                    cf: cf.clone(),
                    name: name.clone(),
                });
                by_id.insert(id_of_names(&name), defined.clone());
                by_name.insert(name, defined);
            }
        }
        let old_names = OldNames::of(inventory);
        for (id, name) in old_names.ids() {
            by_id.extend(by_name.get(name).map(|defined| (id, defined.clone())));
        }
        for (number, name) in old_names.numbers() {
            by_number.extend(by_name.get(name).map(|defined| (number, defined.clone())));
        }
        LogFamilies { by_id, by_number, by_name, old_names }
    }

    /// Returns a column family. `None` if the target does not define it.
    pub(super) fn find(&self, family: &LogFamily) -> Option<&Arc<Defined>> {
        match family {
            LogFamily::Id(id) => self.by_id.get(id),
            LogFamily::Numbered { number, .. } => self.by_number.get(number),
            LogFamily::Named { keyspace, name } => {
                self.by_name.get(&FamilyName { keyspace: keyspace.clone(), name: name.clone() })
            }
        }
    }

    /// Returns the known facts about a column family that [`LogFamilies::find`] does not find. `None` if its writes are
    /// not missed.
    pub(super) fn unfound(&self, family: &LogFamily) -> Option<Unfound> {
        self.old_names.unfound(family)
    }

    /// Returns the name of the column family with an id.
    pub(super) fn name_of(&self, id: [u8; 16]) -> Option<FamilyName> {
        self.by_id.get(&id).map(|defined| defined.name.clone())
    }

    /// Whether one of the selected column families has counters.
    pub(super) fn have_counters(&self) -> bool {
        self.by_name.values().any(|defined| defined.is_selected && defined.cf.is_counter())
    }
}

/// Returns how 3.x and later store a column family.
fn table_of(cf: &CfDef, vectors: &VectorClasses) -> LogTable {
    let class_of = |column: &TableColumn| {
        let vector = vectors.get(&(FamilyName::of(cf), column.name.clone()));
        vector.cloned().unwrap_or_else(|| column.cql_type.class_name())
    };
    let table = TableDef::of(cf, NEWEST);
    let clustering = match table.layout {
        Layout::Super | Layout::StaticCompact => vec![cf.comparator.class_name().to_owned()],
        _ => table.clustering.iter().map(class_of).collect(),
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
    let others = table.others.values().map(|column| (column.cell_name.clone(), class_of(column)));
    LogTable::new(table.layout, clustering, dropped.chain(others), value)
}
