//! Checks requests in the old server's order and words.
//!
//! The first failure wins, so the order is part of the behaviour: where a request breaks several rules, an
//! application sees the same sentence as before.

use std::str;
use std::sync::Arc;

use bytes::Bytes;

use super::Error;
use super::describe::{SYSTEM_FAMILIES, SYSTEM_KEYSPACE};
use super::request::{
    ColumnOrSuper, ColumnParent, ColumnPath, Deletion, KeyRange, MutationRequest, RequestedRange,
    SlicePredicate,
};
use crate::marshal::{self, AbstractType};
use crate::model::{Behaviour, ConsistencyLevel, Predicate, SliceRange};
use crate::partitioner::Partitioner;
use crate::schema::{Catalog, CfDef};
use crate::util::limits::NAME_BYTES_MAX;

/// One request's view of what is defined and how its release behaves.
#[derive(Clone)]
pub struct Validation<'a> {
    pub catalog: &'a Catalog,
    pub behaviour: &'static Behaviour,
}

fn text_of(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

impl Validation<'_> {
    pub fn keyspace(&self, keyspace: &[u8]) -> Result<(), Error> {
        let name = str::from_utf8(keyspace).unwrap_or_default();
        match self.catalog.keyspace(name) {
            Some(_) => Ok(()),
            None if name == SYSTEM_KEYSPACE => Ok(()),
            None => Err(Error::invalid(format!(
                "Keyspace {} does not exist in this schema.",
                String::from_utf8_lossy(keyspace)
            ))),
        }
    }

    fn find(&self, keyspace: &[u8], family: &[u8]) -> Option<&Arc<CfDef>> {
        self.catalog.column_family(str::from_utf8(keyspace).ok()?, str::from_utf8(family).ok()?)
    }

    /// The column family of a keyspace that exists.
    pub fn column_family(&self, keyspace: &[u8], family: &[u8]) -> Result<Arc<CfDef>, Error> {
        if family.is_empty() {
            return Err(Error::invalid("non-empty columnfamily is required"));
        }
        if keyspace == SYSTEM_KEYSPACE.as_bytes() && SYSTEM_FAMILIES.contains(&&*text_of(family)) {
            // 0.6 fails inside at every touch of them: that keyspace has no replicas.
            return Err(Error::invalid("the system keyspace is not for clients"));
        }
        let found = self.find(keyspace, family).cloned();
        found.ok_or_else(|| Error::invalid(format!("unconfigured columnfamily {}", text_of(family))))
    }

    /// A row key. 0.6 measures it as Java writes it: NUL as two bytes, characters beyond U+FFFF as six.
    pub fn key(&self, key: &[u8]) -> Result<(), Error> {
        if key.is_empty() {
            return Err(Error::invalid("Key may not be empty"));
        }
        let length = java_utf_length(key);
        if length <= NAME_BYTES_MAX {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "Encoded key length of {length} is longer than maximum of {NAME_BYTES_MAX}"
        )))
    }

    /// A path to one column or super column, for get, insert and the elements of a batch.
    pub fn column_path(&self, keyspace: &[u8], path: &ColumnPath) -> Result<Arc<CfDef>, Error> {
        self.keyspace(keyspace)?;
        let cf = self.column_family(keyspace, &path.column_family)?;
        if cf.is_super() {
            if path.super_column.is_none() {
                return Err(Error::invalid(format!(
                    "supercolumn parameter is not optional for super CF {}",
                    cf.name
                )));
            }
        } else if path.super_column.is_some() {
            return Err(Error::invalid(format!(
                "supercolumn parameter is invalid for standard CF {}",
                cf.name
            )));
        } else if path.column.is_none() {
            return Err(Error::invalid(format!(
                "column parameter is not optional for standard CF {}",
                cf.name
            )));
        }
        self.path_names(&cf, path)?;
        Ok(cf)
    }

    /// A path for remove, which may end at the column family.
    pub fn column_path_or_parent(&self, keyspace: &[u8], path: &ColumnPath) -> Result<Arc<CfDef>, Error> {
        self.keyspace(keyspace)?;
        let cf = self.column_family(keyspace, &path.column_family)?;
        if !cf.is_super() && path.super_column.is_some() {
            return Err(Error::invalid(format!(
                "supercolumn may not be specified for standard CF {}",
                cf.name
            )));
        }
        self.path_names(&cf, path)?;
        if cf.is_super() && path.super_column.is_none() && path.column.is_some() {
            // 0.4 fails inside, 0.5 and 0.6 leave the client waiting for a time-out.
            return Err(Error::invalid(format!(
                "a column can be removed from super CF {} only with its supercolumn; to remove a supercolumn, give \
                 it as super_column",
                cf.name
            )));
        }
        Ok(cf)
    }

    fn path_names(&self, cf: &CfDef, path: &ColumnPath) -> Result<(), Error> {
        if let Some(column) = &path.column {
            self.names(cf, path.super_column.as_ref(), std::slice::from_ref(column))?;
        }
        if let Some(super_column) = &path.super_column {
            self.names(cf, None, std::slice::from_ref(super_column))?;
        }
        Ok(())
    }

    /// What a slice or count looks into.
    pub fn column_parent(&self, keyspace: &[u8], parent: &ColumnParent) -> Result<Arc<CfDef>, Error> {
        self.keyspace(keyspace)?;
        let cf = self.column_family(keyspace, &parent.column_family)?;
        if let Some(super_column) = &parent.super_column {
            if !cf.is_super() {
                return Err(Error::invalid(format!(
                    "columnfamily alone is required for standard CF {}",
                    cf.name
                )));
            }
            self.names(&cf, None, std::slice::from_ref(super_column))?;
        }
        Ok(cf)
    }

    /// What get_count of 0.4 looks into: it asks for no keyspace and takes any super column's name.
    pub fn counted_parent(&self, keyspace: &[u8], parent: &ColumnParent) -> Result<Arc<CfDef>, Error> {
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
    fn comparator<'b>(&self, cf: &'b CfDef, in_super: bool) -> &'b dyn AbstractType {
        let comparator = match cf.subcomparator() {
            Some(subcomparator) if in_super => &**subcomparator,
            _ => &*cf.comparator,
        };
        marshal::at(comparator, self.behaviour.release)
    }

    /// Names of columns, in a super column where one is given.
    fn names(&self, cf: &CfDef, super_column: Option<&Bytes>, names: &[Bytes]) -> Result<(), Error> {
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
        }
        Ok(())
    }

    /// A slice's range.
    fn range(&self, cf: &CfDef, in_super: bool, range: &RequestedRange) -> Result<SliceRange, Error> {
        let comparator = self.comparator(cf, in_super);
        for bound in [&range.start, &range.finish] {
            comparator.validate(bound).map_err(|error| Error::invalid(error.0))?;
            if bound.len() > NAME_BYTES_MAX {
                // 0.6 fails inside or leaves the client waiting; the sentence is 1.2's.
                return Err(Error::invalid(format!(
                    "range bound length cannot be larger than {NAME_BYTES_MAX}"
                )));
            }
        }
        let count = usize::try_from(range.count)
            .map_err(|_| Error::invalid("get_slice requires non-negative count"))?;
        let (start, finish) = (&range.start, &range.finish);
        let order = comparator.compare(start, finish);
        let is_backwards = if range.reversed { order.is_lt() } else { order.is_gt() };
        if !start.is_empty() && !finish.is_empty() && is_backwards {
            return Err(Error::invalid("range finish must come after start in the order of traversal"));
        }
        Ok(SliceRange { start: start.clone(), finish: finish.clone(), reversed: range.reversed, count })
    }

    /// What a slice asks for.
    pub fn predicate(
        &self,
        cf: &CfDef,
        super_column: Option<&Bytes>,
        predicate: &SlicePredicate,
    ) -> Result<Predicate, Error> {
        match (&predicate.column_names, &predicate.slice_range) {
            (None, None) => {
                Err(Error::invalid("predicate column_names and slice_range may not both be null"))
            }
            (Some(_), Some(_)) if self.behaviour.predicate_is_checked => {
                Err(Error::invalid("predicate column_names and slice_range may not both be present"))
            }
            (Some(names), _) => {
                self.names(cf, super_column, names)?;
                Ok(Predicate::Names(names.clone()))
            }
            (None, Some(range)) => self.range(cf, super_column.is_some(), range).map(Predicate::Range),
        }
    }

    /// What get_range_slices may be asked: both keys, or both tokens.
    pub fn key_range(&self, range: &KeyRange, partitioner: &dyn Partitioner) -> Result<(), Error> {
        if range.start_key.is_some() != range.end_key.is_some() {
            return Err(Error::invalid(
                "start key and end key must either both be non-null, or both be null",
            ));
        }
        if range.start_token.is_some() != range.end_token.is_some() {
            return Err(Error::invalid(
                "start token and end token must either both be non-null, or both be null",
            ));
        }
        if range.start_key.is_some() == range.start_token.is_some() {
            return Err(Error::invalid(
                "exactly one of {start key, end key} or {start token, end token} must be specified",
            ));
        }
        if let (Some(start), Some(end)) = (&range.start_key, &range.end_key) {
            key_order(start, end, partitioner)?;
        }
        if range.count <= 0 {
            return Err(Error::invalid("maxRows must be positive"));
        }
        Ok(())
    }

    /// One element of a batch.
    pub fn mutation(&self, keyspace: &[u8], family: &Bytes, mutation: &MutationRequest) -> Result<(), Error> {
        match (&mutation.insert, &mutation.deletion) {
            (Some(_), Some(_)) => Err(Error::invalid(
                "Mutation may have either a ColumnOrSuperColumn or a Deletion, but not both",
            )),
            (Some(insert), None) => self.column_or_super(keyspace, family, insert),
            (None, Some(deletion)) => self.deletion(keyspace, family, deletion),
            (None, None) => Err(Error::invalid("Mutation must have one ColumnOrSuperColumn or one Deletion")),
        }
    }

    /// What a batch inserts. A super column without columns is not looked at: nothing is written.
    pub fn column_or_super(
        &self,
        keyspace: &[u8],
        family: &Bytes,
        insert: &ColumnOrSuper,
    ) -> Result<(), Error> {
        let path = |super_column: Option<&Bytes>, column: &Bytes| ColumnPath {
            column_family: family.clone(),
            super_column: super_column.cloned(),
            column: Some(column.clone()),
        };
        if let Some(column) = &insert.column {
            self.column_path(keyspace, &path(None, &column.name))?;
        }
        if let Some(super_column) = &insert.super_column {
            for column in &super_column.columns {
                self.column_path(keyspace, &path(Some(&super_column.name), &column.name))?;
            }
        }
        if insert.column.is_none() && insert.super_column.is_none() {
            return Err(Error::invalid("ColumnOrSuperColumn must have one or both of Column or SuperColumn"));
        }
        Ok(())
    }

    /// What a batch deletes. 0.6 looks the column family up without asking whether the keyspace is there.
    fn deletion(&self, keyspace: &[u8], family: &Bytes, deletion: &Deletion) -> Result<(), Error> {
        let cf = self.find(keyspace, family);
        let Some(predicate) = &deletion.predicate else {
            if let Some(super_column) = &deletion.super_column
                && !cf.is_some_and(|cf| cf.is_super())
            {
                return Err(Error::invalid(format!(
                    "deletion of super_column is not possible on a standard ColumnFamily (KeySpace={} \
                     ColumnFamily={} Deletion=Deletion(timestamp:{}, super_column:{}))",
                    text_of(keyspace),
                    text_of(family),
                    deletion.timestamp,
                    spaced_hex(super_column)
                )));
            }
            // 0.6 asks for the column family of a row deletion only when it writes.
            return Ok(());
        };
        if predicate.column_names.is_none() && predicate.slice_range.is_none() {
            return Err(Error::invalid(
                "A SlicePredicate must be given a list of Columns, a SliceRange, or both",
            ));
        }
        if let (None, Some(super_column)) = (cf, &deletion.super_column) {
            measure("supercolumn", super_column)?;
            return Err(Error::invalid(format!(
                "supercolumn specified to ColumnFamily {} containing normal columns",
                text_of(family)
            )));
        }
        self.defined(keyspace, family)?;
        let cf = self.column_family(keyspace, family)?;
        if let Some(range) = &predicate.slice_range {
            self.range(&cf, deletion.super_column.is_some(), range)?;
        }
        if let Some(names) = &predicate.column_names {
            self.names(&cf, deletion.super_column.as_ref(), names)?;
        }
        if predicate.slice_range.is_some() {
            return Err(Error::invalid("Deletion does not yet support SliceRange predicates."));
        }
        Ok(())
    }

    /// Whether a column family is there, where 0.6 would fail inside.
    pub fn defined(&self, keyspace: &[u8], family: &[u8]) -> Result<(), Error> {
        self.keyspace(keyspace)?;
        self.column_family(keyspace, family).map(drop)
    }

    /// Consistency levels that make no sense for reads.
    pub fn read_consistency(&self, consistency: ConsistencyLevel) -> Result<(), Error> {
        match consistency {
            ConsistencyLevel::Zero => {
                Err(Error::invalid("Consistency level zero may not be applied to read operations"))
            }
            ConsistencyLevel::All if self.behaviour.refuses_reads_at_all => {
                Err(Error::invalid("Consistency level all is not yet supported on read operations"))
            }
            ConsistencyLevel::Any if self.behaviour.refuses_reads_at_any => {
                Err(Error::invalid("Consistency level any may not be applied to read operations"))
            }
            _ => Ok(()),
        }
    }
}

