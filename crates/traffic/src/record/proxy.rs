//! Serves the clients of the recorder.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::by_keyspace::{RouteError, Upstreams, route};
use super::queue::TapQueue;
use super::relay::{Observers, relay};
use super::stamp::Stamps;
use crate::queue::Capture;
use net::{Client, ConnectionEnd, ConnectionHandler, Conversation};

/// Makes the handlers of all ports of a recorder, which share its queue and the numbers of connections.
#[derive(Clone)]
pub struct Proxy {
    queue: TapQueue,
    last_connection: Arc<AtomicU64>,
    stamps: Option<Stamps>,
    capture: Option<Capture>,
}

/// Connects each client of a port to its server.
#[derive(Clone)]
pub struct ProxyPort {
    proxy: Proxy,
    upstreams: Upstreams,
}

impl Proxy {
    /// Creates the handlers of a recorder that reads this queue.
    pub fn new(queue: TapQueue) -> Proxy {
        Proxy { queue, last_connection: Arc::default(), stamps: None, capture: None }
    }

    /// Gives writes of CQL without a timestamp one.
    #[must_use]
    pub fn with_stamps(self, stamps: Stamps) -> Proxy {
        Proxy { stamps: Some(stamps), ..self }
    }

    /// Queues the writes of clients before they get the replies.
    #[must_use]
    pub fn with_capture(self, capture: Capture) -> Proxy {
        Proxy { capture: Some(capture), ..self }
    }

    /// Returns the handler of a port whose clients are connected to these servers.
    pub fn to(&self, upstreams: Upstreams) -> ProxyPort {
        ProxyPort { proxy: self.clone(), upstreams }
    }
}

impl ConnectionHandler for ProxyPort {
    fn serve(&self, client: Client) -> Conversation {
        Box::pin(self.clone().converse(client))
    }
}

impl ProxyPort {
    async fn converse(self, client: Client) -> Result<(), ConnectionEnd> {
        let Client { stream, peer, mut place, mut shutdown, .. } = client;
        place.prove();
        let usual = &self.upstreams.usual;
        let connection = self.proxy.last_connection.fetch_add(1, Ordering::Relaxed) + 1;
        let open = || self.proxy.queue.open(connection, peer, &usual.address);
        let passing = async {
            if !self.upstreams.by_keyspace.is_empty() {
                return route(stream, &self.upstreams, open()).await.map_err(ended);
            }
            let server = usual.connect().await.map_err(|error| ConnectionEnd::Closed(error.into()))?;
            let capture = self.proxy.capture.as_ref();
            let captured = capture.map(|capture| capture.tap(connection, peer, usual.address.clone()));
            let observers = Observers { tap: Some(open()), captured: captured.map(Arc::new) };
            relay(stream, server, observers, self.proxy.stamps).await.map_err(ConnectionEnd::Lost)
        };
        tokio::select! {
            ended = passing => ended,
            () = shutdown.requested() => Ok(()),
        }
    }
}

fn ended(error: RouteError) -> ConnectionEnd {
    match error {
        RouteError::Lost(error) => ConnectionEnd::Lost(error),
        other => ConnectionEnd::Closed(other.into()),
    }
}
