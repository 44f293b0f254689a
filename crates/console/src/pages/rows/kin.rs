//! Rows of other column families of the keyspace whose key a page shows: `author = ada` leads to the row `ada` of Authors.
//!
//! A value is looked up if it is short and the keys of a column family have its type or none. The number of look-ups is
//! limited, and so is their time; a page has the links that were found until then. A gateway has none: each look-up would
//! be a request to its cluster.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::page_link::LinkFields;
use super::query::Target;
use crate::limits::{KIN_KEY_BYTES_MAX, KIN_LOOKUPS_MAX, KIN_LOOKUPS_MIN, KIN_MS};
use crate::present::{escaped, key_class};
use crate::state::AdminState;
use crate::visitor::Visitor;
use base::model::SliceRange;
use base::schema::CfDef;
use db::type_of_value;
use store::{StoredCell, StoredColumns, StoredSlice, StoredSliceCommand};

/// A row of another column family, or of the same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KinRow {
    pub family: String,
    pub href: String,
}

/// The rows that were found, by their keys.
#[derive(Default)]
pub(super) struct Kin(HashMap<Bytes, Vec<Arc<CfDef>>>);

impl Kin {
    /// Looks up the key and the values of a slice.
    pub(super) async fn find(
        state: &AdminState,
        visitor: &Visitor,
        target: &Target,
        slice: &StoredSlice,
    ) -> Kin {
        let mut kin = Kin::default();
        if !state.database.store().can_dump() {
            return kin;
        }
        let keyspaces = visitor.schema.keyspaces().iter();
        let own = keyspaces.filter(|keyspace| keyspace.name == target.cf.keyspace && !keyspace.is_reserved);
        let families: Vec<Arc<CfDef>> = own.flat_map(|keyspace| keyspace.families.iter().cloned()).collect();
        let end = Instant::now() + Duration::from_millis(KIN_MS);
        let request = target.request(&state.database);
        let mut lookups = 0;
        for PossibleKey { key, class } in candidates(target, slice) {
            for cf in &families {
                let of_key = key_class(cf).class_name();
                let is_own_row = cf.name == target.cf.name && target.key.as_ref() == Some(&key);
                if is_own_row || of_key != class && !(is_untyped(of_key) && is_text(&class)) {
                    continue;
                }
                lookups += 1;
                if lookups > KIN_LOOKUPS_MAX || lookups > KIN_LOOKUPS_MIN && Instant::now() >= end {
                    return kin;
                }
                let command = StoredSliceCommand {
                    cf: cf.clone(),
                    key: key.clone(),
                    super_column: None,
                    range: SliceRange { count: 1, ..SliceRange::all() },
                    cells_per_super: 1,
                    max_bytes: 1,
                    max_ranges: 0,
                };
                let found = request.reads().stored_slice(command).await;
                if found.is_ok_and(|slice| slice.columns.first().is_some()) {
                    kin.0.entry(key.clone()).or_default().push(cf.clone());
                }
            }
        }
        kin
    }

    /// Returns the rows that have this key.
    pub(super) fn of(&self, key: &Bytes) -> Vec<KinRow> {
        let found = self.0.get(key).into_iter().flatten();
        let rows = found.filter_map(|cf| {
            let row = Target { key: Some(key.clone()), ..Target::of_family(cf.clone()) };
            let href = LinkFields::of(&row).href("/rows")?;
            Some(KinRow { family: escaped(cf.name.as_bytes()), href })
        });
        rows.collect()
    }
}

/// Bytes that may be a key, with the class of their type.
struct PossibleKey {
    key: Bytes,
    class: String,
}

fn is_untyped(class: &str) -> bool {
    class.ends_with(".BytesType")
}

fn is_text(class: &str) -> bool {
    class.ends_with(".UTF8Type") || class.ends_with(".AsciiType") || is_untyped(class)
}

/// Returns the key of the target and the live values of a slice, each once.
fn candidates(target: &Target, slice: &StoredSlice) -> Vec<PossibleKey> {
    let key = target.key.clone().unwrap_or_default();
    let mut found = vec![PossibleKey { key, class: key_class(&target.cf).class_name().to_owned() }];
    let of = |stored: &StoredCell| PossibleKey {
        key: stored.cell.value.clone(),
        class: type_of_value(&target.cf, &stored.cell.name).class_name().to_owned(),
    };
    let is_live = |stored: &&StoredCell| stored.cell.is_live() && !stored.is_shadowed;
    match &slice.columns {
        StoredColumns::Cells(cells) => found.extend(cells.iter().filter(is_live).map(of)),
        StoredColumns::Supers(supers) => {
            found.extend(supers.iter().flat_map(|column| column.cells.iter().filter(is_live).map(of)));
        }
    }
    let mut seen = HashSet::new();
    found.retain(|one| (1..=KIN_KEY_BYTES_MAX).contains(&one.key.len()) && seen.insert(one.key.clone()));
    found
}
