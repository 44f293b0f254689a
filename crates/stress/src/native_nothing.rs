//! The do-nothing server of the CQL native protocol.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use net::BusyPoll;
use wire::native::{FrameCutter, NextFrame, RequestCode, ResponseCode, write_frame};

/// Room in the input buffer for a read, in bytes.
const READ_BYTES: usize = 16 * 1024;
const ID_BYTES: usize = 16;
/// The first byte of the ids of prepared statements.
const INSERT: u8 = 0;
const SELECT: u8 = 1;

/// The bodies of replies.
struct Bodies {
    void: Bytes,
    row: Bytes,
}

impl Bodies {
    fn new(value_bytes: usize) -> Bodies {
        let mut row = BytesMut::new();
        // Rows, no metadata, one column, one row.
        for number in [2, 4, 1, 1] {
            row.put_i32(number);
        }
        row.put_i32(i32::try_from(value_bytes).unwrap_or(i32::MAX));
        row.put_bytes(b'v', value_bytes);
        Bodies { void: Bytes::from_static(&[0, 0, 0, 1]), row: row.freeze() }
    }
}

/// Serves all connections; returns only an error.
pub(crate) async fn accept(
    listener: TcpListener,
    value_bytes: usize,
    busy_poll: BusyPoll,
) -> std::io::Result<()> {
    let bodies = Arc::new(Bodies::new(value_bytes));
    loop {
        let (stream, peer) = listener.accept().await?;
        let (bodies, busy_poll) = (Arc::clone(&bodies), busy_poll.clone());
        tokio::spawn(async move {
            if let Err(reason) = serve_connection(stream, &bodies, &busy_poll).await {
                tracing::debug!(%peer, "connection closed: {reason}");
            }
        });
    }
}

async fn serve_connection(
    mut stream: TcpStream,
    bodies: &Bodies,
    busy_poll: &BusyPoll,
) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    stream.set_nodelay(true).map_err(failed)?;
    let mut input = BytesMut::with_capacity(READ_BYTES);
    let mut output = BytesMut::with_capacity(READ_BYTES);
    let mut cutter = FrameCutter::default();
    loop {
        input.reserve(READ_BYTES);
        if stream.read_buf(&mut input).await.map_err(failed)? == 0 {
            return Ok(());
        }
        busy_poll.record_request();
        while let NextFrame::Frame(frame) =
            cutter.next_frame(&mut input).map_err(|error| error.to_string())?
        {
            let (code, body) = answer(frame.opcode, &frame.body, bodies);
            write_frame(&mut output, frame.version, 0, frame.stream, code, &body);
        }
        stream.write_all(&output).await.map_err(failed)?;
        output.clear();
    }
}

fn answer(opcode: u8, request: &[u8], bodies: &Bodies) -> (ResponseCode, Bytes) {
    let result = |body: &Bytes| (ResponseCode::Result, body.clone());
    match RequestCode::of_number(opcode) {
        Some(RequestCode::Prepare) => {
            let is_select = request.get(4..).is_some_and(|text| text.starts_with(b"SELECT"));
            (ResponseCode::Result, prepared(if is_select { SELECT } else { INSERT }))
        }
        // The length of the id precedes it.
        Some(RequestCode::Execute) if request.get(2) == Some(&SELECT) => result(&bodies.row),
        Some(RequestCode::Execute | RequestCode::Query) => result(&bodies.void),
        _ => (ResponseCode::Ready, Bytes::new()),
    }
}

/// Returns the RESULT of a PREPARE, without metadata.
fn prepared(first: u8) -> Bytes {
    let mut body = BytesMut::new();
    body.put_i32(4);
    body.put_u16(ID_BYTES as u16);
    body.put_bytes(first, ID_BYTES);
    body.freeze()
}
