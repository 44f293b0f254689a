//! Reads and writes of cells by their stored names, for layers that check names and values themselves.

use std::sync::Arc;

use bytes::Bytes;

use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::db::{Database, Error};
use crate::marshal::Types;
use crate::model::{Bounds, Mutation, Predicate, RangeCommand, Row, RowColumns};
use crate::partitioner::PartitionerRef;
use crate::schema::CfDef;

impl Database {
    /// The types that a schema may name.
    pub fn types(&self) -> &Types {
        &self.parts.types
    }

    /// What gives row keys their tokens.
    pub fn partitioner(&self) -> &PartitionerRef {
        &self.parts.partitioner
    }

    /// A timestamp of now, in microseconds; never the same twice.
    pub fn next_micros(&self) -> i64 {
        self.parts.clock.next_micros()
    }

    /// Milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.parts.clock.now_ms()
    }

    /// The second of now, by which cells expire.
    pub fn now_s(&self) -> i32 {
        self.parts.clock.now_s()
    }

    /// Reads columns of one row, or of a super column in it.
    pub async fn read_cells(
        &self,
        cf: &Arc<CfDef>,
        key: Bytes,
        super_column: Option<Bytes>,
        predicate: Predicate,
        (consistency, behaviour): (ConsistencyLevel, &'static Behaviour),
    ) -> Result<RowColumns, Error> {
        let catalog = self.catalog();
        self.check_replicas(&catalog, cf.keyspace.as_bytes(), consistency, false, behaviour)?;
        let command = self.command(cf, super_column, predicate, behaviour);
        Ok(self.store().read(key, command, consistency).await?)
    }

    /// Reads the same columns of rows in ring order. Rows in which nothing is live are among them, empty.
    pub async fn scan_cells(
        &self,
        cf: &Arc<CfDef>,
        (bounds, max_rows): (Bounds, usize),
        predicate: Predicate,
        (consistency, behaviour): (ConsistencyLevel, &'static Behaviour),
    ) -> Result<Vec<Row>, Error> {
        let catalog = self.catalog();
        self.check_replicas(&catalog, cf.keyspace.as_bytes(), consistency, false, behaviour)?;
        let read = self.command(cf, None, predicate, behaviour);
        let command = RangeCommand { bounds, max_rows, read, skip_empty: false };
        Ok(self.store().scan(command, consistency).await?)
    }

    /// Applies mutations of one keyspace, with the entries of its indexes.
    pub async fn apply_mutations(
        &self,
        keyspace: &str,
        mutations: Vec<Mutation>,
        (consistency, behaviour): (ConsistencyLevel, &'static Behaviour),
    ) -> Result<(), Error> {
        let catalog = self.catalog();
        self.apply(&catalog, keyspace.as_bytes(), mutations, consistency, behaviour).await
    }
}
