//! A client of the native protocol, with one request at a time.

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::endpoint::{NativeAddress, connect};
use base::compat::features::ConsistencyLevel;
use base::marshal::CollectionForm;
use base::util::{Password, password_of};
use net::ServerStream;
use wire::limits::{NATIVE_FRAME_BYTES_MAX, NESTING_MAX};
use wire::native::{
    BodyError, BodyReader, BodyWriter, ProtocolVersion, consistency_code, flag, metadata_flag,
    parameter_flag, request_opcode,
};

/// The time that a request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Pauses before a request is repeated that an overloaded server has refused.
const PAUSES: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(8)];

/// The versions, in the order in which they are tried. Version 1 has no pages.
const VERSIONS: [ProtocolVersion; 3] = [ProtocolVersion::V4, ProtocolVersion::V3, ProtocolVersion::V2];

/// Codes of errors.
const PROTOCOL_ERROR: i32 = 0x000a;
const READ_TIMEOUT: i32 = 0x1200;
const INVALID: i32 = 0x2200;
/// Unavailable, overloaded, is bootstrapping, and timeout of a read.
const TRANSIENT_ERRORS: [i32; 4] = [0x1000, 0x1001, 0x1002, READ_TIMEOUT];

/// Codes of replies.
mod reply {
    use wire::native::ResponseCode;

    pub(super) const ERROR: u8 = ResponseCode::Error as u8;
    pub(super) const READY: u8 = ResponseCode::Ready as u8;
    pub(super) const AUTHENTICATE: u8 = ResponseCode::Authenticate as u8;
    pub(super) const RESULT: u8 = ResponseCode::Result as u8;
    pub(super) const AUTH_SUCCESS: u8 = ResponseCode::AuthSuccess as u8;
}

/// The kind of a result with rows.
const ROWS: i32 = 2;

/// A column of a result: its name and the number of its type.
#[derive(Debug, Clone)]
pub(super) struct PageColumn {
    pub name: String,
    pub type_number: u16,
}

/// A page of a result.
#[derive(Debug, Default)]
pub(super) struct ResultPage {
    pub columns: Vec<PageColumn>,
    pub rows: Vec<Vec<Option<Bytes>>>,
    /// The bytes of the page.
    pub bytes: usize,
    /// The place of the next page; `None` if this is the last one.
    pub next: Option<Bytes>,
}

/// The reason why a request has no result.
#[derive(Debug)]
pub(super) enum NativeFailure {
    /// The server has answered with an error.
    Refused {
        code: i32,
        why: String,
    },
    /// The reply is longer than the protocol allows.
    TooLong,
    Lost(String),
}

impl NativeFailure {
    /// Returns whether the server has found a mistake in the query, such as a table that it does not have.
    pub(super) fn is_invalid(&self) -> bool {
        matches!(self, NativeFailure::Refused { code: INVALID, .. })
    }

    /// Returns whether a page of fewer rows may succeed.
    fn is_of_long_page(&self) -> bool {
        matches!(self, NativeFailure::TooLong | NativeFailure::Refused { code: READ_TIMEOUT, .. })
    }

    fn is_transient(&self) -> bool {
        matches!(self, NativeFailure::Refused { code, .. } if TRANSIENT_ERRORS.contains(code))
    }
}

impl From<std::io::Error> for NativeFailure {
    fn from(error: std::io::Error) -> NativeFailure {
        NativeFailure::Lost(format!("connection lost: {error}"))
    }
}

impl From<BodyError> for NativeFailure {
    fn from(error: BodyError) -> NativeFailure {
        NativeFailure::Lost(format!("a reply that is not one of the native protocol: {error}"))
    }
}

impl From<NativeFailure> for String {
    fn from(error: NativeFailure) -> String {
        match error {
            NativeFailure::Refused { why, .. } | NativeFailure::Lost(why) => why,
            NativeFailure::TooLong => "a frame of more than 256 MB".to_owned(),
        }
    }
}

