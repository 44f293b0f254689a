//! The value that a SELECT looks up in an index.

use bytes::Bytes;

use super::filter::present;
use super::operands::BoundValues;
use super::restrictions::{IndexedBy, Restriction, RestrictionKind};
use crate::Result;
use crate::error::invalid;
use base::compat::texts;
use base::schema::TableColumn;
use base::util::Release;
use cql_syntax::{Operator, operator_text};

/// Returns the value to look up in an index, or `None` if the index does not support the restriction.
pub(super) fn indexed_value(
    indexed: IndexedBy,
    restriction: &Restriction,
    bound: BoundValues<'_>,
    column: &TableColumn,
    release: Release,
) -> Result<Option<Bytes>> {
    if restriction.asked.is_unset(bound.options) {
        return invalid(format!("Unsupported unset value for column {}", column.name));
    }
    match &restriction.asked {
        RestrictionKind::Eq(operand) if indexed.supports(Operator::Eq) => {
            Ok(present(operand.values(bound)?, |_| texts::null_for_column(bound.line, &column.name))?
                .into_iter()
                .next())
        }
        RestrictionKind::Contains(elements) if indexed != IndexedBy::Value => {
            let found = elements.iter().find(|one| one.is_found_by(indexed));
            let value = found.map(|one| Ok(one.bound(bound, column, release)?.indexed_value()));
            value.transpose()
        }
        _ => Ok(None),
    }
}

/// Returns the relations on an indexed column that its index does not support, as the error message prints them.
pub(super) fn unsupported(restriction: &Restriction, column: &TableColumn, release: Release) -> Vec<String> {
    let asked = |operator| format!("'{} {} <value>'", column.name, operator_text(operator, release));
    match &restriction.asked {
        RestrictionKind::Eq(_) => vec![asked(Operator::Eq)],
        RestrictionKind::In(_) => vec![format!("'{} IN <value>'", column.name)],
        RestrictionKind::Contains(elements) => elements.iter().map(|one| one.text(column, release)).collect(),
        RestrictionKind::Slice(slice) => {
            let lower =
                slice.lower.as_ref().map(|end| if end.is_inclusive { Operator::Gte } else { Operator::Gt });
            let upper =
                slice.upper.as_ref().map(|end| if end.is_inclusive { Operator::Lte } else { Operator::Lt });
            [lower, upper].into_iter().flatten().map(asked).collect()
        }
    }
}
