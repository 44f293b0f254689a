//! The hashes of values by their roles.

use base::util::{hex, unhex};
use bytes::Bytes;

use super::hash::{hash, hash_of_text, opaque};
use super::key::RedactionKey;
use super::order::{NameOrder, OrderedNames};
use super::roles::{DataRole, DataRoles};
use super::structure::parts;

/// The hashes that replace data, and the choice of data to redact.
#[derive(Debug)]
pub struct Hashes {
    key: RedactionKey,
    roles: DataRoles,
    names: NameHashing,
}

/// The ways to hash names.
#[derive(Debug)]
enum NameHashing {
    AsValues,
    /// They are only collected.
    Collected(NameOrder),
    Ordered(OrderedNames),
}

impl Hashes {
    /// Creates hashes that replace data of these roles.
    pub fn new(key: RedactionKey, roles: DataRoles) -> Hashes {
        Hashes { key, roles, names: NameHashing::AsValues }
    }

    /// Collects names, so that their order can be kept later.
    #[must_use]
    pub fn collecting(self) -> Hashes {
        Hashes { names: NameHashing::Collected(NameOrder::default()), ..self }
    }

    /// Returns the hashes that keep the order of the names collected before.
    ///
    /// # Errors
    ///
    /// With a sentence if there were too many names.
    pub fn ordered(self) -> Result<Hashes, String> {
        let names = match self.names {
            NameHashing::Collected(order) => NameHashing::Ordered(order.finish(&self.key)?),
            names => names,
        };
        Ok(Hashes { names, ..self })
    }

    /// Returns the roles that are replaced.
    pub fn roles(&self) -> &DataRoles {
        &self.roles
    }

    /// Returns the key of the hashes.
    pub fn key(&self) -> &RedactionKey {
        &self.key
    }

    /// Replaces bytes of a role, if it is redacted.
    pub fn replace(&mut self, role: DataRole, bytes: &mut Bytes) {
        if !self.roles.has(role) || bytes.is_empty() {
            return;
        }
        *bytes = if role == DataRole::Name { self.name(bytes) } else { self.data(bytes).into() };
    }

    /// Returns the hash of bytes whose role is not known, as in CQL.
    pub fn data(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = bytes.to_vec();
        for part in parts(bytes) {
            if let (Some(from), Some(to)) = (bytes.get(part.clone()), out.get_mut(part)) {
                to.copy_from_slice(&hash(from, &self.key));
            }
        }
        out
    }

    /// Returns the hash of a text, which is a text.
    pub fn text(&self, text: &str) -> String {
        hash_of_text(text, &self.key)
    }

    fn name(&mut self, bytes: &[u8]) -> Bytes {
        let mut out = bytes.to_vec();
        for part in parts(bytes) {
            let (Some(from), Some(to)) = (bytes.get(part.clone()), out.get_mut(part)) else { continue };
            match &mut self.names {
                NameHashing::AsValues => to.copy_from_slice(&hash(from, &self.key)),
                NameHashing::Collected(names) => names.add(from),
                NameHashing::Ordered(names) => match names.get(from) {
                    Some(ordered) => to.copy_from_slice(ordered),
                    None => to.copy_from_slice(&hash(from, &self.key)),
                },
            }
        }
        out.into()
    }

    /// Returns the hash of bytes that only a server decodes.
    pub fn opaque(&self, bytes: &[u8]) -> Vec<u8> {
        opaque(bytes, &self.key)
    }

    /// Returns the hash of a token. Tokens of RandomPartitioner and Murmur3Partitioner are decimal numbers, and stay;
    /// others contain the key, as text or in hexadecimal.
    pub fn token(&self, token: &[u8]) -> Vec<u8> {
        if token.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') {
            return token.to_vec();
        }
        match unhex(token) {
            Some(bytes) => hex(&self.data(&bytes)).into_bytes(),
            None => self.data(token),
        }
    }
}
