//! Checks requests in the old server's order and words: what is named, and how.
//!
//! The first failure wins, so the order is part of the behaviour: where a request breaks several rules, an
//! application sees the same sentence as before. What a read asks for is checked in `read/validate.rs`,
//! what a write brings in `write/validate.rs`.

use std::str;
use std::sync::Arc;

use bytes::Bytes;

use super::args::{ColumnParent, ColumnPath};
use super::reserved::{SYSTEM_FAMILIES, SYSTEM_KEYSPACE, TRACES_KEYSPACE};
use super::{Database, Error, table_cells};
use crate::compat::features::ConsistencyLevel;
use crate::compat::{Behaviour, texts};
use crate::marshal::{self, AbstractType};
use crate::schema::{Catalog, CfDef};
use crate::util::Clock;
use crate::util::limits::NAME_BYTES_MAX;

/// One request's view of what is defined and how its release behaves.
#[derive(Clone)]
pub struct Validation<'a> {
    pub catalog: &'a Catalog,
    pub behaviour: &'static Behaviour,
    pub clock: &'a Clock,
}

pub(super) fn text_of(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl<'a> Validation<'a> {
    pub(super) fn new(
        database: &'a Database,
        catalog: &'a Catalog,
        behaviour: &'static Behaviour,
    ) -> Validation<'a> {
        Validation { catalog, behaviour, clock: database.clock() }
    }

    pub fn keyspace(&self, keyspace: &[u8]) -> Result<(), Error> {
        let name = str::from_utf8(keyspace).unwrap_or_default();
        match self.catalog.keyspace(name) {
            Some(_) => Ok(()),
            None if name == SYSTEM_KEYSPACE => Ok(()),
            None if name == TRACES_KEYSPACE && self.behaviour.schema.shows_traces => Ok(()),
            None => Err(Error::unknown(texts::unknown_keyspace(self.behaviour, &text_of(keyspace)))),
        }
    }

    pub(super) fn find(&self, keyspace: &[u8], family: &[u8]) -> Option<&'a Arc<CfDef>> {
        self.catalog.column_family(str::from_utf8(keyspace).ok()?, str::from_utf8(family).ok()?)
    }

    /// The column family of a keyspace that exists.
    pub fn column_family(&self, keyspace: &[u8], family: &[u8]) -> Result<&'a Arc<CfDef>, Error> {
        if family.is_empty() {
            return Err(Error::invalid("non-empty columnfamily is required"));
        }
        if keyspace == SYSTEM_KEYSPACE.as_bytes() && SYSTEM_FAMILIES.contains(&&*text_of(family)) {
            // 0.6 fails inside at every touch of them: that keyspace has no replicas.
            return Err(Error::invalid("the system keyspace is not for clients"));
        }
        self.find(keyspace, family)
            .ok_or_else(|| Error::unknown(texts::unknown_table(self.behaviour, &text_of(family))))
    }

    /// The keyspace, which must exist, then its column family.
    pub fn family(&self, keyspace: &[u8], family: &[u8]) -> Result<&'a Arc<CfDef>, Error> {
        // A column family that is found is in a keyspace that exists.
        self.column_family(keyspace, family).or_else(|error| self.keyspace(keyspace).and(Err(error)))
    }

    /// The column family that a write means, in a keyspace that must exist; with counters, or without.
    pub fn written_family(
        &self,
        keyspace: &[u8],
        family: &[u8],
        with_counters: bool,
    ) -> Result<&'a Arc<CfDef>, Error> {
        let cf = self.family(keyspace, family)?;
        self.counting(cf, with_counters)?;
        Ok(cf)
    }

    /// Whether a column family is one of counters where they are written, and none where they are not.
    pub fn counting(&self, cf: &CfDef, with_counters: bool) -> Result<(), Error> {
        if cf.is_counter() == with_counters {
            return Ok(());
        }
        let non = if with_counters { "non " } else { "" };
        Err(Error::invalid(format!("invalid operation for {non}commutative columnfamily {}", cf.name)))
    }

    /// A row key. 0.6 measures it as Java writes it: NUL as two bytes, characters beyond U+FFFF as six. From 0.8
    /// on a column family may say what its keys are.
    pub fn key(&self, key: &[u8], cf: Option<&CfDef>) -> Result<(), Error> {
        if key.is_empty() {
            return Err(Error::invalid(texts::empty_key(self.behaviour)));
        }
        let is_binary = self.behaviour.writes.keys_are_bytes;
        // As Java writes it, it is at most twice as long.
        let is_short = key.len() <= NAME_BYTES_MAX / 2;
        let length = if is_binary || is_short { key.len() } else { java_utf_length(key) };
        if length > NAME_BYTES_MAX {
            return Err(Error::invalid(texts::long_key(self.behaviour, length, NAME_BYTES_MAX)));
        }
        if let Some(validator) = cf.and_then(|cf| cf.key_validator.as_deref()) {
            let validator = marshal::at(validator, self.behaviour.release);
            validator.validate(key).map_err(|error| Error::invalid(error.0))?;
        }
        Ok(())
    }

    /// The column family and the row key of a write, in the release's order.
    pub fn family_and_key(
        &self,
        keyspace: &[u8],
        family: &[u8],
        key: &[u8],
        with_counters: bool,
    ) -> Result<&'a Arc<CfDef>, Error> {
        if self.behaviour.writes.key_is_checked_before_family {
            self.key(key, None)?;
        }
        let cf = self.written_family(keyspace, family, with_counters)?;
        self.key(key, Some(cf))?;
        Ok(cf)
    }

    /// A path to one column or super column, for get, insert and the elements of a batch.
    pub fn column_path(&self, keyspace: &[u8], path: &ColumnPath) -> Result<&'a Arc<CfDef>, Error> {
        let cf = self.family(keyspace, &path.column_family)?;
        self.path_in(cf, path.super_column.as_ref(), path.column.as_ref())?;
        Ok(cf)
    }

    /// The same in a column family that is known.
    pub fn path_in(
        &self,
        cf: &CfDef,
        super_column: Option<&Bytes>,
        column: Option<&Bytes>,
    ) -> Result<(), Error> {
        if cf.is_super() {
            if super_column.is_none() {
                return Err(Error::invalid(format!(
                    "supercolumn parameter is not optional for super CF {}",
                    cf.name
                )));
            }
        } else if super_column.is_some() {
            return Err(Error::invalid(format!(
                "supercolumn parameter is invalid for standard CF {}",
                cf.name
            )));
        } else if column.is_none() {
            return Err(Error::invalid(format!(
                "column parameter is not optional for standard CF {}",
                cf.name
            )));
        }
        self.path_names(cf, super_column, column)
    }

    /// A path for remove, which may end at the column family.
    pub fn path_or_parent(&self, cf: &CfDef, path: &ColumnPath) -> Result<(), Error> {
        if !cf.is_super() && path.super_column.is_some() {
            return Err(Error::invalid(format!(
                "supercolumn may not be specified for standard CF {}",
                cf.name
            )));
        }
        let lacks_super = cf.is_super() && path.super_column.is_none() && path.column.is_some();
        if lacks_super && self.behaviour.writes.removal_names_super {
            return Err(Error::invalid(format!(
                "A column cannot be specified without specifying a super column for removal on super CF {}",
                cf.name
            )));
        }
        self.path_names(cf, path.super_column.as_ref(), path.column.as_ref())?;
        if lacks_super {
            // 0.4 fails inside, 0.5 and 0.6 leave the client waiting for a time-out.
            return Err(Error::invalid(format!(
                "a column can be removed from super CF {} only with its supercolumn; to remove a supercolumn, give \
                 it as super_column",
                cf.name
            )));
        }
        Ok(())
    }

    fn path_names(
        &self,
        cf: &CfDef,
        super_column: Option<&Bytes>,
        column: Option<&Bytes>,
    ) -> Result<(), Error> {
        if let Some(column) = column {
            self.names(cf, super_column, std::slice::from_ref(column))?;
        }
        if let Some(super_column) = super_column {
            self.names(cf, None, std::slice::from_ref(super_column))?;
        }
        Ok(())
    }

    /// What a slice or count looks into.
    pub fn column_parent(&self, keyspace: &[u8], parent: &ColumnParent) -> Result<&'a Arc<CfDef>, Error> {
        let cf = self.family(keyspace, &parent.column_family)?;
        self.parent_in(cf, parent)?;
        Ok(cf)
    }

    /// The same in a column family that is known.
    pub fn parent_in(&self, cf: &CfDef, parent: &ColumnParent) -> Result<(), Error> {
        let Some(super_column) = &parent.super_column else { return Ok(()) };
        if !cf.is_super() {
            return Err(Error::invalid(format!(
                "columnfamily alone is required for standard CF {}",
                cf.name
            )));
        }
        self.names(cf, None, std::slice::from_ref(super_column))
    }

    /// What get_count of 0.4 looks into: it asks for no keyspace and takes any super column's name.
    pub fn counted_parent(&self, keyspace: &[u8], parent: &ColumnParent) -> Result<&'a Arc<CfDef>, Error> {
        let cf = self.column_family(keyspace, &parent.column_family)?;
        if !cf.is_super() && parent.super_column.is_some() {
            return Err(Error::invalid(format!(
                "columnfamily alone is required for standard CF {}",
                cf.name
            )));
        }
        Ok(cf)
    }

    /// A super column's name.
    pub fn super_name(&self, cf: &CfDef, name: &Bytes) -> Result<(), Error> {
        self.names(cf, None, std::slice::from_ref(name))
    }

    /// The comparator of a column family's columns, or of those in a super column.
    pub(super) fn comparator<'b>(&self, cf: &'b CfDef, in_super: bool) -> &'b dyn AbstractType {
        let comparator = match cf.subcomparator() {
            Some(subcomparator) if in_super => &**subcomparator,
            _ => &*cf.comparator,
        };
        marshal::at(comparator, self.behaviour.release)
    }

    /// Names of columns, in a super column where one is given.
    pub(super) fn names(
        &self,
        cf: &CfDef,
        super_column: Option<&Bytes>,
        names: &[Bytes],
    ) -> Result<(), Error> {
        if let Some(super_column) = super_column {
            measure("supercolumn", super_column)?;
            if !cf.is_super() {
                return Err(Error::invalid(format!(
                    "supercolumn specified to ColumnFamily {} containing normal columns",
                    cf.name
                )));
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

    /// Whether a column family is there, where 0.6 would fail inside.
    pub fn defined(&self, keyspace: &[u8], family: &[u8]) -> Result<(), Error> {
        self.family(keyspace, family).map(drop)
    }

    /// Consistency levels that make no sense for reads.
    pub fn read_consistency(&self, keyspace: &[u8], consistency: ConsistencyLevel) -> Result<(), Error> {
        match consistency {
            ConsistencyLevel::Zero => {
                Err(Error::invalid("Consistency level zero may not be applied to read operations"))
            }
            ConsistencyLevel::All if self.behaviour.reads.refuses_reads_at_all => {
                Err(Error::invalid("Consistency level all is not yet supported on read operations"))
            }
            ConsistencyLevel::Any if self.behaviour.reads.refuses_reads_at_any => {
                Err(Error::invalid(texts::level_of_writes(self.behaviour, consistency)))
            }
            ConsistencyLevel::EachQuorum if self.behaviour.reads.refuses_reads_at_each_quorum => {
                Err(Error::invalid(texts::level_of_writes(self.behaviour, consistency)))
            }
            _ => self.data_centre_consistency(keyspace, consistency),
        }
    }

    /// Consistency levels that make no sense for writes.
    pub fn write_consistency(&self, keyspace: &[u8], consistency: ConsistencyLevel) -> Result<(), Error> {
        if consistency.is_serial() {
            return Err(Error::invalid("You must use conditional updates for serializable writes"));
        }
        self.data_centre_consistency(keyspace, consistency)
    }

    /// Up to 1.1, levels of data centres need a strategy that knows them.
    fn data_centre_consistency(&self, keyspace: &[u8], consistency: ConsistencyLevel) -> Result<(), Error> {
        let is_of_data_centres =
            matches!(consistency, ConsistencyLevel::LocalQuorum | ConsistencyLevel::EachQuorum);
        if !is_of_data_centres || !self.behaviour.reads.data_centre_levels_need_strategy {
            return Ok(());
        }
        self.needs_data_centres(keyspace, consistency)
    }

    /// A level that only a strategy of data centres has.
    pub fn needs_data_centres(&self, keyspace: &[u8], consistency: ConsistencyLevel) -> Result<(), Error> {
        let keyspace = self.catalog.keyspace(str::from_utf8(keyspace).unwrap_or_default());
        let Some(keyspace) = keyspace else { return Ok(()) };
        let class = keyspace.modern_strategy_class();
        if class.ends_with(".NetworkTopologyStrategy") {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "consistency level {consistency} not compatible with replication strategy ({class})"
        )))
    }

    /// Consistency levels that counters cannot have.
    pub fn counter_consistency(&self, cf: &CfDef, consistency: ConsistencyLevel) -> Result<(), Error> {
        if consistency == ConsistencyLevel::Any {
            return Err(Error::invalid(format!(
                "Consistency level ANY is not yet supported for counter columnfamily {}",
                cf.name
            )));
        }
        if consistency.is_serial() {
            return Err(Error::invalid("Counter operations are inherently non-serializable"));
        }
        Ok(())
    }
}

pub(super) fn measure(what: &str, name: &[u8]) -> Result<(), Error> {
    if name.len() > NAME_BYTES_MAX {
        return Err(Error::invalid(format!("{what} name length must not be greater than {NAME_BYTES_MAX}")));
    }
    if name.is_empty() {
        return Err(Error::invalid(format!("{what} name must not be empty")));
    }
    Ok(())
}

/// Bytes of a key in Java's modified UTF-8. What is no UTF-8 counts as it is.
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
