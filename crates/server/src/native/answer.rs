//! Answers one request with a statement.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::error::NativeError;
use super::identity::Identity;
use super::reply::Reply;
use super::service::NativeService;
use super::statements::{self, early};
use super::trace::Tracer;
use base::util::meter::{RequestMeter, metered};
use base::util::metrics::{EndedRequest, RequestOutcome};
use base::util::{RequestLog, meter};
use cql::CqlError;
use db::activity::{RequestSummary, kind_of};
use db::faults::RequestOrigin;
use wire::limits::NATIVE_FRAME_BYTES_MAX;
use wire::native::{BodyReader, Compression, Frame, ProtocolVersion, RequestCode, ResponseCode, flag};

/// Returns the decompressed body of a request, after the custom payload.
///
/// # Errors
///
/// If the body is too long, before it is decompressed; if it cannot be decompressed; or if the version does not allow a
/// flag of the frame.
pub fn open_body(
    frame: &Frame,
    compression: Option<Compression>,
    bytes_max: usize,
) -> Result<BodyReader, NativeError> {
    if frame.body.len() > bytes_max {
        return Err(NativeError::longer(frame.body.len(), bytes_max));
    }
    let body = match compression {
        _ if frame.flags & flag::COMPRESSED == 0 || frame.version.has_segments() => frame.body.clone(),
        Some(compression) => compression.decompress(&frame.body, bytes_max)?,
        None => {
            return Err(NativeError::protocol(
                "the body is compressed, but STARTUP has selected no compression",
            ));
        }
    };
    let mut body = BodyReader::new(body, frame.version);
    if frame.flags & flag::CUSTOM_PAYLOAD != 0 {
        if frame.version < ProtocolVersion::V4 {
            return Err(NativeError::protocol(
                "Received frame with CUSTOM_PAYLOAD flag for native protocol version < 4",
            ));
        }
        body.skip_payload()?;
    }
    Ok(body)
}

/// Answers a request with a statement. Many of them may run concurrently on one connection.
pub async fn answer(
    service: &NativeService,
    identity: &Identity,
    code: RequestCode,
    frame: &Frame,
    compression: Option<Compression>,
) -> Reply {
    let (version, began) = (frame.version, Instant::now());
    let mut tracer = match frame.flags & flag::TRACING {
        0 => Tracer::none(),
        _ => Tracer::begin(&service.database, code, identity.address),
    };
    let permit = service.database.admit().await;
    let meter = Arc::new(RequestMeter::new(&service.limits, identity.client.clone()).with_permit(permit));
    let log = RequestLog::begin("native", code.name(), Some(identity.address));
    let origin = RequestOrigin {
        protocol: "native",
        method: code.name(),
        generation: None,
        connection: identity.connection,
        address: Some(identity.address),
    };
    let watched = service.database.watch(origin);
    let opened = OnceLock::new();
    let outcome = {
        let request = pin!(async {
            let open = || open_body(frame, compression, NATIVE_FRAME_BYTES_MAX);
            let body = meter::retried(open).await.map_err(early)?;
            let body = opened.get_or_init(|| body).clone();
            statements::run(service, identity, code, body, &mut tracer).await
        });
        let request = metered(meter.clone(), log.run(request));
        match &watched {
            None => request.await,
            Some(watched) => {
                Box::pin(watched.run(request, |error| early(error.into()), |(error, _)| error.to_string()))
                    .await
            }
        }
    };
    // The permit that keeps changes of the whole database out lasts until the journal has the request.
    drop(meter);
    let bytes_in = opened.get().map_or(frame.body.len(), BodyReader::bytes_left);
    let bytes_out = outcome.as_ref().map_or(0, |(body, _)| body.len());
    let error = outcome.as_ref().err().map(|(error, _)| error);
    log.end(bytes_out, error);
    let result = error.map_or(RequestOutcome::Ok, RequestOutcome::from);
    let ended = EndedRequest { outcome: result, time: began.elapsed(), bytes_in, bytes_out };
    let activity = service.database.activity();
    if activity.slow.admits(ended.time) {
        let statement =
            opened.into_inner().and_then(|body| statements::text_of(service, identity, code, body));
        activity.slow.add(ended.time, summary(identity, code, &ended, statement));
    }
    if let Some(error) = error {
        activity.errors.add("native", code.name(), error);
    }
    service.database.metrics().requests.record(code.slot().number, &ended);
    let reply = match outcome {
        Ok((body, warnings)) => Reply::new(frame.stream, ResponseCode::Result, body).warned(warnings),
        Err((error, doing)) => {
            log_failure(&error);
            tracer.failure(&error);
            Reply::error(frame.stream, &error, doing, version)
        }
    };
    let reply_fault = watched.and_then(|watched| watched.take_reply_fault());
    reply.traced(tracer.end()).under(reply_fault)
}

/// Returns the summary of a slow request.
fn summary(
    identity: &Identity,
    code: RequestCode,
    ended: &EndedRequest,
    statement: Option<String>,
) -> RequestSummary {
    let request = RequestSummary {
        protocol: "native".to_owned(),
        method: code.name().to_owned(),
        client: identity.address.to_string(),
        keyspace: identity.keyspace().as_deref().unwrap_or_default().to_owned(),
        error: kind_of(ended.outcome),
        micros: u64::try_from(ended.time.as_micros()).unwrap_or(u64::MAX),
        ..RequestSummary::default()
    };
    let query = statement.map(|text| ("query".to_owned(), text.into()));
    request.with_arguments(query.into_iter().collect())
}

/// Logs errors that an operator should see. Errors in a client's request are not logged.
fn log_failure(error: &NativeError) {
    match error {
        NativeError::Failed(CqlError::Failed(db::Error::Internal(why))) => {
            tracing::error!("internal error: {why}")
        }
        NativeError::Failed(CqlError::Failed(
            db::Error::Unavailable { why, .. } | db::Error::TimedOut(why) | db::Error::Overloaded(why),
        )) => {
            tracing::debug!("{why}");
        }
        _ => {}
    }
}
