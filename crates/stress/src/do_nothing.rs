//! A Thrift server that replies and does nothing. Its rate is the limit of the loopback interface and the client.
//!
//! It is built like the real server, with a task for each connection on a runtime with a thread for each core. So the
//! difference between the two servers is the real server's work for a request.

use std::io::Read;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::args::DoNothingArgs;
use super::native_nothing::{Bodies, NativeResponder};
use super::reply::Answers;
use base::util::output::print_line;
use net::BusyPoll;
use wire::limits::MESSAGE_BYTES_MAX;
use wire::thrift::frame::{Detection, MessageCutter, NextMessage, Transport, detect};
use wire::thrift::{ApplicationError, MessageHeader, MessageKind, Reader, WireError, Writer};

/// Room in the input buffer for a read, in bytes.
const READ_BYTES: usize = 16 * 1024;

/// The start of the line on standard output; the bound address follows.
pub(crate) const LISTENING: &str = "do-nothing ";

/// Serves until the process ends.
pub(crate) fn serve(args: &DoNothingArgs) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("listen at {}: {error}", args.listen);
    let answers = Arc::new(Answers::new(args.columns, args.value_size));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(failed)?;
    if args.exit_with_stdin {
        std::thread::spawn(|| {
            let mut ignored = [0];
            while matches!(std::io::stdin().read(&mut ignored), Ok(1..)) {}
            std::process::exit(0);
        });
    }
    runtime.block_on(async {
        let listener = TcpListener::bind(&args.listen).await.map_err(failed)?;
        print_line!("{LISTENING}{}", listener.local_addr().map_err(failed)?);
        let busy_poll = if args.busy_poll { BusyPoll::start() } else { BusyPoll::off() };
        let served = if args.native {
            let bodies = Arc::new(Bodies::new(args.value_size));
            accept(listener, busy_poll, || NativeResponder::new(bodies.clone())).await
        } else {
            accept(listener, busy_poll, || ThriftResponder { answers: answers.clone(), cutter: None }).await
        };
        served.map_err(failed)
    })
}

/// One connection's protocol: how its requests are answered.
pub(crate) trait Responder: Send + 'static {
    /// Takes the whole requests off the input, and appends their replies to the output.
    fn answer(&mut self, input: &mut BytesMut, output: &mut BytesMut) -> Result<(), String>;
}

/// Serves all connections, each with a responder of its own; returns only an error.
async fn accept<R: Responder>(
    listener: TcpListener,
    busy_poll: BusyPoll,
    responder: impl Fn() -> R,
) -> std::io::Result<()> {
    loop {
        let (stream, peer) = listener.accept().await?;
        let (responder, busy_poll) = (responder(), busy_poll.clone());
        tokio::spawn(async move {
            if let Err(reason) = serve_connection(stream, responder, &busy_poll).await {
                tracing::debug!(%peer, "connection closed: {reason}");
            }
        });
    }
}

async fn serve_connection(
    mut stream: TcpStream,
    mut responder: impl Responder,
    busy_poll: &BusyPoll,
) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    stream.set_nodelay(true).map_err(failed)?;
    let mut input = BytesMut::with_capacity(READ_BYTES);
    let mut output = BytesMut::with_capacity(READ_BYTES);
    loop {
        input.reserve(READ_BYTES);
        if stream.read_buf(&mut input).await.map_err(failed)? == 0 {
            return Ok(());
        }
        busy_poll.record_request();
        responder.answer(&mut input, &mut output)?;
        if !output.is_empty() {
            stream.write_all(&output).await.map_err(failed)?;
            output.clear();
        }
    }
}

/// Answers Thrift calls.
struct ThriftResponder {
    answers: Arc<Answers>,
    /// `None` until the first bytes show the transport.
    cutter: Option<MessageCutter>,
}

impl Responder for ThriftResponder {
    fn answer(&mut self, input: &mut BytesMut, output: &mut BytesMut) -> Result<(), String> {
        let cutter = match &mut self.cutter {
            Some(cutter) => cutter,
            None => match detect(input, MESSAGE_BYTES_MAX) {
                Detection::Needed(_) => return Ok(()),
                Detection::Refused(refusal) => return Err(refusal.to_string()),
                Detection::Found(transport) => {
                    self.cutter.insert(MessageCutter::new(transport, MESSAGE_BYTES_MAX))
                }
            },
        };
        while let NextMessage::Message(message) =
            cutter.next_message(input).map_err(|error| error.to_string())?
        {
            let answered = answer(&message, cutter.transport(), &self.answers, output);
            answered.map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// Appends the reply to a message.
fn answer(
    message: &Bytes,
    transport: Transport,
    answers: &Answers,
    output: &mut BytesMut,
) -> Result<(), WireError> {
    let mut reader = Reader::new(message);
    let header = MessageHeader::read(&mut reader)?;
    if header.kind == MessageKind::Oneway {
        return Ok(());
    }
    let mut writer = Writer::new(output);
    let mark = writer.frame_begin(transport);
    match answers.result(header.name, &mut reader) {
        Some(result) => {
            writer.message_begin(header.name, MessageKind::Reply, header.seqid);
            writer.raw(result);
        }
        None => {
            let text = format!("Invalid method name: '{}'", String::from_utf8_lossy(header.name));
            writer.application_exception(header.name, header.seqid, ApplicationError::UnknownMethod, &text);
        }
    }
    writer.frame_end(mark)
}

#[cfg(test)]
pub(super) mod tests {
    use std::net::SocketAddr;

    use super::*;

    /// Starts a server on a thread, which runs until the tests end.
    pub fn start(columns: u32, value_bytes: usize) -> SocketAddr {
        let answers = Arc::new(Answers::new(columns, value_bytes));
        serve(move || ThriftResponder { answers: answers.clone(), cutter: None })
    }

    /// Starts a server with these responders on a thread.
    pub fn serve<R: Responder>(responder: impl Fn() -> R + Send + 'static) -> SocketAddr {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                accept(TcpListener::from_std(listener).unwrap(), BusyPoll::off(), responder).await
            })
        });
        address
    }

    #[test]
    fn unknown_methods_are_refused_and_oneway_messages_get_no_reply() {
        let answers = Answers::new(1, 1);
        let reply = |name: &[u8], kind| {
            let mut message = BytesMut::new();
            let mut writer = Writer::new(&mut message);
            writer.message_begin(name, kind, 9);
            writer.stop();
            let mut output = BytesMut::new();
            answer(&message.freeze(), Transport::Unframed, &answers, &mut output).unwrap();
            output
        };
        let unknown = reply(b"truncate", MessageKind::Call);
        let header = MessageHeader::read(&mut Reader::over(&unknown)).unwrap();
        assert_eq!((header.kind, header.seqid), (MessageKind::Exception, 9));
        assert!(reply(b"insert", MessageKind::Oneway).is_empty());
    }
}
