//! Checks ORDER BY, DISTINCT, and bounds with a LIMIT.

use super::analysis::Analysis;
use super::selection::Projection;
use crate::Result;
use crate::error::invalid;
use base::compat::features::restrictions::FILTERING_BY_VALUES;
use base::compat::texts;
use base::schema::{ColumnKind, Layout};
use cql_syntax::{Operator, Relation, Select, Selection, Selector};

impl Analysis<'_> {
    /// Checks ORDER BY, and finds out whether the rows are read in reverse.
    pub(super) fn check_order(&mut self, select: &Select) -> Result<()> {
        if self.found.uses_index {
            return invalid("ORDER BY with 2ndary indexes is not supported.");
        }
        if self.found.is_key_range {
            return invalid(
                "ORDER BY is only supported when the partition key is restricted by an EQ or an IN.",
            );
        }
        self.order_is_selected(select)?;
        let mut directions = Vec::new();
        for (at, (name, is_descending)) in select.order_by.iter().enumerate() {
            let Some(column) = self.target.def.column(name) else {
                return invalid(match self.is_alias(name) {
                    true => format!("Aliases are not allowed in order by clause ('{name}')"),
                    false => texts::unknown_in_order(self.state.line(), name),
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
    fn order_is_selected(&self, select: &Select) -> Result<()> {
        let Selection::Some(selected) = &select.selection else { return Ok(()) };
        if !self.found.is_key_in || !self.state.behaviour.cql.order_needs_selected_columns {
            return Ok(());
        }
        for (name, _) in &select.order_by {
            let mut selectors = selected.iter().map(|one| &one.selector);
            let is_selected =
                selectors.any(|selector| matches!(selector, Selector::Column(column) if column == name));
            // Unknown names are left to the next check.
            if self.target.def.column(name).is_some() && !is_selected {
                return invalid("ORDER BY could not be used on columns missing in select clause.");
            }
        }
        Ok(())
    }

    /// Checks the bounds of a range scan with a LIMIT. A slice of a dense table is read with both its ends, and the row
    /// limit of a scan does not allow for those extra rows.
    pub(super) fn check_strict_bounds(&self, select: &Select) -> Result<()> {
        let is_dense = self.target.def.layout == Layout::Dense;
        if !(self.rules().refuses_strict_bounds
            && is_dense
            && self.found.is_key_range
            && select.limit.is_some())
        {
            return Ok(());
        }
        for relation in &select.relations {
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
                self.text(relation),
                self.text(&loose)
            ));
        }
        Ok(())
    }

    /// Checks that DISTINCT is restricted by the partition key, or by static columns.
    pub(super) fn check_distinct_rows(&self) -> Result<()> {
        let (def, found) = (&self.target.def, &self.found);
        // From 3.0 on, the columns of a compact table without clustering columns are static.
        let are_static = def.layout == Layout::StaticCompact
            || found
                .others
                .iter()
                .all(|(name, _)| def.column(name).is_some_and(|column| column.kind == ColumnKind::Static));
        let is_of_partition = found.others.is_empty() || are_static && self.state.has(FILTERING_BY_VALUES);
        if is_of_partition && !found.restricts_clustering() {
            return Ok(());
        }
        invalid(texts::distinct_rows(self.state.line()))
    }

    /// Checks the columns that DISTINCT selects.
    pub(super) fn check_distinct(&self, select: &Select, projection: &Projection) -> Result<()> {
        let mut requested = projection.columns(&self.target.def);
        if self.found.is_key_in {
            // The columns of ORDER BY are read too, to sort the rows of several partitions.
            requested.extend(select.order_by.iter().filter_map(|(name, _)| self.target.def.column(name)));
        }
        // From 3.0 on, the columns of a compact table without clustering columns are static.
        let are_all_static =
            self.target.def.layout == Layout::StaticCompact && self.state.has(FILTERING_BY_VALUES);
        for column in &requested {
            let is_of_partition = matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Static);
            if !are_all_static && !is_of_partition {
                return invalid(format!(
                    "SELECT DISTINCT queries must only request partition key columns and/or static columns (not {})",
                    column.name
                ));
            }
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