fn measure(what: &str, name: &[u8]) -> Result<(), Error> {
    if name.len() > NAME_BYTES_MAX {
        return Err(Error::invalid(format!("{what} name length must not be greater than {NAME_BYTES_MAX}")));
    }
    if name.is_empty() {
        return Err(Error::invalid(format!("{what} name must not be empty")));
    }
    Ok(())
}

/// The keys of a range in the order of their tokens. An end that is the ring's own end is never too early.
fn key_order(start: &[u8], end: &[u8], partitioner: &dyn Partitioner) -> Result<(), Error> {
    let token = |key: &[u8]| {
        let mut token = Vec::new();
        if !key.is_empty() {
            partitioner.token(key, &mut token);
        }
        token
    };
    if end.is_empty() || token(start) <= token(end) {
        return Ok(());
    }
    Err(Error::invalid(if partitioner.preserves_order() {
        "start key must sort before (or equal to) finish key in your partitioner!"
    } else {
        "start key's md5 sorts after end key's md5.  this is not allowed; you probably should not specify end key at \
         all, under RandomPartitioner"
    }))
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

/// Bytes as Java's generated code prints them: `0A FF`.
fn spaced_hex(bytes: &[u8]) -> String {
    let shown: Vec<String> = bytes.iter().take(64).map(|byte| format!("{byte:02X}")).collect();
    shown.join(" ")
}
