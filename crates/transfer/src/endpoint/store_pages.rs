//! Pages of an embedded store or a cluster.

use std::sync::Arc;

use bytes::Bytes;

use super::pages::{PageFuture, Pages};
use base::compat::features::ConsistencyLevel;
use base::model::{Bounds, Cell, Predicate, RangeCommand, ReadCommand, Row, RowColumns, SliceRange};
use base::schema::CfDef;
use base::util::Clock;
use db::Restore;
use store::Store;

/// Reads pages from a store.
pub(super) struct StorePages {
    store: Arc<dyn Store>,
    clock: Arc<Clock>,
    consistency: ConsistencyLevel,
}

impl StorePages {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<Clock>, consistency: ConsistencyLevel) -> StorePages {
        StorePages { store, clock, consistency }
    }

    fn command(&self, cf: &Arc<CfDef>, super_column: Option<Bytes>, predicate: Predicate) -> ReadCommand {
        let now_s = self.clock.now_s();
        ReadCommand {
            cf: cf.clone(),
            super_column,
            predicate,
            behaviour: Restore::behaviour(),
            with_tombstones: false,
            gc_before: now_s.saturating_sub(cf.gc_grace_s),
            now_s,
        }
    }
}

fn slice_from(start: Bytes, count: usize) -> Predicate {
    Predicate::Range(SliceRange { start, count, ..SliceRange::all() })
}

impl Pages for StorePages {
    fn range(&self, cf: &Arc<CfDef>, start: Bytes, rows: usize, columns: usize) -> PageFuture<'_, Vec<Row>> {
        let command = RangeCommand {
            bounds: Bounds::Keys { start, end: Bytes::new() },
            max_rows: rows,
            read: self.command(cf, None, slice_from(Bytes::new(), columns)),
            skip_empty: false,
        };
        Box::pin(async move {
            self.store.scan(command, self.consistency).await.map_err(|error| error.to_string())
        })
    }

    fn row(&self, cf: &Arc<CfDef>, key: Bytes, start: Bytes, columns: usize) -> PageFuture<'_, RowColumns> {
        let command = self.command(cf, None, slice_from(start, columns));
        Box::pin(async move {
            self.store.read(key, command, self.consistency).await.map_err(|error| error.to_string())
        })
    }

    fn cells(
        &self,
        cf: &Arc<CfDef>,
        key: Bytes,
        super_column: Option<Bytes>,
        predicate: Predicate,
    ) -> PageFuture<'_, Vec<Cell>> {
        let command = self.command(cf, super_column, predicate);
        Box::pin(async move {
            match self.store.read(key, command, self.consistency).await {
                Ok(RowColumns::Cells(cells)) => Ok(cells),
                Ok(RowColumns::Supers(_)) => Ok(Vec::new()),
                Err(error) => Err(error.to_string()),
            }
        })
    }

    fn may_stop_early(&self, _cf: &CfDef) -> bool {
        false
    }

    fn has_expiry_time(&self) -> bool {
        true
    }

    fn prefers_slices(&self) -> bool {
        !self.store.can_dump()
    }
}
