//! The column families of the old servers by the numbers and ids that their commit logs have.
//!
//! ```text
//!   0.7 to 1.1   numbers   the schema has them
//!   1.2, 2.0     ids       made of the names of keyspace and column family
//!   2.1 to 5.0   ids       the schema has them, and the names of directories; those of the servers' own tables, and of
//!                          tables that 2.0 had already, are made of names
//! ```

use std::collections::{HashMap, HashSet};

use md5::{Digest, Md5};

use super::inventory::Wanted;
use super::schema::read_system_rows;
use super::unfound::Unfound;
use super::{FamilyName, Inventory};
use base::schema::is_system_keyspace;
use sstable::LogFamily;

/// The id of a column family (1.2 and later).
type Id = [u8; 16];

/// The tables of the servers themselves, of 1.2 to 5.0. Without their keyspaces nothing else names them.
const SYSTEM_TABLES: [(&str, &str); 5] = [
    (
        "system",
        "HintsColumnFamily IndexInfo LocationInfo Migrations NodeIdInfo Schema Versions available_ranges \
         available_ranges_v2 batches batchlog built_views compaction_history compactions_in_progress hints local paxos \
         paxos_repair_history peer_events peer_events_v2 peers peers_v2 prepared_statements range_xfers repairs \
         schema_aggregates schema_columnfamilies schema_columns schema_functions schema_keyspaces schema_triggers \
         schema_usertypes size_estimates sstable_activity sstable_activity_v2 table_estimates top_partitions \
         transferred_ranges transferred_ranges_v2 view_builds_in_progress views_builds_in_progress",
    ),
    (
        "system_auth",
        "cidr_groups cidr_permissions credentials identity_to_role network_permissions permissions \
         resource_role_permissons_index role_members role_permissions roles users",
    ),
    ("system_distributed", "parent_repair_history partition_denylist repair_history view_build_status"),
    (
        "system_schema",
        "aggregates column_masks columns dropped_columns functions indexes keyspaces tables triggers types views",
    ),
    ("system_traces", "events sessions"),
];

/// The names of column families, from the directories of old servers.
pub(super) struct OldNames {
    by_id: HashMap<Id, FamilyName>,
    by_number: Option<HashMap<i32, FamilyName>>,
    /// The ids that the schema has; `None` without a schema that can be read.
    schema: Option<HashMap<FamilyName, Id>>,
    /// Materialized views, whose rows are derived from other tables.
    views: HashSet<Id>,
    /// The column families with SSTables.
    with_tables: HashSet<FamilyName>,
    wanted: Wanted,
}

impl OldNames {
    pub(super) fn of(inventory: &Inventory) -> OldNames {
        let schema = ids_in_schema(inventory);
        let of_system = SYSTEM_TABLES.iter().flat_map(|(keyspace, tables)| {
            tables.split_whitespace().map(|table| family_name(keyspace, table))
        });
        let with_tables: HashSet<FamilyName> = inventory.families.keys().cloned().collect();
        let mut by_id: HashMap<Id, FamilyName> =
            of_system.chain(with_tables.iter().cloned()).map(|name| (id_of_names(&name), name)).collect();
        by_id.extend(inventory.ids.iter().map(|(id, name)| (*id, name.clone())));
        by_id.extend(schema.iter().flatten().map(|(name, id)| (*id, name.clone())));
        let views = ids_of(inventory, "system_schema", "views", "id").unwrap_or_default();
        OldNames {
            by_id,
            by_number: inventory.number_ids.clone(),
            schema,
            views: views.into_iter().filter_map(|(_, id)| id).collect(),
            with_tables,
            wanted: inventory.wanted.clone(),
        }
    }

    /// Returns the column families by their ids. The directory of a table that was dropped may still be there, while the
    /// schema has a new one of its name: only the new one is returned.
    pub(super) fn ids(&self) -> impl Iterator<Item = (Id, &FamilyName)> {
        let current = |name: &FamilyName| self.schema.as_ref()?.get(name);
        self.by_id
            .iter()
            .filter(move |(id, name)| current(name).is_none_or(|current| current == *id))
            .map(|(id, name)| (*id, name))
    }

