//! The key of the hashes.

use std::hash::Hasher;

use base::util::hex;
use sha2::{Digest, Sha256};
use siphasher::sip::SipHasher24;
use uuid::Uuid;

/// A secret key. Without it, hashes cannot be computed from guesses.
#[derive(Clone)]
pub struct RedactionKey([u8; 16]);

impl RedactionKey {
    /// Creates a key that nobody knows: a recording that is redacted with it cannot be compared with another one.
    pub fn random() -> RedactionKey {
        // Two random UUIDs have 244 bits of the system's generator.
        let (one, other) = (Uuid::new_v4(), Uuid::new_v4());
        RedactionKey::of_secret(&[*one.as_bytes(), *other.as_bytes()].concat())
    }

    /// Returns the key that belongs to a secret of any length, such as the content of a file.
    pub fn of_secret(secret: &[u8]) -> RedactionKey {
        let digest = Sha256::new().chain_update(b"redaction key").chain_update(secret).finalize();
        let mut key = [0; 16];
        key.iter_mut().zip(digest).for_each(|(byte, from)| *byte = from);
        RedactionKey(key)
    }

    /// Returns a text that identifies the key without revealing it.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::new().chain_update(b"redaction fingerprint").chain_update(self.0).finalize();
        hex(&digest[..8])
    }

    /// Returns 64 bits that depend on the key, a number and the bytes.
    pub fn bits(&self, number: u64, bytes: &[u8]) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write_u64(number.to_be());
        hasher.write(bytes);
        hasher.finish()
    }
}

impl std::fmt::Debug for RedactionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RedactionKey({})", self.fingerprint())
    }
}
