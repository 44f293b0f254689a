//! Runs a script on a store until its end or until a crash, and checks the content afterwards.

use std::slice;
use std::sync::Arc;
use std::time::Duration;

use base::compat::features::ConsistencyLevel;
use base::model::{Cell, CfMutation, Change, Mutation};
use base::schema::{Catalog, CfDef};
use base::util::Clock;
use bytes::Bytes;
use embedded::disk::{Disk, RealDisk};
use embedded::{EmbeddedOptions, EmbeddedStore, SyncMode};
use store::{Store, StoreChange, StoreError};

use super::model::{Model, record_name, timestamp, value};
use super::script::{Edit, FAMILIES, SUPER, Step};
use crate::faulty_disk::FaultyDisk;
use crate::store_support as support;
use crate::store_support::SchemaCalls as _;

/// The age in seconds after which tombstones may be removed.
const GC_GRACE_S: i32 = 3;

/// A period so long that there is no periodic sync during a test.
pub const PERIODIC: SyncMode = SyncMode::Periodic(Duration::from_secs(3600));

/// The schema of the store, which steps change.
#[derive(Debug, Clone)]
struct Schema {
    /// Whether each column family currently has its second comparator.
    is_changed: [bool; FAMILIES.len()],
    is_defined: [bool; FAMILIES.len()],
}

impl Schema {
    fn new() -> Schema {
        Schema { is_changed: [false; FAMILIES.len()], is_defined: [true; FAMILIES.len()] }
    }

    fn catalog(&self) -> Catalog {
        let defined = (0..FAMILIES.len()).filter(|family| self.is_defined[*family]);
        support::catalog(defined.map(|family| {
            let comparator = if self.is_changed[family] { "UTF8Type" } else { "BytesType" };
            let subcomparator = (family == SUPER).then_some("AsciiType");
            CfDef { gc_grace_s: GC_GRACE_S, ..support::family(FAMILIES[family], comparator, subcomparator) }
        }))
    }
}

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending {
    Acknowledged,
    /// The step failed or was interrupted. It has taken effect completely or not at all.
    Unknown,
    /// The step was refused because of an earlier final failure, and has no effect.
    Refused,
}

/// What a crash may have lost, and whether that is decided.
#[derive(Debug, Clone, Copy)]
pub struct Losses {
    /// Whether unsynced writes at the end of the commit log may be lost.
    pub unsynced: bool,
    /// Whether the content found now is durable: later checks must find the same.
    pub are_final: bool,
}

impl Losses {
    pub const NONE: Losses = Losses { unsynced: false, are_final: false };
}

/// A store under test, and all steps that ran on it.
pub struct Run {
    disk: FaultyDisk,
    sync: SyncMode,
    clock: Arc<Clock>,
    schema: Schema,
    store: Option<EmbeddedStore>,
    done: Vec<(Step, Ending)>,
    /// Steps before this one are synced.
    synced: usize,
}

impl Run {
    pub fn new(disk: FaultyDisk, sync: SyncMode) -> Run {
        let clock = support::manual_clock();
        Run { disk, sync, clock, schema: Schema::new(), store: None, done: Vec::new(), synced: 0 }
    }

    fn open_on(&self, disk: Arc<dyn Disk>) -> Result<EmbeddedStore, StoreError> {
        let options = EmbeddedOptions { sync: self.sync, ..support::options(&self.disk.data()) };
        let random = support::partitioner("RandomPartitioner");
        EmbeddedStore::open_on(disk, options, random, &self.schema.catalog(), self.clock.clone())
    }

    pub fn open(&mut self) -> Result<(), StoreError> {
        self.store = Some(self.open_on(Arc::new(self.disk.clone()))?);
        Ok(())
    }

    fn store(&self) -> &EmbeddedStore {
        self.store.as_ref().unwrap()
    }

    /// Opens the store and runs steps until one fails.
    pub fn run(&mut self, script: &[Step]) -> Result<(), StoreError> {
        self.open()?;
        script.iter().try_for_each(|step| self.step(step))
    }

