//! Random scripts: the steps that a test runs on a store.

use crate::faulty_disk::Chance;

/// Names of the column families. The second one is a Super column family.
pub const FAMILIES: [&str; 3] = ["Users", "Timelines", "Posts"];
pub const SUPER: usize = 1;
const ROWS: usize = 4;
const NAMES: usize = 5;
const RECORDS: usize = 3;
/// A record of this size makes the manifest so large that changes are appended to a file of changes instead of
/// rewriting it.
const LARGE_RECORD: usize = 70_000;

/// A column: column family, row, super column, column.
pub type Place = (usize, usize, Option<usize>, usize);

/// One change of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Writes a value of this length.
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
    /// One batch, which is atomic.
    Write(Vec<Edit>),
    /// A batch at consistency level ZERO, which does not wait for a sync.
    WriteAtZero(Vec<Edit>),
    /// Sets a metadata record, or removes it.
    Record {
        number: usize,
        length: Option<usize>,
    },
    Truncate(usize),
    /// In one change, a column family is dropped, other ones are truncated, and a metadata record is removed. `LeaveOut`
    /// removes the column family from the schema, and `MakeAgain` defines it with another comparator.
    Drop {
        family: usize,
        truncated: Vec<usize>,
        record: usize,
    },
    LeaveOut(usize),
    MakeAgain(usize),
    Flush,
    Compact,
    Sweep,
    /// Advances the clock by seconds.
    Wait(i64),
    Reopen,
}

impl Step {
    /// Returns whether the step changes the content of the store.
    pub fn changes_contents(&self) -> bool {
        self.is_write() || matches!(self, Step::Record { .. } | Step::Truncate(_) | Step::Drop { .. })
    }

    /// Returns whether the step is a write to the commit log.
    pub fn is_write(&self) -> bool {
        matches!(self, Step::Write(_) | Step::WriteAtZero(_))
    }
}

/// The maximal number of flushes without a compaction. At a dozen, a flush would wait for the compaction thread.
const FLUSHES_MAX: usize = 8;

/// Returns a random script of about this many steps.
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
                let others = (0..FAMILIES.len()).filter(|other| *other != family);
                let truncated = others.filter(|_| chance.below(3) == 0).collect();
                script.push(Step::Drop { family, truncated, record: chance.below(RECORDS) });
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

/// Returns a batch of edits of random rows.
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
                // Too long to be copied into a mapped log.
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

/// Formats a script with one line for each step.
pub fn text(script: &[Step]) -> String {
    script.iter().enumerate().map(|(number, step)| format!("{number}  {step:?}\n")).collect()
}
