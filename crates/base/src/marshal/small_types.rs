//! Small types: booleans, IP addresses, and the empty type.

use std::cmp::Ordering;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{AbstractType, BytesType, MarshalError, StoredOrder};

/// One byte: 0 is false, any other value true. Values of any other length compare equal to the empty value.
#[derive(Debug)]
pub struct BooleanType;

impl AbstractType for BooleanType {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.BooleanType"
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        match value.len() {
            0 | 1 => Ok(()),
            length => Err(MarshalError(format!("Expected 1 or 0 byte value ({length})"))),
        }
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        let rank = |value: &[u8]| match value {
            [byte] => Some(byte.cast_signed()),
            _ => None,
        };
        rank(left).cmp(&rank(right))
    }

    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        let is_true = |value: &[u8]| value.first().map(|byte| *byte != 0);
        Ok(is_true(left).cmp(&is_true(right)))
    }

    fn ordered(&self, name: &[u8], out: &mut Vec<u8>) {
        if let [byte] = name {
            out.push(byte ^ 0x80);
        }
    }

    fn restore(&self, ordered: &[u8]) -> Option<Vec<u8>> {
        Some(ordered.iter().map(|byte| byte ^ 0x80).collect())
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn to_text(&self, value: &[u8]) -> String {
        match value {
            [] | [0] => "false".to_owned(),
            [_] => "true".to_owned(),
            _ => BytesType.to_text(value),
        }
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        match text {
            "" => Ok(Vec::new()),
            text if text.eq_ignore_ascii_case("true") => Ok(vec![1]),
            text if text.eq_ignore_ascii_case("false") => Ok(vec![0]),
            _ => Err(MarshalError(format!("unable to make boolean from '{text}'"))),
        }
    }
}

/// An IPv4 or IPv6 address.
#[derive(Debug)]
pub struct InetAddressType;

impl AbstractType for InetAddressType {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.InetAddressType"
    }

    /// Accepts empty bytes because they are the open bounds of slices, although 1.2 refuses them as values.
    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        match value.len() {
            0 | 4 | 16 => Ok(()),
            _ => {
                let shown = BytesType.to_text(value);
                Err(MarshalError(format!("Expected 4 or 16 byte inetaddress; got {shown}")))
            }
        }
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    fn compare_unchecked(&self, left: &[u8], right: &[u8]) -> Result<Ordering, MarshalError> {
        Ok(left.cmp(right))
    }

    fn ordered_is_name(&self) -> bool {
        true
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn to_text(&self, value: &[u8]) -> String {
        if let Ok(v4) = <[u8; 4]>::try_from(value) {
            return Ipv4Addr::from(v4).to_string();
        }
        match <[u8; 16]>::try_from(value) {
            Ok(v6) => Ipv6Addr::from(v6).to_string(),
            Err(_) => BytesType.to_text(value),
        }
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        // Java resolves host names. Only `localhost` is supported here, because it needs no name server.
        if text.eq_ignore_ascii_case("localhost") {
            return Ok(Ipv4Addr::LOCALHOST.octets().to_vec());
        }
        match text.parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => Ok(address.octets().to_vec()),
            Ok(IpAddr::V6(address)) => Ok(address.octets().to_vec()),
            Err(_) => match short_address(text) {
                Some(address) => Ok(address.to_be_bytes().to_vec()),
                None => Err(MarshalError(format!("unable to make inetaddress from '{text}'"))),
            },
        }
    }
}

/// Parses an IPv4 address that has fewer than four numbers or leading zeros: the last number fills the remaining bytes,
/// as in Java.
fn short_address(text: &str) -> Option<u32> {
    let parts: Vec<&str> = text.split('.').collect();
    if !parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    let (last, first) = parts.split_last().filter(|_| parts.len() <= 4)?;
    let mut address = 0u32;
    for (at, part) in first.iter().enumerate() {
        address |= u32::from(part.parse::<u8>().ok()?) << (24 - 8 * at);
    }
    let last: u32 = last.parse().ok()?;
    // `n` numbers leave 5 - n bytes for the last one.
    (u64::from(last) < 1 << (8 * (5 - parts.len()))).then_some(address | last)
}

/// The empty type: all values are equal.
#[derive(Debug)]
pub struct EmptyType;

impl AbstractType for EmptyType {
    fn class_name(&self) -> &str {
        "org.apache.cassandra.db.marshal.EmptyType"
    }

    fn validate(&self, value: &[u8]) -> Result<(), MarshalError> {
        if value.is_empty() {
            return Ok(());
        }
        Err(MarshalError("EmptyType only accept empty values".to_owned()))
    }

    fn compare(&self, _left: &[u8], _right: &[u8]) -> Ordering {
        Ordering::Equal
    }

    fn compare_unchecked(&self, _left: &[u8], _right: &[u8]) -> Result<Ordering, MarshalError> {
        Ok(Ordering::Equal)
    }

    fn ordered(&self, _name: &[u8], _out: &mut Vec<u8>) {}

    fn restore(&self, _ordered: &[u8]) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    fn stored_order(&self) -> StoredOrder {
        StoredOrder::Exact
    }

    fn to_text(&self, value: &[u8]) -> String {
        BytesType.to_text(value)
    }

    fn parse_text(&self, text: &str) -> Result<Vec<u8>, MarshalError> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        Err(MarshalError(format!("'{text}' is not empty")))
    }
}
