//! Keeps passwords out of recorded requests.
//!
//! A password is replaced by asterisks of equal length: in `login`, CREDENTIALS and AUTH_RESPONSE, in statements as
//! [`StatementSecrets`] finds it, and in the values that are bound to such a statement. If a request with a password cannot
//! be understood, it is not recorded. [`super::replies`] does the same for the reply.

use std::borrow::Cow;
use std::ops::Range;

use bytes::{Bytes, BytesMut};

use super::prepared_kinds::{PreparedKinds, StatementKind};
use super::replies;
use crate::ThriftMessage;
use crate::call::NativeRequest;
use crate::native_message::{FrameStatement, NativeMessage, place_of};
use crate::readable::readable;
use crate::redact::dialect_of;
use base::model::BoundValue;
use cql_syntax::limits::STATEMENT_BYTES_MAX;
use cql_syntax::{Dialect, Secrets as StatementSecrets};
use wire::native::RequestCode;
use wire::thrift::{MessageHeader, Reader, TType, WireError, query_text};

/// Shorter passwords are not looked for in replies: their bytes may be anything.
const SECRET_BYTES_MIN: usize = 4;

const BLANK: u8 = b'*';

/// The keys of credentials that are not secret.
const USER_NAME: &[u8] = b"username";

/// The secrets of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CallSecrets {
    /// The passwords of the request.
    secrets: Vec<Bytes>,
    pub kind: StatementKind,
}

impl CallSecrets {
    /// Returns a reply in which the passwords of its request are replaced, from byte `start` on.
    pub(super) fn blanked(&self, reply: Bytes, start: usize) -> Bytes {
        let mut places = Vec::new();
        for secret in &self.secrets {
            let windows = reply.get(start..).unwrap_or_default().windows(secret.len()).enumerate();
            let found = windows.filter(|(_, window)| window == secret);
            places.extend(found.map(|(at, _)| start + at..start + at + secret.len()));
        }
        blank(reply, &places)
    }
}

/// A request without its passwords.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hidden {
    /// There are none, and none in the reply.
    Nothing,
    /// The request with replaced passwords, and the possible secrets in its reply.
    Replaced(Bytes, CallSecrets),
    /// The request may have a password in a place that is not understood.
    Refused,
}

impl Hidden {
    /// Hides the secrets of a message. `None`: it may have others.
    fn of(message: &Bytes, found: Option<FoundSecrets>) -> Hidden {
        let Some(FoundSecrets { places, kind }) = found else { return Hidden::Refused };
        if places.is_empty() && kind == StatementKind::default() {
            return Hidden::Nothing;
        }
        let long = places.iter().filter(|place| place.len() >= SECRET_BYTES_MIN);
        let secrets = long.filter_map(|place| message.get(place.clone())).map(Bytes::copy_from_slice);
        let secrets = CallSecrets { secrets: secrets.collect(), kind };
        Hidden::Replaced(blank(message.clone(), &places), secrets)
    }
}

/// Replaces the bytes at some places.
pub(super) fn blank(message: Bytes, places: &[Range<usize>]) -> Bytes {
    if places.is_empty() {
        return message;
    }
    let mut copy = BytesMut::from(message);
    for place in places {
        if let Some(secret) = copy.get_mut(place.clone()) {
            secret.fill(BLANK);
        }
    }
    copy.freeze()
}

/// Returns places in a part as places in the message, in which the part begins at `start`.
pub(super) fn shifted(places: Vec<Range<usize>>, start: usize) -> Vec<Range<usize>> {
    places.into_iter().map(|place| start + place.start..start + place.end).collect()
}

/// The secrets in the statements of a request.
#[derive(Debug, Default)]
struct FoundSecrets {
    places: Vec<Range<usize>>,
    kind: StatementKind,
}

impl FoundSecrets {
    fn at(places: Vec<Range<usize>>) -> FoundSecrets {
        FoundSecrets { places, kind: StatementKind::default() }
    }

    /// Adds the secrets of a statement that begins at `start` of the message.
    fn add(&mut self, text: &[u8], start: usize, dialect: Dialect) {
        let text: Cow<'_, str> = readable(text);
        self.kind.reads_secrets |= StatementKind::reads_secrets(&text);
        if let Some(secrets) = StatementSecrets::of(&text, dialect) {
            self.kind.has_passwords |= secrets.are_in_values;
            self.places.extend(shifted(secrets.places, start));
        }
    }
}

