//! What a partitioner does.

use std::fmt::Debug;
use std::sync::Arc;

use crate::util::Release;

/// A shared partitioner.
pub type PartitionerRef = Arc<dyn Partitioner>;

/// Text that is no token of the partitioner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a token of {partitioner}: {reason}")]
pub struct TokenError {
    pub text: String,
    pub partitioner: String,
    pub reason: String,
}

/// How the stored bytes of a token are laid out in a row's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenForm {
    /// Always so many bytes; the row key follows.
    Fixed(usize),
    /// Any number of bytes; the row key follows.
    Variable,
    /// Any number of bytes, from which `key_of_token` gives the row key back: no row key follows.
    IsKey,
}

/// Gives every row key its token. Tokens are bytes whose memcmp order is the ring's order.
pub trait Partitioner: Debug + Send + Sync {
    /// The full Java class name, as `org.apache.cassandra.dht.RandomPartitioner`.
    fn class_name(&self) -> &'static str;

    /// Appends the token of a key.
    fn token(&self, key: &[u8], out: &mut Vec<u8>);

    fn token_form(&self) -> TokenForm;

    /// The row key that has this token, where `token_form` is `IsKey`.
    fn key_of_token(&self, _token: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Whether range scans go in the order of the keys themselves.
    fn preserves_order(&self) -> bool;

    /// The token before every key's, in `release`'s opinion: a scan that ends here ends at the ring's end.
    fn minimum_token(&self, release: Release) -> Vec<u8>;

    /// The last token of the ring, where tokens are numbers of this width and keys are spread over them evenly.
    fn maximum_token(&self) -> Option<Vec<u8>> {
        None
    }

    /// The text form that clients see: decimal, hexadecimal or the key itself.
    fn token_text(&self, token: &[u8]) -> String;

    /// Reads the text form.
    fn parse_token(&self, text: &str) -> Result<Vec<u8>, TokenError>;

    /// A token for a node that was given none: any will do.
    fn random_token(&self, dice: u128) -> Vec<u8>;
}
