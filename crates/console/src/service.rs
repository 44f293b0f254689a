//! Serves a connection to the admin server.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;
use tokio::time::timeout;

use super::connection::AdminConnection;
use super::control;
use super::failure::AdminError;
use super::routes::routes;
use super::state::AdminState;
use crate::limits::{ADMIN_REQUEST_S, ADMIN_SILENCE_S};
use double::limits::CONTROL_REQUEST_S;
use net::limits::ADMIN_HEAD_BYTES_MAX;
use net::{Client, ConnectionEnd, ConnectionHandler, Conversation};

/// The time that a connection without an admitted request may last when another client needs its place.
const SCARCE: Duration = Duration::from_millis(500);

/// The time limits of a connection to the admin server.
#[derive(Debug, Clone, Copy)]
pub struct AdminTimes {
    /// For the head of a request, and so for the silence between two requests.
    pub head: Duration,
    /// For the body of a request and its work. Requests of the control API have their own.
    pub request: Duration,
}

impl Default for AdminTimes {
    fn default() -> AdminTimes {
        AdminTimes {
            head: Duration::from_secs(ADMIN_SILENCE_S),
            request: Duration::from_secs(ADMIN_REQUEST_S),
        }
    }
}

/// Serves the routes of the admin server.
#[derive(Clone)]
pub struct AdminService {
    routes: Router,
    times: AdminTimes,
}

impl AdminService {
    pub fn new(state: &Arc<AdminState>) -> AdminService {
        AdminService { routes: routes(state), times: AdminTimes::default() }
    }

    /// Returns the same service with other time limits.
    #[must_use]
    pub fn with_times(self, times: AdminTimes) -> AdminService {
        AdminService { times, ..self }
    }

    async fn reply(&self, mut request: Request<Incoming>, connection: AdminConnection) -> Response {
        request.extensions_mut().insert(connection);
        // The control API ends its requests itself.
        let time = match request.uri().path().starts_with(control::PATH) {
            true => Duration::from_secs(CONTROL_REQUEST_S + 1),
            false => self.times.request,
        };
        match timeout(time, TowerToHyperService::new(self.routes.clone()).call(request)).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(never)) => match never {},
            Err(_) => {
                let why =
                    format!("the request was not done after {} seconds: it was stopped", time.as_secs_f64());
                AdminError::new(StatusCode::SERVICE_UNAVAILABLE, why).into_response()
            }
        }
    }
}

impl ConnectionHandler for AdminService {
    fn serve(&self, client: Client) -> Conversation {
        Box::pin(self.clone().converse(client))
    }
}

impl AdminService {
    async fn converse(self, client: Client) -> Result<(), ConnectionEnd> {
        let Client { mut stream, peer, local, mut shutdown, place, .. } = client;
        let (end, ending) = watch::channel(false);
        let connection = AdminConnection::new(peer, local, stream.is_encrypted(), ending);
        let (this, of_request) = (&self, connection.clone());
        let service = service_fn(move |request| {
            let connection = of_request.clone();
            async move { Ok::<_, Infallible>(this.reply(request, connection).await) }
        });
        let mut conversation = std::pin::pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(self.times.head)
                // A client may close its side once it has sent its request.
                .half_close(true)
                .title_case_headers(true)
                .max_buf_size(ADMIN_HEAD_BYTES_MAX)
                .serve_connection(TokioIo::new(&mut stream), service)
        );
        let patience = tokio::select! {
            // Errors of the client's HTTP are not logged. The client has its reply.
            _ = &mut conversation => {
                stream.close().await;
                return Ok(());
            }
            () = shutdown.requested() => self.times.request,
            // Another client needs the place.
            _ = place.close_request().asked() => if connection.is_admitted() { self.times.request } else { SCARCE },
        };
        // A request that runs is still answered.
        conversation.as_mut().graceful_shutdown();
        let _ = end.send(true);
        // A client that does not read its reply would wait forever.
        let _ = timeout(patience, conversation).await;
        Ok(())
    }
}
