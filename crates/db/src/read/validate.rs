//! Validates the arguments of reads: slices, ranges of keys, conditions.

use crate::args::{IndexClause, IndexExpression, IndexOperator, KeyRange, RequestedRange, SlicePredicate};
use crate::error::invalid;
use crate::limits::NAME_BYTES_MAX;
use crate::validate::Validation;
use crate::{Error, Result};
use base::compat::texts;
use base::marshal;
use base::model::{Predicate, SliceRange};
use base::partitioner::Partitioner;
use base::schema::CfDef;
use base::util::hex;

use bytes::Bytes;

impl Validation<'_> {
    /// Validates the range of a slice and converts it.
    pub(crate) fn range(&self, cf: &CfDef, in_super: bool, range: &RequestedRange) -> Result<SliceRange> {
        let comparator = self.comparator(cf, in_super);
        let count_of = || {
            usize::try_from(range.count).map_err(|_| Error::invalid("get_slice requires non-negative count"))
        };
        let (start, finish) = (&range.start, &range.finish);
        if self.behaviour.reads.slice_lengths_are_checked_first {
            count_of()?;
            for (bound, which) in [(start, "start"), (finish, "finish")] {
                bound_length(bound, which)?;
            }
        }
        for (bound, which) in [(start, "start"), (finish, "finish")] {
            comparator.validate(bound).map_err(|error| Error::invalid(error.0))?;
            // 0.6 fails with an internal error or lets the client wait; the message comes from 1.2.
            bound_length(bound, which)?;
        }
        let count = count_of()?;
        let order = comparator.compare(start, finish);
        let is_backwards = if range.reversed { order.is_lt() } else { order.is_gt() };
        if !start.is_empty() && !finish.is_empty() && is_backwards {
            return invalid("range finish must come after start in the order of traversal");
        }
        Ok(SliceRange { start: start.clone(), finish: finish.clone(), reversed: range.reversed, count })
    }

    /// Validates the predicate of a slice and converts it.
    pub(crate) fn predicate(
        &self,
        cf: &CfDef,
        super_column: Option<&Bytes>,
        predicate: &SlicePredicate,
    ) -> Result<Predicate> {
        match (&predicate.column_names, &predicate.slice_range) {
            (None, None) => invalid("predicate column_names and slice_range may not both be null"),
            (Some(_), Some(_)) if self.behaviour.reads.predicate_is_checked => {
                invalid("predicate column_names and slice_range may not both be present")
            }
            (Some(names), _) => {
                self.names(cf, super_column, names)?;
                Ok(Predicate::Names(names.clone()))
            }
            (None, Some(range)) => self.range(cf, super_column.is_some(), range).map(Predicate::Range),
        }
    }

    /// Validates the range of get_range_slices: two keys or two tokens, and from 1.1 on also a key and a token.
    pub(crate) fn key_range(
        &self,
        cf: &CfDef,
        super_column: Option<&Bytes>,
        range: &KeyRange,
        partitioner: &dyn Partitioner,
    ) -> Result<()> {
        if self.behaviour.reads.key_range_may_end_with_token {
            mixed_ends(range)?;
        } else {
            unmixed_ends(range)?;
        }
        if let (Some(start), Some(end)) = (&range.start_key, &range.end_key) {
            self.key_order(start, end, partitioner)?;
        }
        if let (Some(start), Some(end)) = (&range.start_key, &range.end_token) {
            self.key_before_token(start, end, partitioner)?;
        }
        if !range.row_filter.is_empty() {
            self.expressions(cf, &range.row_filter)?;
            if super_column.is_some() {
                return invalid("super columns are not supported for indexing");
            }
        }
        if range.count <= 0 {
            return invalid("maxRows must be positive");
        }
        Ok(())
    }

    /// Validates the start column of get_paged_slice.
    pub(crate) fn page_start(&self, cf: &CfDef, start: &[u8]) -> Result<()> {
        bound_length(start, "start")?;
        self.comparator(cf, false).validate(start).map_err(|error| Error::invalid(error.0))
    }

    /// Checks that the tokens of a range's keys are in order. An empty end means the end of the ring and is always in
    /// order.
    fn key_order(&self, start: &[u8], end: &[u8], partitioner: &dyn Partitioner) -> Result<()> {
        if end.is_empty() || token_of(start, partitioner) <= token_of(end, partitioner) {
            return Ok(());
        }
        invalid(if partitioner.preserves_order() {
            "start key must sort before (or equal to) finish key in your partitioner!".to_owned()
        } else {
            texts::crossed_tokens(self.behaviour)
        })
    }

    fn key_before_token(&self, start: &[u8], end: &[u8], partitioner: &dyn Partitioner) -> Result<()> {
        let text = String::from_utf8_lossy(end);
        let end = partitioner.parse_token(&text).map_err(|error| Error::invalid(error.to_string()))?;
        let is_open = end == partitioner.minimum_token(self.behaviour.release);
        if is_open || start.is_empty() || token_of(start, partitioner) <= end {
            return Ok(());
        }
        invalid("Start key's token sorts after end token")
    }

    /// Validates the conditions of get_indexed_slices, one of which must be on an indexed column.
    pub(crate) fn index_clause(&self, cf: &CfDef, clause: &IndexClause) -> Result<()> {
        if clause.expressions.is_empty() {
            return invalid("index clause list may not be empty");
        }
        if !self.expressions(cf, &clause.expressions)? {
            return Err(Error::unknown("No indexed columns present in index clause with operator EQ"));
        }
        Ok(())
    }

    /// Validates conditions on a row. Returns whether one of them is an equality on an indexed column.
    pub(crate) fn expressions(&self, cf: &CfDef, expressions: &[IndexExpression]) -> Result<bool> {
        let mut is_indexed = false;
        for expression in expressions {
            let failed = |what: &str, why: &str| {
                let (name, value) = (hex(&expression.column_name), hex(&expression.value));
                Error::invalid(format!("[{name}]=[{value}] failed {what} validation ({why})"))
            };
            let comparator = self.comparator(cf, false);
            comparator.validate(&expression.column_name).map_err(|error| failed("name", &error.0))?;
            if expression.value.len() > NAME_BYTES_MAX {
                return invalid("Index expression values may not be larger than 64K");
            }
            if self.behaviour.reads.condition_needs_plain_name
                && (cf.is_super() || expression.column_name.is_empty())
            {
                // 2.1 fails with an internal error when it builds a cell name from this.
                let why = "a condition needs the name of a column of a Standard column family";
                return Err(failed("name", why));
            }
            let column = cf.column_metadata.get(&expression.column_name);
            let validator =
                marshal::at(&**cf.value_validator(&expression.column_name), self.behaviour.release);
            validator.validate(&expression.value).map_err(|error| failed("value", &error.0))?;
            is_indexed |= expression.operator == IndexOperator::Eq
                && column.is_some_and(|column| column.index.is_some());
        }
        Ok(is_indexed)
    }
}

