//! Serves the clients of the recorder.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::queue::TapQueue;
use super::relay::relay;
use super::upstream::Upstream;
use crate::server::{Client, ConnectionEnd, ConnectionHandler};

/// Makes the handlers of all ports of a recorder, which share its queue and the numbers of connections.
#[derive(Clone)]
pub struct Proxy {
    queue: TapQueue,
    last_connection: Arc<AtomicU64>,
}

/// Connects each client of a port to the upstream.
#[derive(Clone)]
pub struct ProxyPort {
    proxy: Proxy,
    upstream: Upstream,
}

impl Proxy {
    pub fn new(queue: TapQueue) -> Proxy {
        Proxy { queue, last_connection: Arc::default() }
    }

    /// Returns the handler of a port whose clients are connected to `upstream`.
    pub fn to(&self, upstream: Upstream) -> ProxyPort {
        ProxyPort { proxy: self.clone(), upstream }
    }
}

impl ConnectionHandler for ProxyPort {
    async fn serve(self, client: Client) -> Result<(), ConnectionEnd> {
        let Client { stream, peer, mut place, mut shutdown, .. } = client;
        place.prove();
        let server = self.upstream.connect().await.map_err(|error| ConnectionEnd::Closed(error.into()))?;
        let connection = self.proxy.last_connection.fetch_add(1, Ordering::Relaxed) + 1;
        let tap = self.proxy.queue.open(connection, peer, &self.upstream.address);
        tokio::select! {
            ended = relay(stream, server, tap) => ended.map_err(ConnectionEnd::Lost),
            () = shutdown.requested() => Ok(()),
        }
    }
}
