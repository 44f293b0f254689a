//! Paging of DESCRIBE: a number of elements per page, as long as the schema does not change.
//!
//! ```text
//!   state   version 1 | 16 bytes: schema version | u64 elements returned
//! ```

use bytes::{Buf, BufMut, Bytes, BytesMut};
use uuid::Uuid;

use crate::error::invalid;
use crate::{CqlError, QueryOptions, QueryState, Result};

const VERSION: u8 = 1;

/// A page of a DESCRIBE result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Page {
    schema: Uuid,
    from: usize,
    size: Option<usize>,
}

impl Page {
    pub(super) fn begin(state: &QueryState<'_>, options: &QueryOptions) -> Result<Page> {
        let schema = state.database.schema_version().parse().unwrap_or_default();
        let from = match &options.paging_state {
            Some(paging) => resumed(paging, schema)?,
            None => 0,
        };
        Ok(Page { schema, from, size: options.page_size.map(|size| size.max(1)) })
    }

    /// Returns the elements of this page, and the paging state of the next one.
    pub(super) fn cut<T: Copy>(&self, all: &[T]) -> (Vec<T>, Option<Bytes>) {
        let rest = all.get(self.from..).unwrap_or_default();
        match self.size {
            Some(size) if size < rest.len() => {
                let mut next = BytesMut::new();
                next.put_u8(VERSION);
                next.put_slice(self.schema.as_bytes());
                next.put_u64(u64::try_from(self.from + size).unwrap_or(u64::MAX));
                (rest[..size].to_vec(), Some(next.freeze()))
            }
            _ => (rest.to_vec(), None),
        }
    }
}

/// Decodes a paging state from a client. Any bytes are possible.
fn resumed(paging: &Bytes, schema: Uuid) -> Result<usize> {
    let mut rest = paging.clone();
    if rest.len() != 1 + 16 + 8 || rest.get_u8() != VERSION {
        return invalid("Invalid paging state.");
    }
    if rest.split_to(16)[..] != schema.as_bytes()[..] {
        return invalid(
            "The schema has changed since the previous page of the DESCRIBE statement result. Please retry the DESCRIBE \
             statement.",
        );
    }
    usize::try_from(rest.get_u64()).map_err(|_| CqlError::invalid("Invalid paging state."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other() {
        let all = [1, 2, 3, 4, 5];
        let mut page = Page { schema: Uuid::from_u128(7), from: 0, size: Some(2) };
        let mut returned = Vec::new();
        loop {
            let (some, next) = page.cut(&all);
            assert!(some.len() <= 2);
            returned.extend(some);
            let Some(next) = next else { break };
            assert!(resumed(&next, Uuid::from_u128(8)).unwrap_err().to_string().contains("has changed"));
            assert!(resumed(&next.slice(1..), page.schema).is_err());
            page.from = resumed(&next, page.schema).unwrap();
        }
        assert_eq!(returned, all);
        assert_eq!(Page { size: Some(5), from: 0, ..page }.cut(&all).1, None);
        assert!(Page { from: usize::MAX, ..page }.cut(&all).0.is_empty());
    }
}
