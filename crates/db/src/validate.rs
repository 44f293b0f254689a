//! Checks the names in requests, in the order and with the messages of the old servers.
//!
//! A request fails at the first check that fails, so the order is part of the behaviour: if a request breaks several
//! rules, an application sees the same message as before. `read/validate.rs` checks what is specific to reads,
//! `write/validate.rs` what is specific to writes.

use std::str;
use std::sync::Arc;

use bytes::Bytes;

use super::args::{ColumnParent, ColumnPath};
use super::reserved::{SYSTEM_FAMILIES, SYSTEM_KEYSPACE};
use super::{Error, table_cells};
use crate::Result;
use crate::error::invalid;
use crate::limits::NAME_BYTES_MAX;
use base::compat::features::ConsistencyLevel;
use base::compat::{Behaviour, texts};
use base::marshal;
use base::marshal::AbstractType;
use base::schema::{Catalog, CfDef, Setting};
use base::util::Clock;

/// The checks of one request, with the schema and the behaviour of its release.
#[derive(Clone)]
pub(crate) struct Validation<'a> {
    pub catalog: &'a Catalog,
    pub behaviour: &'static Behaviour,
    pub clock: &'a Clock,
}

pub(super) fn text_of(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

impl<'a> Validation<'a> {
    pub(super) fn new(
        clock: &'a Clock,
        catalog: &'a Catalog,
        behaviour: &'static Behaviour,
    ) -> Validation<'a> {
        Validation { catalog, behaviour, clock }
    }

    pub(crate) fn keyspace(&self, keyspace: &[u8]) -> Result<()> {
        match self.catalog.keyspace(keyspace) {
            Some(_) => Ok(()),
            None if keyspace == SYSTEM_KEYSPACE.as_bytes() => Ok(()),
            None if self.is_own(keyspace) => Ok(()),
            None => Err(Error::unknown(texts::unknown_keyspace(self.behaviour, &text_of(keyspace)))),
        }
    }

    fn is_own(&self, keyspace: &[u8]) -> bool {
        self.behaviour.schema.own_keyspaces.iter().any(|own| own.name.as_bytes() == keyspace)
    }

    pub(super) fn find(&self, keyspace: &[u8], family: &[u8]) -> Option<&'a Arc<CfDef>> {
        self.catalog.column_family(keyspace, family)
    }

    /// Returns a column family of a keyspace that must exist.
    pub(crate) fn column_family(&self, keyspace: &[u8], family: &[u8]) -> Result<&'a Arc<CfDef>> {
        if family.is_empty() {
            return invalid(texts::empty_table_name(self.behaviour));
        }
        if let Some(found) = self.find(keyspace, family) {
            return Ok(found);
        }
        let is_closed = self.behaviour.reads.system_is_closed && keyspace == SYSTEM_KEYSPACE.as_bytes();
        if is_closed && SYSTEM_FAMILIES.contains(&&*text_of(family)) {
            // 0.6 fails with an internal error at every access to them, because that keyspace has no replicas.
            return invalid("the system keyspace is not for clients");
        }
        Err(Error::unknown(texts::unknown_table(self.behaviour, &text_of(family))))
    }

    /// Checks that the keyspace exists, then returns its column family.
    pub(crate) fn family(&self, keyspace: &[u8], family: &[u8]) -> Result<&'a Arc<CfDef>> {
        // If the column family is found, its keyspace exists.
        self.column_family(keyspace, family).or_else(|error| self.keyspace(keyspace).and(Err(error)))
    }

    /// Returns the column family that a write names, in a keyspace that must exist, and checks whether it holds
    /// counters.
    pub(crate) fn written_family(
        &self,
        keyspace: &[u8],
        family: &[u8],
        with_counters: bool,
    ) -> Result<&'a Arc<CfDef>> {
        let cf = self.family(keyspace, family)?;
        self.counting(cf, with_counters)?;
        Ok(cf)
    }

    /// Checks that counters are written to a counter column family, and other columns to a column family without
    /// counters.
    pub(crate) fn counting(&self, cf: &CfDef, with_counters: bool) -> Result<()> {
        if cf.is_counter() == with_counters {
            return Ok(());
        }
        let non = if with_counters { "non " } else { "" };
        invalid(texts::not_for_counters(self.behaviour, non, &cf.name))
    }

    /// Checks a row key. 0.6 measures its length in Java's modified UTF-8: NUL takes two bytes, characters beyond
    /// U+FFFF six. From 0.8 on a column family may define the type of its keys.
    pub(crate) fn key(&self, key: &[u8], cf: Option<&CfDef>) -> Result<()> {
        if key.is_empty() {
            return invalid(texts::empty_key(self.behaviour));
        }
        let is_binary = self.behaviour.writes.keys_are_bytes;
        // In Java's form it is at most twice as long.
        let is_short = key.len() <= NAME_BYTES_MAX / 2;
        let length = if is_binary || is_short { key.len() } else { java_utf_length(key) };
        if length > NAME_BYTES_MAX {
            return invalid(texts::long_key(self.behaviour, length, NAME_BYTES_MAX));
        }
        if let Some(validator) = cf.and_then(|cf| cf.key_validator.as_deref()) {
            let validator = marshal::at(validator, self.behaviour.release);
            validator.validate(key).map_err(|error| Error::invalid(error.0))?;
        }
        Ok(())
    }

    /// Checks the column family and the row key of a write, in the release's order.
    pub(crate) fn family_and_key(
        &self,
        keyspace: &[u8],
        family: &[u8],
        key: &[u8],
        with_counters: bool,
    ) -> Result<&'a Arc<CfDef>> {
        if self.behaviour.writes.key_is_checked_before_family {
            self.key(key, None)?;
        }
        let cf = self.written_family(keyspace, family, with_counters)?;
        self.key(key, Some(cf))?;
        Ok(cf)
    }

    /// Checks the path to one column or super column, for get, insert and the elements of a batch.
    pub(crate) fn column_path(&self, keyspace: &[u8], path: &ColumnPath) -> Result<&'a Arc<CfDef>> {
        let cf = self.family(keyspace, &path.column_family)?;
        self.path_in(cf, path.super_column.as_ref(), path.column.as_ref())?;
        Ok(cf)
    }

    /// Does the same checks in a column family that was looked up before.
    pub(crate) fn path_in(
        &self,
        cf: &CfDef,
        super_column: Option<&Bytes>,
        column: Option<&Bytes>,
    ) -> Result<()> {
        if cf.is_super() {
            if super_column.is_none() {
                return invalid(format!("supercolumn parameter is not optional for super CF {}", cf.name));
            }
        } else if super_column.is_some() {
            return invalid(format!("supercolumn parameter is invalid for standard CF {}", cf.name));
        } else if column.is_none() {
            return invalid(format!("column parameter is not optional for standard CF {}", cf.name));
        }
        self.path_names(cf, super_column, column)
    }

    /// Checks a path for remove, which may name the column family only.
    pub(crate) fn path_or_parent(&self, cf: &CfDef, path: &ColumnPath) -> Result<()> {
        if !cf.is_super() && path.super_column.is_some() {
            return invalid(format!("supercolumn may not be specified for standard CF {}", cf.name));
        }
        let lacks_super = cf.is_super() && path.super_column.is_none() && path.column.is_some();
        if lacks_super && self.behaviour.writes.removal_names_super {
            return invalid(format!(
                "A column cannot be specified without specifying a super column for removal on super CF {}",
                cf.name
            ));
        }
        self.path_names(cf, path.super_column.as_ref(), path.column.as_ref())?;
        if lacks_super {
            // 0.4 fails with an internal error, 0.5 and 0.6 let the client wait until it times out.
            return invalid(format!(
                "a column can be removed from super CF {} only with its supercolumn; to remove a supercolumn, give \
                 it as super_column",
                cf.name
            ));
        }
        Ok(())
    }

    fn path_names(&self, cf: &CfDef, super_column: Option<&Bytes>, column: Option<&Bytes>) -> Result<()> {
        if let Some(column) = column {
            self.names(cf, super_column, std::slice::from_ref(column))?;
        }
        if let Some(super_column) = super_column {
            self.names(cf, None, std::slice::from_ref(super_column))?;
        }
        Ok(())
    }

    /// Checks the column family or super column of a slice or count.
    pub(crate) fn column_parent(&self, keyspace: &[u8], parent: &ColumnParent) -> Result<&'a Arc<CfDef>> {
        let cf = self.family(keyspace, &parent.column_family)?;
        self.parent_in(cf, parent)?;
        Ok(cf)
    }

    /// Does the same checks in a column family that was looked up before.
    pub(crate) fn parent_in(&self, cf: &CfDef, parent: &ColumnParent) -> Result<()> {
        let Some(super_column) = &parent.super_column else { return Ok(()) };
        if !cf.is_super() {
            return invalid(texts::super_in_parent(self.behaviour, &cf.name));
        }
        self.names(cf, None, std::slice::from_ref(super_column))
    }

    /// Checks the column parent of get_count of 0.4, which does not check the keyspace and accepts any name of a
    /// super column.
    pub(crate) fn counted_parent(&self, keyspace: &[u8], parent: &ColumnParent) -> Result<&'a Arc<CfDef>> {
        let cf = self.column_family(keyspace, &parent.column_family)?;
        if !cf.is_super() && parent.super_column.is_some() {
            return invalid(texts::super_in_parent(self.behaviour, &cf.name));
        }
        Ok(cf)
    }

    /// Checks the name of a super column.
    pub(crate) fn super_name(&self, cf: &CfDef, name: &Bytes) -> Result<()> {
        self.names(cf, None, std::slice::from_ref(name))
    }

    /// Returns the comparator of a column family's columns, or of the columns in a super column.
    pub(super) fn comparator<'b>(&self, cf: &'b CfDef, in_super: bool) -> &'b dyn AbstractType {
        let comparator = match cf.subcomparator() {
            Some(subcomparator) if in_super => &**subcomparator,
            _ => &*cf.comparator,
        };
        marshal::at(comparator, self.behaviour.release)
    }

    /// Checks names of columns, in a super column if one is given.
    pub(super) fn names(&self, cf: &CfDef, super_column: Option<&Bytes>, names: &[Bytes]) -> Result<()> {
        if let Some(super_column) = super_column {
            measure("supercolumn", super_column)?;
            if !cf.is_super() {
                return invalid(texts::super_of_standard(self.behaviour, &cf.name));
            }
        }
        let comparator = self.comparator(cf, super_column.is_some());
        for name in names {
            measure("column", name)?;
            comparator.validate(name).map_err(|error| Error::invalid(error.0))?;
            if let Some(table) =
                cf.table.as_deref().filter(|_| self.behaviour.reads.names_are_checked_by_table)
            {
                table_cells::check_name(cf, table, name)?;
            }
        }
        Ok(())
    }

    /// Checks that a column family exists, for calls with which 0.6 would fail internally.
    pub(crate) fn defined(&self, keyspace: &[u8], family: &[u8]) -> Result<()> {
        self.family(keyspace, family).map(drop)
    }

    /// Refuses consistency levels that are not valid for reads.
    pub(crate) fn read_consistency(&self, keyspace: &[u8], consistency: ConsistencyLevel) -> Result<()> {
        match consistency {
            ConsistencyLevel::Zero => invalid("Consistency level zero may not be applied to read operations"),
            ConsistencyLevel::All if self.behaviour.reads.refuses_reads_at_all => {
                invalid("Consistency level all is not yet supported on read operations")
            }
            ConsistencyLevel::Any if self.behaviour.reads.refuses_reads_at_any => {
                invalid(texts::level_of_writes(self.behaviour, consistency))
            }
            ConsistencyLevel::EachQuorum if self.behaviour.reads.refuses_reads_at_each_quorum => {
                invalid(texts::level_of_writes(self.behaviour, consistency))
            }
            _ => self.data_centre_consistency(keyspace, consistency),
        }
    }

    /// Refuses consistency levels that are not valid for writes.
    pub(crate) fn write_consistency(&self, keyspace: &[u8], consistency: ConsistencyLevel) -> Result<()> {
        if consistency.is_serial() {
            return invalid("You must use conditional updates for serializable writes");
        }
        self.data_centre_consistency(keyspace, consistency)
    }

    /// Checks that the strategy knows data centres if the level needs them (up to 1.1).
    fn data_centre_consistency(&self, keyspace: &[u8], consistency: ConsistencyLevel) -> Result<()> {
        let is_of_data_centres =
            matches!(consistency, ConsistencyLevel::LocalQuorum | ConsistencyLevel::EachQuorum);
        if !is_of_data_centres || !self.behaviour.reads.data_centre_levels_need_strategy {
            return Ok(());
        }
        self.needs_data_centres(keyspace, consistency)
    }

    /// Refuses a level that needs a strategy with data centres if the keyspace's strategy has none.
    pub(crate) fn needs_data_centres(&self, keyspace: &[u8], consistency: ConsistencyLevel) -> Result<()> {
        let Some(keyspace) = self.catalog.keyspace(keyspace) else { return Ok(()) };
        let class = keyspace.modern_strategy_class();
        if class.ends_with(".NetworkTopologyStrategy") {
            return Ok(());
        }
        invalid(format!("consistency level {consistency} not compatible with replication strategy ({class})"))
    }

    /// Refuses consistency levels that are not valid for counters.
    pub(crate) fn counter_consistency(&self, cf: &CfDef, consistency: ConsistencyLevel) -> Result<()> {
        check_counter_level(cf, consistency, self.behaviour)
    }
}

