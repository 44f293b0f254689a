//! CREATE, ALTER and DROP TYPE.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::compatible::keeps_order;
use super::names::{configured, keyspace_of};
use super::renewal::{Renewal, Users};
use super::{changed, sizes};
use crate::error::invalid;
use crate::limits::USER_TYPES_MAX;
use crate::values::TypeScope;
use crate::{ChangeKind, ChangedTarget, CqlError, Outcome, QueryState, Result};
use base::compat::features::restrictions::FIXED_TYPES;
use base::compat::texts;
use base::marshal::{CqlType, TypeRef, Types, UserType};
use base::schema::{CfDef, KeyspaceDef, Layout, TableDef, table_types};
use base::util::Release;
use cql_syntax::{AlterType, TableName, TypeName};
use db::Access;

fn outcome(change: ChangeKind, keyspace: &str, name: &str) -> Outcome {
    changed(change, keyspace, Some(ChangedTarget::Type(name.to_owned())))
}

pub(super) async fn create(
    state: &QueryState<'_>,
    name: &TableName,
    if_not_exists: bool,
    fields: &[(String, TypeName)],
) -> Result<Outcome> {
    let keyspace = keyspace_of(state, name.keyspace.as_deref())?;
    state.check(Access::AddFamily { keyspace: keyspace.as_bytes() })?;
    if state.database.catalog().keyspace(keyspace).is_none() {
        return invalid(format!("Cannot add type in unknown keyspace {keyspace}"));
    }
    let is_made = state.database.schema_changes(state.behaviour).edit_keyspace(keyspace, |_, keyspace| {
        if keyspace.user_types.contains_key(&name.name) {
            if if_not_exists {
                return Ok(false);
            }
            return invalid(format!("A user type of name {}.{} already exists", keyspace.name, name.name));
        }
        let scope = state.definition_scope(keyspace);
        let typed =
            |(field, cql_type): &(String, TypeName)| Ok((field.clone(), field_type(cql_type, &scope)?));
        let fields = fields.iter().map(typed).collect::<Result<_>>()?;
        let user_type = UserType::new(&keyspace.name, &name.name, fields);
        check_fields(&user_type)?;
        sizes::check_user_type(&user_type)?;
        if keyspace.user_types.len() >= USER_TYPES_MAX {
            return invalid(format!(
                "Keyspace {} has {USER_TYPES_MAX} user types, and more are not allowed: drop some, or use another keyspace",
                keyspace.name
            ));
        }
        keyspace.user_types.insert(name.name.clone(), Arc::new(user_type));
        Ok(true)
    }).await?;
    Ok(if is_made { outcome(ChangeKind::Created, keyspace, &name.name) } else { Outcome::Void })
}

pub(super) async fn alter(state: &QueryState<'_>, name: &TableName, alter: &AlterType) -> Result<Outcome> {
    let keyspace = keyspace_of(state, name.keyspace.as_deref())?;
    state.check(Access::UpdateKeyspace { keyspace: keyspace.as_bytes() })?;
    let (types, release) = (state.database.types(), state.behaviour.release);
    if state.database.catalog().keyspace(keyspace).is_none() {
        return invalid(format!("Cannot alter type in unknown keyspace {keyspace}"));
    }
    let changes = state.database.schema_changes(state.behaviour);
    let altered = changes.edit_keyspace(keyspace, |_, keyspace| {
        let Some(old) = keyspace.user_types.get(&name.name).cloned() else {
            return invalid(format!("No user type named {}.{} exists.", keyspace.name, name.name));
        };
        let scope = state.definition_scope(keyspace);
        if matches!(alter, AlterType::Alter { .. }) && state.has(FIXED_TYPES) {
            return invalid(texts::fixed_types(state.line()));
        }
        let new = Arc::new(altered(&old, alter, &scope)?);
        put(keyspace, &new, types, release)?;
        Ok(true)
    });
    altered.await?;
    Ok(outcome(ChangeKind::Updated, keyspace, &name.name))
}

/// Returns the type of a field.
fn field_type(name: &TypeName, scope: &TypeScope<'_>) -> Result<CqlType> {
    let cql_type = scope.resolve(name)?;
    if cql_type.is_counter() {
        return invalid("A user type cannot contain counters");
    }
    if cql_type.multi_cell_user_type().is_some() {
        return invalid("A user type cannot contain non-frozen UDTs");
    }
    Ok(cql_type)
}

fn check_fields(user_type: &UserType) -> Result<()> {
    let mut seen = BTreeSet::new();
    match user_type.fields.iter().find(|(field, _)| !seen.insert(field)) {
        Some((field, _)) => invalid(format!("Duplicate field name {field} in type {}", user_type.name)),
        None => Ok(()),
    }
}

