//! Turns relations into restrictions as 2.2 and later do: each relation is analyzed by itself and then merged with the
//! restriction that its columns already have (`StatementRestrictions`, `RestrictionSet`).

use super::analysis::Analysis;
use super::element_condition::ElementCondition;
use super::messages::{NOT_ON_TOKEN, relation_text};
use super::operands::{Operand, Operands};
use super::restrictions::{Restriction, RestrictionKind, Slice, SliceEnd};
use crate::values::{Markers, TypedTerm};
use crate::{ColumnSpec, CqlError};
use base::compat::features::restrictions::{CHANGES_OF_SEVERAL_ROWS, FILTERING_BY_PARTITION_KEY};
use base::compat::texts;
use base::marshal::CqlType;
use base::schema::{ColumnKind, TableColumn};
use cql_syntax::{InValues, Operator, Relation, Term, operator_text};

fn invalid<T>(why: impl Into<String>) -> Result<T, CqlError> {
    Err(CqlError::invalid(why))
}

impl Analysis<'_> {
    /// Adds a relation.
    pub fn merge(&mut self, relation: &Relation, markers: &mut Markers) -> Result<(), CqlError> {
        match relation {
            Relation::Column { operator: Operator::Neq, .. }
            | Relation::Columns { operator: Operator::Neq, .. } => {
                invalid(format!("Unsupported \"!=\" relation: {}", relation_text(relation, self.release())))
            }
            Relation::Column { column, element: Some(key), operator, value } => {
                let column = self.entity(column, relation, Some(*operator))?;
                let condition = self.map_entry(&column, key, *operator, value, markers)?;
                self.merge_single(&column, RestrictionKind::Contains(vec![condition]))
            }
            Relation::Column { column, element: None, operator, value } => {
                let column = self.entity(column, relation, Some(*operator))?;
                let asked = self.one(&column, *operator, value, markers)?;
                self.merge_single(&column, asked)
            }
            Relation::In { column, values } => {
                let is_single = self.is_equality(values);
                let column = self.entity(column, relation, is_single.then_some(Operator::Eq))?;
                let asked = self.one_in(&column, values, is_single, markers)?;
                self.merge_single(&column, asked)
            }
            Relation::Columns { columns, operator, value } => {
                let columns = self.entities(columns, relation, Some(*operator))?;
                (0..columns.len()).try_for_each(|at| self.check_tuple_column(&columns, at, relation))?;
                let operand = Operand::tuple(value, &self.specs(&columns), &self.scope, markers)?;
                let asked = match operator {
                    Operator::Eq => RestrictionKind::Eq(operand),
                    Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte => sliced(*operator, operand),
                    Operator::Neq | Operator::Contains | Operator::ContainsKey => {
                        let operator = operator_text(*operator, self.release());
                        return invalid(texts::not_multi_column(self.state.line(), operator));
                    }
                };
                self.merge_tuple(&columns, asked)
            }
            Relation::ColumnsIn { columns, values } => {
                let is_single = self.is_equality(values);
                let columns = self.entities(columns, relation, is_single.then_some(Operator::Eq))?;
                (0..columns.len()).try_for_each(|at| self.check_tuple_column(&columns, at, relation))?;
                let operands = Operands::of_columns(values, &self.specs(&columns), &self.scope, markers)?;
                self.merge_tuple(&columns, in_or_equality(operands, is_single))
            }
            Relation::Token { columns, operator, value } => {
                self.token(columns, relation, *operator, value, markers)
            }
        }
    }

    /// Whether an IN is an equality, as it is from 3.0 on if it has one value.
    fn is_equality(&self, values: &InValues) -> bool {
        matches!(values, InValues::List(terms) if terms.len() == 1) && self.state.has(CHANGES_OF_SEVERAL_ROWS)
    }

    fn specs(&self, columns: &[TableColumn]) -> Vec<ColumnSpec> {
        columns.iter().map(|column| self.target.spec(column)).collect()
    }

    /// Analyzes a relation on one column.
    fn one(
        &self,
        column: &TableColumn,
        operator: Operator,
        value: &Term,
        markers: &mut Markers,
    ) -> Result<RestrictionKind, CqlError> {
        if matches!(operator, Operator::Contains | Operator::ContainsKey) {
            let is_key = operator == Operator::ContainsKey;
            let spec = self.element_spec(column, is_key)?;
            let term = TypedTerm::new(value, &spec, &self.scope, markers)?;
            let condition = if is_key { ElementCondition::Key(term) } else { ElementCondition::Value(term) };
            return Ok(RestrictionKind::Contains(vec![condition]));
        }
        self.check_is_one_value(column, operator_text(operator, self.release()))?;
        if operator != Operator::Eq
            && column.kind == ColumnKind::PartitionKey
            && !self.state.has(FILTERING_BY_PARTITION_KEY)
        {
            return invalid(NOT_ON_TOKEN);
        }
        if operator != Operator::Eq && column.cql_type.has_durations() {
            return invalid(match &column.cql_type {
                CqlType::Native(_) => "Slice restrictions are not supported on duration columns",
                CqlType::Tuple(_) => "Slice restrictions are not supported on tuples containing durations",
                CqlType::User { .. } => "Slice restrictions are not supported on UDTs containing durations",
                _ => "Slice restrictions are not supported on collections containing durations",
            });
        }
        let operand = Operand::One(TypedTerm::new(value, &self.target.spec(column), &self.scope, markers)?);
        Ok(match operator {
            Operator::Eq => RestrictionKind::Eq(operand),
            _ => sliced(operator, operand),
        })
    }

    /// Analyzes a condition on the value of a map's key.
    fn map_entry(
        &self,
        column: &TableColumn,
        key: &Term,
        operator: Operator,
        value: &Term,
        markers: &mut Markers,
    ) -> Result<ElementCondition, CqlError> {
        let name = &column.name;
        let (of_keys, of_values) = match &column.cql_type {
            CqlType::Map { key, value, is_frozen: false } => (key, value),
            CqlType::Map { .. } => {
                return invalid(format!(
                    "Map-entry equality predicates on frozen map column {name} are not supported"
                ));
            }
            CqlType::List { .. } => {
                return invalid(format!(
                    "Indexes on list entries ({name}[index] = value) are not currently supported."
                ));
            }
            _ => return invalid(format!("Column {name} cannot be used as a map")),
        };
        if operator != Operator::Eq {
            return invalid("Only EQ relations are supported on map entries");
        }
        let mut typed = |term: &Term, part: &str, of: &CqlType| {
            let spec = self.target.spec_of(&format!("{part}({name})"), of.clone());
            TypedTerm::new(term, &spec, &self.scope, markers)
        };
        let key = typed(key, "key", of_keys)?;
        let value = typed(value, "value", of_values)?;
        Ok(ElementCondition::Entry { key, value, value_type: (**of_values).clone() })
    }

    fn one_in(
        &self,
        column: &TableColumn,
        values: &InValues,
        is_single: bool,
        markers: &mut Markers,
    ) -> Result<RestrictionKind, CqlError> {
        let has_one = matches!(values, InValues::List(terms) if terms.len() == 1);
        if !is_of_key(column) && !has_one {
            return invalid(format!(
                "IN predicates on non-primary-key columns ({}) is not yet supported",
                column.name
            ));
        }
        self.check_is_one_value(column, "IN")?;
        let operands = Operands::of_column(values, &self.target.spec(column), &self.scope, markers)?;
        Ok(in_or_equality(operands, is_single))
    }

    /// Checks that a column is stored in one cell.
    fn check_is_one_value(&self, column: &TableColumn, operator: &str) -> Result<(), CqlError> {
        if !column.cql_type.is_multi_cell() {
            return Ok(());
        }
        if column.cql_type.multi_cell_user_type().is_some() {
            return invalid(format!(
                "Non-frozen UDT column '{}' ({}) cannot be restricted by any relation",
                column.name,
                self.scope.text(&column.cql_type)
            ));
        }
        invalid(format!(
            "Collection column '{}' ({}) cannot be restricted by a '{operator}' relation",
            column.name,
            self.scope.text(&column.cql_type)
        ))
    }

    /// Returns the type of the value of CONTAINS, or of CONTAINS KEY.
    fn element_spec(&self, column: &TableColumn, is_key: bool) -> Result<ColumnSpec, CqlError> {
        let name = &column.name;
        let element = match (&column.cql_type, is_key) {
            (CqlType::Map { key, .. }, true) => key,
            (_, true) => return invalid(format!("Cannot use CONTAINS KEY on non-map column {name}")),
            (CqlType::List { element, .. } | CqlType::Set { element, .. }, _) => element,
            (CqlType::Map { value, .. }, _) => value,
            _ => return invalid(format!("Cannot use CONTAINS on non-collection column {name}")),
        };
        let part = if is_key { "key" } else { "value" };
        Ok(self.target.spec_of(&format!("{part}({name})"), (**element).clone()))
    }

    fn merge_single(&mut self, column: &TableColumn, asked: RestrictionKind) -> Result<(), CqlError> {
        let (first, width) = (column.position, 1);
        let new = Restriction { first, width, is_tuple: false, is_on_token: false, asked };
        match column.kind {
            ColumnKind::Clustering => self.merge_clustering(new),
            ColumnKind::PartitionKey => {
                let Some(place) = self.found.keys.get_mut(first) else { return Ok(()) };
                let merged = match place.take() {
                    Some(existing) => merged(existing, new, &column.name)?,
                    None => new,
                };
                *place = Some(merged);
                Ok(())
            }
            ColumnKind::Static | ColumnKind::Regular | ColumnKind::CompactValue => {
                let others = &mut self.found.others;
                let at = others.iter().position(|(name, _)| *name == column.name);
                let merged = match at.map(|at| others.remove(at)) {
                    Some((_, existing)) => merged(existing, new, &column.name)?,
                    None => new,
                };
                others.push((column.name.clone(), merged));
                Ok(())
            }
        }
    }

    fn merge_tuple(&mut self, columns: &[TableColumn], asked: RestrictionKind) -> Result<(), CqlError> {
        let (first, width) = (columns.first().map_or(0, |column| column.position), columns.len());
        self.merge_clustering(Restriction { first, width, is_tuple: true, is_on_token: false, asked })
    }

    /// Merges a restriction with the first existing one on its clustering columns.
    fn merge_clustering(&mut self, new: Restriction) -> Result<(), CqlError> {
        let after_slice = self.check_after_slice(&new);
        self.add_clustering(new)?;
        after_slice
    }

    fn add_clustering(&mut self, new: Restriction) -> Result<(), CqlError> {
        let mut common = self.found.clustering.iter().skip(new.first).take(new.width);
        let Some(at) = common.find_map(|place| *place) else {
            self.set_clustering(new);
            return Ok(());
        };
        let existing = self.found.of_clustering.remove(at);
        for place in self.found.clustering.iter_mut() {
            *place = match *place {
                Some(other) if other == at => None,
                Some(other) if other > at => Some(other - 1),
                other => other,
            };
        }
        let names: Vec<&str> = (existing.first.max(new.first)
            ..(existing.first + existing.width).min(new.first + new.width))
            .filter_map(|at| self.target.def.clustering.get(at))
            .map(|column| &*column.name)
            .collect();
        if existing.is_slice() && new.is_slice() && existing.first != new.first {
            let later = self.target.def.clustering.get(existing.first.max(new.first));
            return invalid(format!(
                "Column \"{}\" cannot be restricted by two inequalities not starting with the same column",
                later.map_or("", |column| &column.name)
            ));
        }
        let merged = merged(existing, new, &names.join(" ,"))?;
        self.set_clustering(merged);
        Ok(())
    }
}

