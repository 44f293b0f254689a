//! The trait of partitioners.

use std::fmt::Debug;
use std::sync::Arc;

use super::hex_text::parse_hex_token;
use crate::util::{Release, hex};

/// A shared partitioner.
pub type PartitionerRef = Arc<dyn Partitioner>;

/// The error for text that is not a token of the partitioner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a token of {partitioner}: {reason}")]
pub struct TokenError {
    /// The text that a client or the configuration gave.
    pub text: String,
    /// The class name of the partitioner.
    pub partitioner: String,
    /// The form that the text should have.
    pub reason: String,
}

/// The forms in which a token is stored in the prefix of a row's entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenForm {
    /// A fixed number of bytes, followed by the row key.
    Fixed(usize),
    /// Any number of bytes, followed by the row key.
    Variable,
    /// Any number of bytes, from which `key_of_token` restores the row key, which is not stored.
    IsKey,
}

/// Defines the token of each row key. Tokens are bytes, and their order as bytes is the order of the ring. Unless a
/// partitioner says otherwise, they have no other meaning, as in Cassandra's AbstractByteOrderedPartitioner.
pub trait Partitioner: Debug + Send + Sync {
    /// Returns the full Java class name, such as `org.apache.cassandra.dht.RandomPartitioner`.
    fn class_name(&self) -> &'static str;

    /// Appends the token of a key.
    fn token(&self, key: &[u8], out: &mut Vec<u8>);

    /// Returns how the bytes of a token are laid out in a stored row key.
    fn token_form(&self) -> TokenForm;

    /// Returns the row key of a token, if `token_form` is `IsKey`.
    fn key_of_token(&self, _token: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Returns whether range scans have the order of the keys.
    fn preserves_order(&self) -> bool;

    /// Returns the token that a release sorts before the tokens of all keys. A scan that ends at it ends at the end of
    /// the ring.
    fn minimum_token(&self, _release: Release) -> Vec<u8> {
        Vec::new()
    }

    /// Returns the last token of the ring if tokens are numbers of this width over which keys are distributed evenly.
    fn maximum_token(&self) -> Option<Vec<u8>> {
        None
    }

    /// Returns the text form for clients: decimal, hexadecimal or the key itself.
    fn token_text(&self, token: &[u8]) -> String {
        hex(token)
    }

    /// Returns whether the text form is hexadecimal: tokens are bytes without another meaning.
    fn has_hex_tokens(&self) -> bool {
        false
    }

    /// Parses the text form.
    fn parse_token(&self, text: &str) -> Result<Vec<u8>, TokenError> {
        parse_hex_token(self.class_name(), text)
    }

    /// Returns a token for a node without a configured one, derived from the random number `dice`.
    fn random_token(&self, dice: u128) -> Vec<u8> {
        dice.to_be_bytes().to_vec()
    }
}