/// Hides the passwords of a Thrift call.
pub(super) fn hide_in_thrift(method: &[u8], message: &Bytes, prepared: &PreparedKinds) -> Hidden {
    // Servers cannot read a message that cannot be read here.
    let found = match method {
        b"login" => passwords_of_login(message).ok().map(FoundSecrets::at),
        b"execute_cql_query" | b"execute_cql3_query" | b"prepare_cql_query" | b"prepare_cql3_query" => {
            passwords_of_query(message, dialect_of(&String::from_utf8_lossy(method))).ok().flatten()
        }
        b"execute_prepared_cql_query" | b"execute_prepared_cql3_query" => {
            values_of_prepared(message, prepared).ok().flatten()
        }
        _ if !replies::has_hash(message) => return Hidden::Nothing,
        // Clients can write to `system_auth` over Thrift.
        _ => {
            ThriftMessage::read(message).ok().map(|call| FoundSecrets::at(replies::hashes_in(message, &call)))
        }
    };
    Hidden::of(message, found)
}

/// Returns the places of all values of credentials but the user's name. Each struct of the arguments is an
/// AuthenticationRequest: its field 1 is a map of texts.
fn passwords_of_login(message: &Bytes) -> Result<Vec<Range<usize>>, WireError> {
    let mut places = Vec::new();
    let mut reader = Reader::new(message);
    MessageHeader::read(&mut reader)?;
    while let Some((ttype, _)) = reader.field_begin()? {
        if ttype != TType::Struct {
            reader.skip(ttype)?;
            continue;
        }
        while let Some((ttype, _)) = reader.field_begin()? {
            if ttype != TType::Map {
                reader.skip(ttype)?;
                continue;
            }
            let (key, value, count) = reader.map_begin()?;
            for _ in 0..count {
                let name = if key == TType::String { reader.raw()? } else { b"" };
                if key != TType::String {
                    reader.skip(key)?;
                }
                let start = reader.position();
                reader.skip(value)?;
                if !name.eq_ignore_ascii_case(USER_NAME) {
                    // A text begins with its length.
                    let skipped = if value == TType::String { 4 } else { 0 };
                    places.push(start + skipped..reader.position());
                }
            }
        }
    }
    Ok(places)
}

/// Returns the passwords in the statement of a CQL call. `None` if the statement is compressed and has one: the compressed
/// text cannot be changed.
fn passwords_of_query(message: &Bytes, dialect: Dialect) -> Result<Option<FoundSecrets>, WireError> {
    let mut reader = Reader::new(message);
    MessageHeader::read(&mut reader)?;
    let (mut text, mut compression) = (0..0, 0);
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::String) => {
                let length = reader.raw()?.len();
                text = reader.position() - length..reader.position();
            }
            (2, TType::I32) => compression = reader.i32()?,
            _ => reader.skip(ttype)?,
        }
    }
    let sent = message.get(text.clone()).unwrap_or_default();
    let mut found = FoundSecrets::default();
    match query_text(sent, compression, STATEMENT_BYTES_MAX).ok().filter(|statement| statement != sent) {
        None => found.add(sent, text.start, dialect),
        Some(statement) => {
            found.add(&statement, 0, dialect);
            if !found.places.is_empty() {
                return Ok(None);
            }
        }
    }
    Ok(Some(found))
}

/// Returns the values of a prepared statement with a password. `None` if the statement is not known.
fn values_of_prepared(message: &Bytes, prepared: &PreparedKinds) -> Result<Option<FoundSecrets>, WireError> {
    let mut reader = Reader::new(message);
    MessageHeader::read(&mut reader)?;
    let (mut found, mut known) = (FoundSecrets::default(), None);
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::I32) => known = prepared.get(&reader.i32()?.to_be_bytes()),
            (2, TType::List) => {
                let (element, count) = reader.list_begin()?;
                for _ in 0..count {
                    match element {
                        TType::String => {
                            let length = reader.raw()?.len();
                            found.places.push(reader.position() - length..reader.position());
                        }
                        other => reader.skip(other)?,
                    }
                }
            }
            _ => reader.skip(ttype)?,
        }
    }
    let Some(kind) = known else { return Ok(None) };
    found.kind = kind;
    if !kind.has_passwords {
        found.places.clear();
    }
    Ok(Some(found))
}

