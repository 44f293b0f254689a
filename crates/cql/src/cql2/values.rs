//! The bytes of a statement's terms.

use bytes::Bytes;

use super::time_text;
use crate::{CqlError, QueryState, Result};
use base::marshal::AbstractType;
use cql_syntax::cql2::Term2;

/// The context that terms need to become bytes: the values of a statement's markers, and the session's state.
#[derive(Clone, Copy)]
pub(super) struct Cql2Values<'a> {
    pub bound: &'a [Bytes],
    pub state: &'a QueryState<'a>,
}

impl<'a> Cql2Values<'a> {
    /// Returns the values of a statement that cannot have markers.
    pub(super) fn none(state: &'a QueryState<'a>) -> Cql2Values<'a> {
        Cql2Values { bound: &[], state }
    }

    /// Returns a term's bytes in a type.
    pub(super) fn bytes(&self, term: &Term2, of: &dyn AbstractType) -> Result<Bytes> {
        match term {
            Term2::Text(text) => time_text::parse(text, of, self.state).unwrap_or_else(|| {
                of.parse_text(text).map(Bytes::from).map_err(|error| CqlError::invalid(error.0))
            }),
            Term2::Marker(at) => {
                let value = self.bound.get(*at).cloned().unwrap_or_default();
                of.validate(&value).map_err(|error| CqlError::invalid(error.0))?;
                Ok(value)
            }
        }
    }
}