fn is_of_key(column: &TableColumn) -> bool {
    matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Clustering)
}

/// An IN with one value is an equality.
fn in_or_equality(operands: Operands, is_single: bool) -> RestrictionKind {
    match operands {
        Operands::Each(each) if is_single => match each.into_iter().next() {
            Some(operand) => RestrictionKind::Eq(operand),
            None => RestrictionKind::In(Operands::Each(Vec::new())),
        },
        operands => RestrictionKind::In(operands),
    }
}

/// Returns a slice with one end.
fn sliced(operator: Operator, operand: Operand) -> RestrictionKind {
    let is_inclusive = matches!(operator, Operator::Gte | Operator::Lte);
    let end = Some(SliceEnd { operand, is_inclusive });
    RestrictionKind::Slice(match operator {
        Operator::Gt | Operator::Gte => Slice { lower: end, upper: None },
        _ => Slice { lower: None, upper: end },
    })
}

/// Merges two restrictions of the same columns. `names` are the columns that both have.
fn merged(existing: Restriction, new: Restriction, names: &str) -> Result<Restriction, CqlError> {
    let both =
        |end: &str| invalid(format!("More than one restriction was found for the {end} bound on {names}"));
    let (width, is_tuple) = (existing.width.max(new.width), existing.is_tuple || new.is_tuple);
    let asked = match (existing.asked, new.asked) {
        (RestrictionKind::Eq(_), _) => {
            return invalid(format!(
                "{names} cannot be restricted by more than one relation if it includes an Equal"
            ));
        }
        (RestrictionKind::In(_), _) => {
            return invalid(format!(
                "{names} cannot be restricted by more than one relation if it includes a IN"
            ));
        }
        (RestrictionKind::Contains(mut elements), RestrictionKind::Contains(more)) => {
            elements.extend(more);
            RestrictionKind::Contains(elements)
        }
        (RestrictionKind::Contains(_), _) => {
            return invalid(format!(
                "Collection column {names} can only be restricted by CONTAINS, CONTAINS KEY, or map-entry equality"
            ));
        }
        (RestrictionKind::Slice(slice), RestrictionKind::Slice(other)) => {
            if slice.lower.is_some() && other.lower.is_some() {
                return both("start");
            }
            if slice.upper.is_some() && other.upper.is_some() {
                return both("end");
            }
            RestrictionKind::Slice(Slice {
                lower: slice.lower.or(other.lower),
                upper: slice.upper.or(other.upper),
            })
        }
        (RestrictionKind::Slice(_), _) => {
            return invalid(format!(
                "Column \"{names}\" cannot be restricted by both an equality and an inequality relation"
            ));
        }
    };
    Ok(Restriction { width, is_tuple, asked, ..existing })
}
