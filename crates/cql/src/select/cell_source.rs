//! The table whose cells an execution reads.

use std::sync::Arc;

use bytes::Bytes;

use super::rows::CellColumns;
use crate::{QueryState, Result};
use base::compat::features::ConsistencyLevel;
use base::marshal;
use base::marshal::AbstractType;
use base::model::{Predicate, RowColumns};
use base::schema::CfDef;
use db::Request;

/// Reads cells of a table, in the session of the statement.
pub(super) struct CellSource<'a> {
    pub state: &'a QueryState<'a>,
    pub keyspace: &'a str,
    pub consistency: ConsistencyLevel,
    pub cf: Arc<CfDef>,
    pub columns: &'a CellColumns,
}

impl CellSource<'_> {
    /// Returns the request context for the next page. Each page reads the schema that is current then, so that no
    /// schema change waits for a SELECT of many pages.
    pub(super) fn request(&self) -> Request<'_> {
        self.state.request(self.keyspace, self.consistency)
    }

    /// Returns the order of the cells of a row, or of its super columns.
    pub(super) fn comparator(&self) -> &dyn AbstractType {
        marshal::at(&*self.cf.comparator, self.state.behaviour.release)
    }

    /// Returns the order of the cells of a super column.
    pub(super) fn subcomparator(&self) -> Option<&dyn AbstractType> {
        let subcomparator = self.cf.subcomparator()?;
        Some(marshal::at(&**subcomparator, self.state.behaviour.release))
    }

    pub(super) async fn read(
        &self,
        key: &Bytes,
        super_column: Option<Bytes>,
        predicate: Predicate,
    ) -> Result<RowColumns> {
        Ok(self.request().reads().read_cells(&self.cf, key.clone(), super_column, predicate).await?)
    }
}
