//! What Thrift clients are told of the markers of a statement: as Cassandra prints its own notes of what they stand for.

use super::column_text::{class_text, column_text};
use super::{ColumnSpec, QueryState};
use crate::compat::Behaviour;
use crate::schema::TableDef;
use crate::util::Release;

/// What is told of a marker.
#[derive(Debug, PartialEq)]
pub struct MarkerSpec {
    pub class: String,
    pub text: String,
}

impl MarkerSpec {
    fn plain(self, marker: &ColumnSpec) -> MarkerSpec {
        MarkerSpec { text: marker.name.clone(), ..self }
    }
}

/// The notes of a statement's markers, some of which have names of their own. Before 2.1 a note is only a name, and it is
/// to those who have not asked for a release.
pub fn marker_notes(
    state: &QueryState<'_>,
    markers: &[ColumnSpec],
    names: &[Option<String>],
) -> Vec<MarkerSpec> {
    let is_named = |at: usize| names.get(at).is_some_and(Option::is_some);
    let is_plain = state.language.is_newest() || !state.behaviour.cql.markers_have_notes;
    let noted = markers.iter().enumerate().map(|(at, marker)| (marker, note(state, marker, is_named(at))));
    noted.map(|(marker, note)| if is_plain { note.plain(marker) } else { note }).collect()
}

fn note(state: &QueryState<'_>, marker: &ColumnSpec, is_named: bool) -> MarkerSpec {
    let release = state.behaviour.release;
    let class = class_of(marker, release);
    let catalog = state.database.catalog();
    let cf = catalog.column_family(&marker.keyspace, &marker.table).filter(|_| !is_named);
    let of_column = cf.and_then(|cf| {
        let def = TableDef::of(cf, release);
        let column = def.column(&marker.name)?;
        Some(MarkerSpec { class: class_text(column), text: column_text(cf, &def, column) })
    });
    let of_other = || {
        let text = format!("ColumnSpecification{{name={}, type={class}}}", marker.name);
        MarkerSpec { class, text }
    };
    of_column.unwrap_or_else(of_other)
}

/// The list that a single marker after IN stands for is a frozen one since 2.1.
fn class_of(marker: &ColumnSpec, release: Release) -> String {
    match marker.name.starts_with("in(") && Behaviour::of(release).cql.in_markers_are_frozen {
        true => marker.cql_type.clone().frozen().class_name(),
        false => marker.cql_type.class_name(),
    }
}
