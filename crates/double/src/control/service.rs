//! Serves the control API over HTTP.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};
use hyper::body::{Body, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::watch;
use tokio::time::timeout;

use super::call::{JSON, JSON_LINES};
use super::error::{ControlError, ErrorKind, ErrorReply};
use super::operations::Control;
use super::route::{Answer, RawCall, Route};
use super::routes::routes;
use super::sandboxes::divided;
use crate::limits::{CONTROL_BODY_BYTES_MAX, CONTROL_REQUEST_S, CONTROL_SILENCE_S};
use base::util::Password;
use net::limits::STATUS_REQUEST_BYTES_MAX;
use net::{AccessToken, Client, ConnectionEnd, ConnectionHandler, Conversation, NEEDS_TOKEN};

/// The time limits of a connection to the control port.
#[derive(Debug, Clone, Copy)]
pub struct ControlTimes {
    /// For the head of a request, and so for the silence between two requests.
    pub head: Duration,
    /// For the body of a request and its work.
    pub request: Duration,
}

impl Default for ControlTimes {
    fn default() -> ControlTimes {
        ControlTimes {
            head: Duration::from_secs(CONTROL_SILENCE_S),
            request: Duration::from_secs(CONTROL_REQUEST_S),
        }
    }
}

/// The body of a reply.
pub type ReplyBody = UnsyncBoxBody<Bytes, Infallible>;

/// The routes of the control API over a database.
#[derive(Clone)]
pub struct ControlApi {
    control: Arc<Control>,
    routes: Arc<[Route]>,
}

/// Serves the control API on a port of its own.
#[derive(Clone)]
pub struct ControlService {
    api: ControlApi,
    token: AccessToken,
    times: ControlTimes,
}

impl ControlService {
    /// Creates the service. If there is a token, requests must have it.
    pub fn new(api: ControlApi, token: Option<Password>) -> ControlService {
        ControlService { api, token: AccessToken::new(token), times: ControlTimes::default() }
    }

    /// Returns the same service with other time limits.
    #[must_use]
    pub fn with_times(self, times: ControlTimes) -> ControlService {
        ControlService { times, ..self }
    }

    /// Answers a request. Streams end when `ending` changes.
    async fn reply(&self, request: Request<Incoming>, ending: watch::Receiver<bool>) -> Response<ReplyBody> {
        if !self.token.admits(request.headers()) {
            return refusal(&ControlError::new(ErrorKind::Unauthorized, NEEDS_TOKEN), "");
        }
        // A browser sends this header with each request of a web page that changes something.
        if request.headers().contains_key(ORIGIN) {
            let why = "a web page must not control this server: send the request without the header Origin";
            return refusal(&ControlError::new(ErrorKind::Forbidden, why), "");
        }
        let path = request.uri().path().to_owned();
        self.api.reply(request, &path, ending, self.times.request).await
    }
}

impl ControlApi {
    /// Creates the API of a server's control.
    pub fn new(control: Arc<Control>) -> ControlApi {
        ControlApi { control, routes: routes().into() }
    }

    /// Returns the control of the server.
    pub fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// Answers a request, within a time. `path` is the path in the API. Streams end when `ending` changes. Whether the
    /// client may send the request is checked before.
    pub async fn reply<B>(
        &self,
        request: Request<B>,
        path: &str,
        ending: watch::Receiver<bool>,
        time: Duration,
    ) -> Response<ReplyBody>
    where
        B: Body,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        match timeout(time, self.answer(request, path)).await {
            Ok(Ok(Answer::Json(json))) => with_json(StatusCode::OK, json),
            Ok(Ok(Answer::Stream(stream))) => {
                with_body(JSON_LINES, StreamBody::new(stream.into_body(ending)).boxed_unsync())
            }
            Ok(Err((error, methods))) => refusal(&error, &methods),
            Err(_) => {
                let seconds = time.as_secs_f64();
                let why = format!("the request was not done after {seconds} seconds: it was stopped");
                refusal(&ControlError::new(ErrorKind::Busy, why), "")
            }
        }
    }

    /// Runs a request. An error comes with the methods that the path has, if the method is wrong.
    async fn answer<B>(&self, request: Request<B>, path: &str) -> Result<Answer, (ControlError, String)>
    where
        B: Body,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let plain = |error| (error, String::new());
        let (control, path) = match divided(path) {
            Some((sandbox, path)) => (self.control.of_sandbox(sandbox).map_err(plain)?, path),
            None => (self.control.clone(), path),
        };
        let (route, name) = self.route(request.method(), path)?;
        let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let content_type = content_type.and_then(|value| value.split(';').next());
        let content_type = content_type.map(|kind| kind.trim().to_ascii_lowercase());
        let body = body_of(request.into_body()).await.map_err(plain)?;
        route.answer(control, RawCall { name, content_type, body }).await.map_err(plain)
    }

    /// Returns the route of a request, and the name in its path.
    fn route(&self, method: &Method, path: &str) -> Result<(&Route, String), (ControlError, String)> {
        let with_path = self.routes.iter().filter_map(|route| Some((route, route.name_in(path)?)));
        let with_path: Vec<(&Route, String)> = with_path.collect();
        if with_path.is_empty() {
            let why = format!("there is no path {path:?}: GET /openapi.json lists all of them");
            return Err((ControlError::new(ErrorKind::NotFound, why), String::new()));
        }
        let methods: Vec<&str> = with_path.iter().map(|(route, _)| route.method.as_str()).collect();
        let methods = methods.join(", ");
        let found = with_path.into_iter().find(|(route, _)| route.method == *method);
        found.ok_or_else(|| {
            let why = format!("{path} has no {method}: use {methods}");
            (ControlError::new(ErrorKind::Method, why), methods)
        })
    }
}

