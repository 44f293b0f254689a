//! `/keyspaces`: the keyspaces, and the column families of one, each drawn.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::family_drawing::FamilyDrawing;
use crate::extract::Path;
use crate::failure::{AdminError, Result};
use crate::page::{PageFrame, page};
use crate::present::escaped;
use crate::seen_schema::{may_see, readable};
use crate::side_bar::BarPlace;
use crate::state::Admin;
use crate::visitor::Visitor;
use base::schema::{Catalog, KeyspaceDef};
use config::suggestion;

#[derive(Template)]
#[template(path = "pages/keyspaces.html")]
struct KeyspacesPage {
    frame: PageFrame,
    keyspaces: Vec<ListedKeyspace>,
}

struct ListedKeyspace {
    name: String,
    replication: String,
    families: Vec<ListedFamily>,
}

struct ListedFamily {
    keyspace: String,
    name: String,
    kind: &'static str,
}

#[derive(Template)]
#[template(path = "pages/keyspace.html")]
struct KeyspacePage {
    frame: PageFrame,
    name: String,
    definition: Vec<(&'static str, String)>,
    families: Vec<FamilyDrawing>,
}

/// Answers `GET /keyspaces`.
pub(crate) async fn list(State(state): Admin, visitor: Visitor) -> Response {
    let catalog = state.database.catalog();
    let mut keyspaces = Vec::new();
    for keyspace in catalog.keyspaces.values().filter(|keyspace| may_see(keyspace, &visitor.user)) {
        let families = readable(keyspace, &visitor.user).map(|cf| ListedFamily {
            keyspace: cf.keyspace.clone(),
            name: cf.name.clone(),
            kind: FamilyDrawing::kind_of(cf),
        });
        keyspaces.push(ListedKeyspace {
            name: keyspace.name.clone(),
            replication: replication(keyspace),
            families: families.collect(),
        });
    }
    page(&KeyspacesPage { frame: PageFrame::new(&visitor, "/keyspaces", "Data"), keyspaces })
}

/// Answers `GET /keyspaces/{keyspace}`.
pub(crate) async fn one(State(state): Admin, visitor: Visitor, Path(name): Path<String>) -> Result<Response> {
    let catalog = state.database.catalog();
    let keyspace = catalog.keyspace(&name);
    let Some(keyspace) = keyspace.filter(|keyspace| may_see(keyspace, &visitor.user)) else {
        return Err(no_keyspace(&catalog, &name, &visitor));
    };
    let families =
        readable(keyspace, &visitor.user).map(|cf| FamilyDrawing::of(&state.database, cf)).collect();
    let title = format!("Keyspace {}", escaped(name.as_bytes()));
    Ok(page(&KeyspacePage {
        frame: PageFrame::of_data(&visitor, title, BarPlace { keyspace: &name, ..BarPlace::default() }),
        definition: definition_of(keyspace),
        families,
        name,
    }))
}

/// Returns the refusal of a keyspace that does not exist or that the visitor may not see. Only superusers can
/// distinguish the two.
pub(super) fn no_keyspace(catalog: &Catalog, name: &str, visitor: &Visitor) -> AdminError {
    let why = format!("there is no keyspace {name:?}");
    if visitor.user.may_everything() {
        let meant = suggestion(name, catalog.keyspaces.keys().map(String::as_str));
        return AdminError::not_found(why + &meant);
    }
    AdminError::forbidden(format!("{why}, or you have no right to read a column family in it"))
}

fn replication(keyspace: &KeyspaceDef) -> String {
    let class = keyspace.modern_strategy_class();
    let class = class.rsplit('.').next().unwrap_or(class);
    let options = keyspace.strategy_options.iter().filter(|(name, _)| *name != "replication_factor");
    let options: String = options.map(|(name, value)| format!(", {name} {value}")).collect();
    format!("{class}, factor {}{options}", keyspace.replication_factor)
}

fn definition_of(keyspace: &KeyspaceDef) -> Vec<(&'static str, String)> {
    let by = match keyspace.is_configured {
        true => "storage-conf.xml or cassandra.yaml, so clients cannot change it",
        false => "a client",
    };
    let mut rows = vec![
        ("Replication", replication(keyspace)),
        ("Durable writes", if keyspace.durable_writes { "yes" } else { "no" }.to_owned()),
        ("Defined by", by.to_owned()),
    ];
    for (name, user_type) in keyspace.user_types.iter() {
        let fields = user_type.fields.iter().map(|(field, of)| format!("{field} {of}"));
        rows.push(("Type", format!("{name} ({})", fields.collect::<Vec<_>>().join(", "))));
    }
    rows
}
