//! Relations on the token of the partition key.

use super::analysis::{Analysis, check_beside, set_end};
use super::messages::{NOT_ON_TOKEN, TOKEN_OF_SOME, relation_text};
use super::operands::Operand;
use super::restrictions::{Restriction, RestrictionKind, Slice};
use crate::CqlError;
use crate::values::{Markers, TypedTerm, token_type};
use base::schema::ColumnKind;
use cql_syntax::{Operator, Relation, Term, operator_text};

fn invalid<T>(why: impl Into<String>) -> Result<T, CqlError> {
    Err(CqlError::invalid(why))
}

impl Analysis<'_> {
    /// Adds the restriction of one column in token(a, b). Cassandra 2.1 treats such a relation as one relation per
    /// column, and only checks at the end whether they fit together.
    pub fn key_by_token(
        &mut self,
        name: &str,
        operator: Operator,
        value: &Term,
        markers: &mut Markers,
    ) -> Result<(), CqlError> {
        let relation = Relation::Token { columns: vec![name.to_owned()], operator, value: value.clone() };
        let column = self.entity(name, &relation, None)?;
        if column.kind != ColumnKind::PartitionKey {
            return invalid(format!(
                "The token() function is only supported on the partition key, found on {name}"
            ));
        }
        if !is_of_tokens(operator) {
            return invalid(format!("Unsupported \"!=\" relation on column \"{name}\""));
        }
        let existing = self.existing(&column);
        check_beside(existing, operator, name)?;
        if existing.is_some_and(|existing| !existing.is_on_token) {
            return invalid(NOT_ON_TOKEN);
        }
        let operand = self.token_operand(value, markers)?;
        let Some(place) = self.found.keys.get_mut(column.position) else { return Ok(()) };
        restrict(place, column.position, 1, operator, operand, name)
    }

    /// Analyzes the value that a token is compared with.
    fn token_operand(&self, value: &Term, markers: &mut Markers) -> Result<Operand, CqlError> {
        let token = token_type(self.state.database.partitioner().class_name());
        let spec = self.target.spec_of("partition key token", token);
        Ok(Operand::One(TypedTerm::new(value, &spec, &self.scope, markers)?))
    }

    /// Adds a relation on the token, as 2.2 does.
    pub fn token(
        &mut self,
        names: &[String],
        relation: &Relation,
        operator: Operator,
        value: &Term,
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
        if !is_of_tokens(operator) {
            let text = relation_text(relation, self.release());
            return invalid(format!(
                "Unsupported \"{}\" relation: {text}",
                operator_text(operator, self.release())
            ));
        }
        let name = columns.first().map(|column| column.name.clone()).unwrap_or_default();
        check_beside(self.found.token.as_ref(), operator, &name)?;
        let operand = self.token_operand(value, markers)?;
        restrict(&mut self.found.token, 0, columns.len(), operator, operand, &name)
    }
}

/// Checks whether tokens can be compared with this operator.
fn is_of_tokens(operator: Operator) -> bool {
    matches!(operator, Operator::Eq | Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte)
}

/// Restricts a token by an equality, or sets one end of its slice.
fn restrict(
    place: &mut Option<Restriction>,
    first: usize,
    width: usize,
    operator: Operator,
    operand: Operand,
    name: &str,
) -> Result<(), CqlError> {
    let of_token = |asked| Restriction { first, width, is_tuple: false, is_on_token: true, asked };
    if operator == Operator::Eq {
        *place = Some(of_token(RestrictionKind::Eq(operand)));
        return Ok(());
    }
    let restriction = place.get_or_insert_with(|| of_token(RestrictionKind::Slice(Slice::default())));
    set_end(Some(restriction), operator, operand, name)
}
