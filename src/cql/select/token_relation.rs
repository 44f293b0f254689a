//! Relations of the token of the partition key.

use super::analysis::{Analysis, set_end};
use super::messages::{NOT_ON_TOKEN, TOKEN_OF_SOME, operator_text, relation_text};
use super::operands::Operand;
use super::restrictions::{Asked, Restriction, Slice};
use crate::cql::syntax::{Operator, Relation, Term};
use crate::cql::values::{Markers, TypedTerm, token_type};
use crate::cql::{ColumnSpec, CqlError};
use crate::schema::ColumnKind;

fn invalid<T>(why: impl Into<String>) -> Result<T, CqlError> {
    Err(CqlError::invalid(why))
}

impl Analysis<'_> {
    /// What token(a, b) asks of one of its columns: 2.1 takes it for a relation of each, and looks only in the end
    /// whether they fit together.
    pub fn key_by_token(
        &mut self,
        name: &str,
        (operator, value): (Operator, &Term),
        markers: &mut Markers,
    ) -> Result<(), CqlError> {
        let relation = Relation::Token { columns: vec![name.to_owned()], operator, value: value.clone() };
        let column = self.entity(name, &relation, None)?;
        if column.kind != ColumnKind::PartitionKey {
            return invalid(format!(
                "The token() function is only supported on the partition key, found on {name}"
            ));
        }
        let is_slice = match operator {
            Operator::Eq => false,
            Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte => true,
            _ => return invalid(format!("Unsupported \"!=\" relation on column \"{name}\"")),
        };
        match self.existing(&column) {
            Some(_) if !is_slice => {
                return invalid(format!(
                    "{name} cannot be restricted by more than one relation if it includes an Equal"
                ));
            }
            Some(existing) if !existing.is_slice() => {
                return invalid(format!(
                    "Column \"{name}\" cannot be restricted by both an equality and an inequality relation"
                ));
            }
            Some(existing) if !existing.is_on_token => return invalid(NOT_ON_TOKEN),
            _ => {}
        }
        let spec = self.token_spec();
        let operand = Operand::one(TypedTerm::new(value, &spec, &self.scope, markers)?);
        let Some(place) = self.found.keys.get_mut(column.position) else { return Ok(()) };
        let of_token = |asked| Restriction {
            first: column.position,
            width: 1,
            is_tuple: false,
            is_on_token: true,
            asked,
        };
        if !is_slice {
            *place = Some(of_token(Asked::Eq(operand)));
            return Ok(());
        }
        let restriction = place.get_or_insert_with(|| of_token(Asked::Slice(Slice::default())));
        set_end(Some(restriction), operator, operand, name)
    }

    /// What a token's value is for.
    fn token_spec(&self) -> ColumnSpec {
        self.target.spec_of("partition key token", token_type(self.state.database.partitioner_name()))
    }

    /// A relation of the token, in the way of 2.2.
    pub fn token(
        &mut self,
        names: &[String],
        relation: &Relation,
        (operator, value): (Operator, &Term),
        markers: &mut Markers,
    ) -> Result<(), CqlError> {
        let columns = self.entities(names, relation, None)?;
        if let Some(other) = columns.iter().find(|column| column.kind != ColumnKind::PartitionKey) {
            return invalid(format!(
                "The token() function is only supported on the partition key, found on {}",
                other.name
            ));
        }
        let key = &self.target.def.partition_key;
        if !key.iter().all(|part| columns.iter().any(|column| column.name == part.name)) {
            return invalid(TOKEN_OF_SOME);
        }
        if columns.len() != key.len()
            || columns.iter().zip(key).any(|(column, part)| column.name != part.name)
        {
            let names: Vec<&str> = key.iter().map(|part| &*part.name).collect();
            return invalid(format!(
                "The token function arguments must be in the partition key order: {}",
                names.join(", ")
            ));
        }
        let spec = self.token_spec();
        let name = columns.first().map(|column| column.name.clone()).unwrap_or_default();
        let is_slice = match operator {
            Operator::Eq => false,
            Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte => true,
            _ => {
                let text = relation_text(relation, self.release());
                return invalid(format!(
                    "Unsupported \"{}\" relation: {text}",
                    operator_text(operator, self.release())
                ));
            }
        };
        match &self.found.token {
            Some(_) if !is_slice => {
                return invalid(format!(
                    "{name} cannot be restricted by more than one relation if it includes an Equal"
                ));
            }
            Some(existing) if !existing.is_slice() => {
                return invalid(format!(
                    "Column \"{name}\" cannot be restricted by both an equality and an inequality relation"
                ));
            }
            _ => {}
        }
        let operand = Operand::one(TypedTerm::new(value, &spec, &self.scope, markers)?);
        let width = columns.len();
        let of_token = |asked| Restriction { first: 0, width, is_tuple: false, is_on_token: true, asked };
        if !is_slice {
            self.found.token = Some(of_token(Asked::Eq(operand)));
            return Ok(());
        }
        let restriction = self.found.token.get_or_insert_with(|| of_token(Asked::Slice(Slice::default())));
        set_end(Some(restriction), operator, operand, &name)
    }
}
