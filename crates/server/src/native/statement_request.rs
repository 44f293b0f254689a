//! A request with a statement: opens its body and runs it.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::error::FailedStatement;
use super::identity::Identity;
use super::request::open_body;
use super::service::NativeService;
use super::statements::StatementReply;
use crate::observed_request::RequestSource;
use crate::tracer::Tracer;
use base::util::meter;
use db::faults::RequestOrigin;
use wire::limits::NATIVE_FRAME_BYTES_MAX;
use wire::native::{BodyReader, Compression, Frame, RequestCode};

/// A request with a statement.
pub(super) struct StatementRequest<'a> {
    pub service: &'a NativeService,
    pub identity: &'a Identity,
    pub code: RequestCode,
    pub frame: &'a Frame,
    pub compression: Option<Compression>,
    /// The decompressed body, as soon as the request runs.
    pub body: OnceLock<BodyReader>,
}

impl StatementRequest<'_> {
    /// Returns Cassandra's words for the kind of request.
    pub(super) fn kind(&self) -> &'static str {
        match self.code {
            RequestCode::Query => "Execute CQL3 query",
            RequestCode::Prepare => "Preparing CQL3 query",
            RequestCode::Execute => "Execute CQL3 prepared query",
            _ => "Execute batch of CQL3 queries",
        }
    }

    /// Returns the length of the body: decompressed, if it could be.
    pub(super) fn bytes(&self) -> usize {
        self.body.get().map_or(self.frame.body.len(), BodyReader::bytes_left)
    }

    /// Decompresses the body and runs its statement.
    pub(super) async fn run(&self, tracer: &Tracer<'_>) -> Result<StatementReply, FailedStatement> {
        let (frame, compression) = (self.frame, self.compression);
        let body = meter::retried(|| open_body(frame, compression, NATIVE_FRAME_BYTES_MAX)).await?;
        self.run_statement(self.body.get_or_init(|| body).clone(), tracer).await
    }
}

impl RequestSource for StatementRequest<'_> {
    fn origin(&self) -> RequestOrigin {
        RequestOrigin {
            protocol: "native",
            method: self.code.name(),
            generation: None,
            connection: self.identity.connection,
            address: Some(self.identity.address),
        }
    }

    fn slot(&self) -> usize {
        self.code.slot().number
    }

    fn keyspace(&self) -> Option<String> {
        Some(self.identity.keyspace()?.to_string())
    }

    /// Returns the statement; for a batch the first one. Nothing if it cannot be read.
    fn arguments(&self) -> Map<String, Value> {
        let text = self.body.get().and_then(|body| self.statement_text(body.clone()));
        text.map(|text| ("query".to_owned(), text.into())).into_iter().collect()
    }
}
