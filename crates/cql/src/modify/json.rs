//! `INSERT ... JSON`: an INSERT of all columns, whose values are decoded from one JSON text at execution.

use std::borrow::Cow;

use super::body::{Body, insert};
use super::terms::Terms;
use crate::json::decode_object;
use crate::values::TypedTerm;
use crate::{QueryOptions, QueryState, Result, Table, TypesOf};
use base::marshal::{CqlType, Native};
use base::model::BoundValue;
use cql_syntax::{ConstantKind, Term};

/// The JSON text, and where its values are bound.
#[derive(Debug)]
pub(super) struct JsonValues {
    text: TypedTerm,
    keeps_omitted: bool,
    /// The index of the first column's value among the bound values; the other columns' values follow.
    first: usize,
}

impl JsonValues {
    pub(super) fn new(json: &Term, keeps_omitted: bool, terms: &mut Terms<'_>) -> Result<(JsonValues, Body)> {
        let text = terms.named(json, "[json]".to_owned(), CqlType::Native(Native::Text))?;
        let table = terms.table;
        let columns: Vec<String> = table.def.columns().map(|column| column.name.clone()).collect();
        let first = terms.markers.first_hidden();
        let values: Vec<Term> = (0..columns.len()).map(|at| Term::Marker(first + at)).collect();
        let body = insert(&columns, &values, terms)?;
        let made = JsonValues { text, keeps_omitted, first };
        if let Term::Constant { kind: ConstantKind::String, text } = json {
            // Errors in a constant are already reported when the statement is prepared.
            let types = TypesOf { types: terms.scope.types, release: terms.scope.release };
            decode_object(Some(text), &table.def, types, &BoundValue::Null)?;
        }
        Ok((made, body))
    }

    /// Appends the values of the columns to the values that the client has bound.
    pub(super) fn bind(
        &self,
        options: &mut Cow<'_, QueryOptions>,
        table: &Table,
        state: &QueryState<'_>,
    ) -> Result<()> {
        let text = self.text.set_bytes(options, state.database, || "INSERT JSON".to_owned())?;
        let text = text.as_ref().map(|text| String::from_utf8_lossy(text));
        let types = TypesOf { types: state.database.types(), release: state.behaviour.release };
        let omitted = if self.keeps_omitted { BoundValue::Unset } else { BoundValue::Null };
        let values = decode_object(text.as_deref(), &table.def, types, &omitted)?;
        let options = options.to_mut();
        options.values.truncate(self.first);
        options.values.resize(self.first, BoundValue::Unset);
        options.values.extend(values);
        Ok(())
    }
}
