//! Validates the arguments of writes: columns, counters, deletions.

use std::sync::Arc;

use crate::args::{ColumnOrSuper, Deletion, MutationRequest, NewColumn, SlicePredicate};
use crate::error::invalid;
use crate::limits::{EXPIRY_MAX_S, NAME_BYTES_MAX, TTL_MAX_S};
use crate::validate::{Validation, measure, text_of};
use crate::{Error, Result, table_cells};
use base::compat::texts;
use base::marshal;
use base::schema::CfDef;
use base::util::hex;

use bytes::Bytes;

/// A column family named in a batch. It is looked up once, and the first element that needs it reports if it does not
/// exist.
pub(super) struct NamedFamily<'a> {
    keyspace: &'a [u8],
    name: &'a [u8],
    found: Result<&'a Arc<CfDef>>,
}

impl NamedFamily<'_> {
    fn cf(&self) -> Result<&CfDef> {
        match &self.found {
            Ok(cf) => Ok(cf),
            Err(error) => Err(error.clone()),
        }
    }
}

/// Checks that the second at which a column expires fits into 31 bits. 2.1 stores it so, and refuses others. `which` is
/// the word before "ttl" in the error.
pub fn check_expiry(cf: &CfDef, ttl_s: i32, now_s: i32, which: &str) -> Result<()> {
    if ttl_s <= EXPIRY_MAX_S - now_s {
        return Ok(());
    }
    invalid(format!(
        "Request on table {}.{} with {which}ttl of {ttl_s} seconds exceeds maximum supported expiration date of \
         2038-01-19T03:14:06+00:00. In order to avoid this use a lower TTL, change the expiration date overflow \
         policy or upgrade to a version where this limitation is fixed. See CASSANDRA-14092 for more details.",
        cf.keyspace, cf.name
    ))
}

impl<'a> Validation<'a> {
    pub(super) fn named_family<'b>(&self, keyspace: &'b [u8], name: &'b [u8]) -> NamedFamily<'b>
    where
        'a: 'b,
    {
        NamedFamily { keyspace, name, found: self.family(keyspace, name) }
    }

    /// Validates one element of a batch (to 0.7).
    pub(super) fn mutation(&self, family: &NamedFamily<'_>, mutation: &MutationRequest) -> Result<()> {
        match (&mutation.insert, &mutation.deletion) {
            (Some(_), Some(_)) => {
                invalid("Mutation may have either a ColumnOrSuperColumn or a Deletion, but not both")
            }
            (Some(insert), None) => self.column_or_super(family, insert),
            (None, Some(deletion)) if self.behaviour.writes.batch_deletion_is_checked => {
                let cf = family.cf()?;
                self.counting(cf, false)?;
                self.deletion_in(cf, deletion)
            }
            (None, Some(deletion)) => self.deletion(family, deletion),
            (None, None) => invalid("Mutation must have one ColumnOrSuperColumn or one Deletion"),
        }
    }

    /// Validates an insert of a batch (to 0.7). A super column without columns is not checked, because nothing is
    /// written.
    pub(super) fn column_or_super(&self, family: &NamedFamily<'_>, insert: &ColumnOrSuper) -> Result<()> {
        let check = |super_column: Option<&Bytes>, column: &NewColumn| {
            let cf = family.cf()?;
            self.path_in(cf, super_column, Some(&column.name))?;
            self.counting(cf, false)?;
            self.column_data(cf, super_column.is_some(), column)
        };
        if let Some(column) = &insert.column {
            // 0.7 checks the time to live before it looks up the column family (`validateColumnOrSuperColumn`).
            self.long_enough(column.ttl_s)?;
            check(None, column)?;
        }
        if let Some(super_column) = &insert.super_column {
            for column in &super_column.columns {
                check(Some(&super_column.name), column)?;
            }
        }
        if insert.column.is_none() && insert.super_column.is_none() {
            return invalid("ColumnOrSuperColumn must have one or both of Column or SuperColumn");
        }
        Ok(())
    }

    /// Validates one element of a batch in a known column family (0.8 and later).
    pub(crate) fn mutation_in(&self, cf: &CfDef, mutation: &MutationRequest) -> Result<()> {
        match (&mutation.insert, &mutation.deletion) {
            (Some(insert), None) => self.insert_in(cf, insert),
            (None, Some(deletion)) => self.deletion_in(cf, deletion),
            _ => invalid("mutation must have one and only one of column_or_supercolumn or deletion"),
        }
    }