    /// Returns the column families by their numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (i32, &FamilyName)> {
        self.by_number.iter().flatten().map(|(number, name)| (*number, name))
    }

    /// Returns the known facts about a column family that the target does not define. `None` if its writes are not
    /// missed: writes of the servers themselves, of views, and of families that were not selected.
    pub(super) fn unfound(&self, family: &LogFamily) -> Option<Unfound> {
        match family {
            LogFamily::Id(id) => self.unfound_id(id),
            LogFamily::Numbered { keyspace, number } => self.unfound_number(keyspace, *number),
            LogFamily::Named { keyspace, name } => self.undefined(&family_name(keyspace, name)),
        }
    }

    fn unfound_id(&self, id: &Id) -> Option<Unfound> {
        if self.views.contains(id) {
            return None;
        }
        let uuid = uuid::Uuid::from_bytes(*id);
        let Some(name) = self.by_id.get(id) else {
            let what = format!("the id {uuid}");
            return Some(if self.schema.is_some() { Unfound::Dropped(what) } else { Unfound::Unnamed(what) });
        };
        let is_current = match &self.schema {
            None => true,
            // A column family that has SSTables and no definition is reported like them.
            Some(schema) => {
                schema.get(name).map_or_else(|| self.with_tables.contains(name), |current| current == id)
            }
        };
        let undefined = self.undefined(name)?;
        Some(if is_current { undefined } else { Unfound::Dropped(format!("{name} with the id {uuid}")) })
    }

    fn unfound_number(&self, keyspace: &str, number: i32) -> Option<Unfound> {
        if is_system_keyspace(keyspace) || self.wanted.keyspace.as_deref().unwrap_or(keyspace) != keyspace {
            return None;
        }
        let what = || format!("the number {number} in the keyspace {keyspace}");
        match &self.by_number {
            None => Some(Unfound::Unnamed(what())),
            Some(numbers) => match numbers.get(&number) {
                Some(name) => self.undefined(name),
                None => Some(Unfound::Dropped(what())),
            },
        }
    }

    fn undefined(&self, name: &FamilyName) -> Option<Unfound> {
        let is_missed = !is_system_keyspace(&name.keyspace) && self.wanted.has(name);
        is_missed.then(|| Unfound::Undefined(name.clone()))
    }
}

/// Returns the ids of the column families that exist, by the newest schema of the servers. `None` if there is none, or it is
/// damaged, which is reported where it is imported.
fn ids_in_schema(inventory: &Inventory) -> Option<HashMap<FamilyName, Id>> {
    let sources = [("system_schema", "tables", "id"), ("system", "schema_columnfamilies", "cf_id")];
    let (keyspace, table, column) = sources
        .into_iter()
        .find(|(keyspace, table, _)| inventory.system.contains_key(&family_name(keyspace, table)))?;
    let found = ids_of(inventory, keyspace, table, column)?;
    // Up to 2.0 the schema has no ids.
    let with_id =
        |(name, id): (FamilyName, Option<Id>)| (name.clone(), id.unwrap_or_else(|| id_of_names(&name)));
    Some(found.into_iter().map(with_id).collect())
}

/// Returns the column families that a table of the schema has, with the id in a column. `None` if the table is damaged.
fn ids_of(
    inventory: &Inventory,
    keyspace: &str,
    table: &str,
    column: &str,
) -> Option<Vec<(FamilyName, Option<Id>)>> {
    let tables = inventory.system.get(&family_name(keyspace, table)).map_or(&[][..], Vec::as_slice);
    let rows = read_system_rows(tables, 1, false).ok()?;
    let named = rows.iter().filter_map(|row| Some((row, row.clustering.first()?)));
    Some(named.map(|(row, name)| (family_name(&row.keyspace, name), row.id(column))).collect())
}

fn family_name(keyspace: &str, name: &str) -> FamilyName {
    FamilyName { keyspace: keyspace.to_owned(), name: name.to_owned() }
}

