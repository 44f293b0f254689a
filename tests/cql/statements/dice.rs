//! Numbers of chance, one after the other.

pub struct Dice<'a> {
    rest: std::slice::Iter<'a, u16>,
}

impl<'a> Dice<'a> {
    pub fn new(numbers: &'a [u16]) -> Dice<'a> {
        Dice { rest: numbers.iter() }
    }

    /// A number from 0 to `end`, without `end`; 0 when there are no more.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.rest.next().copied().unwrap_or_default()) % end
    }

    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }
}