/// Hides the passwords of a native frame.
pub(super) fn hide_in_native(frame: &Bytes, prepared: &PreparedKinds) -> Hidden {
    let Some(message) = NativeMessage::read(frame) else { return Hidden::Refused };
    let found = match RequestCode::of_number(message.opcode) {
        Some(RequestCode::Credentials) => passwords_of_credentials(message.body)
            .map(|places| FoundSecrets::at(shifted(places, message.body_at()))),
        Some(RequestCode::AuthResponse) => {
            // The length of the token, and the token. PLAIN is: zero, user, zero, password.
            let start = message.body_at() + 4;
            let token = frame.get(start..).unwrap_or_default();
            let zeros = token.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at);
            let password =
                zeros.clone().nth(1).filter(|_| zeros.clone().next() == Some(0)).map_or(0, |at| at + 1);
            let place = Some(start + password..frame.len()).filter(|place| !place.is_empty());
            Some(FoundSecrets::at(place.into_iter().collect()))
        }
        Some(_) => passwords_of_statements(frame, &message, prepared),
        None => return Hidden::Nothing,
    };
    Hidden::of(frame, found)
}

/// Returns the passwords in the statements of a frame, and the values of such statements. `None` if the frame may have
/// passwords and cannot be read, or executes a statement that is not known.
fn passwords_of_statements(
    frame: &Bytes,
    message: &NativeMessage<'_>,
    prepared: &PreparedKinds,
) -> Option<FoundSecrets> {
    let (mut found, mut is_known) = (FoundSecrets::default(), true);
    let is_read = message.each_statement(&mut |statement, end| match statement {
        FrameStatement::Text(text) => found.add(text, end - text.len(), Dialect::Cql3),
        FrameStatement::Prepared(id) => match prepared.get(id) {
            Some(kind) => found.kind |= kind,
            None => is_known = false,
        },
    });
    if !is_known {
        return None;
    }
    if is_read.is_none() && StatementSecrets::may_be_in(&readable(message.body)) {
        return None;
    }
    if found.kind.has_passwords && is_read.is_some() {
        for value in
            NativeRequest::read(frame).ok()?.statements.iter().flat_map(|statement| &statement.values)
        {
            if let BoundValue::Value(value) = value {
                found.places.push(place_of(frame, value)?);
            }
        }
    }
    Some(found)
}

/// Returns the places of all values but the user's name in the body of CREDENTIALS, a map of texts.
fn passwords_of_credentials(body: &[u8]) -> Option<Vec<Range<usize>>> {
    // The count is a u16, too.
    let count = u16::from_be_bytes(*body.first_chunk()?);
    let (mut places, mut at) = (Vec::new(), 2);
    for _ in 0..count {
        let (name, value) = (text_at(body, &mut at)?, text_at(body, &mut at)?);
        if !body.get(name)?.eq_ignore_ascii_case(USER_NAME) {
            places.push(value);
        }
    }
    Some(places)
}

/// Returns the place of a text whose length is at a place, and moves behind the text.
fn text_at(body: &[u8], at: &mut usize) -> Option<Range<usize>> {
    let length = u16::from_be_bytes(*body.get(*at..)?.first_chunk()?);
    let place = *at + 2..*at + 2 + usize::from(length);
    *at = place.end;
    (place.end <= body.len()).then_some(place)
}

#[cfg(test)]
mod tests {
    use bytes::BufMut;

    use super::*;
    use wire::thrift::{MessageKind, Writer};

    fn hidden(statement: &str) -> String {
        let message = Bytes::copy_from_slice(statement.as_bytes());
        let mut found = FoundSecrets::default();
        found.add(&message, 0, Dialect::Cql3);
        match Hidden::of(&message, Some(found)) {
            Hidden::Replaced(shown, _) => String::from_utf8(shown.to_vec()).unwrap(),
            Hidden::Nothing => statement.to_owned(),
            Hidden::Refused => unreachable!("a statement is understood"),
        }
    }