fn altered(old: &UserType, alter: &AlterType, scope: &TypeScope<'_>) -> Result<UserType> {
    let mut fields = old.fields.clone();
    let place =
        |fields: &[(String, CqlType)], field: &str| fields.iter().position(|(known, _)| known == field);
    let name = format!("{}.{}", old.keyspace, old.name);
    let unknown = |field: &str| CqlError::invalid(format!("Unknown field {field} in type {name}"));
    match alter {
        AlterType::Add { field, cql_type } => {
            if place(&fields, field).is_some() {
                return invalid(format!(
                    "Cannot add new field {field} to type {name}: a field of the same name already exists"
                ));
            }
            let cql_type = field_type(cql_type, scope)?;
            if Users::new(old).are_in(&cql_type) {
                return invalid(format!(
                    "Cannot add new field {field} of type {cql_type} to type {name} as this would create a circular reference"
                ));
            }
            fields.push((field.clone(), cql_type));
        }
        AlterType::Alter { field, cql_type } => {
            let at = place(&fields, field).ok_or_else(|| unknown(field))?;
            let cql_type = field_type(cql_type, scope)?;
            let before = &fields[at].1;
            // Values may be part of cell names, so their order must stay the same.
            if !keeps_order(&cql_type, before) {
                return invalid(format!(
                    "Type {cql_type} is incompatible with previous type {before} of field {field} in user type {name}"
                ));
            }
            fields[at].1 = cql_type;
        }
        AlterType::Rename(names) => {
            // The names are looked up in the old type, so that two fields can swap names.
            for (from, to) in names {
                let at = place(&old.fields, from).ok_or_else(|| unknown(from))?;
                fields[at].0 = to.clone();
            }
        }
    }
    let new = UserType::new(&old.keyspace, &old.name, fields);
    if matches!(alter, AlterType::Rename(_)) {
        check_fields(&new)?;
    }
    Ok(new)
}

/// Stores a changed type in a keyspace, and rebuilds all types and tables that contain it.
fn put(keyspace: &mut KeyspaceDef, user: &Arc<UserType>, types: &Types, release: Release) -> Result<()> {
    let mut renewal = Renewal::of(user);
    let changed: Vec<Arc<UserType>> = keyspace
        .user_types
        .values()
        .map(|old| (old, renewal.of_user(old)))
        .filter(|(old, new)| !Arc::ptr_eq(old, new))
        .map(|(_, new)| new)
        .collect();
    for user_type in changed {
        sizes::check_user_type(&user_type)?;
        keyspace.user_types.insert(user_type.name.clone(), user_type);
    }
    let mut renewed = Vec::new();
    for cf in keyspace.column_families.values() {
        let table = TableDef::of(cf, release);
        if table.columns().any(|column| renewal.changes(&column.cql_type)) {
            renewed.push(Arc::new(renewed_family(cf, &table, &mut renewal, types)?));
        }
    }
    keyspace.column_families.extend(renewed.into_iter().map(|cf| (cf.name.clone(), cf)));
    Ok(())
}

fn renewed_family(cf: &CfDef, table: &TableDef, renewal: &mut Renewal, types: &Types) -> Result<CfDef> {
    let mut table = table.clone();
    let columns = table.partition_key.iter_mut().chain(&mut table.clustering);
    for column in columns.chain(table.others.values_mut()) {
        column.cql_type = renewal.of_type(&column.cql_type);
        sizes::check_type(&column.cql_type)?;
    }
    sizes::check_table(&table)?;
    let mut cf = cf.clone();
    cf.key_validator = Some(configured(table_types::key_validator(&table, types))?);
    let mut validator = |old: &TypeRef| {
        let old = CqlType::of(old);
        renewal.changes(&old).then(|| renewal.of_type(&old).type_ref(types))
    };
    for definition in cf.column_metadata.values_mut() {
        if let Some(new) = validator(&definition.validator) {
            definition.validator = new;
        }
    }
    if let Some(new) = validator(&cf.default_validator) {
        cf.default_validator = new;
    }
    match table.layout {
        Layout::Sparse => {
            cf.comparator = configured(table_types::comparator(&table, Some(&cf), types))?;
            cf.table = Some(Arc::new(table));
        }
        Layout::Dense | Layout::CompositeDense => {
            cf.comparator = configured(table_types::comparator(&table, None, types))?
        }
        Layout::StaticCompact | Layout::Super => {}
    }
    Ok(cf.with_indexes())
}

pub(super) async fn drop_type(state: &QueryState<'_>, name: &TableName, if_exists: bool) -> Result<Outcome> {
    let keyspace = keyspace_of(state, name.keyspace.as_deref())?;
    state.check(Access::DropKeyspace { keyspace: keyspace.as_bytes() })?;
    let release = state.behaviour.release;
    if state.database.catalog().keyspace(keyspace).is_none() {
        return if if_exists {
            Ok(Outcome::Void)
        } else {
            invalid(format!("Cannot drop type in unknown keyspace {keyspace}"))
        };
    }
    let changes = state.database.schema_changes(state.behaviour);
    let dropped = changes.edit_keyspace(keyspace, |_, keyspace| {
        let Some(user) = keyspace.user_types.get(&name.name).cloned() else {
            if if_exists {
                return Ok(false);
            }
            return invalid(format!("No user type named {}.{} exists.", keyspace.name, name.name));
        };
        // Messages name another type without its keyspace.
        let refusal = |holder: &str| {
            invalid(format!(
                "Cannot drop user type {}.{} as it is still used by {holder}",
                keyspace.name, name.name
            ))
        };
        let mut users = Users::new(&user);
        for other in keyspace.user_types.values().filter(|other| other.name != user.name) {
            if other.fields.iter().any(|(_, field)| users.are_in(field)) {
                return refusal(&format!("user type {}", other.name));
            }
        }
        for cf in keyspace.column_families.values() {
            if TableDef::of(cf, release).columns().any(|column| users.are_in(&column.cql_type)) {
                return refusal(&format!("table {}.{}", keyspace.name, cf.name));
            }
        }
        keyspace.user_types.remove(&name.name);
        Ok(true)
    });
    Ok(if dropped.await? { outcome(ChangeKind::Dropped, keyspace, &name.name) } else { Outcome::Void })
}
