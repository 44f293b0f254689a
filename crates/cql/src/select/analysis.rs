//! Turns relations into restrictions: checks each relation by itself and against the relations before it.

use std::collections::BTreeSet;

use super::element_condition::ElementCondition;
use super::messages::{NOT_ON_TOKEN, relation_text};
use super::operands::{Operand, Operands};
use super::restrictions::{Restriction, RestrictionKind, Restrictions, Slice, SliceEnd, Target};
use crate::values::{Markers, TypeScope, TypedTerm};
use crate::{ColumnSpec, CqlError, QueryState};
use base::compat::features::restrictions::{CHANGES_OF_SEVERAL_ROWS, IN_ON_ANY_KEY_COLUMN};
use base::compat::rules::CqlRules;
use base::compat::texts;
use base::marshal::CqlType;
use base::schema::{ColumnKind, TableColumn};
use base::util::Release;
use cql_syntax::{InValues, Operator, Relation, Select, Selection, Term, operator_text};

/// The state of the analysis of a WHERE clause.
pub(super) struct Analysis<'a> {
    pub state: &'a QueryState<'a>,
    pub target: &'a Target,
    pub select: &'a Select,
    pub scope: TypeScope<'a>,
    pub found: Restrictions,
    /// Whether an index supports some relation; `has_clustering_index`: an index on a clustering column does.
    pub has_index: bool,
    pub has_clustering_index: bool,
    /// Columns in the order of their first restriction.
    pub restricted: Vec<TableColumn>,
    /// Names of the columns whose last relation is supported by an index.
    pub by_index: BTreeSet<String>,
}

fn invalid<T>(why: impl Into<String>) -> Result<T, CqlError> {
    Err(CqlError::invalid(why))
}