    fn insert_in(&self, cf: &CfDef, insert: &ColumnOrSuper) -> Result<()> {
        let ColumnOrSuper { column, super_column, counter, counter_super } = insert;
        let given = [column.is_some(), super_column.is_some(), counter.is_some(), counter_super.is_some()];
        if given.iter().filter(|is_given| **is_given).count() != 1 {
            return invalid(
                "ColumnOrSuperColumn must have one (and only one) of column, super_column, counter and \
                 counter_super_column",
            );
        }
        self.counting(cf, counter.is_some() || counter_super.is_some())?;
        if let Some(column) = column {
            self.ttl(cf, column.ttl_s)?;
            self.path_in(cf, None, Some(&column.name))?;
            self.column_data(cf, false, column)?;
        }
        for column in super_column.iter().flat_map(|super_column| &super_column.columns) {
            let name = super_column.as_ref().map(|super_column| &super_column.name);
            self.path_in(cf, name, Some(&column.name))?;
            self.column_data(cf, true, column)?;
        }
        if let Some(counter) = counter {
            self.path_in(cf, None, Some(&counter.name))?;
        }
        for counter in counter_super.iter().flat_map(|super_column| &super_column.columns) {
            let name = counter_super.as_ref().map(|super_column| &super_column.name);
            self.path_in(cf, name, Some(&counter.name))?;
        }
        Ok(())
    }

    /// Validates the time to live, either the given one or the column family's default.
    fn ttl(&self, cf: &CfDef, ttl_s: Option<i32>) -> Result<()> {
        self.long_enough(ttl_s)?;
        match ttl_s {
            Some(seconds) if seconds > TTL_MAX_S => {
                invalid(format!("ttl is too large. requested ({seconds}) maximum ({TTL_MAX_S})"))
            }
            Some(seconds) => self.expires_in_time(cf, seconds, ""),
            None => {
                cf.default_ttl_s().map_or(Ok(()), |seconds| self.expires_in_time(cf, seconds, "default "))
            }
        }
    }

    /// Checks the least time to live: one second, or zero, which is none.
    fn long_enough(&self, ttl_s: Option<i32>) -> Result<()> {
        let least = if self.behaviour.writes.ttl_may_be_zero { 0 } else { 1 };
        match ttl_s {
            Some(seconds) if seconds < least => invalid(texts::short_ttl(self.behaviour)),
            _ => Ok(()),
        }
    }

    fn super_on_standard(&self, what: &str, keyspace: &[u8], family: &[u8], deletion: &Deletion) -> Error {
        let begin = texts::deletion_on_standard(self.behaviour, what, &text_of(keyspace), &text_of(family));
        Error::invalid(format!(
            "{begin} Deletion=Deletion(timestamp:{}, super_column:{}))",
            deletion.timestamp.unwrap_or_default(),
            deletion.super_column.as_deref().map(spaced_hex).unwrap_or_default()
        ))
    }

    fn expires_in_time(&self, cf: &CfDef, ttl_s: i32, which: &str) -> Result<()> {
        if !self.behaviour.writes.expiry_has_31_bits {
            return Ok(());
        }
        check_expiry(cf, ttl_s, self.clock.now_s(), which)
    }

    /// Validates a column's time to live, value and timestamp. Its name has been validated already.
    pub(crate) fn column_data(&self, cf: &CfDef, in_super: bool, column: &NewColumn) -> Result<()> {
        self.ttl(cf, column.ttl_s)?;
        let Some(value) = &column.value else { return invalid("Column value is required") };
        if column.timestamp.is_none() {
            return invalid("Column timestamp is required");
        }
        let definition = cf.column_metadata.get(&column.name);
        let of_table = cf.table.as_deref().map(|table| table_cells::value_validator(table, &column.name));
        let of_column = definition.map_or(&cf.default_validator, |definition| &definition.validator);
        let validator = of_table.as_ref().unwrap_or(of_column);
        let validator = marshal::at(&**validator, self.behaviour.release);
        if let Err(error) = validator.validate(value) {
            let place = format!("[{}][{}]", cf.keyspace, cf.name);
            let name = self.comparator(cf, in_super).to_text(&column.name);
            let in_hex = format!("[{}] = [{}]", hex(&column.name), hex(value));
            return invalid(texts::invalid_value(self.behaviour, &place, &name, &in_hex, &error.0));
        }
        let index = definition.and_then(|definition| definition.index.as_ref());
        if let Some(index) = index.filter(|_| value.len() > NAME_BYTES_MAX) {
            return invalid(format!(
                "Can't index column value of size {} for index {} in CF {} of KS {}",
                value.len(),
                texts::index_of_value(self.behaviour, &cf.name, index.name.as_deref().unwrap_or("null")),
                cf.name,
                cf.keyspace
            ));
        }
        Ok(())
    }

