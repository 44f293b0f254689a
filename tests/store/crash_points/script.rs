//! Random scripts: what a test does to a store.

use crate::faulty_disk::Chance;

/// Names of the column families. The second one is a Super column family.
pub const FAMILIES: [&str; 3] = ["Users", "Timelines", "Posts"];
pub const SUPER: usize = 1;
const ROWS: usize = 4;
const NAMES: usize = 5;
const RECORDS: usize = 3;
/// With a record of so many bytes the manifest is no longer replaced for each change: it has a file of changes.
const LARGE_RECORD: usize = 70_000;

/// A column: column family, row, super column, column.
pub type Place = (usize, usize, Option<usize>, usize);

/// One change of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// `length` bytes of the timestamp's value.
    Put {
        place: Place,
        length: usize,
    },
    Delete {
        place: Place,
    },
    DeleteSuper {
        family: usize,
        row: usize,
        holder: usize,
    },
    DeleteRow {
        family: usize,
        row: usize,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// One batch: all of it is there after a crash, or nothing.
    Write(Vec<Edit>),
    /// The same at consistency level ZERO, which waits for no sync.
    WriteAtZero(Vec<Edit>),
    /// Sets a metadata record, or removes it.
    Record {
        number: usize,
        length: Option<usize>,
    },
    Truncate(usize),
    /// A column family is dropped, then left out of the schema, then made again with another comparator.
    Drop(usize),
    LeaveOut(usize),
    MakeAgain(usize),
    Flush,
    Compact,
    Sweep,
    /// Seconds pass.
    Wait(i64),
    Reopen,
}

impl Step {
    /// Whether the store holds something else afterwards.
    pub fn changes_contents(&self) -> bool {
        self.is_write() || matches!(self, Step::Record { .. } | Step::Truncate(_) | Step::Drop(_))
    }

    /// Whether it is stored in the commit log.
    pub fn is_write(&self) -> bool {
        matches!(self, Step::Write(_) | Step::WriteAtZero(_))
    }
}

/// Each run of flushes without a compaction is short: at a dozen a flush waits for the compaction thread.
const FLUSHES_MAX: usize = 8;

/// A script of so many steps.
pub fn random(chance: &mut Chance, steps: usize) -> Vec<Step> {
    let mut script = Vec::new();
    if chance.below(2) == 0 {
        script.push(Step::Record { number: 0, length: Some(LARGE_RECORD) });
    }
    let mut flushes = 0;
    while script.len() < steps {
        let family = chance.below(FAMILIES.len());
        match chance.below(40) {
            0..=15 => script.push(Step::Write(batch(chance))),
            16..=19 => script.push(Step::WriteAtZero(batch(chance))),
            20..=22 => {
                let length = (chance.below(4) > 0).then(|| chance.below(300));
                let length = if chance.below(8) == 0 { Some(LARGE_RECORD) } else { length };
                script.push(Step::Record { number: chance.below(RECORDS), length });
            }
            23..=25 => script.push(Step::Truncate(family)),
            26 | 27 => {
                script.push(Step::Drop(family));
                script.push(Step::LeaveOut(family));
                if chance.below(3) == 0 {
                    script.push(Step::Reopen);
                }
                script.push(Step::MakeAgain(family));
            }
            28..=31 if flushes < FLUSHES_MAX => {
                flushes += 1;
                script.push(Step::Flush);
            }
            28..=33 => {
                flushes = 0;
                script.push(Step::Compact);
            }
            34 => script.push(Step::Sweep),
            35 | 36 => script.push(Step::Wait(chance.below(4) as i64)),
            _ => {
                flushes += 1;
                script.push(Step::Reopen);
            }
        }
    }
    script
}

/// A batch over some rows.
fn batch(chance: &mut Chance) -> Vec<Edit> {
    let edits = if chance.below(3) == 0 { 1 + chance.below(12) } else { 1 };
    (0..edits).map(|_| edit(chance)).collect()
}

fn edit(chance: &mut Chance) -> Edit {
    let (family, row) = (chance.below(FAMILIES.len()), chance.below(ROWS));
    let holder = chance.below(NAMES);
    let place = (family, row, (family == SUPER).then_some(holder), chance.below(NAMES));
    match chance.below(12) {
        0..=7 => {
            let length = match chance.below(30) {
                // Longer than what is copied into a mapping.
                0 => 70_000,
                1..=4 => chance.below(10_000),
                _ => chance.below(100),
            };
            Edit::Put { place, length }
        }
        8 | 9 => Edit::Delete { place },
        10 if family == SUPER => Edit::DeleteSuper { family, row, holder },
        _ => Edit::DeleteRow { family, row },
    }
}

/// A script with a line for each step.
pub fn text(script: &[Step]) -> String {
    script.iter().enumerate().map(|(number, step)| format!("{number}  {step:?}\n")).collect()
}
