//! The body of a request, which records on its connection when the request has arrived completely.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use crate::connection::HttpConnection;

/// The body of a request on a connection.
pub(crate) struct ArrivingBody {
    body: Incoming,
    connection: HttpConnection,
}

impl ArrivingBody {
    /// Wraps the body of a request whose head has arrived.
    pub(crate) fn new(body: Incoming, connection: HttpConnection) -> ArrivingBody {
        connection.set_arrived(body.is_end_stream());
        ArrivingBody { body, connection }
    }
}

impl Body for ArrivingBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() || self.body.is_end_stream() {
            self.connection.set_arrived(true);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
