//! A statement of a batch, with its own bound values.

use super::plan::ModifyPlan;
use crate::QueryOptions;

/// One of the statements of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    /// The statement, checked against the schema.
    pub plan: &'a ModifyPlan,
    /// The bound values. The consistency levels and the timestamp come from the batch.
    pub options: &'a QueryOptions,
}
