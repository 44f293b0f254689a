//! Keeps passwords out of recordings.
//!
//! A password is replaced by asterisks of equal length: in `login`, CREDENTIALS and AUTH_RESPONSE, and in CREATE and
//! ALTER of a USER or ROLE. If such a request cannot be understood, it is not recorded. A server may repeat a part of a
//! request in its error, so passwords are replaced in the reply, too.

use std::ops::Range;

use bytes::{Bytes, BytesMut};

use crate::native::RequestCode;
use crate::thrift::decompressed_statement;
use crate::thrift::wire::{MessageHeader, Reader, TType, WireError};
use crate::traffic::native_message::NativeMessage;

/// Shorter passwords are not looked for in replies: their bytes may be anything.
const SECRET_BYTES_MIN: usize = 4;

const BLANK: u8 = b'*';

/// The keys of credentials that are not secret.
const USER_NAME: &[u8] = b"username";

/// The passwords in a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    secrets: Vec<Bytes>,
}

impl Secrets {
    /// Returns a reply in which the passwords of its request are replaced, from byte `start` on.
    pub fn blanked(&self, reply: Bytes, start: usize) -> Bytes {
        if self.secrets.is_empty() {
            return reply;
        }
        let mut places = Vec::new();
        for secret in &self.secrets {
            let windows = reply.get(start..).unwrap_or_default().windows(secret.len()).enumerate();
            let found = windows.filter(|(_, window)| window == secret);
            places.extend(found.map(|(at, _)| start + at..start + at + secret.len()));
        }
        blank(&reply, &places)
    }
}

/// A request without its passwords.
#[derive(Debug, PartialEq, Eq)]
pub enum Hidden {
    /// There are none.
    Nothing,
    /// The request with replaced passwords, and the passwords.
    Replaced(Bytes, Secrets),
    /// The request may have a password in a place that is not understood.
    Refused,
}

impl Hidden {
    fn of(message: &Bytes, places: &[Range<usize>]) -> Hidden {
        if places.is_empty() {
            return Hidden::Nothing;
        }
        let long = places.iter().filter(|place| place.len() >= SECRET_BYTES_MIN);
        let secrets = long.map(|place| Bytes::copy_from_slice(&message[place.clone()])).collect();
        Hidden::Replaced(blank(message, places), Secrets { secrets })
    }
}

fn blank(message: &Bytes, places: &[Range<usize>]) -> Bytes {
    let mut copy = BytesMut::from(&message[..]);
    for place in places {
        copy[place.clone()].fill(BLANK);
    }
    copy.freeze()
}