    #[test]
    fn passwords_of_statements_are_hidden() {
        let same = |statement: &str| assert_eq!(hidden(statement), statement);
        assert_eq!(
            hidden("CREATE USER bob WITH PASSWORD 'se''cret'"),
            "CREATE USER bob WITH PASSWORD '********'"
        );
        assert_eq!(
            hidden("alter /* 'x' */ role 'bob' with password = 'secret' and options = {'a': 'token'}"),
            "alter /* 'x' */ role 'bob' with password = '******' and options = {'*': '*****'}"
        );
        assert_eq!(
            hidden("-- 1\nCREATE ROLE r WITH PASSWORD=$$secret$$"),
            "-- 1\nCREATE ROLE r WITH PASSWORD=$$******$$"
        );
        assert_eq!(hidden("CREATE USER bob WITH PASSWORD secret"), "CREATE USER bob WITH PASSWORD ******");
        assert_eq!(
            hidden("CREATE USER bob WITH PASSWORD \"secret\""),
            "CREATE USER bob WITH PASSWORD ********"
        );
        assert_eq!(hidden("CREATE USER bob WITH PASSWORD 'open"), "CREATE USER bob WITH PASSWORD '****");
        same("CREATE USER 'bob' NOSUPERUSER");
        same("SELECT password FROM users WHERE name = 'bob'");
        same("CREATE TABLE user (password text PRIMARY KEY)");
        same("CREATE USER bob WITH PASSWORD");
        same("");
    }

    #[test]
    fn passwords_of_logins_are_hidden() {
        let mut out = BytesMut::new();
        let mut writer = Writer::new(&mut out);
        writer.message_begin(b"login", MessageKind::Call, 1);
        writer.field_struct(1);
        writer.field_map(1, TType::String, TType::String, 2);
        for text in ["username", "bob", "password", "secret"] {
            writer.bytes(text.as_bytes());
        }
        writer.stop();
        writer.stop();
        let login = out.freeze();
        let Hidden::Replaced(shown, secrets) = hide_in_thrift(b"login", &login, &PreparedKinds::default())
        else {
            unreachable!("it has a password")
        };
        let text = String::from_utf8_lossy(&shown).into_owned();
        assert!(text.contains("bob") && text.contains("******") && !text.contains("secret"), "{text}");
        assert_eq!(shown.len(), login.len());
        let reply = secrets.blanked(Bytes::from_static(b"header: secret is wrong"), 8);
        assert_eq!(reply, "header: ****** is wrong");
        assert_eq!(
            hide_in_thrift(b"login", &login.slice(..login.len() - 4), &PreparedKinds::default()),
            Hidden::Refused
        );
        assert_eq!(hide_in_thrift(b"get", &login, &PreparedKinds::default()), Hidden::Nothing);
    }

    #[test]
    fn passwords_of_native_logins_are_hidden() {
        let frame = |version: u8, opcode: u8, body: &[u8]| {
            let mut frame = BytesMut::new();
            frame.put_slice(if version < 3 { &[1, 0, 0][..] } else { &[4, 0, 0, 0] });
            frame.put_u8(opcode);
            frame.put_u32(body.len() as u32);
            frame.put_slice(body);
            frame.freeze()
        };
        let shown = |frame: &Bytes| match hide_in_native(frame, &PreparedKinds::default()) {
            Hidden::Replaced(shown, _) => shown,
            other => unreachable!("{other:?}"),
        };
        let plain = frame(4, 0x0f, b"\0\0\0\x0b\0bob\0secret");
        assert!(shown(&plain).ends_with(b"\0bob\0******"));
        let other = frame(4, 0x0f, b"\0\0\0\x06ticket");
        assert!(shown(&other).ends_with(b"\0\0\0\x06******"));
        let old = frame(1, 0x04, b"\0\x02\0\x08username\0\x03bob\0\x08password\0\x06secret");
        assert!(shown(&old).ends_with(b"username\0\x03bob\0\x08password\0\x06******"));
        assert_eq!(
            hide_in_native(&frame(1, 0x04, b"\0\x02\0\x08username"), &PreparedKinds::default()),
            Hidden::Refused
        );
        let statement = frame(4, 0x07, b"\0\0\0\x26ALTER USER bob WITH PASSWORD 'secrets'\0\x01\0");
        assert!(shown(&statement).ends_with(b"PASSWORD '*******'\0\x01\0"));
        assert_eq!(
            hide_in_native(&frame(4, 0x0f, b"\xff\xff\xff\xff"), &PreparedKinds::default()),
            Hidden::Nothing
        );
    }
}
