//! The id of a prepared statement.

use crate::util::hex;

/// The id by which a client refers to a prepared statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatementId {
    /// Thrift: the Java String hash of keyspace and text.
    Hash(i32),
    /// Native protocol: the MD5 of keyspace and text.
    Md5([u8; 16]),
}

impl StatementId {
    /// Returns the id for Thrift clients. If two statements have the same hash, the later one replaces the earlier one,
    /// as in the old servers.
    pub fn hash(keyspace: Option<&str>, text: &str) -> StatementId {
        let units = keyspace.unwrap_or_default().encode_utf16().chain(text.encode_utf16());
        StatementId::Hash(units.fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit))))
    }

    /// Returns the id for clients of the native protocol.
    pub fn md5(keyspace: Option<&str>, text: &str) -> StatementId {
        use md5::{Digest, Md5};
        let mut digest = Md5::new();
        digest.update(keyspace.unwrap_or_default());
        digest.update(text);
        StatementId::Md5(digest.finalize().into())
    }

    /// Returns the id as messages have it.
    pub fn text(&self) -> String {
        match self {
            StatementId::Hash(hash) => hash.to_string(),
            StatementId::Md5(md5) => hex(md5),
        }
    }
}
