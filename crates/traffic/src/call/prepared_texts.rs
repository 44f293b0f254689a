//! The texts of the prepared statements of a recording.

use std::collections::HashMap;

use bytes::Bytes;

use crate::limits::{TRAFFIC_PREPARED_BYTES_MAX, TRAFFIC_PREPARED_MAX};

/// Texts by the ids of the recorded server. Ids of the native protocol are shared by all connections.
#[derive(Debug, Default)]
pub struct PreparedTexts {
    texts: HashMap<Bytes, String>,
    bytes: usize,
}

impl PreparedTexts {
    /// Remembers a statement. Above the limits it is not remembered, and its executions have no text.
    pub fn put(&mut self, id: &[u8], text: &str) {
        let is_known = self.texts.contains_key(id);
        let bytes = self.bytes + text.len();
        if is_known || self.texts.len() >= TRAFFIC_PREPARED_MAX || bytes > TRAFFIC_PREPARED_BYTES_MAX {
            return;
        }
        self.bytes = bytes;
        // A copy: a slice would keep the whole message in memory.
        self.texts.insert(Bytes::copy_from_slice(id), text.to_owned());
    }

    /// Returns the text of a statement.
    pub fn get(&self, id: &[u8]) -> Option<&str> {
        self.texts.get(id).map(String::as_str)
    }
}
