//! Writes that wait to go into the log together.
//!
//! A call of the operating system costs more than a small write itself. So who has prepared a write leaves it here,
//! with the locks of its rows, and lets the runtime run what else is ready; when its turn comes again it writes all
//! that has gathered, or finds that another has. Nobody is woken up for it, and nobody waits when there is no other
//! work. That the replies of a group leave one after another also spares waking their clients one by one.
//!
//! Who needs a row that is locked finishes the group first: so no thread waits for a task that waits for the thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};

use super::locks::RowGuard;
use super::write_batch::WriteBatch;
use crate::storage::StoreError;

/// Places where groups gather: as many as threads meet, on all but large machines.
const PLACES: usize = 8;

/// Writes for which a group has room from the start.
const GROUP_EXPECTED: usize = 8;

static NEXT_PLACE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The place of this thread.
    static PLACE: usize = NEXT_PLACE.fetch_add(1, Ordering::Relaxed) % PLACES;
}

/// A prepared write. Its locks open when it is dropped.
pub struct Waiting {
    pub batch: WriteBatch,
    _locks: Vec<RowGuard>,
}

/// What has become of the writes of one group, once they are written.
pub struct Group {
    place: usize,
    outcome: OnceLock<Result<(), StoreError>>,
}

/// The groups that are gathering: one for each thread, more or less, so that threads do not meet here.
pub struct Groups {
    places: Vec<Place>,
}

/// Where the writes of some threads gather.
struct Place {
    gathering: Mutex<(Arc<Group>, Vec<Waiting>)>,
    /// Held while a group is written, so that who takes the next one finds it written.
    turn: Mutex<()>,
}

/// A group that its holder has to write.
pub struct Turn<'a> {
    group: Arc<Group>,
    pub writes: Vec<Waiting>,
    _turn: MutexGuard<'a, ()>,
}

impl Group {
    fn new(place: usize) -> Arc<Group> {
        Arc::new(Group { place, outcome: OnceLock::new() })
    }

    /// What has become of its writes; `None` as long as they wait.
    pub fn outcome(&self) -> Option<Result<(), StoreError>> {
        self.outcome.get().cloned()
    }
}

impl Groups {
    pub fn new() -> Groups {
        let place =
            |number| Place { gathering: Mutex::new((Group::new(number), Vec::new())), turn: Mutex::new(()) };
        Groups { places: (0..PLACES).map(place).collect() }
    }

    /// Leaves a write to whoever writes the group.
    pub fn add(&self, batch: WriteBatch, locks: Vec<RowGuard>) -> Arc<Group> {
        let mut gathering = self.places[PLACE.with(|place| *place)].gathering.lock();
        gathering.1.push(Waiting { batch, _locks: locks });
        gathering.0.clone()
    }

    /// Takes what has gathered around a group. `None`: another has done so, and is still writing.
    pub fn try_turn(&self, group: &Group) -> Option<Turn<'_>> {
        let turn = self.places[group.place].turn.try_lock()?;
        Some(self.take(group.place, turn))
    }

    /// Takes what has gathered around a group, when what was taken before is written.
    pub fn turn(&self, group: &Group) -> Turn<'_> {
        self.take(group.place, self.places[group.place].turn.lock())
    }

    /// Takes everything that has gathered, place by place.
    pub fn turns(&self) -> impl Iterator<Item = Turn<'_>> {
        (0..PLACES).map(|place| self.take(place, self.places[place].turn.lock()))
    }

    fn take<'a>(&'a self, place: usize, turn: MutexGuard<'a, ()>) -> Turn<'a> {
        let mut gathering = self.places[place].gathering.lock();
        if gathering.1.is_empty() {
            return Turn { group: gathering.0.clone(), writes: Vec::new(), _turn: turn };
        }
        let (group, writes) =
            std::mem::replace(&mut *gathering, (Group::new(place), Vec::with_capacity(GROUP_EXPECTED)));
        Turn { group, writes, _turn: turn }
    }
}

impl Turn<'_> {
    /// Tells the writers, and opens their rows.
    pub fn end(self, outcome: Result<(), StoreError>) {
        if !self.writes.is_empty() {
            let _ = self.group.outcome.set(outcome);
        }
    }
}
