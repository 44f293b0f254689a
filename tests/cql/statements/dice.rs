//! A sequence of random numbers that proptest has chosen, and can shrink.

/// Returns the numbers one after the other.
pub struct Dice<'a> {
    rest: std::slice::Iter<'a, u16>,
}

impl<'a> Dice<'a> {
    pub fn new(numbers: &'a [u16]) -> Dice<'a> {
        Dice { rest: numbers.iter() }
    }

    /// Returns a number below `end`; 0 if there are no more numbers.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.rest.next().copied().unwrap_or_default()) % end
    }

    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }
}
