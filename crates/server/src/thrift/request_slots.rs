//! The methods in the metrics: one slot for each name and API generation.

use std::sync::LazyLock;

use super::methods::{METHODS, Method};
use base::compat::features::ApiGeneration;
use base::util::KeyMap;
use base::util::metrics::{REQUEST_SLOTS_MAX, RequestSlot};

/// The first slot of Thrift. Those before it are of the native protocol.
const FIRST: usize = 16;
/// Messages of unknown methods, and messages that cannot be read.
pub(crate) const UNKNOWN: RequestSlot =
    RequestSlot { number: FIRST, protocol: "thrift", method: "unknown", generation: "" };

struct Slots {
    all: Vec<RequestSlot>,
    /// The slots by the addresses of the rows of the method table.
    by_row: KeyMap<usize, usize>,
}

static SLOTS: LazyLock<Slots> = LazyLock::new(|| {
    let (mut all, mut by_row) = (vec![UNKNOWN], KeyMap::default());
    for row in METHODS.iter() {
        let generation = match row.generation() {
            ApiGeneration::WithTextPaths => "0.3",
            ApiGeneration::WithKeyspace => "0.4-0.6",
            ApiGeneration::AfterSetKeyspace => "0.7-2.1",
        };
        let known = all.iter().find(|slot| slot.method == row.name && slot.generation == generation);
        let number = known.map_or(FIRST + all.len(), |slot| slot.number);
        if known.is_none() {
            all.push(RequestSlot { number, protocol: "thrift", method: row.name, generation });
        }
        by_row.insert(std::ptr::from_ref(row).addr(), number);
    }
    assert!(FIRST + all.len() <= REQUEST_SLOTS_MAX, "the requests of some methods would not be counted");
    Slots { all, by_row }
});

/// Returns the slots of all methods.
pub fn request_slots() -> &'static [RequestSlot] {
    &SLOTS.all
}

/// Returns the number of the slot of a row of the method table.
pub(super) fn slot_of(method: &'static Method) -> usize {
    SLOTS.by_row.get(&std::ptr::from_ref(method).addr()).copied().unwrap_or(UNKNOWN.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_a_slot_with_its_name() {
        let slots = request_slots();
        assert!(FIRST + slots.len() <= REQUEST_SLOTS_MAX, "{} slots: raise REQUEST_SLOTS_MAX", slots.len());
        for row in METHODS.iter() {
            let slot = slots.iter().find(|slot| slot.number == slot_of(row)).unwrap();
            assert_eq!(slot.method, row.name);
        }
        assert!(slots.iter().filter(|slot| slot.method == "insert").count() >= 3, "one for each generation");
    }
}
