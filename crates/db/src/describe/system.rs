//! The keyspace `system` as clients of 0.7 and later see it.

use std::sync::Arc;

use bytes::Bytes;

use crate::reserved::SYSTEM_KEYSPACE;
use base::compat::Behaviour;
use base::compat::features::{SYSTEM_COLUMN_FAMILIES, SystemFamily};
use base::marshal::{BytesType, TypeRef, Types};
use base::schema::{CfDef, ColumnDef, ColumnType, KeyspaceDef, Setting};
use base::util::Release;

/// Returns `system` with the column families that a release has in it. Only describe calls show them: this server stores
/// no such data.
pub(super) fn system_keyspace(types: &Types, release: Release) -> KeyspaceDef {
    let mut keyspace = KeyspaceDef::new(SYSTEM_KEYSPACE);
    if Behaviour::of(release).schema.system_has_factor {
        keyspace.strategy_options.insert("replication_factor".to_owned(), "1".to_owned());
    }
    keyspace.strategy_class = "org.apache.cassandra.locator.LocalStrategy".to_owned();
    let families = SYSTEM_COLUMN_FAMILIES.iter().filter(|family| family.releases.has(release));
    for family in families {
        keyspace.column_families.insert(family.name.to_owned(), Arc::new(definition(family, types)));
    }
    keyspace
}

fn definition(family: &SystemFamily, types: &Types) -> CfDef {
    let class = |name: &str| types.resolve(name).unwrap_or_else(|| -> TypeRef { Arc::new(BytesType) });
    let columns = family.columns.iter().map(|(name, validator)| {
        let name = Bytes::from_static(name.as_bytes());
        (name.clone(), ColumnDef { name, validator: class(validator), index: None })
    });
    let settings = family.settings.iter().copied().flatten();
    let settings =
        settings.filter_map(|(name, value)| Some(((*name).to_owned(), Setting::of_default(*value)?)));
    let column_type = match family.subcomparator {
        Some(subcomparator) => ColumnType::Super { subcomparator: class(subcomparator) },
        None => ColumnType::Standard,
    };
    CfDef {
        column_type,
        comparator: class(family.comparator),
        comment: Some(family.comment.to_owned()),
        gc_grace_s: family.gc_grace_s,
        id: family.id,
        key_validator: Some(class(family.key_validator)),
        default_validator: class(family.default_validator),
        key_alias: family.key_alias.map(|alias| Bytes::from_static(alias.as_bytes())),
        column_metadata: columns.collect(),
        settings: settings.collect(),
        ..CfDef::new(SYSTEM_KEYSPACE, family.name)
    }
}
