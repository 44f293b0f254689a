//! Combinations of the values of several IN relations.

use bytes::Bytes;

use crate::CqlError;
use crate::limits::IN_COMBINATIONS_MAX;

/// Checks the number of combinations of two lists.
///
/// # Errors
/// If there are more than `IN_COMBINATIONS_MAX` combinations.
pub fn check_combinations(one: usize, other: usize) -> Result<(), CqlError> {
    if one.saturating_mul(other) <= IN_COMBINATIONS_MAX {
        return Ok(());
    }
    let found = match (one, other) {
        (count, 1) | (1, count) => format!("{count} values"),
        _ => format!("{one} x {other} combinations of values"),
    };
    Err(CqlError::invalid(format!(
        "the IN relations have {found}, the limit is {IN_COMBINATIONS_MAX}: use several statements"
    )))
}

/// Returns each list of `before`, extended by each list of `values`. The first list of `before` comes first.
///
/// # Errors
/// Fails like [`check_combinations`].
pub fn combined(before: &[Vec<Bytes>], values: Vec<Vec<Bytes>>) -> Result<Vec<Vec<Bytes>>, CqlError> {
    check_combinations(before.len(), values.len())?;
    if let [first] = before
        && first.is_empty()
    {
        return Ok(values);
    }
    Ok(before
        .iter()
        .flat_map(|before| values.iter().map(move |more| [&before[..], &more[..]].concat()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_combinations_is_limited() {
        let values = |count: usize| vec![vec![Bytes::from_static(b"v")]; count];
        let many = IN_COMBINATIONS_MAX + 1;
        assert!(combined(&values(many), values(1)).is_err());
        assert!(combined(&values(1), values(many)).unwrap_err().to_string().contains("have 65536 values"));
        assert_eq!(combined(&values(255), values(257)).unwrap().len(), IN_COMBINATIONS_MAX);
        assert!(combined(&values(256), values(256)).is_err());
        assert!(combined(&values(many), values(0)).unwrap().is_empty());
        assert_eq!(combined(&values(2), values(2)).unwrap()[3].len(), 2);
    }
}
