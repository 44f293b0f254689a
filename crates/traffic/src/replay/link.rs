//! A connection to the candidate. It has tasks of its own, so that the replay never waits for one connection alone.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::super::Protocol;
use super::wire::Wire;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Room in the input buffer for a read, in bytes.
const READ_BYTES: usize = 64 * 1024;

/// The reports of a connection.
#[derive(Debug)]
pub(super) enum Arrival {
    Reply {
        call: u64,
        message: Bytes,
        at: Instant,
    },
    /// The connection has ended: its calls get no reply any more. `link` identifies it.
    Ended {
        link: u64,
        why: String,
    },
}

/// An open connection. It closes when it is dropped.
#[derive(Debug)]
pub(super) struct ReplayLink {
    pub number: u64,
    requests: mpsc::UnboundedSender<(u64, Bytes)>,
    tasks: [JoinHandle<()>; 2],
}

impl Drop for ReplayLink {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl ReplayLink {
    /// Connects. `number` identifies the connection in arrivals.
    ///
    /// # Errors
    ///
    /// That the candidate cannot be reached.
    pub(super) async fn open(
        number: u64,
        address: &str,
        protocol: Protocol,
        arrivals: mpsc::UnboundedSender<Arrival>,
    ) -> Result<ReplayLink, String> {
        let connecting = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await;
        let stream = match connecting {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(format!("cannot connect to {address}: {error}")),
            Err(_) => {
                return Err(format!("cannot connect to {address}: no answer within {CONNECT_TIMEOUT:?}"));
            }
        };
        stream.set_nodelay(true).map_err(|error| format!("cannot connect to {address}: {error}"))?;
        let (read, write) = stream.into_split();
        let wire = Arc::new(Mutex::new(Wire::new(protocol)));
        // Requests are few: the replay waits for replies before it sends more.
        let (requests, outgoing) = mpsc::unbounded_channel();
        let writer = tokio::spawn(write_requests(write, wire.clone(), outgoing, number, arrivals.clone()));
        let reader = tokio::spawn(read_replies(read, wire, number, arrivals));
        Ok(ReplayLink { number, requests, tasks: [writer, reader] })
    }

    /// Sends a request. If the connection has ended, an arrival says so.
    pub(super) fn send(&self, call: u64, message: Bytes) {
        // The task ends with the connection only, and has reported that.
        let _ = self.requests.send((call, message));
    }
}

async fn write_requests(
    mut stream: OwnedWriteHalf,
    wire: Arc<Mutex<Wire>>,
    mut outgoing: mpsc::UnboundedReceiver<(u64, Bytes)>,
    link: u64,
    arrivals: mpsc::UnboundedSender<Arrival>,
) {
    let mut out = BytesMut::new();
    while let Some((call, message)) = outgoing.recv().await {
        wire.lock().unwrap_or_else(PoisonError::into_inner).put(call, &message, &mut out);
        if let Err(error) = stream.write_all(&out).await {
            let _ = arrivals.send(Arrival::Ended { link, why: format!("connection lost: {error}") });
            return;
        }
        out.clear();
    }
}

async fn read_replies(
    mut stream: OwnedReadHalf,
    wire: Arc<Mutex<Wire>>,
    link: u64,
    arrivals: mpsc::UnboundedSender<Arrival>,
) {
    let mut input = BytesMut::new();
    let why = loop {
        input.reserve(READ_BYTES);
        match stream.read_buf(&mut input).await {
            Ok(0) => break "the candidate closed the connection".to_owned(),
            Ok(_) => {}
            Err(error) => break format!("connection lost: {error}"),
        }
        let at = Instant::now();
        let end = loop {
            let taken = wire.lock().unwrap_or_else(PoisonError::into_inner).take(&mut input);
            match taken {
                Ok(Some((call, message))) => {
                    if arrivals.send(Arrival::Reply { call, message, at }).is_err() {
                        return;
                    }
                }
                Ok(None) => break None,
                Err(why) => break Some(format!("the candidate sent {why}")),
            }
        };
        if let Some(why) = end {
            break why;
        }
    };
    let _ = arrivals.send(Arrival::Ended { link, why });
}
