//! Questions to begin with, about the column families that are there.

use std::sync::Arc;

use bytes::Bytes;

use super::form::{AskForm, query};
use crate::pages::questions::Asker;
use crate::state::AdminState;
use crate::visitor::Visitor;
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::NEWEST;
use base::schema::{CfDef, TableDef};
use db::StoredRowsArgs;

/// Column families with examples. Of each the first key is read.
const FAMILIES_MAX: usize = 6;
/// Longest key of an example.
const KEY_BYTES_MAX: usize = 200;

/// A question to begin with.
pub(super) struct AskExample {
    /// The question in words.
    pub words: String,
    /// The statement, or the call.
    pub code: String,
    pub path: String,
}

/// Returns examples in the language of the form: of its column family, of those of its keyspace, or of all.
pub(super) async fn examples(state: &AdminState, visitor: &Visitor, form: &AskForm) -> Vec<AskExample> {
    let keyspaces = visitor.schema.own();
    let keyspaces = keyspaces.filter(|known| form.keyspace.is_empty() || known.name == form.keyspace);
    let families = keyspaces.flat_map(|known| &known.families);
    let meant = families.filter(|cf| form.family.is_empty() || cf.name == form.family);
    let mut found = Vec::new();
    for cf in meant.take(FAMILIES_MAX) {
        let table = TableDef::of(cf, NEWEST);
        let asker = Asker { types: state.database.types(), cf, table: Some(&table), may_change: false };
        let key = first_key(state, cf).await.filter(|key| (1..=KEY_BYTES_MAX).contains(&key.len()));
        if form.is_thrift() {
            of_calls(cf, key.map(|key| asker.typed_key(&key)), &mut found);
        } else {
            of_statements(&asker, &table, key, form, &mut found);
        }
    }
    found
}

/// Returns a key of a column family. A gateway has none: each would be a request to its cluster.
async fn first_key(state: &AdminState, cf: &Arc<CfDef>) -> Option<Bytes> {
    if !state.database.store().can_dump() {
        return None;
    }
    let behaviour = Behaviour::of(NEWEST);
    let request = state.database.request(cf.keyspace.as_bytes(), ConsistencyLevel::One, behaviour);
    let args = StoredRowsArgs { cf: cf.clone(), start: Bytes::new(), rows: 1, columns: 1, max_bytes: 1 };
    let found = state.metered(request.ranges().stored_rows(args)).await.ok()?;
    found.rows.into_iter().next().map(|(key, _)| key)
}

fn of_statements(
    asker: &Asker<'_>,
    table: &TableDef,
    key: Option<Bytes>,
    form: &AskForm,
    found: &mut Vec<AskExample>,
) {
    let name = &asker.cf.name;
    let mut add = |words: String, code: String| {
        let with = if form.is_cql2() { "cql2" } else { "cql" };
        let path = format!("/ask?{}", query(&[("with", with), ("cql", &code)]));
        found.push(AskExample { words, code, path });
    };
    if form.is_cql2() {
        let of = base::schema::name_text(name);
        let code = format!("SELECT FIRST 10 * FROM {of} LIMIT 10");
        let fields = [("with", "cql2"), ("keyspace", &*asker.cf.keyspace), ("cql", &*code)];
        let path = format!("/ask?{}", query(&fields));
        found.push(AskExample { words: format!("The first rows of {name}"), code, path });
        return;
    }
    add(format!("The first rows of {name}"), asker.first_rows());
    if let Some(select) = key.and_then(|key| asker.select(table, &key)) {
        add(format!("A row of {name} by its key"), select);
    }
}

fn of_calls(cf: &CfDef, key: Option<String>, found: &mut Vec<AskExample>) {
    let mut add = |words: String, method: &str, fields: &[(&str, &str)]| {
        let place =
            [("with", "thrift"), ("method", method), ("keyspace", &*cf.keyspace), ("family", &*cf.name)];
        let path = format!("/ask?{}#answer", query(&[&place[..], fields].concat()));
        let arguments: Vec<_> = fields.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let code = format!("{method} {}.{} {}", cf.keyspace, cf.name, arguments.join(" "));
        found.push(AskExample { words, code, path });
    };
    let name = &cf.name;
    add(format!("The first rows of {name}"), "get_range_slices", &[("rows", "10"), ("count", "10")]);
    if let Some(key) = &key {
        add(format!("A row of {name} by its key"), "get_slice", &[("keys", key)]);
        let last = [("keys", &**key), ("reversed", "yes"), ("count", "1")];
        add(format!("The last column of a row of {name}"), "get_slice", &last);
    }
}
