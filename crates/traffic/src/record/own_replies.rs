//! Replies of the proxy itself: to executions of prepared statements that it does not know.
//!
//! ```text
//!   EXECUTE id    ---->  proxy              the server may know the id from before the proxy was started
//!                 <----  UNPREPARED id
//!   PREPARE text  ---->  server             every driver prepares the statement again, and the proxy learns its text
//!   EXECUTE id    ---->  server
//! ```
//!
//! So the text of each write that the server executes is known when the write goes into the queue.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::call::{NativeFrame, NativeRequest, UNPREPARED};
use crate::queue::CapturedTap;
use wire::native::ResponseCode;

/// Returns the reply to a request that executes a statement which the proxy does not know; `None` for other requests.
pub(super) fn unprepared_reply(captured: &CapturedTap, request: &NativeRequest) -> Option<Bytes> {
    let id = captured.unknown_id(request)?;
    let text = "Prepared query not found: the proxy was started after it was prepared, or has forgotten it";
    let mut body = BytesMut::new();
    body.put_u32(UNPREPARED);
    body.put_u16(u16::try_from(text.len()).ok()?);
    body.put_slice(text.as_bytes());
    body.put_u16(u16::try_from(id.len()).ok()?);
    body.put_slice(&id);
    let NativeFrame { version, stream, .. } = request.frame;
    let opcode = ResponseCode::Error as u8;
    let body = body.freeze();
    Some(NativeFrame { version, is_from_server: true, flags: 0, stream, opcode, body }.write())
}

/// The replies of a connection on their way from the passage of its requests to the passage of the server's replies.
#[derive(Debug, Default)]
pub(super) struct OwnReplies {
    waiting: Mutex<BytesMut>,
    arrived: Notify,
}

impl OwnReplies {
    pub(super) fn add(&self, replies: &[u8]) {
        if !replies.is_empty() {
            self.waiting.lock().extend_from_slice(replies);
            self.arrived.notify_one();
        }
    }

    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Takes the replies if they can be passed now: the server must not have sent a part of a frame. They are passed behind the
    /// rest of it then.
    pub(super) fn take(&self, captured: Option<&Arc<CapturedTap>>) -> Bytes {
        let mut waiting = self.waiting.lock();
        if waiting.is_empty() || !captured.is_some_and(|captured| captured.is_between_replies()) {
            return Bytes::new();
        }
        waiting.split().freeze()
    }
}
