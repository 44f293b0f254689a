//! The do-nothing server of the CQL native protocol.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};

use super::do_nothing::Responder;
use wire::native::{FrameCutter, NextFrame, RequestCode, ResponseCode, write_frame};

const ID_BYTES: usize = 16;
/// The first byte of the ids of prepared statements.
const INSERT: u8 = 0;
const SELECT: u8 = 1;

/// The bodies of replies.
pub(crate) struct Bodies {
    void: Bytes,
    row: Bytes,
}

impl Bodies {
    pub(crate) fn new(value_bytes: usize) -> Bodies {
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

/// Answers requests of the native protocol.
pub(crate) struct NativeResponder {
    bodies: Arc<Bodies>,
    cutter: FrameCutter,
}

impl NativeResponder {
    pub(crate) fn new(bodies: Arc<Bodies>) -> NativeResponder {
        NativeResponder { bodies, cutter: FrameCutter::default() }
    }
}

impl Responder for NativeResponder {
    fn answer(&mut self, input: &mut BytesMut, output: &mut BytesMut) -> Result<(), String> {
        while let NextFrame::Frame(frame) =
            self.cutter.next_frame(input).map_err(|error| error.to_string())?
        {
            let (code, body) = answer(frame.opcode, &frame.body, &self.bodies);
            write_frame(output, frame.version, 0, frame.stream, code, &body);
        }
        Ok(())
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