    /// Validates a deletion of a batch in a known column family (0.7 and later).
    fn deletion_in(&self, cf: &CfDef, deletion: &Deletion) -> Result<()> {
        if let Some(super_column) = &deletion.super_column {
            self.names(cf, None, std::slice::from_ref(super_column))?;
        }
        if let Some(predicate) = &deletion.predicate {
            check_not_empty(predicate)?;
            self.deleted_columns(cf, deletion.super_column.as_ref(), predicate)?;
        }
        if !cf.is_super() && deletion.super_column.is_some() {
            let what = texts::deletion_of_super(self.behaviour);
            return Err(self.super_on_standard(&what, cf.keyspace.as_bytes(), cf.name.as_bytes(), deletion));
        }
        if deletion.timestamp.is_none() && !cf.is_counter() {
            return invalid(texts::deletion_without_timestamp(self.behaviour, &cf.name));
        }
        let slice = deletion.predicate.as_ref().and_then(|predicate| predicate.slice_range.as_ref());
        let is_in_super = slice.is_some() && deletion.super_column.is_some();
        if is_in_super && !self.behaviour.writes.deletes_slices_of_supers {
            return invalid("Cannot delete a range of subcolumns in a super column");
        }
        Ok(())
    }

    /// Validates a deletion of a batch (to 0.6). 0.6 looks up the column family without checking that the keyspace
    /// exists.
    fn deletion(&self, family: &NamedFamily<'_>, deletion: &Deletion) -> Result<()> {
        let (keyspace, name) = (family.keyspace, family.name);
        let cf = self.find(keyspace, name);
        let Some(predicate) = &deletion.predicate else {
            if deletion.super_column.is_some() && !cf.is_some_and(|cf| cf.is_super()) {
                return Err(self.super_on_standard("deletion of super_column", keyspace, name, deletion));
            }
            // 0.6 looks up the column family of a row deletion only when it writes.
            return Ok(());
        };
        check_not_empty(predicate)?;
        if let (None, Some(super_column)) = (cf, &deletion.super_column) {
            measure("supercolumn", super_column)?;
            return invalid(texts::super_of_standard(self.behaviour, &text_of(name)));
        }
        self.deleted_columns(family.cf()?, deletion.super_column.as_ref(), predicate)
    }

    /// Validates the columns that a deletion names.
    fn deleted_columns(
        &self,
        cf: &CfDef,
        super_column: Option<&Bytes>,
        predicate: &SlicePredicate,
    ) -> Result<()> {
        if let Some(range) = &predicate.slice_range {
            self.range(cf, super_column.is_some(), range)?;
        }
        if let Some(names) = &predicate.column_names {
            self.names(cf, super_column, names)?;
        }
        if predicate.slice_range.is_some() && !self.behaviour.writes.deletes_slices {
            return invalid("Deletion does not yet support SliceRange predicates.");
        }
        Ok(())
    }
}

fn check_not_empty(predicate: &SlicePredicate) -> Result<()> {
    if predicate.column_names.is_none() && predicate.slice_range.is_none() {
        return invalid("A SlicePredicate must be given a list of Columns, a SliceRange, or both");
    }
    Ok(())
}

/// Formats bytes as Java's generated code prints them: `0A FF`.
fn spaced_hex(bytes: &[u8]) -> String {
    let shown: Vec<String> = bytes.iter().take(64).map(|byte| format!("{byte:02X}")).collect();
    shown.join(" ")
}
