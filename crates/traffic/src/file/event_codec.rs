//! Events in the payload of a block.
//!
//! ```text
//! event     u8 kind | time: difference from the event before, or from the block's first time | connection | rest
//!
//! kind 1    Opened    u8 protocol (0 Thrift unframed, 1 Thrift framed, 2 native) | client | upstream
//! kind 2    Request   call | message
//! kind 3    Reply     call | message
//! kind 4    Pushed    message
//! kind 5    Closed    u8 side (0 client, 1 server)
//! kind 6    Lost      u8 reason | messages | bytes
//! ```
//!
//! Times, connections, calls and lengths are numbers of variable length (`number`); texts and messages follow their
//! length.

use bytes::{BufMut, Bytes};

use super::number::{put_bytes, put_number, put_signed, take_byte, take_bytes, take_number, take_signed};
use crate::{Event, EventKind, Loss, LossReason, Protocol, Side};

/// The most bytes that an event has besides its texts and its message.
pub(super) const EVENT_OVERHEAD_MAX: usize = 64;

/// Appends an event. `before_us` is the time of the event before.
pub(super) fn put_event(out: &mut impl BufMut, event: &Event, before_us: i64) {
    let head = |out: &mut _, kind| {
        BufMut::put_u8(out, kind);
        put_signed(out, event.at_us.wrapping_sub(before_us));
        put_number(out, event.connection);
    };
    match &event.kind {
        EventKind::Opened { protocol, client, upstream } => {
            head(out, 1);
            out.put_u8(match protocol {
                Protocol::Thrift { is_framed } => u8::from(*is_framed),
                Protocol::Native => 2,
            });
            put_bytes(out, client.as_bytes());
            put_bytes(out, upstream.as_bytes());
        }
        EventKind::Request { call, message } => {
            head(out, 2);
            put_number(out, *call);
            put_bytes(out, message);
        }
        EventKind::Reply { call, message } => {
            head(out, 3);
            put_number(out, *call);
            put_bytes(out, message);
        }
        EventKind::Pushed { message } => {
            head(out, 4);
            put_bytes(out, message);
        }
        EventKind::Closed { by } => {
            head(out, 5);
            out.put_u8(u8::from(*by == Side::Server));
        }
        EventKind::Lost(loss) => {
            head(out, 6);
            out.put_u8(code_of(loss.why));
            put_number(out, loss.messages);
            put_number(out, loss.bytes);
        }
    }
}

/// Takes an event off the front; `None` if the bytes are not one. The message of the event is a copy, so that it does
/// not keep its block in memory.
pub(super) fn take_event(rest: &mut &[u8], before_us: i64) -> Option<Event> {
    let kind = take_byte(rest)?;
    let at_us = before_us.wrapping_add(take_signed(rest)?);
    let connection = take_number(rest)?;
    let kind = match kind {
        1 => EventKind::Opened {
            protocol: match take_byte(rest)? {
                0 => Protocol::Thrift { is_framed: false },
                1 => Protocol::Thrift { is_framed: true },
                2 => Protocol::Native,
                _ => return None,
            },
            client: take_text(rest)?,
            upstream: take_text(rest)?,
        },
        2 => EventKind::Request { call: take_number(rest)?, message: take_message(rest)? },
        3 => EventKind::Reply { call: take_number(rest)?, message: take_message(rest)? },
        4 => EventKind::Pushed { message: take_message(rest)? },
        5 => EventKind::Closed {
            by: match take_byte(rest)? {
                0 => Side::Client,
                1 => Side::Server,
                _ => return None,
            },
        },
        6 => {
            let why = reason_of(take_byte(rest)?)?;
            EventKind::Lost(Loss { why, messages: take_number(rest)?, bytes: take_number(rest)? })
        }
        _ => return None,
    };
    Some(Event { at_us, connection, kind })
}

fn take_text(rest: &mut &[u8]) -> Option<String> {
    String::from_utf8(take_bytes(rest)?.to_vec()).ok()
}

fn take_message(rest: &mut &[u8]) -> Option<Bytes> {
    take_bytes(rest).map(Bytes::copy_from_slice)
}

/// The numbers of reasons in files.
const REASONS: [(LossReason, u8); 5] = [
    (LossReason::Behind, 1),
    (LossReason::TooLong, 2),
    (LossReason::Unreadable, 3),
    (LossReason::Secret, 4),
    (LossReason::Disk, 5),
];

fn code_of(reason: LossReason) -> u8 {
    REASONS.iter().find(|(known, _)| *known == reason).map_or(0, |(_, code)| *code)
}

fn reason_of(code: u8) -> Option<LossReason> {
    REASONS.iter().find(|(_, known)| *known == code).map(|(reason, _)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> Vec<Event> {
        let message = Bytes::from_static(b"\x80\x01\0\x01");
        let native = EventKind::Opened {
            protocol: Protocol::Native,
            client: "10.0.0.5:50112".to_owned(),
            upstream: "old:9042".to_owned(),
        };
        let mut kinds = vec![
            native,
            EventKind::Request { call: 300, message: message.clone() },
            EventKind::Reply { call: u64::MAX, message: message.clone() },
            EventKind::Pushed { message },
            EventKind::Closed { by: Side::Client },
            EventKind::Closed { by: Side::Server },
        ];
        for is_framed in [false, true] {
            let protocol = Protocol::Thrift { is_framed };
            kinds.push(EventKind::Opened { protocol, client: String::new(), upstream: "a".to_owned() });
        }
        for why in LossReason::ALL.iter().copied() {
            kinds.push(EventKind::Lost(Loss { messages: 7, bytes: 1 << 40, why }));
        }
        let times = [5, 3, i64::MIN, i64::MAX].into_iter().cycle();
        let make = |(kind, at_us)| Event { at_us, connection: 9, kind };
        kinds.into_iter().zip(times).map(make).collect()
    }

    #[test]
    fn events_round_trip() {
        let (mut out, mut before) = (Vec::new(), 4);
        for event in &events() {
            put_event(&mut out, event, before);
            before = event.at_us;
        }
        let (mut rest, mut before) = (&out[..], 4);
        for event in events() {
            assert_eq!(take_event(&mut rest, before).as_ref(), Some(&event));
            before = event.at_us;
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn a_part_of_an_event_and_other_kinds_are_refused() {
        for event in events() {
            let mut out = Vec::new();
            put_event(&mut out, &event, 0);
            let content = match &event.kind {
                EventKind::Opened { client, upstream, .. } => client.len() + upstream.len(),
                _ => 4,
            };
            assert!(out.len() <= EVENT_OVERHEAD_MAX + content);
            for end in 0..out.len() {
                assert_eq!(take_event(&mut &out[..end], 0), None);
            }
        }
        assert_eq!(take_event(&mut &[7, 0, 0, 0, 0][..], 0), None);
        assert_eq!(take_event(&mut &[5, 0, 0, 2][..], 0), None);
    }
}
