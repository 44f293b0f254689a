//! Turns the relations of a WHERE clause into restrictions, one relation after another.
//!
//! Each relation goes through the same steps: its columns are looked up, checked, and its value is analyzed. It is checked
//! against the relations before it either before its value is analyzed or after that, see
//! [`WhereRules::merges_restrictions`]. `merging.rs` has this check.

use std::collections::BTreeSet;

use super::element_condition::ElementCondition;
use super::messages::NOT_ON_TOKEN;
use super::operands::{Operand, Operands};
use super::restrictions::{Restriction, RestrictionKind, Restrictions, Slice, SliceEnd, Target};
use crate::error::invalid;
use crate::relation_text::relation_text;
use crate::values::{Markers, TypeScope, TypedTerm};
use crate::{ColumnSpec, CqlError, QueryState, Result};
use base::compat::features::restrictions::INDEXES_ON_ENTRIES;
use base::compat::rules::WhereRules;
use base::compat::texts;
use base::marshal::CqlType;
use base::schema::{ColumnKind, TableColumn};
use base::util::Release;
use cql_syntax::{InValues, Operator, Relation, Select, Selection, Term, operator_text};

/// The state of the analysis of a WHERE clause.
pub(super) struct Analysis<'a> {
    pub state: &'a QueryState<'a>,
    pub target: &'a Target,
    /// The statement, if it is a SELECT.
    pub select: Option<&'a Select>,
    pub scope: TypeScope<'a>,
    pub found: Restrictions,
    /// Whether an index supports some relation; `has_clustering_index`: an index on a clustering column does.
    pub has_index: bool,
    pub has_clustering_index: bool,
    /// Names of the columns whose last relation is supported by an index.
    pub by_index: BTreeSet<String>,
}

