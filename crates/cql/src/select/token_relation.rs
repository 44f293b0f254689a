//! Relations on the token of the partition key.

use super::analysis::{Analysis, compared};
use super::merging::misfit_of_ends;
use super::messages::{NOT_ON_TOKEN, TOKEN_OF_SOME};
use super::operands::Operand;
use super::restrictions::{Restriction, RestrictionKind};
use crate::Result;
use crate::error::invalid;
use crate::values::{Markers, TypedTerm, token_type};
use base::compat::texts;
use base::schema::{ColumnKind, TableColumn};
use cql_syntax::{Operator, Relation, Term, operator_text};

impl Analysis<'_> {
    /// Adds a relation on the token.
    pub(super) fn token(
        &mut self,
        names: &[String],
        relation: &Relation,
        operator: Operator,
        value: &Term,
        markers: &mut Markers,
    ) -> Result<()> {
        if self.rules().splits_token_relations {
            return names.iter().try_for_each(|name| self.token_of_column(name, operator, value, markers));
        }
        let columns = self.entities(names, relation, None)?;
        columns.iter().try_for_each(check_is_key)?;
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
            return invalid(format!(
                "Unsupported \"{}\" relation: {}",
                operator_text(operator, self.release()),
                self.text(relation)
            ));
        }
        let existing = self.found.token.as_ref();
        let name = columns.first().map_or("", |column| &column.name);
        self.check_fits_token(existing, relation, name)?;
        let asked = compared(operator, self.token_operand(value, markers)?);
        let width = columns.len();
        let new = Restriction { first: 0, width, is_tuple: false, is_on_token: true, asked };
        restrict(&mut self.found.token, new, relation, name)
    }

    /// Adds the restriction of one column in token(a, b). Cassandra 2.1 treats such a relation as one relation per
    /// column, and only checks at the end whether they fit together.
    fn token_of_column(
        &mut self,
        name: &str,
        operator: Operator,
        value: &Term,
        markers: &mut Markers,
    ) -> Result<()> {
        let relation = Relation::Token { columns: vec![name.to_owned()], operator, value: value.clone() };
        let column = self.entity(name, &relation, None)?;
        check_is_key(&column)?;
        if !is_of_tokens(operator) {
            return invalid(texts::unequal(self.state.line(), name, &self.text(&relation)));
        }
        let existing = self.found.of(&column);
        self.check_fits_token(existing, &relation, name)?;
        if existing.is_some_and(|existing| !existing.is_on_token) {
            return invalid(NOT_ON_TOKEN);
        }
        let asked = compared(operator, self.token_operand(value, markers)?);
        let first = column.position;
        let new = Restriction { first, width: 1, is_tuple: false, is_on_token: true, asked };
        match self.found.keys.get_mut(first) {
            Some(place) => restrict(place, new, &relation, name),
            None => Ok(()),
        }
    }

    /// Analyzes the value that a token is compared with.
    fn token_operand(&self, value: &Term, markers: &mut Markers) -> Result<Operand> {
        let token = token_type(self.state.database.partitioner().class_name());
        let spec = self.target.spec_of("partition key token", token);
        Ok(Operand::One(TypedTerm::new(value, &spec, &self.scope, markers)?))
    }
}

fn check_is_key(column: &TableColumn) -> Result<()> {
    if column.kind == ColumnKind::PartitionKey {
        return Ok(());
    }
    invalid(format!("The token() function is only supported on the partition key, found on {}", column.name))
}

/// Checks whether tokens can be compared with this operator.
fn is_of_tokens(operator: Operator) -> bool {
    matches!(operator, Operator::Eq | Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte)
}

/// Restricts a token by an equality, or sets one end of its slice.
fn restrict(
    place: &mut Option<Restriction>,
    new: Restriction,
    relation: &Relation,
    name: &str,
) -> Result<()> {
    if let Some(Restriction { asked: RestrictionKind::Slice(slice), .. }) = place
        && let Some(misfit) = misfit_of_ends(slice, relation, name)
    {
        return invalid(misfit);
    }
    match place {
        Some(existing) => existing.add(new),
        None => *place = Some(new),
    }
    Ok(())
}
