//! Runs CQL statements of clients on the cluster.

use std::ops::ControlFlow;

use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use scylla::client::session::Session;
use scylla::errors::ExecutionError;
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::response::{PagingState, PagingStateResponse};
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::unprepared::Statement;

use super::cql_types::columns;
use super::link::{Link, level, page_of, serial_level};
use super::metadata_records;
use super::rows::all;
use super::values::DriverValues;
use base::util::limits::{PREPARED_BYTES_MAX, RESULT_BYTES_MAX};
use store::{
    RemoteColumn, RemoteCql, RemoteLevels, RemoteOutcome, RemoteRows, Result, StoreError, StoreFuture,
};

use super::store::ClusterStore;

/// Rows of a page: few enough that a page of large values fits into one message.
const PAGE_ROWS: i32 = 1000;

/// Approximate memory that the driver uses for a prepared statement: names and types of its columns.
const BYTES_OF_A_STATEMENT: u64 = 4096;

#[derive(Debug, Clone)]
struct StatementWeight;

impl Weighter<String, PreparedStatement> for StatementWeight {
    fn weight(&self, text: &String, _statement: &PreparedStatement) -> u64 {
        BYTES_OF_A_STATEMENT + 2 * text.len() as u64
    }
}

/// Prepared statements of clients, by their texts. Statements that are not used are evicted first.
pub(super) struct ClientStatements {
    prepared: Cache<String, PreparedStatement, StatementWeight>,
}

impl ClientStatements {
    pub(super) fn new() -> ClientStatements {
        let items = usize::try_from(PREPARED_BYTES_MAX / BYTES_OF_A_STATEMENT).unwrap_or(usize::MAX);
        ClientStatements { prepared: Cache::with_weighter(items, PREPARED_BYTES_MAX, StatementWeight) }
    }

    async fn get(&self, link: &Link, text: &str) -> Result<PreparedStatement> {
        let prepare = async {
            let _place = link.gate.pass().await?;
            let mut statement = Statement::new(text);
            statement.set_page_size(PAGE_ROWS);
            link.prepare(statement).await
        };
        self.prepared.get_or_insert_async(text, prepare).await
    }
}

/// A statement with its values and consistency levels.
enum BoundStatement {
    Text(Statement),
    Prepared(PreparedStatement, DriverValues),
}

impl BoundStatement {
    fn text(text: &str, levels: RemoteLevels) -> BoundStatement {
        let mut statement = Statement::new(text);
        statement.set_page_size(PAGE_ROWS);
        statement.set_consistency(level(levels.consistency));
        statement.set_serial_consistency(Some(serial_level(levels.serial_consistency)));
        BoundStatement::Text(statement)
    }

    fn prepared(mut statement: PreparedStatement, values: &[Bytes], levels: RemoteLevels) -> BoundStatement {
        statement.set_consistency(level(levels.consistency));
        statement.set_serial_consistency(Some(serial_level(levels.serial_consistency)));
        let values = values.iter().fold(DriverValues::default(), |values, value| values.bytes(value.clone()));
        BoundStatement::Prepared(statement, values)
    }

    async fn whole(&self, session: &Session) -> Result<QueryResult, ExecutionError> {
        match self {
            BoundStatement::Text(statement) => session.query_unpaged(statement.clone(), ()).await,
            BoundStatement::Prepared(statement, values) => session.execute_unpaged(statement, values).await,
        }
    }

    async fn page(
        &self,
        session: &Session,
        from: PagingState,
    ) -> Result<(QueryResult, PagingStateResponse), ExecutionError> {
        match self {
            BoundStatement::Text(statement) => session.query_single_page(statement.clone(), (), from).await,
            BoundStatement::Prepared(statement, values) => {
                session.execute_single_page(statement, values, from).await
            }
        }
    }

    /// Runs the statement and collects its rows.
    async fn run(self, link: &Link, is_paged: bool) -> Result<RemoteOutcome> {
        let mut gathered = GatheredRows::default();
        let mut from = PagingState::start();
        loop {
            let place = link.gate.pass().await?;
            let (result, next) = if is_paged {
                self.page(&link.session, from).await.map_err(|error| link.failed(error))?
            } else {
                let whole = self.whole(&link.session).await.map_err(|error| link.failed(error))?;
                (whole, PagingStateResponse::NoMorePages)
            };
            drop(place);
            if !result.is_rows() {
                return Ok(RemoteOutcome::Void);
            }
            let page = page_of(result)?;
            gathered.add(link, &page)?;
            match next.into_paging_control_flow() {
                ControlFlow::Continue(next) => from = next,
                ControlFlow::Break(()) => return Ok(RemoteOutcome::Rows(gathered.rows)),
            }
        }
    }
}

/// Collects the rows of several pages.
#[derive(Default)]
struct GatheredRows {
    rows: RemoteRows,
    bytes: usize,
}

impl GatheredRows {
    fn add(&mut self, link: &Link, page: &QueryRowsResult) -> Result<()> {
        if self.rows.columns.is_empty() {
            self.rows.columns = columns(&link.session.get_cluster_state(), page.column_specs().as_slice());
        }
        // The whole page counts, not only its values: there may be many empty ones.
        self.bytes = self.bytes.saturating_add(page.rows_bytes_size());
        if self.bytes > RESULT_BYTES_MAX {
            return Err(StoreError::Invalid(format!(
                "the result has more than {RESULT_BYTES_MAX} bytes: ask for less with LIMIT"
            )));
        }
        self.rows.rows.extend(all(page)?);
        Ok(())
    }
}

impl RemoteCql for ClusterStore {
    fn own_keyspace(&self) -> &str {
        metadata_records::KEYSPACE
    }

    fn has_keyspace<'a>(&'a self, name: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let values = DriverValues::default().bytes(Bytes::copy_from_slice(name.as_bytes()));
            let text = "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?";
            Ok(!self.link.ask(text, values).await?.is_empty())
        })
    }

    fn query<'a>(&'a self, text: &'a str, levels: RemoteLevels) -> StoreFuture<'a, RemoteOutcome> {
        Box::pin(BoundStatement::text(text, levels).run(&self.link, levels.is_paged))
    }

    fn prepare<'a>(&'a self, text: &'a str) -> StoreFuture<'a, Vec<RemoteColumn>> {
        Box::pin(async move {
            let statement = self.statements.get(&self.link, text).await?;
            let markers = statement.get_variable_col_specs();
            Ok(columns(&self.link.session.get_cluster_state(), markers.as_slice()))
        })
    }

    fn execute<'a>(
        &'a self,
        text: &'a str,
        values: &'a [Bytes],
        levels: RemoteLevels,
    ) -> StoreFuture<'a, RemoteOutcome> {
        Box::pin(async move {
            let statement = self.statements.get(&self.link, text).await?;
            BoundStatement::prepared(statement, values, levels).run(&self.link, levels.is_paged).await
        })
    }
}