impl<'a> Analysis<'a> {
    pub(super) fn new(
        state: &'a QueryState<'a>,
        target: &'a Target,
        select: Option<&'a Select>,
        scope: TypeScope<'a>,
    ) -> Analysis<'a> {
        Analysis {
            state,
            target,
            select,
            scope,
            found: Restrictions::new(&target.def, WhereRules::of(state.line())),
            has_index: false,
            has_clustering_index: false,
            by_index: BTreeSet::new(),
        }
    }

    pub(super) fn release(&self) -> Release {
        self.state.behaviour.release
    }

    pub(super) fn rules(&self) -> WhereRules {
        self.found.rules
    }

    /// Adds a relation.
    pub(super) fn take(&mut self, relation: &Relation, markers: &mut Markers) -> Result<()> {
        self.check_operator(relation)?;
        match relation {
            Relation::Column { column, element, operator, value } => {
                let columns = [self.entity(column, relation, Some(*operator))?];
                let asked = match (element, operator) {
                    (Some(key), _) => self.map_entry(&columns[0], key, *operator, value, markers)?,
                    (None, Operator::Contains | Operator::ContainsKey) => {
                        self.contains(&columns, relation, *operator, value, markers)?
                    }
                    (None, _) => self.comparison(&columns, relation, *operator, value, markers)?,
                };
                self.merge(&columns, relation, asked)
            }
            Relation::In { column, values } => {
                let columns = [self.entity(column, relation, self.operator_of_in(values))?];
                let asked = self.one_of(&columns, relation, values, markers)?;
                self.merge(&columns, relation, asked)
            }
            Relation::Columns { columns, operator, value } => {
                let columns = self.entities(columns, relation, Some(*operator))?;
                let asked = self.tuple_comparison(&columns, relation, *operator, value, markers)?;
                self.merge(&columns, relation, asked)
            }
            Relation::ColumnsIn { columns, values } => {
                let columns = self.entities(columns, relation, self.operator_of_in(values))?;
                self.check_tuple(&columns, relation)?;
                let operands = Operands::of_columns(values, &self.specs(&columns), &self.scope, markers)?;
                let is_equality = self.rules().in_of_one_uses_index && operands.is_single();
                self.merge(&columns, relation, RestrictionKind::of_in(operands, is_equality))
            }
            Relation::Token { columns, operator, value } => {
                self.token(columns, relation, *operator, value, markers)
            }
        }
    }

    /// Refuses relations by their operator alone.
    fn check_operator(&self, relation: &Relation) -> Result<()> {
        match relation {
            Relation::Column { element: Some(_), .. } if !self.state.has(INDEXES_ON_ENTRIES) => {
                invalid(format!("Unsupported relation: {}", self.text(relation)))
            }
            Relation::Column { operator: Operator::Neq, .. }
            | Relation::Columns { operator: Operator::Neq, .. }
                if self.rules().refuses_unequal_first =>
            {
                invalid(texts::unequal(self.state.line(), "", &self.text(relation)))
            }
            _ => Ok(()),
        }
    }

    /// Returns the column of a relation. `operator` is `None` for an IN that no index supports.
    pub(super) fn entity(
        &mut self,
        name: &str,
        relation: &Relation,
        operator: Option<Operator>,
    ) -> Result<TableColumn> {
        let Some(column) = self.target.def.column(name) else {
            let text = self.text(relation);
            if self.rules().knows_aliases && self.is_alias(name) {
                return invalid(format!("Aliases aren't allowed in the where clause ('{text}')"));
            }
            return invalid(texts::unknown_in_where(self.state.line(), name, &text));
        };
        let index = self.target.index(column);
        if index.zip(operator).is_some_and(|(index, operator)| index.supports(operator)) {
            self.has_index = true;
            self.has_clustering_index |= column.kind == ColumnKind::Clustering;
            self.by_index.insert(column.name.clone());
        } else {
            self.by_index.remove(&column.name);
        }
        Ok(column.clone())
    }

    pub(super) fn entities(
        &mut self,
        names: &[String],
        relation: &Relation,
        operator: Option<Operator>,
    ) -> Result<Vec<TableColumn>> {
        names.iter().map(|name| self.entity(name, relation, operator)).collect()
    }

    /// Returns the operator for which an index on the column of an IN must exist.
    fn operator_of_in(&self, values: &InValues) -> Option<Operator> {
        (self.rules().in_of_one_uses_index && has_one(values)).then_some(Operator::Eq)
    }

    pub(super) fn is_alias(&self, name: &str) -> bool {
        match self.select.map(|select| &select.selection) {
            Some(Selection::Some(selected)) => selected.iter().any(|one| one.alias.as_deref() == Some(name)),
            Some(Selection::All | Selection::Count { .. }) | None => false,
        }
    }

    /// Returns a relation as messages print it.
    pub(super) fn text(&self, relation: &Relation) -> String {
        relation_text(relation, self.release())
    }

    fn specs(&self, columns: &[TableColumn]) -> Vec<ColumnSpec> {
        columns.iter().map(|column| self.target.spec(column)).collect()
    }

    /// Analyzes a relation with `=`, `<`, `<=`, `>` or `>=` on one column.
    fn comparison(
        &self,
        columns: &[TableColumn; 1],
        relation: &Relation,
        operator: Operator,
        value: &Term,
        markers: &mut Markers,
    ) -> Result<RestrictionKind> {
        let [column] = columns;
        self.check_has_predicates(column)?;
        self.check_is_one_value(column, operator_text(operator, self.release()))?;
        if operator == Operator::Neq {
            return invalid(texts::unequal(self.state.line(), &column.name, &self.text(relation)));
        }
        if operator != Operator::Eq {
            self.check_may_be_sliced(column)?;
        }
        self.check_fits_first(columns, relation)?;
        let operand = Operand::One(TypedTerm::new(value, &self.target.spec(column), &self.scope, markers)?);
        Ok(compared(operator, operand))
    }

    /// Analyzes a condition on the value of a map's key.
    fn map_entry(
        &self,
        column: &TableColumn,
        key: &Term,
        operator: Operator,
        value: &Term,
        markers: &mut Markers,
    ) -> Result<RestrictionKind> {
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
        let spec = self.target.spec_of(&format!("key({name})"), (**of_keys).clone());
        let key = TypedTerm::new(key, &spec, &self.scope, markers)?;
        let spec = self.target.spec_of(&format!("value({name})"), (**of_values).clone());
        let value = TypedTerm::new(value, &spec, &self.scope, markers)?;
        let value_type = (**of_values).clone();
        Ok(RestrictionKind::Contains(vec![ElementCondition::Entry { key, value, value_type }]))
    }

    /// Analyzes CONTAINS and CONTAINS KEY.
    fn contains(
        &self,
        columns: &[TableColumn; 1],
        relation: &Relation,
        operator: Operator,
        value: &Term,
        markers: &mut Markers,
    ) -> Result<RestrictionKind> {
        let [column] = columns;
        self.check_has_predicates(column)?;
        let name = &column.name;
        let is_key = operator == Operator::ContainsKey;
        let element = match (&column.cql_type, is_key) {
            (CqlType::Map { key, .. }, true) => key,
            (_, true) => return invalid(format!("Cannot use CONTAINS KEY on non-map column {name}")),
            (CqlType::List { element, .. } | CqlType::Set { element, .. }, _) => element,
            (CqlType::Map { value, .. }, _) => value,
            _ => return invalid(texts::contains_on_single_value(self.state.line(), name)),
        };
        self.check_fits_first(columns, relation)?;
        let part = if is_key { "key" } else { "value" };
        let spec = self.target.spec_of(&format!("{part}({name})"), (**element).clone());
        let term = TypedTerm::new(value, &spec, &self.scope, markers)?;
        let condition = if is_key { ElementCondition::Key(term) } else { ElementCondition::Value(term) };
        Ok(RestrictionKind::Contains(vec![condition]))
    }

    /// Analyzes an IN on one column.
    fn one_of(
        &self,
        columns: &[TableColumn; 1],
        relation: &Relation,
        values: &InValues,
        markers: &mut Markers,
    ) -> Result<RestrictionKind> {
        let ([column], rules) = (columns, self.rules());
        let is_of_key = matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Clustering);
        let has_values_outside_of_key = !is_of_key && !has_one(values);
        let in_outside_of_key =
            || format!("IN predicates on non-primary-key columns ({}) is not yet supported", column.name);
        if has_values_outside_of_key && rules.refuses_in_of_values_first {
            return invalid(in_outside_of_key());
        }
        self.check_has_predicates(column)?;
        self.check_is_one_value(column, "IN")?;
        self.check_fits_first(columns, relation)?;
        let operands = Operands::of_column(values, &self.target.spec(column), &self.scope, markers)?;
        if has_values_outside_of_key {
            return invalid(in_outside_of_key());
        }
        let is_equality = rules.in_of_one_is_equality
            || rules.in_of_one_uses_index
            || !is_of_key && rules.in_of_one_value_is_equality;
        let is_equality = is_equality && operands.is_single();
        Ok(RestrictionKind::of_in(operands, is_equality))
    }

    /// Analyzes a relation on several columns with `=`, `<`, `<=`, `>` or `>=`.
    fn tuple_comparison(
        &self,
        columns: &[TableColumn],
        relation: &Relation,
        operator: Operator,
        value: &Term,
        markers: &mut Markers,
    ) -> Result<RestrictionKind> {
        self.check_tuple(columns, relation)?;
        let is_refused = matches!(operator, Operator::Neq | Operator::Contains | Operator::ContainsKey);
        let refusal = || {
            let sign = operator_text(operator, self.release());
            CqlError::invalid(texts::not_multi_column(self.state.line(), sign, &self.text(relation)))
        };
        if is_refused && !self.rules().merges_restrictions {
            return Err(refusal());
        }
        let operand = Operand::tuple(value, &self.specs(columns), &self.scope, markers)?;
        if is_refused { Err(refusal()) } else { Ok(compared(operator, operand)) }
    }

    /// Checks the columns of a tuple: they must be consecutive clustering columns.
    fn check_tuple(&self, columns: &[TableColumn], relation: &Relation) -> Result<()> {
        for (at, column) in columns.iter().enumerate() {
            let name = &column.name;
            if column.kind != ColumnKind::Clustering {
                return invalid(texts::not_clustering(self.state.line(), name));
            }
            if columns[..at].iter().any(|before| before.name == *name) {
                return invalid(format!(
                    "Column \"{name}\" appeared twice in a relation: {}",
                    self.text(relation)
                ));
            }
            if at > 0 && column.position != columns[at - 1].position + 1 {
                return invalid(format!(
                    "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: {}",
                    self.text(relation)
                ));
            }
            self.check_fits_first(&columns[at..=at], relation)?;
        }
        Ok(())
    }

    /// Checks that a column may be in WHERE.
    fn check_has_predicates(&self, column: &TableColumn) -> Result<()> {
        if column.kind != ColumnKind::CompactValue || !self.rules().refuses_compact_values {
            return Ok(());
        }
        invalid(format!(
            "Predicates on the non-primary-key column ({}) of a COMPACT table are not yet supported",
            column.name
        ))
    }

    /// Checks that a column is stored in one cell.
    fn check_is_one_value(&self, column: &TableColumn, operator: &str) -> Result<()> {
        if !column.cql_type.is_multi_cell() {
            return Ok(());
        }
        let (name, of) = (&column.name, self.scope.text(&column.cql_type));
        // Up to 2.1 messages do not tell types of later releases apart, such as user types with a cell for each field.
        if self.rules().merges_restrictions && column.cql_type.multi_cell_user_type().is_some() {
            return invalid(format!(
                "Non-frozen UDT column '{name}' ({of}) cannot be restricted by any relation"
            ));
        }
        invalid(format!("Collection column '{name}' ({of}) cannot be restricted by a '{operator}' relation"))
    }

    /// Checks that a column may have inequalities.
    fn check_may_be_sliced(&self, column: &TableColumn) -> Result<()> {
        if column.kind == ColumnKind::PartitionKey && self.rules().refuses_key_slices_first {
            return invalid(NOT_ON_TOKEN);
        }
        if !self.rules().merges_restrictions || !column.cql_type.has_durations() {
            return Ok(());
        }
        invalid(match &column.cql_type {
            CqlType::Native(_) => "Slice restrictions are not supported on duration columns",
            CqlType::Tuple(_) => "Slice restrictions are not supported on tuples containing durations",
            CqlType::User { .. } => "Slice restrictions are not supported on UDTs containing durations",
            _ => "Slice restrictions are not supported on collections containing durations",
        })
    }

    /// Adds an analyzed relation to the restrictions of its columns.
    fn merge(&mut self, columns: &[TableColumn], relation: &Relation, asked: RestrictionKind) -> Result<()> {
        let Some(column) = columns.first() else { return Ok(()) };
        let is_tuple = matches!(relation, Relation::Columns { .. } | Relation::ColumnsIn { .. });
        let (first, width) = (column.position, columns.len());
        let new = Restriction { first, width, is_tuple, is_on_token: false, asked };
        if self.rules().merges_restrictions {
            self.check_fits(columns, relation)?;
        }
        if column.kind == ColumnKind::Clustering {
            self.check_after_slice(&new)?;
        }
        self.found.put(column, new);
        Ok(())
    }
}

fn has_one(values: &InValues) -> bool {
    matches!(values, InValues::List(terms) if terms.len() == 1)
}

/// Returns the restriction of a comparison: an equality, or a slice with one end.
pub(super) fn compared(operator: Operator, operand: Operand) -> RestrictionKind {
    let is_inclusive = matches!(operator, Operator::Gte | Operator::Lte);
    match operator {
        Operator::Gt | Operator::Gte => {
            RestrictionKind::Slice(Slice { lower: Some(SliceEnd { operand, is_inclusive }), upper: None })
        }
        Operator::Lt | Operator::Lte => {
            RestrictionKind::Slice(Slice { lower: None, upper: Some(SliceEnd { operand, is_inclusive }) })
        }
        _ => RestrictionKind::Eq(operand),
    }
}
