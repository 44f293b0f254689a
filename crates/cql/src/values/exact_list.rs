//! Lists of which each item may fail.

/// Collects results in a list with room for exactly their number. `collect` doubles the list of such results, as it does
/// not know how many there will be.
pub(crate) fn exact_list<T, E>(results: impl ExactSizeIterator<Item = Result<T, E>>) -> Result<Vec<T>, E> {
    let mut list = Vec::with_capacity(results.len());
    for result in results {
        list.push(result?);
    }
    Ok(list)
}
