//! Serves the connections of a port.

use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::arriving_body::ArrivingBody;
use crate::connection::{ConnectionProgress, HttpConnection};
use crate::host::{HostNames, check_host};
use net::{Client, ConnectionEnd, ConnectionHandler, Conversation};

/// The time limits of requests.
#[derive(Debug, Clone, Copy)]
pub struct HttpTimes {
    /// For the head of a request, and so for the silence between two requests.
    pub head: Duration,
    /// For the body of a request and its work. The port's routes enforce it, since each port has its own form of errors.
    pub request: Duration,
}

/// The limits of a connection.
#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    /// Longest head of a request, in bytes. A longer one is answered with 431.
    pub head_bytes_max: usize,
    /// For the head of a request; `None` for the time of the whole connection.
    pub head: Option<Duration>,
    /// For all of a connection, which then has one request. `None`: it has any number of them.
    pub whole: Option<Duration>,
    /// For the rest of a running request when the server stops, or when another client needs the place of a connection
    /// that has had an admitted request.
    pub rest: Duration,
    /// The same when another client needs the place, and the connection has had no admitted request. A request that has
    /// not arrived completely then gets no time at all: half-open requests must not keep others out.
    pub rest_unadmitted: Duration,
}

impl HttpLimits {
    /// Limits connections that have any number of requests.
    pub fn of_many(head_bytes_max: usize, times: HttpTimes) -> HttpLimits {
        let HttpTimes { head, request: rest } = times;
        HttpLimits { head_bytes_max, head: Some(head), whole: None, rest, rest_unadmitted: rest }
    }

    /// Limits connections to one request within a time. A client that is not done then, or when the server stops, is left
    /// without a reply.
    pub fn of_one(head_bytes_max: usize, whole: Duration) -> HttpLimits {
        let none = Duration::ZERO;
        HttpLimits { head_bytes_max, head: None, whole: Some(whole), rest: none, rest_unadmitted: whole }
    }
}

/// Serves routes on the connections of a port.
#[derive(Clone)]
pub struct HttpService {
    routes: Router,
    limits: HttpLimits,
}

impl HttpService {
    /// Serves these routes under these names: a request that names another server is answered with 421. Requests have an
    /// [`HttpConnection`] among their extensions.
    pub fn new(routes: Router, hosts: HostNames, limits: HttpLimits) -> HttpService {
        HttpService { routes: routes.layer(from_fn_with_state(hosts, check_host)), limits }
    }

    async fn converse(self, client: Client) -> Result<(), ConnectionEnd> {
        let Client { mut stream, peer, local, mut shutdown, place, .. } = client;
        let HttpLimits { head_bytes_max, head, whole, rest, rest_unadmitted } = self.limits;
        let (end, ending) = watch::channel(false);
        let connection = HttpConnection::new(peer, local, stream.is_encrypted(), ending);
        let (routes, of_request) = (TowerToHyperService::new(self.routes), connection.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(of_request.clone());
            let connection = of_request.clone();
            routes.call(request.map(|body| ArrivingBody::new(body, connection)))
        });
        let mut conversation = std::pin::pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(head)
                .keep_alive(whole.is_none())
                // A client may close its side once it has sent its request.
                .half_close(true)
                .title_case_headers(true)
                .max_buf_size(head_bytes_max)
                .serve_connection(TokioIo::new(&mut stream), service)
        );
        let patience = tokio::select! {
            // Neither a client that is too slow nor one whose request is not HTTP is logged. The latter has its reply.
            _ = timeout(whole.unwrap_or(Duration::MAX), &mut conversation) => {
                stream.close().await;
                return Ok(());
            }
            () = shutdown.requested() => rest,
            // Another client needs the place.
            _ = place.close_request().asked() => match connection.progress() {
                ConnectionProgress::Arriving => Duration::ZERO,
                ConnectionProgress::Arrived => rest_unadmitted,
                ConnectionProgress::Admitted => rest,
            },
        };
        // A request that runs is still answered.
        conversation.as_mut().graceful_shutdown();
        let _ = end.send(true);
        // A client that does not read its reply would wait forever.
        let _ = timeout(patience, conversation).await;
        Ok(())
    }
}

impl ConnectionHandler for HttpService {
    fn serve(&self, client: Client) -> Conversation {
        Box::pin(self.clone().converse(client))
    }
}
