//! One request of a native connection, from its frame to its reply and the memory of the reply.

use std::sync::Arc;

use crate::native::{FailedOperation, Identity, NativeService, Reply, answer};
use net::limits::MESSAGE_BYTES_FREE;
use net::{CloseRequest, MemoryBudget, Share};
use wire::native::{Compression, Frame, RequestCode};

/// Makes the memory shares of a connection's replies. A share belongs to its reply until the connection absorbs it.
#[derive(Debug)]
pub(crate) struct ReplyShares {
    pub budget: MemoryBudget,
    pub close_request: Arc<CloseRequest>,
}

/// A request that runs concurrently with others of its connection.
pub(crate) struct ConcurrentRequest {
    pub service: NativeService,
    pub identity: Arc<Identity>,
    pub code: RequestCode,
    pub frame: Frame,
    /// The compression of the connection.
    pub compression: Option<Compression>,
}

/// The reply to a request, with its memory.
pub(crate) struct ConcurrentReply {
    /// Bytes of the request's body as it was received.
    pub request_bytes: usize,
    pub reply: Reply,
    /// The memory of the reply; `None` if the reply is small.
    pub share: Option<Share>,
}

impl ConcurrentRequest {
    async fn answer(&self) -> Reply {
        answer(&self.service, &self.identity, self.code, &self.frame, self.compression).await
    }

    /// Answers the request. If there is no memory for a large reply, the reply is dropped, and the request runs again
    /// when there is memory. This is safe because only requests that change nothing have large replies.
    pub(crate) async fn answer_within(self, shares: Arc<ReplyShares>) -> ConcurrentReply {
        let request_bytes = self.frame.body.len();
        let reply = self.answer().await;
        let bytes = reply.bytes_held();
        if bytes <= MESSAGE_BYTES_FREE {
            return ConcurrentReply { request_bytes, reply, share: None };
        }
        let mut share = shares.budget.share(&shares.close_request);
        if share.try_hold(bytes) {
            return ConcurrentReply { request_bytes, reply, share: Some(share) };
        }
        drop(reply);
        let why = match share.hold_in_turn(bytes).await {
            Ok(turn) => {
                let reply = self.answer().await;
                drop(turn);
                if share.try_hold(reply.bytes_held()) {
                    return ConcurrentReply { request_bytes, reply, share: Some(share) };
                }
                "the result has grown, and there is no memory for it: try again, or ask for it in pages"
                    .to_owned()
            }
            Err(error) => error.to_string(),
        };
        let error = db::Error::Overloaded(why).into();
        let reply = Reply::error(self.frame.stream, &error, FailedOperation::default(), self.frame.version);
        ConcurrentReply { request_bytes, reply, share: None }
    }
}