impl<'a> Analysis<'a> {
    pub fn new(
        state: &'a QueryState<'a>,
        target: &'a Target,
        select: &'a Select,
        scope: TypeScope<'a>,
    ) -> Analysis<'a> {
        let found = Restrictions {
            keys: target.def.partition_key.iter().map(|_| None).collect(),
            clustering: vec![None; target.def.clustering.len()],
            ..Restrictions::default()
        };
        Analysis {
            state,
            target,
            select,
            scope,
            found,
            has_index: false,
            has_clustering_index: false,
            restricted: Vec::new(),
            by_index: BTreeSet::new(),
        }
    }

    pub fn release(&self) -> Release {
        self.state.behaviour.release
    }

    /// Returns the CQL rules of the release.
    pub fn rules(&self) -> &'static CqlRules {
        &self.state.behaviour.cql
    }

    pub fn take(&mut self, relation: &Relation, markers: &mut Markers) -> Result<(), CqlError> {
        if self.state.has(IN_ON_ANY_KEY_COLUMN) {
            return self.merge(relation, markers);
        }
        match relation {
            Relation::Column { element: Some(_), .. } => {
                invalid(format!("Unsupported relation: {}", relation_text(relation, self.release())))
            }
            Relation::Column { column, element: None, operator, value } => {
                let column = self.entity(column, relation, Some(*operator))?;
                self.column(&column, relation, *operator, value, markers)
            }
            Relation::In { column, values } => {
                let column = self.entity(column, relation, None)?;
                self.column_in(&column, values, markers)
            }
            Relation::Columns { columns, operator, value } => {
                let columns = self.entities(columns, relation, Some(*operator))?;
                self.columns(&columns, relation, *operator, value, markers)
            }
            Relation::ColumnsIn { columns, values } => {
                let columns = self.entities(columns, relation, None)?;
                self.check_tuple(&columns, relation, Operator::Eq)?;
                let specs: Vec<ColumnSpec> = columns.iter().map(|column| self.target.spec(column)).collect();
                let operands = Operands::of_columns(values, &specs, &self.scope, markers)?;
                self.set_tuple(&columns, RestrictionKind::In(operands));
                Ok(())
            }
            Relation::Token { columns, operator, value } if self.state.is_in_words_of_2_1() => {
                columns.iter().try_for_each(|name| self.key_by_token(name, *operator, value, markers))
            }
            Relation::Token { columns, operator, value } => {
                self.token(columns, relation, *operator, value, markers)
            }
        }
    }

    /// Returns the column of a relation. `operator` is `None` for IN, which no index supports.
    pub fn entity(
        &mut self,
        name: &str,
        relation: &Relation,
        operator: Option<Operator>,
    ) -> Result<TableColumn, CqlError> {
        let Some(column) = self.target.def.column(name) else {
            let text = relation_text(relation, self.release());
            let is_alias = self.is_alias(name) && !self.state.has(CHANGES_OF_SEVERAL_ROWS);
            return invalid(match is_alias {
                true => format!("Aliases aren't allowed in the where clause ('{text}')"),
                false => texts::unknown_in_where(self.state.line(), name, &text),
            });
        };
        let index = self.target.index(column);
        if index.zip(operator).is_some_and(|(index, operator)| index.supports(operator)) {
            self.has_index = true;
            self.has_clustering_index |= column.kind == ColumnKind::Clustering;
            self.by_index.insert(column.name.clone());
        } else {
            self.by_index.remove(&column.name);
        }
        if !self.restricted.iter().any(|known| known.name == column.name) {
            self.restricted.push(column.clone());
        }
        Ok(column.clone())
    }

    pub fn entities(
        &mut self,
        names: &[String],
        relation: &Relation,
        operator: Option<Operator>,
    ) -> Result<Vec<TableColumn>, CqlError> {
        names.iter().map(|name| self.entity(name, relation, operator)).collect()
    }

    pub fn is_alias(&self, name: &str) -> bool {
        match &self.select.selection {
            Selection::Some(selected) => selected.iter().any(|one| one.alias.as_deref() == Some(name)),
            Selection::All | Selection::Count { .. } => false,
        }
    }

    pub fn existing(&self, column: &TableColumn) -> Option<&Restriction> {
        match column.kind {
            ColumnKind::PartitionKey => self.found.keys.get(column.position)?.as_ref(),
            ColumnKind::Clustering => self.found.of_clustering_at(column.position),
            _ => self.found.of_other(&column.name),
        }
    }

    fn existing_mut(&mut self, column: &TableColumn) -> Option<&mut Restriction> {
        match column.kind {
            ColumnKind::PartitionKey => self.found.keys.get_mut(column.position)?.as_mut(),
            ColumnKind::Clustering => {
                let at = (*self.found.clustering.get(column.position)?)?;
                self.found.of_clustering.get_mut(at)
            }
            _ => {
                let mut others = self.found.others.iter_mut();
                others.find(|(name, _)| *name == column.name).map(|(_, restriction)| restriction)
            }
        }
    }

    /// Stores the first restriction of a column.
    fn set(&mut self, column: &TableColumn, asked: RestrictionKind) -> Result<(), CqlError> {
        let first = column.position;
        let restriction = Restriction { first, width: 1, is_tuple: false, is_on_token: false, asked };
        match column.kind {
            ColumnKind::PartitionKey => {
                if let Some(place) = self.found.keys.get_mut(first) {
                    *place = Some(restriction);
                }
            }
            ColumnKind::Clustering => self.set_clustering(restriction),
            ColumnKind::CompactValue => return check_has_predicates(column),
            ColumnKind::Static | ColumnKind::Regular => {
                self.found.others.push((column.name.clone(), restriction));
            }
        }
        Ok(())
    }

    pub fn set_clustering(&mut self, restriction: Restriction) {
        let at = self.found.of_clustering.len();
        for place in self.found.clustering.iter_mut().skip(restriction.first).take(restriction.width) {
            *place = Some(at);
        }
        self.found.of_clustering.push(restriction);
    }

    fn set_tuple(&mut self, columns: &[TableColumn], asked: RestrictionKind) {
        let first = columns.first().map_or(0, |column| column.position);
        self.set_clustering(Restriction {
            first,
            width: columns.len(),
            is_tuple: true,
            is_on_token: false,
            asked,
        });
    }

    /// Adds a relation on one column.
    fn column(
        &mut self,
        column: &TableColumn,
        relation: &Relation,
        operator: Operator,
        value: &Term,
        markers: &mut Markers,
    ) -> Result<(), CqlError> {
        let name = &column.name;
        check_has_predicates(column)?;
        let is_contains = matches!(operator, Operator::Contains | Operator::ContainsKey);
        if column.cql_type.is_multi_cell() && !is_contains {
            return invalid(format!(
                "Collection column '{name}' ({}) cannot be restricted by a '{}' relation",
                self.scope.text(&column.cql_type),
                operator_text(operator, self.release())
            ));
        }
        let spec = self.target.spec(column);
        match operator {
            Operator::Eq => {
                check_beside(self.existing(column), operator, name)?;
                let operand = Operand::One(TypedTerm::new(value, &spec, &self.scope, markers)?);
                self.set(column, RestrictionKind::Eq(operand))
            }
            Operator::Neq if self.state.is_in_words_of_2_1() => {
                invalid(format!("Unsupported \"!=\" relation on column \"{name}\""))
            }
            Operator::Neq => {
                invalid(format!("Unsupported \"!=\" relation: {}", relation_text(relation, self.release())))
            }
            Operator::Contains | Operator::ContainsKey => self.contains(column, operator, value, markers),
            Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte => {
                check_beside(self.existing(column), operator, name)?;
                match self.existing(column) {
                    Some(existing) if existing.is_on_token => return invalid(NOT_ON_TOKEN),
                    Some(existing) => {
                        check_end(existing, operator, name)?;
                        // A multi-column slice may begin at an earlier column.
                        if existing.first != column.position {
                            return invalid(not_alike(name, &relation_text(relation, self.release())));
                        }
                    }
                    None => self.set(column, RestrictionKind::Slice(Slice::default()))?,
                }
                let operand = Operand::One(TypedTerm::new(value, &spec, &self.scope, markers)?);
                let restriction = self.existing_mut(column);
                set_end(restriction, operator, operand, name)
            }
        }
    }

    fn contains(
        &mut self,
        column: &TableColumn,
        operator: Operator,
        value: &Term,
        markers: &mut Markers,
    ) -> Result<(), CqlError> {
        let name = &column.name;
        let is_key = operator == Operator::ContainsKey;
        let element = match (&column.cql_type, is_key) {
            (CqlType::Map { key, .. }, true) => key,
            (_, true) => return invalid(format!("Cannot use CONTAINS KEY on non-map column {name}")),
            (CqlType::List { element, .. } | CqlType::Set { element, .. }, _) => element,
            (CqlType::Map { value, .. }, _) => value,
            _ => return invalid(format!("Cannot use CONTAINS relation on non collection column {name}")),
        };
        match self.existing(column).map(|existing| &existing.asked) {
            Some(RestrictionKind::Contains(_)) => {}
            Some(_) => {
                return invalid(format!(
                    "Collection column {name} can only be restricted by CONTAINS or CONTAINS KEY"
                ));
            }
            None => self.set(column, RestrictionKind::Contains(Vec::new()))?,
        }
        let part = if is_key { "key" } else { "value" };
        let spec = self.target.spec_of(&format!("{part}({name})"), (**element).clone());
        let term = TypedTerm::new(value, &spec, &self.scope, markers)?;
        if let Some(Restriction { asked: RestrictionKind::Contains(elements), .. }) =
            self.existing_mut(column)
        {
            elements.push(if is_key { ElementCondition::Key(term) } else { ElementCondition::Value(term) });
        }
        Ok(())
    }

    fn column_in(
        &mut self,
        column: &TableColumn,
        values: &InValues,
        markers: &mut Markers,
    ) -> Result<(), CqlError> {
        let name = &column.name;
        check_has_predicates(column)?;
        if column.cql_type.is_multi_cell() {
            return invalid(format!(
                "Collection column '{name}' ({}) cannot be restricted by a 'IN' relation",
                self.scope.text(&column.cql_type)
            ));
        }
        if self.existing(column).is_some() {
            return invalid(format!(
                "{name} cannot be restricted by more than one relation if it includes a IN"
            ));
        }
        let operands = Operands::of_column(values, &self.target.spec(column), &self.scope, markers)?;
        let is_other = matches!(column.kind, ColumnKind::Static | ColumnKind::Regular);
        // Cassandra treats an IN of one value as an equality here; 1.2 does so everywhere.
        let is_equality = is_other || self.rules().in_of_one_is_equality && operands.is_single();
        if is_other && !operands.is_single() {
            return invalid(format!(
                "IN predicates on non-primary-key columns ({name}) is not yet supported"
            ));
        }
        match (is_equality, operands) {
            (true, Operands::Each(each)) => match each.into_iter().next() {
                Some(operand) => self.set(column, RestrictionKind::Eq(operand)),
                None => Ok(()),
            },
            (_, operands) => self.set(column, RestrictionKind::In(operands)),
        }
    }

    /// Checks that a column of a tuple is a clustering column, and follows the column before it in the primary key.
    pub(super) fn check_tuple_column(
        &self,
        columns: &[TableColumn],
        at: usize,
        relation: &Relation,
    ) -> Result<(), CqlError> {
        let (column, text) = (&columns[at], || relation_text(relation, self.release()));
        let name = &column.name;
        if column.kind != ColumnKind::Clustering {
            return invalid(texts::not_clustering(self.state.line(), name));
        }
        if columns[..at].iter().any(|before| before.name == *name) {
            return invalid(format!("Column \"{name}\" appeared twice in a relation: {}", text()));
        }
        if at > 0 && column.position != columns[at - 1].position + 1 {
            return invalid(format!(
                "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: {}",
                text()
            ));
        }
        Ok(())
    }

    /// Checks whether these columns may be restricted by one tuple.
    fn check_tuple(
        &self,
        columns: &[TableColumn],
        relation: &Relation,
        operator: Operator,
    ) -> Result<(), CqlError> {
        let is_old = self.state.is_in_words_of_2_1();
        for (at, column) in columns.iter().enumerate() {
            let name = &column.name;
            self.check_tuple_column(columns, at, relation)?;
            match self.existing(column) {
                Some(_) if operator == Operator::Eq => {
                    let operator = match relation {
                        Relation::ColumnsIn { .. } => "IN",
                        _ => "=",
                    };
                    return invalid(format!(
                        "Column \"{name}\" cannot be restricted by more than one relation if it is in an {operator} \
                         relation"
                    ));
                }
                Some(existing) if !existing.is_slice() => {
                    return invalid(format!(
                        "Column \"{name}\" cannot be restricted by an equality relation and an inequality relation"
                    ));
                }
                Some(_) if is_old && !self.starts_alike(columns, at) => {
                    return invalid(not_alike(name, &relation_text(relation, self.release())));
                }
                Some(existing) => check_end(existing, operator, name)?,
                None => {}
            }
        }
        Ok(())
    }

    /// Checks whether the existing slice of one of these columns begins at the first of them, as far as Cassandra 2.1
    /// checks this.
    fn starts_alike(&self, columns: &[TableColumn], at: usize) -> bool {
        let place = |position: usize| self.found.clustering.get(position).copied().flatten();
        let own = place(columns[at].position);
        match at.checked_sub(1) {
            Some(before) => place(columns[before].position) == own,
            None => columns[at].position.checked_sub(1).is_none_or(|before| place(before) != own),
        }
    }

    /// Adds a relation on several clustering columns.
    fn columns(
        &mut self,
        columns: &[TableColumn],
        relation: &Relation,
        operator: Operator,
        value: &Term,
        markers: &mut Markers,
    ) -> Result<(), CqlError> {
        self.check_tuple(columns, relation, operator)?;
        let specs: Vec<ColumnSpec> = columns.iter().map(|column| self.target.spec(column)).collect();
        let Some(first) = columns.first() else { return Ok(()) };
        match operator {
            Operator::Eq => {
                let operand = Operand::tuple(value, &specs, &self.scope, markers)?;
                self.set_tuple(columns, RestrictionKind::Eq(operand));
                Ok(())
            }
            Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte => {
                let operand = Operand::tuple(value, &specs, &self.scope, markers)?;
                match self.found.clustering.get(first.position).copied().flatten() {
                    None => self.set_tuple(columns, RestrictionKind::Slice(Slice::default())),
                    Some(at) => {
                        // The wider of the two relations decides which columns are restricted.
                        for place in self.found.clustering.iter_mut().skip(first.position).take(columns.len())
                        {
                            *place = Some(at);
                        }
                        if let Some(restriction) = self.found.of_clustering.get_mut(at) {
                            restriction.width = restriction.width.max(columns.len());
                            restriction.is_tuple = true;
                        }
                    }
                }
                let restriction = self.existing_mut(first);
                set_end(restriction, operator, operand, &first.name)
            }
            Operator::Neq | Operator::Contains | Operator::ContainsKey => invalid(format!(
                "Unsupported \"{}\" relation: {}",
                operator_text(operator, self.release()),
                relation_text(relation, self.release())
            )),
        }
    }
}

