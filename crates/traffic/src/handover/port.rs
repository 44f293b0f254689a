//! Serves the clients of a move.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::gate::{Answering, GatePass, HandoverGate};
use crate::queue::{Capture, CapturedTap};
use crate::record::{Observers, Stamps, relay};
use net::{Client, ConnectionEnd, ConnectionHandler, Conversation, Upstream};

/// The time for which a connection may wait for the answers to its writes when the gate closes. Then it is cut.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// A server, and the capture of the writes that it answers.
#[derive(Clone)]
pub struct HandoverSide {
    /// The server.
    pub upstream: Upstream,
    /// Queues writes for the other server.
    pub capture: Capture,
}

/// Connects each client of a port to the server that answers.
#[derive(Clone)]
pub struct HandoverPort {
    gate: Arc<HandoverGate>,
    old: HandoverSide,
    new: HandoverSide,
    stamps: Stamps,
    last_connection: Arc<AtomicU64>,
}

impl HandoverPort {
    /// Creates a port.
    pub fn new(gate: Arc<HandoverGate>, old: HandoverSide, new: HandoverSide) -> HandoverPort {
        HandoverPort { gate, old, new, stamps: Stamps::default(), last_connection: Arc::default() }
    }

    /// Returns a port with other servers that shares the gate and the clock.
    #[must_use]
    pub fn with_sides(&self, old: HandoverSide, new: HandoverSide) -> HandoverPort {
        HandoverPort { old, new, ..self.clone() }
    }
}

impl ConnectionHandler for HandoverPort {
    fn serve(&self, client: Client) -> Conversation {
        Box::pin(self.clone().converse(client))
    }
}

impl HandoverPort {
    async fn converse(self, client: Client) -> Result<(), ConnectionEnd> {
        let Client { stream, peer, mut place, mut shutdown, .. } = client;
        place.prove();
        let passing = async {
            let mut pass = self.gate.enter().await;
            let side = match pass.answering {
                Answering::Old => &self.old,
                Answering::New => &self.new,
            };
            let server = tokio::select! {
                connected = side.upstream.connect() => {
                    connected.map_err(|error| ConnectionEnd::Closed(error.into()))?
                }
                // Connecting to a server that is away takes as long as the gate waits.
                () = pass.closing() => return Ok(()),
            };
            let connection = self.last_connection.fetch_add(1, Ordering::Relaxed) + 1;
            let captured = Arc::new(side.capture.tap(connection, peer, side.upstream.address.clone()));
            let observers = Observers { tap: None, captured: Some(captured.clone()) };
            let ended = tokio::select! {
                ended = relay(stream, server, observers, Some(self.stamps)) => ended.map_err(ConnectionEnd::Lost),
                () = last_answers(&mut pass, &captured) => Ok(()),
            };
            // Writes without an answer are queued before the gate may count the connection as ended.
            drop(captured);
            drop(pass);
            ended
        };
        tokio::select! {
            ended = passing => ended,
            () = shutdown.requested() => Ok(()),
        }
    }
}

/// Waits until the gate closes, and then until the writes of a connection are answered.
async fn last_answers(pass: &mut GatePass, captured: &CapturedTap) {
    pass.closing().await;
    let end = Instant::now() + LAST_ANSWERS;
    while captured.has_open_calls() && Instant::now() < end {
        tokio::time::sleep(Duration::from_micros(500)).await;
    }
}