    /// Runs a step and records its result.
    pub fn step(&mut self, step: &Step) -> Result<(), StoreError> {
        let is_final = self.is_final();
        let number = self.done.len();
        self.done.push((step.clone(), Ending::Unknown));
        let outcome = self.perform(number, step);
        self.done[number].1 = match &outcome {
            Ok(()) => Ending::Acknowledged,
            Err(_) if is_final => Ending::Refused,
            Err(_) => Ending::Unknown,
        };
        outcome
    }

    /// Returns whether the store refuses all writes until it is opened again.
    pub fn is_final(&self) -> bool {
        let refusal = self.store.as_ref().and_then(|store| store.status().read_only);
        refusal.is_some_and(|why| !why.contains("nearly full"))
    }

    fn perform(&mut self, number: usize, step: &Step) -> Result<(), StoreError> {
        match step {
            Step::Write(edits) => {
                self.write(self.mutations(number, edits), ConsistencyLevel::One)?;
                if self.sync == SyncMode::Batch {
                    self.synced = number + 1;
                }
                Ok(())
            }
            Step::WriteAtZero(edits) => self.write(self.mutations(number, edits), ConsistencyLevel::Zero),
            Step::Record { number: record, length } => {
                let value = length.map(|length| Bytes::from(value(timestamp(number, 0), length)));
                support::wait(self.store().put_records(vec![(record_name(*record), value)]))
            }
            Step::Truncate(family) => support::wait(self.store().truncate(self.definition(*family))),
            Step::Drop { family, truncated, record } => {
                let change = StoreChange {
                    records: vec![(record_name(*record), None)],
                    truncated: truncated.iter().map(|other| self.definition(*other)).collect(),
                    dropped: vec![self.definition(*family)],
                    catalog: None,
                };
                support::wait(self.store().change_schema(change))
            }
            Step::LeaveOut(family) => {
                self.schema.is_defined[*family] = false;
                self.alter()
            }
            Step::MakeAgain(family) => {
                self.schema.is_defined[*family] = true;
                self.schema.is_changed[*family] ^= true;
                self.alter()
            }
            Step::Flush => {
                self.store().flush()?;
                self.synced = number;
                Ok(())
            }
            Step::Compact => {
                self.store().compact()?;
                self.synced = number;
                Ok(())
            }
            Step::Sweep => self.store().sweep().map(|_| ()),
            Step::Wait(seconds) => {
                self.clock.advance_ms(seconds * 1000);
                Ok(())
            }
            Step::Reopen => {
                let store = self.store.take().unwrap();
                support::wait(store.close())?;
                drop(store);
                self.synced = number;
                self.open()
            }
        }
    }

    fn write(&self, mutations: Vec<Mutation>, level: ConsistencyLevel) -> Result<(), StoreError> {
        support::wait(self.store().apply(mutations, support::behaviour(), level))
    }

    fn alter(&self) -> Result<(), StoreError> {
        support::wait(self.store().alter(Arc::new(self.schema.catalog())))
    }

    fn definition(&self, family: usize) -> Arc<CfDef> {
        support::cf_of(&self.schema.catalog(), FAMILIES[family])
    }

    /// Returns one mutation for each row. Later edits of a batch have larger timestamps.
    fn mutations(&self, number: usize, edits: &[Edit]) -> Vec<Mutation> {
        let mut mutations: Vec<Mutation> = Vec::new();
        for (at, edit) in edits.iter().enumerate() {
            let timestamp = timestamp(number, at);
            let deletion = support::deletion(timestamp, self.clock.now_s().into());
            let name = |number: usize| Bytes::from(number.to_string());
            let (family, row, change) = match edit {
                Edit::Put { place: (family, row, holder, column), length } => {
                    let cell = Cell::live(name(*column), value(timestamp, *length).into(), timestamp);
                    (*family, *row, Change::Cell { super_column: holder.map(name), cell })
                }
                Edit::Delete { place: (family, row, holder, column) } => {
                    let cell = Cell::tombstone(name(*column), timestamp, self.clock.now_s());
                    (*family, *row, Change::Cell { super_column: holder.map(name), cell })
                }
                Edit::DeleteSuper { family, row, holder } => {
                    (*family, *row, Change::DeleteSuper { name: name(*holder), deletion })
                }
                Edit::DeleteRow { family, row } => (*family, *row, Change::DeleteRow { deletion }),
            };
            let change = CfMutation { cf: self.definition(family), changes: vec![change].into() };
            match mutations.iter_mut().find(|mutation| mutation.key == name(row)) {
                Some(mutation) => mutation.families.push(change),
                None => mutations.push(Mutation { key: name(row), families: vec![change] }),
            }
        }
        mutations
    }

