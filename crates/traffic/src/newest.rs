//! A map that forgets its oldest entries above a limit.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;

/// The entries that were added last.
#[derive(Debug)]
pub(crate) struct Newest<V> {
    entries: HashMap<Bytes, V>,
    /// The keys, the oldest first.
    order: VecDeque<Bytes>,
    entries_max: usize,
}

impl<V> Newest<V> {
    pub(crate) fn new(entries_max: usize) -> Newest<V> {
        Newest { entries: HashMap::new(), order: VecDeque::new(), entries_max }
    }

    /// Adds or replaces an entry. Returns the one that is gone: that of the key, or the oldest if there are too many.
    pub(crate) fn put(&mut self, key: &[u8], value: V) -> Option<V> {
        if let Some(known) = self.entries.get_mut(key) {
            return Some(std::mem::replace(known, value));
        }
        // A copy: a slice would keep the whole message in memory.
        let key = Bytes::copy_from_slice(key);
        self.entries.insert(key.clone(), value);
        self.order.push_back(key);
        if self.entries.len() > self.entries_max { self.forget_oldest() } else { None }
    }

    pub(crate) fn forget_oldest(&mut self) -> Option<V> {
        self.order.pop_front().and_then(|oldest| self.entries.remove(&oldest))
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&V> {
        self.entries.get(key)
    }
}
