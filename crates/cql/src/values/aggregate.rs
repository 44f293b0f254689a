//! Aggregate functions of 2.2: count, min, max, sum and avg.

use bytes::Bytes;

use super::number::Number;
use crate::error::invalid;
use crate::{CqlError, Result, TypesOf};
use base::marshal::{CqlType, NATIVES, Native, TypeRef, at};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Counts rows, or values that are not null.
    Count,
    Min,
    Max,
    Sum,
    Avg,
}

const NAMES: [(&str, Work); 5] =
    [("count", Work::Count), ("min", Work::Min), ("max", Work::Max), ("sum", Work::Sum), ("avg", Work::Avg)];

/// An aggregate of values of one type.
#[derive(Debug, Clone)]
pub(crate) struct Aggregate {
    work: Work,
    native: Native,
    /// The class that compares values.
    class: TypeRef,
}

/// The state of an aggregate while rows are added.
#[derive(Debug, Clone, Default)]
pub(crate) struct AggregateTally {
    count: u64,
    extreme: Option<Bytes>,
    sum: Option<Number>,
}

impl Aggregate {
    /// Whether a name belongs to an aggregate function.
    pub(crate) fn is_named(name: &str) -> bool {
        NAMES.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// Returns the aggregate that counts all rows.
    pub(crate) fn of_rows(types: TypesOf<'_>) -> Aggregate {
        let class = CqlType::Native(Native::Bigint).type_ref(types.types);
        Aggregate { work: Work::Count, native: Native::Bigint, class }
    }

    /// Returns the aggregate with a name for arguments of these types.
    pub(crate) fn named(name: &str, arguments: &[CqlType], types: TypesOf<'_>) -> Result<Aggregate> {
        let name = name.to_ascii_lowercase();
        let found = NAMES.iter().find(|(known, _)| *known == name);
        let Some((_, work)) = found else {
            return invalid(format!("Unknown function '{name}'"));
        };
        let takes = |native: Native| match work {
            Work::Count => true,
            Work::Min | Work::Max => native != Native::Duration,
            Work::Sum | Work::Avg => native.kind().is_number() && native != Native::Counter,
        };
        match arguments {
            [of @ CqlType::Native(native)] if takes(*native) => {
                Ok(Aggregate { work: *work, native: *native, class: of.type_ref(types.types) })
            }
            // A count accepts values of any type.
            [of] if *work == Work::Count => {
                Ok(Aggregate { work: *work, native: Native::Blob, class: of.type_ref(types.types) })
            }
            _ => {
                let mut signatures = Vec::new();
                for native in NATIVES.iter().map(|row| row.native) {
                    if native != Native::OldTimestamp && takes(native) {
                        let returns = if *work == Work::Count { "bigint" } else { native.name() };
                        signatures.push(format!("system.{name} : ({}) -> {returns}", native.name()));
                    }
                }
                invalid(format!(
                    "Invalid call to function {name}, none of its type signatures match (known type signatures: {})",
                    signatures.join(", ")
                ))
            }
        }
    }

    /// Returns the type of the result: bigint for a count, and the argument's type otherwise.
    pub(crate) fn return_type(&self) -> CqlType {
        CqlType::Native(if self.work == Work::Count { Native::Bigint } else { self.native })
    }

    /// Adds a row's value. Nulls are ignored.
    pub(crate) fn add(
        &self,
        tally: &mut AggregateTally,
        value: Option<Bytes>,
        types: TypesOf<'_>,
    ) -> Result<()> {
        let Some(value) = value else { return Ok(()) };
        match self.work {
            Work::Count => tally.count += 1,
            Work::Min | Work::Max => {
                let is_better = tally.extreme.as_ref().is_none_or(|extreme| {
                    let order = at(&*self.class, types.release).compare(&value, extreme);
                    if self.work == Work::Min { order.is_lt() } else { order.is_gt() }
                });
                if is_better {
                    tally.extreme = Some(value);
                }
            }
            Work::Sum | Work::Avg => {
                let Some(number) = Number::of(self.native, &value) else { return Ok(()) };
                tally.count += 1;
                tally.sum = Some(match tally.sum.take() {
                    None => number,
                    Some(sum) => sum.plus(&number).ok_or_else(too_long)?,
                });
            }
        }
        Ok(())
    }

    /// Returns the result. `min` and `max` of no values are null.
    pub(crate) fn result(&self, tally: AggregateTally) -> Result<Option<Bytes>> {
        let of_number = |number: Number| number.bytes(self.native).ok_or_else(too_long).map(Some);
        let sum = tally.sum.unwrap_or(Number::Integer(0.into()));
        match self.work {
            Work::Count => Ok(Some(Bytes::copy_from_slice(&tally.count.to_be_bytes()))),
            Work::Min | Work::Max => Ok(tally.extreme),
            Work::Sum => of_number(sum),
            Work::Avg => of_number(sum.divided(tally.count)),
        }
    }
}

fn too_long() -> CqlError {
    CqlError::invalid("the sum of these decimals has too many digits")
}