/// Hides the passwords of a Thrift call.
pub fn hide_in_thrift(method: &[u8], message: &Bytes) -> Hidden {
    match method {
        b"login" => match passwords_of_login(message) {
            Ok(places) => Hidden::of(message, &places),
            Err(_) => Hidden::Refused,
        },
        b"execute_cql_query" | b"execute_cql3_query" | b"prepare_cql_query" | b"prepare_cql3_query" => {
            match passwords_of_query(message) {
                Ok(Some(places)) => Hidden::of(message, &places),
                Ok(None) => Hidden::Refused,
                // Servers cannot read it either.
                Err(_) => Hidden::Refused,
            }
        }
        _ => Hidden::Nothing,
    }
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

/// Returns the places of passwords in the statement of a CQL call. `None` if the statement is compressed and has one: the
/// compressed text cannot be changed.
fn passwords_of_query(message: &Bytes) -> Result<Option<Vec<Range<usize>>>, WireError> {
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
    let sent = &message[text.clone()];
    let places = passwords_of_statement(sent);
    if !places.is_empty() {
        return Ok(Some(
            places.into_iter().map(|place| text.start + place.start..text.start + place.end).collect(),
        ));
    }
    let has_one = decompressed_statement(sent, compression)
        .is_some_and(|statement| !passwords_of_statement(&statement).is_empty());
    Ok(if has_one { None } else { Some(Vec::new()) })
}

/// Hides the passwords of a native frame.
pub fn hide_in_native(frame: &Bytes) -> Hidden {
    let Some(message) = NativeMessage::read(frame) else { return Hidden::Refused };
    let end = frame.len();
    match RequestCode::of_number(message.opcode) {
        Some(RequestCode::Credentials) => match passwords_of_credentials(message.body) {
            Some(places) => {
                let start = message.body_at();
                let places = places.into_iter().map(|place| start + place.start..start + place.end);
                Hidden::of(frame, &places.collect::<Vec<_>>())
            }
            None => Hidden::Refused,
        },
        Some(RequestCode::AuthResponse) => {
            // The length of the token, and the token. PLAIN is: zero, user, zero, password.
            let start = message.body_at() + 4;
            let token = frame.get(start..).unwrap_or_default();
            let zeros = token.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at);
            let password =
                zeros.clone().nth(1).filter(|_| zeros.clone().next() == Some(0)).map_or(0, |at| at + 1);
            let place = start + password..end;
            Hidden::of(frame, if place.is_empty() { &[] } else { std::slice::from_ref(&place) })
        }
        Some(_) => {
            let mut places = Vec::new();
            message.texts(|text, at| {
                let found = passwords_of_statement(text).into_iter();
                places.extend(found.map(|place| at.start + place.start..at.start + place.end));
            });
            Hidden::of(frame, &places)
        }
        None => Hidden::Nothing,
    }
}

/// Returns the places of all values but the user's name in the body of CREDENTIALS, a map of texts.
fn passwords_of_credentials(body: &[u8]) -> Option<Vec<Range<usize>>> {
    // The count is a u16, too.
    let count = u16::from_be_bytes(*body.first_chunk()?);
    let (mut places, mut at) = (Vec::new(), 2);
    for _ in 0..count {
        let mut text = || {
            let length = u16::from_be_bytes(*body.get(at..)?.first_chunk()?);
            let place = at + 2..at + 2 + usize::from(length);
            at = place.end;
            body.get(place.clone()).map(|_| place)
        };
        let (name, value) = (text()?, text()?);
        if !body[name].eq_ignore_ascii_case(USER_NAME) {
            places.push(value);
        }
    }
    Some(places)
}

/// Returns the places of passwords in a statement: of constants after the first PASSWORD or OPTIONS of CREATE and ALTER of
/// a USER or ROLE.
fn passwords_of_statement(text: &[u8]) -> Vec<Range<usize>> {
    let mut tokens = Tokens { text, at: 0 };
    let is = |token: Option<Token>, words: &[&str]| {
        matches!(token, Some(Token::Word(place))
            if words.iter().any(|word| text[place.clone()].eq_ignore_ascii_case(word.as_bytes())))
    };
    if !is(tokens.next(), &["CREATE", "ALTER"]) || !is(tokens.next(), &["USER", "ROLE"]) {
        return Vec::new();
    }
    let (mut places, mut follows, mut is_next) = (Vec::new(), false, false);
    for token in tokens {
        match token {
            Token::Constant(place) if follows => {
                places.push(place);
                is_next = false;
            }
            Token::Word(place) => {
                let word = &text[place.clone()];
                if word.eq_ignore_ascii_case(b"PASSWORD") {
                    (follows, is_next) = (true, true);
                } else if word.eq_ignore_ascii_case(b"OPTIONS") {
                    follows = true;
                } else if is_next {
                    // A password without quotes is a mistake of the client, and still a password.
                    places.push(place);
                    is_next = false;
                }
            }
            Token::Constant(_) => {}
        }
    }
    places.retain(|place| !place.is_empty());
    places
}

/// A part of a statement.
enum Token {
    /// A word or number, or a name in double quotes with them.
    Word(Range<usize>),
    /// The content of a text in quotes or between `$$`.
    Constant(Range<usize>),
}