/// A connection.
pub(super) struct NativeExchange {
    address: NativeAddress,
    stream: ServerStream,
    version: ProtocolVersion,
    /// Whether no reply is missing. After a timeout the reply to an earlier request may still come.
    is_in_step: bool,
}

impl NativeExchange {
    /// Connects with the newest version that the server has, and logs in.
    pub(super) async fn connect(address: &NativeAddress) -> Result<NativeExchange, String> {
        let login = match &address.login {
            Some((user, file)) => Some((user, password_of("the server's password", file)?)),
            None => None,
        };
        for version in VERSIONS {
            let stream = connect(&address.address, address.tls.as_ref()).await?;
            let mut client = NativeExchange { address: address.clone(), stream, version, is_in_step: true };
            match client.start(login.as_ref().map(|(user, password)| (&user[..], password))).await {
                Err(NativeFailure::Refused { code: PROTOCOL_ERROR, .. }) => {}
                started => return started.map(|()| client).map_err(String::from),
            }
        }
        Err("it has none of the versions 2 to 4 of the native protocol, so it is older than Cassandra 2.0: export its data \
             directory, or use thrift:HOST:PORT"
            .to_owned())
    }

    async fn start(&mut self, login: Option<(&str, &Password)>) -> Result<(), NativeFailure> {
        let mut body = BytesMut::new();
        let mut writer = BodyWriter::new(&mut body, self.version);
        writer.u16(1);
        writer.string("CQL_VERSION");
        writer.string("3.0.0");
        let (code, _) = self.exchange(request_opcode::STARTUP, &body).await?;
        let refused = |why: &str| NativeFailure::Lost(why.to_owned());
        match (code, login) {
            (reply::READY, _) => Ok(()),
            (reply::AUTHENTICATE, Some((user, password))) => {
                let mut body = BytesMut::new();
                let token = format!("\0{user}\0{}", password.reveal());
                BodyWriter::new(&mut body, self.version).bytes(Some(token.as_bytes()));
                match self.exchange(request_opcode::AUTH_RESPONSE, &body).await? {
                    (reply::AUTH_SUCCESS, _) => Ok(()),
                    _ => Err(refused("the server requires a login other than user name and password")),
                }
            }
            (reply::AUTHENTICATE, None) => {
                Err(refused("it requires a login: append ?user=NAME&password-file=FILE to its address"))
            }
            (code, _) => Err(refused(&format!("a reply with the code {code} instead of READY"))),
        }
    }

    /// Returns the encoding of collections.
    pub(super) fn collection_form(&self) -> CollectionForm {
        self.version.collection_form()
    }

    /// Reads a page of a query, of at most `rows`: fewer if that many take too long or do not fit in a frame. Connects again if
    /// the connection has been lost.
    pub(super) async fn page(
        &mut self,
        query: &str,
        consistency: ConsistencyLevel,
        rows: &mut i32,
        from: Option<&Bytes>,
    ) -> Result<ResultPage, NativeFailure> {
        let mut pauses = PAUSES.iter();
        loop {
            if !self.is_in_step {
                let again = NativeExchange::connect(&self.address).await.map_err(NativeFailure::Lost)?;
                *self = again;
            }
            let body = query_body(self.version, query, consistency, *rows, from);
            let failure = match self.exchange(request_opcode::QUERY, &body).await {
                Ok((reply::RESULT, body)) => return Ok(page_of(body)?),
                Ok((code, _)) => {
                    let why = format!("a reply with the code {code} instead of a result");
                    return Err(NativeFailure::Lost(why));
                }
                Err(failure) => failure,
            };
            if failure.is_of_long_page() && *rows > 1 {
                *rows = (*rows / 4).max(1);
                continue;
            }
            match pauses.next() {
                Some(pause) if failure.is_transient() => tokio::time::sleep(*pause).await,
                _ => return Err(failure),
            }
        }
    }