fn bound_length(bound: &[u8], which: &str) -> Result<()> {
    if bound.len() > NAME_BYTES_MAX {
        return invalid(format!("range {which} length cannot be larger than {NAME_BYTES_MAX}"));
    }
    Ok(())
}

/// Checks that there is one start and one end, and no token before a key (1.1 and later).
fn mixed_ends(range: &KeyRange) -> Result<()> {
    if range.start_key.is_none() == range.start_token.is_none()
        || range.end_key.is_none() == range.end_token.is_none()
    {
        return invalid(
            "exactly one each of {start key, start token} and {end key, end token} must be specified",
        );
    }
    if range.start_token.is_some() && range.end_key.is_some() {
        return invalid("start token + end key is not a supported key range");
    }
    Ok(())
}

/// Checks that there are two keys or two tokens (up to 1.0).
fn unmixed_ends(range: &KeyRange) -> Result<()> {
    if range.start_key.is_some() != range.end_key.is_some() {
        return invalid("start key and end key must either both be non-null, or both be null");
    }
    if range.start_token.is_some() != range.end_token.is_some() {
        return invalid("start token and end token must either both be non-null, or both be null");
    }
    if range.start_key.is_some() == range.start_token.is_some() {
        return invalid("exactly one of {start key, end key} or {start token, end token} must be specified");
    }
    Ok(())
}

fn token_of(key: &[u8], partitioner: &dyn Partitioner) -> Vec<u8> {
    let mut token = Vec::new();
    if !key.is_empty() {
        partitioner.token(key, &mut token);
    }
    token
}
