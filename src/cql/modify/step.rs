//! A statement of a batch, with the values of its own markers.

use super::plan::ModifyPlan;
use crate::cql::QueryOptions;

/// One of the statements that are run together.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    pub plan: &'a ModifyPlan,
    /// Its values. Levels and timestamp are those of the whole.
    pub options: &'a QueryOptions,
}
