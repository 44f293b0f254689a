//! Something of which each thread has a copy of its own.

use parking_lot::Mutex;

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

/// Whether a thread has the number that is the place in this list.
static NUMBERS: Mutex<Vec<bool>> = Mutex::new(Vec::new());

/// A number that no other living thread has, and the lowest of these.
struct Number(usize);

impl Number {
    fn take() -> Number {
        let mut numbers = NUMBERS.lock();
        let free = numbers.iter().position(|is_taken| !is_taken).unwrap_or(numbers.len());
        match numbers.get_mut(free) {
            Some(is_taken) => *is_taken = true,
            None => numbers.push(true),
        }
        Number(free)
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        if let Some(is_taken) = NUMBERS.lock().get_mut(self.0) {
            *is_taken = false;
        }
    }
}

fn number_of_thread() -> usize {
    thread_local!(static NUMBER: Number = Number::take());
    // A thread that is ending has none any more.
    NUMBER.try_with(|number| number.0).unwrap_or(0)
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
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn threads_have_copies_of_their_own_and_all_are_found() {
        let spread = Spread::<AtomicUsize>::default();
        let all = Barrier::new(COPIES * 2);
        std::thread::scope(|scope| {
            for _ in 0..COPIES * 2 {
                scope.spawn(|| {
                    spread.mine();
                    all.wait();
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
        // Other tests' threads have some of the numbers.
        assert!(counts.iter().filter(|count| **count > 0).count() > COPIES / 2, "{counts:?}");
    }

    #[test]
    fn numbers_are_given_again() {
        let highest = || NUMBERS.lock().len();
        let before = highest();
        for _ in 0..1000 {
            std::thread::spawn(number_of_thread).join().unwrap();
        }
        assert!(highest() < before + 500, "{} and then {}", before, highest());
    }
}
