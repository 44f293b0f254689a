//! Checks a whole SELECT: its restrictions must fit the key, an index, ORDER BY and DISTINCT.

use super::analysis::Analysis;
use super::messages::{NEEDS_FILTERING, NOT_ON_TOKEN, TOKEN_OF_SOME, relation_text};
use super::restrictions::{RestrictionKind, Restrictions};
use super::selection::Projection;
use crate::CqlError;
use crate::column_text::column_text;
use base::compat::features::restrictions::{FILTERING_BY_VALUES, IN_ON_ANY_KEY_COLUMN};
use base::compat::rules::{KEY_INDEX_NEEDS_OPEN_KEY, STRICT_BOUNDS_ARE_REFUSED};
use base::compat::texts;
use base::schema::{ColumnKind, Layout, TableColumn};
use cql_syntax::{Operator, Relation, Selection, Selector};

fn invalid<T>(why: impl Into<String>) -> Result<T, CqlError> {
    Err(CqlError::invalid(why))
}

impl Analysis<'_> {
    /// Runs the checks that need all relations, in the order of Cassandra 2.1.
    pub fn finish(mut self, projection: &Projection) -> Result<Restrictions, CqlError> {
        if self.state.has(IN_ON_ANY_KEY_COLUMN) {
            return self.finish_as_later(projection);
        }
        self.partition_key()?;
        if !self.found.uses_index {
            self.restricted.retain(|column| column.kind != ColumnKind::PartitionKey);
        }
        let is_static_only = projection.is_static_only(&self.target.def);
        if is_static_only && self.found.restricts_clustering() {
            return invalid("Cannot restrict clustering columns when selecting only static columns");
        }
        self.clustering(projection)?;
        if self.found.is_key_range && self.has_clustering_index {
            self.found.uses_index = true;
        }
        let left_to_slices = self.leave_to_slices();
        if !self.restricted.is_empty() {
            if !self.has_index && self.rules().conditions_need_index_first {
                return invalid("No indexed columns present in by-columns clause with Equal operator");
            }
            self.found.uses_index = true;
        }
        if !self.found.is_key_range && KEY_INDEX_NEEDS_OPEN_KEY.has_line(self.state.line()) {
            let keys = self.target.def.partition_key.iter().map(|column| column.name.clone());
            self.found.without_index = keys.chain(left_to_slices).collect();
        }
        if self.found.uses_index {
            if self.found.is_key_in {
                return invalid(
                    "Select on indexed columns and with IN clause for the PRIMARY KEY are not supported",
                );
            }
            if is_static_only {
                return invalid("Queries using 2ndary indexes don't support selecting only static columns");
            }
        }
        if !self.select.order_by.is_empty() {
            self.order()?;
        }
        self.filtering()?;
        self.strict_bounds()?;
        if self.select.is_distinct {
            self.distinct(projection)?;
        }
        Ok(self.found)
    }

    fn partition_key(&mut self) -> Result<(), CqlError> {
        if self.found.token.is_some() {
            self.found.is_key_range = true;
            if self.found.keys.iter().any(Option::is_some) {
                return invalid(TOKEN_OF_SOME);
            }
            return Ok(());
        }
        let count = self.found.keys.len();
        let mut previous: Option<&TableColumn> = None;
        let (mut is_open, mut is_on_token) = (false, false);
        for (at, column) in self.target.def.partition_key.iter().enumerate() {
            let name = &column.name;
            let restriction = self.found.keys.get(at).and_then(Option::as_ref);
            match restriction {
                None if is_on_token => return invalid(TOKEN_OF_SOME),
                None => {
                    let follows = at > 0 && self.found.keys.get(at - 1).is_some_and(Option::is_some);
                    self.found.is_key_range = true;
                    if follows && self.has_index {
                        self.found.uses_index = true;
                        break;
                    }
                    if follows {
                        return invalid(format!(
                            "Partition key part {name} must be restricted since preceding part is"
                        ));
                    }
                    is_open = true;
                }
                Some(_) if is_open => {
                    if self.has_index {
                        self.found.uses_index = true;
                        break;
                    }
                    let before = previous.map_or_else(String::new, |column| self.key_text(column));
                    return invalid(format!(
                        "Partitioning column \"{name}\" cannot be restricted because the preceding column \
                         (\"{before}\") is either not restricted or is restricted by a non-EQ relation"
                    ));
                }
                Some(restriction) if restriction.is_on_token => {
                    self.found.is_key_range = true;
                    is_on_token = true;
                }
                Some(_) if is_on_token => return invalid(TOKEN_OF_SOME),
                Some(restriction) if restriction.is_slice() => return invalid(NOT_ON_TOKEN),
                Some(restriction) if restriction.is_in() => {
                    if at + 1 != count {
                        return invalid(format!(
                            "Partition KEY part {name} cannot be restricted by IN relation (only the last part of the \
                             partition key can)"
                        ));
                    }
                    self.found.is_key_in = true;
                }
                Some(_) => {}
            }
            previous = Some(column);
        }
        if is_on_token { self.token_of_key() } else { Ok(()) }
    }

    /// Returns a key column as error messages print it: 2.1 prints the whole column definition, other releases the
    /// name.
    fn key_text(&self, column: &TableColumn) -> String {
        if !self.state.is_in_words_of_2_1() {
            return column.name.clone();
        }
        column_text(&self.target.cf, &self.target.def, column)
    }

    /// Merges the restrictions by token(a, b) on the key's columns into one. The token's arguments must be in the order
    /// of the key.
    fn token_of_key(&mut self) -> Result<(), CqlError> {
        let key = &self.target.def.partition_key;
        let written = self.select.relations.iter().filter_map(|relation| match relation {
            Relation::Token { columns, .. } => Some(columns),
            _ => None,
        });
        if written.flatten().zip(key.iter().cycle()).any(|(name, column)| *name != column.name) {
            let columns: Vec<String> = key.iter().map(|column| self.key_text(column)).collect();
            return invalid(format!(
                "The token function arguments must be in the partition key order: {}",
                columns.join(",")
            ));
        }
        let mut of_token =
            self.found.keys.iter_mut().filter(|of| of.as_ref().is_some_and(|of| of.is_on_token));
        self.found.token = of_token.next().and_then(Option::take);
        of_token.for_each(|of| *of = None);
        Ok(())
    }

    fn clustering(&mut self, projection: &Projection) -> Result<(), CqlError> {
        let columns = &self.target.def.clustering;
        let mut is_open = false;
        let mut previous: Option<(&TableColumn, Option<usize>)> = None;
        for (at, column) in columns.iter().enumerate() {
            let name = &column.name;
            let place = self.found.clustering.get(at).copied().flatten();
            let Some(restriction) = self.found.of_clustering_at(at) else {
                is_open = true;
                previous = Some((column, None));
                continue;
            };
            if is_open {
                if previous.is_some_and(|(_, before)| before == place) {
                    previous = Some((column, place));
                    continue;
                }
                if self.has_index {
                    self.found.uses_index = true;
                    return Ok(());
                }
                return Err(self.gap(name, previous));
            }
            match &restriction.asked {
                RestrictionKind::Slice(_) => is_open = true,
                RestrictionKind::In(_) => {
                    if !restriction.is_tuple && at + 1 != columns.len() {
                        return invalid(texts::in_before_last_clustering(self.release(), name));
                    }
                    if projection.has_collection(&self.target.def) {
                        return invalid(texts::in_with_collection(self.release(), name));
                    }
                    is_open = restriction.is_tuple;
                }
                RestrictionKind::Contains(_) => {
                    if !self.has_index {
                        return invalid(format!(
                            "Cannot restrict column \"{name}\" by a CONTAINS relation without a secondary index"
                        ));
                    }
                    self.found.uses_index = true;
                }
                RestrictionKind::Eq(_) => {}
            }
            previous = Some((column, place));
        }
        Ok(())
    }

    /// Removes the clustering columns whose restrictions are covered by the slices, and returns their names. The other
    /// restrictions are checked row by row.
    fn leave_to_slices(&mut self) -> Vec<String> {
        let (mut slice, mut left) = (None, Vec::new());
        for (at, column) in self.target.def.clustering.iter().enumerate() {
            let place = self.found.clustering.get(at).copied().flatten();
            let Some(restriction) = self.found.of_clustering_at(at) else { return left };
            if slice.is_some_and(|slice| Some(slice) != place) {
                return left;
            }
            let is_by_index = self.found.uses_index && self.by_index.contains(&column.name);
            if is_by_index || matches!(restriction.asked, RestrictionKind::Contains(_)) {
                continue;
            }
            slice = place.filter(|_| restriction.is_slice());
            self.restricted.retain(|restricted| restricted.name != column.name);
            left.push(column.name.clone());
        }
        left
    }

    /// Returns the error for a clustering column that may not be restricted because of the column before it.
    fn gap(&self, name: &str, previous: Option<(&TableColumn, Option<usize>)>) -> CqlError {
        let Some((before, place)) = previous else { return CqlError::invalid("") };
        let before = &before.name;
        let restriction = place.and_then(|place| self.found.of_clustering.get(place));
        let why = match restriction {
            None => "is not restricted",
            Some(restriction) if restriction.is_tuple && restriction.is_in() => {
                "is restricted by an IN tuple notation"
            }
            Some(_) => "is restricted by a non-EQ relation",
        };
        CqlError::invalid(texts::clustering_gap(self.release(), name, before, why))
    }

    /// Checks ORDER BY, and finds out whether the rows are read in reverse.
    pub fn order(&mut self) -> Result<(), CqlError> {
        if self.found.uses_index {
            return invalid("ORDER BY with 2ndary indexes is not supported.");
        }
        if self.found.is_key_range {
            return invalid(
                "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.",
            );
        }
        self.order_is_selected()?;
        let mut directions = Vec::new();
        for (at, (name, is_descending)) in self.select.order_by.iter().enumerate() {
            let Some(column) = self.target.def.column(name) else {
                return invalid(match self.is_alias(name) {
                    true => format!("Aliases are not allowed in order by clause ('{name}')"),
                    false => format!("Order by on unknown column {name}"),
                });
            };
            if column.kind != ColumnKind::Clustering {
                return invalid(format!(
                    "Order by is currently only supported on the clustered columns of the PRIMARY KEY, got {name}"
                ));
            }
            if column.position != at {
                return invalid(
                    "Order by currently only support the ordering of columns following their declared order in the \
                     PRIMARY KEY",
                );
            }
            directions.push(*is_descending != column.is_reversed);
        }
        self.found.is_reversed = directions.first().copied().unwrap_or(false);
        if directions.iter().any(|direction| *direction != self.found.is_reversed) {
            return invalid("Unsupported order by relation");
        }
        Ok(())
    }

    /// Checks that the columns of ORDER BY are selected. Before 2.1 the rows of several partitions were sorted by the
    /// values in the result, so only selected columns could be sorted by; CASSANDRA-4911 changed that.
    fn order_is_selected(&self) -> Result<(), CqlError> {
        let Selection::Some(selected) = &self.select.selection else { return Ok(()) };
        if !self.found.is_key_in || !self.rules().order_needs_selected_columns {
            return Ok(());
        }
        let is_selected = |name: &String| {
            let mut selectors = selected.iter().map(|one| &one.selector);
            selectors.any(|selector| matches!(selector, Selector::Column(column) if column == name))
        };
        // Unknown names are left to the next check.
        let mut columns = self.select.order_by.iter().map(|(name, _)| name);
        if columns.any(|name| self.target.def.column(name).is_some() && !is_selected(name)) {
            return invalid("ORDER BY could not be used on columns missing in select clause.");
        }
        Ok(())
    }

    /// Checks the bounds of a range scan with a LIMIT. A slice of a dense table is read with both its ends, and the row
    /// limit of a scan does not allow for those extra rows.
    pub fn strict_bounds(&self) -> Result<(), CqlError> {
        let is_old = STRICT_BOUNDS_ARE_REFUSED.has_line(self.state.line());
        let is_dense = self.target.def.layout == Layout::Dense;
        if !(is_old && is_dense && self.found.is_key_range && self.select.limit.is_some()) {
            return Ok(());
        }
        for relation in &self.select.relations {
            let Relation::Column { column, element: None, operator, value } = relation else { continue };
            let operator = match operator {
                Operator::Gt => Operator::Gte,
                Operator::Lt => Operator::Lte,
                _ => continue,
            };
            if self.target.def.column(column).is_none_or(|column| column.kind != ColumnKind::Clustering) {
                continue;
            }
            let (column, value) = (column.clone(), value.clone());
            let loose = Relation::Column { column, element: None, operator, value };
            return invalid(format!(
                "The query requests a restriction of rows with a strict bound ({}) over a range of partitions. This is \
                 not supported by the underlying storage engine for COMPACT tables if a LIMIT is provided. Please either \
                 make the condition non strict ({}) or remove the user LIMIT",
                relation_text(relation, self.release()),
                relation_text(&loose, self.release())
            ));
        }
        Ok(())
    }

    /// Checks whether the query would read more rows than it returns, which needs ALLOW FILTERING.
    fn filtering(&self) -> Result<(), CqlError> {
        if self.select.allow_filtering || !(self.found.is_key_range || self.found.uses_index) {
            return Ok(());
        }
        let several = |asked: &RestrictionKind| matches!(asked, RestrictionKind::Contains(elements) if elements.len() > 1);
        let is_multiple = match &self.restricted[..] {
            // No index is used to find the rows.
            [] => self.found.restricts_clustering(),
            [one] => self.found.of_other(&one.name).is_some_and(|restriction| several(&restriction.asked)),
            _ => true,
        };
        if is_multiple { invalid(NEEDS_FILTERING) } else { Ok(()) }
    }

    pub fn distinct(&self, projection: &Projection) -> Result<(), CqlError> {
        let mut requested = projection.columns(&self.target.def);
        if self.found.is_key_in {
            // The columns of ORDER BY are read too, to sort the rows of several partitions.
            requested
                .extend(self.select.order_by.iter().filter_map(|(name, _)| self.target.def.column(name)));
        }
        // From 3.0 on, the columns of a compact table without clustering columns are static.
        let are_all_static =
            self.target.def.layout == Layout::StaticCompact && self.state.has(FILTERING_BY_VALUES);
        let is_wrong = |column: &&&TableColumn| {
            !are_all_static && !matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Static)
        };
        if let Some(wrong) = requested.iter().find(is_wrong) {
            return invalid(format!(
                "SELECT DISTINCT queries must only request partition key columns and/or static columns (not {})",
                wrong.name
            ));
        }
        if !self.found.is_key_range {
            return Ok(());
        }
        for column in &self.target.def.partition_key {
            if !requested.iter().any(|requested| requested.name == column.name) {
                return invalid(format!(
                    "SELECT DISTINCT queries must request all the partition key columns (missing {})",
                    column.name
                ));
            }
        }
        Ok(())
    }
}
