//! Combinations of the values of several IN relations.

use bytes::Bytes;

use crate::cql::CqlError;
use crate::util::limits::IN_COMBINATIONS_MAX;

/// Checks the number of combinations of two lists.
///
/// # Errors
/// If both have several values and there are more than `IN_COMBINATIONS_MAX` combinations.
pub fn check_combinations(one: usize, other: usize) -> Result<(), CqlError> {
    if one < 2 || other < 2 || one.saturating_mul(other) <= IN_COMBINATIONS_MAX {
        return Ok(());
    }
    Err(CqlError::invalid(format!(
        "the IN relations have {one} x {other} combinations of values, the limit is {IN_COMBINATIONS_MAX}: use several \
         statements"
    )))
}

/// Returns each list of `before`, extended by each list of `values`. The first list of `before` comes first.
///
/// # Errors
/// Those of [`check_combinations`].
pub fn combined(before: &[Vec<Bytes>], values: &[Vec<Bytes>]) -> Result<Vec<Vec<Bytes>>, CqlError> {
    check_combinations(before.len(), values.len())?;
    Ok(before
        .iter()
        .flat_map(|before| values.iter().map(move |more| [&before[..], &more[..]].concat()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_combinations_of_several_values_are_limited() {
        let values = |count: usize| vec![vec![Bytes::from_static(b"v")]; count];
        let many = IN_COMBINATIONS_MAX + 1;
        assert_eq!(combined(&values(many), &values(1)).unwrap().len(), many);
        assert_eq!(combined(&values(1), &values(many)).unwrap().len(), many);
        assert_eq!(combined(&values(255), &values(257)).unwrap().len(), IN_COMBINATIONS_MAX);
        assert!(combined(&values(256), &values(256)).is_err());
        assert!(combined(&values(many), &values(0)).unwrap().is_empty());
        assert_eq!(combined(&values(2), &values(2)).unwrap()[3].len(), 2);
    }
}
