//! One budget for the memory of all unfinished messages and unread replies, so that many connections together
//! cannot take what one alone may not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::util::limits::{MESSAGE_BYTES_FREE, MESSAGES_BYTES_MAX};

/// What is left of the budget, shared by all connections.
#[derive(Debug, Clone)]
pub struct MemoryBudget {
    left: Arc<AtomicUsize>,
}

/// One connection's part. Given back when it is dropped.
#[derive(Debug)]
pub struct Share {
    budget: MemoryBudget,
    held: usize,
}

impl MemoryBudget {
    pub fn new() -> MemoryBudget {
        MemoryBudget { left: Arc::new(AtomicUsize::new(MESSAGES_BYTES_MAX)) }
    }

    pub fn share(&self) -> Share {
        Share { budget: self.clone(), held: 0 }
    }
}

impl Share {
    /// Makes the share fit buffers of so many bytes; small buffers are free. False when too little is left.
    pub fn fit(&mut self, buffers: [usize; 2]) -> bool {
        let wanted = buffers.iter().filter(|bytes| **bytes > MESSAGE_BYTES_FREE).sum::<usize>();
        if wanted == self.held {
            // Nearly always, and who does not write to what all share need not wait for it.
            return true;
        }
        if wanted < self.held {
            self.budget.left.fetch_add(self.held - wanted, Ordering::Relaxed);
            self.held = wanted;
            return true;
        }
        let more = wanted - self.held;
        let taken = self
            .budget
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(more));
        if taken.is_ok() {
            self.held = wanted;
        }
        taken.is_ok()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.left.fetch_add(self.held, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_given_back() {
        let budget = MemoryBudget::new();
        let mut one = budget.share();
        assert!(one.fit([MESSAGES_BYTES_MAX, 0]));
        let mut other = budget.share();
        assert!(other.fit([MESSAGE_BYTES_FREE; 2]), "small buffers are always possible");
        assert!(!other.fit([0, MESSAGE_BYTES_FREE + 1]));
        drop(one);
        assert!(other.fit([MESSAGES_BYTES_MAX, 0]));
        assert!(other.fit([0; 2]));
        assert!(budget.share().fit([MESSAGES_BYTES_MAX, 0]));
    }
}
