//! Password hashes. They are slow on purpose, so they are computed outside the request threads, a few at a time.

use tokio::sync::Semaphore;

use crate::error::invalid;
use crate::limits::{HASHES_AT_ONCE_MAX, PASSWORD_BYTES_MAX};
use crate::{Error, Result};

/// The binary logarithm of the number of rounds, as in Cassandra.
const COST: u32 = 10;

/// Hashes passwords with bcrypt.
#[derive(Debug)]
pub struct Hasher {
    cost: u32,
    turns: Semaphore,
}

impl Default for Hasher {
    fn default() -> Hasher {
        Hasher::with_cost(COST)
    }
}

impl Hasher {
    /// Creates a hasher with another cost; 4 is the fastest, for tests.
    pub fn with_cost(cost: u32) -> Hasher {
        Hasher { cost, turns: Semaphore::new(HASHES_AT_ONCE_MAX) }
    }

    /// Returns the hash of a password, with a new salt.
    pub async fn hash(&self, password: &str) -> Result<String> {
        if password.len() > PASSWORD_BYTES_MAX {
            return invalid(format!("a password may have at most {PASSWORD_BYTES_MAX} bytes"));
        }
        if password.contains('\0') {
            return invalid("a password must not contain a zero byte");
        }
        let (password, cost) = (password.to_owned(), self.cost);
        self.slowly(move || bcrypt::hash(password, cost)).await
    }

    /// Returns whether a hash matches a password. Without a hash the result is false, after the same time.
    pub async fn is_of(&self, hash: Option<&str>, password: &[u8]) -> Result<bool> {
        // bcrypt ignores further bytes, and no password is longer.
        let hash = hash.filter(|_| password.len() <= PASSWORD_BYTES_MAX);
        let password = password[..password.len().min(PASSWORD_BYTES_MAX)].to_vec();
        let (cost, hash) = (self.cost, hash.map(str::to_owned));
        self.slowly(move || match hash {
            // bcrypt accepts no password with a zero byte, so such a password is never right.
            Some(hash) => Ok(bcrypt::verify(password, &hash).unwrap_or_else(|error| {
                tracing::warn!("a password could not be compared with its hash: {error}");
                false
            })),
            None => {
                let _ = bcrypt::hash(password, cost);
                Ok(false)
            }
        })
        .await
    }

    async fn slowly<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> bcrypt::BcryptResult<T> + Send + 'static,
    ) -> Result<T> {
        let _turn = self.turns.acquire().await.map_err(|error| Error::Internal(error.to_string()))?;
        let done = tokio::task::spawn_blocking(work).await;
        let done = done.map_err(|error| Error::Internal(format!("a password was not hashed: {error}")))?;
        done.map_err(|error| Error::Internal(format!("a password cannot be hashed: {error}")))
    }
}
