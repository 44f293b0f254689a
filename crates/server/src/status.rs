//! The status port: serves plain text over HTTP to people and health probes.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use crate::status_page::StatusPage;
use base::util::Password;
use net::limits::STATUS_REQUEST_BYTES_MAX;
use net::{AccessToken, Client, ConnectionEnd, ConnectionHandler, Conversation, NEEDS_TOKEN};

/// Time limit for a request and its reply: silent clients must not keep health probes out.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// Serves `GET /` with the status page, and `GET /health` with 200 or 503.
#[derive(Clone)]
pub struct StatusService {
    page: StatusPage,
    token: AccessToken,
}

impl StatusService {
    pub fn new(page: StatusPage) -> StatusService {
        StatusService { page, token: AccessToken::default() }
    }

    /// Returns the same service that requires `Authorization: Bearer TOKEN`, and answers other requests with 401.
    /// `None` requires no token.
    #[must_use]
    pub fn with_token(self, token: Option<Password>) -> StatusService {
        StatusService { token: AccessToken::new(token), ..self }
    }

    fn reply(&self, method: &Method, path: &str, headers: &HeaderMap) -> Response<Full<Bytes>> {
        if !self.token.admits(headers) {
            let mut reply = text(StatusCode::UNAUTHORIZED, format!("{NEEDS_TOKEN}\n"));
            reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return reply;
        }
        if ![Method::GET, Method::HEAD].contains(method) {
            let why = "this port is read-only: GET / or GET /health\n";
            return text(StatusCode::METHOD_NOT_ALLOWED, why.to_owned());
        }
        match path {
            "/" => text(StatusCode::OK, self.page.text()),
            "/health" => match self.page.failure() {
                None => text(StatusCode::OK, "ok\n".to_owned()),
                Some(failure) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{failure}\n")),
            },
            _ => text(StatusCode::NOT_FOUND, "unknown path: use GET / or GET /health\n".to_owned()),
        }
    }
}

impl ConnectionHandler for StatusService {
    fn serve(&self, client: Client) -> Conversation {
        Box::pin(self.clone().converse(client))
    }
}

impl StatusService {
    async fn converse(self, client: Client) -> Result<(), ConnectionEnd> {
        let Client { mut stream, mut shutdown, .. } = client;
        let service = service_fn(async |request: Request<_>| -> Result<_, Infallible> {
            Ok(self.reply(request.method(), request.uri().path(), request.headers()))
        });
        let conversation = http1::Builder::new()
            .keep_alive(false)
            // A client may close its side once it has sent its request.
            .half_close(true)
            .title_case_headers(true)
            .max_buf_size(STATUS_REQUEST_BYTES_MAX)
            .serve_connection(TokioIo::new(&mut stream), service);
        tokio::select! {
            // Neither a client that is too slow nor one whose request is not HTTP is logged. The latter has its reply.
            _ = timeout(REQUEST_TIMEOUT, conversation) => {}
            () = shutdown.requested() => {}
        }
        stream.close().await;
        Ok(())
    }
}

fn text(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut reply = Response::new(Full::from(text));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}
