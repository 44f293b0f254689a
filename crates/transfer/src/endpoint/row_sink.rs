//! The store or server that rows are written to.

use std::sync::Arc;

use super::Endpoint;
use super::endpoint::CONSISTENCY;
use crate::TransferError;
use crate::thrift::{ThriftCallError, ThriftServer};
use base::model::Mutation;
use base::util::Clock;
use db::{Database, Error};

/// Takes mutations of one keyspace.
pub(super) enum RowSink {
    Database(Arc<Database>),
    Thrift { server: Arc<ThriftServer>, clock: Arc<Clock> },
}

/// Why mutations were not written.
#[derive(Debug)]
pub(super) struct WriteFailure {
    pub why: String,
    /// Whether it is certain that nothing was written, and the same write may succeed later.
    pub is_unwritten: bool,
    /// Whether the same write may succeed later.
    pub is_temporary: bool,
}

impl RowSink {
    /// Returns the sink of an endpoint.
    ///
    /// # Errors
    ///
    /// If the endpoint cannot be written.
    pub(super) fn of(to: &Endpoint, clock: &Arc<Clock>) -> Result<RowSink, TransferError> {
        match &to.thrift {
            Some(server) => Ok(RowSink::Thrift { server: server.clone(), clock: clock.clone() }),
            None => Ok(RowSink::Database(to.writable()?.clone())),
        }
    }

    /// Writes mutations.
    pub(super) async fn write(&self, mutations: &[Mutation]) -> Result<(), WriteFailure> {
        match self {
            RowSink::Database(database) => {
                let written = database.restore().write(mutations.to_vec(), CONSISTENCY).await;
                written.map_err(|error| WriteFailure {
                    is_unwritten: matches!(error, Error::Overloaded(_)),
                    is_temporary: matches!(
                        error,
                        Error::Overloaded(_) | Error::TimedOut(_) | Error::Unavailable { .. }
                    ),
                    why: error.to_string(),
                })
            }
            RowSink::Thrift { server, clock } => {
                let written = server.pages.write(mutations, clock.now_s()).await;
                written.map_err(|error| WriteFailure {
                    is_unwritten: matches!(error, ThriftCallError::Unreachable(_)),
                    is_temporary: error.is_temporary(),
                    why: error.to_string(),
                })
            }
        }
    }
}
