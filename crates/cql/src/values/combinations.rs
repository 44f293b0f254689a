//! Combinations of the values of several IN relations.

use bytes::Bytes;

use super::exact_list;
use super::row_keys::{check_row_key, checked_row_key};
use crate::Result;
use crate::error::invalid;
use crate::limits::IN_COMBINATIONS_MAX;
use base::util::meter;

/// Bytes of a component of a composite besides its value.
const COMPONENT_BYTES: usize = 3;

/// Checks the number of combinations of two lists.
///
/// # Errors
/// If there are more than `IN_COMBINATIONS_MAX` combinations.
pub(crate) fn check_combinations(one: usize, other: usize) -> Result<()> {
    if one.saturating_mul(other) <= IN_COMBINATIONS_MAX {
        return Ok(());
    }
    let found = match (one, other) {
        (count, 1) | (1, count) => format!("{count} values"),
        _ => format!("{one} x {other} combinations of values"),
    };
    invalid(format!(
        "the IN relations have {found}, the limit is {IN_COMBINATIONS_MAX}: use several statements"
    ))
}

/// Lists of values, all of the same length. Their values follow each other in one list, since there may be
/// `IN_COMBINATIONS_MAX` of them. The default is one empty list.
#[derive(Debug, Default)]
pub(crate) struct Combinations {
    /// Values of a list; 0 in the default.
    width: usize,
    values: Vec<Bytes>,
}

impl Combinations {
    /// Returns the number of lists.
    pub(crate) fn count(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(1)
    }

    /// Returns the bytes of all values.
    fn bytes(&self) -> usize {
        self.values.iter().map(Bytes::len).sum()
    }

    /// Returns the bytes of all values as components of composites, each with its length and end.
    pub(crate) fn component_bytes(&self) -> usize {
        self.bytes() + COMPONENT_BYTES * self.values.len()
    }

    /// Iterates over the lists.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[Bytes]> {
        (0..self.count()).map(|at| &self.values[at * self.width..][..self.width])
    }

    /// Returns the row key of each list. A single value is its own row key, so lists of one take no more memory.
    ///
    /// # Errors
    /// If a key is empty or too long.
    pub(crate) fn into_row_keys(self) -> Result<Vec<Bytes>> {
        if self.width == 1 {
            self.values.chunks(1).try_for_each(check_row_key)?;
            return Ok(self.values);
        }
        exact_list(self.iter().map(checked_row_key))
    }

    /// Returns each list, extended by each of other lists, which have `width` values. The first list comes first.
    ///
    /// Each of the new lists becomes a row key or a name with copies of all its values. Their bytes are charged to the
    /// request here: a value of 60 KB before an IN of 65,535 numbers has 4 GB of copies.
    ///
    /// # Errors
    /// Fails like [`check_combinations`], and if the request may not hold that memory.
    pub(crate) fn with(self, width: usize, values: Vec<Bytes>) -> Result<Combinations> {
        let further = Combinations { width, values };
        check_combinations(self.count(), further.count())?;
        if self.width == 0 {
            return Ok(further);
        }
        let copied = self.bytes() * further.count() + further.bytes() * self.count();
        meter::charge(copied)?;
        let width = self.width + width;
        let mut values = Vec::with_capacity(self.count() * further.count() * width);
        for list in self.iter() {
            for more in further.iter() {
                values.extend_from_slice(list);
                values.extend_from_slice(more);
            }
        }
        Ok(Combinations { width, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_combinations_is_limited() {
        let values = |count: usize| vec![Bytes::from_static(b"v"); count];
        let lists = |count: usize| Combinations { width: 1, values: values(count) };
        let many = IN_COMBINATIONS_MAX + 1;
        assert!(lists(many).with(1, values(1)).is_err());
        assert!(lists(1).with(1, values(many)).unwrap_err().to_string().contains("have 65536 values"));
        assert_eq!(lists(255).with(1, values(257)).unwrap().count(), IN_COMBINATIONS_MAX);
        assert!(lists(256).with(1, values(256)).is_err());
        assert_eq!(lists(many).with(1, values(0)).unwrap().count(), 0);
        assert_eq!(lists(2).with(1, values(2)).unwrap().iter().nth(3).unwrap().len(), 2);
        assert!(Combinations::default().with(1, values(many)).is_err());
    }
}