    /// Drops the store after a crash.
    pub fn drop_store(&mut self) {
        self.store = None;
    }

    /// Opens the directory on a disk without faults, and checks its content.
    pub fn check(&mut self, losses: Losses) -> Result<(), String> {
        self.schema.is_defined = [true; FAMILIES.len()];
        let store =
            self.open_on(Arc::new(RealDisk)).map_err(|error| format!("the store does not open: {error}"))?;
        self.compare(&store, losses)
    }

    /// Opens the directory on the disk under test, which may crash.
    pub fn recover(&mut self) -> Result<(), StoreError> {
        self.schema.is_defined = [true; FAMILIES.len()];
        self.open()
    }

    /// Checks the content of the open store.
    pub fn check_open(&mut self, losses: Losses) -> Result<(), String> {
        let store = self.store.take().unwrap();
        let outcome = self.compare(&store, losses);
        self.store = Some(store);
        outcome
    }

    fn compare(&mut self, store: &EmbeddedStore, losses: Losses) -> Result<(), String> {
        let found = Model::of_store(store, &self.schema.catalog());
        let first_cut = if losses.unsynced { self.synced.min(self.done.len()) } else { self.done.len() };
        let mut nearest: Option<Vec<String>> = None;
        for cut in (first_cut..=self.done.len()).rev() {
            for history in self.histories(cut) {
                let mut expected = Model::default();
                for (number, step) in history.iter().enumerate() {
                    step.iter().for_each(|step| expected.apply(number, step));
                }
                let differences = expected.differences(&found);
                if differences.is_empty() {
                    if losses.are_final {
                        self.settle(history);
                    }
                    return Ok(());
                }
                if nearest.as_ref().is_none_or(|nearest| differences.len() < nearest.len()) {
                    nearest = Some(differences);
                }
            }
        }
        Err(format!("the store has other content:\n{}", nearest.unwrap_or_default().join("\n")))
    }

    /// Returns the possible sets of steps that took effect, if the commit log has lost the writes from step `cut` on.
    fn histories(&self, cut: usize) -> Vec<Vec<Option<Step>>> {
        let mut histories: Vec<Vec<Option<Step>>> = vec![Vec::new()];
        for (number, (step, ending)) in self.done.iter().enumerate() {
            let is_lost = step.is_write() && number >= cut;
            let changes_nothing = !step.changes_contents();
            let both = [Some(step.clone()), None];
            let outcomes = match ending {
                _ if changes_nothing => &both[1..],
                _ if is_lost => &both[1..],
                Ending::Acknowledged => &both[..1],
                Ending::Refused => &both[1..],
                Ending::Unknown => &both[..],
            };
            histories = histories
                .iter()
                .flat_map(|history| {
                    outcomes.iter().map(|outcome| [&history[..], slice::from_ref(outcome)].concat())
                })
                .collect();
        }
        histories
    }

    /// Replaces the results of all steps by this history, after a check has decided which one happened.
    fn settle(&mut self, history: Vec<Option<Step>>) {
        let nothing = Step::Wait(0);
        let known = |step: Option<Step>| (step.unwrap_or_else(|| nothing.clone()), Ending::Acknowledged);
        self.done = history.into_iter().map(known).collect();
    }

    /// Closes the store and checks its content.
    pub fn close_and_check(&mut self) -> Result<(), String> {
        if let Some(store) = self.store.take() {
            // Closing may fail if the store has failed before.
            let _ = support::wait(store.close());
        }
        self.check(Losses::NONE)
    }
}