/// Splits a statement into words and constants, without comments.
struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl Tokens<'_> {
    /// Returns the position after the next `end` from `from` on, or the end of the text.
    fn after(&self, from: usize, end: &[u8]) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        let found = rest.windows(end.len()).position(|window| window == end);
        found.map_or(self.text.len(), |found| from + found + end.len())
    }

    /// Returns the content of a constant that begins at `at`, in which doubled quotes are a part.
    fn quoted(&mut self) -> Range<usize> {
        let start = self.at + 1;
        let mut end = start;
        loop {
            end = match self.text.get(end..).and_then(|rest| rest.iter().position(|byte| *byte == b'\'')) {
                None => self.text.len(),
                Some(found) if self.text.get(end + found + 1) == Some(&b'\'') => {
                    end += found + 2;
                    continue;
                }
                Some(found) => end + found,
            };
            self.at = end + 1;
            return start.min(self.text.len())..end;
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
            if rest.starts_with(b"--") || rest.starts_with(b"//") {
                self.at = self.after(self.at, b"\n");
            } else if rest.starts_with(b"/*") {
                self.at = self.after(self.at + 2, b"*/");
            } else if rest.starts_with(b"$$") {
                let (start, end) = (self.at + 2, self.after(self.at + 2, b"$$"));
                self.at = end;
                let is_closed = self.text[start..end].ends_with(b"$$");
                return Some(Token::Constant(start..if is_closed { end - 2 } else { end }));
            } else if rest[0] == b'\'' {
                return Some(Token::Constant(self.quoted()));
            } else {
                let is_of_word =
                    |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'"') || byte >= 0x80;
                let length = rest.iter().position(|byte| !is_of_word(*byte)).unwrap_or(rest.len());
                let start = self.at;
                self.at += length.max(1);
                if length > 0 {
                    return Some(Token::Word(start..start + length));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::BufMut;

    use super::*;
    use crate::thrift::wire::{MessageKind, Writer};

    fn hidden(statement: &str) -> String {
        let message = Bytes::copy_from_slice(statement.as_bytes());
        match Hidden::of(&message, &passwords_of_statement(&message)) {
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
        let Hidden::Replaced(shown, secrets) = hide_in_thrift(b"login", &login) else {
            unreachable!("it has a password")
        };
        let text = String::from_utf8_lossy(&shown).into_owned();
        assert!(text.contains("bob") && text.contains("******") && !text.contains("secret"), "{text}");
        assert_eq!(shown.len(), login.len());
        let reply = secrets.blanked(Bytes::from_static(b"header: secret is wrong"), 8);
        assert_eq!(reply, "header: ****** is wrong");
        assert_eq!(hide_in_thrift(b"login", &login.slice(..login.len() - 4)), Hidden::Refused);
        assert_eq!(hide_in_thrift(b"get", &login), Hidden::Nothing);
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
        let shown = |frame: &Bytes| match hide_in_native(frame) {
            Hidden::Replaced(shown, _) => shown,
            other => unreachable!("{other:?}"),
        };
        let plain = frame(4, 0x0f, b"\0\0\0\x0b\0bob\0secret");
        assert!(shown(&plain).ends_with(b"\0bob\0******"));
        let other = frame(4, 0x0f, b"\0\0\0\x06ticket");
        assert!(shown(&other).ends_with(b"\0\0\0\x06******"));
        let old = frame(1, 0x04, b"\0\x02\0\x08username\0\x03bob\0\x08password\0\x06secret");
        assert!(shown(&old).ends_with(b"username\0\x03bob\0\x08password\0\x06******"));
        assert_eq!(hide_in_native(&frame(1, 0x04, b"\0\x02\0\x08username")), Hidden::Refused);
        let statement = frame(4, 0x07, b"\0\0\0\x26ALTER USER bob WITH PASSWORD 'secrets'\0\x01\0");
        assert!(shown(&statement).ends_with(b"PASSWORD '*******'\0\x01\0"));
        assert_eq!(hide_in_native(&frame(4, 0x0f, b"\xff\xff\xff\xff")), Hidden::Nothing);
    }
}
