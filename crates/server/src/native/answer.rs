//! Answers one request with a statement.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::identity::Identity;
use super::reply::Reply;
use super::service::NativeService;
use super::statement_request::StatementRequest;
use crate::observed_request::ObservedRequest;
use base::util::meter::RequestMeter;
use wire::native::{Compression, Frame, RequestCode, ResponseCode, flag};

/// Answers a request with a statement. Many of them may run concurrently on one connection.
pub async fn answer(
    service: &NativeService,
    identity: &Identity,
    code: RequestCode,
    frame: &Frame,
    compression: Option<Compression>,
) -> Reply {
    let request = StatementRequest { service, identity, code, frame, compression, body: OnceLock::new() };
    let mut observed = ObservedRequest::begin(&service.database, Instant::now(), &request);
    if frame.flags & flag::TRACING != 0 {
        observed.trace(request.kind(), identity.address);
    }
    let permit = service.database.admit().await;
    let meter = RequestMeter::new(&service.limits, identity.client.clone()).with_permit(permit);
    observed.watch(&request);
    let outcome = observed.run(Arc::new(meter), pin!(request.run(&observed.tracer))).await;
    let bytes_out = outcome.as_ref().map_or(0, |reply| reply.body.len());
    let effects = observed.end(&request, outcome.as_ref().err(), request.bytes(), bytes_out);
    let reply = match outcome {
        Ok(reply) => Reply::new(frame.stream, ResponseCode::Result, reply.body).warned(reply.warnings),
        Err(failed) => Reply::error(frame.stream, &failed.error, failed.operation, frame.version),
    };
    reply.traced(effects.trace).under(effects.fault)
}