/// Checks whether an equality, or an end of a slice, may be combined with the existing restriction of the column.
pub(super) fn check_beside(
    existing: Option<&Restriction>,
    operator: Operator,
    name: &str,
) -> Result<(), CqlError> {
    match existing {
        Some(_) if operator == Operator::Eq => {
            invalid(format!("{name} cannot be restricted by more than one relation if it includes an Equal"))
        }
        Some(existing) if !existing.is_slice() => invalid(format!(
            "Column \"{name}\" cannot be restricted by both an equality and an inequality relation"
        )),
        _ => Ok(()),
    }
}

fn not_alike(name: &str, relation: &str) -> String {
    format!(
        "Column \"{name}\" cannot be restricted by two inequalities not starting with the same column: {relation}"
    )
}

/// Checks that the slice does not have the end yet that an inequality sets.
fn check_end(existing: &Restriction, operator: Operator, name: &str) -> Result<(), CqlError> {
    let RestrictionKind::Slice(slice) = &existing.asked else { return Ok(()) };
    match operator {
        Operator::Gt | Operator::Gte if slice.lower.is_some() => {
            invalid(format!("More than one restriction was found for the start bound on {name}"))
        }
        Operator::Lt | Operator::Lte if slice.upper.is_some() => {
            invalid(format!("More than one restriction was found for the end bound on {name}"))
        }
        _ => Ok(()),
    }
}

/// Sets one end of a slice.
pub(super) fn set_end(
    restriction: Option<&mut Restriction>,
    operator: Operator,
    operand: Operand,
    name: &str,
) -> Result<(), CqlError> {
    let Some(Restriction { asked: RestrictionKind::Slice(slice), .. }) = restriction else { return Ok(()) };
    let is_lower = matches!(operator, Operator::Gt | Operator::Gte);
    let (end, word) = if is_lower { (&mut slice.lower, "start") } else { (&mut slice.upper, "end") };
    if end.is_some() {
        return invalid(format!("More than one restriction was found for the {word} bound on {name}"));
    }
    *end = Some(SliceEnd { operand, is_inclusive: matches!(operator, Operator::Gte | Operator::Lte) });
    Ok(())
}

/// Checks that a column may be in WHERE, before its value is looked at.
fn check_has_predicates(column: &TableColumn) -> Result<(), CqlError> {
    if column.kind != ColumnKind::CompactValue {
        return Ok(());
    }
    invalid(format!(
        "Predicates on the non-primary-key column ({}) of a COMPACT table are not yet supported",
        column.name
    ))
}