/// Returns the id of a column family up to 2.0, and of one that 2.1 took over: the UUID of version 3 of its names.
pub(super) fn id_of_names(name: &FamilyName) -> Id {
    let mut hasher = Md5::new();
    hasher.update(&name.keyspace);
    hasher.update(&name.name);
    let mut id: Id = hasher.finalize().into();
    id[6] = id[6] & 0x0f | 0x30;
    id[8] = id[8] & 0x3f | 0x80;
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_old_families_are_those_of_their_names() {
        // As the directories of 2.1 have it.
        let id = id_of_names(&family_name("system", "local"));
        assert_eq!(base::util::hex(&id), "7ad54392bcdd35a684174e047860b377");
    }

    const OLD: Id = [1; 16];
    const NEW: Id = [2; 16];
    const OTHER: Id = [3; 16];

    fn names(schema: Option<Id>, directories: &[Id], only: Option<&str>) -> OldNames {
        let carts = family_name("Shop", "Carts");
        let mut inventory = Inventory::default();
        inventory.ids = directories.iter().map(|id| (*id, carts.clone())).collect();
        inventory.wanted.keyspace = only.map(str::to_owned);
        let mut names = OldNames::of(&inventory);
        names.by_id.extend(schema.map(|id| (id, carts.clone())));
        names.schema = schema.map(|id| HashMap::from([(carts, id)]));
        names
    }

    fn shown(names: &OldNames, family: &LogFamily) -> String {
        match names.unfound(family) {
            None => "nothing".to_owned(),
            Some(Unfound::Undefined(name)) => format!("undefined: {name}"),
            Some(Unfound::Unnamed(what)) => format!("unnamed: {what}"),
            Some(Unfound::Dropped(what)) => format!("dropped: {what}"),
        }
    }

    #[test]
    fn ids_are_undefined_unnamed_or_dropped() {
        let uuid = |id: Id| uuid::Uuid::from_bytes(id);
        let of =
            |schema, directories: &[Id], id| shown(&names(schema, directories, None), &LogFamily::Id(id));
        assert_eq!(of(None, &[], OTHER), format!("unnamed: the id {}", uuid(OTHER)));
        assert_eq!(of(None, &[OLD], OLD), "undefined: Shop.Carts");
        assert_eq!(of(Some(NEW), &[OLD, NEW], NEW), "undefined: Shop.Carts");
        assert_eq!(of(Some(NEW), &[OLD], OLD), format!("dropped: Shop.Carts with the id {}", uuid(OLD)));
        assert_eq!(of(Some(NEW), &[], OTHER), format!("dropped: the id {}", uuid(OTHER)));
        assert_eq!(of(None, &[], id_of_names(&family_name("system", "peers"))), "nothing");
        assert_eq!(shown(&names(None, &[OLD], Some("Blog")), &LogFamily::Id(OLD)), "nothing");
        let mut with_view = names(Some(NEW), &[], None);
        with_view.views.insert(OTHER);
        assert_eq!(shown(&with_view, &LogFamily::Id(OTHER)), "nothing");
    }

    #[test]
    fn numbers_are_undefined_unnamed_or_dropped() {
        let numbered = |keyspace: &str, number| LogFamily::Numbered { keyspace: keyspace.to_owned(), number };
        let mut names = names(None, &[], Some("Shop"));
        assert_eq!(shown(&names, &numbered("Shop", 1000)), "unnamed: the number 1000 in the keyspace Shop");
        names.by_number = Some(HashMap::from([(1000, family_name("Shop", "Carts"))]));
        assert_eq!(shown(&names, &numbered("Shop", 1000)), "undefined: Shop.Carts");
        assert_eq!(shown(&names, &numbered("Shop", 1001)), "dropped: the number 1001 in the keyspace Shop");
        assert_eq!(shown(&names, &numbered("Blog", 1001)), "nothing");
        assert_eq!(shown(&names, &numbered("system", 1)), "nothing");
        let named =
            |keyspace: &str| LogFamily::Named { keyspace: keyspace.to_owned(), name: "Posts".to_owned() };
        assert_eq!(shown(&names, &named("Shop")), "undefined: Shop.Posts");
        assert_eq!(shown(&names, &named("Blog")), "nothing");
    }

    #[test]
    fn ids_of_dropped_tables_have_no_names() {
        let names = names(Some(NEW), &[OLD, NEW], None);
        let ids: Vec<Id> =
            names.ids().filter(|(_, name)| name.keyspace == "Shop").map(|(id, _)| id).collect();
        assert_eq!(ids, [NEW]);
    }
}