    /// Sends a request. Returns the code and the body of the reply.
    async fn exchange(&mut self, code: u8, body: &[u8]) -> Result<(u8, BodyReader), NativeFailure> {
        self.is_in_step = false;
        let exchanged = tokio::time::timeout(REQUEST_TIMEOUT, self.send_and_read(code, body)).await;
        let Ok(reply) = exchanged else {
            return Err(NativeFailure::Lost(format!("no answer within {REQUEST_TIMEOUT:?}")));
        };
        let (code, mut body) = reply?;
        self.is_in_step = true;
        if code == reply::ERROR {
            let code = body.i32()?;
            return Err(NativeFailure::Refused { code, why: body.string()? });
        }
        Ok((code, body))
    }

    async fn send_and_read(&mut self, code: u8, body: &[u8]) -> Result<(u8, BodyReader), NativeFailure> {
        let mut request = BytesMut::new();
        request.put_u8(self.version.number());
        // No flags, and always the same stream, which has one or two bytes.
        request.put_bytes(0, self.version.header_bytes() - 6);
        request.put_u8(code);
        request.put_u32(u32::try_from(body.len()).unwrap_or(u32::MAX));
        request.put_slice(body);
        self.stream.write_all(&request).await?;
        // A server that does not have the version answers in its own one.
        let Some(version) = ProtocolVersion::of_number(self.stream.read_u8().await? & 0x7f) else {
            return Err(NativeFailure::Lost("it does not speak the native protocol".to_owned()));
        };
        let flags = self.stream.read_u8().await?;
        self.stream.read_exact(&mut [0; 2][..version.header_bytes() - 7]).await?;
        let code = self.stream.read_u8().await?;
        let length = self.stream.read_u32().await? as usize;
        if length > NATIVE_FRAME_BYTES_MAX {
            return Err(NativeFailure::TooLong);
        }
        // Grows with what arrives, not with what the header says.
        let mut body = Vec::new();
        (&mut self.stream).take(length as u64).read_to_end(&mut body).await?;
        if body.len() < length {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
        let mut body = BodyReader::new(Bytes::from(body), version);
        skip_notes(&mut body, flags)?;
        Ok((code, body))
    }
}

/// Returns the body of a request for a page.
fn query_body(
    version: ProtocolVersion,
    query: &str,
    consistency: ConsistencyLevel,
    rows: i32,
    from: Option<&Bytes>,
) -> BytesMut {
    let mut body = BytesMut::new();
    let mut writer = BodyWriter::new(&mut body, version);
    writer.bytes(Some(query.as_bytes()));
    writer.u16(consistency_code(consistency));
    let flags = parameter_flag::PAGE_SIZE | if from.is_some() { parameter_flag::PAGING_STATE } else { 0 };
    // Before version 5 the flags are one byte.
    writer.u8(flags as u8);
    writer.i32(rows);
    if let Some(state) = from {
        writer.bytes(Some(state));
    }
    body
}

/// Skips the warnings and the payload that a body begins with.
fn skip_notes(body: &mut BodyReader, flags: u8) -> Result<(), BodyError> {
    if flags & flag::WARNING != 0 {
        body.strings()?;
    }
    if flags & flag::CUSTOM_PAYLOAD != 0 { body.skip_payload() } else { Ok(()) }
}

fn skip_strings(body: &mut BodyReader, count: usize) -> Result<(), BodyError> {
    (0..count).try_for_each(|_| body.string().map(drop))
}

/// Reads the body of a result.
fn page_of(mut body: BodyReader) -> Result<ResultPage, BodyError> {
    let mut page = ResultPage { bytes: body.bytes_left(), ..ResultPage::default() };
    if body.i32()? != ROWS {
        return Ok(page);
    }
    let flags = body.i32()?;
    let columns = body.i32()?;
    if flags & metadata_flag::MORE_PAGES != 0 {
        page.next = body.bytes()?;
    }
    if flags & metadata_flag::GLOBAL_TABLE != 0 {
        skip_strings(&mut body, 2)?;
    }
    for _ in 0..columns {
        if flags & metadata_flag::GLOBAL_TABLE == 0 {
            skip_strings(&mut body, 2)?;
        }
        let name = body.string()?;
        page.columns.push(PageColumn { name, type_number: skip_type(&mut body, 0)? });
    }
    // Rows without columns would have no bytes, however many there are.
    let rows = if page.columns.is_empty() { 0 } else { body.i32()? };
    for _ in 0..rows {
        page.rows.push(page.columns.iter().map(|_| body.bytes()).collect::<Result<_, _>>()?);
    }
    Ok(page)
}

/// Reads a type, which the definition of the table has, too. Returns its number.
fn skip_type(body: &mut BodyReader, depth: usize) -> Result<u16, BodyError> {
    if depth > NESTING_MAX {
        return Err(BodyError::Protocol(format!("a type with more than {NESTING_MAX} levels")));
    }
    let number = body.u16()?;
    let held = match number {
        0 => {
            skip_strings(body, 1)?;
            0
        }
        0x20 | 0x22 => 1,
        0x21 => 2,
        0x30 => {
            skip_strings(body, 2)?;
            for _ in 0..body.u16()? {
                skip_strings(body, 1)?;
                skip_type(body, depth + 1)?;
            }
            0
        }
        0x31 => body.u16()?,
        _ => 0,
    };
    (0..held).try_for_each(|_| skip_type(body, depth + 1).map(drop))?;
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// Answers each request of version 4 with the bytes that `reply` makes of the code and the rows of a page.
    async fn serve(listener: TcpListener, reply: impl Fn(u8, i32) -> Vec<u8> + Clone + Send + 'static) {
        while let Ok((mut stream, _)) = listener.accept().await {
            let reply = reply.clone();
            tokio::spawn(async move {
                let mut head = [0; 9];
                while stream.read_exact(&mut head).await.is_ok() {
                    let mut body = vec![0; u32::from_be_bytes([head[5], head[6], head[7], head[8]]) as usize];
                    stream.read_exact(&mut body).await.unwrap();
                    // The query "q", the consistency and the flags come before.
                    let rows = body.get(8..12).map_or(0, |rows| i32::from_be_bytes(rows.try_into().unwrap()));
                    stream.write_all(&reply(head[4], rows)).await.unwrap();
                }
            });
        }
    }

    fn frame(code: u8, length: usize, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(length).unwrap().to_be_bytes();
        [&[0x84, 0, 0, 0, code][..], &length, body].concat()
    }

    /// Returns the rows of a page after it was asked of a server that refuses longer ones, and how that went.
    async fn rows_after(fits: i32, refusal: Vec<u8>) -> (i32, Result<ResultPage, NativeFailure>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address =
            NativeAddress { address: listener.local_addr().unwrap().to_string(), login: None, tls: None };
        let void = [0, 0, 0, 1];
        let server = tokio::spawn(serve(listener, move |code, rows| match code {
            request_opcode::STARTUP => frame(reply::READY, 0, &[]),
            _ if rows <= fits => frame(reply::RESULT, void.len(), &void),
            _ => refusal.clone(),
        }));
        let mut client = NativeExchange::connect(&address).await.unwrap();
        let mut rows = 1000;
        let page = client.page("q", ConsistencyLevel::One, &mut rows, None).await;
        server.abort();
        (rows, page)
    }

    #[tokio::test]
    async fn pages_that_are_too_long_are_asked_again_with_fewer_rows() {
        let timeout = frame(reply::ERROR, 7, &[&READ_TIMEOUT.to_be_bytes()[..], b"\0\x01t"].concat());
        let (rows, page) = rows_after(100, timeout).await;
        assert_eq!((rows, page.is_ok()), (62, true));
        let too_long = frame(reply::RESULT, NATIVE_FRAME_BYTES_MAX + 1, &[]);
        let (rows, page) = rows_after(3, too_long.clone()).await;
        assert_eq!((rows, page.is_ok()), (3, true));
        let (rows, page) = rows_after(0, too_long).await;
        assert_eq!((rows, matches!(page, Err(NativeFailure::TooLong))), (1, true));
    }
}
