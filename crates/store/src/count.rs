//! Counts columns by reading them in pages, with one page in memory at a time.

use bytes::Bytes;

use super::StoreFuture;
use crate::Result;
use base::model::{Predicate, ReadCommand, RowColumns};
use base::util::meter;

/// Columns of a page.
const PAGE: usize = 2_000;

/// Counts the columns that a read would return.
pub(super) async fn count_in_pages<'a>(
    read: impl Fn(ReadCommand) -> StoreFuture<'a, RowColumns>,
    mut command: ReadCommand,
) -> Result<usize> {
    let Predicate::Range(range) = &command.predicate else { return Ok(read(command).await?.len()) };
    let limit = range.count;
    let mut counted = 0;
    let mut last: Option<Bytes> = None;
    loop {
        // Each page after the first begins with the last column of the page before.
        let wanted = (limit - counted).saturating_add(usize::from(last.is_some())).min(PAGE);
        if let Predicate::Range(range) = &mut command.predicate {
            range.count = wanted;
            range.start = last.clone().unwrap_or_else(|| range.start.clone());
        }
        let before = meter::mark();
        let page = read(command.clone()).await?;
        before.restore();
        meter::yield_if_due(page.len()).await?;
        let (first, end) = page.ends();
        debug_assert!(last.is_none() || first.is_some() || page.len() < wanted, "the count would never end");
        counted += page.len() - usize::from(last.is_some() && first == last.as_ref());
        if page.len() < wanted || counted >= limit {
            return Ok(counted.min(limit));
        }
        last = end.cloned();
    }
}
