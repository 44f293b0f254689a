//! Something of which each thread has a copy of its own.

use std::sync::atomic::{AtomicUsize, Ordering};

/// As many as most machines have threads that serve.
const COPIES: usize = 16;

/// What all threads write to with each request, and few ever look at as a whole. As long as the threads are not more than
/// the copies, no memory goes from one processor to another for it.
#[derive(Debug, Default)]
pub struct Spread<T>([OwnLines<T>; COPIES]);

/// Processors pass memory on in lines of 64 bytes, some in pairs of them.
#[derive(Debug, Default)]
#[repr(align(128))]
struct OwnLines<T>(T);

/// Numbers threads in the order in which they first ask.
fn number_of_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed));
    NUMBER.with(|number| *number)
}

impl<T> Spread<T> {
    /// The calling thread's copy. With many threads, some have the same.
    pub fn mine(&self) -> &T {
        &self.0[number_of_thread() % COPIES].0
    }

    /// Every copy, always in the same order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|copy| &copy.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_copies_of_their_own_and_all_are_found() {
        let spread = Spread::<AtomicUsize>::default();
        std::thread::scope(|scope| {
            for _ in 0..COPIES * 2 {
                scope.spawn(|| {
                    let mine = spread.mine();
                    (0..100).for_each(|_| {
                        mine.fetch_add(1, Ordering::Relaxed);
                    });
                    assert!(std::ptr::eq(mine, spread.mine()));
                });
            }
        });
        let counts: Vec<usize> = spread.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        assert_eq!(counts.iter().sum::<usize>(), COPIES * 2 * 100);
        // Other tests' threads take numbers in between.
        assert!(counts.iter().filter(|count| **count > 0).count() > COPIES / 4, "{counts:?}");
    }
}