/// Refuses consistency levels that a counter column family does not support.
pub fn check_counter_level(cf: &CfDef, consistency: ConsistencyLevel, behaviour: &Behaviour) -> Result<()> {
    if consistency == ConsistencyLevel::Any {
        return invalid(texts::counter_at_any(behaviour, &cf.name));
    }
    let is_local = matches!(cf.settings.get("replicate_on_write"), Some(Setting::Bool(false)));
    let is_one = matches!(consistency, ConsistencyLevel::One | ConsistencyLevel::LocalOne);
    if behaviour.writes.counters_replicate_on_write && is_local && !is_one {
        return invalid(format!(
            "cannot achieve CL > CL.ONE without replicate_on_write on columnfamily {}",
            cf.name
        ));
    }
    if consistency.is_serial() {
        return invalid("Counter operations are inherently non-serializable");
    }
    Ok(())
}

pub(super) fn measure(what: &str, name: &[u8]) -> Result<()> {
    if name.len() > NAME_BYTES_MAX {
        return invalid(format!("{what} name length must not be greater than {NAME_BYTES_MAX}"));
    }
    if name.is_empty() {
        return invalid(format!("{what} name must not be empty"));
    }
    Ok(())
}

/// Returns the length of a key in Java's modified UTF-8. A key that is not UTF-8 keeps its own length.
fn java_utf_length(key: &[u8]) -> usize {
    match str::from_utf8(key) {
        Err(_) => key.len(),
        Ok(text) => text
            .chars()
            .map(|character| match character {
                '\0' => 2,
                character if character.len_utf8() == 4 => 6,
                character => character.len_utf8(),
            })
            .sum(),
    }
}
