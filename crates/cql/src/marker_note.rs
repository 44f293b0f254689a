//! The metadata of a statement's markers for Thrift clients: the text that Cassandra prints for the receiver of each
//! marker.

use super::column_text::{class_text, column_text};
use super::{ColumnSpec, QueryState};
use base::compat::Behaviour;
use base::schema::TableDef;
use base::util::Release;

/// The metadata of one marker.
#[derive(Debug, PartialEq)]
pub struct MarkerSpec {
    /// The Java class of the marker's type, like `org.apache.cassandra.db.marshal.UTF8Type`.
    pub class: String,
    /// The receiver: its name, or the text of Cassandra's `ColumnSpecification` or `ColumnDefinition`.
    pub text: String,
}

impl MarkerSpec {
    fn plain(self, marker: &ColumnSpec) -> MarkerSpec {
        MarkerSpec { text: marker.name.clone(), ..self }
    }
}

/// Returns the metadata of a statement's markers, some of which are named. Before 2.1, and for sessions without a
/// requested release, the text is only a name.
pub fn marker_notes(
    state: &QueryState<'_>,
    markers: &[ColumnSpec],
    names: &[Option<String>],
) -> Vec<MarkerSpec> {
    let is_plain = state.language.is_newest() || !state.behaviour.cql.markers_have_notes;
    let mut notes = Vec::with_capacity(markers.len());
    for (at, marker) in markers.iter().enumerate() {
        let note = note(state, marker, names.get(at).is_some_and(Option::is_some));
        notes.push(if is_plain { note.plain(marker) } else { note });
    }
    notes
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
    of_column.unwrap_or_else(|| {
        let text = format!("ColumnSpecification{{name={}, type={class}}}", marker.name);
        MarkerSpec { class, text }
    })
}

/// Returns the class of a marker. Since 2.1 the list for a single marker after IN is a frozen one.
fn class_of(marker: &ColumnSpec, release: Release) -> String {
    if marker.name.starts_with("in(") && Behaviour::of(release).cql.in_markers_are_frozen {
        return marker.cql_type.clone().frozen().class_name();
    }
    marker.cql_type.class_name()
}
