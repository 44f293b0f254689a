//! The HTTP port of a shadow: the report so far, and a few numbers.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use super::status::ShadowState;
use base::util::Password;
use net::limits::STATUS_REQUEST_BYTES_MAX;
use net::{AccessToken, Client, ConnectionEnd, ConnectionHandler, Conversation, NEEDS_TOKEN};

/// Time limit for a request and its reply. A page may have some megabytes.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

const TEXT: &str = "text/plain; charset=utf-8";

/// Serves `GET /` with the page, `/report.txt` and `/report.json` with the report in other forms, and `/status.json`.
#[derive(Clone)]
pub struct ShadowPage {
    state: Arc<ShadowState>,
    token: AccessToken,
}

impl ShadowPage {
    /// Creates the port. If there is a token, requests must have it.
    pub fn new(state: Arc<ShadowState>, token: Option<Password>) -> ShadowPage {
        ShadowPage { state, token: AccessToken::new(token) }
    }

    fn reply(&self, method: &Method, path: &str, headers: &HeaderMap) -> Response<Full<Bytes>> {
        if !self.token.admits(headers) {
            let mut reply = with_body(TEXT, format!("{NEEDS_TOKEN}\n"));
            *reply.status_mut() = StatusCode::UNAUTHORIZED;
            reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return reply;
        }
        if ![Method::GET, Method::HEAD].contains(method) {
            let mut reply = with_body(TEXT, "this port is read-only: use GET\n".to_owned());
            *reply.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            return reply;
        }
        match path {
            "/" => with_body("text/html; charset=utf-8", self.state.report.summary().html()),
            "/report.txt" => with_body(TEXT, self.state.report.summary().text()),
            "/report.json" => with_body("application/json", self.state.report.summary().json()),
            "/status.json" => {
                // Numbers always have a JSON form.
                let json = serde_json::to_string(&self.state.status()).unwrap_or_default();
                with_body("application/json", json + "\n")
            }
            _ => {
                let known = "unknown path: use GET /, /report.txt, /report.json or /status.json\n";
                let mut reply = with_body(TEXT, known.to_owned());
                *reply.status_mut() = StatusCode::NOT_FOUND;
                reply
            }
        }
    }
}

impl ConnectionHandler for ShadowPage {
    fn serve(&self, client: Client) -> Conversation {
        Box::pin(self.clone().converse(client))
    }
}

impl ShadowPage {
    async fn converse(self, client: Client) -> Result<(), ConnectionEnd> {
        let Client { mut stream, mut shutdown, .. } = client;
        let service = service_fn(async |request: Request<_>| -> Result<_, Infallible> {
            Ok(self.reply(request.method(), request.uri().path(), request.headers()))
        });
        let conversation = http1::Builder::new()
            .keep_alive(false)
            .half_close(true)
            .title_case_headers(true)
            .max_buf_size(STATUS_REQUEST_BYTES_MAX)
            .serve_connection(TokioIo::new(&mut stream), service);
        tokio::select! {
            // A client that is too slow is not logged, and one whose request is not HTTP has its reply.
            _ = timeout(REQUEST_TIMEOUT, conversation) => {}
            () = shutdown.requested() => {}
        }
        stream.close().await;
        Ok(())
    }
}

fn with_body(kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut reply = Response::new(Full::from(body));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}
