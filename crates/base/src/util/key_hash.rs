//! The hash function for keys in requests, which each request uses several times.

/// Hashes data that clients choose: row keys and names of methods. The seed is random at each start, so clients that
/// see no hashes cannot choose keys that collide. The standard library's SipHash took 6 % of the instructions of a
/// read; foldhash takes a quarter of that.
pub type KeyHasher = foldhash::quality::RandomState;

/// A map whose keys are chosen by clients.
pub type KeyMap<K, V> = std::collections::HashMap<K, V, KeyHasher>;
