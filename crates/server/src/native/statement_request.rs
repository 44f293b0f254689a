//! A request with a statement: opens its body and runs it.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::error::FailedStatement;
use super::identity::Identity;
use super::request::open_body;
use super::service::NativeService;
use super::statements::{self, StatementReply};
use crate::observed_request::RequestSource;
use crate::tracer::Tracer;
use base::util::meter;
use db::faults::RequestOrigin;
use wire::limits::NATIVE_FRAME_BYTES_MAX;
use wire::native::{BodyReader, Compression, Frame, RequestCode};

/// A request with a statement.
pub struct StatementRequest<'a> {
    service: &'a NativeService,
    identity: &'a Identity,
    code: RequestCode,
    frame: &'a Frame,
    compression: Option<Compression>,
    /// The decompressed body, as soon as the request runs.
    body: OnceLock<BodyReader>,
}

impl<'a> StatementRequest<'a> {
    pub fn new(
        service: &'a NativeService,
        identity: &'a Identity,
        code: RequestCode,
        frame: &'a Frame,
        compression: Option<Compression>,
    ) -> StatementRequest<'a> {
        StatementRequest { service, identity, code, frame, compression, body: OnceLock::new() }
    }

    /// Returns Cassandra's words for the kind of request.
    pub fn kind(&self) -> &'static str {
        match self.code {
            RequestCode::Query => "Execute CQL3 query",
            RequestCode::Prepare => "Preparing CQL3 query",
            RequestCode::Execute => "Execute CQL3 prepared query",
            _ => "Execute batch of CQL3 queries",
        }
    }

    /// Returns the length of the body: decompressed, if it could be.
    pub fn bytes(&self) -> usize {
        self.body.get().map_or(self.frame.body.len(), BodyReader::bytes_left)
    }

    /// Decompresses the body and runs its statement.
    pub async fn run(&self, tracer: &Tracer<'_>) -> Result<StatementReply, FailedStatement> {
        let open = || open_body(self.frame, self.compression, NATIVE_FRAME_BYTES_MAX);
        let body = meter::retried(open).await?;
        let body = self.body.get_or_init(|| body).clone();
        statements::run(self.service, self.identity, self.code, body, tracer).await
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
        let body = self.body.get().cloned();
        let text = body.and_then(|body| statements::text_of(self.service, self.identity, self.code, body));
        text.map(|text| ("query".to_owned(), text.into())).into_iter().collect()
    }
}
