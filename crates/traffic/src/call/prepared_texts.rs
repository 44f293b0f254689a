//! The texts of the prepared statements of a recording.

use std::sync::Arc;

use bytes::Bytes;

use crate::limits::{TRAFFIC_PREPARED_BYTES_MAX, TRAFFIC_PREPARED_MAX};
use crate::newest::Newest;

/// A statement as it was prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedText {
    /// The text.
    pub text: Arc<str>,
    /// The keyspace of the session that has prepared it: its tables are in there wherever it is executed.
    pub keyspace: Option<String>,
}

/// Texts by the ids of the recorded server. Ids of the native protocol, and of CQL 3 over Thrift, are shared by all
/// connections. Above the limits the oldest ones are forgotten.
#[derive(Debug)]
pub struct PreparedTexts {
    texts: Newest<PreparedText>,
    bytes: usize,
}

impl Default for PreparedTexts {
    fn default() -> PreparedTexts {
        PreparedTexts { texts: Newest::new(TRAFFIC_PREPARED_MAX), bytes: 0 }
    }
}

impl PreparedTexts {
    /// Remembers a statement.
    pub fn put(&mut self, id: &[u8], prepared: PreparedText) {
        self.bytes += prepared.text.len();
        let forgotten = self.texts.put(id, prepared);
        self.bytes -= forgotten.map_or(0, |forgotten| forgotten.text.len());
        while self.bytes > TRAFFIC_PREPARED_BYTES_MAX
            && let Some(forgotten) = self.texts.forget_oldest()
        {
            self.bytes -= forgotten.text.len();
        }
    }

    /// Returns a statement.
    pub fn get(&self, id: &[u8]) -> Option<&PreparedText> {
        self.texts.get(id)
    }

    /// Returns the id under which a statement of CQL 3 is known that was prepared over Thrift.
    pub(super) fn thrift_id(id: i64) -> Bytes {
        [&b"thrift"[..], &id.to_be_bytes()].concat().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_push_the_oldest_out() {
        let mut texts = PreparedTexts::default();
        let long = PreparedText { text: "x".repeat(TRAFFIC_PREPARED_BYTES_MAX / 2).into(), keyspace: None };
        for id in [b"a", b"b", b"b", b"c"] {
            texts.put(id, long.clone());
        }
        assert!(texts.get(b"a").is_none() && texts.get(b"b").is_some() && texts.get(b"c").is_some());
    }
}
