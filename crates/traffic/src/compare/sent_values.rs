//! The values that clients have sent in writes, if a server may have made such ones in this run. All servers
//! have the values of a client.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{MadeValue, RunSpan};
use crate::call::{Call, Request};
use crate::limits::TRAFFIC_SENT_VALUES_MAX;
use crate::value::Value;
use base::marshal::parse_date;
use base::model::BoundValue;
use base::util::unhex;
use cql_syntax::{TokenKind, tokens_of_any};

/// Hashes of values.
#[derive(Debug, Default)]
pub(crate) struct SentValues(HashSet<u64>);

impl SentValues {
    /// Learns the values of a write. `span` is the recorded run so far.
    pub(crate) fn learn(&mut self, call: &Call, span: RunSpan) {
        if !call.is_write() {
            return;
        }
        let mut add = |bytes: &[u8]| {
            if self.0.len() < TRAFFIC_SENT_VALUES_MAX
                && MadeValue::ALL.iter().copied().any(|kind| kind.is_of(span, bytes))
            {
                self.0.insert(hash_of(bytes));
            }
        };
        match &call.request {
            Request::Thrift { message, .. } => {
                message.fields.values().for_each(|value| {
                    value.visit(&mut |value| match value {
                        Value::I64(number) => add(&number.to_be_bytes()),
                        Value::Binary(bytes) => add(bytes),
                        _ => {}
                    });
                });
                call.statement.iter().for_each(|text| constants(text, &mut add));
            }
            Request::Native(request) => {
                request.timestamp.iter().for_each(|timestamp| add(&timestamp.to_be_bytes()));
                for statement in &request.statements {
                    statement.text().iter().for_each(|text| constants(text, &mut add));
                    for value in &statement.values {
                        if let BoundValue::Value(bytes) = value {
                            add(bytes);
                        }
                    }
                }
            }
        }
    }

    /// Returns whether a client has sent the value.
    pub(crate) fn has(&self, bytes: &[u8]) -> bool {
        self.0.contains(&hash_of(bytes))
    }
}

/// Passes the constants of a statement in the forms that results have.
fn constants(text: &str, add: &mut impl FnMut(&[u8])) {
    for token in tokens_of_any(text) {
        match token.kind {
            TokenKind::Integer => {
                if let Ok(number) = token.raw(text).parse::<i64>() {
                    add(&number.to_be_bytes());
                }
            }
            TokenKind::Uuid => {
                unhex(token.raw(text).replace('-', "").as_bytes()).iter().for_each(|uuid| add(uuid))
            }
            TokenKind::String => {
                if let Some(ms) = parse_date(&token.value(text)) {
                    add(&ms.to_be_bytes());
                    let days = ms.div_euclid(86_400_000) + (1 << 31);
                    add(&u32::try_from(days).unwrap_or_default().to_be_bytes());
                }
            }
            _ => {}
        }
    }
}

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
