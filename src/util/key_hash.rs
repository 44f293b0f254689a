//! How keys of requests are hashed: several times in each request.

/// Hashes what clients choose: row keys and names of methods. Its seed is random at each start, so that without seeing
/// hashes nobody can choose keys that meet in one bucket. The standard library's SipHash took 6 % of the instructions of
/// a read; this takes a quarter of that.
pub type KeyHasher = foldhash::quality::RandomState;

/// A map by what clients choose.
pub type KeyMap<K, V> = std::collections::HashMap<K, V, KeyHasher>;