/// Reads the body of a request. A body that is announced as too long is not read.
async fn body_of<B>(body: B) -> Result<Bytes, ControlError>
where
    B: Body,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let too_large = || {
        let why = format!("the body has more than {CONTROL_BODY_BYTES_MAX} bytes: divide it");
        ControlError::new(ErrorKind::TooLarge, why)
    };
    if body.size_hint().lower() > CONTROL_BODY_BYTES_MAX as u64 {
        return Err(too_large());
    }
    match Limited::new(body, CONTROL_BODY_BYTES_MAX).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(error) => Err(ControlError::invalid(format!("the body could not be read: {error}"))),
    }
}

fn with_json(status: StatusCode, mut json: Vec<u8>) -> Response<ReplyBody> {
    json.push(b'\n');
    let mut reply = with_body(JSON, Full::from(json).boxed_unsync());
    *reply.status_mut() = status;
    reply
}

fn with_body(content_type: &'static str, body: ReplyBody) -> Response<ReplyBody> {
    let mut reply = Response::new(body);
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

fn refusal(error: &ControlError, methods: &str) -> Response<ReplyBody> {
    let body = serde_json::to_vec(&ErrorReply { error: error.why.clone() }).unwrap_or_default();
    let mut reply = with_json(error.kind.status(), body);
    if error.kind == ErrorKind::Unauthorized {
        reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Ok(methods) = HeaderValue::from_str(methods)
        && error.kind == ErrorKind::Method
    {
        reply.headers_mut().insert(ALLOW, methods);
    }
    reply
}

impl ConnectionHandler for ControlService {
    fn serve(&self, client: Client) -> Conversation {
        Box::pin(self.clone().converse(client))
    }
}

impl ControlService {
    async fn converse(self, client: Client) -> Result<(), ConnectionEnd> {
        let Client { mut stream, mut shutdown, place, .. } = client;
        let (this, (end, ending)) = (&self, watch::channel(false));
        let service = service_fn(move |request| {
            let ending = ending.clone();
            async move { Ok::<_, Infallible>(this.reply(request, ending).await) }
        });
        let mut conversation = std::pin::pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(self.times.head)
                // A client may close its side once it has sent its request.
                .half_close(true)
                .title_case_headers(true)
                .max_buf_size(STATUS_REQUEST_BYTES_MAX)
                .serve_connection(TokioIo::new(&mut stream), service)
        );
        tokio::select! {
            // Errors of the client's HTTP are not logged. The client has its reply.
            _ = &mut conversation => {
                stream.close().await;
                return Ok(());
            }
            () = shutdown.requested() => {}
            // Another client needs the place.
            _ = place.close_request().asked() => {}
        }
        // A request that runs is still answered.
        conversation.as_mut().graceful_shutdown();
        let _ = end.send(true);
        // A client that does not read its stream would wait forever.
        let _ = timeout(self.times.request, conversation).await;
        Ok(())
    }
}
